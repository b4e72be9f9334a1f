//! Work on many items with all cores, results in order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many threads are worth starting for `items` items of which one thread should have at least `least`.
pub fn threads_for(items: usize, least: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(items / least.max(1)).max(1)
}

/// Calls `work` for every item, with as many threads as there are `workers`, and returns the results in the order of the
/// items.
pub fn map<T, W, R>(items: &[T], workers: Vec<W>, work: impl Fn(&mut W, &T) -> R + Sync) -> Vec<R>
where
    T: Sync,
    W: Send,
    R: Send,
{
    let next = AtomicUsize::new(0);
    let run = |mut worker: W| {
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return results };
            results.push((number, work(&mut worker, item)));
        }
    };
    let run = &run;
    let mut workers = workers.into_iter();
    let mut results = std::thread::scope(|scope| {
        let own = workers.next();
        let threads: Vec<_> = workers.map(|worker| scope.spawn(move || run(worker))).collect();
        let mut results = own.map(run).unwrap_or_default();
        for thread in threads {
            results.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Items that a thread takes at once where results are wanted in order, so that threads do not wait for each other all the
/// time.
const BATCH: usize = 8;
/// Batches that are done before their turn are kept until there are this many; then the threads wait.
const MOST_WAITING: usize = 32;

/// Calls `work` for every item, with as many threads as there are `workers`, and `take` with every result in the order of
/// the items, as soon as it is there. Ends early once `take` returns false.
pub fn in_order<T, W, R>(items: &[T], workers: Vec<W>, work: impl Fn(&mut W, &T) -> R + Sync, mut take: impl FnMut(R) -> bool)
where
    T: Sync,
    W: Send,
    R: Send,
{
    if workers.len() < 2 || items.len() < 2 {
        if let Some(mut worker) = workers.into_iter().next() {
            let _ = items.iter().all(|item| take(work(&mut worker, item)));
        }
        return;
    }
    let batches: Vec<&[T]> = items.chunks(BATCH).collect();
    let queue = Queue::new();
    let (batches, queue, work) = (&batches, &queue, &work);
    std::thread::scope(|scope| {
        for mut worker in workers {
            scope.spawn(move || {
                while let Some((number, batch)) = queue.next(batches) {
                    queue.put(number, batch.iter().map(|item| work(&mut worker, item)).collect());
                }
            });
        }
        // The threads must be let go however this ends.
        let _stop = StopOnDrop(queue);
        for number in 0..batches.len() {
            if !queue.wait_for(number).into_iter().all(&mut take) {
                break;
            }
        }
    });
}

struct Queue<R> {
    next: AtomicUsize,
    stopped: AtomicBool,
    done: Mutex<Done<R>>,
    changed: Condvar,
}

/// Results of batches from number `first` on; none where one is still being worked on.
struct Done<R> {
    first: usize,
    results: VecDeque<Option<Vec<R>>>,
}

impl<R> Queue<R> {
    fn new() -> Self {
        let done = Mutex::new(Done { first: 0, results: VecDeque::new() });
        Queue { next: AtomicUsize::new(0), stopped: AtomicBool::new(false), done, changed: Condvar::new() }
    }

    fn next<'t, T>(&self, batches: &[&'t [T]]) -> Option<(usize, &'t [T])> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let batch = batches.get(number)?;
        let mut done = self.lock();
        while !self.stopped.load(Ordering::Relaxed) && number >= done.first + MOST_WAITING {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        (!self.stopped.load(Ordering::Relaxed)).then_some((number, *batch))
    }

    fn put(&self, number: usize, results: Vec<R>) {
        let mut done = self.lock();
        let at = number - done.first;
        while done.results.len() <= at {
            done.results.push_back(None);
        }
        done.results[at] = Some(results);
        if at == 0 {
            self.changed.notify_all();
        }
    }

    fn wait_for(&self, number: usize) -> Vec<R> {
        let mut done = self.lock();
        debug_assert_eq!(done.first, number);
        loop {
            if let Some(Some(_)) = done.results.front() {
                done.first += 1;
                self.changed.notify_all();
                return done.results.pop_front().flatten().expect("the first result is there");
            }
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Done<R>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct StopOnDrop<'q, R>(&'q Queue<R>);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        let _done = self.0.lock();
        self.0.stopped.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..5000).collect();
        let work = |(): &mut (), &item: &usize| {
            if item % 97 == 0 {
                std::thread::yield_now();
            }
            item * 2
        };
        let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
        for threads in [1, 2, 4] {
            let mut taken = Vec::new();
            in_order(&items, vec![(); threads], work, |result| {
                taken.push(result);
                true
            });

            assert_eq!(taken, expected);
            assert_eq!(map(&items, vec![(); threads], work), expected);
        }
    }

    #[test]
    fn the_work_ends_when_no_more_is_wanted() {
        let items: Vec<usize> = (0..5000).collect();
        let worked = AtomicUsize::new(0);
        let mut taken = 0;

        in_order(
            &items,
            vec![(); 2],
            |(), _| worked.fetch_add(1, Ordering::Relaxed),
            |_| {
                taken += 1;
                taken < 10
            },
        );

        assert_eq!(taken, 10);
        assert!(worked.load(Ordering::Relaxed) <= (MOST_WAITING + 6) * BATCH);
    }
}
