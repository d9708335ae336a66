//! Passing work between the threads of a study, so that no thread runs far ahead of the others.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Items that wait. [`Room`] bounds it, not the queue itself.
pub struct Queue<T> {
    waiting: Mutex<(VecDeque<T>, bool)>,
    changed: Condvar,
}

/// The answer of a queue.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    Item(T),
    Nothing,
    /// No more items will come.
    Closed,
}

impl<T> Queue<T> {
    pub fn new() -> Self {
        Self { waiting: Mutex::new((VecDeque::new(), false)), changed: Condvar::new() }
    }

    fn held(&self) -> MutexGuard<'_, (VecDeque<T>, bool)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, item: T) {
        self.held().0.push_back(item);
        self.changed.notify_one();
    }

    /// Says that nothing more is pushed.
    pub fn close(&self) {
        self.held().1 = true;
        self.changed.notify_all();
    }

    /// The number of waiting items, once it is known that no more will come.
    pub fn last(&self) -> Option<usize> {
        let held = self.held();
        held.1.then_some(held.0.len())
    }

    /// The next item. Waits at most this long for it.
    pub fn pop(&self, patience: Duration) -> Next<T> {
        let until = Instant::now() + patience;
        let mut held = self.held();
        loop {
            if let Some(item) = held.0.pop_front() {
                return Next::Item(item);
            }
            let left = until.saturating_duration_since(Instant::now());
            if held.1 {
                return Next::Closed;
            }
            if left.is_zero() {
                return Next::Nothing;
            }
            held = self.changed.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The number of rows that may be on their way.
pub struct Room {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Room {
    pub fn new(size: usize) -> Self {
        Self { free: Mutex::new(size), freed: Condvar::new() }
    }

    /// Takes room for one row, if some becomes free within this time.
    pub fn take(&self, patience: Duration) -> bool {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_timeout_while(free, patience, |free| *free == 0);
        let mut free = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_free = *free > 0;
        *free -= usize::from(is_free);
        is_free
    }

    pub fn give(&self) {
        self.add(1);
    }

    /// Makes room for this many more.
    pub fn add(&self, more: usize) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += more;
        self.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn a_queue_gives_what_it_holds_before_it_says_that_it_is_closed() {
        let queue = Queue::new();
        assert_eq!(queue.pop(SHORT), Next::Nothing);
        queue.push(1);
        queue.push(2);
        assert_eq!(queue.last(), None);
        queue.close();
        assert_eq!(queue.last(), Some(2));
        assert_eq!(
            [queue.pop(SHORT), queue.pop(SHORT), queue.pop(SHORT)],
            [Next::Item(1), Next::Item(2), Next::Closed]
        );
    }

    #[test]
    fn room_is_given_to_who_waits() {
        let room = Room::new(1);
        assert!(room.take(SHORT) && !room.take(SHORT));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| room.take(Duration::from_secs(60)));
            room.give();
            assert!(waiting.join().unwrap());
        });
    }
}
