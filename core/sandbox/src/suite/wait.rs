//! Waits for a process of the sandbox, at most this long.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Child, Output};
use std::sync::mpsc;
use std::time::Duration;

/// What a process wrote until it ended. When its time is over, closing our end of its socket ends it and all that it has started.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`], or what the system says.
pub fn output_within(child: Child, control: UnixStream, limit: Duration) -> io::Result<Output> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        // Nobody listens any more where it took too long.
        let _ = sender.send(child.wait_with_output());
    })?;
    let ended = receiver.recv_timeout(limit);
    drop(control);
    ended.unwrap_or_else(|_| {
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("it did not end within {} s", limit.as_secs())))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_ends_says_what_it_wrote_and_what_does_not_is_given_up() {
        let start = |script: &str| {
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        };
        let (own, _theirs) = UnixStream::pair().unwrap();
        assert_eq!(output_within(start("echo a"), own, Duration::from_secs(600)).unwrap().stdout, b"a\n");
        let (own, mut theirs) = UnixStream::pair().unwrap();
        let mut endless = start("read -r line");
        // Until this goes, it has nothing to read.
        let _input = endless.stdin.take();
        let error = output_within(endless, own, Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // The other end is told.
        assert_eq!(io::Read::read(&mut theirs, &mut [0]).unwrap(), 0);
    }
}
