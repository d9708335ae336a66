//! One message <-> its bytes on the socket: a length prefix, MessagePack, and the bounds that keep a hostile peer from
//! exhausting memory or stack. Waiting, deadlines and processes are elsewhere.

use std::io::{ErrorKind, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::MAX_FRAME;

/// The number of bytes of the length prefix.
pub const PREFIX: usize = 4;

/// The engine refuses a worker's message above this size. A worker sends a shortened record instead.
pub const MAX_RECORD: usize = 8 << 20;

/// The maximum nesting of MessagePack containers. Deeper data is refused instead of exhausting the stack. One level of
/// an observed value takes up to four.
const MAX_DEPTH: usize = 512;

/// What is wrong with a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes is over the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("a frame ended after {got} of {expected} bytes")]
    Truncated { got: usize, expected: usize },
    #[error("a frame does not hold a message: {0}")]
    Decode(#[from] rmp_serde::decode::Error),
    #[error("a message cannot be written: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
    #[error("the connection failed: {0}")]
    Io(#[from] std::io::Error),
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
            }],
        }
    }

    #[test]
    fn messages_come_back_as_they_were_sent() {
        let mut bytes = encode(&run_message(), MAX_FRAME).unwrap();
        bytes.extend(encode(&ToWorker::Exit, MAX_FRAME).unwrap());
        let mut reader = bytes.as_slice();
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), Some(run_message()));
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), Some(ToWorker::Exit));
        assert_eq!(read::<ToWorker>(&mut reader).unwrap(), None);
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
        let ignored = [&[0x81, 0xa4][..], b"exit", &[0x91].repeat(500_000)].concat();
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
        }
    }
}
