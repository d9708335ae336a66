//! One worker process: how it starts, what it may inherit, and how it ends. `link` talks to it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, setrlimit, waitid};
use tempfile::TempDir;

use super::PoolOptions;
use super::patience::Activity;

/// Environment variable of a worker: the number of the inherited socket.
pub const SOCKET_VARIABLE: &str = "TWINCELL_WORKER_SOCKET";
/// Environment variable of a worker: the memory limit in bytes.
pub const MEMORY_VARIABLE: &str = "TWINCELL_WORKER_MEMORY";

/// The environment variables that a worker inherits from this process: enough to find Python's packages and the
/// system's libraries, and nothing that could hold a secret.
const INHERITED: [&str; 10] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
];

/// The time that a worker has to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// How a worker ended.
#[derive(Debug)]
pub struct Ended {
    /// The end of the worker, for people: `ended with exit status: 1: last words`.
    pub description: String,
    /// Somebody killed or stopped it: a system short of memory, or a user. Code can also do that to itself.
    pub from_outside: bool,
}

/// The prefix of the names of workers' temporary folders.
const PREFIX: &str = "twincell-worker-";
/// A folder without a lock may be about to get one, but not after this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// The maximum size in bytes and number of entries of a worker's temporary folder. The worker's own limits bound each
/// file.
const MAX_DISK: u64 = 1 << 30;
const MAX_ENTRIES: u64 = 100_000;

/// How many threads and children of a worker are looked at.
const MAX_THREADS: usize = 64;
const MAX_CHILDREN: usize = 8;
/// The size of the stack. A thousand Python functions that call each other through hooks need a part of it.
const STACK_BYTES: u64 = 256 << 20;

/// A running worker. Dropping it kills and reaps the process and removes its temporary folder.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The worker's standard error.
    errors: File,
    scratch: TempDir,
    /// A lock that marks the folder as used for as long as this process lives.
    _lock: File,
}

impl Process {
    /// Starts a worker. On Linux it is killed when the calling THREAD ends, so that thread must live as long as the
    /// worker may.
    pub fn start(options: &PoolOptions) -> io::Result<(Process, UnixStream)> {
        let scratch = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::open(scratch.path())?;
        flock(&lock, FlockOperation::LockShared)?;
        // The path is resolved, because the worker will see it without links.
        let folder = scratch.path().canonicalize()?;
        let errors = tempfile::tempfile()?;
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program(&options.python)?);
        command
            .args(&options.arguments)
            .current_dir(&folder)
            .env_clear()
            .envs(environment(&folder))
            .env(SOCKET_VARIABLE, theirs.as_raw_fd().to_string())
            .env(MEMORY_VARIABLE, options.memory_bytes.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?);
        let (socket, parent) = (theirs.as_raw_fd(), rustix::process::getpid());
        // SAFETY: `prepare` makes system calls only, takes no lock and allocates nothing, as is asked between fork and exec.
        unsafe { command.pre_exec(move || prepare(socket, parent)) };
        let child = command.spawn()?;
        Ok((Process { child, errors, scratch, _lock: lock }, ours))
    }

    /// Ends the worker and returns how it ended: by itself if it does so within a moment, or else killed.
    pub fn end(mut self, grace: bool) -> Ended {
        let stopped = self.is_stopped();
        let deadline = Instant::now() + if grace { GRACE } else { Duration::ZERO };
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                _ => break None,
            }
        };
        let signal = status.and_then(|status| status.signal());
        let from_outside = stopped || matches!(signal, Some(libc::SIGKILL | libc::SIGTERM));
        Ended { description: describe(status, &self.last_words()), from_outside }
    }

    /// Whether its temporary folder holds more than a worker may use of the disk.
    pub fn fills_the_disk(&self) -> bool {
        let (mut bytes, mut entries) = (0, 0);
        let mut folders = vec![self.scratch.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            // Entries that cannot be read, or are gone meanwhile, do not count.
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                // Links are not followed.
                let Ok(metadata) = entry.metadata() else { continue };
                entries += 1;
                bytes += metadata.blocks() * 512;
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                if bytes > MAX_DISK || entries > MAX_ENTRIES {
                    return true;
                }
            }
        }
        false
    }

    /// What the system says of it and its children. `None` where it says nothing.
    pub fn activity(&self) -> Option<Activity> {
        let mut whole = Activity::default();
        let mut left = vec![self.child.id()];
        let mut seen = 0;
        while let Some(process) = left.pop() {
            seen += 1;
            let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { continue };
            if let Some((_, spent)) = read_stat(&format!("/proc/{process}/stat")) {
                whole.spent += spent;
            }
            for task in tasks.flatten().take(MAX_THREADS) {
                let task = task.path();
                whole.works |= read_stat(&task.join("stat").to_string_lossy()).is_some_and(|(works, _)| works);
                let children = std::fs::read_to_string(task.join("children")).unwrap_or_default();
                left.extend(children.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            }
            if seen > MAX_CHILDREN {
                break;
            }
        }
        (whole.spent > Duration::ZERO || whole.works).then_some(whole)
    }

    /// Whether somebody has stopped it, as a debugger or a shell does.
    fn is_stopped(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.child.id() as i32) else { return false };
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(pid), options), Ok(Some(status)) if status.stopped())
    }

    /// The last line of its standard error.
    fn last_words(&self) -> String {
        const BYTES: usize = 2048;
        let length = self.errors.metadata().map_or(0, |metadata| metadata.len());
        let mut tail = [0; BYTES];
        let count = self.errors.read_at(&mut tail, length.saturating_sub(BYTES as u64)).unwrap_or(0);
        let text = String::from_utf8_lossy(&tail[..count]);
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        line.chars().filter(|character| !character.is_control()).take(300).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The whole group is killed: where the sandbox is not complete, foreign code may have started other processes.
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The folder itself goes with this value. Its content may be more than an ordinary removal can handle.
        super::folder::empty(self.scratch.path());
    }
}

/// Whether a process or thread works or waits for a processor, and the processor time that it and those of its children
/// that have ended took.
fn read_stat(path: &str) -> Option<(bool, Duration)> {
    let text = std::fs::read_to_string(path).ok()?;
    // Its name stands in parentheses before the other fields and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = (11..15).filter_map(|index| fields.get(index)?.parse::<u64>().ok()).sum();
    let spent = Duration::from_millis(ticks.saturating_mul(1000) / rustix::param::clock_ticks_per_second().max(1));
    Some((matches!(fields.first(), Some(&("R" | "D"))), spent))
}

/// Removes the temporary folders of workers whose engine was killed before it could remove them.
pub fn remove_abandoned() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let is_ours = |metadata: &std::fs::Metadata| {
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
            metadata.is_dir()
                && metadata.uid() == rustix::process::geteuid().as_raw()
                && age.is_some_and(|age| age > ABANDONED_AFTER)
        };
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !entry.metadata().is_ok_and(|it| is_ours(&it)) {
            continue;
        }
        let unused = File::open(entry.path())
            .is_ok_and(|folder| flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok());
        if unused {
            super::folder::empty(&entry.path());
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn describe(status: Option<ExitStatus>, last_words: &str) -> String {
    let status = match status {
        Some(status) => format!("ended with {status}"),
        None => "closed its connection".into(),
    };
    if last_words.is_empty() { status } else { format!("{status}: {last_words}") }
}

/// Runs in the child before exec: own session (no terminal, no Ctrl-C), end with the parent, inherit one socket.
fn prepare(socket: RawFd, parent: Pid) -> io::Result<()> {
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
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // Closes files that some library of this process opened without the flag. Kernels before 5.11 refuse; then they
        // stay open.
        // SAFETY: this only marks descriptors, which close when the child executes its program.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    // SAFETY: this sets a flag of an open descriptor.
    if unsafe { libc::fcntl(socket, libc::F_SETFD, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes a path absolute, since the worker runs in another folder. A bare name is looked up in `PATH`.
fn program(python: &Path) -> io::Result<PathBuf> {
    if python.components().count() > 1 { std::path::absolute(python) } else { Ok(python.to_path_buf()) }
}

fn environment(scratch: &Path) -> Vec<(&'static str, OsString)> {
    let mut variables: Vec<(&str, OsString)> =
        INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))).collect();
    // Python looks for the user's own packages in the home folder, which a worker does not have.
    let user_base =
        std::env::var_os("PYTHONUSERBASE").or_else(|| Some(std::env::home_dir()?.join(".local").into_os_string()));
    variables.extend(user_base.map(|base| ("PYTHONUSERBASE", base)));
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR"] {
        variables.push((name, scratch.as_os_str().to_owned()));
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
    ];
    variables.extend(settings.map(|(name, value)| (name, OsString::from(value))));
    variables
}
