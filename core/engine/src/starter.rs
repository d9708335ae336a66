//! The thread that starts all workers of a pool. Linux ties a worker's life to the thread that started it, while the
//! threads that use a pool come and go.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::PoolOptions;
use super::process::{Process, remove_abandoned};

type Started = io::Result<(Process, UnixStream)>;

/// Lives as long as the pool. Its workers must be gone before it is dropped.
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
                // Nobody waits any more. Dropping the process ends it.
                let _ = answer.send(Process::start(&options));
                if !std::mem::replace(&mut tidied, true) {
                    remove_abandoned();
                }
            }
        };
        let thread = std::thread::Builder::new().name("twincell-workers".into()).spawn(serve)?;
        Ok(Starter { requests: Some(requests), thread: Some(thread) })
    }

    /// Starts a worker. The process arrives in the returned channel.
    pub fn start(&self) -> Receiver<Started> {
        let (answer, arrival) = channel();
        if let Some(requests) = &self.requests {
            // This fails only if the thread is gone. The receiver reports that.
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
