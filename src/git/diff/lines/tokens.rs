//! Equal lines get equal numbers, so that everything after compares numbers.

use super::Whitespace;
use super::text::{Text, is_space};

/// The lines of both texts as numbers from 0; equal lines have the same one.
pub struct Tokens {
    /// The old text.
    pub old: Vec<u32>,
    /// The new text.
    pub new: Vec<u32>,
    /// How often each number stands in the old text.
    pub old_count: Vec<u32>,
    /// How often each number stands in the new text.
    pub new_count: Vec<u32>,
}

impl Tokens {
    /// Numbers the lines of both texts. The `shared` lines at both ends are looked up once for both.
    pub fn of<'a>(old: &Text<'a>, new: &Text<'a>, shared: (usize, usize), whitespace: Whitespace) -> Tokens {
        let (head, tail) = shared;
        let (old_end, new_end) = (old.len() - tail, new.len() - tail);
        let mut table = Table::new(old_end + new.len() - head, whitespace);
        let mut old_tokens = Vec::with_capacity(old.len());
        let mut new_tokens = Vec::with_capacity(new.len());
        old_tokens.extend((0..old_end).map(|at| table.token(old.line(at))));
        new_tokens.extend_from_slice(&old_tokens[..head]);
        new_tokens.extend((head..new.len()).map(|at| table.token(new.line(at))));
        old_tokens.extend_from_slice(&new_tokens[new_end..]);
        let count = |tokens: &[u32]| {
            let mut counts = vec![0; table.lines.len()];
            for &token in tokens {
                counts[token as usize] += 1;
            }
            counts
        };
        Tokens { old_count: count(&old_tokens), new_count: count(&new_tokens), old: old_tokens, new: new_tokens }
    }
}

/// How many lines both texts begin with, and how many of the others both end with.
pub fn shared_ends(old: &Text<'_>, new: &Text<'_>) -> (usize, usize) {
    let shorter = old.len().min(new.len());
    let head = (0..shorter).take_while(|&at| old.line(at) == new.line(at)).count();
    let same_from_end = |&at: &usize| old.line(old.len() - 1 - at) == new.line(new.len() - 1 - at);
    (head, (0..shorter - head).take_while(same_from_end).count())
}

const EMPTY: u32 = u32::MAX;

/// An open-addressed hash table of the distinct lines seen so far.
struct Table<'a> {
    whitespace: Whitespace,
    mask: usize,
    /// Token by slot.
    slots: Vec<u32>,
    /// Line and hash by token.
    lines: Vec<(&'a [u8], u64)>,
}

impl<'a> Table<'a> {
    fn new(lines: usize, whitespace: Whitespace) -> Self {
        let size = (lines * 2).next_power_of_two().max(16);
        Table { whitespace, mask: size - 1, slots: vec![EMPTY; size], lines: Vec::with_capacity(lines / 2 + 1) }
    }

    fn token(&mut self, line: &'a [u8]) -> u32 {
        let hash = match self.whitespace {
            Whitespace::Exact => hash(line),
            Whitespace::IgnoreAll => hash_words(line),
        };
        let mut slot = (hash >> 32) as usize & self.mask;
        loop {
            let token = self.slots[slot];
            if token == EMPTY {
                let token = u32::try_from(self.lines.len()).expect("a text that is compared line by line is below 4 GiB");
                self.slots[slot] = token;
                self.lines.push((line, hash));
                return token;
            }
            let (known, known_hash) = self.lines[token as usize];
            if known_hash == hash && self.same(known, line) {
                return token;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    fn same(&self, a: &[u8], b: &[u8]) -> bool {
        match self.whitespace {
            Whitespace::Exact => a == b,
            Whitespace::IgnoreAll => {
                let visible = |line: &'_ [u8]| line.iter().copied().filter(|&byte| !is_space(byte)).collect::<Vec<_>>();
                a == b || visible(a) == visible(b)
            }
        }
    }
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
    (product >> 64) as u64 ^ product as u64
}

fn hash(line: &[u8]) -> u64 {
    let (words, rest) = line.as_chunks::<8>();
    let mut state = mix(line.len() as u64, MULTIPLIER.rotate_left(17));
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(state, u64::from_le_bytes(last)), MULTIPLIER)
}

fn hash_words(line: &[u8]) -> u64 {
    let visible = line.iter().filter(|&&byte| !is_space(byte));
    mix(visible.fold(MULTIPLIER, |state, &byte| mix(state, u64::from(byte) + 1)), MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_have_equal_numbers_and_others_do_not() {
        let (old, new) = (Text::new(b"a\nb\na\n"), Text::new(b"b\na\nab\na"));

        let tokens = Tokens::of(&old, &new, shared_ends(&old, &new), Whitespace::Exact);

        assert_eq!(tokens.old, [0, 1, 0]);
        assert_eq!(tokens.new, [1, 0, 2, 3]);
        assert_eq!((tokens.old_count, tokens.new_count), (vec![2, 1, 0, 0], vec![1, 1, 1, 1]));
    }

    #[test]
    fn lines_that_differ_in_white_space_are_equal_on_demand() {
        let (old, new) = (Text::new(b"a b\n\n"), Text::new(b"\ta  b \r\nab"));

        let tokens = Tokens::of(&old, &new, shared_ends(&old, &new), Whitespace::IgnoreAll);

        assert_eq!((tokens.old, tokens.new), (vec![0, 1], vec![0, 0]));
    }
}
