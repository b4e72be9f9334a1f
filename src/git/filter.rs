//! Content on its way between worktree and repository, through the filters of gitattributes(5).

use std::io::Read;
use std::sync::Arc;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::filter::plumbing::driver::apply::Delay;
use gix::filter::plumbing::pipeline::CrlfRoundTripCheck;
use gix::filter::plumbing::pipeline::convert::to_worktree::Options;
use gix::filter::plumbing::pipeline::convert::{ToGitOutcome, ToWorktreeOutcome};
use gix::worktree::stack::state::attributes::Source;

use gix::oid;

use super::ignore::files_above;
use super::index::LazyIndex;
use super::{GitError, Objects, Repo, os_path};

/// Applies clean and smudge filters. Each thread takes its own; long-running filter processes live as long as it does.
pub struct Filters {
    pipeline: gix::filter::plumbing::Pipeline,
    attributes: gix::worktree::Stack,
    repo: gix::Repository,
    index: Arc<LazyIndex>,
}

/// What cleaning did to a content.
pub enum Cleaned<R> {
    /// Nothing: here it is, unread.
    Unchanged(R),
    /// The result is in the buffer.
    Changed,
}

impl Filters {
    /// Filters as attributes in the worktree (and, for attribute files that are not checked out, in `index`) set them.
    pub fn new(repo: &Repo, index: Arc<gix::index::State>) -> Result<Filters, GitError> {
        Self::with(repo, &index.clone(), Arc::new(LazyIndex::ready(repo, index)), Source::WorktreeThenIdMapping)
    }

    /// The same, where `rules` has the attribute files that are not checked out, and `index` is read only if a conversion of
    /// line ends asks for the content that is in it.
    pub(crate) fn lazy(repo: &Repo, rules: &gix::index::State, index: Arc<LazyIndex>) -> Result<Filters, GitError> {
        Self::with(repo, rules, index, Source::WorktreeThenIdMapping)
    }

    /// Filters as the attribute files of `tree` set them, for writing its files: what is in the worktree may say something else.
    /// Only directories above `paths` are looked at, so only those may be asked for.
    pub fn of_tree<'a>(
        repo: &Repo,
        objects: &Objects,
        tree: &oid,
        paths: impl Iterator<Item = &'a BStr>,
    ) -> Result<Filters, GitError> {
        let index = files_above(objects, tree, paths, b".gitattributes")?;
        Self::with(repo, &index, Arc::new(LazyIndex::new(repo)), Source::IdMapping)
    }

    fn with(repo: &Repo, rules: &gix::index::State, index: Arc<LazyIndex>, source: Source) -> Result<Filters, GitError> {
        let failed = |source| GitError::other("set up filters", source);
        let gix = repo.gix();
        let mut options = gix::filter::Pipeline::options(&gix).map_err(failed)?;
        // `core.safecrlf` guards a person's `git add`; a snapshot records what git would, whatever it thinks of it.
        options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        let context = gix.command_context().map_err(failed)?;
        let pipeline = gix::filter::plumbing::Pipeline::new(context, gix.object_hash(), options);
        let attributes = gix.attributes_only(rules, source).map_err(failed)?.detach();
        Ok(Filters { pipeline, attributes, repo: gix, index })
    }

    /// Turns the content of the file at `path` into that of its blob, which goes to `out` unless it is the same.
    pub fn to_git<R: Read>(&mut self, path: &BStr, content: R, out: &mut Vec<u8>) -> Result<Cleaned<R>, GitError> {
        let Filters { pipeline, attributes, repo, index } = self;
        let entry = attributes
            .at_path(os_path(path), None, &repo.objects)
            .map_err(|source| GitError::io("read the attributes of", os_path(path), source))?;
        let mut from_index = |buffer: &mut Vec<u8>| -> Result<Option<()>, gix::Error> {
            use gix::objs::Find;
            let index = index.get().map_err(|error| gix::Error::from_error(error))?;
            let Some(id) = index.entry_by_path(path).map(|entry| entry.id) else { return Ok(None) };
            Ok(repo.objects.try_find(&id, buffer)?.map(|_| ()))
        };
        let mut matching = |_: &BStr, outcome: &mut gix::attrs::search::Outcome| {
            entry.matching_attributes(outcome);
        };
        let outcome = pipeline.convert_to_git(content, os_path(path), &mut matching, &mut from_index);
        match outcome.map_err(|source| filter_error(path, source))? {
            ToGitOutcome::Unchanged(content) => return Ok(Cleaned::Unchanged(content)),
            ToGitOutcome::Buffer(bytes) => {
                out.clear();
                out.extend_from_slice(bytes);
            }
            ToGitOutcome::Process(mut reader) => {
                out.clear();
                reader.read_to_end(out).map_err(|source| filter_error(path, source))?;
            }
        }
        Ok(Cleaned::Changed)
    }

    /// True if the content of the file at `path` cannot be converted even without any filter driver: its encoding is not what
    /// its attributes say.
    pub(crate) fn is_malformed<R: Read>(&mut self, path: &BStr, content: R) -> Result<bool, GitError> {
        let Filters { pipeline, attributes, repo, .. } = self;
        let entry = attributes
            .at_path(os_path(path), None, &repo.objects)
            .map_err(|source| GitError::io("read the attributes of", os_path(path), source))?;
        let mut plain = pipeline.clone();
        plain.options_mut().drivers.clear();
        let mut matching = |_: &BStr, outcome: &mut gix::attrs::search::Outcome| {
            entry.matching_attributes(outcome);
        };
        Ok(plain.convert_to_git(content, os_path(path), &mut matching, &mut |_| Ok(None)).is_err())
    }

    /// Turns the bytes of a blob into those of the file at `path`. Returns false, and leaves `out` alone, if they are the same.
    pub fn to_worktree(&mut self, path: &BStr, blob: &[u8], out: &mut Vec<u8>) -> Result<bool, GitError> {
        let Filters { pipeline, attributes, repo, .. } = self;
        let entry = attributes
            .at_path(os_path(path), None, &repo.objects)
            .map_err(|source| GitError::io("read attributes of", os_path(path), source))?;
        let mut matching = |_: &BStr, outcome: &mut gix::attrs::search::Outcome| {
            entry.matching_attributes(outcome);
        };
        let outcome =
            pipeline.convert_to_worktree(blob, path, &mut matching, Options { can_delay: Delay::Forbid, ..Default::default() });
        match outcome.map_err(|source| filter_error(path, source))? {
            ToWorktreeOutcome::Unchanged(_) => Ok(false),
            ToWorktreeOutcome::Buffer(bytes) => {
                out.clear();
                out.extend_from_slice(bytes);
                Ok(true)
            }
            ToWorktreeOutcome::Process(gix::filter::plumbing::driver::apply::MaybeDelayed::Immediate(mut reader)) => {
                out.clear();
                reader.read_to_end(out).map_err(|source| filter_error(path, source))?;
                Ok(true)
            }
            ToWorktreeOutcome::Process(gix::filter::plumbing::driver::apply::MaybeDelayed::Delayed(_)) => Err(GitError::Filter {
                path: path.to_owned(),
                source: "the filter answered later although that was forbidden".into(),
            }),
        }
    }
}

fn filter_error(path: &BStr, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> GitError {
    GitError::Filter { path: BString::from(path.as_bytes()), source: source.into() }
}
