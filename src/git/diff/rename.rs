//! Finds files that were renamed, with git's defaults: at least half alike, no copies.
//!
//! Deleted files are matched with added ones in three steps: files with the same content; files of which only one was deleted
//! and one added under the same name, in whatever directory; then every remaining file with every other. The last step is left
//! out if it would take too long.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};

use super::pair::{File, Pair};
use super::parallel;
use super::reader::{Differ, Kept, Reader};
use super::similarity::{Fingerprint, score, sizes_rule_out};
use crate::git::GitError;
use crate::sys::progress::{self, Phase};

/// The score that makes two files a rename.
const LEAST_SCORE: u16 = Pair::MAX_SCORE / 2;
/// The score that two files with the same name must have to be matched for it.
const LEAST_SCORE_FOR_NAME: u16 = LEAST_SCORE / 2 * 3;
/// Git's `diff.renameLimit`: the third step compares no more than this number squared.
const LIMIT: usize = 1000;
/// So many files with the same content are looked at for one with the same name.
const MOST_IDENTICAL: usize = 100;

/// Matches deleted with added files in `pairs`: the added one becomes the rename, the deleted one is dropped. What was read for
/// that comes along.
pub fn find_renames(differ: &Differ, pairs: Vec<Pair>) -> Result<(Vec<Pair>, Kept), GitError> {
    let added: Vec<usize> = positions(&pairs, |pair| pair.old.is_none());
    let deleted: Vec<usize> = positions(&pairs, |pair| pair.new.is_none());
    if added.is_empty() || deleted.is_empty() {
        return Ok((pairs, Kept::default()));
    }
    let file = |&at: &usize| pairs[at].newest();
    let mut matches = Matches {
        old: deleted.iter().map(file).collect(),
        new: added.iter().map(file).collect(),
        used: vec![false; deleted.len()],
        found: vec![None; added.len()],
    };
    matches.by_content();
    let kept = matches.by_name_and_likeness(differ)?;
    let found: HashMap<usize, (usize, u16)> = std::iter::zip(&added, &matches.found)
        .filter_map(|(&at, found)| found.map(|(old, score)| (at, (deleted[old], score))))
        .collect();
    Ok((apply(pairs, &found), kept))
}

fn positions(pairs: &[Pair], wanted: impl Fn(&Pair) -> bool) -> Vec<usize> {
    (0..pairs.len()).filter(|&at| wanted(&pairs[at])).collect()
}

/// Makes the pairs at the keys of `found` renames of those at the values.
fn apply(mut pairs: Vec<Pair>, found: &HashMap<usize, (usize, u16)>) -> Vec<Pair> {
    for (&new, &(old, score)) in found {
        pairs[new].old = pairs[old].old.take();
        pairs[new].score = score;
    }
    pairs.retain(|pair| pair.old.is_some() || pair.new.is_some());
    pairs
}

struct Matches<'p> {
    old: Vec<&'p File>,
    new: Vec<&'p File>,
    /// Which of the old files have been matched.
    used: Vec<bool>,
    /// The old file and the score of each new file.
    found: Vec<Option<(usize, u16)>>,
}

impl Matches<'_> {
    fn record(&mut self, old: usize, new: usize, score: u16) {
        self.used[old] = true;
        self.found[new] = Some((old, score));
    }

    fn by_content(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::with_capacity(self.old.len());
        for (at, file) in self.old.iter().enumerate() {
            by_id.entry(file.id).or_default().push(at);
        }
        for new in 0..self.new.len() {
            let file = self.new[new];
            let Some(candidates) = by_id.get(&file.id) else { continue };
            let fits = |&&old: &&usize| {
                let candidate = self.old[old];
                let modes_fit = candidate.mode == file.mode || candidate.is_regular() && file.is_regular();
                !self.used[old] && modes_fit
            };
            let mut fitting = candidates.iter().filter(fits).take(MOST_IDENTICAL).copied().peekable();
            let Some(&first) = fitting.peek() else { continue };
            let namesake = fitting.find(|&old| name(&self.old[old].path) == name(&file.path));
            self.record(namesake.unwrap_or(first), new, Pair::MAX_SCORE);
        }
    }

    fn by_name_and_likeness(&mut self, differ: &Differ) -> Result<Kept, GitError> {
        let old: Vec<usize> = (0..self.old.len()).filter(|&at| !self.used[at]).collect();
        let new: Vec<usize> = (0..self.new.len()).filter(|&at| self.found[at].is_none()).collect();
        if old.is_empty() || new.is_empty() {
            return Ok(Kept::default());
        }
        let contents = Contents::new(self.old.len(), self.new.len());
        self.by_name(&old, &new, &contents, &mut differ.reader()?)?;
        let old: Vec<usize> = old.into_iter().filter(|&at| !self.used[at]).collect();
        let new: Vec<usize> = new.into_iter().filter(|&at| self.found[at].is_none()).collect();
        if !old.is_empty() && !new.is_empty() && old.len() * new.len() <= LIMIT * LIMIT {
            self.by_likeness(&old, &new, &contents, differ)?;
        }
        Ok(contents.into_kept(&self.old, &self.new))
    }

    /// Matches files whose name is the only one of its kind among the old and among the new ones.
    fn by_name(&mut self, old: &[usize], new: &[usize], contents: &Contents, reader: &mut Reader) -> Result<(), GitError> {
        let old_names = unique_names(old, &self.old);
        let new_names = unique_names(new, &self.new);
        for &at in old {
            let name = name(&self.old[at].path);
            let (Some(Some(_)), Some(&Some(to))) = (old_names.get(name), new_names.get(name)) else { continue };
            if self.found[to].is_some() {
                continue;
            }
            if !self.old[at].is_regular() || !self.new[to].is_regular() {
                continue;
            }
            let old = contents.get(&contents.old[at], self.old[at], reader)?;
            let new = contents.get(&contents.new[to], self.new[to], reader)?;
            let score = old.likeness(new, LEAST_SCORE_FOR_NAME);
            if score >= LEAST_SCORE_FOR_NAME {
                self.record(at, to, score);
            }
        }
        Ok(())
    }

    /// Matches the most alike files first.
    fn by_likeness(&mut self, old: &[usize], new: &[usize], contents: &Contents, differ: &Differ) -> Result<(), GitError> {
        // Each is read and measured once, by one of the threads.
        let regular = |at: &&usize, files: &[&File]| files[**at].is_regular();
        let old_files = old.iter().filter(|at| regular(at, &self.old)).map(|&at| (self.old[at], &contents.old[at]));
        let new_files = new.iter().filter(|at| regular(at, &self.new)).map(|&at| (self.new[at], &contents.new[at]));
        let files: Vec<_> = old_files.chain(new_files).collect();
        let workers = differ.readers(parallel::threads_for(files.len(), 8))?;
        let read = parallel::map(&files, workers, |reader, (file, content)| contents.get(content, file, reader).map(drop));
        read.into_iter().collect::<Result<(), _>>()?;
        let threads = parallel::threads_for(new.len() * old.len(), 500).min(new.len());
        let old_names: Vec<&BStr> = old.iter().map(|&at| name(&self.old[at].path)).collect();
        progress::begin(Phase::Compare, new.len());
        let best = parallel::map(new, vec![(); threads], |(), &to| {
            progress::add_files(1);
            let new_name = name(&self.new[to].path);
            let mut best = Best::default();
            for (&at, old_name) in std::iter::zip(old, &old_names) {
                // What is no regular file was not read, and is like nothing.
                let sides = contents.old[at].get().zip(contents.new[to].get());
                let score = sides.map_or(0, |(old, new)| old.likeness(new, LEAST_SCORE));
                best.offer(Candidate { old: at, new: to, score, same_name: *old_name == new_name });
            }
            best.0
        });
        let mut candidates: Vec<Candidate> = best.into_iter().flatten().flatten().collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank()));
        for candidate in candidates {
            let free = self.found[candidate.new].is_none() && !self.used[candidate.old];
            if free && candidate.score >= LEAST_SCORE {
                self.record(candidate.old, candidate.new, candidate.score);
            }
        }
        Ok(())
    }
}

/// The last component of a path.
fn name(path: &BString) -> &BStr {
    path.rfind_byte(b'/').map_or(path.as_bstr(), |slash| path[slash + 1..].as_bstr())
}

/// The file of each name, or none where several files have it.
fn unique_names<'p>(numbers: &[usize], files: &[&'p File]) -> HashMap<&'p BStr, Option<usize>> {
    let mut names = HashMap::with_capacity(numbers.len());
    for &at in numbers {
        names.entry(name(&files[at].path)).and_modify(|known| *known = None).or_insert(Some(at));
    }
    names
}

struct Candidate {
    old: usize,
    new: usize,
    score: u16,
    same_name: bool,
}

impl Candidate {
    fn rank(&self) -> (u16, bool) {
        (self.score, self.same_name)
    }
}

/// The best few candidates for one new file. Which of equally good ones wins depends on their places, so these are filled as
/// git fills them: a better candidate takes the first of the worst places.
#[derive(Default)]
struct Best([Option<Candidate>; Best::PLACES]);

impl Best {
    const PLACES: usize = 4;

    fn offer(&mut self, candidate: Candidate) {
        let rank = |place: &Option<Candidate>| place.as_ref().map(Candidate::rank);
        let worst = (0..Self::PLACES).min_by_key(|&at| rank(&self.0[at])).unwrap_or(0);
        if rank(&self.0[worst]) < Some(candidate.rank()) {
            self.0[worst] = Some(candidate);
        }
    }
}

/// What was measured of the files of both sides; none of those that were not read.
struct Contents {
    old: Vec<OnceLock<Measured>>,
    new: Vec<OnceLock<Measured>>,
    /// Bytes that may still be kept.
    room: AtomicUsize,
}

/// A file's content, measured for comparisons with many others.
struct Measured {
    size: u64,
    fingerprint: Fingerprint,
    /// The content itself, if there was room for it.
    bytes: Option<Arc<Vec<u8>>>,
}

/// So many bytes are kept for whoever reads the same files after this.
const MOST_KEPT: usize = 64 << 20;

impl Contents {
    fn new(old: usize, new: usize) -> Self {
        let places = |count| (0..count).map(|_| OnceLock::new()).collect();
        Contents { old: places(old), new: places(new), room: AtomicUsize::new(MOST_KEPT) }
    }

    fn get<'c>(&self, place: &'c OnceLock<Measured>, file: &File, reader: &mut Reader) -> Result<&'c Measured, GitError> {
        if let Some(known) = place.get() {
            return Ok(known);
        }
        let content = reader.read(file)?;
        let size = content.bytes().len();
        let fits = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(size)).is_ok();
        let measured = Measured {
            size: content.size(),
            fingerprint: Fingerprint::of(content.bytes(), !content.is_binary()),
            bytes: fits.then(|| content.shared()),
        };
        Ok(place.get_or_init(|| measured))
    }

    fn into_kept(self, old: &[&File], new: &[&File]) -> Kept {
        let files = std::iter::zip(old, self.old).chain(std::iter::zip(new, self.new));
        files.filter_map(|(file, measured)| Some((file.id, measured.into_inner()?.bytes?))).collect()
    }
}

impl Measured {
    fn likeness(&self, new: &Measured, least: u16) -> u16 {
        if sizes_rule_out(self.size, new.size, least) {
            return 0;
        }
        score((self.size, &self.fingerprint), (new.size, &new.fingerprint))
    }
}
