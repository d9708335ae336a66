//! The threads of a study: one reads changes, others compare them, and one may predict ahead of those. The number of
//! changes on their way is bounded, so memory does not grow with the input.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use twincell_compare::{CompareOptions, Continue};

use crate::change::{Change, Changes};
use crate::events::{Event, Job};
use crate::find::{Compare, Wanted, find};
use crate::key::Keys;
use crate::queue::{Next, Queue, Room};

/// How often waiting threads check whether the study was stopped.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);
/// The number of changes on their way for each one being compared: enough that nobody waits for the reader.
const READ_AHEAD: usize = 4;

/// Predicts for many changes at once before they are compared, since a GPU takes as long for one as for many.
pub struct Ahead<'a> {
    /// The number of changes predicted at once.
    pub size: usize,
    pub predict: &'a (dyn Fn(&[Change]) + Sync),
}

/// What the threads of a study share.
pub(crate) struct Shared {
    pub jobs: Queue<Job>,
    pub room: Room,
    at_once: AtomicUsize,
    stop: AtomicBool,
}

impl Shared {
    /// For this many changes compared at a time.
    pub fn new(at_once: usize) -> Self {
        Self {
            jobs: Queue::new(),
            room: Room::new(at_once * READ_AHEAD),
            at_once: AtomicUsize::new(at_once),
            stop: AtomicBool::new(false),
        }
    }

    /// Sets how many changes are compared at a time from now on. It never decreases.
    pub fn widen(&self, at_once: usize) {
        let before = self.at_once.fetch_max(at_once, Ordering::Relaxed);
        if at_once > before {
            self.room.add((at_once - before) * READ_AHEAD);
        }
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs.close();
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reads changes as long as there is room for them.
pub(crate) fn read(changes: &mut dyn Changes, keys: &Keys, shared: &Shared, events: &Sender<Event>) {
    loop {
        while !shared.room.take(INTERVAL) {
            if shared.stopped() {
                return;
            }
        }
        let event = loop {
            if shared.stopped() {
                return;
            }
            if let Some(event) = read_one(changes, keys) {
                break event;
            }
        };
        let is_last = !matches!(event, Event::Read(..));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// The next row, or none if it takes a moment.
pub(crate) fn read_one(changes: &mut dyn Changes, keys: &Keys) -> Option<Event> {
    // Readers of foreign formats contain others' code, too. Whoever waits for the end of the input must learn of a
    // panic.
    let next = catch_unwind(AssertUnwindSafe(|| changes.next()))
        .unwrap_or_else(|_| Some(Err(io::Error::other("this is a bug in twincell, please report it with the input"))));
    match next {
        None => Some(Event::End(None)),
        Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => None,
        Some(Err(error)) => Some(Event::End(Some(error))),
        Some(Ok(row)) => {
            let key = match &row {
                Ok(change) => keys.of_change(change),
                Err(row) => keys.of_row(row),
            };
            Some(Event::Read(Box::new(row), key))
        }
    }
}

/// Predicts for the waiting changes, as many at once as there are, and passes them on.
pub(crate) fn predict_ahead(ahead: &Ahead<'_>, shared: &Shared, ready: &Queue<Job>) {
    while !shared.stopped() {
        let first = match shared.jobs.pop(INTERVAL) {
            Next::Item(job) => job,
            Next::Nothing => continue,
            Next::Closed => break,
        };
        let (mut changes, mut keys) = (vec![first.change], vec![first.key]);
        while changes.len() < ahead.size
            && let Next::Item(job) = shared.jobs.pop(Duration::ZERO)
        {
            changes.push(job.change);
            keys.push(job.key);
        }
        (ahead.predict)(&changes);
        for (change, key) in changes.into_iter().zip(keys) {
            ready.push(Job { change, key });
        }
    }
    ready.close();
}

/// Compares waiting changes.
pub(crate) fn work(
    queue: &Queue<Job>,
    shared: &Shared,
    compare: &Compare<'_>,
    options: &CompareOptions,
    wanted: Wanted,
    events: &Sender<Event>,
) {
    let mut watch = || if shared.stopped() { Continue::Stop } else { Continue::Yes };
    while !shared.stopped() {
        match queue.pop(INTERVAL) {
            Next::Item(job) => {
                let found = find(&job.change, &job.key, compare, options, wanted, &mut watch);
                // A comparison that was stopped in the middle is not a finding.
                if shared.stopped() || events.send(Event::Compared(Box::new((job, found)))).is_err() {
                    return;
                }
            }
            Next::Nothing => {}
            Next::Closed => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_compare::verdict::Verdict;

    use super::*;
    use crate::change::Row;
    use crate::pace::Progress;
    use crate::scripted::{Script, With, change, run_with, timeless};
    use crate::store::Memory;

    #[test]
    fn results_are_the_same_for_any_number_of_threads() {
        let run = |jobs| {
            let mut store = Memory::default();
            let with = With { jobs, ahead: None, watch: &mut |_| Continue::Yes };
            let outcome = run_with(&mut Script::mixed(40), &mut store, with, None).unwrap();
            (timeless(store), outcome)
        };
        let (rows, outcome) = run(1);
        assert_eq!(rows.iter().map(|row| row.id.as_u64().unwrap()).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
        assert_eq!((rows[0].reason.as_str(), rows[2].reason.as_str()), ("seed 4", "new is not valid Python"));
        assert_eq!(rows[3].reason, "row 4 is not a change");
        assert_eq!(outcome.confusion.of(Verdict::Inconclusive), 20);
        assert_eq!(run(7), (rows, outcome));
    }

    #[test]
    fn the_reader_is_never_far_ahead() {
        struct Endless<'a>(&'a AtomicUsize);
        impl Changes for Endless<'_> {
            fn next(&mut self) -> Option<io::Result<Row>> {
                let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
                Some(Ok(Ok(change(number, "slow"))))
            }
        }
        let read = AtomicUsize::new(0);
        let mut furthest = 0;
        let mut watch = |progress: &Progress| {
            furthest = furthest.max(read.load(Ordering::Relaxed) - progress.done as usize);
            if progress.done >= 6 { Continue::Stop } else { Continue::Yes }
        };
        let with = With { jobs: 2, ahead: None, watch: &mut watch };
        run_with(&mut Endless(&read), &mut Memory::default(), with, None).unwrap();
        assert!(furthest <= 2 * READ_AHEAD + 1, "{furthest}");
    }

    #[test]
    fn predictions_are_made_ahead_for_many_changes_at_once() {
        use std::sync::Mutex;

        let sizes = Mutex::new(Vec::new());
        // This takes time, as the first prediction does, while the reader continues.
        let predict = |changes: &[Change]| {
            sizes.lock().unwrap().push(changes.len());
            std::thread::sleep(Duration::from_millis(20));
        };
        let ahead = Ahead { size: 8, predict: &predict };
        let mut store = Memory::default();
        let with = With { jobs: 2, ahead: Some(&ahead), watch: &mut |_| Continue::Yes };
        let rows = (1..=60).map(|number| Ok(Ok(change(number, "slow")))).collect();
        let outcome = run_with(&mut Script(rows), &mut store, with, None).unwrap();
        assert_eq!(outcome.confusion.total(), 60);
        let sizes = sizes.into_inner().unwrap();
        assert_eq!(sizes.iter().sum::<usize>(), 60);
        assert!(sizes.len() < 60 && sizes.iter().all(|size| *size <= 8), "{sizes:?}");
    }
}
