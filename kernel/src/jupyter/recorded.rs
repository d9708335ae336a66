//! The output of a cell, recorded for IPython's history.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jupyter_protocol::Stdio;

/// The maximum number of recorded bytes of a cell's output.
const RECORD_LIMIT: usize = 1 << 20;

/// The output of a cell, for IPython's history, from which notebooks are exported.
#[derive(Default)]
pub struct Record {
    is_on: AtomicBool,
    written: Mutex<RecordedPieces>,
}

#[derive(Default)]
struct RecordedPieces {
    pieces: Vec<(&'static str, String)>,
    size: usize,
}

impl Record {
    /// Turns recording on or off. Returns whether it was on.
    pub fn switch(&self, on: bool) -> bool {
        self.is_on.swap(on, Ordering::Relaxed)
    }

    /// The output since the last call, by stream.
    pub fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.lock()).pieces
    }

    pub fn add(&self, name: &Stdio, text: &str) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let mut written = self.lock();
        if written.size > RECORD_LIMIT {
            return;
        }
        written.size += text.len();
        let name = if matches!(name, Stdio::Stderr) { "stderr" } else { "stdout" };
        match written.pieces.last_mut() {
            Some((last, piece)) if *last == name => piece.push_str(text),
            _ => written.pieces.push((name, text.to_owned())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecordedPieces> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
