//! A conversation with one process: messages with deadlines. Nothing that a worker sends is trusted here.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use serde::de::DeserializeOwned;

use super::folders::WorkerFolder;
use super::frame::{self, FrameError, MAX_RECORD, PREFIX, Seal};
use super::patience::Patience;
use super::process::{Ended, Process};
use super::protocol::{FromWorker, MAX_FRAME, PROTOCOL_VERSION, ToWorker, bounded, cut};
use super::zygote::{StartFailure, Started};
use super::{EngineError, PoolOptions, Stop, WorkerInfo};

/// How often a worker's memory and its disk space are checked, while it is asked anything.
const WATCH_MEMORY: Duration = Duration::from_millis(20);
const WATCH_DISK: Duration = Duration::from_millis(200);
/// The number of bytes read from the socket at once.
const CHUNK: usize = 1 << 16;

/// Memory beyond a worker's limit at which it is ended: what forks of it share is counted for each.
const SLACK: u64 = 256 << 20;

/// The most threads of a worker and its children. Libraries start some for each processor.
const MOST_THREADS: u64 = 512;

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
    /// The code under comparison wrote to the connection of its worker.
    #[error("was spoken for by the code, which wrote to its connection")]
    Forged,
    #[error("filled its temporary folder")]
    FillsTheDisk,
    /// In the queue of a socket, files are out of sight. Whoever sends descriptors to itself takes them out again.
    #[error("kept open files where nobody sees how large they are")]
    HidesFiles,
    #[error("used more memory than it may")]
    FillsTheMemory,
    #[error("started more threads than it may")]
    TooManyThreads,
    #[error("could not be watched any more")]
    Hidden,
    /// Somebody asked the work to stop.
    #[error("was stopped")]
    Stopped,
}

impl From<FrameError> for Broken {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(_) | FrameError::Truncated { .. } => Broken::Closed,
            FrameError::Forged => Broken::Forged,
            error => Broken::Hostile(error.to_string()),
        }
    }
}

/// A process of ours and the connection to it.
#[derive(Debug)]
pub struct Connection {
    // Dropped first, so that nothing fills the folder any more.
    pub process: Process,
    pub socket: UnixStream,
    /// The folder to which it may write.
    folder: Option<WorkerFolder>,
    /// The memory that it may use, in bytes. Its own limits refuse most of what is beyond; this is for what they do not
    /// count.
    memory: Option<u64>,
    /// Bytes that have arrived and belong to an incomplete message.
    arrived: Vec<u8>,
    /// The buffer into which the system writes.
    chunk: Box<[u8]>,
    /// Tells its messages from others, if these could be.
    seal: Option<Seal>,
    /// The total size of all messages that it sent, in bytes, and the number of their parts.
    pub received: u64,
    pub parts: u64,
    /// When its memory and its disk space were last checked.
    looked: [Cell<Instant>; 2],
    /// At the last check, descriptors were in the queues of its sockets.
    in_flight: Cell<bool>,
    /// At the last check, the system told nothing of it while it ran.
    hidden: Cell<bool>,
}

impl Connection {
    pub fn new((process, socket): Started) -> io::Result<Connection> {
        socket.set_nonblocking(true)?;
        Ok(Connection {
            process,
            socket,
            folder: None,
            memory: None,
            arrived: Vec::new(),
            chunk: vec![0; CHUNK].into(),
            seal: None,
            received: 0,
            parts: 0,
            looked: [Cell::new(Instant::now()), Cell::new(Instant::now())],
            in_flight: Cell::new(false),
            hidden: Cell::new(false),
        })
    }

    /// Sends a whole frame.
    pub fn send(&mut self, frame: &[u8], limit: Duration, stop: &Stop) -> Result<(), Broken> {
        let mut patience = Patience::new(limit);
        let mut rest = frame;
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT, &mut patience, limit, stop)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Closed),
            }
        }
        Ok(())
    }

    /// Waits for the next message.
    pub fn receive<M: DeserializeOwned>(&mut self, limit: Duration, stop: &Stop) -> Result<M, Broken> {
        let begun = Instant::now();
        let mut patience = Patience::new(limit);
        loop {
            if let Some(message) = self.take_message()? {
                return Ok(message);
            }
            self.check()?;
            match self.socket.read(&mut self.chunk) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => self.arrived.extend_from_slice(&self.chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN, &mut patience, limit, stop)?
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

    /// Ends the process and says why, for people: what happened on the connection, and how the process ended.
    pub fn end(self, broken: Broken) -> Ended {
        let closed = matches!(broken, Broken::Closed);
        let ended = self.process.end(closed);
        let description = match closed {
            true => format!("the worker {}", ended.description),
            false => format!("the worker {broken} and was killed"),
        };
        Ended { description, ..ended }
    }

    /// The end of the first frame in `arrived`, if its prefix is complete.
    fn first_frame_end(&self) -> Result<Option<usize>, Broken> {
        let Some(prefix) = self.arrived.first_chunk::<PREFIX>() else { return Ok(None) };
        match frame::announced(*prefix, MAX_RECORD + frame::TAG) {
            Ok(length) => Ok(Some(PREFIX + length)),
            // A worker never says such a thing of itself.
            Err(_) if self.seal.is_some() => Err(Broken::Forged),
            Err(error) => Err(error.into()),
        }
    }

    fn take_message<M: DeserializeOwned>(&mut self) -> Result<Option<M>, Broken> {
        let Some(end) = self.first_frame_end()? else { return Ok(None) };
        if self.arrived.len() < end {
            return Ok(None);
        }
        let body = &self.arrived[PREFIX..end];
        let body = match &mut self.seal {
            Some(seal) => seal.open(body)?,
            None => body,
        };
        self.parts += frame::bounded_parts(body)? as u64;
        let message = frame::decode(body)?;
        self.arrived.drain(..end);
        self.received += end as u64;
        Ok(Some(message))
    }

    fn wait(&self, flags: PollFlags, patience: &mut Patience, limit: Duration, stop: &Stop) -> Result<(), Broken> {
        if stop.is_asked() {
            return Err(Broken::Stopped);
        }
        let slice = patience.slice(STOP_INTERVAL);
        let timeout = Timespec { tv_sec: slice.as_secs() as i64, tv_nsec: slice.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(self.socket.as_fd(), flags)], Some(&timeout)) {
            Ok(0) if patience.is_over(|| self.process.activity()) => Err(Broken::Overran(limit)),
            // The next wait checks whether the time is over.
            Ok(_) | Err(Errno::INTR) => self.check(),
            Err(_) => Err(Broken::Closed),
        }
    }

    /// Whether it uses no more than it may. Looking costs something, so this looks only now and then.
    fn check(&self) -> Result<(), Broken> {
        let is_due = |looked: &Cell<Instant>, after: Duration| {
            let is_due = looked.get().elapsed() >= after;
            if is_due {
                looked.set(Instant::now());
            }
            is_due
        };
        let [memory, disk] = &self.looked;
        if let Some(most) = self.memory
            && is_due(memory, WATCH_MEMORY)
        {
            let usage = self.process.usage().unwrap_or_default();
            if usage.memory > most {
                return Err(Broken::FillsTheMemory);
            }
            if usage.threads > MOST_THREADS {
                return Err(Broken::TooManyThreads);
            }
            // One look may meet a process that ends.
            if self.hidden.replace(usage.is_hidden) && usage.is_hidden {
                return Err(Broken::Hidden);
            }
        }
        if let Some(folder) = &self.folder
            && is_due(disk, WATCH_DISK)
        {
            let unnamed = self.process.unnamed(folder.path());
            if self.in_flight.replace(unnamed.in_flight) && unnamed.in_flight {
                return Err(Broken::HidesFiles);
            }
            if folder.is_over_full(unnamed.bytes(twincell_sandbox::MAX_FILE)) {
                return Err(Broken::FillsTheDisk);
            }
        }
        Ok(())
    }
}

/// A worker that has said hello. It serves one program.
#[derive(Debug)]
pub struct Worker {
    connection: Connection,
    pub info: WorkerInfo,
    /// Ends a wait for it.
    pub stop: Stop,
}

/// A worker that was just forked and gets ready.
#[derive(Debug)]
pub struct Forked {
    connection: Connection,
    /// Why it cannot become one.
    broken: Option<Broken>,
}

impl Forked {
    /// Gives the process its key.
    pub fn new(started: Started, folder: WorkerFolder, options: &PoolOptions) -> Result<Forked, FrameError> {
        let mut connection = Connection::new(started)?;
        connection.folder = Some(folder);
        let seal = Seal::random()?;
        let begin = frame::encode(&ToWorker::Begin { key: seal.key() }, MAX_FRAME);
        connection.seal = Some(seal);
        let sent = begin
            .map_err(Broken::from)
            .and_then(|begin| connection.send(&begin, options.start_deadline, &Stop::default()));
        Ok(Forked { connection, broken: sent.err() })
    }

    /// Waits for its hello.
    pub fn greet(self, options: &PoolOptions) -> Result<Worker, StartFailure> {
        let Forked { mut connection, broken } = self;
        let hello = match broken {
            Some(broken) => Err(broken),
            None => connection.receive(options.start_deadline, &Stop::default()),
        };
        match hello {
            Ok(FromWorker::Hello { protocol: PROTOCOL_VERSION, python, sandbox, .. }) => {
                let sandbox = bounded(sandbox);
                let python = cut(python);
                let used = connection.process.usage().map(|usage| usage.memory);
                connection.memory = used.map(|used| used.saturating_add(options.memory_bytes).saturating_add(SLACK));
                Ok(Worker { connection, info: WorkerInfo { python, sandbox }, stop: Stop::default() })
            }
            Ok(FromWorker::Hello { protocol, .. }) => {
                Err(StartFailure::itself(EngineError::Protocol { worker: protocol, ours: PROTOCOL_VERSION }))
            }
            Ok(_) => Err(StartFailure::itself(options.cannot_start("it did not say hello"))),
            Err(broken) => Err(StartFailure::of(connection, broken, options)),
        }
    }
}

impl Worker {
    /// Sends a whole frame.
    pub fn send(&mut self, frame: &[u8], limit: Duration) -> Result<(), Broken> {
        self.connection.send(frame, limit, &self.stop)
    }

    /// Waits for the next message.
    pub fn receive(&mut self, limit: Duration) -> Result<FromWorker, Broken> {
        match self.connection.receive(limit, &self.stop)? {
            FromWorker::Forged => Err(Broken::Forged),
            message => Ok(message),
        }
    }

    /// The total size of all messages that it sent, in bytes, and the number of their parts.
    pub fn received(&self) -> (u64, u64) {
        (self.connection.received, self.connection.parts)
    }

    /// Ends the worker and says why, for people: what happened on the connection, and how the process ended.
    pub fn end(self, broken: Broken) -> Ended {
        self.connection.end(broken)
    }

    /// Ends the worker without waiting for that. Dropping it does.
    pub fn kill(&self) {
        self.connection.process.kill();
    }
}
