//! Content on its way between worktree and repository, through the filters of gitattributes(5).

use std::io::Read;
use std::sync::Arc;

use gix::attrs::StateRef;
use gix::attrs::search::Outcome;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::filter::plumbing::Pipeline;
use gix::filter::plumbing::driver::apply::{Delay, MaybeDelayed};
use gix::filter::plumbing::eol::AutoCrlf;
use gix::filter::plumbing::pipeline::CrlfRoundTripCheck;
use gix::filter::plumbing::pipeline::convert::to_worktree::Options;
use gix::filter::plumbing::pipeline::convert::{ToGitOutcome, ToWorktreeOutcome};
use gix::worktree::stack::state::attributes::Source;

use gix::oid;

use super::encoded::{ENCODING, EncodedText, Indexed, NAMES, Rules};
use super::ident;
use super::ignore::files_above;
use super::index::{self, LazyIndex};
use super::rule_files::{Gathered, RuleFiles};
use super::snapshot::rules_not_checked_out;
use super::{GitError, Objects, Repo, os_path};

/// Applies clean and smudge filters. Each thread takes its own; long-running filter processes live as long as it does.
pub struct Filters {
    pipeline: Pipeline,
    /// Made for the first file with a `working-tree-encoding`.
    encoded: Option<EncodedText>,
    attributes: gix::worktree::Stack,
    repo: gix::Repository,
    index: Arc<LazyIndex>,
    /// Watches over the attribute files in the worktree; none if none of them is read.
    files: Option<RuleFiles>,
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
        Self::lazy(repo, &index.clone(), Arc::new(LazyIndex::ready(repo, index)))
    }

    /// Filters as a capture of the worktree applies them now.
    pub(crate) fn in_force(repo: &Repo, objects: &Objects) -> Result<Filters, GitError> {
        let index = Arc::new(index::load(repo, objects)?);
        Self::lazy(repo, &rules_not_checked_out(&index), Arc::new(LazyIndex::ready(repo, index)))
    }

    /// The same, where `rules` has the attribute files that are not checked out, and `index` is read only if a conversion of
    /// line ends asks for the content that is in it.
    pub(crate) fn lazy(repo: &Repo, rules: &gix::index::State, index: Arc<LazyIndex>) -> Result<Filters, GitError> {
        let files = Some(RuleFiles::new(repo.top(), ".gitattributes")?);
        Ok(Filters { files, ..Self::with(repo.gix(), rules, index, Source::WorktreeThenIdMapping)? })
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
        // The library does not know where to find objects that have just come in.
        let gix = repo.gix().with_object_memory();
        let mut content = Vec::new();
        for entry in index.entries() {
            objects.read(&entry.id, &mut content)?;
            gix.write_blob(&content).map_err(|source| GitError::other("keep rules", source))?;
        }
        Self::with(gix, &index, Arc::new(LazyIndex::new(repo)), Source::IdMapping)
    }

    fn with(gix: gix::Repository, rules: &gix::index::State, index: Arc<LazyIndex>, source: Source) -> Result<Filters, GitError> {
        let pipeline = new_pipeline(&gix)?;
        let attributes = attribute_stack(&gix, rules, source)?;
        Ok(Filters { pipeline, encoded: None, attributes, repo: gix, index, files: None })
    }

    /// Turns the content of the file at `path` into that of its blob, which goes to `out` unless it is the same.
    pub fn to_git<R: Read>(&mut self, path: &BStr, mut content: R, out: &mut Vec<u8>) -> Result<Cleaned<R>, GitError> {
        self.look_out(path)?;
        let rules = self.encoding_rules(path)?;
        let Filters { pipeline, encoded, attributes, repo, index, .. } = self;
        let mut indexed = |buffer: &mut Vec<u8>| -> Result<Option<()>, gix::Error> {
            use gix::objs::Find;
            let index = index.get().map_err(|error| gix::Error::from_error(error))?;
            let Some(id) = index.entry_by_path(path).map(|entry| entry.id) else { return Ok(None) };
            Ok(repo.objects.try_find(&id, buffer)?.map(|_| ()))
        };
        if let Some(rules) = rules {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).map_err(|source| filter_error(path, source))?;
            *out = encoded_text(encoded, repo)?.clean_text(path, &rules, bytes, &mut indexed)?;
            return Ok(Cleaned::Changed);
        }
        let entry = attributes.at_path(os_path(path), None, &repo.objects).map_err(|source| unreadable(path, source))?;
        let mut matching = |_: &BStr, outcome: &mut Outcome| {
            entry.matching_attributes(outcome);
        };
        let unchanged = cleaned(pipeline, path, content, &mut matching, &mut indexed, out)?;
        Ok(unchanged.map_or(Cleaned::Changed, Cleaned::Unchanged))
    }

    /// True if the content of the file at `path` cannot be converted even without any filter driver: its encoding is not what
    /// its attributes say, or they say what no encoding is.
    pub(crate) fn is_malformed<R: Read>(&mut self, path: &BStr, mut content: R) -> Result<bool, GitError> {
        self.look_out(path)?;
        match self.encoding_rules(path) {
            Ok(Some(rules)) => {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes).map_err(|source| filter_error(path, source))?;
                Ok(rules.is_malformed(&bytes))
            }
            Ok(None) => Ok(false),
            Err(GitError::Filter { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Turns the bytes of a blob into those of the file at `path`. Returns false, and leaves `out` alone, if they are the same.
    pub fn to_worktree(&mut self, path: &BStr, blob: &[u8], out: &mut Vec<u8>) -> Result<bool, GitError> {
        self.look_out(path)?;
        let expanded = if self.has_ident(path)? { ident::expand(blob, self.repo.object_hash())? } else { None };
        let rules = self.encoding_rules(path)?;
        let source = expanded.as_deref().unwrap_or(blob);
        let Filters { pipeline, encoded, attributes, repo, .. } = self;
        if let Some(rules) = rules {
            *out = encoded_text(encoded, repo)?.smudge_text(path, &rules, source)?;
            return Ok(true);
        }
        let entry = attributes.at_path(os_path(path), None, &repo.objects).map_err(|source| unreadable(path, source))?;
        let mut matching = |_: &BStr, outcome: &mut Outcome| {
            entry.matching_attributes(outcome);
        };
        let is_filtered = smudged(pipeline, path, source, &mut matching, out)?;
        if let (Some(expanded), false) = (expanded, is_filtered) {
            *out = expanded;
            return Ok(true);
        }
        Ok(is_filtered)
    }

    /// True if nothing that is known of the file at `path` lets its bytes differ from those of its blob.
    pub(crate) fn is_sure_to_leave_alone(&mut self, path: &BStr) -> Result<bool, GitError> {
        self.look_out(path)?;
        let Filters { attributes, repo, .. } = self;
        let mut found = attributes.selected_attribute_matches(["text", "crlf", "eol", "ident", "filter", ENCODING]);
        let entry = attributes.at_path(os_path(path), None, &repo.objects).map_err(|source| unreadable(path, source))?;
        entry.matching_attributes(&mut found);
        let says_nothing = |state| matches!(state, StateRef::Unspecified | StateRef::Unset);
        let is_spoken_of = !found.iter_selected().all(|found| says_nothing(found.assignment.state));
        Ok(!is_spoken_of && repo.config_snapshot().boolean("core.autocrlf") != Some(true))
    }

    /// True if `$Id$` in the file at `path` stands for the name of its blob.
    fn has_ident(&mut self, path: &BStr) -> Result<bool, GitError> {
        let found = self.selected(path, "ident", ["ident"])?;
        Ok(found.is_some_and(|found| found.iter_selected().any(|found| found.assignment.state == StateRef::Set)))
    }

    /// The values of the attributes `names` at `path`; none where no attribute file above it speaks of `asked`.
    fn selected<const N: usize>(&mut self, path: &BStr, asked: &str, names: [&str; N]) -> Result<Option<Outcome>, GitError> {
        let Filters { attributes, repo, .. } = self;
        // Reads the attribute files above the path.
        let _primed = attributes.at_path(os_path(path), None, &repo.objects).map_err(|source| unreadable(path, source))?;
        if !attributes.attributes_collection().iter().any(|(name, _)| name == asked) {
            return Ok(None);
        }
        let mut found = attributes.selected_attribute_matches(names);
        let entry = attributes.at_path(os_path(path), None, &repo.objects).map_err(|source| unreadable(path, source))?;
        entry.matching_attributes(&mut found);
        Ok(Some(found))
    }

    /// Sees to it that the attribute files above `path` can be read.
    fn look_out(&mut self, path: &BStr) -> Result<(), GitError> {
        if self.files.as_mut().is_some_and(|files| !files.are_sound(path)) {
            let Gathered { index, repo } = self.files.take().expect("it was just there").gather(&self.repo)?;
            self.attributes = attribute_stack(&repo, &index, Source::IdMapping)?;
            // The pipeline counts attributes as the stack before did.
            self.pipeline = new_pipeline(&repo)?;
            self.encoded = None;
            self.repo = repo;
        }
        Ok(())
    }

    /// How the file at `path` is converted, if its attributes name an encoding.
    fn encoding_rules(&mut self, path: &BStr) -> Result<Option<Rules>, GitError> {
        let Some(found) = self.selected(path, ENCODING, NAMES)? else { return Ok(None) };
        let named = found.iter_selected().find(|found| found.assignment.name.as_str() == ENCODING);
        match named.map(|found| found.assignment.state) {
            Some(StateRef::Set | StateRef::Unset) => Err(filter_error(path, "an encoding has a name, and is not true or false")),
            _ => Rules::read(path, &found),
        }
    }
}

fn attribute_stack(repo: &gix::Repository, rules: &gix::index::State, source: Source) -> Result<gix::worktree::Stack, GitError> {
    Ok(repo.attributes_only(rules, source).map_err(|source| GitError::other("set up filters", source))?.detach())
}

fn new_pipeline(repo: &gix::Repository) -> Result<Pipeline, GitError> {
    let failed = |source| GitError::other("set up filters", source);
    let mut options = gix::filter::Pipeline::options(repo).map_err(failed)?;
    // `core.safecrlf` guards a person's `git add`; a snapshot records what git would, whatever it thinks of it.
    options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
    // A key without a value is true; the library takes it for one that is not there.
    let config = repo.config_snapshot();
    if config.boolean("core.autocrlf") == Some(true) {
        options.eol_config.auto_crlf = AutoCrlf::Enabled;
    }
    for driver in &mut options.drivers {
        driver.required = config.boolean(&format!("filter.{}.required", driver.name)).unwrap_or(driver.required);
    }
    let context = repo.command_context().map_err(failed)?;
    Ok(Pipeline::new(context, repo.object_hash(), options))
}

fn encoded_text<'a>(made: &'a mut Option<EncodedText>, repo: &gix::Repository) -> Result<&'a mut EncodedText, GitError> {
    let text = match made.take() {
        Some(text) => text,
        None => EncodedText::new(new_pipeline(repo)?),
    };
    Ok(made.insert(text))
}

/// Cleans `content` under the attributes that `matching` finds. Gives it back if nothing changes it, else `out` has the result.
pub(super) fn cleaned<R: Read>(
    pipeline: &mut Pipeline,
    path: &BStr,
    content: R,
    matching: &mut dyn FnMut(&BStr, &mut Outcome),
    indexed: &mut Indexed<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<R>, GitError> {
    let outcome = pipeline.convert_to_git(content, os_path(path), matching, indexed);
    match outcome.map_err(|source| filter_error(path, source))? {
        ToGitOutcome::Unchanged(content) => return Ok(Some(content)),
        ToGitOutcome::Buffer(bytes) => {
            out.clear();
            out.extend_from_slice(bytes);
        }
        ToGitOutcome::Process(mut reader) => {
            out.clear();
            reader.read_to_end(out).map_err(|source| filter_error(path, source))?;
        }
    }
    Ok(None)
}

/// Smudges the bytes of a blob under the attributes that `matching` finds. False, and `out` as it was, if nothing changes them.
pub(super) fn smudged(
    pipeline: &mut Pipeline,
    path: &BStr,
    blob: &[u8],
    matching: &mut dyn FnMut(&BStr, &mut Outcome),
    out: &mut Vec<u8>,
) -> Result<bool, GitError> {
    let outcome = pipeline.convert_to_worktree(blob, path, matching, Options { can_delay: Delay::Forbid, ..Default::default() });
    match outcome.map_err(|source| filter_error(path, source))? {
        ToWorktreeOutcome::Unchanged(_) => Ok(false),
        ToWorktreeOutcome::Buffer(bytes) => {
            out.clear();
            out.extend_from_slice(bytes);
            Ok(true)
        }
        ToWorktreeOutcome::Process(MaybeDelayed::Immediate(mut reader)) => {
            out.clear();
            reader.read_to_end(out).map_err(|source| filter_error(path, source))?;
            Ok(true)
        }
        ToWorktreeOutcome::Process(MaybeDelayed::Delayed(_)) => {
            Err(filter_error(path, "the filter answered later although that was forbidden"))
        }
    }
}

fn unreadable(path: &BStr, source: std::io::Error) -> GitError {
    GitError::io("read the attributes of", os_path(path), source)
}

/// A failure to convert the file at `path`.
pub(super) fn filter_error(path: &BStr, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> GitError {
    GitError::Filter { path: BString::from(path.as_bytes()), source: source.into() }
}
