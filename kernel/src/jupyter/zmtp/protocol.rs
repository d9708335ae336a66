//! ZeroMQ's bytes: the handshake, and frames in both directions. There are no sockets here.
//!
//! Specification: ZMTP 3.0, <https://rfc.zeromq.org/spec/23/>.

use std::io;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::peers::Waiting;
use super::{Frames, Kind};

/// What each frame of a message costs besides its length.
pub(super) const FRAME_CHARGE: u64 = 64;
/// The maximum length of a command and of an identity, from the specification.
const MAX_COMMAND: u64 = 1 << 16;
const MAX_IDENTITY: usize = 255;
/// Frames longer than this are sent without being copied.
const COPIED: usize = 16 << 10;
/// The number of bytes read at once, and gathered before a write.
pub(super) const CHUNK: usize = 64 << 10;

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// Greeting and READY in both directions; returns the peer's identity.
pub(super) async fn shake_hands(
    reading: &mut (impl AsyncRead + Unpin),
    writing: &mut (impl AsyncWrite + Unpin),
    kind: Kind,
    number: u64,
) -> io::Result<Bytes> {
    let mut greeting = [0; 64];
    greeting[0] = 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    greeting[12..16].copy_from_slice(b"NULL");
    writing.write_all(&greeting).await?;
    let mut theirs = [0; 64];
    reading.read_exact(&mut theirs).await?;
    if theirs[0] != 0xff || theirs[9] & 1 == 0 || theirs[10] < 3 || theirs[12..32] != greeting[12..32] {
        return Err(broken());
    }

    let mut ready = BytesMut::new();
    ready.put_slice(b"\x05READY");
    for (name, value) in [("Socket-Type", kind.name()), ("Identity", "")] {
        ready.put_u8(name.len() as u8);
        ready.put_slice(name.as_bytes());
        ready.put_u32(value.len() as u32);
        ready.put_slice(value.as_bytes());
    }
    let mut frame = BytesMut::new();
    put_header(&mut frame, COMMAND, ready.len());
    frame.put_slice(&ready);
    writing.write_all(&frame).await?;

    let (COMMAND, command) = read_frame(reading, MAX_COMMAND, &|_| ()).await? else { return Err(broken()) };
    let Some((b"READY", properties)) = split_name(&command) else { return Err(broken()) };
    let (mut identity, mut fits, mut rest) = (Bytes::new(), false, properties);
    while !rest.is_empty() {
        let (name, value, next) = property(rest).ok_or_else(broken)?;
        if name.eq_ignore_ascii_case(b"Socket-Type") {
            fits = kind.talks_to(value);
        } else if name.eq_ignore_ascii_case(b"Identity") && value.len() <= MAX_IDENTITY {
            identity = Bytes::copy_from_slice(value);
        }
        rest = next;
    }
    if !fits {
        return Err(broken());
    }
    if identity.is_empty() || kind == Kind::Publisher {
        // A peer's own identity may not begin with zero, so the two kinds cannot be confused.
        let mut made = BytesMut::from(&[0][..]);
        made.put_u64(number);
        identity = made.freeze();
    }
    Ok(identity)
}

/// One property of a READY command: name, value, and the rest.
fn property(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (value, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((name, value, rest))
}

/// A command's name and its data.
pub(super) fn split_name(command: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = command.split_first()?;
    rest.split_at_checked(length.into())
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

fn too_long() -> io::Error {
    io::ErrorKind::FileTooLarge.into()
}

pub(super) enum Received {
    Message(Frames),
    Command(Bytes),
}

/// A message of at most `limit` bytes, or a command. `count` is told how many bytes of it have come, with the charge for
/// each frame.
pub(super) async fn receive(
    reading: &mut (impl AsyncRead + Unpin),
    limit: u64,
    count: &(impl Fn(usize) + Sync),
) -> io::Result<Received> {
    let mut frames = Vec::new();
    let mut left = limit;
    loop {
        let (flags, body) = read_frame(reading, left, count).await?;
        if flags & COMMAND != 0 {
            return if frames.is_empty() { Ok(Received::Command(body)) } else { Err(broken()) };
        }
        left = left.checked_sub(body.len() as u64 + FRAME_CHARGE).ok_or_else(too_long)?;
        frames.push(body);
        if flags & MORE == 0 {
            return Ok(Received::Message(frames));
        }
    }
}

/// One frame: its flags, except the one for its length, and its body.
async fn read_frame(
    reading: &mut (impl AsyncRead + Unpin),
    limit: u64,
    count: &(impl Fn(usize) + Sync),
) -> io::Result<(u8, Bytes)> {
    let flags = reading.read_u8().await?;
    let length = if flags & LONG == 0 { reading.read_u8().await?.into() } else { reading.read_u64().await? };
    if flags > MORE | LONG | COMMAND || flags & COMMAND != 0 && length > MAX_COMMAND {
        return Err(broken());
    }
    if length > limit {
        return Err(too_long());
    }
    count(FRAME_CHARGE as usize);
    let mut body = Vec::new();
    loop {
        let next = (length - body.len() as u64).min(CHUNK as u64);
        if next == 0 {
            break;
        }
        let come = (&mut *reading).take(next).read_to_end(&mut body).await?;
        if (come as u64) < next {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        count(come);
    }
    Ok((flags & !LONG, body.into()))
}

fn put_header(bytes: &mut BytesMut, flags: u8, length: usize) {
    match u8::try_from(length) {
        Ok(length) => bytes.put_slice(&[flags, length]),
        Err(_) => {
            bytes.put_u8(flags | LONG);
            bytes.put_u64(length as u64);
        }
    }
}

/// Writes the queue of a peer. Small frames go out together.
pub(super) async fn write_always(
    mut writing: impl AsyncWrite + Unpin,
    mut queued: mpsc::UnboundedReceiver<Arc<[Bytes]>>,
    waiting: Arc<Waiting>,
) -> io::Result<()> {
    let mut gathered = BytesMut::new();
    while let Some(first) = queued.recv().await {
        let mut next = Some(first);
        // The size of what is gathered.
        let mut size = 0;
        while let Some(frames) = next {
            for (index, frame) in frames.iter().enumerate() {
                put_header(&mut gathered, if index + 1 < frames.len() { MORE } else { 0 }, frame.len());
                size += FRAME_CHARGE as usize;
                if frame.len() > COPIED {
                    writing.write_all(&gathered).await?;
                    gathered.clear();
                    waiting.take(std::mem::take(&mut size));
                    let mut rest = &frame[..];
                    while !rest.is_empty() {
                        let count = writing.write(rest).await?;
                        if count == 0 {
                            return Err(io::ErrorKind::WriteZero.into());
                        }
                        waiting.take(count);
                        rest = &rest[count..];
                    }
                } else {
                    gathered.put_slice(frame);
                    size += frame.len();
                }
            }
            next = if gathered.len() < CHUNK { queued.try_recv().ok() } else { None };
        }
        writing.write_all(&gathered).await?;
        gathered.clear();
        waiting.take(size);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::peers::size;
    use super::*;

    const MAX_MESSAGE: u64 = Kind::Router.longest(true);

    async fn read(bytes: &[u8]) -> io::Result<Received> {
        receive(&mut &bytes[..], MAX_MESSAGE, &|_| ()).await
    }

    #[tokio::test]
    async fn a_message_is_read_as_it_was_written() {
        let frames: Arc<[Bytes]> = [vec![], vec![1; 255], vec![2; 256], vec![3; COPIED + 1]].map(Bytes::from).into();
        let (sender, queued) = mpsc::unbounded_channel();
        sender.send(frames.clone()).unwrap();
        drop(sender);
        let waiting = Arc::new(Waiting::default());
        waiting.add(size(&frames));
        let mut bytes = Vec::new();
        write_always(&mut bytes, queued, waiting.clone()).await.unwrap();
        let Ok(Received::Message(read)) = read(&bytes).await else { panic!() };
        assert_eq!(read, frames.to_vec());
        assert_eq!(waiting.bytes(), 0);
    }

    #[tokio::test]
    async fn what_is_announced_and_does_not_come_takes_no_memory() {
        for length in [1 << 20, MAX_MESSAGE, 1 << 40, u64::MAX] {
            let mut bytes = vec![LONG];
            bytes.extend(length.to_be_bytes());
            bytes.extend([0; 100]);
            assert!(read(&bytes).await.is_err(), "{length}");
        }
    }

    #[tokio::test]
    async fn a_message_cut_off_anywhere_and_flags_that_are_unknown_are_refused() {
        let whole = [MORE, 1, b'a', 0, 1, b'b'];
        assert!(read(&whole).await.is_ok());
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).await.is_err(), "{length}");
        }
        assert!(read(&[8, 0]).await.is_err());
        assert!(read(&[MORE, 0, COMMAND, 0]).await.is_err());
    }

    #[tokio::test]
    async fn frames_without_end_are_refused() {
        let bytes = [MORE, 0].repeat((MAX_MESSAGE / FRAME_CHARGE) as usize / 1000);
        assert!(read(&bytes).await.is_err());
    }

    #[test]
    fn properties_that_are_cut_off_are_refused() {
        let whole = b"\x04Name\x00\x00\x00\x02ab";
        assert_eq!(property(whole), Some((&b"Name"[..], &b"ab"[..], &b""[..])));
        for length in 0..whole.len() {
            assert_eq!(property(&whole[..length]), None, "{length}");
        }
    }
}
