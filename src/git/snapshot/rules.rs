//! What outside the worktree's own files decides which files are captured and how: configuration and global rule files.

use std::os::fd::OwnedFd;

use crate::git::{GitError, Repo};

/// A hash of all of it, and of the version of this program. While it is the same, and no `.gitignore` or `.gitattributes`
/// changed, what the last capture found out about a file that did not change still holds.
pub(super) fn fingerprint(repo: &Repo) -> Result<[u8; 32], GitError> {
    let gix = repo.gix();
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    let mut add = |bytes: &[u8]| {
        // With its length, so that what ends one part cannot begin the next.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    let config = gix.config_snapshot();
    for section in config.plumbing().sections() {
        let name = section.header().name().to_string().to_ascii_lowercase();
        if !matches!(name.as_str(), "core" | "filter" | "checkpoint" | "submodule" | "extensions") {
            continue;
        }
        let heading = format!("{name} {:?}", section.header().subsection_name());
        for key in section.value_names() {
            let key = key.to_string().to_ascii_lowercase();
            // How changes are found says nothing of what they are.
            if name == "core" && key == "fsmonitor" {
                continue;
            }
            // A key without a value says something else than one with an empty value.
            let is_implicit = matches!(section.value_implicit(&key), Some(None));
            add(format!("{heading} {key} {is_implicit} {:?}", section.values(&key)).as_bytes());
        }
    }
    let mut files = vec![repo.common_dir().join("info/exclude"), repo.common_dir().join("info/attributes")];
    files.extend(gix.attribute_global_paths().map_err(|source| GitError::other("find attribute files", source))?);
    files.extend(excludes_file(repo));
    for file in files {
        add(&std::fs::read(&file).unwrap_or_default());
    }
    let id = hasher.try_finalize().map_err(|source| GitError::other("hash the configuration", source))?;
    let mut out = [0; 32];
    out.copy_from_slice(id.as_bytes());
    Ok(out)
}

/// `core.excludesFile`, by default `$XDG_CONFIG_HOME/git/ignore`.
pub(crate) fn excludes_file(repo: &Repo) -> Option<std::path::PathBuf> {
    let configured = repo.gix().config_snapshot().trusted_path("core.excludesFile").ok().flatten();
    if let Some(path) = configured {
        return Some(path);
    }
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(std::path::PathBuf::from);
    let config = config.or_else(|| std::env::home_dir().map(|home| home.join(".config")))?;
    Some(config.join("git/ignore"))
}

/// The device that `top` lies on, if a new name in a directory is sure to change the directory's times there. Network and
/// user-space file systems may cache or invent them; of those that are not known here nothing is assumed.
pub(super) fn sure_device(top: &OwnedFd) -> Option<u64> {
    /// `statfs(2)`: bcachefs, Btrfs, ext2 to ext4, F2FS, JFS, ramfs, ReiserFS, tmpfs, XFS, ZFS.
    const SURE: [u64; 10] = [
        0xca45_1a4e,
        0x9123_683e,
        0xef53,
        0xf2f5_2010,
        0x3153_464a,
        0x8584_58f6,
        0x5265_4973,
        0x0102_1994,
        0x5846_5342,
        0x2fc1_2fc1,
    ];
    let is_sure = rustix::fs::fstatfs(top).is_ok_and(|stat| SURE.contains(&(stat.f_type as u64)));
    if is_sure { rustix::fs::fstat(top).ok().map(|stat| stat.st_dev) } else { None }
}
