//! What outside the worktree's own files decides which files are captured and how: configuration and global rule files.

use std::os::fd::OwnedFd;

use gix::bstr::ByteSlice;

use crate::git::{GitError, Repo};

/// A hash of all of it. While it is the same, and no `.gitignore` or `.gitattributes` changed, what the last capture found
/// out about a file that did not change still holds.
pub(super) fn fingerprint(repo: &Repo) -> Result<[u8; 32], GitError> {
    let gix = repo.gix();
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    let config = gix.config_snapshot();
    for section in config.plumbing().sections() {
        let name = section.header().name().to_string().to_ascii_lowercase();
        if !matches!(name.as_str(), "core" | "filter" | "checkpoint" | "submodule" | "extensions") {
            continue;
        }
        // How changes are found says nothing of what they are.
        let decides = |key: &str| name != "core" || !key.eq_ignore_ascii_case("fsmonitor");
        let keys: Vec<String> = section.value_names().map(|key| key.to_string()).filter(|key| decides(key)).collect();
        if keys.is_empty() {
            continue;
        }
        hasher.update(name.as_bytes());
        hasher.update(section.header().subsection_name().map(|name| name.as_bytes()).unwrap_or_default());
        for key in keys {
            hasher.update(key.to_ascii_lowercase().as_bytes());
            for value in section.values(key.as_str()) {
                hasher.update(b"=");
                hasher.update(value.as_bytes());
            }
        }
        hasher.update(b"\0");
    }
    let mut files = vec![repo.common_dir().join("info/exclude"), repo.common_dir().join("info/attributes")];
    files.extend(gix.attribute_global_paths().map_err(|source| GitError::other("find attribute files", source))?);
    files.extend(excludes_file(repo));
    for file in files {
        hasher.update(&std::fs::read(&file).unwrap_or_default());
        hasher.update(b"\0");
    }
    let id = hasher.try_finalize().map_err(|source| GitError::other("hash the configuration", source))?;
    let mut out = [0; 32];
    out.copy_from_slice(id.as_bytes());
    Ok(out)
}

/// `core.excludesFile`, by default `$XDG_CONFIG_HOME/git/ignore`.
fn excludes_file(repo: &Repo) -> Option<std::path::PathBuf> {
    let configured = repo.gix().config_snapshot().trusted_path("core.excludesFile").ok().flatten();
    if let Some(path) = configured {
        return Some(path);
    }
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(std::path::PathBuf::from);
    let config = config.or_else(|| std::env::home_dir().map(|home| home.join(".config")))?;
    Some(config.join("git/ignore"))
}

/// Whether a new name in a directory is sure to change the directory's times. Network and user-space file systems may cache
/// or invent them.
pub(super) fn keeps_directory_times(top: &OwnedFd) -> bool {
    /// `statfs(2)`: 9p, Ceph, CIFS, FUSE, NCP, NFS, overlayfs without an index, SMB, SMB2, vboxsf.
    const UNSURE: [u64; 10] =
        [0x0102_1997, 0x00c3_6400, 0xff53_4d42, 0x6573_5546, 0x564c, 0x6969, 0x794c_7630, 0x517b, 0xfe53_4d42, 0x786f_4256];
    rustix::fs::fstatfs(top).is_ok_and(|stat| !UNSURE.contains(&(stat.f_type as u64)))
}
