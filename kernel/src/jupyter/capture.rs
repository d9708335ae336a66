//! Output written to file descriptors 1 and 2 (by C code, by programs that cells start, by forked children) becomes
//! output of the notebook.
//!
//! Pipes replace both descriptors. A thread reads them, and Python's thread also reads them before it writes a line or
//! sends a message, so that the order of a program is kept. Messages of the kernel itself go to the terminal from which
//! it was started, which is kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jupyter_protocol::Stdio;

use super::iopub::Publisher;
use super::terminal;
use super::wire::Message;

/// The number of bytes read at once.
const CHUNK: usize = 64 * 1024;
/// The maximum number of chunks read in one go: a program that writes without end must not delay whoever waits for its
/// output.
const CHUNKS: usize = 8;
/// How long the thread waits if clients are too slow.
const CONGESTED: Duration = Duration::from_millis(10);

/// Whether this process was forked from a kernel. Then it has no threads to send anything.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Both pipes, and the destination of their text.
pub struct Capture {
    pipes: Mutex<[Pipe; 2]>,
    descriptors: [RawFd; 2],
    publisher: Publisher,
    parent: Arc<Mutex<Option<Arc<Message>>>>,
}

struct Pipe {
    name: Stdio,
    end: File,
    /// The beginning of a character that was cut.
    rest: Vec<u8>,
}

/// Whether this process was forked from a kernel.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// From now on [`is_forked`] is correct.
pub fn notice_forks() {
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic, which is safe in a forked child.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    }
}

impl Capture {
    /// Replaces both descriptors and starts the thread. `parent` is the request to which the text belongs.
    pub fn start(publisher: Publisher, parent: Arc<Mutex<Option<Arc<Message>>>>) -> io::Result<Arc<Self>> {
        terminal::keep(duplicate(2)?);
        let pipes = [Pipe::replacing(1, Stdio::Stdout)?, Pipe::replacing(2, Stdio::Stderr)?];
        by_line();
        let descriptors = [pipes[0].end.as_raw_fd(), pipes[1].end.as_raw_fd()];
        let capture = Arc::new(Self { pipes: Mutex::new(pipes), descriptors, publisher, parent });
        let reader = capture.clone();
        std::thread::Builder::new().name("twincell-capture".into()).spawn(move || reader.read_always())?;
        Ok(capture)
    }

    /// Publishes everything written so far.
    pub fn drain(&self) {
        let mut pipes = self.lock();
        if self.wait(0) {
            self.read(&mut pipes);
        }
    }

    /// Like [`Capture::drain`], including the text that C code holds in its buffer.
    pub fn flush(&self) {
        // SAFETY: stdio's own functions on its own stream; it was open at the start, and a closed one is only refused.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::fflush(stdout);
        }
        self.drain();
    }

    fn read_always(&self) {
        loop {
            self.wait(-1);
            self.read(&mut self.lock());
            while self.publisher.is_congested() {
                self.publisher.wait_for_room(CONGESTED);
            }
        }
    }

    /// Whether a pipe holds something. Waits for this many milliseconds, or without end (-1).
    fn wait(&self, milliseconds: i32) -> bool {
        let mut polled = self.descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: an array of two valid entries, and its length.
        unsafe { libc::poll(polled.as_mut_ptr(), 2, milliseconds) > 0 }
    }

    fn read(&self, pipes: &mut [Pipe; 2]) {
        let parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for pipe in pipes {
            for _ in 0..CHUNKS {
                let mut bytes = std::mem::take(&mut pipe.rest);
                let kept = bytes.len();
                bytes.resize(kept + CHUNK, 0);
                // An error counts as an empty pipe. Python holds a writing end as long as it lives.
                let count = pipe.end.read(&mut bytes[kept..]).unwrap_or(0);
                bytes.truncate(kept + count);
                pipe.rest = bytes.split_off(whole_characters(&bytes));
                if !bytes.is_empty() {
                    self.publisher.stream(pipe.name.clone(), &String::from_utf8_lossy(&bytes), parent.as_ref());
                }
                if count < CHUNK {
                    break;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, [Pipe; 2]> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipe {
    fn replacing(descriptor: RawFd, name: Stdio) -> io::Result<Self> {
        let (end, writing) = io::pipe()?;
        let end = OwnedFd::from(end);
        // SAFETY: both descriptors are open; the flag concerns the reading end alone.
        let done = unsafe {
            libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) >= 0
                && libc::dup2(writing.as_raw_fd(), descriptor) >= 0
        };
        if !done {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { name, end: end.into(), rest: Vec::new() })
    }
}

/// Writes to descriptor 1 or 2 of a forked child, which leads to its parent's pipe.
pub fn write_in_child(name: &Stdio, text: &str) -> io::Result<()> {
    use std::io::Write;
    let descriptor = if matches!(name, Stdio::Stderr) { 2 } else { 1 };
    // SAFETY: the descriptor is only borrowed; `ManuallyDrop` keeps it open.
    let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    file.write_all(text.as_bytes())
}

fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: returns a new descriptor that nobody else owns, or -1.
    unsafe {
        match libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => Err(io::Error::last_os_error()),
            copy => Ok(OwnedFd::from_raw_fd(copy)),
        }
    }
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Makes C code write whole lines, as to a terminal. Into a pipe it would write only when its buffer is full.
fn by_line() {
    // SAFETY: called before anything of this process has written through stdio's stdout, which a null buffer keeps.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 0);
    }
}

/// The bytes up to the last whole character. Bytes that cannot become a character count as whole.
fn whole_characters(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let position = bytes.len() - back;
        let length = match bytes[position] {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => return bytes.len(),
        };
        return if length > back { position } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_was_cut_in_two_waits_for_its_rest() {
        let text = "a✓é🙂";
        let bytes = text.as_bytes();
        for cut in 0..=bytes.len() {
            let whole = whole_characters(&bytes[..cut]);
            assert!(cut - whole < 4 && std::str::from_utf8(&bytes[..whole]).is_ok(), "{cut}");
            assert!(std::str::from_utf8(&bytes[..cut]).is_err() || whole == cut, "{cut}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_wait() {
        for bytes in [&b"\xff"[..], b"a\xff\xfe", b"\x80\x80\x80\x80", b"a\x80"] {
            assert_eq!(whole_characters(bytes), bytes.len(), "{bytes:?}");
        }
    }
}
