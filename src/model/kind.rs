//! The kinds of checkpoint.

/// Why a checkpoint was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A person or script asked for it.
    Manual,
    /// The state before the first step or turn of a session.
    Baseline,
    /// A named stage of a pipeline.
    Step,
    /// What a person changed before an agent's turn began.
    TurnStart,
    /// The end of an agent's turn.
    Turn,
    /// The state before a restore, an undo or a redo.
    PreRestore,
}

impl Kind {
    /// Every kind, in the order help texts list them.
    pub const ALL: [Kind; 6] = [Kind::Manual, Kind::Baseline, Kind::Step, Kind::TurnStart, Kind::Turn, Kind::PreRestore];

    /// The word used in ref trailers, the database, JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Manual => "manual",
            Kind::Baseline => "baseline",
            Kind::Step => "step",
            Kind::TurnStart => "turn-start",
            Kind::Turn => "turn",
            Kind::PreRestore => "pre-restore",
        }
    }

    /// The kind that `word` stands for.
    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
