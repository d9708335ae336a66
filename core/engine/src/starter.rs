//! The thread that starts all workers of a pool. Linux ties a worker's life to the thread that started it, and a pool
//! is used by threads that come and go.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::PoolOptions;
use super::process::{Process, remove_abandoned};

type Started = io::Result<(Process, UnixStream)>;

/// Lives as long as the pool; its workers must be gone before it is dropped.
#[derive(Debug)]
pub struct Starter {
    requests: Option<Sender<Sender<Started>>>,
    thread: Option<JoinHandle<()>>,
}

impl Starter {
    pub fn new(options: PoolOptions) -> io::Result<Starter> {
        let (requests, inbox) = channel::<Sender<Started>>();
        let serve = move || {
            let mut tidied = false;
            for answer in inbox {
                // Nobody waits any more: the process is dropped, which ends it.
                let _ = answer.send(Process::start(&options));
                if !std::mem::replace(&mut tidied, true) {
                    remove_abandoned();
                }
            }
        };
        let thread = std::thread::Builder::new().name("twincell-workers".into()).spawn(serve)?;
        Ok(Starter { requests: Some(requests), thread: Some(thread) })
    }

    /// Starts a worker; the process arrives where the result says.
    pub fn start(&self) -> Receiver<Started> {
        let (answer, arrival) = channel();
        if let Some(requests) = &self.requests {
            // Fails only when the thread is gone; then the receiver says so.
            let _ = requests.send(answer);
        }
        arrival
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
