//! Executions that meet nothing of one another: each version of each execution loads the program and runs in a fork of
//! its own. This process runs nothing itself. It only hands on what the forks say.
//!
//! A fork returns its result over a pipe. The result is decoded like a message from a stranger. With it come the names
//! of the modules that the fork imported; this process imports the installed ones as well, so that the next forks need
//! not.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use twincell_engine::frame::{self, MAX_RECORD};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, FromWorker, Program, ToWorker, Unevaluated};

use super::{Host, Line, Serve, WorkerError, fork};
use crate::restore::scratch::Scratch;
use crate::sandbox::{self, Limits};

/// The bytes around a result that identify it.
const AROUND: u64 = 1024;

/// The maximum number of modules that are taken over from one fork.
const MOST_MODULES: usize = 400;

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

    /// The result of some work in a fork that has loaded the program, or why there is none.
    fn in_fork<T: Serialize + DeserializeOwned>(
        &mut self,
        work: impl FnOnce(&mut dyn Host, u64, Vec<Unevaluated>) -> Result<T, String>,
    ) -> Result<T, String> {
        let Some((program, source)) = &self.loaded else { return Err("no program is loaded".into()) };
        self.scratch.reset();
        let known: HashSet<String> = self.host.imported().into_iter().collect();
        let (limits, is_complete) = (&self.limits, self.is_complete);
        let (child, reader) = fork::child(self.host, |host, writer| {
            let result = match sandbox::lock(limits).missing() {
                Some(missing) if is_complete => Err(missing),
                _ => host.load(*program, source.clone()).and_then(|unevaluated| work(host, *program, unevaluated)),
            };
            let new: Vec<String> =
                host.imported().into_iter().filter(|name| !known.contains(name)).take(MOST_MODULES).collect();
            answer(writer, result.map(|result| (result, new)));
        })?;
        let mut bytes = Vec::new();
        let read = reader.take(MAX_RECORD as u64 + AROUND).read_to_end(&mut bytes);
        let ended = fork::wait(child);
        let result =
            read.ok().and_then(|_| frame::read::<Result<(T, Vec<String>), String>>(&mut bytes.as_slice()).ok()?);
        let (result, modules) = result.unwrap_or(Err(ended))?;
        let modules = self.host.installed(modules);
        self.host.import(modules);
        Ok(result)
    }

    /// Runs each version of a request in its own process. A decision is a function of seed and path, and earlier
    /// decisions are passed on to the next version, so that it is the same execution.
    fn run(&mut self, request: &ExecutionRequest) -> Result<ExecutionRecord, String> {
        let mut request = request.clone();
        let mut whole: Option<ExecutionRecord> = None;
        for position in 0..request.versions.len() {
            let part = self.part(&request, position..position + 1)?;
            for choice in &part.choices {
                request.fixed.entry(choice.path.clone()).or_insert_with(|| choice.decision.clone());
            }
            match &mut whole {
                Some(whole) => add(whole, part),
                None => whole = Some(part),
            }
        }
        whole.ok_or_else(|| "the request names no version".into())
    }

    fn part(&mut self, request: &ExecutionRequest, positions: Range<usize>) -> Result<ExecutionRecord, String> {
        self.in_fork(|host, program, _| host.run(program, request, positions))
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
                let loaded = self.in_fork(|_, _, unevaluated| Ok(unevaluated));
                line.loaded(program, loaded)
            }
            ToWorker::Predict { program, source } => {
                self.loaded = Some((program, *source));
                line.loaded(program, Ok(Vec::new()))
            }
            ToWorker::Run { program, requests } => {
                for request in &requests {
                    let ran = self.run(request);
                    line.ran(program, ran)?;
                }
                line.send(&FromWorker::Done { program, tainted: false })
            }
            ToWorker::Test { program, source, subject } => {
                let tested = self.in_fork(|host, program, _| Ok(host.test(program, &source, &subject)));
                let (failure, effects) = tested.unwrap_or_else(|reason| (Some(reason), Vec::new()));
                line.send(&FromWorker::Tested { program, failure, effects })
            }
            ToWorker::Inspect { program } => line.send(&FromWorker::Inspected { program, tainted: false }),
        }
    }
}

/// Adds what the next version did.
fn add(whole: &mut ExecutionRecord, part: ExecutionRecord) {
    let known: HashSet<String> = whole.choices.iter().map(|choice| choice.path.clone()).collect();
    whole.choices.extend(part.choices.into_iter().filter(|choice| !known.contains(&choice.path)));
    whole.injections.extend(part.injections.into_iter().filter(|injection| !known.contains(&injection.path)));
    whole.behaviors.extend(part.behaviors);
    for observation in part.observations {
        if !whole.observations.contains(&observation) {
            whole.observations.push(observation);
        }
    }
    whole.forced.extend(part.forced);
    whole.microseconds = whole.microseconds.saturating_add(part.microseconds);
}

fn answer<T: Serialize>(writer: &mut File, answer: Result<T, String>) {
    let bytes = frame::encode(&answer, MAX_RECORD).or_else(|error| {
        frame::encode(&Err::<T, String>(format!("what was observed cannot be sent: {error}")), MAX_RECORD)
    });
    if let Ok(bytes) = bytes {
        // If nobody reads it, nobody waits for it.
        let _ = writer.write_all(&bytes);
    }
}
