//! The terminal from which the kernel was started. Messages of the kernel itself go there.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;

/// The terminal's stderr, once descriptor 2 is a pipe.
static TERMINAL: OnceLock<OwnedFd> = OnceLock::new();

/// The descriptor that leads to the terminal.
pub fn terminal() -> RawFd {
    TERMINAL.get().map_or(2, AsRawFd::as_raw_fd)
}

/// Keeps a descriptor of the terminal, before descriptor 2 becomes a pipe.
pub fn keep(saved: OwnedFd) {
    // If this were done twice, the first terminal would remain.
    let _ = TERMINAL.set(saved);
}

/// Writes a line to the terminal.
pub fn log(line: &str) {
    let line = format!("twincell kernel: {line}\n");
    // SAFETY: a buffer of its own and its length. Nobody is left to be told when the terminal is closed.
    unsafe {
        libc::write(terminal(), line.as_ptr().cast(), line.len());
    }
}
