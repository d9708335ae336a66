//! A pipe or a terminal, which may be silent for any time. Reading it gives up after a moment with `WouldBlock`, so
//! that the reader can be stopped.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};

const MILLISECONDS: i32 = 100;

pub struct Patient {
    file: File,
}

impl Patient {
    pub fn new(file: File) -> Self {
        Self { file }
    }

    pub fn stdin() -> io::Result<Self> {
        // Standard input stays open for others.
        Ok(Self::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut asked = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: an array of one valid entry, of this file, which is open.
        match unsafe { libc::poll(&mut asked, 1, MILLISECONDS) } {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            count if count < 0 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Err(io::ErrorKind::WouldBlock.into()),
                error => Err(error),
            },
            _ => self.file.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Changes;
    use crate::read::jsonl::Lines;
    use std::io::{BufReader, Write};
    use std::os::fd::OwnedFd;

    #[test]
    fn a_line_that_comes_in_pieces_is_one_line() {
        let (reading, mut writing) = io::pipe().unwrap();
        let mut lines = Lines::new(BufReader::new(Patient::new(File::from(OwnedFd::from(reading)))));
        for piece in ["{\"old\": \"a\",", " \"new\": ", "\"b\"}\n"] {
            let waited = lines.next().unwrap().unwrap_err();
            assert_eq!(waited.kind(), io::ErrorKind::WouldBlock);
            writing.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(lines.next().unwrap().unwrap().unwrap().new, "b");
        drop(writing);
        assert!(lines.next().is_none());
    }
}
