//! Looking for what is wrong with the checkpoints of a repository, and mending what can be mended without losing anything.
//!
//! Order: settings, leftovers, database, refs and rows, names, undo, objects. Refs are what exists; rows are made from them, never the
//! reverse, but for a ref that was lost while its commit is still there.

mod database;
mod leftovers;
mod memory;
mod names;
mod objects;
mod refs;
mod settings;
mod undo;

use std::path::Path;

use super::Error;
use crate::git::Repo;

pub use objects::Verified;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct DoctorRequest {
    /// Mend what can be mended.
    pub fix: bool,
    /// Read every object that these checkpoints need; those of all if the list is empty.
    pub verify: Option<Vec<String>>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Everything that is not as it should be.
    pub problems: Vec<Problem>,
    /// How much was read, if that was asked for.
    pub verified: Option<Verified>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which kind.
    pub code: ProblemCode,
    /// One sentence for a person, lower case, without a full stop.
    pub message: String,
    /// What to do about it, or what was done.
    pub hint: String,
    /// Whether it was or can be mended.
    pub cure: Cure,
}

/// Whether a problem was or can be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// `--fix` mends it.
    Possible,
    /// It was mended.
    Done,
    /// Only a person can tell what is to become of it.
    ByHand,
}

/// The stable codes of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the codes are explained one by one in the manual page's table of problems")]
pub enum ProblemCode {
    UnknownSetting,
    MirrorRemote,
    AliasInTheWay,
    HooksOutdated,
    RestoreInterrupted,
    StaleLock,
    ScratchFile,
    DatabaseDamaged,
    DatabaseNewer,
    RefBroken,
    RefDangling,
    RefForeign,
    RefMissing,
    RowMissing,
    RowWrong,
    NameMissing,
    NameDangling,
    OriginalsUnneeded,
    MemoryUnneeded,
    MemoryBroken,
    UndoBroken,
    ObjectsMissing,
    ObjectDamaged,
}

impl ProblemCode {
    /// Every code.
    pub const ALL: [ProblemCode; 23] = [
        ProblemCode::UnknownSetting,
        ProblemCode::MirrorRemote,
        ProblemCode::AliasInTheWay,
        ProblemCode::HooksOutdated,
        ProblemCode::RestoreInterrupted,
        ProblemCode::StaleLock,
        ProblemCode::ScratchFile,
        ProblemCode::DatabaseDamaged,
        ProblemCode::DatabaseNewer,
        ProblemCode::RefBroken,
        ProblemCode::RefDangling,
        ProblemCode::RefForeign,
        ProblemCode::RefMissing,
        ProblemCode::RowMissing,
        ProblemCode::RowWrong,
        ProblemCode::NameMissing,
        ProblemCode::NameDangling,
        ProblemCode::OriginalsUnneeded,
        ProblemCode::MemoryUnneeded,
        ProblemCode::MemoryBroken,
        ProblemCode::UndoBroken,
        ProblemCode::ObjectsMissing,
        ProblemCode::ObjectDamaged,
    ];

    /// The code as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemCode::UnknownSetting => "unknown-setting",
            ProblemCode::MirrorRemote => "mirror-remote",
            ProblemCode::AliasInTheWay => "alias-in-the-way",
            ProblemCode::HooksOutdated => "hooks-outdated",
            ProblemCode::RestoreInterrupted => "restore-interrupted",
            ProblemCode::StaleLock => "stale-lock",
            ProblemCode::ScratchFile => "scratch-file",
            ProblemCode::DatabaseDamaged => "database-damaged",
            ProblemCode::DatabaseNewer => "database-newer",
            ProblemCode::RefBroken => "ref-broken",
            ProblemCode::RefDangling => "ref-dangling",
            ProblemCode::RefForeign => "ref-foreign",
            ProblemCode::RefMissing => "ref-missing",
            ProblemCode::RowMissing => "row-missing",
            ProblemCode::RowWrong => "row-wrong",
            ProblemCode::NameMissing => "name-missing",
            ProblemCode::NameDangling => "name-dangling",
            ProblemCode::OriginalsUnneeded => "originals-unneeded",
            ProblemCode::MemoryUnneeded => "memory-unneeded",
            ProblemCode::MemoryBroken => "memory-broken",
            ProblemCode::UndoBroken => "undo-broken",
            ProblemCode::ObjectsMissing => "objects-missing",
            ProblemCode::ObjectDamaged => "object-damaged",
        }
    }
}

impl Report {
    /// True if nothing is left to be done.
    pub fn is_well(&self) -> bool {
        self.problems.iter().all(|problem| problem.cure == Cure::Done)
    }

    fn by_hand(&mut self, code: ProblemCode, message: String, hint: impl Into<String>) {
        self.problems.push(Problem { code, message, hint: hint.into(), cure: Cure::ByHand });
    }

    /// Adds a problem that `mend` does away with, and lets it do so if `fix` is set.
    fn mendable(
        &mut self,
        fix: bool,
        (code, message): (ProblemCode, String),
        (way, done): (&str, &str),
        mend: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (hint, cure) = match fix {
            false => (format!("`git checkpoint doctor --fix` {way}"), Cure::Possible),
            true => {
                mend()?;
                (done.to_owned(), Cure::Done)
            }
        };
        self.problems.push(Problem { code, message, hint, cure });
        Ok(())
    }
}

/// Looks the repository around `directory` over.
pub fn doctor(directory: &Path, request: &DoctorRequest) -> Result<Report, Error> {
    let repo = Repo::open(directory)?;
    let mut report = Report::default();
    settings::examine(&repo, &mut report);
    leftovers::examine(&repo, request.fix, &mut report)?;
    let Some(mut context) = database::open(repo, request.fix, &mut report)? else { return Ok(report) };
    refs::examine(&mut context, request.fix, &mut report)?;
    names::examine(&mut context, request.fix, &mut report)?;
    memory::examine(&context, request.fix, &mut report)?;
    undo::examine(&mut context, request.fix, &mut report)?;
    objects::examine(&context, request.verify.as_deref(), &mut report)?;
    Ok(report)
}
