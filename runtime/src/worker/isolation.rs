//! Executions that meet nothing of one another: each version of each execution loads the program and runs in a fork of
//! its own. This process runs nothing itself. It only hands on what the forks say.
//!
//! A fork returns its result over a pipe, which the code in it can write to as well. So the result carries a tag of a key
//! for this fork alone, and is bounded, as a worker's messages are. With it come the names of the modules that the fork
//! imported; this process imports the installed ones as well, so that the next forks need not.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use twincell_engine::frame::{self, FrameError, MAX_RECORD, PREFIX, Seal, TAG};
use twincell_engine::protocol::{
    ExecutionRecord, ExecutionRequest, FromWorker, Program, Tested, ToWorker, Unevaluated,
};
use twincell_sandbox::{Limits, lock};

use super::{Host, Line, Serve, WorkerError, fork, lost};
use crate::restore::scratch::Scratch;

/// The maximum number of modules that are taken over from one fork.
const MOST_MODULES: usize = 400;

/// The maximum number of bytes that come from one fork.
const MOST_BYTES: u64 = (PREFIX + TAG + MAX_RECORD) as u64;

/// What a fork says: a result and the names of the modules that it imported, or why there is no result.
type Answer<T> = Result<(T, Vec<String>), String>;

/// Serves a program without running it here.
pub(super) struct Apart<'a> {
    host: &'a mut dyn Host,
    /// Those of each fork.
    limits: Limits,
    /// Whether the system enforces all of them, as the engine was told.
    is_complete: bool,
    scratch: Scratch,
    loaded: Option<(u64, Program)>,
}

impl<'a> Apart<'a> {
    pub fn new(host: &'a mut dyn Host, limits: Limits, is_complete: bool) -> Self {
        let scratch = Scratch::new(limits.scratch.clone());
        Self { host, limits, is_complete, scratch, loaded: None }
    }

    /// The result of some work in a fork that has loaded the program, or why there is none. An error if the code wrote in
    /// the fork's place.
    fn with_program<T: Serialize + DeserializeOwned>(
        &mut self,
        work: impl FnOnce(&mut dyn Host, u64, Vec<Unevaluated>) -> Result<T, String>,
    ) -> Result<Result<T, String>, WorkerError> {
        let Some((program, source)) = self.loaded.take() else { return Ok(Err("no program is loaded".into())) };
        let done = self.in_fork(|host| {
            let unevaluated = host.load(program, source.clone())?;
            host.freeze();
            work(host, program, unevaluated)
        });
        self.loaded = Some((program, source));
        done
    }

    /// The result of some work in a fork, or why there is none. An error if the code wrote in the fork's place.
    fn in_fork<T: Serialize + DeserializeOwned>(
        &mut self,
        work: impl FnOnce(&mut dyn Host) -> Result<T, String>,
    ) -> Result<Result<T, String>, WorkerError> {
        self.scratch.reset();
        let mut seal = Seal::random()?;
        let mut own = seal.clone();
        let known: HashSet<String> = self.host.imported().into_iter().collect();
        let (limits, is_complete) = (&self.limits, self.is_complete);
        let forked = fork::child(self.host, |host, writer| {
            let result = match lock(limits).missing() {
                Some(missing) if is_complete => Err(missing),
                _ => work(host),
            };
            let new: Vec<String> =
                host.imported().into_iter().filter(|name| !known.contains(name)).take(MOST_MODULES).collect();
            answer(writer, &mut own, result.map(|result| (result, new)));
        });
        let (child, reader) = match forked {
            Ok(forked) => forked,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut bytes = Vec::new();
        let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        let ended = fork::wait(child);
        let said = match read.map_err(FrameError::from).and_then(|_| said::<Answer<T>>(&bytes, &mut seal)) {
            Err(FrameError::Forged) => return Err(WorkerError::Forged),
            Err(error) => Err(error.to_string()),
            Ok(said) => said.unwrap_or(Err(ended)),
        };
        Ok(said.map(|(result, mut modules)| {
            modules.truncate(MOST_MODULES);
            let modules = self.host.installed(modules);
            self.host.import(modules);
            result
        }))
    }

    /// Runs each version of a request in its own process. A decision is a function of seed and path, and earlier
    /// decisions are passed on to the next version, so that it is the same execution.
    fn run(&mut self, request: &ExecutionRequest) -> Result<Result<ExecutionRecord, String>, WorkerError> {
        let mut request = request.clone();
        let mut whole: Option<ExecutionRecord> = None;
        for position in 0..request.versions.len() {
            let part = match self.part(&request, position..position + 1)? {
                Ok(part) => part,
                Err(reason) => return Ok(Err(reason)),
            };
            for choice in &part.choices {
                request.fixed.entry(choice.path.clone()).or_insert_with(|| choice.decision.clone());
            }
            match &mut whole {
                Some(whole) => add(whole, part),
                None => whole = Some(part),
            }
        }
        Ok(whole.ok_or_else(|| "the request names no version".into()))
    }

    fn part(
        &mut self,
        request: &ExecutionRequest,
        positions: Range<usize>,
    ) -> Result<Result<ExecutionRecord, String>, WorkerError> {
        let versions = positions.len();
        let part = self.with_program(|host, program, _| host.run(program, request, positions))?;
        // No fork makes another one.
        if part.as_ref().is_ok_and(|part| !part.is_of(request, versions)) { Err(WorkerError::Forged) } else { Ok(part) }
    }
}

impl Serve for Apart<'_> {
    fn answer(&mut self, message: ToWorker, line: &mut Line) -> Result<(), WorkerError> {
        match message {
            // It comes once.
            ToWorker::Begin { .. } => Err(WorkerError::NoKey),
            ToWorker::Load { program, source } => {
                self.host.prepare(&source);
                self.loaded = Some((program, *source));
                let has_versions = self.loaded.as_ref().is_some_and(|(_, source)| !source.versions.is_empty());
                let loaded = match has_versions {
                    true => self.with_program(|_, _, unevaluated| Ok(unevaluated))?,
                    // It is for scripts.
                    false => Ok(Vec::new()),
                };
                line.loaded(program, loaded)
            }
            ToWorker::Predict { program, source } => {
                self.loaded = Some((program, *source));
                line.loaded(program, Ok(Vec::new()))
            }
            ToWorker::Run { program, requests } => {
                for request in &requests {
                    let ran = self.run(request)?;
                    line.ran(program, ran)?;
                }
                line.send(&FromWorker::Done { program, tainted: false })
            }
            ToWorker::Test { program, source, subject, elsewhere } => {
                let tested =
                    self.with_program(|host, program, _| Ok(host.test(program, &source, &subject, elsewhere)))?;
                let failed = |reason| Tested { failure: Some(reason), ..Tested::default() };
                line.send(&FromWorker::Tested { program, tested: tested.unwrap_or_else(failed) })
            }
            ToWorker::Script { program, script } => {
                let ran = self.in_fork(|host| Ok(host.script(&script)))?;
                line.send(&FromWorker::Ran { program, ran: ran.unwrap_or_else(lost) })
            }
            ToWorker::Inspect { program } => line.send(&FromWorker::Inspected { program, tainted: false }),
        }
    }
}

/// Adds what the next version did.
fn add(whole: &mut ExecutionRecord, part: ExecutionRecord) {
    let known: HashSet<String> = whole.choices.iter().map(|choice| choice.path.clone()).collect();
    whole.choices.extend(part.choices.into_iter().filter(|choice| !known.contains(&choice.path)));
    whole.injections.extend(part.injections.into_iter().filter(|injection| !known.contains(injection.path.as_str())));
    whole.behaviors.extend(part.behaviors);
    for observation in part.observations {
        if !whole.observations.contains(&observation) {
            whole.observations.push(observation);
        }
    }
    whole.synthesized.extend(part.synthesized);
    whole.failed.extend(part.failed);
    whole.inside.extend(part.inside);
    whole.microseconds = whole.microseconds.saturating_add(part.microseconds);
}

/// Writes the result of a fork.
fn answer<T: Serialize>(writer: &mut File, seal: &mut Seal, answer: Answer<T>) {
    let bytes = encode(&answer)
        .or_else(|error| encode(&Answer::<T>::Err(format!("what was observed cannot be sent: {error}"))));
    if let Ok(bytes) = bytes {
        // If nobody reads it, nobody waits for it.
        let _ = writer.write_all(&seal.close(bytes));
    }
}

fn encode<T: Serialize>(answer: &Answer<T>) -> Result<Vec<u8>, FrameError> {
    let bytes = frame::encode(answer, MAX_RECORD)?;
    frame::bounded_parts(&bytes[PREFIX..])?;
    Ok(bytes)
}

/// The message of a fork, from all that came through its pipe. `None` if the fork ended before it was complete.
fn said<M: DeserializeOwned>(bytes: &[u8], seal: &mut Seal) -> Result<Option<M>, FrameError> {
    let Some((prefix, body)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = frame::announced(*prefix, MAX_RECORD + TAG).map_err(|_| FrameError::Forged)?;
    match body.len() {
        shorter if shorter < length => Ok(None),
        longer if longer > length => Err(FrameError::Forged),
        _ => {
            let body = seal.open(body)?;
            frame::bounded_parts(body)?;
            frame::decode(body).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_fork_itself_says_is_believed_and_nothing_beside_it() {
        let seal = Seal::random().unwrap();
        let said = |bytes: &[u8]| said::<Answer<u32>>(bytes, &mut seal.clone());
        let plain = encode(&Answer::Ok((3, vec!["os".into()]))).unwrap();
        let whole = seal.clone().close(plain.clone());
        assert_eq!(said(&whole).unwrap(), Some(Ok((3, vec!["os".into()]))));
        assert!((0..whole.len()).all(|length| matches!(said(&whole[..length]), Ok(None))));
        let of_another = Seal::random().unwrap().close(plain.clone());
        let twice = [&whole[..], &whole].concat();
        for forged in [plain, of_another, twice, [&whole[..], b"x"].concat(), vec![255; 64]] {
            assert!(matches!(said(&forged), Err(FrameError::Forged)), "{forged:?}");
        }
    }
}
