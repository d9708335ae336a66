//! A process of ours: what the system says of it, and how it ends. `link` talks to workers, `zygote` starts processes.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
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

/// How often to look again at a process whose threads end meanwhile.
const TRIES: usize = 3;

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

    /// What it and its children use at this moment. `None` where the system does not say, or it has ended.
    pub fn usage(&self) -> Option<Usage> {
        let mut whole = None;
        self.each(|process, task| {
            if task.is_some() {
                return;
            }
            match look_at(process) {
                Look::Runs { memory, threads, .. } => {
                    let whole = whole.get_or_insert_with(Usage::default);
                    whole.memory += memory;
                    whole.threads += threads;
                }
                Look::Hidden => whole.get_or_insert_with(Usage::default).is_hidden = true,
                Look::Ended => {}
            }
        });
        whole
    }

    /// The files without a name that it and its children hold in a folder.
    pub fn unnamed(&self, folder: &Path) -> Unnamed {
        let mut held = Unnamed::default();
        self.each(|process, task| {
            if task.is_none() {
                held.in_flight |= !add_unnamed(&mut held, process, folder);
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
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_hint(line)).unwrap_or_default();
        line.chars().filter(|character| !character.is_control()).take(300).collect()
    }
}

/// Rust's advice below the reason why a process of ours aborted.
fn is_hint(line: &str) -> bool {
    line.starts_with("note: run with `RUST_BACKTRACE=1`")
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if self.status().is_none() {
            while let Err(Errno::INTR) = waitpid(Some(self.number), WaitOptions::empty()) {}
        }
    }
}

/// What a process and its children use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes, however they came by them, in swap space too. Pages that they share with others count.
    pub memory: u64,
    pub threads: u64,
    /// The system tells nothing of one of them, although it runs.
    pub is_hidden: bool,
}

/// What the system says of a process.
enum Look {
    /// `about`: the folder of `/proc` that tells of its memory and its open files.
    Runs {
        about: PathBuf,
        memory: u64,
        threads: u64,
    },
    Ended,
    /// Some threads go on, and none stayed for long enough to be looked at.
    Hidden,
}

fn look_at(process: u32) -> Look {
    let own = PathBuf::from(format!("/proc/{process}"));
    if let Some((memory, threads)) = read_status(&own) {
        return Look::Runs { about: own, memory, threads };
    }
    // The first thread may have ended alone. Then the process's own folder is empty, and those of the others tell.
    for _ in 0..TRIES {
        let mut goes_on = false;
        for task in std::fs::read_dir(own.join("task")).into_iter().flatten().flatten() {
            let about = task.path();
            if let Some((memory, threads)) = read_status(&about) {
                return Look::Runs { about, memory, threads };
            }
            goes_on |= !is_ending(&about);
        }
        if !goes_on {
            return Look::Ended;
        }
    }
    Look::Hidden
}

/// Adds what a process holds. `false` if it could not be looked at.
fn add_unnamed(held: &mut Unnamed, process: u32, folder: &Path) -> bool {
    for _ in 0..TRIES {
        match look_at(process) {
            Look::Runs { about, .. } => {
                held.add(&about, folder);
                // Of a thread that has ended meanwhile, the system told nothing.
                if read_status(&about).is_some() {
                    return true;
                }
            }
            Look::Ended => return true,
            Look::Hidden => return false,
        }
    }
    false
}

/// The memory in bytes and the number of threads of a process, by the folder of one of its threads. `None` if that has
/// ended.
fn read_status(about: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(about.join("status")).ok()?;
    let kib = field(&text, "VmRSS:")?.saturating_add(field(&text, "VmSwap:").unwrap_or(0));
    Some((kib << 10, field(&text, "Threads:").unwrap_or(0)))
}

/// Whether a thread is about to end. One that cannot be asked is not: it may have made room for another.
fn is_ending(task: &Path) -> bool {
    /// PF_EXITING of the kernel, which a thread has before it lets go of its memory.
    const EXITING: u64 = 4;
    let text = std::fs::read_to_string(task.join("stat")).unwrap_or_default();
    let flags = text.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & EXITING != 0)
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

/// A number that a file of lines has under a name: `VmRSS:      1234 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

fn describe(status: Option<ExitStatus>, last_words: &str) -> String {
    let status = match status {
        Some(status) => format!("ended with {status}"),
        None => "closed its connection".into(),
    };
    if last_words.is_empty() { status } else { format!("{status}: {last_words}") }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    /// A process whose first thread has ended, and whose other one goes on and holds memory and a file without a name.
    const WITHOUT_ITS_FIRST_THREAD: &str = "
import ctypes, os, sys, threading, time
def work():
    os.chdir(sys.argv[1])
    with open('f', 'w+b', 0) as file:
        file.write(bytes(1 << 25))
        os.remove('f')
        kept = bytearray(b'x') * (1 << 27)
        open('ready', 'w').close()
        time.sleep(100)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(int(sys.argv[2]), 0)
";

    #[test]
    fn advice_about_backtraces_is_no_reason() {
        let advice = "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace";
        assert!(is_hint(advice) && !is_hint("memory allocation of 204816 bytes failed"));
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "the process under test waits for it")]
    fn a_process_whose_first_thread_has_ended_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let errors = File::open("/dev/null").unwrap();
        let child = Command::new("python3")
            .args(["-c", WITHOUT_ITS_FIRST_THREAD])
            .arg(folder.path())
            .arg(libc::SYS_exit.to_string())
            .spawn()
            .unwrap();
        let process = Process::new(child.id(), errors).unwrap();
        let about = PathBuf::from(format!("/proc/{}", child.id()));
        let deadline = Instant::now() + Duration::from_secs(30);
        while !(folder.path().join("ready").exists() && is_ending(&about)) {
            assert!(Instant::now() < deadline);
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(read_status(&about), None);
        let usage = process.usage().unwrap();
        assert!(usage.memory > 1 << 27 && usage.threads == 2 && !usage.is_hidden, "{usage:?}");
        assert!(process.unnamed(folder.path()).bytes(0) >= 1 << 25);
        rustix::process::kill_process(process.number, Signal::KILL).unwrap();
        while process.status().is_none() {
            // One that ends is never taken for one that hides.
            assert!(!process.usage().unwrap_or_default().is_hidden);
        }
        assert_eq!(process.usage(), None);
    }

    #[test]
    fn a_process_counts_with_as_many_children_as_it_may_have() {
        let folder = tempfile::tempdir().unwrap();
        let (children, ready) = (MAX_CHILDREN, folder.path().join("ready"));
        // The shell waits for its input to end, and its children with it.
        let script = format!("for _ in $(seq {children}); do cat <&3 & done 3<&0; touch {}; cat", ready.display());
        let mut child = Command::new("sh").args(["-c", &script]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = Process::new(child.id(), File::open("/dev/null").unwrap()).unwrap();
        while !ready.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut seen = 0;
        process.each(|_, task| seen += usize::from(task.is_none()));
        assert_eq!(seen, 1 + MAX_CHILDREN);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_process_counts_with_its_threads() {
        let process = std::process::id();
        let Look::Runs { about, threads, .. } = look_at(process) else { panic!("it runs") };
        assert_eq!(about, PathBuf::from(format!("/proc/{process}")));
        assert!(threads >= 2);
    }
}
