//! The thread that starts the first zygotes of a pool. Linux ties the life of a worker to the thread that started its
//! zygote, while the threads that use a pool come and go. It also waits for the end of workers that were killed, and
//! empties their folders, while the next ones run.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::PoolOptions;
use super::folders::{PoolFolder, remove_abandoned};
use super::link::Worker;
use super::zygote::{Started, Zygote};

type Answer = io::Result<Started>;

enum Request {
    Start(Arc<PoolFolder>, Sender<Answer>),
    End(Box<Worker>),
}

/// Lives as long as the pool. Its workers must be gone before it is dropped.
#[derive(Debug)]
pub struct Starter {
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Starter {
    pub fn new(options: PoolOptions) -> io::Result<Starter> {
        let (requests, inbox) = channel::<Request>();
        let serve = move || {
            let mut tidied = false;
            for request in inbox {
                match request {
                    // If nobody waits any more, dropping the process ends it.
                    Request::Start(folder, answer) => drop(answer.send(Zygote::start(&options, &folder))),
                    Request::End(worker) => drop(worker),
                }
                if !std::mem::replace(&mut tidied, true) {
                    remove_abandoned();
                }
            }
        };
        let thread = std::thread::Builder::new().name("twincell-workers".into()).spawn(serve)?;
        Ok(Starter { requests: Some(requests), thread: Some(thread) })
    }

    /// Starts a zygote. The process arrives in the returned channel.
    pub fn start(&self, folder: Arc<PoolFolder>) -> Receiver<Answer> {
        let (answer, arrival) = channel();
        if let Some(requests) = &self.requests {
            // This fails only if the thread is gone. The receiver reports that.
            let _ = requests.send(Request::Start(folder, answer));
        }
        arrival
    }

    /// Waits in the background until a killed worker is gone.
    pub fn end(&self, worker: Worker) {
        if let Some(requests) = &self.requests {
            // If the thread is gone, the worker comes back and is dropped here.
            let _ = requests.send(Request::End(Box::new(worker)));
        }
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
