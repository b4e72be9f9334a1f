//! How alike two files are, as git measures it: by the share of lines they have in common, wherever those stand.

use super::pair::Pair;

/// A file's content as a bag of chunks: a chunk is a line, or 64 bytes of a longer one.
pub struct Fingerprint {
    /// Hash of a chunk and how many bytes there are of it, sorted.
    chunks: Vec<(u32, u32)>,
}

/// The number of different hashes. Chunks with equal hashes count as equal, so a different number gives different results.
const HASHES: u32 = 107_927;
/// Longest chunk.
const CHUNK: u32 = 64;

impl Fingerprint {
    /// Measures `bytes`; in a text, a carriage return before a line feed does not count.
    pub fn of(bytes: &[u8], is_text: bool) -> Fingerprint {
        let mut chunks = Vec::with_capacity(bytes.len() / 32 + 1);
        let (mut high, mut low, mut size) = (0_u32, 0_u32, 0_u32);
        for (at, &byte) in bytes.iter().enumerate() {
            if is_text && byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            // The two words turn by seven bits as one, and the byte is added to the first.
            let carried = high >> 25;
            high = ((high << 7) ^ (low >> 25)).wrapping_add(u32::from(byte));
            low = (low << 7) ^ carried;
            size += 1;
            if size == CHUNK || byte == b'\n' {
                chunks.push((hash(high, low), size));
                (high, low, size) = (0, 0, 0);
            }
        }
        if size > 0 {
            chunks.push((hash(high, low), size));
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
        let mut shared = 0;
        let mut others = other.chunks.iter().peekable();
        for &(hash, size) in &self.chunks {
            while others.next_if(|other| other.0 < hash).is_some() {}
            if let Some(&(_, other_size)) = others.next_if(|other| other.0 == hash) {
                shared += u64::from(size.min(other_size));
            }
        }
        shared
    }
}

fn hash(high: u32, low: u32) -> u32 {
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
