//! Forks of this process: for the engine, as its own children, and for this process itself.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use super::{Host, WorkerError};

/// The lowest number for a process's own socket, away from the small numbers that foreign code opens and closes.
const SOCKET_FLOOR: RawFd = 200;

/// Who goes on after a fork.
pub enum Forked {
    /// This process, with the number of the new one.
    Before(u32),
    /// The new process, with its own connection.
    New(UnixStream),
}

/// Forks a process for the engine, the parent of this one. The new one is a child of the engine as well and ends with
/// it. Where a system has no such fork, this process becomes it. A new one that cannot do its work ends here.
pub fn for_engine(host: &mut dyn Host, files: Vec<OwnedFd>, engine: u32) -> Result<Forked, String> {
    let Ok([socket, errors]) = <[OwnedFd; 2]>::try_from(files) else {
        return Err("the files of the new process did not arrive".into());
    };
    let child = host.fork(&as_sibling);
    if child < 0 {
        return Err(format!("no new process: {}", std::io::Error::last_os_error()));
    }
    if child > 0 {
        return Ok(Forked::Before(child.unsigned_abs()));
    }
    // SAFETY: this makes the second number a name of the first file, which stays open.
    unsafe { libc::dup2(errors.as_raw_fd(), libc::STDERR_FILENO) };
    // A group of its own, so that what it starts can be ended with it.
    let _ = rustix::process::setpgid(None, None);
    match take_socket(socket.into_raw_fd()) {
        Ok(taken) if die_with(engine) => Ok(Forked::New(taken)),
        _ => {
            // It must not go on as its zygote would.
            // SAFETY: nobody waits for what this process would do.
            unsafe { libc::_exit(1) }
        }
    }
}

/// A fork of this process that is its own child. The child runs `work`, writes its result and ends. Returns the
/// child's number and where its result is read.
pub fn child(host: &mut dyn Host, work: impl FnOnce(&mut dyn Host, &mut File)) -> Result<(libc::pid_t, File), String> {
    let (reader, writer) = std::io::pipe().map_err(|error| format!("no pipe to a process of its own: {error}"))?;
    let parent = std::process::id();
    let child = host.fork(&plainly);
    if child < 0 {
        return Err(format!("the execution got no process of its own: {}", std::io::Error::last_os_error()));
    }
    if child > 0 {
        return Ok((child, File::from(OwnedFd::from(reader))));
    }
    drop(reader);
    if die_with(parent) {
        work(host, &mut File::from(OwnedFd::from(writer)));
    }
    // SAFETY: this ends the child at once. Nothing of this process is cleaned up there, since it is still in use.
    unsafe { libc::_exit(0) }
}

/// From here on the end of a parent, or rather of the thread that started this process's first ancestor, is also the end
/// of this process. False if the parent is gone already.
fn die_with(parent: u32) -> bool {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    std::os::unix::process::parent_id() == parent
}

/// `fork`, whose child is a child of this process's parent. Only this thread continues in the child.
#[cfg(target_os = "linux")]
fn as_sibling() -> libc::pid_t {
    fork(libc::CLONE_PARENT)
}

/// Where there is no such fork, this process is the child.
#[cfg(not(target_os = "linux"))]
fn as_sibling() -> libc::pid_t {
    0
}

#[cfg(target_os = "linux")]
pub fn plainly() -> libc::pid_t {
    fork(0)
}

#[cfg(not(target_os = "linux"))]
pub fn plainly() -> libc::pid_t {
    // SAFETY: the host tells the interpreter before and after, and only this thread continues in the child.
    unsafe { libc::fork() }
}

/// The system's own call. The C library keeps the number of each thread; the kernel writes that of the child's only
/// thread there, as the library's `fork` asks it to.
#[cfg(target_os = "linux")]
fn fork(flags: libc::c_int) -> libc::pid_t {
    const PR_GET_TID_ADDRESS: libc::c_int = 40;
    let mut place: *mut libc::c_int = std::ptr::null_mut();
    // SAFETY: the kernel writes one pointer, if it knows this question.
    let known = unsafe { libc::prctl(PR_GET_TID_ADDRESS, &raw mut place) } == 0 && !place.is_null();
    let number = if known { libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID } else { 0 };
    let flags = libc::c_long::from(libc::SIGCHLD | flags | number);
    let none = 0 as libc::c_long;
    // The last two arguments are exchanged on some processors; the one that is not used is not read.
    // SAFETY: without its own stack the child continues here, on a copy of this process's memory, as after `fork`. The
    // kernel writes to `place` in the child, where the C library keeps that number.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        let child = libc::syscall(libc::SYS_clone, flags, none, none, place, none);
        #[cfg(not(target_arch = "x86_64"))]
        let child = libc::syscall(libc::SYS_clone, flags, none, none, none, place);
        child as libc::pid_t
    }
}

/// Moves a socket to a high number that no other program inherits.
pub fn take_socket(number: RawFd) -> Result<UnixStream, WorkerError> {
    // SAFETY: a bad number makes `fcntl` fail. A good one is only duplicated.
    let high = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, SOCKET_FLOOR) };
    if high < 0 {
        return Err(WorkerError::Socket(number));
    }
    // SAFETY: both numbers are open. The engine gave the first to this process and `fcntl` just made the second, so nothing
    // else owns them.
    let (low, high) = unsafe { (OwnedFd::from_raw_fd(number), OwnedFd::from_raw_fd(high)) };
    drop(low);
    let is_socket = rustix::fs::fstat(high.as_fd())
        .is_ok_and(|status| rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::Socket);
    if is_socket { Ok(UnixStream::from(high)) } else { Err(WorkerError::Socket(number)) }
}

/// How a child of this process ended, for people.
pub fn wait(child: libc::pid_t) -> String {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a place for one number.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if waited == child || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            break;
        }
    }
    if libc::WIFSIGNALED(status) {
        format!("its process was ended by signal {}", libc::WTERMSIG(status))
    } else {
        format!("its process ended by itself (exit status {})", libc::WEXITSTATUS(status))
    }
}
