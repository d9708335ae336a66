//! Studies for tests, without an engine: the text of a change says what comes of it.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use twincell_compare::report::{Comparison, Reason};
use twincell_compare::verdict::Verdict;
use twincell_compare::{CompareOptions, Continue, Source};
use twincell_driver::options::{Job, Options};
use twincell_driver::warm::Environment;
use twincell_samples::{comparison, pair};

use crate::change::{Change, Changes, NoChange, Row};
use crate::events::Broken;
use crate::farm::Farm;
use crate::find::{Refused, Wanted};
use crate::finding::Finding;
use crate::key::Keys;
use crate::pace::Progress;
use crate::run::{Study, StudyOutcome, Workers, run};
use crate::store::{Memory, Store};
use crate::threads::Ahead;

/// Gives what it holds, one after the other.
pub struct Script(pub VecDeque<io::Result<Row>>);

impl Changes for Script {
    fn next(&mut self) -> Option<io::Result<Row>> {
        self.0.pop_front()
    }

    fn total(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}

pub fn change(number: usize, new: &str) -> Change {
    let label = ["changing", "preserving"][number % 2];
    let (id, old, label) = (number.into(), format!("old {number}"), Some(label.into()));
    Change { number, id, old, new: new.into(), label, ..Change::default() }
}

impl Script {
    pub fn changes(count: usize) -> Self {
        Self((1..=count).map(|number| Ok(Ok(change(number, &format!("new {}", number - 1))))).collect())
    }

    pub fn mixed(count: usize) -> Self {
        let rows = (1..=count).map(|number| match number % 4 {
            0 => Ok(Err(NoChange {
                number,
                id: number.into(),
                unit: None,
                what: format!("row {number} is not a change"),
            })),
            kind => Ok(Ok(change(number, ["", "fast", "slow", "fail"][kind]))),
        });
        Self(rows.collect())
    }
}

pub fn keys() -> Keys {
    let mut options = Options::default();
    options.set_text(Job::Study, "predictor", "uniform").unwrap();
    Keys::new(&options, &Environment::default()).unwrap()
}

/// Stands for the engine: the new text says what comes out and how long it takes.
pub fn scripted(
    _: &Source,
    new: &Source,
    options: &CompareOptions,
    watch: &mut dyn FnMut() -> Continue,
) -> Result<Comparison, Refused> {
    let verdict = match new.text.as_str() {
        "fail" => return Err(Refused { reason: "new is not valid Python".to_owned(), for_good: true }),
        "lost" => return Err(Refused { reason: "the worker failed".to_owned(), for_good: false }),
        "bug" => panic!("a bug, for a test"),
        "slow" => {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(30) && watch() == Continue::Yes {
                std::thread::yield_now();
            }
            Verdict::LikelyPreserving
        }
        _ => Verdict::Changing,
    };
    let mut pair = pair(verdict);
    pair.reason = Reason::NotRun(format!("seed {}", options.seed));
    Ok(comparison(vec![pair]))
}

pub struct With<'a> {
    pub jobs: usize,
    pub ahead: Option<&'a Ahead<'a>>,
    pub watch: &'a mut dyn FnMut(&Progress) -> Continue,
}

pub fn run_with(
    changes: &mut dyn Changes,
    store: &mut dyn Store,
    with: With<'_>,
    farm: Option<&mut dyn Farm>,
) -> Result<StudyOutcome, Broken> {
    let workers = match farm {
        Some(farm) => Workers::Farm(farm),
        None => Workers::Threads { compare: &scripted, jobs: with.jobs, ahead: with.ahead },
    };
    let study = Study {
        changes,
        options: CompareOptions { seed: 4, ..Default::default() },
        keys: &keys(),
        workers,
        store,
        wanted: Wanted::default(),
        keep: &mut |_, _| Ok(()),
        aside: None,
        ready: &|| Ok(()),
    };
    run(study, with.watch)
}

/// The rows in the order of the input, and how the study ended.
pub fn studied(changes: &mut dyn Changes, farm: Option<&mut dyn Farm>) -> (Vec<Finding>, Result<StudyOutcome, Broken>) {
    let mut store = Memory::default();
    let with = With { jobs: 3, ahead: None, watch: &mut |_| Continue::Yes };
    let outcome = run_with(changes, &mut store, with, farm);
    (store.rows.into_values().collect(), outcome)
}

pub fn timeless(store: Memory) -> Vec<Finding> {
    store.rows.into_values().map(|row| Finding { milliseconds: 0.0, ..row }).collect()
}
