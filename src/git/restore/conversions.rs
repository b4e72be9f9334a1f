//! Files whose blob is the same while their bytes have to change, or the other way round, because the rules by which one becomes the
//! other are not the same before and after (gitattributes(5)).
//!
//! Trees do not show them: a file with CRLF under `eol=lf` has the blob of one with LF. What a restore replaced of it comes back with
//! its exact bytes, what it left alone is left alone by the undo too, and what would be another file once the rules of the target
//! hold is written anew.

use std::collections::BTreeSet;
use std::io::Read;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryMode;
use rustix::fs::FileType;

use super::plan::{Planner, Target, Write, file_type};
use super::stage::{Attributes, hash_blob, is_blob_in};
use crate::git::diff::{Side, tree_changes};
use crate::git::filter::{Cleaned, Filters};
use crate::git::tree_path::side_of;
use crate::git::{GitError, Objects};

const RULES: &str = ".gitattributes";

/// Adds to the plan, and takes out of it, what only the rules tell. `changed` are the paths that differ between the trees.
pub(super) fn settle(
    planner: &mut Planner<'_>,
    objects: &Objects,
    target: &Target,
    changed: &BTreeSet<BString>,
) -> Result<(), GitError> {
    bring_back_exact(planner, objects, target)?;
    if target.is_step {
        // What a restore wrote for the sake of rules alone, it kept the bytes of.
        return leave_untouched(planner, objects, target);
    }
    let rules: Vec<&BString> = changed.iter().filter(|path| is_rules(path.as_bstr())).collect();
    if planner.scope.attributes == Attributes::Target && !rules.is_empty() {
        convert_anew(planner, objects, target, &rules)?;
    }
    Ok(())
}

/// True for a file of attributes.
pub(super) fn is_rules(path: &BStr) -> bool {
    path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name) == RULES.as_bytes()
}

/// True if the file at `path`, which the capture could not take in, is by the rules of the target what that has there: then nothing
/// has to be done to it, and nothing of it can be lost.
pub(super) fn is_there_already(planner: &Planner<'_>, objects: &Objects, target: &Target, path: &BStr) -> Result<bool, GitError> {
    let Some(side) = side_of(objects, &target.tree, path)?.filter(|side| side.mode.is_blob()) else { return Ok(false) };
    let is_like = planner.stat(path)?.is_some_and(|stat| {
        file_type(&stat) == FileType::RegularFile && (stat.st_mode & 0o100 != 0) == side.mode.is_executable()
    });
    if !is_like || planner.scope.attributes != Attributes::Target {
        return Ok(false);
    }
    let mut filters = Filters::of_tree(planner.repo, objects, &target.tree, std::iter::once(path))?;
    Ok(becomes(planner, &mut filters, path, &side.id)? == Some(true))
}

/// Writes files whose exact bytes were kept, where the trees agree and the bytes do not.
fn bring_back_exact(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    for (path, (blob, hash)) in &target.exact {
        let path = path.as_bstr();
        let Some(new) = side_of(objects, &target.tree, path)?.filter(|side| side.id == *blob) else { continue };
        if !is_settled_by_trees(planner, path) && same_in_tree(planner, path, &new) && bytes_differ(planner, path, hash) {
            planner.writes.insert(path.to_owned(), Write { new, replaces: true });
        }
    }
    Ok(())
}

/// Takes files out of the plan that are, by the rules of the target, what the target has.
fn leave_untouched(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    let is_one = |(path, write): &(&BString, &Write)| {
        write.replaces && !target.exact.contains_key(*path) && has_mode(planner, path.as_bstr(), write.new.mode)
    };
    let paths: Vec<(BString, ObjectId)> =
        planner.writes.iter().filter(is_one).map(|(path, write)| (path.clone(), write.new.id)).collect();
    let mut filters = Filters::of_tree(planner.repo, objects, &target.tree, paths.iter().map(|(path, _)| path.as_bstr()))?;
    for (path, blob) in &paths {
        if becomes(planner, &mut filters, path.as_bstr(), blob)? == Some(true) {
            planner.writes.remove(path);
        }
    }
    Ok(())
}

/// Writes files whose bytes are another blob by the rules of the target than by those that are in force.
fn convert_anew(planner: &mut Planner<'_>, objects: &Objects, target: &Target, rules: &[&BString]) -> Result<(), GitError> {
    let nothing = ObjectId::empty_tree(objects.hash_kind());
    let folders: Vec<&[u8]> = rules.iter().map(|path| &path[..path.len() - RULES.len()]).collect();
    let is_below = |path: &BStr| folders.iter().any(|folder| path.starts_with(folder));
    let files: Vec<(BString, Side)> = tree_changes(objects, &nothing, &target.tree)?
        .into_iter()
        .filter_map(|change| Some((change.path, change.new?)))
        .filter(|(path, side)| {
            let path = path.as_bstr();
            is_below(path)
                && (planner.scope.includes)(path)
                && !is_settled_by_trees(planner, path)
                && !target.exact.contains_key(path)
                && same_in_tree(planner, path, side)
        })
        .collect();
    let paths = || files.iter().map(|(path, _)| path.as_bstr());
    let mut before = Filters::in_force(planner.repo, objects)?;
    let mut after = Filters::of_tree(planner.repo, objects, &target.tree, paths())?;
    for (path, new) in &files {
        let path = path.as_bstr();
        let is_plain = before.is_sure_to_leave_alone(path)? && after.is_sure_to_leave_alone(path)?;
        if !is_plain && becomes(planner, &mut after, path, &new.id)? == Some(false) {
            planner.writes.insert(path.to_owned(), Write { new: *new, replaces: true });
        }
    }
    Ok(())
}

fn is_settled_by_trees(planner: &Planner<'_>, path: &BStr) -> bool {
    planner.writes.contains_key(path) || planner.deletes.contains(path) || planner.plan.kept.iter().any(|kept| kept.path == path)
}

/// True if the capture saw a regular file at the path with this side.
fn same_in_tree(planner: &Planner<'_>, path: &BStr, side: &Side) -> bool {
    (planner.now.seen)(path).is_some_and(|seen| seen.id == side.id && seen.mode == side.mode && side.mode.is_blob())
}

fn has_mode(planner: &Planner<'_>, path: &BStr, mode: EntryMode) -> bool {
    (planner.now.seen)(path).is_some_and(|seen| seen.mode == mode && mode.is_blob())
}

/// One that cannot be read differs from nothing: whoever would replace it finds that.
fn bytes_differ(planner: &Planner<'_>, path: &BStr, hash: &ObjectId) -> bool {
    planner.top.open_file(path).and_then(|file| is_blob_in(file, hash)).is_ok_and(|same| !same)
}

/// Whether the file is this blob by the rules of `filters`; none if that cannot be told.
fn becomes(planner: &Planner<'_>, filters: &mut Filters, path: &BStr, blob: &ObjectId) -> Result<Option<bool>, GitError> {
    let (mut bytes, mut out) = (Vec::new(), Vec::new());
    if planner.top.open_file(path).and_then(|mut file| file.read_to_end(&mut bytes)).is_err() {
        return Ok(None);
    }
    let cleaned = match filters.to_git(path, bytes.as_slice(), &mut out) {
        Ok(Cleaned::Changed) => out,
        Ok(Cleaned::Unchanged(_)) => bytes,
        // What is found when it is written is told then.
        Err(_) => return Ok(None),
    };
    Ok(Some(hash_blob(blob.kind(), &cleaned)? == *blob))
}
