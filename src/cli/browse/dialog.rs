//! What stands over the screen until it is answered: a plan to agree to, a word to type, a result, the help.

use std::path::PathBuf;

use super::work::{Deed, Outcome, Plan};
use crate::model::{BlockerCode, Override, What};

/// What stands over the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dialog {
    /// The keys.
    Help { top: usize },
    /// A plan is being worked out.
    Planning(Deed),
    /// A plan to agree to, or not.
    Plan { plan: Box<Plan>, top: usize },
    /// Something is being done. It cannot be stopped half-way.
    Doing(Deed),
    /// What became of it.
    Outcome { outcome: Outcome, top: usize },
    /// A word to type.
    Input(Input),
}

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) purpose: Purpose,
    /// The checkpoint it is about.
    pub(super) number: u64,
    pub(super) text: String,
}

/// What a word is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Name,
    Branch,
    Export,
}

impl Input {
    pub(super) fn new(purpose: Purpose, number: u64) -> Input {
        let text = match purpose {
            Purpose::Name | Purpose::Branch => String::new(),
            Purpose::Export => format!("checkpoint-{number}.bundle"),
        };
        Input { purpose, number, text }
    }

    /// What is asked.
    pub(super) fn question(&self) -> String {
        let number = self.number;
        match self.purpose {
            Purpose::Name => format!("name for checkpoint {number}"),
            Purpose::Branch => format!("name of the new branch that is to hold checkpoint {number}"),
            Purpose::Export => format!("file to write checkpoint {number} to"),
        }
    }

    /// What is to be done with what was typed; none if nothing was.
    pub(super) fn deed(&self) -> Option<Deed> {
        let (number, word) = (self.number, self.text.trim().to_owned());
        if word.is_empty() {
            return None;
        }
        Some(match self.purpose {
            Purpose::Name => Deed::Name { number, name: word },
            Purpose::Branch => Deed::Branch { number, name: word },
            Purpose::Export => Deed::Export { number, file: PathBuf::from(word) },
        })
    }
}

impl Plan {
    /// True if a person can agree to it.
    pub(super) fn is_possible(&self) -> bool {
        self.blockers.is_empty() && self.question.is_some()
    }

    /// The deed without regard to its blockers; none unless a person may decide so about each of them.
    pub(super) fn in_spite_of_blockers(&self) -> Option<Deed> {
        let may_be_allowed = |code: BlockerCode| code.override_by() == Some(Override::Allow);
        if self.blockers.is_empty() || !self.blockers.iter().all(|blocker| may_be_allowed(blocker.code)) {
            return None;
        }
        let mut deed = self.deed.clone();
        match &mut deed {
            Deed::Restore { allow, .. } | Deed::Undo { allow } | Deed::Redo { allow } | Deed::Drop { allow, .. } => {
                allow.extend(self.blockers.iter().map(|blocker| blocker.code));
            }
            Deed::Name { .. } | Deed::Branch { .. } | Deed::Export { .. } => return None,
        }
        Some(deed)
    }
}

impl Deed {
    /// The same with another part of what a restore can bring back: the files, files and memory, the memory.
    pub(super) fn with_the_next_part(&self) -> Deed {
        let mut deed = self.clone();
        if let Deed::Restore { what, .. } = &mut deed {
            *what = match what {
                What::Code => What::Both,
                What::Both => What::Memory,
                What::Memory => What::Code,
            };
        }
        deed
    }

    /// What is being done, for the time that it takes.
    pub(super) fn in_progress(&self) -> String {
        match self {
            Deed::Restore { number, .. } => format!("restoring checkpoint {number}"),
            Deed::Undo { .. } => "undoing the last restore".to_owned(),
            Deed::Redo { .. } => "doing the restore again".to_owned(),
            Deed::Drop { number, .. } => format!("dropping checkpoint {number}"),
            Deed::Name { number, .. } => format!("naming checkpoint {number}"),
            Deed::Branch { name, .. } => format!("making branch {name}"),
            Deed::Export { file, .. } => format!("writing {}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Blocker;

    fn plan(codes: &[BlockerCode]) -> Plan {
        let blocker = |code: &BlockerCode| Blocker { code: *code, message: String::new(), hint: String::new() };
        Plan {
            deed: Deed::Restore { number: 1, what: What::Code, allow: Vec::new() },
            title: String::new(),
            summary: Vec::new(),
            steps: Vec::new(),
            blockers: codes.iter().map(blocker).collect(),
            question: Some(String::new()),
            has_memory: false,
        }
    }

    #[test]
    fn only_blockers_that_a_person_may_override_can_be_passed_over() {
        let allowed = [BlockerCode::OtherWorktree, BlockerCode::SessionActive];
        let deed = Deed::Restore { number: 1, what: What::Code, allow: allowed.to_vec() };

        assert_eq!(plan(&allowed).in_spite_of_blockers(), Some(deed));
        assert_eq!(plan(&[BlockerCode::OtherWorktree, BlockerCode::MainWorktree]).in_spite_of_blockers(), None);
        assert_eq!(plan(&[]).in_spite_of_blockers(), None);
        assert!(plan(&[]).is_possible() && !plan(&allowed).is_possible());
    }

    #[test]
    fn a_word_that_was_not_typed_does_nothing() {
        let typed = |text: &str| Input { text: text.to_owned(), ..Input::new(Purpose::Name, 3) }.deed();

        assert_eq!(typed("  "), None);
        assert_eq!(typed(" good "), Some(Deed::Name { number: 3, name: "good".to_owned() }));
    }
}
