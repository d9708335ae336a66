//! A process that a zygote leaves behind before it locks itself in, and in which nothing foreign runs. If the engine is killed,
//! it removes the folder of the pool, which nobody who is locked in can.

use std::io::{PipeWriter, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use twincell_engine::{folder, projects_beside};

use super::fork::plainly;

/// How often it looks whether the engine is still there, where the system does not tell.
const LOOK: Duration = Duration::from_secs(1);
/// How long the folder of a pool is emptied after the engine has ended, while its workers are ending too.
const EMPTYING: Duration = Duration::from_secs(3);

/// Where the janitor hears that there is nothing left to do.
#[derive(Debug)]
pub struct Janitor(PipeWriter);

impl Janitor {
    /// Forks it. `None` where this fails: then a later engine removes the folder. `socket` stays this process's alone.
    pub fn leave(folder: &Path, engine: u32, socket: &UnixStream) -> Option<Janitor> {
        let (told, tell) = std::io::pipe().ok()?;
        match plainly() {
            0 => {}
            child if child > 0 => return Some(Janitor(tell)),
            _ => return None,
        }
        drop(tell);
        // SAFETY: the number is this process's own copy, and nothing here uses the socket.
        unsafe { libc::close(socket.as_raw_fd()) };
        if outlives(engine, folder, &told) {
            remove_pool(folder);
        }
        // SAFETY: it ends the process at once. Nothing of the zygote's is cleaned up here.
        unsafe { libc::_exit(0) }
    }

    /// Lets it go.
    pub fn dismiss(mut self) {
        let _ = self.0.write_all(b".");
    }
}

/// Waits until the engine has ended. False if the zygote ends before or says that it will, and the engine goes on.
fn outlives(engine: u32, folder: &Path, told: &impl AsFd) -> bool {
    let Some(engine) = i32::try_from(engine).ok().and_then(Pid::from_raw) else { return false };
    let process = pidfd_open(engine, PidfdFlags::empty()).ok();
    let is_gone = || match &process {
        Some(process) => {
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
        }
        None => rustix::process::test_kill_process(engine).is_err(),
    };
    let limit = Timespec { tv_sec: LOOK.as_secs() as i64, tv_nsec: 0 };
    loop {
        let mut events = vec![PollFd::new(told, PollFlags::IN)];
        events.extend(process.as_ref().map(|process| PollFd::new(process, PollFlags::IN)));
        let waited = poll(&mut events, process.is_none().then_some(&limit));
        let has_said = !events[0].revents().is_empty();
        drop(events);
        match waited {
            _ if is_gone() => return true,
            Ok(_) if has_said => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    // Of an engine that is killed, the connection closes first. One that goes on removes the folder, or has another zygote.
    let begun = Instant::now();
    while !is_gone() {
        if !folder.exists() || begun.elapsed() > EMPTYING {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Removes the folder of a pool, and that for copies of projects beside it.
pub fn remove_pool(workers: &Path) {
    remove(workers);
    if let Some(projects) = projects_beside(workers) {
        remove(&projects);
        // The folder of the pool, which is empty now.
        let _ = projects.parent().map(std::fs::remove_dir);
    }
}

fn remove(path: &Path) {
    let begun = Instant::now();
    while path.exists() && begun.elapsed() < EMPTYING {
        folder::empty(path);
        if std::fs::remove_dir(path).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
