//! A study: many changes, compared in parallel, one finding a line in the order of the input.
//!
//! Findings depend on the change, the options and nothing else, so the output is the same for any number of threads
//! (times aside).

mod input;
pub mod metrics;
pub mod page;
pub mod row;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use twincell_core::compare::{CompareOptions, Continue, Source};
use twincell_core::report::Comparison;

pub use input::Input;
use metrics::{Confusion, Label, Reach};
use row::{Finding, read_change};

/// How a change is compared: the engine, or in tests something in its place. An error is one line for people.
pub type Compare<'a> =
    dyn Fn(&Source, &Source, &CompareOptions, &mut dyn FnMut() -> Continue) -> Result<Comparison, String> + Sync + 'a;

/// What is done with each comparison beside reporting it, by the number of the change's line. An error is one line for
/// people.
pub type Keep<'a> = dyn Fn(usize, &Comparison) -> Result<(), String> + Sync + 'a;

/// How a study ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub confusion: Confusion,
    pub reach: Reach,
    /// Stopped before the end; what was written is complete up to there.
    pub interrupted: bool,
}

/// How often `watch` is asked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Compares every change of `lines` (one JSON object each; blank ones are skipped) in `jobs` threads and writes one
/// line each to `out`. A line that cannot be compared is written as inconclusive with the reason, and the study goes
/// on. `watch` is called with the number of changes done, often, from this thread; its answer can stop the study.
pub fn study(
    lines: &str,
    compare: &Compare<'_>,
    keep: &Keep<'_>,
    options: &CompareOptions,
    jobs: usize,
    out: &mut dyn Write,
    watch: &mut dyn FnMut(usize) -> Continue,
) -> io::Result<Outcome> {
    let rows: Vec<(usize, &str)> = rows(lines).collect();
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, findings) = mpsc::channel();

    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, rows.len().max(1)) {
            let (sender, rows, next, stop) = (sender.clone(), &rows, &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((number, line)) = rows.get(index) else { break };
                    let found = find(line, *number, compare, keep, options, stop);
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
                    serde_json::to_writer(&mut *out, &finding)?;
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
    })
}

/// The lines that hold changes, with their numbers.
pub fn rows(lines: &str) -> impl Iterator<Item = (usize, &str)> {
    lines.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

fn find(
    line: &str,
    number: usize,
    compare: &Compare<'_>,
    keep: &Keep<'_>,
    options: &CompareOptions,
    stop: &AtomicBool,
) -> (Finding, Option<Label>) {
    let start = Instant::now();
    let milliseconds = || start.elapsed().as_secs_f64() * 1000.0;
    let change = match read_change(line, number) {
        Ok(change) => change,
        Err((id, reason)) => return (Finding::failed(id, reason, milliseconds()), None),
    };
    let label = change.label();
    let (old, new, options) = change.sources(options);
    let mut watch = || if stop.load(Ordering::Relaxed) { Continue::Stop } else { Continue::Yes };
    let finding = match compare(&old, &new, &options, &mut watch) {
        Ok(comparison) => match keep(number, &comparison) {
            Ok(()) => Finding::new(change.id, &comparison, milliseconds()),
            Err(reason) => Finding::failed(change.id, reason, milliseconds()),
        },
        Err(reason) => Finding::failed(change.id, reason, milliseconds()),
    };
    (finding, label)
}

#[cfg(test)]
mod tests {
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
        let outcome =
            study(&input(), &scripted, &|_, _| Ok(()), &options, jobs, &mut out, &mut |_| Continue::Yes).unwrap();
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
        study(lines, &scripted, &|_, _| Ok(()), &CompareOptions::default(), 2, &mut out, &mut |_| Continue::Yes)
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
        let outcome =
            study(&input(), &scripted, &|_, _| Ok(()), &CompareOptions::default(), 2, &mut out, &mut watch).unwrap();
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
        let result = study(&input(), &scripted, &|_, _| Ok(()), &CompareOptions::default(), 2, &mut Full, &mut |_| {
            Continue::Yes
        });
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
