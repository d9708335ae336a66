//! The worker's side of the engine's protocol: lock the sandbox, say hello, then serve programs until told to exit or
//! until a program has tainted the process for the next.
//!
//! The [`Host`] interprets programs. Nothing here touches a Python object.

mod consumer;
mod globals;
mod host;
mod identities;
mod isolation;
mod module;
mod outcome;
mod script;
mod version;

use std::io::Write;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use twincell_engine::frame::{self, FrameError, MAX_RECORD};
use twincell_engine::observed::{Behavior, Limit, Outcome};
use twincell_engine::protocol::{
    ExecutionRecord, ExecutionRequest, FromWorker, PROTOCOL_VERSION, Program, ToWorker, Unevaluated,
};

use crate::restore::scratch::Scratch;
use crate::sandbox::{self, Limits};

pub use host::PythonHost;

/// The maximum number of open files of a worker, and the lowest number for its own socket, away from the small numbers
/// that foreign code opens and closes.
const OPEN_FILES: u64 = 256;
const SOCKET_FLOOR: RawFd = 200;

/// Runs programs for the messages that a worker receives.
pub trait Host {
    /// Compiles a program and keeps it under a number, replacing any program with this number. Returns the parts
    /// of a module that could not be evaluated.
    fn load(&mut self, program: u64, source: Program) -> Result<Vec<Unevaluated>, String>;

    /// Gives a loaded program other predictions. `source` is the same program with them.
    fn predict(&mut self, program: u64, source: Program) -> Result<(), String>;

    /// Drops a program. A missing one is not an error.
    fn unload(&mut self, program: u64);

    /// Whether a program left this process in a state that no other should meet. This is asked when a campaign ends and
    /// when a program is unloaded.
    fn is_tainted(&mut self) -> bool {
        false
    }

    /// The same as far as a glance tells. This is asked after each batch.
    fn seems_tainted(&mut self) -> bool {
        false
    }

    /// Runs the tests of a file unchanged. Returns why one does not pass, and its attempted effects outside the
    /// process.
    fn test(&mut self, source: &str, subject: &str) -> (Option<String>, Vec<String>);

    /// Executes a loaded program once. `Err` says why there can be no record. The worker continues.
    fn run(&mut self, program: u64, request: &ExecutionRequest) -> Result<ExecutionRecord, String>;
}

/// What the starting process tells a worker.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The inherited end of the socket pair. [`serve`] takes it over.
    pub socket: RawFd,
    /// The worker's own temporary folder, the only place where it may write.
    pub scratch: PathBuf,
    /// The files and folders that Python needs to read: its prefixes and `sys.path`.
    pub readable: Vec<PathBuf>,
    /// The memory limit beyond the use of the process when it locks itself.
    pub memory_bytes: u64,
    /// The version of Python, for reports.
    pub python: String,
}

/// Why a worker ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("{0} is not a socket of the engine: twincell itself starts workers, do not start one by hand")]
    Socket(RawFd),
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Locks this process irrevocably, and serves the engine until it says to exit or closes the connection.
pub fn serve(setup: &Setup, host: &mut dyn Host) -> Result<(), WorkerError> {
    let mut socket = take_socket(setup.socket)?;
    let scratch = Scratch::new(setup.scratch.clone());
    let report = sandbox::lock(&Limits {
        scratch: setup.scratch.clone(),
        readable: setup.readable.clone(),
        memory_bytes: setup.memory_bytes,
        open_files: OPEN_FILES,
        programs: false,
    });
    let hello = FromWorker::Hello {
        protocol: PROTOCOL_VERSION,
        twincell: env!("CARGO_PKG_VERSION").into(),
        python: setup.python.clone(),
        sandbox: report,
    };
    send(&mut socket, &hello)?;
    while let Some(message) = frame::read::<ToWorker>(&mut socket)? {
        match message {
            ToWorker::Load { program, source } => {
                scratch.reset();
                let answer = match host.load(program, *source) {
                    Ok(unevaluated) => FromWorker::Loaded { program, unevaluated },
                    Err(reason) => FromWorker::Failed { program, reason },
                };
                send(&mut socket, &answer)?;
            }
            ToWorker::Predict { program, source } => {
                let answer = match host.predict(program, *source) {
                    Ok(()) => FromWorker::Loaded { program, unevaluated: Vec::new() },
                    Err(reason) => FromWorker::Failed { program, reason },
                };
                send(&mut socket, &answer)?;
            }
            ToWorker::Unload { program } => {
                host.unload(program);
                if host.is_tainted() {
                    break;
                }
            }
            ToWorker::Run { program, requests } => {
                for request in &requests {
                    scratch.reset();
                    let answer = match host.run(program, request) {
                        Ok(record) => FromWorker::Record { program, record: Box::new(record) },
                        Err(reason) => FromWorker::Failed { program, reason },
                    };
                    send(&mut socket, &answer)?;
                }
                send(&mut socket, &FromWorker::Done { program, tainted: host.seems_tainted() })?;
            }
            ToWorker::Test { program, source, subject } => {
                scratch.reset();
                let (failure, effects) = host.test(&source, &subject);
                send(&mut socket, &FromWorker::Tested { program, failure, effects })?;
            }
            ToWorker::Inspect { program } => {
                send(&mut socket, &FromWorker::Inspected { program, tainted: host.is_tainted() })?;
            }
            ToWorker::Exit => break,
        }
    }
    Ok(())
}

/// Moves the socket to a high number that no other program inherits.
fn take_socket(number: RawFd) -> Result<UnixStream, WorkerError> {
    // SAFETY: a bad number makes `fcntl` fail. A good one is only duplicated.
    let high = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, SOCKET_FLOOR) };
    if high < 0 {
        return Err(WorkerError::Socket(number));
    }
    // SAFETY: both numbers are open. The engine gave the first to this process and `fcntl` just made the second, so nothing
    // else owns them.
    let (low, high) = unsafe { (OwnedFd::from_raw_fd(number), OwnedFd::from_raw_fd(high)) };
    drop(low);
    let is_socket = rustix::fs::fstat(high.as_fd())
        .is_ok_and(|status| rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::Socket);
    if is_socket { Ok(UnixStream::from(high)) } else { Err(WorkerError::Socket(number)) }
}

/// Sends a message. A record that is too large is sent without its observations, so that it still counts.
fn send(socket: &mut UnixStream, message: &FromWorker) -> Result<(), WorkerError> {
    let bytes = match (frame::encode(message, MAX_RECORD), message) {
        (Err(FrameError::TooLarge { limit, .. }), FromWorker::Record { program, record }) => {
            let record = shortened(record, Limit::RecordBytes(limit));
            frame::encode(&FromWorker::Record { program: *program, record }, MAX_RECORD)?
        }
        (Err(FrameError::TooLarge { .. }), FromWorker::Loaded { program, .. }) => {
            frame::encode(&FromWorker::Loaded { program: *program, unevaluated: Vec::new() }, MAX_RECORD)?
        }
        (result, _) => result?,
    };
    socket.write_all(&bytes).map_err(FrameError::from)?;
    Ok(())
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
