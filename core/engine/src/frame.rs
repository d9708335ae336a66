//! One message <-> its bytes on the socket: a length prefix, MessagePack, and the bounds that keep a hostile peer from
//! exhausting memory or stack. Waiting, deadlines and processes are elsewhere.

use std::hash::Hasher;
use std::io::{ErrorKind, Read};

use rmp::Marker;
use serde::Serialize;
use serde::de::DeserializeOwned;
use siphasher::sip128::{Hasher128, SipHasher24};

use super::protocol::MAX_FRAME;

/// The number of bytes of the length prefix.
pub const PREFIX: usize = 4;

/// The engine refuses a worker's message above this size. A worker sends a shortened record instead.
pub const MAX_RECORD: usize = 8 << 20;

/// The maximum number of texts and containers in one message of a worker. A byte can be a container that takes many
/// times as much memory once it is read.
pub const MAX_PARTS: usize = 1 << 20;

/// The number of bytes of a tag.
pub const TAG: usize = 16;

/// The maximum nesting of MessagePack containers. Deeper data is refused instead of exhausting the stack. One level of
/// an observed value takes up to four.
const MAX_DEPTH: usize = 512;

/// What is wrong with a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes is over the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("a message has more than {MAX_PARTS} parts")]
    TooManyParts,
    #[error("a frame does not hold a message: it holds a value of a kind that none has")]
    UnknownKind,
    #[error("a frame ended after {got} of {expected} bytes")]
    Truncated { got: usize, expected: usize },
    #[error("a frame does not hold a message: {0}")]
    Decode(#[from] rmp_serde::decode::Error),
    #[error("a message cannot be written: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
    #[error("the connection failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("a message does not come from the worker itself: the code wrote to its connection")]
    Forged,
}

/// Tells the messages of a worker from what the code in its process writes to the same connection. Both sides know a
/// key, and each message carries a tag of the key, the number of the message and its content. The key is in no Python
/// object; code that searches the memory of its own process may find it, and can then lie about itself.
#[derive(Clone)]
pub struct Seal {
    key: [u8; 16],
    /// The number of the next message.
    next: u64,
}

impl Seal {
    pub fn new(key: [u8; 16]) -> Self {
        Self { key, next: 0 }
    }

    /// A key that nobody can guess.
    pub fn random() -> Result<Self, FrameError> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| FrameError::Io(error.into()))?;
        Ok(Self::new(key))
    }

    pub fn key(&self) -> [u8; 16] {
        self.key
    }

    fn tag(&mut self, body: &[u8]) -> [u8; TAG] {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write_u64(self.next.to_le());
        hasher.write(body);
        self.next += 1;
        hasher.finish128().as_bytes()
    }

    /// An encoded frame with its tag.
    pub fn close(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        let tag = self.tag(&frame[PREFIX..]);
        let length = (frame.len() - PREFIX + TAG) as u32;
        frame.splice(..PREFIX, length.to_le_bytes().into_iter().chain(tag));
        frame
    }

    /// The body of a frame with a tag, without it.
    pub fn open<'a>(&mut self, body: &'a [u8]) -> Result<&'a [u8], FrameError> {
        let (tag, body) = body.split_first_chunk::<TAG>().ok_or(FrameError::Forged)?;
        if *tag == self.tag(body) { Ok(body) } else { Err(FrameError::Forged) }
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is a secret.
        formatter.debug_struct("Seal").field("next", &self.next).finish_non_exhaustive()
    }
}

/// A whole frame, including the prefix, with at most `limit` bytes after the prefix.
pub fn encode<M: Serialize>(message: &M, limit: usize) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; PREFIX];
    rmp_serde::encode::write(&mut frame, message)?;
    let bytes = frame.len() - PREFIX;
    match u32::try_from(bytes) {
        Ok(length) if bytes <= limit => frame[..PREFIX].copy_from_slice(&length.to_le_bytes()),
        _ => return Err(FrameError::TooLarge { bytes, limit }),
    }
    Ok(frame)
}

/// The number of texts and containers in the body of a worker's message. More than [`MAX_PARTS`] are an error.
pub fn bounded_parts(body: &[u8]) -> Result<usize, FrameError> {
    let parts = parts(body)?;
    if parts > MAX_PARTS { Err(FrameError::TooManyParts) } else { Ok(parts) }
}

/// The number of texts and containers in a body, as far as it is complete.
fn parts(body: &[u8]) -> Result<usize, FrameError> {
    let mut rest = body;
    let mut count = 0;
    while let Some((&marker, after)) = rest.split_first() {
        let number = |bytes: usize| {
            let digits = after.get(..bytes).unwrap_or(after);
            digits.iter().fold(0_usize, |number, &digit| number << 8 | usize::from(digit))
        };
        // What is behind the marker and belongs to the value itself. What is in a container follows by itself.
        let (counts, length) = match Marker::from_u8(marker) {
            Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False => (false, 0),
            Marker::U8 | Marker::I8 => (false, 1),
            Marker::U16 | Marker::I16 => (false, 2),
            Marker::U32 | Marker::I32 | Marker::F32 => (false, 4),
            Marker::U64 | Marker::I64 | Marker::F64 => (false, 8),
            Marker::FixArray(_) | Marker::FixMap(_) => (true, 0),
            Marker::Array16 | Marker::Map16 => (true, 2),
            Marker::Array32 | Marker::Map32 => (true, 4),
            Marker::FixStr(length) => (true, usize::from(length)),
            Marker::Str8 | Marker::Bin8 => (true, 1 + number(1)),
            Marker::Str16 | Marker::Bin16 => (true, 2 + number(2)),
            Marker::Str32 | Marker::Bin32 => (true, 4 + number(4)),
            // No message has these. Their content would hide what is behind them from the count.
            Marker::FixExt1 | Marker::FixExt2 | Marker::FixExt4 | Marker::FixExt8 | Marker::FixExt16 => {
                return Err(FrameError::UnknownKind);
            }
            Marker::Ext8 | Marker::Ext16 | Marker::Ext32 | Marker::Reserved => return Err(FrameError::UnknownKind),
        };
        count += usize::from(counts);
        rest = after.get(length..).unwrap_or_default();
    }
    Ok(count)
}

/// The message in a frame's body.
pub fn decode<M: DeserializeOwned>(body: &[u8]) -> Result<M, FrameError> {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(body);
    deserializer.set_max_depth(MAX_DEPTH);
    Ok(M::deserialize(&mut deserializer)?)
}

/// The length of the body, from the prefix.
pub fn announced(prefix: [u8; PREFIX], limit: usize) -> Result<usize, FrameError> {
    let bytes = u32::from_le_bytes(prefix) as usize;
    if bytes > limit { Err(FrameError::TooLarge { bytes, limit }) } else { Ok(bytes) }
}

/// Reads one message and waits for it as long as it takes. `None` if the peer closed the connection between frames.
pub fn read<M: DeserializeOwned>(reader: &mut impl Read) -> Result<Option<M>, FrameError> {
    let mut prefix = [0; PREFIX];
    match fill(reader, &mut prefix)? {
        0 => return Ok(None),
        PREFIX => {}
        got => return Err(FrameError::Truncated { got, expected: PREFIX }),
    }
    let expected = announced(prefix, MAX_FRAME)?;
    // `take` grows the buffer with the data that arrives, so that a false length alone costs no memory.
    let mut body = Vec::new();
    let got = reader.take(expected as u64).read_to_end(&mut body)?;
    if got < expected {
        return Err(FrameError::Truncated { got, expected });
    }
    decode(&body).map(Some)
}

/// Reads until the buffer is full or the stream ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, FrameError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::Observed;
    use crate::protocol::{ExecutionRequest, ToWorker};
    use twincell_values::value::{Decision, Recipe};

    fn run_message() -> ToWorker {
        let fixed = [("a.b".to_string(), Decision::Value(Recipe::Float(f64::INFINITY)))].into();
        ToWorker::Run {
            program: 7,
            requests: vec![ExecutionRequest {
                index: 3,
                seed: u64::MAX,
                fixed,
                versions: vec![0, 1],
                observe: false,
                explain: false,
                replace: Default::default(),
                longer: false,
                given: false,
            }],
        }
    }

    #[test]
    fn messages_come_back_as_they_were_sent() {
        let mut bytes = encode(&run_message(), MAX_FRAME).unwrap();
        let last = ToWorker::Inspect { program: 7 };
        bytes.extend(encode(&last, MAX_FRAME).unwrap());
        let mut reader = bytes.as_slice();
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), Some(run_message()));
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), Some(last));
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), None);
    }

    #[test]
    fn a_message_is_known_by_its_key_its_number_and_its_content() {
        let (mut theirs, mut ours) = (Seal::new([7; 16]), Seal::new([7; 16]));
        let plain = encode(&ToWorker::Inspect { program: 3 }, MAX_FRAME).unwrap();
        let frames = [theirs.close(plain.clone()), theirs.close(plain.clone())];
        assert_ne!(frames[0], frames[1]);
        for frame in &frames {
            assert_eq!(announced(*frame.first_chunk().unwrap(), MAX_FRAME).unwrap(), frame.len() - PREFIX);
            assert_eq!(ours.open(&frame[PREFIX..]).unwrap(), &plain[PREFIX..]);
        }
        // Repeated, with another key, changed, or without a tag.
        let mut changed = frames[0][PREFIX..].to_vec();
        *changed.last_mut().unwrap() ^= 1;
        let others = [frames[0][PREFIX..].to_vec(), changed, plain[PREFIX..].to_vec(), vec![]];
        for body in others {
            assert!(matches!(ours.open(&body), Err(FrameError::Forged)));
        }
        assert!(matches!(Seal::new([8; 16]).open(&frames[0][PREFIX..]), Err(FrameError::Forged)));
    }

    #[test]
    fn every_truncation_of_a_frame_is_an_error() {
        let bytes = encode(&run_message(), MAX_FRAME).unwrap();
        for length in 1..bytes.len() {
            assert!(read::<ToWorker>(&mut &bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn oversized_frames_are_refused_by_both_sides() {
        let sent = encode(&"x".repeat(100), 50);
        assert!(matches!(sent, Err(FrameError::TooLarge { limit: 50, .. })));
        let received = read::<ToWorker>(&mut [255u8; 64].as_slice());
        assert!(matches!(received, Err(FrameError::TooLarge { .. })));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        // {"list": [{"list": [...
        let level: Vec<u8> = [&[0x81, 0xa4][..], b"list", &[0x91]].concat();
        let body = level.repeat(500_000);
        let frame = [&(body.len() as u32).to_le_bytes()[..], &body].concat();
        assert!(matches!(read::<Observed>(&mut frame.as_slice()), Err(FrameError::Decode(_))));
        // The same in a field that the receiver does not know and therefore skips.
        let ignored = [&[0x81, 0xa4][..], b"none", &[0x91].repeat(500_000)].concat();
        assert!(decode::<ToWorker>(&ignored).is_err());
    }

    #[test]
    fn nesting_as_deep_as_a_runtime_may_capture_is_fine() {
        let mut value = Observed::None;
        for _ in 0..100 {
            value = Observed::Dict(vec![(Observed::Str("key".into()), value)]);
        }
        let frame = encode(&value, MAX_FRAME).unwrap();
        assert_eq!(read::<Observed>(&mut frame.as_slice()).unwrap(), Some(value));
    }

    #[test]
    fn texts_and_containers_are_counted_and_numbers_are_not() {
        for (value, expected) in [
            (Observed::None, 1),
            (Observed::Bytes(vec![200; 1000]), 3),
            (Observed::Str("x".repeat(300)), 3),
            (Observed::List(vec![Observed::Bool(true); 70_000]), 3 + 2 * 70_000),
            (Observed::Dict(vec![(Observed::Float("1.5".into()), Observed::None)]), 8),
        ] {
            let frame = encode(&value, MAX_FRAME).unwrap();
            assert_eq!(parts(&frame[PREFIX..]).unwrap(), expected, "{expected}");
        }
    }

    #[test]
    fn kinds_that_no_message_has_are_refused_and_hide_nothing() {
        // A list of such a value and of more lists than are allowed.
        let lists = [&[0xdd, 0, 0x20, 0, 0][..], &vec![0x90; 2 * MAX_PARTS]].concat();
        for unknown in [0xc1, 0xc7, 0xc8, 0xc9, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8] {
            let body = [&[0x92, unknown][..], &[1; 18], &lists].concat();
            assert!(matches!(bounded_parts(&body), Err(FrameError::UnknownKind)), "{unknown:#x}");
        }
        assert!(matches!(bounded_parts(&lists), Err(FrameError::TooManyParts)));
    }

    #[test]
    fn arbitrary_bytes_never_panic() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let body: Vec<u8> = (0..40)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 56) as u8
                })
                .collect();
            let _ = decode::<crate::protocol::FromWorker>(&body);
            assert!(parts(&body).unwrap_or_default() <= body.len());
        }
    }
}
