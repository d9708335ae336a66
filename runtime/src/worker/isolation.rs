//! One execution in its own process: a fork of the worker with its loaded program, which ends with the execution.
//!
//! The sandbox refuses new processes to all code. The worker's own call carries a random number that the filter knows
//! (`sandbox::fork_token`) in an argument that the kernel does not read. The child has the same restrictions as the
//! worker and dies with it. It returns only a record, over a pipe, which is decoded like a message from a stranger, and
//! the names of the modules that it imported. The worker imports these as well, so that its other forks need not.

use std::collections::HashSet;
use std::io::{PipeWriter, Read, Write};

use pyo3::prelude::*;

use twincell_engine::frame::{self, MAX_RECORD};
use twincell_engine::protocol::ExecutionRecord;

use crate::restore::world;
use crate::sandbox;

/// The bytes around a record that identify it.
const AROUND: u64 = 1024;

/// The maximum number of modules that are taken over from one fork.
const MOST_MODULES: usize = 400;

/// The output of a fork.
pub(crate) type Forked = (ExecutionRecord, Vec<String>);

/// Runs `work` in a fork. Returns its record with the names of the modules that it imported, or why there is none.
pub(crate) fn in_fork(
    py: Python<'_>,
    work: impl FnOnce(Python<'_>) -> Result<ExecutionRecord, String>,
) -> Result<Forked, String> {
    let known: HashSet<String> = world::module_names(py).into_iter().collect();
    let work = |py: Python<'_>| {
        let record = work(py)?;
        let new = |name: &String| !known.contains(name);
        Ok((record, world::module_names(py).into_iter().filter(new).take(MOST_MODULES).collect()))
    };
    let (reader, writer) = std::io::pipe().map_err(|error| format!("no pipe to a process of its own: {error}"))?;
    let parent = std::process::id();
    // SAFETY: as in `os.fork`, the interpreter is told before and after. This thread holds it throughout (`py`).
    unsafe { pyo3::ffi::PyOS_BeforeFork() };
    let child = fork();
    if child == 0 {
        // SAFETY: as above, in the child's only thread.
        unsafe { pyo3::ffi::PyOS_AfterFork_Child() };
        drop(reader);
        let sent = die_with(parent) && answer(py, writer, work).is_some();
        // SAFETY: this ends the child at once. Nothing of the worker is cleaned up here, since it is still in use.
        unsafe { libc::_exit(i32::from(!sent)) };
    }
    // SAFETY: as above, in the parent.
    unsafe { pyo3::ffi::PyOS_AfterFork_Parent() };
    drop(writer);
    if child < 0 {
        let error = std::io::Error::last_os_error();
        return Err(format!("the execution got no process of its own: {error}"));
    }
    let mut bytes = Vec::new();
    let read = py.detach(|| reader.take(MAX_RECORD as u64 + AROUND).read_to_end(&mut bytes));
    let status = wait(child);
    let answer = read.ok().and_then(|_| frame::read::<Result<Forked, String>>(&mut bytes.as_slice()).ok()?);
    answer.unwrap_or_else(|| Err(died(status)))
}

fn answer(
    py: Python<'_>,
    mut writer: PipeWriter,
    work: impl FnOnce(Python<'_>) -> Result<Forked, String>,
) -> Option<()> {
    let answer = work(py);
    let bytes = frame::encode(&answer, MAX_RECORD).or_else(|error| {
        frame::encode(&Err::<Forked, String>(format!("what was observed cannot be sent: {error}")), MAX_RECORD)
    });
    writer.write_all(&bytes.ok()?).ok()
}

/// From here on the worker's death is also this process's death. False if the worker is already dead.
fn die_with(parent: u32) -> bool {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    std::os::unix::process::parent_id() == parent
}

#[cfg(not(target_os = "linux"))]
fn fork() -> libc::pid_t {
    // SAFETY: the caller tells the interpreter before and after, and only this thread continues in the child.
    unsafe { libc::fork() }
}

/// `fork`, as the sandbox allows it. Only this thread continues in the child.
#[cfg(target_os = "linux")]
fn fork() -> libc::pid_t {
    let (flags, none) = (libc::SIGCHLD as libc::c_long, 0 as libc::c_long);
    // SAFETY: without its own stack the child continues here, on a copy of this process's memory, as after `fork`. No flag
    // makes the kernel read the other arguments.
    unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, sandbox::fork_token()) as libc::pid_t }
}

fn wait(child: libc::pid_t) -> i32 {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a place for one number.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if waited == child || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return status;
        }
    }
}

fn died(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("its process was ended by signal {}", libc::WTERMSIG(status))
    } else {
        format!("its process ended by itself (exit status {})", libc::WEXITSTATUS(status))
    }
}
