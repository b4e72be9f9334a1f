//! Work on many items with all cores, results in order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many threads are worth starting for `items` items of which one thread should have at least `least`.
pub fn threads_for(items: usize, least: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(items / least.max(1)).max(1)
}

/// Results that are done before their turn are kept until there are this many; then the threads wait.
const MOST_WAITING: usize = 256;

/// Calls `work` for every item, with as many threads as there are `workers`, and `take` with every result in the order of
/// the items. Ends early once `take` returns false.
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
    let queue = Queue::new();
    let (queue, work) = (&queue, &work);
    std::thread::scope(|scope| {
        for mut worker in workers {
            scope.spawn(move || {
                while let Some((number, item)) = queue.next(items) {
                    queue.put(number, work(&mut worker, item));
                }
            });
        }
        // The threads must be let go however this ends.
        let _stop = StopOnDrop(queue);
        for number in 0..items.len() {
            if !take(queue.wait_for(number)) {
                break;
            }
        }
    });
}

/// Calls `work` for every item and returns the results in the order of the items.
pub fn map<T, W, R>(items: &[T], workers: Vec<W>, work: impl Fn(&mut W, &T) -> R + Sync) -> Vec<R>
where
    T: Sync,
    W: Send,
    R: Send,
{
    let mut results = Vec::with_capacity(items.len());
    in_order(items, workers, work, |result| {
        results.push(result);
        true
    });
    results
}

struct Queue<R> {
    next: AtomicUsize,
    stopped: AtomicBool,
    done: Mutex<Done<R>>,
    changed: Condvar,
}

/// Results from number `first` on; none where one is still being worked on.
struct Done<R> {
    first: usize,
    results: VecDeque<Option<R>>,
}

impl<R> Queue<R> {
    fn new() -> Self {
        let done = Mutex::new(Done { first: 0, results: VecDeque::new() });
        Queue { next: AtomicUsize::new(0), stopped: AtomicBool::new(false), done, changed: Condvar::new() }
    }

    fn next<'t, T>(&self, items: &'t [T]) -> Option<(usize, &'t T)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let item = items.get(number)?;
        let mut done = self.lock();
        while !self.stopped.load(Ordering::Relaxed) && number >= done.first + MOST_WAITING {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        (!self.stopped.load(Ordering::Relaxed)).then_some((number, item))
    }

    fn put(&self, number: usize, result: R) {
        let mut done = self.lock();
        let at = number - done.first;
        while done.results.len() <= at {
            done.results.push_back(None);
        }
        done.results[at] = Some(result);
        if at == 0 {
            self.changed.notify_all();
        }
    }

    fn wait_for(&self, number: usize) -> R {
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

        let results = map(&items, vec![(); 4], |(), &item| {
            if item % 97 == 0 {
                std::thread::yield_now();
            }
            item * 2
        });

        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
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
        assert!(worked.load(Ordering::Relaxed) <= 10 + MOST_WAITING + 2);
    }
}
