//! Processes that stay behind to end what tests leave running: the first process of a namespace, whose end ends all others
//! there, and one above the tests.
//!
//! They never become another program, and hold no lock and no memory that they use.

use std::io;
use std::os::fd::RawFd;

/// How a supervisor ends all that tests have left running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It is the first process of a namespace, whose end ends all others there.
    Namespace,
    /// One signal reaches them and nobody else, since it can send signals only within the sandbox. Nothing that forks outruns
    /// it: no process begins while a signal is sent to many.
    Domain,
    /// One by one, as they become its children.
    Children,
}

/// Whether the system lists the children of a process.
pub fn lists_children() -> bool {
    std::path::Path::new(CHILDREN.to_str().unwrap_or_default()).exists()
}

const CHILDREN: &std::ffi::CStr = c"/proc/thread-self/children";

/// Forks the first process of a namespace that was made, and returns in it. The present one waits for it and ends.
pub fn fork_first(control: RawFd) -> io::Result<()> {
    let child = fork()?;
    if child != 0 {
        block_signals();
        close_all_but(control, control);
        let status = wait_for(child);
        // SAFETY: it ends the process.
        unsafe { libc::_exit(status) };
    }
    // SAFETY: calls on numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    Ok(())
}

/// Forks, and returns in the child. The present process waits until the child ends or the other end of the socket is closed,
/// and then ends everything below it.
pub fn fork_below(control: RawFd, reach: Reach) -> io::Result<()> {
    // SAFETY: calls on numbers and on structures of their own.
    unsafe {
        // Its memory is that of the process that started it.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        let mut children: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const children, std::ptr::null_mut());
        let ended = libc::signalfd(-1, &raw const children, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if ended < 0 {
            return Err(io::Error::last_os_error());
        }
        let child = fork()?;
        if child != 0 {
            block_signals();
            close_all_but(control, ended);
            let status = watch(control, ended, child);
            end_all(reach);
            libc::_exit(status);
        }
        libc::close(ended);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const children, std::ptr::null_mut());
        // What tests leave running becomes its child, so that it can end it after each request.
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
    Ok(())
}

/// Without the handlers of the C library, which take locks.
fn fork() -> io::Result<i32> {
    // SAFETY: without flags it is a fork on every processor. The child only makes system calls.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child < 0 { Err(io::Error::last_os_error()) } else { Ok(child as i32) }
}

/// Handlers of the program that was forked must not run.
fn block_signals() {
    // SAFETY: the structure outlives the calls.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// Whoever waits for the end of a pipe or a socket waits for this process too.
fn close_all_but(one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other) as u32, one.max(other) as u32);
    let ranges = [(0, low.wrapping_sub(1)), (low + 1, high.wrapping_sub(1)), (high + 1, u32::MAX)];
    for (first, last) in ranges {
        if first > last || last == u32::MAX && first == 0 {
            continue;
        }
        // SAFETY: calls on numbers.
        unsafe {
            if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
                for descriptor in first..=last.min(65536) {
                    libc::close(descriptor as i32);
                }
            }
        }
    }
}

/// Waits until a child ends or nobody is left at the other end of a socket. Returns the child's exit status.
fn watch(control: RawFd, ended: RawFd, child: i32) -> i32 {
    loop {
        // SAFETY: the structures outlive the calls.
        unsafe {
            let mut watched = [
                libc::pollfd { fd: control, events: 0, revents: 0 },
                libc::pollfd { fd: ended, events: libc::POLLIN, revents: 0 },
            ];
            libc::poll(watched.as_mut_ptr(), 2, -1);
            let mut signals = [0u8; 128 * 8];
            libc::read(ended, signals.as_mut_ptr().cast(), signals.len());
            let mut status = 0;
            loop {
                match libc::waitpid(-1, &raw mut status, libc::WNOHANG) {
                    found if found == child => return exit_status(status),
                    ..=0 => break,
                    _ => {}
                }
            }
            if watched[0].revents != 0 {
                return 0;
            }
        }
    }
}

fn wait_for(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the number outlives the call.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return 1;
        }
    }
    exit_status(status)
}

fn exit_status(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

fn end_all(reach: Reach) {
    match reach {
        Reach::Namespace => {}
        // SAFETY: calls on numbers.
        Reach::Domain => unsafe {
            libc::kill(-1, libc::SIGKILL);
            // What has lost its parent is a child of this process now.
            while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
        },
        Reach::Children => end_children(),
    }
}

/// Ends children until there are none. Those of a child that ends become children of this process.
fn end_children() {
    loop {
        let mut text = [0u8; 4096];
        // SAFETY: the texts outlive the calls.
        unsafe {
            let file = libc::open(CHILDREN.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
            libc::close(file);
            // A number that was cut comes again.
            let Some(whole) = text[..length.max(0) as usize].iter().rposition(|byte| *byte == b' ') else { return };
            for number in text[..whole].split(|byte| *byte == b' ') {
                let number = number.iter().fold(0, |number: i32, digit| {
                    number.wrapping_mul(10).wrapping_add(i32::from(digit.wrapping_sub(b'0')))
                });
                if number > 1 {
                    libc::kill(number, libc::SIGKILL);
                }
            }
            while libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) > 0 {}
            libc::poll(std::ptr::null_mut(), 0, 1);
        }
    }
}
