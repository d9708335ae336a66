//! The memory of long messages, used again: new pages cost more than writing into them does. It keeps 16 MiB at most.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// The capacities of buffers that are used again, in bytes.
pub const SHORTEST: usize = 128 << 10;
const LONGEST: usize = 2 << 20;
/// The maximum number of buffers that wait to be used again.
const MOST: usize = 8;

static WAITING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<Vec<u8>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer with what `begun` holds, for a long text.
pub fn grown(begun: Vec<u8>) -> Vec<u8> {
    match waiting().pop() {
        Some(mut buffer) => {
            buffer.extend_from_slice(&begun);
            buffer
        }
        None => begun,
    }
}

/// The text of a message. Its memory is used again when it was sent.
pub fn freeze(text: Vec<u8>) -> Bytes {
    if text.capacity() < SHORTEST { text.into() } else { Bytes::from_owner(Buffer(text)) }
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
        text.clear();
        let mut waiting = waiting();
        if waiting.len() < MOST && (SHORTEST..=LONGEST).contains(&text.capacity()) {
            waiting.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_long_messages_is_used_again_within_bounds() {
        // No other test touches it.
        let sent: Vec<Bytes> = (0..2 * MOST).map(|_| freeze(vec![1; SHORTEST])).collect();
        drop(sent);
        assert_eq!(waiting().len(), MOST);
        let text = grown(b"begun".to_vec());
        assert_eq!(text, b"begun");
        assert!(text.capacity() >= SHORTEST);
        drop(freeze(vec![1; LONGEST + 1]));
        drop(freeze(vec![1; SHORTEST - 1]));
        assert_eq!(waiting().len(), MOST - 1);
        drop(freeze(text));
        assert_eq!(waiting().len(), MOST);
    }
}
