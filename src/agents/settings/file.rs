//! Reading and writing a settings file that belongs to somebody else.
//!
//! A file is written beside itself and put into place in one step, with the mode it had; where a link stands, what it leads to is
//! written, and the link stays. A folder that had to be made for a new file is counted in the file itself, by the empty lines at its
//! end, so that it can go with the file again.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::SettingsError;

/// More links in a row than this lead nowhere (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Larger files are no settings.
const LARGEST: u64 = 16 << 20;

/// The file that a path leads to, whether or not it is there.
pub(super) fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("/")).join(link);
    }
    target
}

/// The text of a file; none if it is not there.
pub(super) fn read(path: &Path) -> Result<Option<String>, SettingsError> {
    let failed = |source| SettingsError::Io { action: "read", path: path.to_owned(), source };
    let meta = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    if !meta.is_file() || meta.len() > LARGEST {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is no file of settings")));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        SettingsError::Syntax { path: path.to_owned(), line, what: "it is no UTF-8" }
    })
}

/// Writes a file that was read as `before`, unless it has changed since.
pub(super) fn write(path: &Path, before: Option<&str>, after: &str) -> Result<(), SettingsError> {
    let failed = |source| SettingsError::Io { action: "write", path: path.to_owned(), source };
    let target = target(path);
    let folder = target.parent().unwrap_or(Path::new("/"));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = File::create_new(&aside)?;
        if let Ok(meta) = target.metadata() {
            file.set_permissions(Permissions::from_mode(meta.permissions().mode() & 0o7777))?;
        }
        file.write_all(after.as_bytes())?;
        file.sync_all()
    })();
    let put = written.map_err(failed).and_then(|()| {
        if read(path)?.as_deref() != before {
            return Err(SettingsError::Changed(path.to_owned()));
        }
        // A link is never put in place of a file that somebody makes at this very moment.
        let is_linked = before.is_none() && fs::hard_link(&aside, &target).is_ok();
        if is_linked {
            return Ok(());
        }
        match before.is_none() && target.exists() {
            true => Err(SettingsError::Changed(path.to_owned())),
            false => fs::rename(&aside, &target).map_err(failed),
        }
    });
    let _ = fs::remove_file(&aside);
    put
}

/// Makes the folders of a new file. Returns how many there were to make.
pub(super) fn make_folders(path: &Path) -> Result<usize, SettingsError> {
    let target = target(path);
    let folder = target.parent().unwrap_or(Path::new("/"));
    let missing = folder.ancestors().take_while(|above| !above.exists()).count();
    let made = fs::create_dir_all(folder);
    made.map_err(|source| SettingsError::Io { action: "make the folder of", path: path.to_owned(), source })?;
    Ok(missing)
}

/// How many folders would have to be made.
pub(super) fn missing_folders(path: &Path) -> usize {
    target(path).ancestors().skip(1).take_while(|above| !above.exists()).count()
}

/// Removes a file that was read as `before`, and this many folders above it as far as they are empty.
pub(super) fn remove(path: &Path, before: Option<&str>, folders: usize) -> Result<(), SettingsError> {
    if read(path)?.as_deref() != before {
        return Err(SettingsError::Changed(path.to_owned()));
    }
    let target = target(path);
    fs::remove_file(&target).map_err(|source| SettingsError::Io { action: "remove", path: path.to_owned(), source })?;
    for folder in target.ancestors().skip(1).take(folders) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
