//! Identities: of a checkpoint, of the session that owns it, and of the worktree it was made in.

use std::fmt;

/// An identity or name that breaks the rules for its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{text}`: {rule}")]
pub struct InvalidId {
    what: &'static str,
    text: String,
    rule: &'static str,
}

/// A checkpoint's identity on every machine: a ULID of 26 lower-case characters, ordered by creation time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(String);

impl CheckpointId {
    /// Length of every id in characters.
    pub const LEN: usize = 26;

    /// A new id for a checkpoint made at `millis` since the Unix epoch.
    pub fn generate(millis: super::Millis) -> Self {
        let random = ulid::Ulid::new().random();
        let ulid = ulid::Ulid::from_parts(millis.max(0).unsigned_abs(), random);
        CheckpointId(ulid.to_string().to_ascii_lowercase())
    }

    /// Reads an id, which must be a whole ULID in lower case.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let lower = text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        if lower && text.len() == Self::LEN && ulid::Ulid::from_string(text).is_ok() {
            Ok(CheckpointId(text.to_owned()))
        } else {
            Err(InvalidId { what: "checkpoint id", text: text.to_owned(), rule: "it is a ULID of 26 lower-case characters" })
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a session: a component of the checkpoint's ref name, so `[a-z0-9._-]` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(String);

impl SessionKey {
    /// Longest key in characters, so that the whole ref name stays within 100 bytes.
    pub const MAX_LEN: usize = 56;

    /// Reads a key exactly as given.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let rule = if text.is_empty() || text.len() > Self::MAX_LEN {
            "it has 1 to 56 characters"
        } else if !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b)) {
            "it holds only a-z, 0-9, `.`, `_` and `-`"
        } else if text.starts_with(['.', '-']) || text.ends_with('.') || text.contains("..") || text.ends_with(".lock") {
            "it must do as a component of a ref name (see git-check-ref-format)"
        } else {
            return Ok(SessionKey(text.to_owned()));
        };
        Err(InvalidId { what: "session key", text: text.to_owned(), rule })
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which worktree of a repository: `main`, or the name git gave a linked one (the folder in `.git/worktrees`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorktreeId(String);

impl WorktreeId {
    /// The main worktree. A linked worktree that git happens to call `main` is written `main/` to keep the two apart.
    pub const MAIN: &'static str = "main";

    /// The id of the main worktree.
    pub fn main() -> Self {
        WorktreeId(Self::MAIN.to_owned())
    }

    /// The id of the linked worktree that lives in `.git/worktrees/<name>`.
    pub fn linked(name: &str) -> Self {
        if name == Self::MAIN { WorktreeId(format!("{name}/")) } else { WorktreeId(name.to_owned()) }
    }

    /// The id of a directory that the environment makes the worktree of a git directory that belongs elsewhere; `mark` tells
    /// such directories apart.
    pub fn placed(own: &WorktreeId, mark: &str) -> Self {
        WorktreeId(format!("{own}{PLACED}{mark}"))
    }

    /// What tells directories with the same git directory apart; none for a worktree of its own.
    pub fn mark(&self) -> Option<&str> {
        self.0.split_once(PLACED).map(|(_, mark)| mark)
    }

    /// An id as it was recorded.
    pub fn from_recorded(text: &str) -> Self {
        WorktreeId(text.to_owned())
    }

    /// The name that git gave the linked worktree (the folder in `.git/worktrees`); none for the main one.
    pub fn linked_name(&self) -> Option<&str> {
        let own = self.0.split_once(PLACED).map_or(self.as_str(), |(own, _)| own);
        (own != Self::MAIN).then(|| own.strip_suffix('/').unwrap_or(own))
    }

    /// True for the main worktree.
    pub fn is_main(&self) -> bool {
        self.0.split_once(PLACED).map_or(self.as_str(), |(own, _)| own) == Self::MAIN
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Between the id of a git directory and the mark of a directory that it was put to work on. No name of a worktree holds it.
const PLACED: &str = "/at-";

impl fmt::Display for WorktreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a name that a person gives to a checkpoint: it must not read as any other selector.
pub fn validate_name(name: &str) -> Result<(), InvalidId> {
    let rule = if name.is_empty() || name.len() > 80 {
        "it has 1 to 80 bytes"
    } else if name.bytes().all(|b| b.is_ascii_digit()) {
        "a number names a checkpoint by its number"
    } else if name.starts_with(['-', '@']) {
        "it must not begin with `-` or `@`"
    } else if name.contains(':') {
        "it must not contain `:`"
    } else if name.chars().any(char::is_control) {
        "it must not contain control characters"
    } else if name == "pre-restore" || name == "HEAD" || name.starts_with("refs/") || CheckpointId::parse(name).is_ok() {
        "the word is a selector already"
    } else if name.trim() != name {
        "it must not begin or end with a space"
    } else {
        return Ok(());
    };
    Err(InvalidId { what: "name", text: name.to_owned(), rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_lower_case_ulid_in_order_of_time() {
        let early = CheckpointId::generate(1_000);
        let late = CheckpointId::generate(2_000);

        assert_eq!(early.as_str().len(), CheckpointId::LEN);
        assert!(early < late);
        assert_eq!(CheckpointId::parse(early.as_str()), Ok(early.clone()));
        assert!(CheckpointId::parse(&early.as_str().to_uppercase()).is_err());
    }

    #[test]
    fn a_session_key_is_safe_as_a_ref_component() {
        for good in ["main-1", "a.b", "x_y", "claude-0"] {
            assert!(SessionKey::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "a/b", ".a", "a..b", "a.lock", "a.", "-a", "é"] {
            assert!(SessionKey::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_linked_worktree_named_main_is_not_the_main_worktree() {
        assert_ne!(WorktreeId::linked("main"), WorktreeId::main());
        assert!(!WorktreeId::linked("main").is_main());
        let placed = WorktreeId::placed(&WorktreeId::main(), "1f");
        assert!(placed != WorktreeId::main() && placed.is_main() && placed.mark() == Some("1f"));
        assert!(!WorktreeId::placed(&WorktreeId::linked("main"), "1f").is_main() && WorktreeId::linked("w").mark().is_none());
        assert_eq!((placed.linked_name(), WorktreeId::linked("main").linked_name()), (None, Some("main")));
        assert_eq!(WorktreeId::placed(&WorktreeId::linked("w"), "1f").linked_name(), Some("w"));
    }

    #[test]
    fn a_name_never_reads_as_another_selector() {
        for good in ["before refactor", "A", "v1.2", "beef"] {
            assert!(validate_name(good).is_ok(), "{good}");
        }
        for bad in ["", "12", "@x", "-f", "step:x", "a\nb", "pre-restore", "HEAD", " a"] {
            assert!(validate_name(bad).is_err(), "{bad}");
        }
    }
}
