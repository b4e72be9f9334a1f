//! Values on the command line that several commands take.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::output::ColorChoice;
use crate::model::Kind;

/// A parser for `--kind`.
pub(super) fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)).try_map(|word| Kind::parse(&word).ok_or("no such kind"))
}

/// A parser for `--color`.
pub(super) fn color() -> impl TypedValueParser<Value = ColorChoice> {
    PossibleValuesParser::new(["auto", "always", "never"]).try_map(|word| ColorChoice::parse(&word).ok_or("no such choice"))
}

/// A parser for `<key>=<value>`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => Err("expected <key>=<value>".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn a_pair_splits_at_the_first_equals_sign() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("a").is_err());
        assert!(pair("=b").is_err());
    }
}
