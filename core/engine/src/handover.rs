//! Open files from one process to another, over a socket. They travel with a byte of their own, between two frames.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The maximum number of files at once.
const MOST: usize = 4;

/// Sends at most four files.
pub fn send(socket: &UnixStream, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    loop {
        match sendmsg(socket.as_fd(), &[IoSlice::new(&[0])], &mut ancillary, SendFlags::empty()) {
            Err(Errno::INTR) => {}
            sent => return sent.map(drop).map_err(Into::into),
        }
    }
}

/// Receives the files that the other side sent. They are closed in programs that this process starts.
pub fn receive(socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    loop {
        let flags = if cfg!(target_os = "linux") { RecvFlags::CMSG_CLOEXEC } else { RecvFlags::empty() };
        match recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => break,
        }
    }
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_file_arrives_between_two_frames() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let (one, mut other) = UnixStream::pair().unwrap();
        ours.write_all(b"before").unwrap();
        send(&ours, &[one.as_fd()]).unwrap();
        drop(one);
        ours.write_all(b"after").unwrap();
        let mut read = [0; 6];
        theirs.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"before");
        let files = receive(&theirs).unwrap();
        assert_eq!(files.len(), 1);
        let mut read = [0; 5];
        theirs.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"after");
        UnixStream::from(files.into_iter().next().unwrap()).write_all(b"x").unwrap();
        let mut read = [0; 1];
        other.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"x");
    }
}
