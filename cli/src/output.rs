//! The standard streams of a command: nothing in them is a command to a workflow, and a reader may leave early.

use std::cell::Cell;
use std::io::{self, Write};

use twincell_files::runner::Uncommanding;

/// A stream that people or other programs read.
pub struct Output<'a>(Uncommanding<UntilClosed<'a>>);

impl<'a> Output<'a> {
    /// `closed` becomes true when the reader has gone.
    pub fn new(inner: &'a mut dyn Write, closed: &'a Cell<bool>) -> Self {
        Self(Uncommanding::new(UntilClosed { inner, closed }))
    }

    /// Writes lines that are commands to a workflow.
    pub fn write_commands(&mut self, text: &str) -> io::Result<()> {
        self.0.write_commands(text)
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes until the reader has seen enough (`| head`), and then to nowhere. The exit status remains that of the work.
struct UntilClosed<'a> {
    inner: &'a mut dyn Write,
    closed: &'a Cell<bool>,
}

impl Write for UntilClosed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed.get() {
            return Ok(bytes.len());
        }
        match self.inner.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.inner.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(())
            }
            other => other,
        }
    }
}
