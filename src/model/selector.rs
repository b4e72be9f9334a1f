//! What a person types to name a checkpoint.

use super::{Kind, SessionKey};

/// A selector as it was typed, sorted by its form. What it names is found by `ops::select`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `12`: the checkpoint with this number.
    Number(u64),
    /// `@` and `@~n`: the newest of this worktree, or the nth before it.
    Recent(u64),
    /// `@{2 hours ago}`: the newest of this worktree at or before that time.
    At(String),
    /// `step:<name>`: the newest of this step.
    Step(String),
    /// `turn:<n>`: the newest of this turn.
    Turn(u32),
    /// `session:<key>`: the newest of this session.
    Session(SessionKey),
    /// `pre-restore`: the newest of that kind in this worktree.
    PreRestore,
    /// A full ref name.
    Ref(String),
    /// A name, an id or its prefix, or the prefix of a commit id.
    Word(String),
}

/// Text that is no selector of any form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no selector: {rule}")]
pub struct SelectorError {
    /// What was typed.
    pub text: String,
    rule: &'static str,
}

impl SelectorError {
    /// Says why `text` is no selector.
    pub fn new(text: &str, rule: &'static str) -> SelectorError {
        SelectorError { text: text.to_owned(), rule }
    }
}

impl Selector {
    /// Sorts `text` into one of the forms.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let wrong = |rule| Err(SelectorError::new(text, rule));
        if text.is_empty() {
            return wrong("it is empty");
        }
        if text.starts_with('-') {
            return wrong("it must not begin with `-`");
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return match text.parse() {
                Ok(number) => Ok(Selector::Number(number)),
                Err(_) => wrong("the number is too large"),
            };
        }
        if text == Kind::PreRestore.as_str() {
            return Ok(Selector::PreRestore);
        }
        if let Some(rest) = text.strip_prefix('@') {
            return match Self::parse_recent(rest) {
                Some(selector) => Ok(selector),
                None => wrong("after `@` comes nothing, `~<n>` or `{<time>}`"),
            };
        }
        if let Some((form, value)) = text.split_once(':') {
            return match Self::parse_form(form, value) {
                Some(selector) => Ok(selector),
                None => wrong("the forms with `:` are `step:<name>`, `turn:<n>` and `session:<key>`"),
            };
        }
        if text.starts_with("refs/") {
            return Ok(Selector::Ref(text.to_owned()));
        }
        Ok(Selector::Word(text.to_owned()))
    }

    fn parse_recent(rest: &str) -> Option<Selector> {
        if rest.is_empty() {
            return Some(Selector::Recent(0));
        }
        if rest == "~" {
            return Some(Selector::Recent(1));
        }
        if let Some(count) = rest.strip_prefix('~') {
            let digits = count.bytes().all(|b| b.is_ascii_digit());
            return digits.then(|| count.parse().ok()).flatten().map(Selector::Recent);
        }
        let time = rest.strip_prefix('{')?.strip_suffix('}')?;
        (!time.trim().is_empty()).then(|| Selector::At(time.trim().to_owned()))
    }

    fn parse_form(form: &str, value: &str) -> Option<Selector> {
        match form {
            "step" if !value.is_empty() => Some(Selector::Step(value.to_owned())),
            "turn" => value.parse().ok().map(Selector::Turn),
            "session" => SessionKey::parse(value).ok().map(Selector::Session),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_told_from_the_others() {
        let table = [
            ("12", Selector::Number(12)),
            ("@", Selector::Recent(0)),
            ("@~3", Selector::Recent(3)),
            ("@{2 hours ago}", Selector::At("2 hours ago".into())),
            ("step:build", Selector::Step("build".into())),
            ("turn:4", Selector::Turn(4)),
            ("pre-restore", Selector::PreRestore),
            ("refs/checkpoints/a/b", Selector::Ref("refs/checkpoints/a/b".into())),
            ("deadbeef", Selector::Word("deadbeef".into())),
            ("before refactor", Selector::Word("before refactor".into())),
        ];
        for (text, expected) in table {
            assert_eq!(Selector::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_fits_no_form_is_refused() {
        for text in ["", "-rf", "@x", "@~x", "@{}", "@{", "turn:x", "foo:bar", "session:A/B", "99999999999999999999999"] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }
}
