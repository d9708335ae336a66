//! Waits for a process of the sandbox, at most this long.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::{Child, Output};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often to look whether a process has ended that says nothing more.
const LOOK: Duration = Duration::from_millis(2);
/// The time for a supervisor to end what it watches.
const FAREWELL: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 3 } else { 0 });

/// What a process of [`spawn`](super::spawn) wrote until it ended. When its time is over, closing our end of its socket makes its
/// supervisor end it and all that it has started. Where there is no supervisor, its group is killed.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`], or what the system says.
pub fn output_within(child: Child, control: UnixStream, limit: Duration) -> io::Result<Output> {
    output_or_end(child, control, limit, FAREWELL)
}

fn output_or_end(mut child: Child, control: UnixStream, limit: Duration, farewell: Duration) -> io::Result<Output> {
    // A limit that no clock can show is none.
    let deadline = Instant::now().checked_add(limit);
    drop(child.stdin.take());
    let output = output_until(&mut child, deadline);
    if !matches!(&output, Ok(Some(_))) {
        end(&mut child, control, farewell);
    }
    let too_long = || io::Error::new(io::ErrorKind::TimedOut, format!("it did not end within {limit:?}"));
    output?.ok_or_else(too_long)
}

/// `None` if it takes longer.
fn output_until(child: &mut Child, deadline: Option<Instant>) -> io::Result<Option<Output>> {
    let out = child.stdout.take().map(read_beside).transpose()?;
    let err = child.stderr.take().map(read_beside).transpose()?;
    let Some(stdout) = heard(out, deadline)? else { return Ok(None) };
    let Some(stderr) = heard(err, deadline)? else { return Ok(None) };
    if !wait_until(child, deadline)? {
        return Ok(None);
    }
    Ok(Some(Output { status: child.wait()?, stdout, stderr }))
}

/// Reads all that comes, while others go on.
fn read_beside(mut pipe: impl Read + Send + 'static) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.read_to_end(&mut bytes);
        // Nobody listens any more where it took too long.
        let _ = sender.send(read.map(|_| bytes));
    })?;
    Ok(receiver)
}

fn heard(pipe: Option<Receiver<io::Result<Vec<u8>>>>, deadline: Option<Instant>) -> io::Result<Option<Vec<u8>>> {
    let Some(pipe) = pipe else { return Ok(Some(vec![])) };
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    match left {
        Some(left) => pipe.recv_timeout(left).ok().transpose(),
        None => pipe.recv().ok().transpose(),
    }
}

/// Whether a process ends until then.
fn wait_until(child: &mut Child, deadline: Option<Instant>) -> io::Result<bool> {
    while child.try_wait()?.is_none() {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
    Ok(true)
}

/// Ends a process and what it has started, and with them the threads that read what they write.
fn end(child: &mut Child, control: UnixStream, farewell: Duration) {
    // Others may hold a copy of it.
    let _ = control.shutdown(std::net::Shutdown::Both);
    drop(control);
    if wait_until(child, Some(Instant::now() + farewell)).unwrap_or(false) {
        return;
    }
    // It was not waited for, so that its number is still its own.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use rustix::process::test_kill_process_group;

    use super::*;

    /// A program in a group of its own, without a supervisor.
    fn start(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn what_ends_says_what_it_wrote() {
        let (own, _theirs) = UnixStream::pair().unwrap();
        let output = output_within(start("echo a; echo b >&2; exit 3"), own, Duration::MAX).unwrap();
        assert_eq!((output.stdout, output.stderr, output.status.code()), (b"a\n".into(), b"b\n".into(), Some(3)));
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        for script in ["sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600 & sleep 600"] {
            let (own, mut theirs) = UnixStream::pair().unwrap();
            let endless = start(script);
            let group = Pid::from_raw(endless.id() as i32).unwrap();
            let error = output_or_end(endless, own, Duration::from_millis(10), Duration::ZERO).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::TimedOut, "it did not end within 10ms")
            );
            // The other end is told.
            assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
            let deadline = Instant::now() + Duration::from_secs(60);
            while test_kill_process_group(group).is_ok() && Instant::now() < deadline {
                std::thread::sleep(LOOK);
            }
            assert!(test_kill_process_group(group).is_err(), "{script}");
        }
    }
}
