//! Counted nouns.

/// `1 file`, `2 files`, `0 files`. Takes regular nouns; words in `-y` change as they should.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("{count} {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(plural(0, "file"), "0 files");
        assert_eq!(plural(1, "file"), "1 file");
        assert_eq!(plural(2, "entry"), "2 entries");
        assert_eq!(plural(3, "day"), "3 days");
    }
}
