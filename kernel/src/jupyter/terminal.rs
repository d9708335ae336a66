//! The terminal from which the kernel was started. Messages of the kernel itself go there.
//!
//! Strangers can cause such messages: whoever reaches a port can send nonsense. So they are short, there is a bounded
//! number of them in a while, and none is waited for. Whoever started the kernel may have stopped reading the pipe that
//! is its terminal.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The maximum length of a line in characters. A line of this length fits into a pipe at once.
const LONGEST: usize = 900;
/// The maximum number of lines in a while.
const LINES: u32 = 200;
const WHILE: Duration = Duration::from_secs(10);

/// The terminal's stderr, once descriptor 2 is a pipe.
static TERMINAL: OnceLock<OwnedFd> = OnceLock::new();
static LOG: Mutex<Option<Log>> = Mutex::new(None);

/// The descriptor that leads to the terminal.
pub fn terminal() -> RawFd {
    TERMINAL.get().map_or(2, AsRawFd::as_raw_fd)
}

/// Keeps a descriptor of the terminal, before descriptor 2 becomes a pipe.
pub fn keep(saved: OwnedFd) {
    // If this were done twice, the first terminal would remain.
    let _ = TERMINAL.set(saved);
}

/// Writes a line to the terminal, unless it takes nothing or has taken many.
pub fn log(line: &str) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let log = log.get_or_insert(Log { since: now, written: 0, left_out: 0 });
    log.line(line, now, &mut |text| write(terminal(), text));
}

/// The lines of the present while.
struct Log {
    since: Instant,
    written: u32,
    left_out: u64,
}

impl Log {
    /// `write` says whether the text could be written at once.
    fn line(&mut self, line: &str, now: Instant, write: &mut dyn FnMut(&str) -> bool) {
        if now.duration_since(self.since) >= WHILE {
            (self.since, self.written) = (now, 0);
        }
        if self.left_out > 0 && self.written < LINES {
            let lines = if self.left_out == 1 { "line was" } else { "lines were" };
            if write(&format!("twincell kernel: {} {lines} left out here\n", self.left_out)) {
                (self.written, self.left_out) = (self.written + 1, 0);
            }
        }
        let one = |character: char| if character.is_control() { ' ' } else { character };
        let line: String = line.chars().take(LONGEST).map(one).collect();
        match self.written < LINES && self.left_out == 0 && write(&format!("twincell kernel: {line}\n")) {
            true => self.written += 1,
            false => self.left_out += 1,
        }
    }
}

/// Writes a text that a pipe takes as a whole or not at all. Returns whether it did.
fn write(terminal: RawFd, text: &str) -> bool {
    let mut polled = libc::pollfd { fd: terminal, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one valid entry; then a buffer of its own and its length. Nobody is left to be told when the terminal is
    // closed.
    unsafe { libc::poll(&raw mut polled, 1, 0) > 0 && libc::write(terminal, text.as_ptr().cast(), text.len()) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_lines_is_counted_and_not_written() {
        let (start, mut written) = (Instant::now(), Vec::new());
        let mut log = Log { since: start, written: 0, left_out: 0 };
        let mut write = |text: &str| {
            written.push(text.to_owned());
            true
        };
        for number in 0..LINES + 50 {
            log.line(&number.to_string(), start, &mut write);
        }
        log.line("later\nand \u{1b}[2J", start + WHILE, &mut write);
        log.line(&"x".repeat(5000), start + WHILE, &mut write);
        assert_eq!(written.len(), LINES as usize + 3);
        assert_eq!(written[LINES as usize], "twincell kernel: 50 lines were left out here\n");
        assert_eq!(written[LINES as usize + 1], "twincell kernel: later and  [2J\n");
        assert!(written[LINES as usize + 2].len() < 1000);
    }

    #[test]
    fn a_terminal_that_takes_nothing_is_not_waited_for() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut count = 0;
        while write(writer.as_raw_fd(), &"x".repeat(LONGEST)) {
            count += 1;
        }
        assert!(count > 0);
        drop(reader);
    }
}
