//! Taking out of a conversation what must not leave the machine: secrets of known forms, and whatever looks like one by chance alone.
//!
//! A transcript is lines of JSON. They are changed byte by byte and never written anew, so that everything else keeps its bytes; and the
//! same input gives the same output, so that nothing is sent twice.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// What stands where a secret stood.
const MARK: &[u8] = b"[redacted]";

/// A word of at least so many characters may be a secret by chance alone.
const SHORTEST: usize = 32;
/// One of more characters than this is data, such as a picture.
const LONGEST: usize = 200;
/// The bits of information a character that a secret has; words and paths have less.
const LEAST_BITS: f64 = 4.4;

/// The forms of secrets. Where there is a group, that is the secret.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = [
        // Private keys, with the line ends blanked.
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)-----END",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\bgh[pousr]_[A-Za-z0-9]{36,}",
        r"\bgithub_pat_[A-Za-z0-9_]{22,}",
        r"\bglpat-[A-Za-z0-9_-]{20,}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\bsk-[A-Za-z0-9_-]{20,}",
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"\bnpm_[A-Za-z0-9]{36}",
        r"\bpypi-[A-Za-z0-9_-]{16,}",
        r"\bhf_[A-Za-z0-9]{30,}",
        r"\bdop_v1_[a-f0-9]{64}",
        r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
        r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})",
        r#"://[^/\s:@"]{0,64}:([^/\s@"]{3,256})@"#,
    ];
    forms.into_iter().filter_map(|form| Regex::new(&format!("(?-u){form}")).ok()).collect()
});

/// Something that is called a secret where it gets its value.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key";
    Regex::new(&format!(r#"(?i-u)(?:{words})[a-z0-9_-]*\s*["']?\s*[:=]\s*["']?\s*([^\s"',;(){{}}<>\[\]$]{{8,}})"#)).ok()
});

/// A word that may be a secret by chance alone, with what is before it.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!(r"(?-u)[A-Za-z0-9+_=-]{{{SHORTEST},}}")).ok());

/// A place that says of what follows that it is an id, or something signed or encrypted.
static AN_ID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)(?:"[a-z_]*(?:id|uuid|sha\d*|hash|signature|encrypted_content|etag|data)"\s*:\s*"|\b(?:toolu|msg|req|call|fc|rs|resp|item|ses|prt)_)$"#)
        .ok()
});

/// Takes the secrets out of some lines. Returns them without, and how many there were.
pub fn redact(lines: &[u8]) -> (Vec<u8>, u64) {
    let (mut out, mut count) = (Vec::with_capacity(lines.len()), 0);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let mut at = 0;
        for secret in secrets(line) {
            out.extend_from_slice(&line[at..secret.start]);
            out.extend_from_slice(MARK);
            at = secret.end;
            count += 1;
        }
        out.extend_from_slice(&line[at..]);
    }
    (out, count)
}

/// Takes the secrets out of a text that is no JSON.
pub fn redact_text(text: &str) -> String {
    let line = serde_json::Value::from(text).to_string();
    serde_json::from_slice(&redact(line.as_bytes()).0).unwrap_or_default()
}

/// Where the secrets of a line are, in order and apart from each other.
fn secrets(line: &[u8]) -> Vec<Range<usize>> {
    let Text { blanked, is_text } = Text::of(line);
    let mut found: Vec<Range<usize>> = Vec::new();
    for form in FORMS.iter() {
        found.extend(form.captures_iter(&blanked).filter_map(|found| Some(found.get(1).or(found.get(0))?.range())));
    }
    // A value without a digit is a word of the language or a name.
    let is_value = |range: &Range<usize>| blanked[range.clone()].iter().any(u8::is_ascii_digit);
    let named = NAMED.iter().flat_map(|named| named.captures_iter(&blanked)).filter_map(|found| Some(found.get(1)?.range()));
    found.extend(named.filter(is_value));
    let words = WORD.iter().flat_map(|word| word.find_iter(&blanked)).map(|word| word.range());
    found.extend(words.filter(|word| is_by_chance(&blanked, word)));
    // What is no text has a meaning of its own to the agent.
    found.retain(|range| is_text[range.start] && !range.is_empty() && &line[range.clone()] != MARK);
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// True for a word of letters of both kinds and digits that nobody would make up.
fn is_by_chance(text: &[u8], word: &Range<usize>) -> bool {
    let bytes = &text[word.clone()];
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let before = &text[word.start.saturating_sub(64)..word.start];
    // An id that begins with what it is an id of is one word with that.
    let head = bytes.iter().position(|byte| *byte == b'_').map_or(0, |at| at + 1);
    let is_id = AN_ID.iter().any(|id| id.is_match(before) || id.is_match(&bytes[..head]));
    is_mixed && bytes.len() <= LONGEST && !is_id && bits(bytes) >= LEAST_BITS
}

/// The information of a character, by how often each occurs (Shannon's entropy).
fn bits(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let share = |count: u32| f64::from(count) / bytes.len() as f64;
    counts.into_iter().filter(|count| *count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// A line of JSON as one reads it.
struct Text {
    /// The line with blanks for what is written as an escape, so that words end where they end in the text.
    blanked: Vec<u8>,
    /// Whether a byte is part of a string.
    is_text: Vec<bool>,
}

impl Text {
    fn of(line: &[u8]) -> Text {
        let mut text = Text { blanked: line.to_vec(), is_text: vec![false; line.len()] };
        let (mut at, mut inside) = (0, false);
        while at < line.len() {
            text.is_text[at] = inside;
            match line[at] {
                b'\\' if inside => {
                    let length = if line.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                    let end = (at + length).min(line.len());
                    text.blanked[at..end].fill(b' ');
                    text.is_text[at..end].fill(true);
                    // Quotes and slashes are what they are in the text.
                    if let Some(meant) = line.get(at + 1).filter(|byte| matches!(byte, b'"' | b'/')) {
                        text.blanked[at + 1] = *meant;
                    }
                    at = end;
                    continue;
                }
                b'"' => inside = !inside,
                _ => {}
            }
            at += 1;
        }
        text
    }
}

/// Removes what only the account can read that it was made for, which elsewhere is an error: values of `encrypted_content`. Returns the
/// lines without, and how many there were.
pub fn leave_out_encrypted(lines: &[u8]) -> (Vec<u8>, u64) {
    const KEY: &[u8] = b"\"encrypted_content\":\"";
    let (mut out, mut count) = (Vec::with_capacity(lines.len()), 0);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let is_text = Text::of(line).is_text;
        let mut at = 0;
        let places = line.windows(KEY.len()).enumerate().filter(|(_, part)| *part == KEY).map(|(place, _)| place);
        for place in places.filter(|place| !is_text[*place]) {
            let start = place + KEY.len();
            let Some(length) =
                line[start..].iter().enumerate().position(|(n, byte)| *byte == b'"' && !is_escaped(line, start + n))
            else {
                continue;
            };
            let end = start + length + 1;
            // With the comma that parts it from its neighbour.
            let (from, to) = match (place.checked_sub(1).map(|before| line[before]), line.get(end)) {
                (_, Some(b',')) => (place, end + 1),
                (Some(b','), _) => (place - 1, end),
                _ => (place, end),
            };
            out.extend_from_slice(&line[at..from.max(at)]);
            at = to;
            count += 1;
        }
        out.extend_from_slice(&line[at..]);
    }
    (out, count)
}

fn is_escaped(line: &[u8], at: usize) -> bool {
    line[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Puts secrets together, so that no scanner takes this file for one that has some.
    fn made(parts: &[&str]) -> String {
        parts.concat()
    }

    fn redacted(text: &str) -> String {
        let line = format!("{}\n", json!({"type": "user", "message": {"content": text}}));
        let (out, _) = redact(line.as_bytes());
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(redact(&out), (out.clone(), 0), "a second time changes nothing");
        value["message"]["content"].as_str().unwrap().to_owned()
    }

    #[test]
    fn secrets_of_known_forms_go_wherever_they_stand() {
        let a = |n: usize| "aB3".repeat(n)[..n].to_owned();
        for secret in [
            made(&["AKIA", "IOSFODNN7EXAMPLE"]),
            made(&["ghp_", &a(36)]),
            made(&["github_pat_", &a(40)]),
            made(&["glpat-", &a(20)]),
            made(&["xoxb-", "12345-abcdef"]),
            made(&["sk-", "ant-", &a(40)]),
            made(&["sk_", "live_", &a(24)]),
            made(&["AIza", &a(35)]),
            made(&["npm_", &a(36)]),
            made(&["eyJ", &a(20), ".", &a(20), ".", &a(10)]),
        ] {
            for (before, after) in [("", ""), ("line\n", "\nline"), ("KEY=\"", "\""), ("\t", "\\"), ("é", "")] {
                let text = format!("{before}{secret}{after}");
                if before == "é" && !secret.starts_with(char::is_alphanumeric) {
                    continue;
                }
                assert_eq!(redacted(&text), format!("{before}[redacted]{after}"), "{text}");
            }
        }
    }

    #[test]
    fn a_private_key_goes_whole_and_a_password_alone() {
        let key = made(&["-----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIV", "ATE KEY-----\n"]);
        let without = made(&["-----BEGIN RSA PRIV", "ATE KEY-----[redacted]-----END RSA PRIV", "ATE KEY-----\n"]);
        assert_eq!(redacted(&key), without);
        assert_eq!(redacted("https://me:hunter2@host/x"), "https://me:[redacted]@host/x");
        assert_eq!(redacted("DB_PASSWORD='correct1horse'"), "DB_PASSWORD='[redacted]'");
        assert_eq!(redacted("{\"api_key\": \"0123456789\"}"), "{\"api_key\": \"[redacted]\"}");
        assert_eq!(redacted("Authorization: Bearer abcdefghijklmnop12"), "Authorization: Bearer [redacted]");
        assert_eq!(redacted("token xK9vQ2mZ7pL4wR8tY3nB6cD1fG5hJ0sA end"), "token [redacted] end");
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "password: string, secret = os.environ[\"X\"], api_key = get_key()",
            "1f6d0000-0000-4000-8000-000000000001 and 9daeafb9864cf43055ae93beb0afd6c7d144bfa4",
            "src/agents/conversation/claude/tests.rs:120:16 the_same_copies_make_the_same_commits_2_Times",
            "https://example.com:8080/path@v2",
            "a sentence with nothing in it, but 100 % of letters",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn ids_signatures_and_what_is_no_text_keep_their_bytes() {
        let chance = "xK9vQ2mZ7pL4wR8tY3nB6cD1fG5hJ0sA";
        let line = format!(
            "{{\"uuid\":\"{chance}\",\"signature\":\"{chance}\",\"tool\":\"toolu_{chance}\",\"secret\":123456789,\"x\":\"{chance}\"}}\n"
        );

        let (out, count) = redact(line.as_bytes());

        assert_eq!(
            (String::from_utf8(out).unwrap(), count),
            (line.replace(&format!("\"x\":\"{chance}"), "\"x\":\"[redacted]"), 1)
        );
    }

    #[test]
    fn a_plain_text_keeps_everything_else() {
        let secret = made(&["ghp_", "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"]);
        assert_eq!(redact_text(&format!("use \"{secret}\"\nfor é\\")), "use \"[redacted]\"\nfor é\\");
        assert_eq!(redact_text(""), "");
    }

    #[test]
    fn any_bytes_are_taken() {
        for bytes in [&b"\""[..], b"\\", b"\"\\", b"\"\\u", b"\xff\xfe\"\\u00", b"\n\n", b""] {
            assert_eq!(redact(bytes), (bytes.to_vec(), 0));
            assert_eq!(leave_out_encrypted(bytes), (bytes.to_vec(), 0));
        }
    }

    #[test]
    fn what_is_encrypted_is_left_out_and_the_rest_of_the_line_stays() {
        let table = [
            (r#"{"a":1,"encrypted_content":"RU5D","b":2}"#, r#"{"a":1,"b":2}"#, 1),
            (r#"{"a":1,"encrypted_content":"RU5D"}"#, r#"{"a":1}"#, 1),
            (r#"{"encrypted_content":"R\"5D"}"#, "{}", 1),
            (r#"[{"encrypted_content":"a","x":1},{"encrypted_content":"b"}]"#, r#"[{"x":1},{}]"#, 2),
            (
                r#"{"a":"\"encrypted_content\":\"x\"","encrypted_content":null}"#,
                r#"{"a":"\"encrypted_content\":\"x\"","encrypted_content":null}"#,
                0,
            ),
        ];
        for (line, expected, count) in table {
            assert_eq!(leave_out_encrypted(line.as_bytes()), (expected.as_bytes().to_vec(), count), "{line}");
        }
    }
}
