//! Objects in cruft packs (git-gc(1), `--cruft`): unreachable, and dropped by a later gc. They do not count as being there.

use std::path::Path;

use gix::odb::pack::index::File;
use gix::{ObjectId, hash};

/// The indices of the cruft packs of a repository.
pub(super) struct CruftPacks(Vec<File>);

impl CruftPacks {
    /// Those in `<objects>/pack`: a pack with a `.mtimes` file beside it is one (gitformat-pack(5)).
    pub(super) fn find(objects: &Path, hash: hash::Kind) -> CruftPacks {
        let entries = std::fs::read_dir(objects.join("pack")).into_iter().flatten().filter_map(Result::ok);
        let marks =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|extension| extension == "mtimes"));
        CruftPacks(marks.filter_map(|path| File::at(path.with_extension("idx"), hash).ok()).collect())
    }

    /// True if `id` is in one of them.
    pub(super) fn contains(&self, id: &ObjectId) -> bool {
        self.0.iter().any(|index| index.lookup(id).is_some())
    }
}
