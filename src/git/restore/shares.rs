//! Work on many paths, shared between threads.

use crate::git::Objects;

/// Fewer paths than this are not worth a thread of their own.
const LEAST: usize = 16;

/// Calls `work` with shares of `all`, each on a thread; the first on this one, so that a small restore starts none.
pub(super) fn in_shares<T: Send, R: Send>(
    objects: &Objects,
    all: &mut [T],
    work: impl Fn(&Objects, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    let (first, rest) = all.split_at_mut(all.len().min(all.len().div_ceil(threads).max(LEAST)));
    let share = first.len().max(1);
    std::thread::scope(|scope| {
        let spawn = |chunk| {
            let (objects, work) = (objects.clone(), &work);
            scope.spawn(move || work(&objects, chunk))
        };
        let workers: Vec<_> = rest.chunks_mut(share).map(spawn).collect();
        let own = (!first.is_empty()).then(|| work(objects, first));
        let others = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn every_path_is_in_one_share_and_the_first_share_is_worked_on_here() {
        let test = TestRepo::new();
        let objects = Objects::new(test.open().gix(), std::sync::Arc::default());
        let here = std::thread::current().id();

        for count in [0, 1, 16, 17, 1000] {
            let mut all: Vec<usize> = (0..count).collect();
            let shares = in_shares(&objects, &mut all, |_, share| (std::thread::current().id(), share.to_vec()));

            let seen: Vec<usize> = shares.iter().flat_map(|(_, share)| share.clone()).collect();
            assert_eq!(seen, all);
            assert!(shares.iter().enumerate().all(|(at, (thread, _))| (*thread == here) == (at == 0)), "{count} paths");
        }
    }
}
