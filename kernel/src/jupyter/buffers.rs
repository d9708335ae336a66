//! The memory of long messages, used again: a new page costs more than writing it does.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// Shorter texts come from the allocator alone, and longer ones go back to it.
const LONG: usize = 128 << 10;
const LONGEST: usize = 2 << 20;
/// The maximum number of buffers that wait to be used again.
const MOST: usize = 8;

static WAITING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer.
pub fn take() -> Vec<u8> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(|| Vec::with_capacity(256))
}

/// The text of a message. Its memory is used again when it was sent.
pub fn freeze(text: Vec<u8>) -> Bytes {
    if text.capacity() < LONG { text.into() } else { Bytes::from_owner(Buffer(text)) }
}

struct Buffer(Vec<u8>);

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut text = std::mem::take(&mut self.0);
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST && text.capacity() <= LONGEST {
            text.clear();
            waiting.push(text);
        }
    }
}
