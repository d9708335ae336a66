//! The zygote: it imports what programs need, runs none of them, and forks a process for each. It is locked in before Python
//! does more than load twincell, and so is all that comes from it.

use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use twincell_engine::frame::{self, FrameError};
use twincell_engine::handover;
use twincell_engine::protocol::{FromZygote, MAX_FRAME, PROTOCOL_VERSION, ToZygote};
use twincell_sandbox::{Limits, Processes, lock};

use super::fork::{Forked, for_engine, take_socket};
use super::janitor::{Janitor, remove_pool};
use super::{Host, OPEN_FILES, Setup, WorkerError, work};

/// How often a zygote that nobody asks looks whether the engine is still there.
const LOOK: Duration = Duration::from_secs(1);
/// No bound of its own: workers have theirs.
const UNBOUNDED: u64 = 1 << 42;

/// Forks workers until the engine has no more use for them. In a fork this does not return.
pub fn serve(setup: &Setup, host: &mut dyn Host) -> Result<(), WorkerError> {
    let socket = take_socket(setup.socket)?;
    let engine = std::os::unix::process::parent_id();
    let janitor = if cfg!(target_os = "linux") { Janitor::leave(&setup.folder, engine, &socket) } else { None };
    let is_complete = lock_in(setup);
    host.start(is_complete || setup.incomplete).map_err(WorkerError::Begin)?;
    let served = fork_for(engine, socket, setup, host, is_complete, true);
    // If the engine was killed, be it in the middle of a message, it removes nothing, and its workers end at this moment.
    match janitor {
        Some(janitor) if std::os::unix::process::parent_id() == engine => janitor.dismiss(),
        Some(_) => {}
        None => remove_pool(&setup.folder),
    }
    served
}

/// Locks this process in, so that it can still fork. What is installed is the user's own and not under comparison, but nobody
/// vouches for it either. Whether the sandbox is complete.
fn lock_in(setup: &Setup) -> bool {
    // Elsewhere there are only bounds, which a worker sets once.
    cfg!(target_os = "linux")
        && lock(&Limits {
            scratch: setup.folder.clone(),
            readable: setup.readable.clone(),
            listable: setup.listable.clone(),
            memory_bytes: UNBOUNDED,
            open_files: OPEN_FILES,
            processes: Processes::Forks,
        })
        .is_complete()
}

/// What a zygote does until its connection ends. Code under comparison runs only in what it forks.
fn fork_for(
    engine: u32,
    mut socket: UnixStream,
    setup: &Setup,
    host: &mut dyn Host,
    is_complete: bool,
    can_fork: bool,
) -> Result<(), WorkerError> {
    send(&mut socket, &FromZygote::Ready { protocol: PROTOCOL_VERSION, can_fork })?;
    while let Some(message) = next(&mut socket, engine)? {
        let answer = match &message {
            ToZygote::Installed { modules } => FromZygote::Installed { modules: host.installed(modules.clone()) },
            ToZygote::Worker(_) | ToZygote::Zygote { .. } => {
                let files = handover::receive(&socket).map_err(FrameError::from)?;
                match for_engine(host, files, engine) {
                    Ok(Forked::Before(process)) => FromZygote::Forked { process },
                    Ok(Forked::New(own)) => {
                        let became = std::process::id();
                        if cfg!(not(target_os = "linux")) {
                            send(&mut socket, &FromZygote::Forked { process: became })?;
                        }
                        drop(socket);
                        live(message, own, engine, setup, host, is_complete);
                    }
                    Err(reason) => FromZygote::Failed { reason },
                }
            }
        };
        send(&mut socket, &answer)?;
    }
    Ok(())
}

/// The life of a new process, to its end.
fn live(
    message: ToZygote,
    socket: UnixStream,
    engine: u32,
    setup: &Setup,
    host: &mut dyn Host,
    is_complete: bool,
) -> ! {
    let lived = match message {
        ToZygote::Worker(fork) => work(socket, &fork, setup, host),
        ToZygote::Zygote { imports } => {
            // Where they would not be locked in, workers import them, once the engine lets them run.
            let can_fork = is_complete && host.import(imports);
            fork_for(engine, socket, setup, host, is_complete, can_fork)
        }
        ToZygote::Installed { .. } => Ok(()),
    };
    let status = match lived {
        Ok(()) => 0,
        Err(error) => {
            // The engine reads the last line.
            let _ = writeln!(std::io::stderr(), "{error}");
            1
        }
    };
    // SAFETY: this ends the process at once. Whatever foreign code left behind (threads, exit handlers) does not run, nor
    // does what the zygote would do when it ends.
    unsafe { libc::_exit(status) }
}

/// The next message. `None` if the engine has closed the connection or has ended. Another process may hold the engine's
/// end of the connection, if the engine was forked.
fn next(socket: &mut UnixStream, engine: u32) -> Result<Option<ToZygote>, WorkerError> {
    loop {
        let limit = Timespec { tv_sec: LOOK.as_secs() as i64, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)], Some(&limit));
        if std::os::unix::process::parent_id() != engine {
            return Ok(None);
        }
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => break,
            Err(error) => return Err(FrameError::Io(error.into()).into()),
        }
    }
    match frame::read(socket) {
        Err(FrameError::Io(error)) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
        read => Ok(read?),
    }
}

fn send(socket: &mut UnixStream, message: &FromZygote) -> Result<(), WorkerError> {
    let frame = frame::encode(message, MAX_FRAME)?;
    socket.write_all(&frame).map_err(FrameError::from)?;
    Ok(())
}
