//! How alike two files are, as git measures it: by the share of lines they have in common, wherever those stand.

use gix::bstr::ByteSlice;

use super::pair::Pair;

/// A file's content as a bag of chunks: a chunk is a line, or 64 bytes of a longer one.
pub struct Fingerprint {
    /// Hash of a chunk and how many bytes there are of it, sorted.
    chunks: Vec<(u32, u32)>,
}

/// The number of different hashes. Chunks with equal hashes count as equal, so a different number gives different results.
const HASHES: u32 = 107_927;
/// Longest chunk.
const CHUNK: usize = 64;

impl Fingerprint {
    /// Measures `bytes`; in a text, a carriage return before a line feed does not count.
    pub fn of(bytes: &[u8], is_text: bool) -> Fingerprint {
        let mut chunks = Vec::with_capacity(bytes.len() / 32 + 1);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.find_byte(b'\n').map_or(rest.len(), |end| end + 1));
            rest = after;
            match line.strip_suffix(b"\r\n").filter(|_| is_text) {
                None => line.chunks(CHUNK).for_each(|chunk| chunks.push(measure(chunk, &[]))),
                // The line feed belongs to the last chunk, or is one of its own.
                Some(text) => {
                    let whole = text.len() / CHUNK * CHUNK;
                    text[..whole].chunks(CHUNK).for_each(|chunk| chunks.push(measure(chunk, &[])));
                    chunks.push(measure(&text[whole..], b"\n"));
                }
            }
        }
        chunks.sort_unstable_by_key(|&(hash, _)| hash);
        chunks.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 = first.1.wrapping_add(later.1);
            }
            same
        });
        Fingerprint { chunks }
    }

    /// How many bytes of this file are in `other` too.
    fn shared_with(&self, other: &Fingerprint) -> u64 {
        let (ours, theirs) = (&self.chunks, &other.chunks);
        let (mut i, mut j, mut shared) = (0, 0, 0);
        // Without branches: which side comes next cannot be predicted.
        while i < ours.len() && j < theirs.len() {
            let (a, b) = (ours[i], theirs[j]);
            shared += if a.0 == b.0 { u64::from(a.1.min(b.1)) } else { 0 };
            i += usize::from(a.0 <= b.0);
            j += usize::from(b.0 <= a.0);
        }
        shared
    }
}

/// Hash and size of a chunk in two pieces.
fn measure(first: &[u8], last: &[u8]) -> (u32, u32) {
    // Two words turn by seven bits as one, and the byte is added to the first.
    let add = |state: u64, &byte: &u8| state.rotate_left(7).wrapping_add(u64::from(byte) << 32);
    let state = last.iter().fold(first.iter().fold(0, add), add);
    (hash(state), (first.len() + last.len()) as u32)
}

fn hash(state: u64) -> u32 {
    let (high, low) = ((state >> 32) as u32, state as u32);
    high.wrapping_add(low.wrapping_mul(0x61)) % HASHES
}

/// True if files of these sizes cannot reach the score `least`, so that they need not be read.
pub fn sizes_rule_out(old: u64, new: u64, least: u16) -> bool {
    let (larger, difference) = (old.max(new), old.abs_diff(new));
    let max = f64::from(Pair::MAX_SCORE);
    (larger as f64) * (max - f64::from(least)) < difference as f64 * max
}

/// The score of two files with these sizes and contents.
pub fn score(old: (u64, &Fingerprint), new: (u64, &Fingerprint)) -> u16 {
    if new.0 == 0 {
        return 0;
    }
    let shared = old.1.shared_with(new.1);
    (shared as f64 * f64::from(Pair::MAX_SCORE) / old.0.max(new.0) as f64) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_of(old: &[u8], new: &[u8]) -> u16 {
        let (a, b) = (Fingerprint::of(old, true), Fingerprint::of(new, true));
        score((old.len() as u64, &a), (new.len() as u64, &b))
    }

    #[test]
    fn the_score_is_the_share_of_common_bytes_in_the_larger_file() {
        assert_eq!(score_of(b"one\ntwo\n", b"two\none\n"), 60_000);
        assert_eq!(score_of(b"one\ntwo\n", b"one\nsix\n"), 30_000);
        assert_eq!(score_of(b"one\n", b"one\ntwo\nsix\n"), 20_000);
        assert_eq!(score_of(b"one\ntwo", b"three\n"), 0);
    }

    #[test]
    fn line_ends_of_a_text_do_not_count() {
        assert_eq!(score_of(b"one\r\ntwo\r\n", b"one\ntwo\n"), 48_000);
    }

    #[test]
    fn a_file_twice_as_large_is_the_limit_for_half_the_score() {
        assert!(!sizes_rule_out(100, 200, 30_000));
        assert!(sizes_rule_out(100, 201, 30_000));
        assert!(!sizes_rule_out(0, 0, 30_000));
        assert!(sizes_rule_out(0, 1, 30_000));
    }
}
