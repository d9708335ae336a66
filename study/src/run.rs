//! Runs a study: other threads read changes and compare them ([`crate::threads`], [`crate::farm`]). The calling thread
//! gives the findings to the store as they come, and reports progress.
//!
//! A finding depends only on the change and the options. So results are the same for any number of threads, in any
//! order, and wherever they are computed, apart from times.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use twincell_compare::{CompareOptions, Continue};
use twincell_widgets::Enforced;

use crate::change::{Change, Changes, NoChange, Row};
use crate::events::{Broken, Event, Job};
use crate::farm::{self, Farm};
use crate::find::{Compare, ComparedChange, Wanted};
use crate::finding::Finding;
use crate::key::Keys;
use crate::metrics::{Confusion, Label, Reach};
use crate::notable::Notable;
use crate::pace::Progress;
use crate::queue::Queue;
use crate::store::Store;
use crate::threads::{Ahead, INTERVAL, Shared, predict_ahead, read, read_one, work};

/// What compares the changes of a study.
pub enum Workers<'a> {
    /// Threads of this process, and a predictor that works ahead of them where this is worth it.
    Threads { compare: &'a Compare<'a>, jobs: usize, ahead: Option<&'a Ahead<'a>> },
    /// Processes, here or on other machines.
    Farm(&'a mut dyn Farm),
}

/// What to do with the result of a change besides storing it. An error, one line for people, replaces the finding.
pub type Keep<'a> = dyn FnMut(&Change, &mut ComparedChange) -> Result<(), String> + 'a;

/// Everything that a study needs.
pub struct Study<'a> {
    pub changes: &'a mut dyn Changes,
    pub options: CompareOptions,
    pub keys: &'a Keys,
    pub workers: Workers<'a>,
    pub store: &'a mut dyn Store,
    pub wanted: Wanted,
    pub keep: &'a mut Keep<'a>,
    /// Where rows of an earlier run go that the input no longer has.
    pub aside: Option<&'a Path>,
    /// Called before the first change is compared. An error, one line for people, ends the study.
    pub ready: &'a dyn Fn() -> Result<(), String>,
}

/// How a study ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StudyOutcome {
    pub confusion: Confusion,
    pub reach: Reach,
    pub enforced: Enforced,
    pub notable: Notable,
    /// The number of rows from an earlier run.
    pub resumed: u64,
    /// The number of rows whose change equals an earlier one in the input.
    pub repeated: u64,
    /// The number of rows of an earlier run that no change of the input asked for.
    pub dropped: u64,
    /// Whether it was stopped before the end. Its findings are in the store.
    pub interrupted: bool,
    /// The number of all rows, if it was known.
    pub total: Option<u64>,
}

impl StudyOutcome {
    /// A sentence about a study that was stopped.
    pub fn unfinished(&self) -> Option<String> {
        let done = self.confusion.total();
        self.interrupted.then(|| match self.total {
            Some(total) => format!("The study was stopped after {done} of {total} changes."),
            None => format!("The study was stopped after {done} changes, before the end of its input."),
        })
    }
}

/// Compares every change and stores a row for each. A change that cannot be compared becomes a row with the reason, and
/// the study goes on. `watch` often receives the progress, on this thread. Its answer can stop the study.
pub fn run(study: Study<'_>, watch: &mut dyn FnMut(&Progress) -> Continue) -> Result<StudyOutcome, Broken> {
    let Study { changes, options, keys, workers, store, wanted, keep, aside, ready } = study;
    let at_once = match &workers {
        Workers::Threads { jobs, ahead, .. } => (*jobs).max(1) + ahead.map_or(0, |ahead| ahead.size),
        Workers::Farm(farm) => farm::at_once(&**farm),
    };
    let shared = Shared::new(at_once);
    let mut at = At {
        progress: Progress { total: changes.total(), ..Progress::default() },
        started: Instant::now(),
        outcome: StudyOutcome::default(),
        seen: HashMap::new(),
        same: HashMap::new(),
        reproducers: wanted.reproducers,
        ready: Some(ready),
    };
    let ended = std::thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        let shared = &shared;
        let to = sender.clone();
        let mut own = None;
        if changes.is_read_by_caller() {
            own = Some(changes);
        } else {
            scope.spawn(move || read(changes, keys, shared, &to));
        }
        match workers {
            Workers::Threads { compare, jobs, ahead } => {
                // Predicted ahead or not, threads take the changes that wait in `ready`.
                let ready = ahead.map(|_| Arc::new(Queue::new()));
                if let (Some(ahead), Some(ready)) = (ahead, ready.clone()) {
                    scope.spawn(move || predict_ahead(ahead, shared, &ready));
                }
                for _ in 0..jobs.max(1) {
                    let (sender, options, ready) = (sender.clone(), options.clone(), ready.clone());
                    scope.spawn(move || {
                        work(ready.as_deref().unwrap_or(&shared.jobs), shared, compare, &options, wanted, &sender);
                    });
                }
            }
            Workers::Farm(farm) => {
                let sender = sender.clone();
                scope.spawn(move || farm::tend(farm, shared, wanted, &sender));
            }
        }
        drop(sender);
        let mut read_here = own.map(|changes| move || read_one(changes, keys));
        let read_here = read_here.as_mut().map(|read| read as &mut dyn FnMut() -> Option<Event>);
        let ended = at.follow(&events, read_here, shared, store, keep, watch);
        shared.stop();
        ended
    });
    // Findings count, however the study ended.
    at.outcome.total = at.progress.total;
    let stored = at.finish(ended.is_ok(), store, aside);
    ended?;
    stored.map_err(Broken::Store)?;
    Ok(at.outcome)
}

/// The progress of a study.
struct At<'a> {
    progress: Progress,
    started: Instant,
    outcome: StudyOutcome,
    /// The keys of all rows that were read, as numbers, and whether their rows are from an earlier run.
    seen: HashMap<u128, bool>,
    /// Changes that are equal to one that is being compared, by its key.
    same: HashMap<String, Vec<Change>>,
    /// Whether each change has its own reproducer, so that equal changes are compared again.
    reproducers: bool,
    /// Called before the first change is compared, and then none.
    ready: Option<&'a dyn Fn() -> Result<(), String>>,
}

impl At<'_> {
    fn follow(
        &mut self,
        events: &mpsc::Receiver<Event>,
        mut read_here: Option<&mut dyn FnMut() -> Option<Event>>,
        shared: &Shared,
        store: &mut dyn Store,
        keep: &mut Keep<'_>,
        watch: &mut dyn FnMut(&Progress) -> Continue,
    ) -> Result<(), Broken> {
        let (mut read, mut is_at_end, mut torn, mut has_room) = (0, false, None, false);
        loop {
            self.progress.elapsed = self.started.elapsed();
            if watch(&self.progress) == Continue::Stop {
                self.outcome.interrupted = true;
                return Ok(());
            }
            store.tick().map_err(Broken::Store)?;
            if is_at_end && self.progress.done == read {
                return torn.map_or(Ok(()), |error| Err(Broken::Input(error)));
            }
            // Findings go first, and then input that is read on this thread, while there is room for it.
            let mut event = events.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            if let (Err(_), Some(read), false) = (&event, &mut read_here, is_at_end) {
                has_room = has_room || shared.room.take(Duration::ZERO);
                if has_room && let Some(next) = read() {
                    event = Ok(next);
                }
            }
            match event.or_else(|_| events.recv_timeout(INTERVAL)) {
                Ok(Event::Read(row, key)) => {
                    (read, has_room) = (read + 1, false);
                    let done = self.progress.done;
                    if let Some(job) = self.begin(*row, key, store)? {
                        if let Some(ready) = self.ready.take() {
                            ready().map_err(Broken::Workers)?;
                        }
                        shared.jobs.push(job);
                    }
                    if self.progress.done > done {
                        shared.room.give();
                    }
                }
                // Rows that were read before the input broke off are still compared.
                Ok(Event::End(error)) => {
                    (is_at_end, torn) = (true, error);
                    shared.jobs.close();
                }
                Ok(Event::Compared(found)) => {
                    let (job, found) = *found;
                    for change in self.same.remove(&job.key).unwrap_or_default() {
                        self.settle(&change, found.clone(), shared, store, keep)?;
                    }
                    self.settle(&job.change, found, shared, store, keep)?;
                }
                Ok(Event::Broken(broken)) => return Err(broken),
                Err(RecvTimeoutError::Timeout) => {}
                // Every thread has ended, but not the input, so a thread failed.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Broken::Workers(
                        "this is a bug in twincell, please report it: a thread of the study ended".to_owned(),
                    ));
                }
            }
        }
    }

    /// Handles a row that was read: a change to compare, unless the store has its row, or a row that is not a change.
    fn begin(&mut self, row: Row, key: String, store: &mut dyn Store) -> Result<Option<Job>, Broken> {
        let number = match &row {
            Ok(change) => change.number,
            Err(row) => row.number,
        };
        let name = |finding: &mut Finding| match &row {
            Ok(change) => finding.name(change),
            Err(row) => finding.id = row.id.clone(),
        };
        let label = row.as_ref().ok().and_then(Change::label);
        // Whether the first row with this key is from an earlier run.
        let hash = u128::from_str_radix(&key, 16).unwrap_or_default();
        let first = self.seen.get(&hash).copied();
        self.outcome.repeated += u64::from(first == Some(false));
        let found = match first {
            Some(false) if self.reproducers => None,
            _ => store.resume(number, &key, &name).map_err(Broken::Store)?,
        };
        let is_earlier = first.unwrap_or(found.is_some());
        self.seen.insert(hash, is_earlier);
        if let Some(finding) = found {
            self.outcome.resumed += u64::from(is_earlier);
            self.progress.resumed += 1;
            self.count(number, &finding, label, row.as_ref().err());
            return Ok(None);
        }
        match row {
            Ok(change) => match self.same.get_mut(&key) {
                Some(same) => {
                    same.push(change);
                    Ok(None)
                }
                None => {
                    self.same.insert(key.clone(), Vec::new());
                    Ok(Some(Job { change, key }))
                }
            },
            Err(row) => {
                let mut finding = Finding::no_change(&row);
                finding.key = Some(key);
                store.add(number, &finding).map_err(Broken::Store)?;
                self.count(number, &finding, None, Some(&row));
                Ok(None)
            }
        }
    }

    /// Stores the result of a change.
    fn settle(
        &mut self,
        change: &Change,
        mut found: ComparedChange,
        shared: &Shared,
        store: &mut dyn Store,
        keep: &mut Keep<'_>,
    ) -> Result<(), Broken> {
        found.finding.name(change);
        if let Err(reason) = keep(change, &mut found) {
            found.finding = Finding::not_compared(change, reason, found.finding.milliseconds);
        }
        store.add(change.number, &found.finding).map_err(Broken::Store)?;
        self.count(change.number, &found.finding, change.label(), None);
        shared.room.give();
        Ok(())
    }

    /// Ends the store. An input without a change counts as no input, since a program that failed looks like this from
    /// the other end of a pipe. Rows that a complete study drops are first set aside.
    fn finish(&mut self, is_ended: bool, store: &mut dyn Store, aside: Option<&Path>) -> Result<(), String> {
        let is_nothing = self.outcome.notable.is_nothing(self.progress.done);
        let is_complete = is_ended && !self.outcome.interrupted && !is_nothing;
        if is_complete && let Some(aside) = aside {
            self.outcome.dropped = store.unclaimed()?;
            if self.outcome.dropped > 0 {
                store.copy(aside)?;
            }
        }
        store.finish(is_complete)
    }

    fn count(&mut self, number: usize, finding: &Finding, label: Option<Label>, no_change: Option<&NoChange>) {
        self.outcome.notable.add(number, finding, no_change.map(|row| row.what.as_str()));
        self.progress.done += 1;
        self.outcome.confusion.add(label, finding.verdict);
        self.outcome.enforced.add(finding.sandbox_lacks.as_deref());
        self.outcome.reach.add(finding.executions, finding.coverage, finding.changed_lines_reached);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use twincell_compare::Source;

    use super::*;
    use crate::scripted::{Script, With, change, keys, run_with, scripted, studied};
    use crate::store::Memory;

    #[test]
    fn what_fails_costs_one_row_and_is_tried_again_where_it_was_not_the_change() {
        let texts = ["fast", "bug", "lost", "fast"];
        let rows = texts.iter().enumerate().map(|(index, text)| Ok(Ok(change(index + 1, text))));
        let (rows, outcome) = studied(&mut Script(rows.collect()), None);
        assert_eq!(outcome.unwrap().confusion.total(), 4);
        assert!(rows[1].reason.starts_with("this is a bug in twincell"), "{}", rows[1].reason);
        let keyed: Vec<bool> = rows.iter().map(|row| row.key.is_some()).collect();
        assert_eq!(keyed, [true, false, false, true]);
    }

    #[test]
    fn changes_that_are_the_same_are_compared_once() {
        let counted = AtomicUsize::new(0);
        let compare = |old: &Source, new: &Source, options: &CompareOptions, watch: &mut dyn FnMut() -> Continue| {
            counted.fetch_add(1, Ordering::Relaxed);
            scripted(old, new, options, watch)
        };
        let same = |number| Change { old: String::new(), ..change(number, ["slow", "fast"][number % 2]) };
        let rows = (1..=6).map(|number| Ok(Ok(same(number)))).collect();
        let (mut store, mut kept) = (Memory::default(), Vec::new());
        let study = Study {
            changes: &mut Script(rows),
            options: CompareOptions::default(),
            keys: &keys(),
            workers: Workers::Threads { compare: &compare, jobs: 1, ahead: None },
            store: &mut store,
            wanted: Wanted::default(),
            keep: &mut |change, _| {
                kept.push(change.number);
                Ok(())
            },
            aside: None,
            ready: &|| Ok(()),
        };
        run(study, &mut |_| Continue::Yes).unwrap();
        kept.sort_unstable();
        assert_eq!(kept, [1, 2, 3, 4, 5, 6]);
        assert_eq!(store.rows.values().map(|row| row.id.clone()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        // If nothing is stored, a change that came after the first equal one was done is compared again.
        assert!(counted.load(Ordering::Relaxed) < 6);
    }

    #[test]
    fn workers_are_asked_for_once_and_only_where_a_change_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let study = |changes: &mut Script, refusal: Option<&str>| {
            let asked = std::cell::Cell::new(0);
            let mut store = crate::store::open(&path, false).unwrap();
            let study = Study {
                changes,
                options: CompareOptions::default(),
                keys: &keys(),
                workers: Workers::Threads { compare: &scripted, jobs: 1, ahead: None },
                store: &mut *store,
                wanted: Wanted::default(),
                keep: &mut |_, _| Ok(()),
                aside: None,
                ready: &|| {
                    asked.set(asked.get() + 1);
                    refusal.map_or(Ok(()), |refusal| Err(refusal.to_owned()))
                },
            };
            let ended = run(study, &mut |_| Continue::Yes);
            (asked.get(), ended.map(|outcome| outcome.resumed).map_err(|broken| broken.to_string()))
        };
        assert_eq!(study(&mut Script::changes(3), None), (1, Ok(0)));
        assert_eq!(study(&mut Script::changes(3), Some("no sandbox")), (0, Ok(3)));
        assert_eq!(study(&mut Script::changes(4), Some("no sandbox")), (1, Err("no sandbox".to_owned())));
        assert_eq!(study(&mut Script::changes(3), None), (0, Ok(3)));
    }

    #[test]
    fn a_stopped_study_keeps_what_was_done() {
        let mut store = Memory::default();
        let mut watch = |progress: &Progress| if progress.done >= 5 { Continue::Stop } else { Continue::Yes };
        let with = With { jobs: 2, ahead: None, watch: &mut watch };
        let outcome = run_with(&mut Script::mixed(1000), &mut store, with, None).unwrap();
        assert!(outcome.interrupted);
        assert_eq!((outcome.confusion.total(), store.rows.len()), (5, 5));
        assert!(outcome.unfinished().unwrap().starts_with("The study was stopped after 5"), "{outcome:?}");
    }

    #[test]
    fn an_input_that_breaks_off_is_an_error_after_what_was_found() {
        let mut changes = Script::changes(2);
        changes.0.push_front(Err(io::ErrorKind::WouldBlock.into()));
        changes.0.push_back(Err(io::ErrorKind::UnexpectedEof.into()));
        let (rows, outcome) = studied(&mut changes, None);
        assert!(matches!(outcome, Err(Broken::Input(_))));
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn a_store_that_cannot_be_written_ends_the_study() {
        struct Full;
        impl Store for Full {
            fn resume(&mut self, _: usize, _: &str, _: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String> {
                Ok(None)
            }
            fn add(&mut self, _: usize, _: &Finding) -> Result<(), String> {
                Err("cannot write x: No space left on device".to_owned())
            }
            fn tick(&mut self) -> Result<(), String> {
                Ok(())
            }
            fn unclaimed(&self) -> Result<u64, String> {
                Ok(0)
            }
            fn copy(&mut self, _: &std::path::Path) -> Result<(), String> {
                Ok(())
            }
            fn finish(&mut self, _: bool) -> Result<(), String> {
                Ok(())
            }
        }
        let with = With { jobs: 2, ahead: None, watch: &mut |_| Continue::Yes };
        let outcome = run_with(&mut Script::changes(9), &mut Full, with, None);
        assert_eq!(outcome.unwrap_err().to_string(), "cannot write x: No space left on device");
    }
}
