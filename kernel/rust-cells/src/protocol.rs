//! What the kernel asks, and what it is told: lines of JSON.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::FromRawFd;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

/// The maximum length in bytes of one event. The kernel refuses longer ones at 64 MiB.
const LONGEST: usize = 60 << 20;

/// A request of the kernel.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Runs a cell. Tables come from files, and go to files, in Arrow's format for streams.
    Evaluate {
        id: u64,
        code: String,
        #[serde(default)]
        inputs: Vec<Table>,
        #[serde(default)]
        outputs: Vec<Table>,
    },
    /// What may stand at a position, in bytes.
    Complete { id: u64, code: String, position: usize },
    /// Stops the running cell. It has no end of its own.
    Interrupt,
}

/// A variable that holds a table, and the file of the table.
#[derive(Debug, Deserialize)]
pub struct Table {
    pub name: String,
    pub path: String,
}

/// What happened.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Cells can be run.
    Ready,
    /// They cannot.
    Failed {
        message: String,
    },
    Stdout {
        text: String,
    },
    Stderr {
        text: String,
    },
    /// Contents by MIME type: the value of the last expression, or what the cell displayed.
    Display {
        data: std::collections::BTreeMap<String, String>,
    },
    /// The cell, or a `:dep` of it, does not compile.
    Compiler {
        errors: Vec<Problem>,
    },
    Panic(Panic),
    /// The process that runs cells ended, and with it all variables.
    Exited {
        status: String,
    },
    /// The cell was stopped. `lost`: and with it all variables.
    Interrupted {
        lost: bool,
    },
    /// Something else went wrong.
    Error {
        message: String,
    },
    Completions {
        start: usize,
        end: usize,
        matches: Vec<Match>,
    },
    /// All events of a request were sent.
    End {
        id: u64,
    },
}

/// An error of the compiler.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// `E0308`; none for errors of cargo.
    pub code: Option<String>,
    pub message: String,
    pub spans: Vec<Mark>,
    pub help: Vec<String>,
}

/// A part of the cell, in lines and characters counted from one, and what is said about it.
#[derive(Debug, Serialize)]
pub struct Mark {
    pub start_line: usize,
    pub start_column: usize,
    pub end_line: usize,
    pub end_column: usize,
    pub label: String,
    pub primary: bool,
}

/// A panic of a thread.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Panic {
    /// `main` for that of the cell.
    pub thread: String,
    pub message: String,
    /// None for a line of the cell.
    pub file: Option<String>,
    pub line: usize,
    pub column: usize,
    /// The line, where it is not one of the cell and its text is known.
    pub text: Option<String>,
}

/// A completion.
#[derive(Debug, Serialize)]
pub struct Match {
    pub text: String,
    pub kind: &'static str,
}

/// Where events are written, one at a time.
#[derive(Clone)]
pub struct Events(Arc<Mutex<File>>);

impl Events {
    /// Keeps the standard output for events. What libraries print goes to the standard error.
    pub fn of_standard_output() -> io::Result<Self> {
        // SAFETY: plain calls on the file descriptors of this process, whose results are checked.
        let own = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
        if own < 0 || unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: nobody else has the new descriptor.
        Ok(Self(Arc::new(Mutex::new(unsafe { File::from_raw_fd(own) }))))
    }

    /// Writes an event. A kernel that is gone needs none.
    pub fn send(&self, event: &Event) {
        let line = match serde_json::to_string(event) {
            Ok(line) if line.len() <= LONGEST => line,
            Ok(line) => {
                let message =
                    format!("the output has {} MiB, and at most {} are shown", line.len() >> 20, LONGEST >> 20);
                serde_json::to_string(&Event::Error { message }).unwrap_or_default()
            }
            Err(error) => serde_json::to_string(&Event::Error { message: error.to_string() }).unwrap_or_default(),
        };
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = file.write_all(line.as_bytes()).and_then(|()| file.write_all(b"\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_events_are_what_the_kernel_writes_and_reads() {
        let line = r#"{"do": "evaluate", "id": 3, "code": "1", "inputs": [{"name": "t", "path": "/t.arrow"}]}"#;
        let Request::Evaluate { id: 3, inputs, outputs, .. } = serde_json::from_str(line).unwrap() else { panic!() };
        assert_eq!((inputs[0].name.as_str(), outputs.len()), ("t", 0));
        assert!(matches!(serde_json::from_str(r#"{"do": "interrupt"}"#).unwrap(), Request::Interrupt));
        let written = |event: &Event| serde_json::to_string(event).unwrap();
        assert_eq!(written(&Event::Interrupted { lost: true }), r#"{"event":"interrupted","lost":true}"#);
        assert_eq!(written(&Event::Ready), r#"{"event":"ready"}"#);
    }
}
