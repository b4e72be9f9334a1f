//! Short forms of object ids, as long as git makes them by default (`core.abbrev=auto`).

use std::path::PathBuf;
use std::sync::OnceLock;

use gix::odb::pack;
use gix::{ObjectId, oid};

use crate::git::{GitError, Objects};

/// Shortens ids so that no object of the repository has the same short form.
pub struct Abbreviator {
    packs: Vec<Ids>,
    object_dirs: Vec<PathBuf>,
    /// Loose objects by first byte, read when first needed.
    loose: Vec<OnceLock<Vec<ObjectId>>>,
    shortest: usize,
}

enum Ids {
    Pack(pack::index::File),
    Many(pack::multi_index::File),
}

impl Ids {
    fn count(&self) -> u32 {
        match self {
            Ids::Pack(index) => index.num_objects(),
            Ids::Many(index) => index.num_objects(),
        }
    }

    fn at(&self, number: u32) -> &oid {
        match self {
            Ids::Pack(index) => index.oid_at_index(number),
            Ids::Many(index) => index.oid_at_index(number),
        }
    }

    /// The most hexadecimal digits that `id` has in common with another id in here. The neighbours in order have the most.
    fn common(&self, id: &oid) -> usize {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low.midpoint(high);
            if self.at(middle) < id { low = middle + 1 } else { high = middle }
        }
        let neighbours = low.saturating_sub(1)..low.saturating_add(2).min(self.count());
        neighbours.map(|number| common_digits(self.at(number), id)).max().unwrap_or(0)
    }
}

/// Never shorter than this.
const LEAST: usize = 7;

impl Abbreviator {
    /// Looks up what objects there are. Packs are counted; loose objects only matter where they collide.
    pub fn new(objects: &Objects) -> Result<Abbreviator, GitError> {
        let store = objects.repo().objects.store_ref();
        let mut object_dirs = vec![store.path().to_owned()];
        let others = store.alternate_db_paths().map_err(|source| GitError::other("find the alternate objects", source))?;
        object_dirs.extend(others);
        object_dirs.dedup();
        let mut packs = Vec::new();
        for dir in &object_dirs {
            open_packs(&dir.join("pack"), objects.hash_kind(), &mut packs);
        }
        let count: u64 = packs.iter().map(|pack| u64::from(pack.count())).sum();
        // Twice as many bits as the count has make a collision unlikely; half as many digits, rounded up, have those.
        let bits = (u64::BITS - count.leading_zeros()) as usize;
        let loose = (0..256).map(|_| OnceLock::new()).collect();
        Ok(Abbreviator { packs, object_dirs, loose, shortest: bits.div_ceil(2).max(LEAST) })
    }

    /// Appends the short form of `id`.
    pub fn push(&self, out: &mut Vec<u8>, id: &oid) {
        let mut hex = [0; 64];
        let digits = id.hex_to_buf(&mut hex).len();
        let length = if id.is_null() { self.shortest } else { self.length(id) };
        out.extend_from_slice(&hex[..length.min(digits)]);
    }

    fn length(&self, id: &oid) -> usize {
        let packed = self.packs.iter().map(|pack| pack.common(id));
        let loose = self.loose(id).iter().map(|other| common_digits(other, id));
        packed.chain(loose).max().unwrap_or(0).saturating_add(1).max(self.shortest)
    }

    fn loose(&self, id: &oid) -> &[ObjectId] {
        let first = id.first_byte();
        self.loose[usize::from(first)].get_or_init(|| {
            let name = format!("{first:02x}");
            let files = self.object_dirs.iter().filter_map(|dir| std::fs::read_dir(dir.join(&name)).ok()).flatten();
            let hex = files.filter_map(|file| Some(format!("{name}{}", file.ok()?.file_name().to_str()?)));
            hex.filter_map(|hex| ObjectId::from_hex(hex.as_bytes()).ok()).collect()
        })
    }
}

/// Opens the indices of all packs in `dir`. One that cannot be opened hides nothing but a collision.
fn open_packs(dir: &std::path::Path, hash: gix::hash::Kind, out: &mut Vec<Ids>) {
    let mut covered = Vec::new();
    if let Ok(index) = pack::multi_index::File::at(dir.join("multi-pack-index"), None) {
        covered.extend(index.index_names().to_vec());
        out.push(Ids::Many(index));
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = PathBuf::from(entry.file_name());
        if name.extension().is_some_and(|extension| extension == "idx")
            && !covered.contains(&name)
            && let Ok(index) = pack::index::File::at(entry.path(), hash)
        {
            out.push(Ids::Pack(index));
        }
    }
}

/// How many leading hexadecimal digits two different ids share; 0 for equal ones.
fn common_digits(a: &oid, b: &oid) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match std::iter::zip(a, b).position(|(a, b)| a != b) {
        None => 0,
        Some(at) => at * 2 + usize::from(a[at] >> 4 == b[at] >> 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_half_bytes() {
        let id = |hex: &str| ObjectId::from_hex(format!("{hex:0<40}").as_bytes()).unwrap();
        assert_eq!(common_digits(&id("12"), &id("12")), 0);
        assert_eq!(common_digits(&id("123"), &id("124")), 2);
        assert_eq!(common_digits(&id("1234"), &id("1235")), 3);
        assert_eq!(common_digits(&id("f"), &id("0")), 0);
    }
}
