//! Takes out of the search the lines that cannot or should not match.
//!
//! Equal lines at both ends are set aside. Of the rest, a line without a partner in the other text is changed for certain. A
//! line with very many partners, as empty lines and lone braces are, only misleads the search when it stands among lines
//! without partners: it counts as changed too.

use std::ops::Range;

use super::tokens::Tokens;

/// What is left of both texts.
pub struct Kept {
    /// The old text.
    pub old: KeptLines,
    /// The new text.
    pub new: KeptLines,
}

/// What is left of one text.
pub struct KeptLines {
    /// Tokens of the lines that are left.
    pub tokens: Vec<u32>,
    /// The number of each of those lines.
    pub numbers: Vec<u32>,
    /// Marks of all lines that are known to be changed, and an unset one after the last.
    pub changed: Vec<bool>,
}

/// Sorts out the lines of both texts.
pub fn prune(tokens: &Tokens) -> Kept {
    let (old, new) = (&tokens.old, &tokens.new);
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    Kept { old: keep(old, head..old.len() - tail, &tokens.new_count), new: keep(new, head..new.len() - tail, &tokens.old_count) }
}

/// How many partners a line has in the other text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Partners {
    None,
    Some,
    Many,
}

/// No more than this many partners is ever needed to be [`Partners::Many`].
const MANY_AT_MOST: u32 = 1024;

fn keep(tokens: &[u32], middle: Range<usize>, partner_count: &[u32]) -> KeptLines {
    let many = power_of_two_root(tokens.len()).min(MANY_AT_MOST);
    let partners: Vec<Partners> = tokens[middle.clone()]
        .iter()
        .map(|&token| match partner_count[token as usize] {
            0 => Partners::None,
            count if count >= many => Partners::Many,
            _ => Partners::Some,
        })
        .collect();
    let mut kept = KeptLines { tokens: Vec::new(), numbers: Vec::new(), changed: vec![false; tokens.len() + 1] };
    for (at, number) in middle.enumerate() {
        let drop = match partners[at] {
            Partners::None => true,
            Partners::Some => false,
            Partners::Many => misleads(&partners, at),
        };
        if drop {
            kept.changed[number] = true;
        } else {
            kept.tokens.push(tokens[number]);
            kept.numbers.push(u32::try_from(number).expect("line numbers fit as tokens do"));
        }
    }
    kept
}

/// How far around a line with many partners we look, to bound the time on texts made of little else.
const WINDOW: usize = 100;

/// True if the line at `at`, which has many partners, stands in a run of lines without partners: there are some on both sides
/// before the next ordinary line, and they outnumber those like it by more than three to one.
fn misleads(partners: &[Partners], at: usize) -> bool {
    let run = |lines: &mut dyn Iterator<Item = &Partners>| {
        let (mut none, mut many) = (0, 0);
        for partners in lines.take(WINDOW).take_while(|partners| **partners != Partners::Some) {
            match partners {
                Partners::None => none += 1,
                _ => many += 1,
            }
        }
        (none, many)
    };
    let (none_before, many_before) = run(&mut partners[..at].iter().rev());
    if none_before == 0 {
        return false;
    }
    let (none_after, many_after) = run(&mut partners[at + 1..].iter());
    // The line itself is counted once for each side.
    let many = many_before + many_after + 2;
    none_after > 0 && many * 4 < many + none_before + none_after
}

/// The smallest power of two above the square root of `number`, roughly.
pub fn power_of_two_root(number: usize) -> u32 {
    let bits = usize::BITS - number.leading_zeros();
    1 << bits.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_power_of_two() {
        let table = [(0, 1), (1, 2), (3, 2), (4, 4), (15, 4), (16, 8), (100, 16), (1 << 20, 2048)];
        for (number, root) in table {
            assert_eq!(power_of_two_root(number), root, "{number}");
        }
    }
}
