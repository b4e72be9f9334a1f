//! Failures in words: the message, its causes, what can be done about it, and the exit code.

use std::io;

use serde_json::json;

use super::exit::Exit;
use super::output::Ui;
use crate::agents::settings::SettingsError;
use crate::git::GitError;
use crate::git::restore::Left;
use crate::model::{Blocker, InvalidId, SelectorError};
use crate::ops;
use crate::store::StoreError;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An operation failed.
    #[error(transparent)]
    Operation(#[from] ops::Error),
    /// The options contradict each other.
    #[error("{0}")]
    Usage(String),
    /// Standard output could not be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    /// There is no current directory.
    #[error("cannot read the current directory")]
    CurrentDirectory(#[source] io::Error),
    /// The person answered no, or there was nobody to answer.
    #[error("stopped: nothing was changed")]
    Declined,
    /// There is no terminal to show a screen on.
    #[error("`browse` needs a terminal on standard input and standard output")]
    NoTerminal,
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Failure::Operation(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Operation(error.into())
    }
}

impl From<SelectorError> for Failure {
    fn from(error: SelectorError) -> Self {
        Failure::Operation(error.into())
    }
}

impl From<InvalidId> for Failure {
    fn from(error: InvalidId) -> Self {
        Failure::Operation(error.into())
    }
}

impl Failure {
    /// The message with its causes, for a log.
    pub fn in_one_line(&self) -> String {
        let mut text = std::iter::once(self.to_string()).chain(ops::causes(self)).collect::<Vec<_>>().join(": ");
        for blocker in blockers(self) {
            text.push_str(&format!("; {} ({})", blocker.message, blocker.code.as_str()));
        }
        text.replace(['\n', '\r'], " ")
    }
}

/// What programs and people are told about a failure, beyond its message.
struct Account {
    code: &'static str,
    exit: Exit,
    hints: Vec<String>,
}

impl Account {
    fn new(code: &'static str, exit: Exit) -> Account {
        Account { code, exit, hints: Vec::new() }
    }

    fn hint(mut self, hint: impl Into<String>) -> Account {
        self.hints.push(hint.into());
        self
    }
}

/// The message with its causes, and what can be done about it, for the screen of `browse`.
pub(super) fn in_lines(failure: &Failure) -> (String, Vec<String>) {
    let mut hints: Vec<String> =
        blockers(failure).iter().map(|blocker| format!("{}: {}", blocker.message, blocker.hint)).collect();
    if hints.is_empty() {
        hints = account(failure).hints;
    }
    let message = std::iter::once(failure.to_string()).chain(ops::causes(failure)).collect::<Vec<_>>().join(": ");
    (message, hints)
}

/// Tells the person, and with `--json` the program, what went wrong.
pub fn report(failure: &Failure, ui: &mut Ui) -> Exit {
    if let Failure::Output(error) = failure
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return Exit::Done;
    }
    let account = account(failure);
    let message = failure.to_string();
    let blockers = blockers(failure);
    let candidates = candidates(failure);
    let causes = ops::causes(failure);
    let text = causes.iter().fold(message.clone(), |text, cause| format!("{text}\ncaused by: {cause}"));
    match failure {
        // Who says no has made no mistake.
        Failure::Declined => ui.say(text),
        _ => ui.error(text),
    }
    for blocker in blockers {
        ui.error(format_args!("{} ({})", blocker.message, blocker.code.as_str()));
        ui.hint(&blocker.hint);
    }
    // Each blocker has told its own way out.
    for hint in account.hints.iter().filter(|_| blockers.is_empty()) {
        ui.hint(hint);
    }
    if ui.wants_json() {
        let hints = account.hints.join("; ");
        let hint = Some(hints.as_str()).filter(|hint| !hint.is_empty());
        let mut document = error_document(account.code, &message, hint, candidates);
        document["error"]["causes"] = causes.into();
        if account.exit == Exit::Partial {
            document["status"] = "partial".into();
        }
        if !blockers.is_empty() {
            let blockers = super::render::restore::blockers(blockers);
            // As in the document of a restore that is refused when it is known what it is about.
            document["status"] = "refused".into();
            document["blockers"] = blockers.clone();
            document["error"]["blockers"] = blockers;
        }
        if ui.json(&document).is_err() {
            return account.exit;
        }
    }
    account.exit
}

/// The document that `--json` gives in place of a result.
pub fn error_document(code: &str, message: &str, hint: Option<&str>, candidates: &[String]) -> serde_json::Value {
    json!({"schema": 1, "error": {"code": code, "message": message, "hint": hint, "candidates": candidates, "causes": []}})
}

fn blockers(failure: &Failure) -> &[Blocker] {
    match failure {
        Failure::Operation(ops::Error::Refused(blockers)) => blockers,
        _ => &[],
    }
}

fn candidates(failure: &Failure) -> &[String] {
    match failure {
        Failure::Operation(
            ops::Error::UnknownSelector { candidates, .. }
            | ops::Error::AmbiguousSelector { candidates, .. }
            | ops::Error::UnknownSession { candidates, .. },
        ) => candidates,
        _ => &[],
    }
}

fn account(failure: &Failure) -> Account {
    match failure {
        Failure::Operation(error) => operation(error),
        Failure::Usage(_) => Account::new("usage", Exit::Usage).hint("`git checkpoint <command> -h` lists the options"),
        Failure::Output(_) => Account::new("output", Exit::Fatal),
        Failure::CurrentDirectory(_) => Account::new("current-directory", Exit::Fatal),
        Failure::Declined => Account::new("declined", Exit::Refused),
        Failure::NoTerminal => Account::new("no-terminal", Exit::Fatal).hint("`git checkpoint list` prints the same"),
    }
}

fn operation(error: &ops::Error) -> Account {
    use ops::Error;
    match error {
        Error::Git(error) => git(error),
        Error::Store(error) => store(error),
        Error::Refused(blockers) => match blockers.as_slice() {
            [only] => Account::new(only.code.as_str(), Exit::Refused).hint(&only.hint),
            _ => Account::new("refused", Exit::Refused),
        },
        Error::UnknownSelector { candidates, .. } => Account::new("unknown-selector", Exit::Selector).hint(meant(candidates)),
        Error::AmbiguousSelector { candidates, .. } => Account::new("ambiguous-selector", Exit::Selector)
            .hint(format!("type more of it, or its number; it begins {}", listed(candidates))),
        Error::UnknownSession { candidates, .. } => {
            Account::new("unknown-session", Exit::Selector).hint(match candidates.as_slice() {
                [] => "there is no session yet; `git checkpoint session start` starts one".to_owned(),
                keys => format!("there is {}; `git checkpoint session list --all-worktrees` shows them all", listed(keys)),
            })
        }
        Error::Selector(_) => Account::new("invalid-selector", Exit::Selector)
            .hint("a selector is a number, `@`, `@~1`, `@{2 hours ago}`, a name, an id or its prefix"),
        Error::Settings(error) => settings(error),
        Error::Invalid(_) => Account::new("invalid-name", Exit::Usage),
        Error::LockTimeout(_) => {
            Account::new("lock-timeout", Exit::LockTimeout).hint("`checkpoint.lockTimeout` sets how long to wait")
        }
        // `git restore` ends with 1 here (builtin/checkout.c, `report_path_error`), which is our negative answer. What was typed
        // names nothing, and nothing was changed: that is what an unknown selector ends with.
        Error::NoSuchPath(_) => Account::new("no-such-path", Exit::Selector)
            .hint("`git checkpoint diff --name-only <checkpoint>` lists the paths that differ"),
        Error::Usage(_) => Account::new("usage", Exit::Usage),
        Error::TakenBack { left, .. } if *left == Left::default() => {
            Account::new("restore-failed", Exit::Fatal).hint("nothing was changed; try again when the cause is mended")
        }
        Error::TakenBack { left, .. } => left.rescued.iter().fold(
            Account::new("restore-failed", Exit::Fatal).hint(format!(
                "nothing was changed but what others changed meanwhile: {}",
                left.paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
            )),
            |account, rescued| account.hint(super::render::restore::rescued_line(rescued)),
        ),
        Error::Interrupted(_) => Account::new("interrupted", Exit::Partial)
            .hint("`git checkpoint restore --continue` finishes it, `git checkpoint restore --abort` takes it back"),
    }
}

fn settings(error: &SettingsError) -> Account {
    match error {
        SettingsError::Syntax { .. } => {
            Account::new("settings-malformed", Exit::Refused).hint("mend the file and try again; nothing was written")
        }
        SettingsError::Foreign(_) => {
            Account::new("settings-foreign", Exit::Refused).hint("move it away, or remove it yourself; nothing was written")
        }
        SettingsError::Changed(_) => Account::new("settings-changed", Exit::Refused).hint("try again"),
        SettingsError::Io { .. } => Account::new("io", Exit::Fatal),
    }
}

/// What may have been meant by a selector that names nothing.
fn meant(candidates: &[String]) -> String {
    let are_numbers = candidates.iter().all(|candidate| candidate.bytes().all(|byte| byte.is_ascii_digit()));
    match candidates {
        [] => "there is none in this worktree; `git checkpoint list --all-worktrees` shows those of others".to_owned(),
        [only] if !are_numbers => format!("did you mean `{only}`?"),
        [only] => format!("the only one here is {only}"),
        [newest, ..] if are_numbers => format!("the newest one here is {newest}; `git checkpoint list` shows them all"),
        several => format!("did you mean one of {}?", listed(several)),
    }
}

/// The first of several words.
fn listed(words: &[String]) -> String {
    const MOST: usize = 5;
    let mut text = words.iter().take(MOST).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    if words.len() > MOST {
        text.push_str(&format!(" and {} more", words.len() - MOST));
    }
    text
}

fn git(error: &GitError) -> Account {
    match error {
        GitError::NotARepository => Account::new("not-a-repository", Exit::Fatal),
        GitError::Bare | GitError::InsideGitDirectory => {
            Account::new("not-a-worktree", Exit::Fatal).hint("run it in one of the worktrees (`git worktree list`)")
        }
        GitError::NotWorktreeRoot(_) => {
            Account::new("not-worktree-root", Exit::Fatal).hint("`git worktree repair` may mend the link")
        }
        GitError::UnsafeOwnership(path) => Account::new("unsafe-ownership", Exit::Fatal)
            .hint(format!("`git config --global --add safe.directory {}` trusts it", path.display())),
        GitError::UnsupportedExtension(_) => Account::new("unsupported-extension", Exit::Fatal),
        GitError::HomeRefused(_) => {
            Account::new("home-refused", Exit::Fatal).hint("`git config checkpoint.allowHome true` allows it here")
        }
        GitError::BadConfig { .. } => Account::new("bad-config", Exit::Fatal),
        GitError::MissingConfigValue(key) => Account::new("bad-config", Exit::Fatal)
            .hint(format!("`git config --show-origin --get-all {key}` tells where it stands")),
        GitError::UnsupportedIndex(_) => Account::new("unsupported-index", Exit::Fatal),
        GitError::Filter { .. } => Account::new("filter-failed", Exit::Fatal),
        GitError::ObjectMissing(_) => Account::new("object-missing", Exit::Fatal),
        GitError::BadBundle(_) => Account::new("bad-bundle", Exit::Fatal),
        GitError::RefExists(_) => Account::new("ref-exists", Exit::Fatal),
        GitError::Io { .. } => Account::new("io", Exit::Fatal),
        GitError::Other { .. } => Account::new("git", Exit::Fatal),
    }
}

fn store(error: &StoreError) -> Account {
    match error {
        StoreError::Newer { .. } => {
            Account::new("database-newer", Exit::Fatal).hint("a newer git-checkpoint wrote it; update this one")
        }
        StoreError::Corrupt { path, .. } => Account::new("database-corrupt", Exit::Fatal).hint(format!(
            "`git checkpoint doctor --fix` sets `{}` aside and makes it again from the refs and from what can be read of it",
            path.display()
        )),
        StoreError::ReadOnly { .. } => Account::new("database-read-only", Exit::Fatal),
        StoreError::Busy { .. } => Account::new("database-busy", Exit::LockTimeout).hint("try again"),
        StoreError::Failed { .. } | StoreError::Uncertain { .. } => Account::new("database", Exit::Fatal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::Options;
    use crate::model::BlockerCode;

    fn document(failure: Failure) -> (Exit, serde_json::Value) {
        let mut ui = Ui::captured(Options { json: true, ..Options::default() });
        let exit = report(&failure, &mut ui);
        (exit, serde_json::from_str(&ui.written()).unwrap())
    }

    fn unknown(candidates: &[&str]) -> Failure {
        let candidates = candidates.iter().map(|word| (*word).to_owned()).collect();
        Failure::Operation(ops::Error::UnknownSelector { selector: "x".to_owned(), candidates })
    }

    #[test]
    fn a_failure_is_a_document_with_what_may_be_meant() {
        let (exit, document) = document(unknown(&["good", "goof"]));

        assert_eq!(exit.code(), 4);
        let expected = json!({"schema": 1, "error": {
            "code": "unknown-selector",
            "message": "no checkpoint matches `x`",
            "hint": "did you mean one of `good`, `goof`?",
            "candidates": ["good", "goof"],
            "causes": [],
        }});
        assert_eq!(document, expected);
    }

    #[test]
    fn a_cause_that_says_the_same_again_is_left_out() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Said(&'static str, #[source] Option<Box<Said>>);
        let source = Box::new(Said("disk is full", Some(Box::new(Said("error code 13: disk is full", None)))));
        let failure = Failure::Operation(StoreError::Failed { action: "write to", path: "db".into(), source }.into());

        assert_eq!(failure.in_one_line(), "cannot write to the database `db`: disk is full");
    }

    #[test]
    fn the_hint_names_what_there_is() {
        let hint = |candidates: &[&str]| document(unknown(candidates)).1["error"]["hint"].as_str().unwrap().to_owned();

        assert_eq!(hint(&["good"]), "did you mean `good`?");
        assert_eq!(hint(&["7"]), "the only one here is 7");
        assert_eq!(hint(&["7", "6", "5"]), "the newest one here is 7; `git checkpoint list` shows them all");
        assert!(hint(&[]).starts_with("there is none in this worktree"));
        assert!(hint(&["a", "b", "c", "d", "e", "f"]).ends_with("`e` and 1 more?"));
    }

    #[test]
    fn a_single_blocker_gives_its_code_and_its_way_out() {
        let blocker = Blocker { code: BlockerCode::RestoreInterrupted, message: "m".to_owned(), hint: "h".to_owned() };
        let (exit, document) = document(Failure::Operation(ops::Error::Refused(vec![blocker])));

        assert_eq!(exit.code(), 3);
        assert_eq!(document["error"]["code"], "restore-interrupted");
        assert_eq!(document["error"]["hint"], "h");
    }

    #[test]
    fn a_reader_that_left_is_no_failure() {
        let mut ui = Ui::captured(Options { json: true, ..Options::default() });
        let left = Failure::Output(io::ErrorKind::BrokenPipe.into());

        assert_eq!(report(&left, &mut ui), Exit::Done);
        assert_eq!(ui.written(), "");
    }
}
