//! Requests that wait for one thread of Python (the main shell's, or a subshell's), in the order of their arrival.
//!
//! Socket tasks push and Python pops. A byte in a socket pair tells Python's event loop that something waits, so that
//! no Rust thread ever needs Python's lock.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::wire::Message;

/// The next task of a Python thread.
#[derive(Debug)]
pub enum QueueItem {
    /// Handle a message of the shell channel.
    Handle(Arc<Message>),
    /// Tell the client that this message is not handled because an earlier cell failed.
    Abort(Arc<Message>),
    /// End the process, or the subshell, in an orderly way.
    ShutDown,
}

pub struct RequestQueue {
    waiting: Mutex<VecDeque<QueueItem>>,
    wake: UnixStream,
    woken: UnixStream,
    /// Told when the thread that pops has ended.
    pub ended: Notify,
}

impl RequestQueue {
    pub fn new() -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        Ok(Self { waiting: Mutex::default(), wake, woken, ended: Notify::new() })
    }

    /// It is readable while requests may wait.
    pub fn fileno(&self) -> RawFd {
        self.woken.as_raw_fd()
    }

    pub fn push(&self, message: Arc<Message>) {
        self.lock().push_back(QueueItem::Handle(message));
        self.signal();
    }

    /// Puts the end before all waiting requests.
    pub fn push_shut_down(&self) {
        self.lock().push_front(QueueItem::ShutDown);
        self.signal();
    }

    pub fn pop(&self) -> Option<QueueItem> {
        // Read first, pop second: a byte written in between costs only one more look.
        self.quiet();
        let mut waiting = self.lock();
        let item = waiting.pop_front();
        if !waiting.is_empty() {
            self.signal();
        }
        item
    }

    /// Takes the first message for a comm, past all others. What else waits is not signalled again.
    pub fn pop_comm(&self) -> Option<Arc<Message>> {
        self.quiet();
        let mut waiting = self.lock();
        let is_comm = |item: &QueueItem| matches!(item, QueueItem::Handle(message) if message.is_for_comm());
        match waiting.iter().position(is_comm).and_then(|position| waiting.remove(position)) {
            Some(QueueItem::Handle(message)) => Some(message),
            _ => None,
        }
    }

    /// Makes [`RequestQueue::fileno`] unreadable until something comes.
    fn quiet(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(length) if length == bytes.len()) {}
    }

    /// Turns every execute_request that waits now into one that is answered with `aborted`.
    pub fn abort_waiting(&self) {
        for item in self.lock().iter_mut() {
            if let QueueItem::Handle(message) = item
                && message.msg_type == "execute_request"
            {
                *item = QueueItem::Abort(message.clone());
            }
        }
    }

    /// Makes [`RequestQueue::fileno`] readable.
    pub fn signal(&self) {
        // A full buffer means that Python has been told often enough.
        let _ = (&self.wake).write(&[1]);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<QueueItem>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Session;
    use super::*;

    fn message(msg_type: &str) -> Arc<Message> {
        Arc::new(Session::new().message(msg_type, "{}", None))
    }

    #[test]
    fn requests_come_out_in_the_order_of_their_arrival() {
        let queue = RequestQueue::new().unwrap();
        for msg_type in ["a", "b", "c"] {
            queue.push(message(msg_type));
        }
        for msg_type in ["a", "b", "c"] {
            assert!(matches!(queue.pop(), Some(QueueItem::Handle(message)) if message.msg_type == msg_type));
        }
        assert!(queue.pop().is_none());
    }

    #[test]
    fn after_an_error_only_the_cells_that_wait_are_aborted() {
        let queue = RequestQueue::new().unwrap();
        queue.push(message("execute_request"));
        queue.push(message("complete_request"));
        queue.abort_waiting();
        queue.push(message("execute_request"));
        assert!(matches!(queue.pop(), Some(QueueItem::Abort(_))));
        assert!(matches!(queue.pop(), Some(QueueItem::Handle(message)) if message.msg_type == "complete_request"));
        assert!(matches!(queue.pop(), Some(QueueItem::Handle(_))));
    }

    #[test]
    fn messages_for_comms_pass_what_waits() {
        let queue = RequestQueue::new().unwrap();
        for msg_type in ["execute_request", "comm_msg", "comm_info_request", "comm_close"] {
            queue.push(message(msg_type));
        }
        assert_eq!(queue.pop_comm().unwrap().msg_type, "comm_msg");
        assert_eq!(queue.pop_comm().unwrap().msg_type, "comm_close");
        assert!(queue.pop_comm().is_none());
        assert!(matches!(queue.pop(), Some(QueueItem::Handle(message)) if message.msg_type == "execute_request"));
    }

    #[test]
    fn shutting_down_comes_before_everything_that_waits() {
        let queue = RequestQueue::new().unwrap();
        queue.push(message("execute_request"));
        queue.push_shut_down();
        assert!(matches!(queue.pop(), Some(QueueItem::ShutDown)));
    }
}
