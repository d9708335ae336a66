//! Lends workers to threads, one for each program, and replaces those that die.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use twincell_values::value::AbstractValue;

use super::link::{Broken, Worker};
use super::nursery::Nursery;
use super::protocol::{
    End, ExecutionRecord, ExecutionRequest, FromWorker, Isolation, MAX_FRAME, Program, SandboxReport, Script,
    ScriptRun, Tested, ToWorker, Unevaluated, cut, cut_notes,
};
use super::{EngineError, Executed, PoolOptions, Stop, WorkerInfo, frame};

/// The number of workers that may be lost while loading a program before it is given up.
const LOAD_ATTEMPTS: u32 = 3;
/// The maximum size of a program's records in bytes, and the maximum number of their parts. The engine keeps them until
/// they are compared.
const MAX_RECEIVED: u64 = 128 << 20;
const MAX_PARTS_RECEIVED: u64 = 16 << 20;

/// Sandboxed worker processes. Threads share the pool, and each takes its own worker with [`WorkerPool::load`]. A clone
/// shares the limit, and what the workers are forked from.
#[derive(Debug, Clone)]
pub struct WorkerPool {
    lender: Arc<Lender>,
    stop: Stop,
}

#[derive(Debug)]
struct Lender {
    options: PoolOptions,
    nursery: Nursery,
    /// The number of workers that each thread asked for and has.
    lent: Mutex<HashMap<ThreadId, usize>>,
    returned: Condvar,
    next_program: AtomicU64,
    enforced: OnceLock<SandboxReport>,
}

/// A program loaded into one worker, which it holds until it is dropped.
#[derive(Debug)]
pub struct Loaded<'pool> {
    pool: &'pool Lender,
    stop: Stop,
    /// The thread that asked for it.
    holder: ThreadId,
    /// `None` after a loss, until the next worker has the program.
    worker: Option<Worker>,
    program: u64,
    /// The size of its records in bytes, and the number of their parts.
    received: u64,
    parts: u64,
    /// The message that loads the program.
    load: Vec<u8>,
    /// What is imported before it arrives.
    imports: Vec<String>,
    isolation: Isolation,
    /// What could not be evaluated in a module.
    pub unevaluated: Vec<Unevaluated>,
    /// Executions left something in a worker that could not be restored, as far as is known.
    tainted: bool,
    /// The code wrote to the connection of its worker.
    pub forged: bool,
}

impl WorkerPool {
    /// Makes a pool. No process starts yet.
    pub fn new(options: PoolOptions) -> Self {
        let lender = Lender {
            nursery: Nursery::new(options.clone()),
            options,
            lent: Mutex::default(),
            returned: Condvar::new(),
            next_program: AtomicU64::new(1),
            enforced: OnceLock::new(),
        };
        Self { lender: Arc::new(lender), stop: Stop::default() }
    }

    /// The same workers, whose work for this clone ends soon after `stop` is asked to.
    pub fn stopped_by(&self, stop: &Stop) -> Self {
        Self { lender: self.lender.clone(), stop: stop.clone() }
    }

    /// The same workers, whose work for this clone also ends soon after this time.
    pub fn until(&self, deadline: Instant) -> Self {
        self.stopped_by(&self.stop.at(deadline))
    }

    /// Whether work for this clone ended because its time was over.
    pub fn was_cut(&self) -> bool {
        self.stop.has_cut()
    }

    /// Starts a worker, and returns what it enforces.
    pub fn info(&self) -> Result<WorkerInfo, EngineError> {
        self.lender.info()
    }

    /// What workers enforce, once one has run.
    pub fn enforced(&self) -> Option<SandboxReport> {
        self.lender.enforced.get().cloned()
    }

    /// A folder for copies of projects, whose modules programs can then import ([`ModulePath`](twincell_repo::ModulePath)). Workers only read there. It goes
    /// with the pool.
    pub fn projects(&self) -> Result<PathBuf, EngineError> {
        self.lender.nursery.projects()
    }

    /// Whether programs may run here: an error where the system does not enforce all that the sandbox promises.
    pub fn check(&self) -> Result<(), EngineError> {
        self.lender.check(&self.info()?)
    }

    /// Starts a worker, if need be after another one has ended, and loads a program into it. A thread that already holds
    /// a program does not wait for another worker, since it might wait for itself. Then there is one worker beyond the
    /// limit.
    pub fn load(&self, program: &Program) -> Result<Loaded<'_>, EngineError> {
        self.lender.load(program, &self.stop)
    }
}

impl Lender {
    fn info(&self) -> Result<WorkerInfo, EngineError> {
        let holder = self.reserve();
        let info = self.nursery.worker(&[], false).map(|(worker, _)| worker.info.clone());
        self.give_back(holder);
        info
    }

    fn check(&self, info: &WorkerInfo) -> Result<(), EngineError> {
        match info.sandbox.missing() {
            Some(missing) if !self.options.allow_incomplete => Err(EngineError::Sandbox { missing }),
            _ => Ok(()),
        }
    }

    fn load(&self, program: &Program, stop: &Stop) -> Result<Loaded<'_>, EngineError> {
        let number = self.next_program.fetch_add(1, Ordering::Relaxed);
        let message = ToWorker::Load { program: number, source: Box::new(program.clone()) };
        let load = frame::encode(&message, MAX_FRAME).map_err(|error| EngineError::Load(error.to_string()))?;
        let holder = self.reserve();
        // From here on, dropping `loaded` returns the reservation.
        let stop = stop.clone();
        let mut loaded = Loaded {
            pool: self,
            stop,
            holder,
            worker: None,
            program: number,
            received: 0,
            parts: 0,
            load,
            imports: program.imports.clone(),
            isolation: program.isolation,
            unevaluated: Vec::new(),
            tainted: false,
            forged: false,
        };
        loaded.ensure()?;
        Ok(loaded)
    }

    /// Waits until one more worker may be lent out, and counts it for this thread.
    fn reserve(&self) -> ThreadId {
        let holder = std::thread::current().id();
        let mut lent = self.lent();
        while lent.values().sum::<usize>() >= self.options.workers.max(1) && !lent.contains_key(&holder) {
            lent = self.returned.wait(lent).unwrap_or_else(PoisonError::into_inner);
        }
        *lent.entry(holder).or_default() += 1;
        holder
    }

    /// Ends a thread's reservation.
    fn give_back(&self, holder: ThreadId) {
        if let Entry::Occupied(mut count) = self.lent().entry(holder) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        self.returned.notify_one();
    }

    fn lent(&self) -> MutexGuard<'_, HashMap<ThreadId, usize>> {
        // It is consistent between any two statements, so a panic elsewhere does not damage it.
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loaded<'_> {
    /// Runs a batch and returns one outcome for each request, in order, except for requests that a stop leaves undone.
    /// If a worker dies or overruns, it is replaced, the program is loaded again, and the rest of the batch runs there.
    /// A request whose worker was killed or stopped from outside is repeated once. If that worker ends in the same way,
    /// the code is to blame.
    pub fn run(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        let mut done = Vec::with_capacity(requests.len());
        let mut rest = requests;
        // Whether the first of the rest is being repeated.
        let mut again = false;
        while !rest.is_empty() && !self.stop.is_asked() {
            if let Some(most) = self.has_received_too_much() {
                let reason = format!("what was observed before has more than {most} already");
                done.extend(rest.iter().map(|request| lost(request, reason.clone())));
                break;
            }
            if let Err(error) = self.ensure() {
                if matches!(error, EngineError::Stopped) {
                    break;
                }
                if done.is_empty() {
                    return Err(error);
                }
                // Finished outcomes are kept.
                done.extend(rest.iter().map(|request| lost(request, error.to_string())));
                break;
            }
            let finished;
            (finished, again) = self.attempt(rest.clone(), again);
            rest.drain(..finished.len().min(rest.len()));
            done.extend(finished);
        }
        Ok(done)
    }

    /// Goes on with other predictions for the same program, whose modules are not evaluated again.
    pub fn predict(&mut self, source: &Program) -> Result<(), EngineError> {
        let encode = |message: &ToWorker| {
            frame::encode(message, MAX_FRAME).map_err(|error| EngineError::Load(error.to_string()))
        };
        let source = Box::new(source.clone());
        self.load = encode(&ToWorker::Load { program: self.program, source: source.clone() })?;
        // A worker that was lost meanwhile is replaced by one that loads the program as it is now.
        let Some(mut worker) = self.worker.take() else { return Ok(()) };
        let message = encode(&ToWorker::Predict { program: self.program, source })?;
        match load(&mut worker, &message, self.program, self.pool.options.load_deadline, || ()) {
            Ok(Ok(_)) => self.worker = Some(worker),
            Ok(Err(refused)) => {
                self.worker = Some(worker);
                return Err(EngineError::Load(refused));
            }
            Err(Broken::Stopped) => return Err(EngineError::Stopped),
            Err(broken) => {
                worker.end(broken);
            }
        }
        Ok(())
    }

    /// Runs a file's tests in the worker that has the program, without hooks; for `elsewhere` see [`ToWorker::Test`]. A
    /// worker that dies or overruns is replaced when the next batch needs one.
    pub fn test(&mut self, source: &str, subject: &str, elsewhere: u32) -> Result<Tested, EngineError> {
        self.ensure()?;
        let Some(mut worker) = self.worker.take() else { return Err(EngineError::Test("there is none".into())) };
        let deadline = self.pool.options.deadline;
        let (source, subject) = (source.into(), subject.into());
        let message = ToWorker::Test { program: self.program, source, subject, elsewhere };
        let answer = frame::encode(&message, MAX_FRAME)
            .map_err(Broken::from)
            .and_then(|frame| worker.send(&frame, deadline))
            .and_then(|()| worker.receive(deadline));
        match answer {
            Ok(FromWorker::Tested { program, tested }) if program == self.program => {
                self.worker = Some(worker);
                let all = |texts: Vec<String>| texts.into_iter().map(cut).collect();
                Ok(Tested {
                    failure: tested.failure.map(cut),
                    lacking: tested.lacking.map(cut),
                    effects: all(tested.effects),
                    unread: all(tested.unread),
                    waited: tested.waited,
                })
            }
            Ok(_) => Err(EngineError::Test(worker.end(Broken::Hostile("no answer to a test".into())).description)),
            Err(broken) => Err(EngineError::Test(worker.end(broken).description)),
        }
    }

    /// Runs a snippet behind a prefix. The program must be one of [`Isolation::Process`]; it may have no versions. A worker
    /// that overruns is replaced when the next script needs one.
    pub fn script(&mut self, script: Script) -> Result<ScriptRun, EngineError> {
        self.ensure()?;
        let lost = |reason| ScriptRun { lines: vec![], completed: vec![], end: End::Lost { reason } };
        let Some(mut worker) = self.worker.take() else { return Ok(lost("there is no worker".into())) };
        let deadline = self.pool.options.deadline;
        let lines = script.snippet.lines().count();
        let message = ToWorker::Script { program: self.program, script };
        let answer = frame::encode(&message, MAX_FRAME)
            .map_err(Broken::from)
            .and_then(|frame| worker.send(&frame, deadline))
            .and_then(|()| worker.receive(deadline));
        let broken = match answer {
            Ok(FromWorker::Ran { program, ran }) if program == self.program => {
                self.worker = Some(worker);
                return Ok(ran.cut(lines));
            }
            Ok(_) => Broken::Hostile("no answer to a script".into()),
            Err(Broken::Stopped) => return Err(EngineError::Stopped),
            Err(broken) => broken,
        };
        Ok(lost(worker.end(broken).description))
    }

    /// The number of bytes that each version of each execution loads anew: none where all run in one process.
    pub fn loaded_anew(&self) -> usize {
        if self.isolation == Isolation::Process { self.load.len() } else { 0 }
    }

    /// Whether executions left something in a worker that could not be restored, which later executions may have seen.
    pub fn is_tainted(&mut self) -> bool {
        // What a lost worker held is gone with it.
        let Some(mut worker) = self.worker.take() else { return self.tainted };
        let deadline = self.pool.options.deadline;
        let answer = frame::encode(&ToWorker::Inspect { program: self.program }, MAX_FRAME)
            .map_err(Broken::from)
            .and_then(|frame| worker.send(&frame, deadline))
            .and_then(|()| worker.receive(deadline));
        let broken = match answer {
            Ok(FromWorker::Inspected { program, tainted }) if program == self.program => {
                self.tainted |= tainted;
                self.worker = Some(worker);
                return self.tainted;
            }
            Ok(_) => Broken::Hostile("no answer to an inspection".into()),
            // Nobody waits for what would have to be repeated.
            Err(Broken::Stopped) => return self.tainted,
            Err(broken) => broken,
        };
        worker.end(broken);
        // What executions did that keeps a worker from answering, later ones may have seen.
        self.tainted = true;
        true
    }

    /// Makes sure that a worker has the program.
    fn ensure(&mut self) -> Result<(), EngineError> {
        let mut reason = String::new();
        let mut times = 0;
        while times < LOAD_ATTEMPTS {
            if self.worker.is_some() {
                return Ok(());
            }
            if self.stop.is_asked() {
                return Err(EngineError::Stopped);
            }
            let (mut worker, kind) = self.pool.nursery.worker(&self.imports, self.isolation == Isolation::Process)?;
            self.pool.check(&worker.info)?;
            self.pool.enforced.get_or_init(|| worker.info.sandbox.clone());
            worker.stop = self.stop.clone();
            let limit = self.pool.options.load_deadline;
            // While this worker loads its program, the next one is forked.
            let fork_ahead = || self.pool.nursery.fork_ahead(kind);
            match load(&mut worker, &self.load, self.program, limit, fork_ahead) {
                Ok(Ok(unevaluated)) => {
                    self.unevaluated = unevaluated;
                    self.worker = Some(worker);
                }
                Ok(Err(refused)) => {
                    self.worker = Some(worker);
                    return Err(EngineError::Load(refused));
                }
                Err(Broken::Stopped) => return Err(EngineError::Stopped),
                Err(broken) => {
                    if matches!(broken, Broken::Forged) {
                        return Err(EngineError::Forged);
                    }
                    let overran = matches!(broken, Broken::Overran(_));
                    let ended = worker.end(broken);
                    times += 1;
                    reason = ended.description;
                    if overran && !ended.from_outside {
                        // It would end again.
                        break;
                    }
                }
            }
        }
        match self.worker {
            Some(_) => Ok(()),
            None => Err(EngineError::Dies { times, reason }),
        }
    }

    /// The bound that the program's records exceed.
    fn has_received_too_much(&self) -> Option<String> {
        if self.received > MAX_RECEIVED {
            return Some(format!("{} MiB", MAX_RECEIVED >> 20));
        }
        (self.parts > MAX_PARTS_RECEIVED).then(|| format!("{MAX_PARTS_RECEIVED} parts"))
    }

    /// Runs requests on the present worker until all are done or the worker is lost. Returns at least one outcome,
    /// unless the second value asks to repeat the request after those done. `again` says that this already happened.
    fn attempt(&mut self, requests: Vec<ExecutionRequest>, again: bool) -> (Vec<Executed>, bool) {
        let deadline = self.pool.options.deadline;
        let mut done = Vec::with_capacity(requests.len());
        let Some(mut worker) = self.worker.take() else { return (done, again) };
        let message = ToWorker::Run { program: self.program, requests };
        let sent = match frame::encode(&message, MAX_FRAME) {
            Ok(frame) => worker.send(&frame, deadline),
            Err(error) => Err(error.into()),
        };
        let ToWorker::Run { requests, .. } = message else { return (done, again) };
        let mut outcome = sent;
        for request in &requests {
            if outcome.is_err() {
                break;
            }
            let (bytes, parts) = worker.received();
            let answer = worker.receive(deadline).and_then(|answer| answer_to(request, self.program, answer));
            self.received += worker.received().0 - bytes;
            self.parts += worker.received().1 - parts;
            match (answer, self.has_received_too_much()) {
                (Ok(_), Some(most)) => outcome = Err(Broken::Hostile(format!("records of more than {most}"))),
                (Ok(executed), None) => done.push(executed),
                (Err(broken), _) => outcome = Err(broken),
            }
        }
        let outcome = outcome.and_then(|()| match worker.receive(deadline)? {
            FromWorker::Done { program, tainted } if program == self.program => {
                self.tainted |= tainted;
                Ok(())
            }
            _ => Err(Broken::Hostile("more than was asked for".into())),
        });
        match outcome {
            Ok(()) => {
                self.worker = Some(worker);
                (done, false)
            }
            Err(Broken::Stopped) => (done, false),
            Err(broken) => {
                self.forged |= matches!(broken, Broken::Forged);
                let ended = worker.end(broken);
                if ended.from_outside && !(again && done.is_empty()) {
                    return (done, true);
                }
                done.extend(requests.get(done.len()).map(|request| lost(request, ended.description)));
                (done, false)
            }
        }
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // What was done for this program ends with its process.
        if let Some(worker) = self.worker.take() {
            self.pool.nursery.end(worker);
        }
        self.pool.give_back(self.holder);
    }
}

/// Loads a program. Returns what of its modules could not be evaluated, or why it cannot be loaded. `meanwhile` runs
/// while the worker loads it.
fn load(
    worker: &mut Worker,
    message: &[u8],
    number: u64,
    deadline: Duration,
    meanwhile: impl FnOnce(),
) -> Result<Result<Vec<Unevaluated>, String>, Broken> {
    worker.send(message, deadline)?;
    meanwhile();
    match worker.receive(deadline)? {
        FromWorker::Loaded { program, unevaluated } if program == number => Ok(Ok(cut_notes(unevaluated))),
        FromWorker::Failed { program, reason } if program == number => Ok(Err(cut(reason))),
        _ => Err(Broken::Hostile("no answer to a load".into())),
    }
}

/// The outcome in a message, if it answers the request.
fn answer_to(request: &ExecutionRequest, number: u64, answer: FromWorker) -> Result<Executed, Broken> {
    match answer {
        FromWorker::Record { program, record } if program == number && fits(&record, request) => {
            Ok(Executed::Record(Box::new(record.within(request))))
        }
        FromWorker::Failed { program, reason } if program == number => Ok(lost(request, cut(reason))),
        _ => Err(Broken::Hostile("no answer to the request".into())),
    }
}

/// Whether a record can belong to the request. Code under comparison may have forged it.
fn fits(record: &ExecutionRecord, request: &ExecutionRequest) -> bool {
    let classes_fit = |classes: &[f32]| {
        (classes.is_empty() || classes.len() == AbstractValue::COUNT) && classes.iter().all(|share| share.is_finite())
    };
    record.is_of(request, request.versions.len())
        && record.injections.iter().all(|injection| classes_fit(&injection.classes))
}

fn lost(request: &ExecutionRequest, reason: String) -> Executed {
    Executed::Lost { index: request.index, reason }
}

#[cfg(test)]
mod tests {
    use super::super::observed::{Behavior, Observed, Outcome};
    use super::super::protocol::Injection;
    use super::*;
    use twincell_values::value::{Choice, Decision, Recipe};

    #[test]
    fn an_exception_is_the_codes_own_only_on_values_that_a_person_gave() {
        let path = || "x".to_owned();
        let given = |value: Recipe| ExecutionRequest {
            fixed: [(path(), Decision::Value(value))].into(),
            given: true,
            ..ExecutionRequest::default()
        };
        let is_own = |request: &ExecutionRequest, choice: &str, value: Recipe, synthesized: &[&str]| {
            let exception = Observed::Exception { class: "TypeError".into(), arguments: vec![] };
            let outcome = Outcome::Raised { exception, intended: false, line: 1, message: String::new() };
            let record = ExecutionRecord {
                choices: vec![Choice { path: choice.into(), decision: Decision::Value(value) }],
                behaviors: vec![Behavior::new(outcome)],
                synthesized: synthesized.iter().map(|path| (*path).to_owned()).collect(),
                // The worker may say what it wants.
                given: true,
                ..ExecutionRecord::default()
            };
            let record = record.within(request);
            assert_eq!(record.given, record.behaviors[0].outcome.is_valid());
            record.given
        };
        assert!(is_own(&given(Recipe::Int(1)), "x", Recipe::Int(1), &[]));
        assert!(!is_own(&given(Recipe::Int(1)), "y", Recipe::Int(1), &[]));
        assert!(!is_own(&given(Recipe::Int(1)), "x", Recipe::Int(1), &["x.name"]));
        let object = || Recipe::Mock(AbstractValue::Object);
        assert!(!is_own(&given(object()), "x", object(), &[]));
        let drawn = ExecutionRequest { given: false, ..given(Recipe::Int(1)) };
        assert!(!is_own(&drawn, "x", Recipe::Int(1), &[]));
    }

    #[test]
    fn a_record_with_forged_classes_does_not_fit() {
        let request = ExecutionRequest { versions: vec![], ..ExecutionRequest::default() };
        let fits_with = |classes: Vec<f32>| {
            let (path, value) = ("x".into(), Recipe::None);
            let injection =
                Injection { path, value, kind: None, version: 0, line: 0, probability: 1.0, classes, written: None };
            let record = ExecutionRecord { injections: vec![injection], ..ExecutionRecord::default() };
            fits(&ExecutionRecord { index: request.index, seed: request.seed, ..record }, &request)
        };
        assert!(fits_with(vec![]) && fits_with(vec![0.1; AbstractValue::COUNT]));
        assert!(!fits_with(vec![1.0]) && !fits_with(vec![f32::NAN; AbstractValue::COUNT]));
    }
}
