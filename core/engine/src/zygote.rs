//! A zygote: a Python process that has loaded what programs need and never runs one. It forks a process for each
//! program, so no program meets what another has left behind, and what all of them load is in memory once.
//!
//! What a zygote forks is a child of this process, as the zygote itself is: it ends with this process, and this process
//! learns how it ended.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::folders::PoolFolder;
use super::link::{Broken, Connection};
use super::process::{Ended, Process};
use super::protocol::{Fork, FromZygote, MAX_FRAME, PROTOCOL_VERSION, ToZygote};
use super::{EngineError, PoolOptions, Stop, frame, handover};

/// Environment variable of a zygote: the number of the inherited socket.
pub const SOCKET_VARIABLE: &str = "TWINCELL_WORKER_SOCKET";

/// Environment variable of a zygote: the home folder of whoever compares, which stays closed. A worker's own is another.
const HOME_VARIABLE: &str = "TWINCELL_WORKER_HOME";

/// Environment variable of a zygote: folders of packages in which imports look last.
const PACKAGES_VARIABLE: &str = "TWINCELL_WORKER_PACKAGES";

/// Environment variable of a zygote: the user's `PYTHONPATH`, in which Python looks only when it is locked in.
const SEARCH_VARIABLE: &str = "TWINCELL_WORKER_SEARCH";

/// The environment variables that a zygote inherits from this process: enough to find Python's packages and the
/// system's libraries, and nothing that could hold a secret.
const INHERITED: [&str; 9] =
    ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// The size of the stack. A thousand Python functions that call each other through hooks need a part of it.
const STACK_BYTES: u64 = 256 << 20;

/// Why a zygote did not do what it was asked to.
#[derive(Debug)]
pub struct Refused {
    pub reason: String,
    /// It was killed or stopped from outside, so another one may succeed.
    pub from_outside: bool,
}

impl Refused {
    fn because(reason: impl ToString) -> Refused {
        Refused { reason: reason.to_string(), from_outside: false }
    }
}

/// Why a process that was to be started is not there.
#[derive(Debug)]
pub struct StartFailure {
    pub error: EngineError,
    pub why: Why,
}

/// What a failure says of the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It was killed or stopped from outside. This is not Python's fault.
    Outside,
    /// It was not ready in time, which may be the machine's fault.
    Overran,
    /// It would fail again.
    Itself,
}

impl StartFailure {
    pub fn itself(error: EngineError) -> StartFailure {
        StartFailure { error, why: Why::Itself }
    }

    /// Ends a process of this Python that was not ready.
    pub fn of(connection: Connection, broken: Broken, options: &PoolOptions) -> StartFailure {
        let overran = matches!(broken, Broken::Overran(_));
        let Ended { description, from_outside } = connection.end(broken);
        let why = match from_outside {
            true => Why::Outside,
            false if overran => Why::Overran,
            false => Why::Itself,
        };
        StartFailure { error: options.cannot_start(description), why }
    }
}

/// A process that was started, and this process's end of its connection.
pub type Started = (Process, UnixStream);

/// A running zygote that is ready to fork.
#[derive(Debug)]
pub struct Zygote {
    connection: Connection,
    /// Otherwise it imported something that started threads, or could not lock itself in before.
    pub can_fork: bool,
    /// The limit of an answer.
    limit: Duration,
}

impl Zygote {
    /// Starts Python. Linux ties the life of what a zygote forks to the THREAD that started the first zygote, so that
    /// thread must live as long as they may.
    pub fn start(options: &PoolOptions, folder: &PoolFolder) -> io::Result<Started> {
        let errors = tempfile::tempfile()?;
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program(&options.python)?);
        command
            .args(&options.arguments)
            .current_dir(folder.path())
            .env_clear()
            .envs(environment(folder.path()))
            .env(PACKAGES_VARIABLE, std::env::join_paths(&options.packages).map_err(io::Error::other)?)
            .env(SOCKET_VARIABLE, theirs.as_raw_fd().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?);
        let socket = theirs.as_raw_fd();
        // SAFETY: `prepare` makes system calls only, takes no lock and allocates nothing, as is asked between fork and exec.
        unsafe { command.pre_exec(move || prepare(socket)) };
        let child = command.spawn()?;
        Ok((Process::new(child.id(), errors)?, ours))
    }

    /// Waits until a zygote that was just started can fork.
    pub fn greet(started: Started, options: &PoolOptions) -> Result<Zygote, StartFailure> {
        let failed = |reason: String| StartFailure::itself(options.cannot_start(reason));
        let mut connection = Connection::new(started).map_err(|error| failed(error.to_string()))?;
        match connection.receive(options.start_deadline, &Stop::default()) {
            Ok(FromZygote::Ready { protocol: PROTOCOL_VERSION, can_fork }) => {
                Ok(Zygote { connection, can_fork, limit: options.deadline })
            }
            Ok(FromZygote::Ready { protocol, .. }) => {
                Err(StartFailure::itself(EngineError::Protocol { worker: protocol, ours: PROTOCOL_VERSION }))
            }
            Ok(_) => Err(failed("it did not say that it is ready".into())),
            Err(broken) => Err(StartFailure::of(connection, broken, options)),
        }
    }

    /// Forks a worker. `None` for the zygote: it became the worker itself.
    pub fn worker(self, fork: Fork) -> (Option<Zygote>, Result<Started, Refused>) {
        self.fork(&ToZygote::Worker(fork))
    }

    /// Forks a zygote that imports these modules.
    pub fn zygote(self, imports: &[String]) -> (Option<Zygote>, Result<Started, Refused>) {
        self.fork(&ToZygote::Zygote { imports: imports.to_vec() })
    }

    /// Those of the modules that are installed.
    pub fn installed(mut self, modules: &[String]) -> (Option<Zygote>, Result<Vec<String>, Refused>) {
        match self.ask(&ToZygote::Installed { modules: modules.to_vec() }, &[]) {
            Ok(FromZygote::Installed { modules }) => (Some(self), Ok(modules)),
            Ok(FromZygote::Failed { reason }) => (Some(self), Err(Refused::because(reason))),
            Ok(_) => (None, Err(Refused::because("it gave no answer to a question"))),
            Err(broken) => (None, Err(self.lost(broken))),
        }
    }

    fn fork(mut self, message: &ToZygote) -> (Option<Zygote>, Result<Started, Refused>) {
        let files = || -> io::Result<_> { Ok((tempfile::tempfile()?, UnixStream::pair()?)) };
        let (errors, (ours, theirs)) = match files() {
            Ok(files) => files,
            Err(error) => return (Some(self), Err(Refused::because(error))),
        };
        let answer = self.ask(message, &[theirs.as_fd(), errors.as_fd()]);
        match answer {
            Ok(FromZygote::Forked { process }) if process == self.connection.process.number() => {
                let own = self.connection.process;
                (None, Ok((own, ours)))
            }
            Ok(FromZygote::Forked { process }) => {
                let started = Process::new(process, errors).map(|process| (process, ours));
                (Some(self), started.map_err(Refused::because))
            }
            Ok(FromZygote::Failed { reason }) => (Some(self), Err(Refused::because(reason))),
            Ok(_) => (None, Err(Refused::because("it did not say what it forked"))),
            Err(broken) => (None, Err(self.lost(broken))),
        }
    }

    fn ask(&mut self, message: &ToZygote, files: &[BorrowedFd<'_>]) -> Result<FromZygote, Broken> {
        let frame = frame::encode(message, MAX_FRAME)?;
        self.connection.send(&frame, self.limit, &Stop::default())?;
        if !files.is_empty() {
            handover::send(&self.connection.socket, files).map_err(|_| Broken::Closed)?;
        }
        self.connection.receive(self.limit, &Stop::default())
    }

    fn lost(self, broken: Broken) -> Refused {
        let Ended { description, from_outside } = self.connection.end(broken);
        Refused { reason: description, from_outside }
    }
}

/// Ends zygotes, and waits until they have.
pub fn retire(zygotes: Vec<Zygote>) {
    // Each ends when nobody can ask it any more.
    let processes: Vec<Process> = zygotes.into_iter().map(|zygote| zygote.connection.process).collect();
    processes.into_iter().for_each(|process| drop(process.end(true)));
}

/// Runs in the child before exec: own session (no terminal, no Ctrl-C), inherit one socket.
fn prepare(socket: RawFd) -> io::Result<()> {
    // Before Python 3.12, `hash(None)` was the address of None. With a fixed address, sets have the same order in every
    // worker. Where this is refused, in some containers, the order of such sets may differ between workers.
    // SAFETY: this sets a flag of this process, which only exec reads.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
    }
    rustix::process::setsid()?;
    let stack = getrlimit(Resource::Stack);
    let size = stack.maximum.map_or(STACK_BYTES, |most| most.min(STACK_BYTES));
    setrlimit(Resource::Stack, Rlimit { current: Some(size), maximum: stack.maximum })?;
    #[cfg(target_os = "linux")]
    {
        // Closes files that some library of this process opened without the flag. Kernels before 5.11 refuse; then they
        // stay open.
        // SAFETY: this only marks descriptors, which close when the child executes its program.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    }
    // SAFETY: this sets a flag of an open descriptor.
    if unsafe { libc::fcntl(socket, libc::F_SETFD, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes a path absolute, since the process runs in another folder. A bare name is looked up in `PATH`.
fn program(python: &Path) -> io::Result<PathBuf> {
    if python.components().count() > 1 { std::path::absolute(python) } else { Ok(python.to_path_buf()) }
}

fn environment(folder: &Path) -> Vec<(&'static str, OsString)> {
    let mut variables: Vec<(&str, OsString)> =
        INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))).collect();
    // Python looks for the user's own packages in the home folder, which workers do not have.
    let home = std::env::home_dir();
    let user_base = std::env::var_os("PYTHONUSERBASE").or_else(|| Some(home.as_ref()?.join(".local").into_os_string()));
    variables.extend(user_base.map(|base| ("PYTHONUSERBASE", base)));
    variables.extend(home.map(|home| (HOME_VARIABLE, home.into_os_string())));
    variables.extend(std::env::var_os("PYTHONPATH").map(|search| (SEARCH_VARIABLE, search)));
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR"] {
        variables.push((name, folder.as_os_str().to_owned()));
    }
    let settings = [
        ("PYTHONHASHSEED", "0"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONSAFEPATH", "1"),
        ("PYTHONUTF8", "1"),
        // One thread each: the workers are the parallelism, and results must not depend on how sums are split.
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("MKL_NUM_THREADS", "1"),
        ("POLARS_MAX_THREADS", "1"),
    ];
    variables.extend(settings.map(|(name, value)| (name, OsString::from(value))));
    variables
}
