//! A study: many changes, compared in parallel, one finding a line in the order of the input.
//!
//! Findings depend on the change, the options and nothing else, so the output is the same for any number of threads
//! (times aside).

pub mod change;
pub mod finding;
mod input;
pub mod metrics;
pub mod page;
pub mod read;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use twincell_core::compare::{CompareOptions, Continue, Source};
use twincell_core::report::Comparison;

use change::{Change, Changes, NoChange, Row};
use finding::Finding;
pub use input::Input;
use metrics::{Confusion, Label, Reach};

/// How a change is compared: the engine, or in tests something in its place. An error is one line for people.
pub type Compare<'a> =
    dyn Fn(&Source, &Source, &CompareOptions, &mut dyn FnMut() -> Continue) -> Result<Comparison, String> + Sync + 'a;

/// What is done with each comparison beside reporting it. An error is one line for people.
pub type Keep<'a> = dyn Fn(&Change, &Comparison) -> Result<(), String> + Sync + 'a;

/// How a study ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub confusion: Confusion,
    pub reach: Reach,
    /// Stopped before the end; what was written is complete up to there.
    pub interrupted: bool,
}

/// What ends a study before its time.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot read the changes on: {}", crate::files::reason(.0))]
    Input(io::Error),
    #[error("cannot write the findings: {}", crate::files::reason(.0))]
    Output(#[from] io::Error),
}

/// How often `watch` is asked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Compares every change in `jobs` threads and writes one line each to `out`, in the order of the input. A row that
/// cannot be compared is written as inconclusive with the reason, and the study goes on. `watch` is called with the
/// number of changes done, often, from this thread; its answer can stop the study.
pub fn study(
    changes: &mut dyn Changes,
    compare: &Compare<'_>,
    keep: &Keep<'_>,
    options: &CompareOptions,
    jobs: usize,
    out: &mut dyn Write,
    watch: &mut dyn FnMut(usize) -> Continue,
) -> Result<Outcome, Broken> {
    let queue = Mutex::new(Queue { changes, given: 0, broken: None });
    let stop = AtomicBool::new(false);
    let (sender, findings) = mpsc::channel();

    let outcome = std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (sender, queue, stop) = (sender.clone(), &queue, &stop);
            scope.spawn(move || {
                while let Some((index, row)) = take(queue, stop) {
                    let found = find(row, compare, keep, options, stop);
                    // What was stopped in the middle is not a finding.
                    if stop.load(Ordering::Relaxed) || sender.send((index, found)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);

        let mut outcome = Outcome::default();
        let written = (|| {
            let mut waiting = BTreeMap::new();
            let mut done = 0;
            loop {
                if watch(done) == Continue::Stop {
                    outcome.interrupted = true;
                    return Ok(());
                }
                match findings.recv_timeout(WATCH_INTERVAL) {
                    Ok((index, found)) => {
                        waiting.insert(index, found);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                while let Some((finding, label)) = waiting.remove(&done) {
                    serde_json::to_writer(&mut *out, &finding).map_err(io::Error::from)?;
                    out.write_all(b"\n")?;
                    // A study that is killed leaves what it found.
                    out.flush()?;
                    outcome.confusion.add(label, finding.verdict);
                    outcome.reach.add(finding.executions, finding.coverage, finding.changed_lines_reached);
                    done += 1;
                }
            }
        })();
        stop.store(true, Ordering::Relaxed);
        written.map(|()| outcome)
    });
    match queue.into_inner().unwrap_or_else(PoisonError::into_inner).broken {
        Some(error) => Err(Broken::Input(error)),
        None => outcome,
    }
}

/// What all threads take their changes from.
struct Queue<'a> {
    changes: &'a mut dyn Changes,
    given: usize,
    broken: Option<io::Error>,
}

/// The next row with its place among all rows; none at the end, or when the study was stopped or cannot go on.
fn take(queue: &Mutex<Queue<'_>>, stop: &AtomicBool) -> Option<(usize, Row)> {
    while !stop.load(Ordering::Relaxed) {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.broken.is_some() {
            return None;
        }
        match queue.changes.next()? {
            Ok(row) => {
                queue.given += 1;
                return Some((queue.given - 1, row));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => queue.broken = Some(error),
        }
    }
    None
}

fn find(
    row: Row,
    compare: &Compare<'_>,
    keep: &Keep<'_>,
    options: &CompareOptions,
    stop: &AtomicBool,
) -> (Finding, Option<Label>) {
    let start = Instant::now();
    let milliseconds = || start.elapsed().as_secs_f64() * 1000.0;
    let change = match row {
        Ok(change) => change,
        Err(NoChange { id, reason, .. }) => return (Finding::failed(id, reason, milliseconds()), None),
    };
    let label = change.label();
    let (old, new, options) = change.sources(options);
    let mut watch = || if stop.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes };
    let finding = match compare(&old, &new, &options, &mut watch) {
        Ok(comparison) => match keep(&change, &comparison) {
            Ok(()) => Finding::new(change.id, &comparison, milliseconds()),
            Err(reason) => Finding::failed(change.id, reason, milliseconds()),
        },
        Err(reason) => Finding::failed(change.id, reason, milliseconds()),
    };
    (finding, label)
}

#[cfg(test)]
mod tests {
    use super::read::from_text;
    use super::*;
    use crate::fixtures::{comparison, pair};
    use twincell_core::report::Verdict;

    /// Stands for the engine: the new text says what comes out and how long it takes.
    fn scripted(
        _: &Source,
        new: &Source,
        options: &CompareOptions,
        watch: &mut dyn FnMut() -> Continue,
    ) -> Result<Comparison, String> {
        let verdict = match new.text.as_str() {
            "fail" => return Err("new is not valid Python".to_owned()),
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
        pair.reason = format!("seed {}", options.seed);
        Ok(comparison(vec![pair]))
    }

    fn input() -> String {
        (0..24)
            .map(|index| {
                let new = ["fast", "slow", "fail"][index % 3];
                let label = ["changing", "preserving"][index % 2];
                format!("{{\"id\": {index}, \"old\": \"\", \"new\": \"{new}\", \"label\": \"{label}\"}}\n\n")
            })
            .collect()
    }

    fn run(jobs: usize) -> (Vec<serde_json::Value>, Outcome) {
        let mut out = Vec::new();
        let options = CompareOptions { seed: 4, ..Default::default() };
        let outcome = study(&mut from_text(&input()), &scripted, &|_, _| Ok(()), &options, jobs, &mut out, &mut |_| {
            Continue::Yes
        })
        .unwrap();
        let lines = String::from_utf8(out).unwrap();
        let rows = lines.lines().map(|line| {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["milliseconds"] = 0.into();
            row
        });
        (rows.collect(), outcome)
    }

    #[test]
    fn the_output_is_in_the_order_of_the_input_for_any_number_of_threads() {
        let (alone, outcome) = run(1);
        assert_eq!(
            alone.iter().map(|row| row["id"].as_u64().unwrap()).collect::<Vec<_>>(),
            (0..24).collect::<Vec<_>>()
        );
        assert_eq!(run(7), (alone, outcome));
    }

    #[test]
    fn a_change_that_cannot_be_compared_is_inconclusive_and_the_study_goes_on() {
        let (rows, outcome) = run(3);
        assert_eq!(
            (rows[2]["verdict"].as_str(), rows[2]["reason"].as_str()),
            (Some("inconclusive"), Some("new is not valid Python"))
        );
        assert_eq!(rows[3]["reason"], "seed 4");
        assert_eq!(outcome.confusion.of(Verdict::Inconclusive), 8);
        assert_eq!(outcome.confusion.total(), 24);
    }

    #[test]
    fn lines_that_are_no_changes_are_answered_in_their_place() {
        let mut out = Vec::new();
        let lines = "{\"old\": \"\", \"new\": \"fast\"}\nnonsense\n{\"id\": \"z\"}";
        study(&mut from_text(lines), &scripted, &|_, _| Ok(()), &CompareOptions::default(), 2, &mut out, &mut |_| {
            Continue::Yes
        })
        .unwrap();
        let rows: Vec<serde_json::Value> =
            String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>(),
            [1.into(), 2.into(), serde_json::Value::from("z")]
        );
        assert!(rows[1]["reason"].as_str().unwrap().starts_with("line 2 is no change"));
    }

    #[test]
    fn a_stopped_study_keeps_what_was_done() {
        let mut out = Vec::new();
        let mut watch = |done| if done >= 5 { Continue::Stop } else { Continue::Yes };
        let outcome = study(
            &mut from_text(&input()),
            &scripted,
            &|_, _| Ok(()),
            &CompareOptions::default(),
            2,
            &mut out,
            &mut watch,
        )
        .unwrap();
        assert!(outcome.interrupted);
        let written = String::from_utf8(out).unwrap().lines().count();
        assert!((5..24).contains(&written), "{written}");
        assert_eq!(outcome.confusion.total() as usize, written);
    }

    #[test]
    fn an_output_that_cannot_be_written_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let result = study(
            &mut from_text(&input()),
            &scripted,
            &|_, _| Ok(()),
            &CompareOptions::default(),
            2,
            &mut Full,
            &mut |_| Continue::Yes,
        );
        assert!(matches!(result, Err(Broken::Output(error)) if error.kind() == io::ErrorKind::StorageFull));
    }

    #[test]
    fn an_input_that_breaks_off_is_an_error_after_what_was_found() {
        struct Torn(usize);
        impl Changes for Torn {
            fn next(&mut self) -> Option<io::Result<Row>> {
                self.0 += 1;
                Some(match self.0 {
                    1 => Ok(Ok(Change { new: "fast".into(), ..Default::default() })),
                    2 => Err(io::ErrorKind::WouldBlock.into()),
                    3 => Ok(Ok(Change { new: "slow".into(), ..Default::default() })),
                    _ => Err(io::ErrorKind::UnexpectedEof.into()),
                })
            }
            fn total(&self) -> Option<u64> {
                None
            }
        }
        let (mut out, options) = (Vec::new(), CompareOptions::default());
        let result = study(&mut Torn(0), &scripted, &|_, _| Ok(()), &options, 2, &mut out, &mut |_| Continue::Yes);
        assert!(matches!(result, Err(Broken::Input(error)) if error.kind() == io::ErrorKind::UnexpectedEof));
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 2);
    }
}
