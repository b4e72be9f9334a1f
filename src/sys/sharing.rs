//! What others than its owner may do with a file of the repository (`core.sharedRepository`).
//!
//! Files and folders come into being with the permissions that the umask leaves; what the repository grants is added to them, or
//! put in their place (`path.c:calc_shared_perm`, `path.c:adjust_shared_perm`). Everything in a git directory is made through
//! here, whether git has a file of that kind or not. Files of the worktree are not: git leaves those to the umask.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The rule for the files of one repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// The umask alone decides.
    #[default]
    Umask,
    /// These permissions are granted beside those that the umask leaves.
    Grant(u32),
    /// These permissions, whatever the umask leaves.
    Exactly(u32),
}

impl Sharing {
    /// The mode of a file or folder that has `mode`, with its type, by the umask.
    fn adjusted(self, mode: u32) -> u32 {
        let (Sharing::Grant(granted) | Sharing::Exactly(granted)) = self else { return mode };
        let mut tweak = granted;
        if mode & 0o200 == 0 {
            tweak &= !0o222;
        }
        if mode & 0o100 != 0 {
            // Whoever may read may also execute.
            tweak |= (tweak & 0o444) >> 2;
        }
        let mut mode = if matches!(self, Sharing::Exactly(_)) { mode & !0o777 | tweak } else { mode | tweak };
        if mode & 0o170_000 == 0o040_000 {
            mode |= (mode & 0o444) >> 2;
            // What is made in it is to belong to the same group.
            if mode & 0o060 != 0 {
                mode |= 0o2000;
            }
        }
        mode
    }

    /// Gives an open file the permissions that it is to have.
    pub fn apply(self, file: &File) -> io::Result<()> {
        if self == Sharing::Umask {
            return Ok(());
        }
        let mode = file.metadata()?.mode();
        let adjusted = self.adjusted(mode);
        if adjusted == mode { Ok(()) } else { file.set_permissions(Permissions::from_mode(adjusted & 0o7777)) }
    }

    /// The same for the file or folder at `path`.
    pub fn apply_at(self, path: &Path) -> io::Result<()> {
        if self == Sharing::Umask {
            return Ok(());
        }
        let mode = path.metadata()?.mode();
        let adjusted = self.adjusted(mode);
        if adjusted == mode { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(adjusted & 0o7777)) }
    }

    /// The permissions of a folder of ours outside the git directory: those of its owner, and what the repository grants.
    pub fn private_folder_mode(self) -> u32 {
        self.adjusted(0o040_700) & 0o7777
    }

    /// Makes a folder, which must not be there.
    pub fn create_dir(self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)?;
        self.apply_at(path)
    }

    /// Makes a folder and those above it, as far as they are missing.
    pub fn create_dir_all(self, path: &Path) -> io::Result<()> {
        match self.create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Some(parent) = path.parent() else { return Err(error) };
                self.create_dir_all(parent)?;
                match self.create_dir(path) {
                    Err(_) if path.is_dir() => Ok(()),
                    made => made,
                }
            }
            Err(_) if path.is_dir() => Ok(()),
            made => made,
        }
    }

    /// Makes a file with the options given, which must not be there (`create_new`).
    pub fn create_new(self, options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        let file = options.create_new(true).open(path)?;
        if let Err(error) = self.apply(&file) {
            // It may be a lock, and would bar the way for good.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(file)
    }

    /// Makes an empty file, or empties the one that is there.
    pub fn create(self, path: &Path) -> io::Result<File> {
        let file = File::create(path)?;
        self.apply(&file)?;
        Ok(file)
    }

    /// Writes a whole file.
    pub fn write(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create(path)?.write_all(bytes)
    }

    /// Opens a file that stays, with the options given, and makes it if it is missing. One that another user made is opened
    /// as it is.
    pub fn open_lasting(self, options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        let file = options.create(true).open(path)?;
        let _ = self.apply(&file);
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_granted_or_replaced_as_git_does() {
        let (file, object, script, folder) = (0o100_644, 0o100_444, 0o100_755, 0o040_755);
        let (tight_file, tight_object, tight_folder) = (0o100_600, 0o100_400, 0o040_700);
        let table = [
            (Sharing::Umask, [file, object, script, folder, tight_file, tight_object, tight_folder]),
            (Sharing::Grant(0o660), [0o100_664, 0o100_444, 0o100_775, 0o042_775, 0o100_660, 0o100_440, 0o042_770]),
            (Sharing::Grant(0o664), [0o100_664, 0o100_444, 0o100_775, 0o042_775, 0o100_664, 0o100_444, 0o042_775]),
            (Sharing::Exactly(0o640), [0o100_640, 0o100_440, 0o100_750, 0o042_750, 0o100_640, 0o100_440, 0o042_750]),
            (Sharing::Exactly(0o600), [0o100_600, 0o100_400, 0o100_700, 0o040_700, 0o100_600, 0o100_400, 0o040_700]),
        ];
        for (sharing, expected) in table {
            let modes = [file, object, script, folder, tight_file, tight_object, tight_folder];
            assert_eq!(modes.map(|mode| sharing.adjusted(mode)), expected, "{sharing:?}");
        }
    }
}
