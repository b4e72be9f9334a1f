//! Patches that only git itself can make: those of files with rules of their own for function names.

use std::path::Path;
use std::process::{Command, Stdio};

use gix::ObjectId;

use super::comparison::{Renames, Scope};
use super::lines::Whitespace;
use super::patch::Format;
use crate::git::{GitError, Objects, Repo, os_path};

/// Configuration that would change a patch, set to git's defaults.
const DEFAULTS: [&str; 7] = [
    "core.abbrev=auto",
    "diff.algorithm=myers",
    "diff.mnemonicPrefix=false",
    "diff.noPrefix=false",
    "diff.srcPrefix=a/",
    "diff.dstPrefix=b/",
    "diff.suppressBlankEmpty=false",
];

/// Options that do the same, and keep other programs out of it.
const OPTIONS: [&str; 11] = [
    "--patch",
    "--no-ext-diff",
    "--no-textconv",
    "--indent-heuristic",
    "--inter-hunk-context=0",
    "--no-relative",
    "--submodule=short",
    "--ignore-submodules=none",
    "--no-color-moved",
    "--ws-error-highlight=new",
    "-O/dev/null",
];

/// The patch from the tree `old` to the tree `new`, made by `git diff`.
pub fn patch(
    repo: &Repo,
    objects: &Objects,
    (old, new): (ObjectId, ObjectId),
    scope: &Scope,
    format: &Format,
) -> Result<Vec<u8>, GitError> {
    let mut command = Command::new("git");
    command.env("GIT_DIR", repo.git_dir()).env("GIT_WORK_TREE", repo.top());
    // Git looks for `.gitattributes` only from inside of the worktree.
    let inside = repo.prefix(&scope.paths.directory).is_some();
    command.current_dir(if inside { &scope.paths.directory } else { repo.top() });
    for setting in DEFAULTS {
        command.args(["-c", setting]);
    }
    command.arg("diff").args(OPTIONS).arg(format!("--unified={}", format.context));
    command.arg(if format.palette.is_some() { "--color=always" } else { "--color=never" });
    if format.whitespace == Whitespace::IgnoreAll {
        command.arg("--ignore-all-space");
    }
    command.args(match scope.renames {
        Renames::Find => &["--find-renames=50%", "-l1000"][..],
        Renames::Ignore => &["--no-renames"],
    });
    command.arg(old.to_string()).arg(new.to_string()).arg("--").args(scope.paths.specs.iter().map(|spec| os_path(spec)));
    command.env_remove("GIT_INDEX_FILE").env_remove("GIT_EXTERNAL_DIFF").env_remove("GIT_DIFF_OPTS");
    let _objects = lend(repo, objects, &mut command)?;
    let failed = |source| GitError::io("run", Path::new("git"), source);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(failed)?;
    if !output.status.success() {
        return Err(GitError::other("make the patch with `git diff`", output.status.to_string()));
    }
    Ok(output.stdout)
}

/// Lets git see the objects that exist in memory only, in a folder that goes away with the result.
fn lend(repo: &Repo, objects: &Objects, command: &mut Command) -> Result<Option<Lent>, GitError> {
    let overlay = objects.overlay();
    if overlay.is_empty() {
        return Ok(None);
    }
    let lent = Lent(repo.private_dir().join(format!("objects-{}", std::process::id())));
    let failed = |source| GitError::io("write", &lent.0, source);
    repo.sharing().create_dir_all(&lent.0).map_err(failed)?;
    let loose = gix::odb::loose::Store::at(&lent.0, objects.hash_kind());
    for (kind, data) in overlay.values() {
        use gix::objs::Write as _;
        loose.write_buf(*kind, data).map_err(|source| GitError::other("write an object", source))?;
    }
    let mut others = objects.repo().objects.store_ref().path().as_os_str().as_encoded_bytes().to_vec();
    others.push(b'\n');
    std::fs::create_dir_all(lent.0.join("info")).map_err(failed)?;
    std::fs::write(lent.0.join("info/alternates"), others).map_err(failed)?;
    command.env("GIT_OBJECT_DIRECTORY", &lent.0);
    Ok(Some(lent))
}

/// A folder that is removed at the end.
struct Lent(std::path::PathBuf);

impl Drop for Lent {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
