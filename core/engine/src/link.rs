//! A conversation with one worker: messages with deadlines. Nothing that a worker sends is trusted here.

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::frame::{self, FrameError, MAX_RECORD, PREFIX};
use super::patience::Patience;
use super::process::{Ended, Process};
use super::protocol::{FromWorker, PROTOCOL_VERSION};
use super::{EngineError, PoolOptions, Stop, WorkerInfo};

/// While an answer takes longer than this, the worker's folder is checked repeatedly.
const WATCH: Duration = Duration::from_millis(200);
/// The number of bytes read from the socket at once.
const CHUNK: usize = 1 << 16;

/// How often a wait checks whether it should stop.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// Why a conversation ended.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// It had its time. The clock decides only that the worker is killed.
    #[error("did not answer within {0:?}")]
    Overran(Duration),
    #[error("closed its connection")]
    Closed,
    #[error("sent what it must not: {0}")]
    Hostile(String),
    #[error("filled its temporary folder")]
    FillsTheDisk,
    /// Somebody asked the work to stop.
    #[error("was stopped")]
    Stopped,
}

impl From<FrameError> for Broken {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(_) | FrameError::Truncated { .. } => Broken::Closed,
            error => Broken::Hostile(error.to_string()),
        }
    }
}

/// A worker that has said hello.
#[derive(Debug)]
pub struct Worker {
    process: Process,
    socket: UnixStream,
    /// Bytes that have arrived and belong to an incomplete message.
    arrived: Vec<u8>,
    /// The buffer into which the system writes.
    chunk: Box<[u8]>,
    pub info: WorkerInfo,
    /// The number of programs that the worker was given.
    pub programs: u32,
    /// The total size of all messages that it sent, in bytes.
    pub received: u64,
    /// When its folder was last checked.
    looked: Cell<Instant>,
    /// Ends a wait for it.
    pub stop: Stop,
}

impl Worker {
    /// Waits for the hello of a process that was just started. The second value of an error says that the process was
    /// killed or stopped from outside, so that another one may succeed.
    pub fn greet(
        (process, socket): (Process, UnixStream),
        options: &PoolOptions,
    ) -> Result<Worker, (EngineError, bool)> {
        let failed = |reason: String| EngineError::Start { python: options.python.display().to_string(), reason };
        socket.set_nonblocking(true).map_err(|error| (failed(error.to_string()), false))?;
        let mut worker = Worker {
            process,
            socket,
            arrived: Vec::new(),
            chunk: vec![0; CHUNK].into(),
            info: WorkerInfo::default(),
            programs: 0,
            received: 0,
            looked: Cell::new(Instant::now()),
            stop: Stop::default(),
        };
        match worker.receive(options.start_deadline) {
            Ok(FromWorker::Hello { protocol: PROTOCOL_VERSION, python, sandbox, .. }) => {
                worker.info = WorkerInfo { python, sandbox };
                Ok(worker)
            }
            Ok(FromWorker::Hello { protocol, .. }) => {
                Err((EngineError::Protocol { worker: protocol, ours: PROTOCOL_VERSION }, false))
            }
            Ok(_) => Err((failed("it did not say hello".into()), false)),
            Err(broken) => {
                let ended = worker.end(broken);
                Err((failed(ended.description), ended.from_outside))
            }
        }
    }

    /// Sends a whole frame.
    pub fn send(&mut self, frame: &[u8], limit: Duration) -> Result<(), Broken> {
        let mut patience = Patience::new(limit);
        let mut rest = frame;
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT, &mut patience, limit)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Closed),
            }
        }
        Ok(())
    }

    /// Waits for the next message.
    pub fn receive(&mut self, limit: Duration) -> Result<FromWorker, Broken> {
        let begun = Instant::now();
        let mut patience = Patience::new(limit);
        loop {
            if let Some(message) = self.take_message()? {
                return Ok(message);
            }
            match self.socket.read(&mut self.chunk) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => self.arrived.extend_from_slice(&self.chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN, &mut patience, limit)?
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Closed),
            }
            // A worker that sends without end is treated like a silent one.
            if begun.elapsed() > limit
                && self.first_frame_end()?.is_none_or(|end| self.arrived.len() < end)
                && patience.is_over(|| self.process.activity())
            {
                return Err(Broken::Overran(limit));
            }
        }
    }

    /// Ends the worker and says why, for people: what happened on the connection, and how the process ended.
    pub fn end(self, broken: Broken) -> Ended {
        let closed = matches!(broken, Broken::Closed);
        let ended = self.process.end(closed);
        let description = match closed {
            true => format!("the worker {}", ended.description),
            false => format!("the worker {broken} and was killed"),
        };
        Ended { description, ..ended }
    }

    /// Asks the worker to exit. Dropping it then waits for that.
    pub fn dismiss(&mut self, exit: &[u8]) {
        let _ = self.send(exit, Duration::from_millis(100));
    }

    /// Waits until a dismissed worker is gone, or kills it.
    pub fn retire(self) {
        self.process.end(true);
    }

    /// The end of the first frame in `arrived`, if its prefix is complete.
    fn first_frame_end(&self) -> Result<Option<usize>, Broken> {
        let Some(prefix) = self.arrived.first_chunk::<PREFIX>() else { return Ok(None) };
        Ok(Some(PREFIX + frame::announced(*prefix, MAX_RECORD)?))
    }

    fn take_message(&mut self) -> Result<Option<FromWorker>, Broken> {
        let Some(end) = self.first_frame_end()? else { return Ok(None) };
        if self.arrived.len() < end {
            return Ok(None);
        }
        let message = frame::decode(&self.arrived[PREFIX..end])?;
        self.arrived.drain(..end);
        self.received += end as u64;
        Ok(Some(message))
    }

    fn wait(&self, flags: PollFlags, patience: &mut Patience, limit: Duration) -> Result<(), Broken> {
        if self.stop.is_asked() {
            return Err(Broken::Stopped);
        }
        let slice = patience.slice(STOP_INTERVAL);
        let timeout = Timespec { tv_sec: slice.as_secs() as i64, tv_nsec: slice.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(self.socket.as_fd(), flags)], Some(&timeout)) {
            Ok(0) if patience.is_over(|| self.process.activity()) => Err(Broken::Overran(limit)),
            Ok(0) if self.looked.get().elapsed() >= WATCH => {
                self.looked.set(Instant::now());
                if self.process.fills_the_disk() { Err(Broken::FillsTheDisk) } else { Ok(()) }
            }
            // The next wait checks whether the time is over.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(_) => Err(Broken::Closed),
        }
    }
}
