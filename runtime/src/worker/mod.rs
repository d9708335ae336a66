//! The worker's side of the engine's protocol. A zygote ([`serve`]) forks workers and never runs a program. A worker
//! locks the sandbox, says hello, and serves one program until nobody asks any more.
//!
//! The [`Host`] interprets programs. Nothing here touches a Python object.

mod consumer;
mod fork;
mod globals;
mod host;
mod identities;
mod isolation;
mod janitor;
mod libraries;
mod module;
mod outcome;
mod own_uses;
mod passed_on;
mod providers;
mod script;
mod snippet;
mod tree;
mod version;
mod zygote;

use std::io::Write;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use twincell_engine::frame::{self, FrameError, MAX_RECORD, Seal};
use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_engine::protocol::{
    End, ExecutionRecord, ExecutionRequest, Fork, FromWorker, PROTOCOL_VERSION, Program, Script, ScriptRun, Tested,
    ToWorker, Unevaluated,
};
use twincell_sandbox::{Limits, Processes, lock};

use crate::restore::scratch::Scratch;

pub use host::PythonHost;
pub use zygote::serve;

/// The maximum number of open files of a worker.
const OPEN_FILES: u64 = 256;

/// Runs programs for the messages that a worker receives.
pub trait Host {
    /// Gets ready for programs, in a process that is locked in. With `finish`, Python first does what its start has left
    /// out, which may be foreign code.
    fn start(&mut self, _finish: bool) -> Result<(), String> {
        Ok(())
    }

    /// Those of the modules, and of the packages that hold them, that are installed and not imported yet. Nothing is
    /// imported.
    fn installed(&mut self, modules: Vec<String>) -> Vec<String>;

    /// Imports modules, where this works, for all processes that are forked from this one. Whether it has one thread
    /// only, so that a fork has all of it.
    fn import(&mut self, modules: Vec<String>) -> bool;

    /// The names of all modules that are imported.
    fn imported(&self) -> Vec<String>;

    /// Calls a function that forks this process, with what the interpreter does before and after. It returns 0 in the
    /// fork.
    fn fork(&mut self, fork: &dyn Fn() -> libc::pid_t) -> libc::pid_t {
        fork()
    }

    /// Gets ready for a program in a process that was forked for it, with a folder of its own.
    fn begin(&mut self, folder: &Path) -> Result<(), String>;

    /// Does what forks that will load a program can share, without running any of it.
    fn prepare(&mut self, _source: &Program) {}

    /// Compiles a program and keeps it under a number, replacing any program with this number. Returns the parts
    /// of a module that could not be evaluated.
    fn load(&mut self, program: u64, source: Program) -> Result<Vec<Unevaluated>, String>;

    /// Takes what is in memory from sight: code that lists the objects of this process finds those made from now on, since
    /// the others belong to all versions. Nothing of it is freed, so this is for a process that loads nothing after it.
    fn freeze(&mut self) {}

    /// Gives a loaded program other predictions. `source` is the same program with them.
    fn predict(&mut self, program: u64, source: Program) -> Result<(), String>;

    /// Whether a program left this process in a state that its next execution should not meet. This is asked when a
    /// campaign ends.
    fn is_tainted(&mut self) -> bool {
        false
    }

    /// The same as far as a glance tells. This is asked after each batch.
    fn seems_tainted(&mut self) -> bool {
        false
    }

    /// Runs the tests of a file unchanged on a version of a loaded program; for `elsewhere` see [`ToWorker::Test`].
    fn test(&mut self, program: u64, source: &str, subject: &str, elsewhere: u32) -> Tested;

    /// Runs a snippet behind a prefix, in a process that does nothing else.
    fn script(&mut self, script: &Script) -> ScriptRun;

    /// Executes versions of a loaded program: those at these positions of the request. `Err` says why there can be no
    /// record. The worker continues.
    fn run(
        &mut self,
        program: u64,
        request: &ExecutionRequest,
        positions: Range<usize>,
    ) -> Result<ExecutionRecord, String>;
}

/// What the starting process tells a zygote.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The inherited end of the socket pair. [`serve`] takes it over.
    pub socket: i32,
    /// The folder that holds those of the workers.
    pub folder: PathBuf,
    /// The files and folders that Python needs to read: its own, and what imports can find.
    pub readable: Vec<PathBuf>,
    /// The folders in which imports look.
    pub listable: Vec<PathBuf>,
    /// The version of Python, for reports.
    pub python: String,
    /// Whether foreign code may run although the sandbox is not complete.
    pub incomplete: bool,
}

/// Why a process ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("{0} is not a socket of the engine: twincell itself starts workers, do not start one by hand")]
    Socket(i32),
    #[error("what the engine said first was no key")]
    NoKey,
    #[error("{0}")]
    Begin(String),
    #[error("the code wrote in the place of its process")]
    Forged,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A worker's connection to the engine.
struct Line {
    socket: UnixStream,
    seal: Seal,
}

/// What the worker does with messages about its program.
trait Serve {
    fn answer(&mut self, message: ToWorker, line: &mut Line) -> Result<(), WorkerError>;
}

/// Locks this process, which was forked for one program, irrevocably, and serves the engine until it closes the
/// connection.
fn work(mut socket: UnixStream, fork: &Fork, setup: &Setup, host: &mut dyn Host) -> Result<(), WorkerError> {
    let Some(ToWorker::Begin { key }) = frame::read(&mut socket)? else { return Err(WorkerError::NoKey) };
    let mut line = Line { socket, seal: Seal::new(key) };
    host.begin(&fork.folder).map_err(WorkerError::Begin)?;
    let limits = Limits {
        scratch: fork.folder.clone(),
        readable: setup.readable.clone(),
        listable: setup.listable.clone(),
        memory_bytes: fork.memory_bytes,
        open_files: OPEN_FILES,
        processes: if fork.forks { Processes::Forks } else { Processes::None },
    };
    let sandbox = lock(&limits);
    let is_complete = sandbox.is_complete();
    let hello = FromWorker::Hello {
        protocol: PROTOCOL_VERSION,
        twincell: env!("CARGO_PKG_VERSION").into(),
        python: setup.python.clone(),
        sandbox,
    };
    line.send(&hello)?;
    let mut serve: Box<dyn Serve + '_> = if fork.forks {
        Box::new(isolation::Apart::new(host, Limits { processes: Processes::None, ..limits }, is_complete))
    } else {
        Box::new(Together { host, scratch: Scratch::new(fork.folder.clone()) })
    };
    while let Some(message) = frame::read::<ToWorker>(&mut line.socket)? {
        match serve.answer(message, &mut line) {
            Err(WorkerError::Forged) => return line.send(&FromWorker::Forged),
            answered => answered?,
        }
    }
    Ok(())
}

/// All executions in this process, one after the other.
struct Together<'a> {
    host: &'a mut dyn Host,
    scratch: Scratch,
}

impl Serve for Together<'_> {
    fn answer(&mut self, message: ToWorker, line: &mut Line) -> Result<(), WorkerError> {
        match message {
            // It comes once.
            ToWorker::Begin { .. } => Err(WorkerError::NoKey),
            ToWorker::Load { program, source } => {
                self.scratch.reset();
                let loaded = self.host.load(program, *source);
                line.loaded(program, loaded)
            }
            ToWorker::Predict { program, source } => {
                let predicted = self.host.predict(program, *source);
                line.loaded(program, predicted.map(|()| Vec::new()))
            }
            ToWorker::Run { program, requests } => {
                for request in &requests {
                    self.scratch.reset();
                    let ran = self.host.run(program, request, 0..request.versions.len());
                    line.ran(program, ran)?;
                }
                line.send(&FromWorker::Done { program, tainted: self.host.seems_tainted() })
            }
            ToWorker::Test { program, source, subject, elsewhere } => {
                self.scratch.reset();
                let tested = self.host.test(program, &source, &subject, elsewhere);
                line.send(&FromWorker::Tested { program, tested })
            }
            ToWorker::Script { program, .. } => {
                let reason = "this worker runs no scripts, since it does not fork".into();
                line.send(&FromWorker::Ran { program, ran: lost(reason) })
            }
            ToWorker::Inspect { program } => {
                line.send(&FromWorker::Inspected { program, tainted: self.host.is_tainted() })
            }
        }
    }
}

/// That a script did not end.
fn lost(reason: String) -> ScriptRun {
    ScriptRun { lines: vec![], completed: vec![], end: End::Lost { reason } }
}

impl Line {
    fn loaded(&mut self, program: u64, loaded: Result<Vec<Unevaluated>, String>) -> Result<(), WorkerError> {
        self.send(&match loaded {
            Ok(unevaluated) => FromWorker::Loaded { program, unevaluated },
            Err(reason) => FromWorker::Failed { program, reason },
        })
    }

    fn ran(&mut self, program: u64, ran: Result<ExecutionRecord, String>) -> Result<(), WorkerError> {
        self.send(&match ran {
            Ok(record) => FromWorker::Record { program, record: Box::new(record) },
            Err(reason) => FromWorker::Failed { program, reason },
        })
    }

    /// Sends a message. A record that is too large is sent without its observations, so that it still counts.
    fn send(&mut self, message: &FromWorker) -> Result<(), WorkerError> {
        let encoded = frame::encode(message, MAX_RECORD)
            .and_then(|bytes| frame::bounded_parts(&bytes[frame::PREFIX..]).map(|_| bytes));
        let bytes = match (encoded, message) {
            (Err(FrameError::TooLarge { .. } | FrameError::TooManyParts), FromWorker::Record { program, record }) => {
                let record = shortened(record, Limit::RecordBytes(MAX_RECORD));
                frame::encode(&FromWorker::Record { program: *program, record }, MAX_RECORD)?
            }
            (Err(FrameError::TooLarge { .. } | FrameError::TooManyParts), FromWorker::Loaded { program, .. }) => {
                frame::encode(&FromWorker::Loaded { program: *program, unevaluated: Vec::new() }, MAX_RECORD)?
            }
            (result, _) => result?,
        };
        self.socket.write_all(&self.seal.close(bytes)).map_err(FrameError::from)?;
        Ok(())
    }
}

/// The record with stopped versions in place of the observations.
fn shortened(record: &ExecutionRecord, reason: Limit) -> Box<ExecutionRecord> {
    let stopped = Behavior::new(Outcome::Stopped { reason });
    Box::new(ExecutionRecord {
        index: record.index,
        seed: record.seed,
        behaviors: vec![stopped; record.behaviors.len()],
        microseconds: record.microseconds,
        ..ExecutionRecord::default()
    })
}
