//! The thread that starts the first zygotes of a pool. Linux ties the life of a worker to the thread that started its
//! zygote, while the threads that use a pool come and go.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::PoolOptions;
use super::folders::{PoolFolder, remove_abandoned};
use super::zygote::{Started, Zygote};

type Answer = io::Result<Started>;

/// Lives as long as the pool. Its workers must be gone before it is dropped.
#[derive(Debug)]
pub struct Starter {
    requests: Option<Sender<(Arc<PoolFolder>, Sender<Answer>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Starter {
    pub fn new(options: PoolOptions) -> io::Result<Starter> {
        let (requests, inbox) = channel::<(Arc<PoolFolder>, Sender<Answer>)>();
        let serve = move || {
            let mut tidied = false;
            for (folder, answer) in inbox {
                // Nobody waits any more. Dropping the process ends it.
                let _ = answer.send(Zygote::start(&options, &folder));
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
            let _ = requests.send((folder, answer));
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
