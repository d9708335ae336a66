//! A process of ours: what the system says of it, and how it ends. `link` talks to workers, `zygote` starts processes.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::patience::Activity;
use super::unnamed::Unnamed;

/// The time that a process has to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// How many threads and children of a worker are looked at.
const MAX_THREADS: usize = 64;
const MAX_CHILDREN: usize = 8;

/// How a worker ended.
#[derive(Debug)]
pub struct Ended {
    /// The end of the worker, for people: `ended with exit status: 1: last words`.
    pub description: String,
    /// Somebody killed or stopped it: a system short of memory, or a user. Code can also do that to itself.
    pub from_outside: bool,
}

/// A running process of ours: a zygote, or a worker that a zygote forked for us. Dropping it kills and reaps it.
#[derive(Debug)]
pub struct Process {
    number: Pid,
    /// Its standard error.
    errors: File,
    status: Cell<Option<Status>>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy)]
enum Status {
    Known(ExitStatus),
    /// Somebody else in this process took the answer.
    Unknown,
}

impl Process {
    /// A child of this process by its number.
    pub fn new(number: u32, errors: File) -> io::Result<Process> {
        let number = i32::try_from(number).ok().and_then(Pid::from_raw);
        let number = number.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Process { number, errors, status: Cell::new(None) })
    }

    pub fn number(&self) -> u32 {
        self.number.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for the end of the process for a moment if it may end by itself, and returns how it ended. It is killed
    /// when this value is dropped, at the latest.
    pub fn end(self, grace: bool) -> Ended {
        let stopped = self.is_stopped();
        let deadline = Instant::now() + if grace { GRACE } else { Duration::ZERO };
        while self.status().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let status = match self.status.get() {
            Some(Status::Known(status)) => Some(status),
            _ => None,
        };
        let signal = status.and_then(|status| status.signal());
        let from_outside = stopped || matches!(signal, Some(libc::SIGKILL | libc::SIGTERM));
        Ended { description: describe(status, &self.last_words()), from_outside }
    }

    /// How it ended, if it has.
    fn status(&self) -> Option<Status> {
        if self.status.get().is_none() {
            self.status.set(match waitpid(Some(self.number), WaitOptions::NOHANG) {
                Ok(None) | Err(Errno::INTR) => None,
                Ok(Some((_, status))) => Some(Status::Known(ExitStatus::from_raw(status.as_raw()))),
                Err(_) => Some(Status::Unknown),
            });
        }
        self.status.get()
    }

    /// Ends it, and all that it started, without waiting for that.
    pub fn kill(&self) {
        // The whole group is killed: where the sandbox is not complete, foreign code may have started other processes.
        let _ = rustix::process::kill_process_group(self.number, Signal::KILL);
        if self.status().is_none() {
            let _ = rustix::process::kill_process(self.number, Signal::KILL);
        }
    }

    /// What the system says of it and its children. `None` where it says nothing.
    pub fn activity(&self) -> Option<Activity> {
        let mut whole = Activity::default();
        self.each(|process, task| match task {
            None => {
                if let Some((_, spent)) = read_stat(&format!("/proc/{process}/stat")) {
                    whole.spent += spent;
                }
            }
            Some(task) => {
                whole.works |= read_stat(&task.join("stat").to_string_lossy()).is_some_and(|(works, _)| works);
            }
        });
        (whole.spent > Duration::ZERO || whole.works).then_some(whole)
    }

    /// The bytes of memory that it and its children use at this moment, however they came by them, in swap space too.
    /// Pages that they share with others count. `None` where the system does not say.
    pub fn memory(&self) -> Option<u64> {
        let mut kib: Option<u64> = None;
        self.each(|process, task| {
            if task.is_none()
                && let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/status"))
            {
                *kib.get_or_insert(0) += ["VmRSS:", "VmSwap:"].map(|name| field(&text, name)).iter().sum::<u64>();
            }
        });
        kib.map(|kib| kib << 10)
    }

    /// The files without a name that it and its children hold in a folder.
    pub fn unnamed(&self, folder: &Path) -> Unnamed {
        let mut held = Unnamed::default();
        self.each(|process, task| {
            if task.is_none() {
                held.add(process, folder);
            }
        });
        held
    }

    /// Visits it and its children, each before its threads.
    fn each(&self, mut visit: impl FnMut(u32, Option<&Path>)) {
        let mut left = vec![self.number()];
        let mut seen = 0;
        while let Some(process) = left.pop() {
            seen += 1;
            let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { continue };
            visit(process, None);
            for task in tasks.flatten().take(MAX_THREADS) {
                let task = task.path();
                visit(process, Some(&task));
                let children = std::fs::read_to_string(task.join("children")).unwrap_or_default();
                left.extend(children.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            }
            if seen > MAX_CHILDREN {
                break;
            }
        }
    }

    /// Whether somebody has stopped it, as a debugger or a shell does.
    pub fn is_stopped(&self) -> bool {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(self.number), options), Ok(Some(status)) if status.stopped())
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
        self.kill();
        if self.status().is_none() {
            while let Err(Errno::INTR) = waitpid(Some(self.number), WaitOptions::empty()) {}
        }
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

/// A number that a file of lines has under a name: `VmRSS:      1234 kB`. It is 0 if there is none.
fn field(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or_default()
}

fn describe(status: Option<ExitStatus>, last_words: &str) -> String {
    let status = match status {
        Some(status) => format!("ended with {status}"),
        None => "closed its connection".into(),
    };
    if last_words.is_empty() { status } else { format!("{status}: {last_words}") }
}
