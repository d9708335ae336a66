//! The process as a whole: interrupting it, ending it, and ending it with its parent.

use std::time::Duration;

use super::terminal::log;

/// How often the parent is checked.
const PARENT_INTERVAL: Duration = Duration::from_millis(500);

/// Interrupts Python's main thread and the programs that a cell started, as Ctrl-C would.
pub fn interrupt() {
    // SAFETY: these ask for ids and send a signal; they have no other effect on this process's memory.
    unsafe {
        // Only a kernel with a process group of its own may signal the whole group.
        let target = if libc::getpgrp() == libc::getpid() { 0 } else { libc::getpid() };
        libc::kill(target, libc::SIGINT);
    }
}

/// Ends the process without running any more of it.
pub fn end_now(status: i32) -> ! {
    // SAFETY: never returns, and touches nothing of this process.
    unsafe { libc::_exit(status) }
}

/// Ends the process when the one that started it is gone, so that no kernel is left behind. A kernel that was not
/// started by a Jupyter client (which announces itself in `JPY_PARENT_PID`) stays.
pub async fn end_with_parent() {
    let Some(announced) = std::env::var("JPY_PARENT_PID").ok().and_then(|pid| pid.parse::<i32>().ok()) else { return };
    // A launcher may be between the client and this process, so both are watched. If the announced process is unknown
    // from the start, it is on another machine or in another container.
    let direct = parent();
    let can_be_seen = exists(announced);
    loop {
        if parent() != direct || (can_be_seen && !exists(announced)) {
            log("the process that started this kernel has ended; so does the kernel");
            end_now(1);
        }
        tokio::time::sleep(PARENT_INTERVAL).await;
    }
}

fn parent() -> i32 {
    // SAFETY: getppid has no preconditions.
    unsafe { libc::getppid() }
}

fn exists(pid: i32) -> bool {
    // SAFETY: signal 0 only asks whether the process exists.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}
