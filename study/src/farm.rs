//! Compares changes in other processes, here or on other machines. Chunks of changes go out as text, a bounded number
//! at a time, and findings come back as text, so that any way to reach a process will do ([`Farm`]).
//!
//! A lost worker loses no finding: its chunk is handed out again, change by change. A change that has lost three
//! workers is not handed out again. A chunk counts once, however often it is answered.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::events::{Broken, Event, Job};
use crate::find::{ComparedChange, Wanted};
use crate::finding::Finding;
use crate::queue::Next;
use crate::threads::{INTERVAL, Shared};

/// Processes that compare changes.
pub trait Farm: Send {
    /// The maximum number of chunks handed out at a time.
    fn chunks(&self) -> usize;

    /// Hands out a chunk ([`write_chunk`]). `ticket` identifies it when it ends.
    fn hand_out(&mut self, ticket: u64, chunk: String) -> Result<(), Trouble>;

    /// The chunks that have ended, each with its answer. Waits for the first one for at most this long.
    fn ended(&mut self, patience: Duration) -> Result<Vec<Ended>, Trouble>;

    /// Replaces the processes that broke down. An error if there are none.
    fn renew(&mut self) -> Result<(), String>;

    /// Says that nobody waits for the chunks that are still out.
    fn leave(&mut self);
}

/// A chunk that has ended: its ticket and its answer.
pub type Ended = (u64, Result<String, Trouble>);

/// Why there is no answer. Each text is a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The process that had the chunk is gone or failed with it. Another may succeed.
    Lost(String),
    /// No process is left.
    Broken(String),
    /// Every chunk would fail in the same way.
    Useless(String),
}

/// The maximum time that read changes wait to be handed out to an idle process.
const MOMENT: Duration = Duration::from_millis(10);
/// The maximum number of times that a change is handed out.
const ATTEMPTS: u32 = 3;
/// The intended time for a chunk in milliseconds: long enough that handing it out does not matter. Toward the end
/// chunks get smaller, so that nobody waits for the last one, but not so small that handing them out is most of the
/// work.
const CHUNK_TIME: f64 = 500.0;
const SHORTEST_TIME: f64 = 60.0;
const LARGEST_CHUNK: usize = 64;

/// The approximate maximum number of changes that are out at a time.
pub(crate) fn at_once(farm: &dyn Farm) -> usize {
    // Some more are read ahead. Only quick changes come in large chunks.
    farm.chunks() * 8
}

/// A change as it goes out, with what is wanted from it.
#[derive(Serialize, Deserialize)]
struct FarmTask {
    change: Change,
    key: String,
    wanted: Wanted,
}

/// The answer to one line.
#[derive(Serialize, Deserialize)]
struct FarmAnswer {
    number: usize,
    found: ComparedChange,
}

/// A change that was handed out.
struct PendingChange {
    job: Job,
    attempts: u32,
}

/// Answers a chunk in the process that received it: each line by `find`.
pub fn answer_chunk(
    chunk: &str,
    find: &mut dyn FnMut(&Change, &str, Wanted) -> ComparedChange,
) -> Result<String, String> {
    let mut answers = String::new();
    for line in chunk.lines() {
        let FarmTask { change, key, wanted } =
            serde_json::from_str(line).map_err(|error| format!("this is not a chunk of a study: {error}"))?;
        let answer = FarmAnswer { number: change.number, found: find(&change, &key, wanted) };
        answers.push_str(&serde_json::to_string(&answer).map_err(|error| error.to_string())?);
        answers.push('\n');
    }
    Ok(answers)
}

fn write_chunk(held: &[PendingChange], wanted: Wanted) -> Result<String, String> {
    let mut chunk = String::new();
    for PendingChange { job, .. } in held {
        let task = FarmTask { change: job.change.clone(), key: job.key.clone(), wanted };
        chunk.push_str(&serde_json::to_string(&task).map_err(|error| error.to_string())?);
        chunk.push('\n');
    }
    Ok(chunk)
}

/// Hands out the changes that wait in `shared` until there are no more.
pub(crate) fn tend(farm: &mut dyn Farm, shared: &Shared, wanted: Wanted, events: &Sender<Event>) {
    let mut tended = Tended::new(farm, wanted, events);
    let ended = tended.run(shared);
    tended.farm.leave();
    if let Err(reason) = ended {
        // If nobody listens, the study has already ended.
        let _ = events.send(Event::Broken(Broken::Workers(reason)));
    }
}

struct Tended<'a> {
    farm: &'a mut dyn Farm,
    wanted: Wanted,
    out: BTreeMap<u64, Vec<PendingChange>>,
    /// Lost changes, to be handed out again, each alone.
    again: VecDeque<PendingChange>,
    /// Something broke down, and the changes that were out then are tried one by one.
    careful: bool,
    next_ticket: u64,
    /// The time that the changes so far took.
    milliseconds: f64,
    found: u32,
    events: &'a Sender<Event>,
}

impl<'a> Tended<'a> {
    fn new(farm: &'a mut dyn Farm, wanted: Wanted, events: &'a Sender<Event>) -> Self {
        Self {
            farm,
            wanted,
            out: BTreeMap::new(),
            again: VecDeque::new(),
            careful: false,
            next_ticket: 0,
            milliseconds: 0.0,
            found: 0,
            events,
        }
    }

    fn run(&mut self, shared: &Shared) -> Result<(), String> {
        let mut is_closed = false;
        loop {
            if shared.stopped() {
                return Ok(());
            }
            shared.widen(at_once(self.farm));
            while self.out.len() < self.allowed() {
                let chunk = match self.again.pop_front() {
                    Some(held) => vec![held],
                    None => self.take(shared, &mut is_closed),
                };
                if chunk.is_empty() {
                    break;
                }
                self.hand_out(chunk)?;
            }
            if self.out.is_empty() {
                if is_closed && self.again.is_empty() {
                    return Ok(());
                }
                continue;
            }
            // If a process is idle, the next changes should not wait for an answer.
            let patience = if is_closed || self.out.len() >= self.allowed() { INTERVAL } else { MOMENT };
            match self.farm.ended(patience) {
                Ok(ended) => {
                    for (ticket, answer) in ended {
                        self.settle(ticket, answer)?;
                    }
                }
                Err(trouble) => self.overcome(trouble)?,
            }
        }
    }

    /// The number of chunks that may be out now. It is one while it is unknown which of them broke everything down.
    fn allowed(&mut self) -> usize {
        self.careful &= !(self.again.is_empty() && self.out.is_empty());
        if self.careful { 1 } else { self.farm.chunks().max(1) }
    }

    /// The waiting changes that should go out together.
    fn take(&mut self, shared: &Shared, is_closed: &mut bool) -> Vec<PendingChange> {
        let size = self.size(shared.jobs.last());
        let mut chunk = Vec::new();
        while chunk.len() < size && !*is_closed {
            // With nothing out, there is nothing else to wait for.
            let patience = if chunk.is_empty() && self.out.is_empty() { INTERVAL } else { Duration::ZERO };
            match shared.jobs.pop(patience) {
                Next::Item(job) => chunk.push(PendingChange { job, attempts: 0 }),
                Next::Nothing => break,
                Next::Closed => *is_closed = true,
            }
        }
        chunk
    }

    /// How many changes go out together. `last` is the number of remaining changes, once it is known.
    fn size(&self, last: Option<usize>) -> usize {
        let each = if self.found == 0 { CHUNK_TIME } else { self.milliseconds / f64::from(self.found) };
        let within = |time: f64| ((time / each.max(1.0)) as usize).clamp(1, LARGEST_CHUNK);
        // Half of the remaining changes are dealt out to all chunks that may be out. The processes take the other half
        // when they are done.
        let share = |last: usize| last.div_ceil(2 * self.farm.chunks().max(1));
        last.map_or(LARGEST_CHUNK, share).clamp(within(SHORTEST_TIME), within(CHUNK_TIME))
    }

    fn hand_out(&mut self, mut chunk: Vec<PendingChange>) -> Result<(), String> {
        for held in &mut chunk {
            held.attempts += 1;
        }
        let text = write_chunk(&chunk, self.wanted)?;
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.out.insert(ticket, chunk);
        match self.farm.hand_out(ticket, text) {
            Ok(()) => Ok(()),
            Err(Trouble::Lost(reason)) => self.settle(ticket, Err(Trouble::Lost(reason))),
            Err(trouble) => {
                // It never went out.
                for held in self.out.get_mut(&ticket).into_iter().flatten() {
                    held.attempts -= 1;
                }
                self.overcome(trouble)
            }
        }
    }

    fn settle(&mut self, ticket: u64, answer: Result<String, Trouble>) -> Result<(), String> {
        // Another process may have answered for it already.
        if !self.out.contains_key(&ticket) {
            return Ok(());
        }
        match answer {
            Ok(text) => {
                let chunk = self.out.remove(&ticket).unwrap_or_default();
                self.give(chunk, &text)
            }
            Err(Trouble::Lost(reason)) => {
                for held in self.out.remove(&ticket).unwrap_or_default() {
                    self.lose(held, &reason);
                }
                Ok(())
            }
            Err(trouble) => self.overcome(trouble),
        }
    }

    /// Passes the answers on. A change without an answer is lost.
    fn give(&mut self, chunk: Vec<PendingChange>, text: &str) -> Result<(), String> {
        let mut answers = BTreeMap::new();
        for line in text.lines() {
            let answer: FarmAnswer =
                serde_json::from_str(line).map_err(|error| format!("a worker sent an unexpected answer: {error}"))?;
            answers.insert(answer.number, answer.found);
        }
        for held in chunk {
            match answers.remove(&held.job.change.number) {
                Some(found) => {
                    self.milliseconds += found.finding.milliseconds;
                    self.found += 1;
                    self.send(held.job, found);
                }
                None => self.lose(held, "a worker sent no answer for it"),
            }
        }
        Ok(())
    }

    fn lose(&mut self, held: PendingChange, reason: &str) {
        if held.attempts < ATTEMPTS {
            self.again.push_back(held);
            return;
        }
        let reason = format!("{ATTEMPTS} workers were lost with this change, the last because {reason}");
        let finding = Finding::not_compared(&held.job.change, reason, 0.0);
        self.send(held.job, ComparedChange { finding, state: None, reproducers: Vec::new(), detail: None });
    }

    fn send(&self, job: Job, found: ComparedChange) {
        // If nobody listens, the study has ended, and its flag says so.
        let _ = self.events.send(Event::Compared(Box::new((job, found))));
    }

    /// Marks everything that is out as lost, and continues with other processes if there are any.
    fn overcome(&mut self, trouble: Trouble) -> Result<(), String> {
        let reason = match trouble {
            Trouble::Useless(reason) => return Err(reason),
            Trouble::Broken(reason) | Trouble::Lost(reason) => reason,
        };
        self.farm.renew().map_err(|help| format!("{reason}; {help}"))?;
        self.careful = true;
        for held in std::mem::take(&mut self.out).into_values().flatten() {
            self.lose(held, &reason);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::scripted::{Script, studied};

    /// Processes that answer at once, or as a script says.
    struct Scripted {
        waiting: VecDeque<Ended>,
        most_out: usize,
        /// The texts of new versions that break everything down, each time.
        poison: &'static str,
        /// The number of chunks that are lost before the others are answered.
        to_lose: usize,
        renewed: u32,
        may_renew: bool,
    }

    impl Scripted {
        fn new() -> Self {
            Self {
                waiting: VecDeque::new(),
                most_out: 0,
                poison: "no such text",
                to_lose: 0,
                renewed: 0,
                may_renew: true,
            }
        }
    }

    impl Farm for Scripted {
        fn chunks(&self) -> usize {
            4
        }

        fn hand_out(&mut self, ticket: u64, chunk: String) -> Result<(), Trouble> {
            let answer = answer_chunk(&chunk, &mut |change, key, _| {
                let mut finding = Finding::not_compared(change, "answered".into(), 1.0);
                finding.key = Some(key.to_owned());
                ComparedChange { finding, state: None, reproducers: Vec::new(), detail: None }
            });
            let answer = if chunk.contains(self.poison) {
                Err(Trouble::Broken("the pool broke".into()))
            } else if self.to_lose > 0 {
                self.to_lose -= 1;
                Err(Trouble::Lost("it was killed".into()))
            } else {
                answer.map_err(Trouble::Useless)
            };
            self.waiting.push_back((ticket, answer.clone()));
            // Twice, since the second answer must not count.
            self.waiting.push_back((ticket, answer));
            self.most_out = self.most_out.max(self.waiting.len());
            Ok(())
        }

        fn ended(&mut self, _: Duration) -> Result<Vec<Ended>, Trouble> {
            Ok(self.waiting.drain(..).collect())
        }

        fn renew(&mut self) -> Result<(), String> {
            self.renewed += 1;
            if self.may_renew { Ok(()) } else { Err("give another".into()) }
        }

        fn leave(&mut self) {}
    }

    #[test]
    fn every_change_is_answered_once_and_few_are_out() {
        let mut farm = Scripted { to_lose: 2, ..Scripted::new() };
        let (rows, outcome) = studied(&mut Script::changes(100), Some(&mut farm));
        assert_eq!(outcome.unwrap().confusion.total(), 100);
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().all(|row| row.reason == "answered" && row.key.is_some()));
        assert!(farm.most_out <= 2 * 4, "{}", farm.most_out);
    }

    #[test]
    fn chunks_are_as_long_as_is_wanted_and_get_smaller_toward_the_end() {
        let (mut farm, (events, _)) = (Scripted::new(), mpsc::channel());
        let mut tended = Tended::new(&mut farm, Wanted::default(), &events);
        assert_eq!(tended.size(None), 1, "nobody knows yet how long a change takes");
        (tended.milliseconds, tended.found) = (200.0, 10);
        let sizes = [None, Some(400), Some(100), Some(40), Some(8), Some(0)].map(|last| tended.size(last));
        assert_eq!(sizes, [25, 25, 13, 5, 3, 3]);
    }

    #[test]
    fn a_change_that_breaks_its_workers_is_found_out_and_the_others_are_not_blamed() {
        let mut farm = Scripted { poison: "new 13\"", ..Scripted::new() };
        let (rows, outcome) = studied(&mut Script::changes(40), Some(&mut farm));
        assert_eq!(outcome.unwrap().confusion.total(), 40);
        let blamed: Vec<usize> = (0..40).filter(|index| rows[*index].reason != "answered").collect();
        assert_eq!(blamed, [13]);
        assert!(rows[13].reason.starts_with("3 workers were lost with this change"), "{}", rows[13].reason);
        assert_eq!((rows[13].key.as_deref(), farm.renewed), (None, 3));
    }

    #[test]
    fn workers_that_broke_down_for_good_end_the_study_with_what_was_found() {
        let mut farm = Scripted { poison: "new 13\"", may_renew: false, ..Scripted::new() };
        let (rows, outcome) = studied(&mut Script::changes(40), Some(&mut farm));
        assert_eq!(outcome.unwrap_err().to_string(), "the pool broke; give another");
        assert!(rows.len() < 40);
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        let refused = answer_chunk("{}\n", &mut |_, _, _| unreachable!());
        assert!(refused.unwrap_err().starts_with("this is not a chunk of a study"));
    }
}
