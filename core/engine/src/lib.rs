//! Runs programs in sandboxed worker processes and brings back records.
//!
//! A [`protocol::Program`] is one or more versions of a function that run on the same injected values. A [`WorkerPool`]
//! lends workers out. [`Loaded`] is a program in one of them. It executes requests and answers each with an
//! [`Executed`]: a record of the behavior of every version ([`observed`]), or the reason why there is none.
//! [`protocol`] has the messages of engine and worker, and [`frame`] their bytes.
//!
//! The engine knows programs, not pairs, evidence or verdicts. It trusts nothing that a worker sends: whatever a worker
//! does, the engine waits no longer than the deadline and loses no more than the execution at hand. The clock decides
//! when a worker is killed, never what a record says.
//!
//! Workers need a Python with twincell installed, so this example only writes the message that one would receive:
//!
//! ```
//! use twincell_engine::frame;
//! use twincell_engine::protocol::{ExecutionRequest, MAX_FRAME, ToWorker};
//!
//! let request = ExecutionRequest { seed: 7, versions: vec![0, 1], ..ExecutionRequest::default() };
//! let message = ToWorker::Run { program: 1, requests: vec![request] };
//! let bytes = frame::encode(&message, MAX_FRAME)?;
//! assert_eq!(frame::read::<ToWorker>(&mut bytes.as_slice())?, Some(message));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod folder;
mod folders;
pub mod frame;
pub mod handover;
pub mod interpreter;
mod link;
mod nursery;
pub mod observed;
mod patience;
mod pool;
mod process;
pub mod protocol;
pub mod sources;
mod starter;
mod unnamed;
mod zygote;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::{ExecutionRecord, SandboxReport};

pub use folders::projects_beside;
pub use pool::{Loaded, WorkerPool};
pub use zygote::SOCKET_VARIABLE;

/// How to start workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// The user's Python, which must have `twincell` installed.
    pub python: PathBuf,
    /// The arguments that make it a worker, see [`interpreter::worker`].
    pub arguments: Vec<OsString>,
    /// The maximum number of worker processes. They start on first use.
    pub workers: usize,
    /// The limit of one execution (all versions together): of the processor time that the worker takes, and of the time
    /// for which it stands still.
    pub deadline: Duration,
    /// The same limit of loading a program, module context included.
    pub load_deadline: Duration,
    /// The same limit of starting a worker.
    pub start_deadline: Duration,
    /// The memory limit of a worker beyond Python itself.
    pub memory_bytes: u64,
    /// Whether programs may run where the system does not enforce all that the sandbox promises.
    pub allow_incomplete: bool,
    /// Folders of installed packages in which imports look last, after those of the Python.
    pub packages: Vec<PathBuf>,
}

impl PoolOptions {
    /// Two workers, 5 s an execution, 20 s a program, 1 GiB.
    pub fn new(python: impl Into<PathBuf>) -> Self {
        Self {
            python: python.into(),
            arguments: interpreter::worker(None, false, false),
            workers: 2,
            deadline: Duration::from_secs(5),
            load_deadline: Duration::from_secs(20),
            start_deadline: Duration::from_secs(30),
            memory_bytes: 1 << 30,
            allow_incomplete: false,
            packages: vec![],
        }
    }

    /// The error of a process that cannot be had.
    fn cannot_start(&self, reason: impl ToString) -> EngineError {
        EngineError::Start { python: self.python.display().to_string(), reason: reason.to_string() }
    }
}

/// The answer of a progress callback: continue, or stop and report the findings so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    Yes,
    Stop,
}

/// Asks work to stop, from any thread or at a time. Every wait for a worker then ends within a few milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
    /// Whether somebody who had work to do was told to stop because of the time.
    cut: Arc<AtomicBool>,
}

impl Stop {
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// The same, and also from this time on.
    pub fn at(&self, deadline: Instant) -> Self {
        let earliest = self.deadline.map_or(deadline, |other| other.min(deadline));
        Self { asked: self.asked.clone(), deadline: Some(earliest), cut: Arc::default() }
    }

    /// Whether to stop. Ask only before work that is left undone then.
    pub fn is_asked(&self) -> bool {
        if self.asked.load(Ordering::Relaxed) {
            return true;
        }
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            self.cut.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Whether the time was over before all work was done.
    fn has_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

/// What a worker reported about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerInfo {
    pub python: String,
    pub sandbox: SandboxReport,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot start {python} as a worker: {reason}; is twincell installed in that Python?")]
    Start { python: String, reason: String },
    #[error("the worker speaks protocol {worker}, this is {ours}: install the same twincell in both places")]
    Protocol { worker: u32, ours: u32 },
    #[error(
        "the sandbox is not complete here, so no code is run: {missing}; `twincell doctor` says more. To run code that \
         you trust all the same, add --unsafe"
    )]
    Sandbox { missing: String },
    #[error("the worker was lost {times} times in a row while loading: {reason}")]
    Dies { times: u32, reason: String },
    #[error("the worker was lost while it ran a test: {0}")]
    Test(String),
    #[error("cannot load the program: {0}")]
    Load(String),
    #[error("the code wrote to the connection of its worker while it was loaded, so nothing is known of it")]
    Forged,
    #[error("stopped before it ran")]
    Stopped,
}

/// The outcome of one request: a record, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Executed {
    Record(Box<ExecutionRecord>),
    /// The worker was killed at the deadline or died while it ran this request. Other requests are not affected.
    Lost {
        index: u32,
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_cut_only_if_somebody_who_had_some_was_told_to_stop_because_of_the_time() {
        let whole = Stop::default();
        let over = whole.at(Instant::now());
        assert!(!over.has_cut());
        assert!(over.clone().is_asked() && over.has_cut());
        assert!(!whole.is_asked() && !whole.has_cut());
        let later = whole.at(Instant::now() + Duration::from_secs(3600));
        assert!(!later.is_asked());
        whole.ask();
        assert!(later.is_asked() && !later.has_cut());
        assert!(!whole.at(Instant::now()).has_cut());
    }
}
