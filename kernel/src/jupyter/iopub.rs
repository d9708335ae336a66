//! The broadcast channel: one task owns the socket, so clients see everything in the order in which it was published.
//!
//! Pieces of stdout and stderr are joined for a few milliseconds before they are sent. Other messages send them first.
//! If all clients read too slowly, publishers wait instead of filling the memory. What is published before the first client
//! has subscribed waits for it: clients that miss the end of their first cell wait for it forever.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{IoPubWelcome, Stdio, StreamContent};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};

use super::wire::{Message, Session, Signer, encode};
use super::zmtp::{PublisherSocket, Subscriptions};

/// How long a piece of a stream waits for the next one.
const STREAM_DELAY: Duration = Duration::from_millis(10);
/// A stream message is sent at once when it reaches this many bytes.
const STREAM_LIMIT: usize = 64 * 1024;
/// Publishers wait while more bytes than this are on their way.
const BACKLOG_LIMIT: usize = 4 << 20;
/// The same while what is published waits for the first client. What is beyond it nobody gets.
const FIRST_BACKLOG_LIMIT: usize = 32 << 20;

/// How many subscriptions are answered at most before the next output.
const MOST_WELCOMES: usize = 64;
/// How long one flush waits at most, and how many of [`Publisher::flush_sometimes`] wait within how long.
const FLUSH: Duration = Duration::from_millis(20);
const FLUSHES: u32 = 100;
const FLUSHES_WITHIN: Duration = Duration::from_secs(1);
/// How long [`Publisher::drain`] waits for clients, once everything is handed to their connections.
const DRAIN: Duration = Duration::from_millis(200);

/// What is published: whole messages and pieces of streams.
enum Publication {
    Message(Box<Message>),
    Stream(Piece),
    /// Wait until a client has everything.
    Flush(oneshot::Sender<()>),
    /// Wait until all clients have everything.
    Drain(oneshot::Sender<()>),
}

/// Consecutive text of one stream and one request.
struct Piece {
    name: Stdio,
    text: String,
    parent: Option<Arc<Message>>,
    due: Instant,
}

impl Piece {
    fn continues(&self, name: &Stdio, parent: Option<&Arc<Message>>) -> bool {
        let same_name = matches!((&self.name, name), (Stdio::Stdout, Stdio::Stdout) | (Stdio::Stderr, Stdio::Stderr));
        same_name && self.parent.as_ref().map(Arc::as_ptr) == parent.map(Arc::as_ptr) && self.text.len() < STREAM_LIMIT
    }
}

/// The state that publishers and the task share. Text is appended where it waits, so that a cell that prints a lot
/// wakes the task once for each piece and not once for each print.
#[derive(Default)]
struct Shared {
    waiting: Mutex<VecDeque<Publication>>,
    arrived: Notify,
    /// The number of bytes on their way.
    backlog: AtomicUsize,
    /// Whether what is published is sent, and does not wait for the first client.
    is_sending: AtomicBool,
    /// When counting flushes began, and how many waited since.
    flushes: Mutex<Option<(Instant, u32)>>,
    /// Told, with `waiting`, when publishers need to wait no longer.
    has_room: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Publication>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_sending(&self) -> bool {
        self.is_sending.load(Ordering::Relaxed)
    }

    fn is_congested(&self) -> bool {
        self.backlog.load(Ordering::Relaxed) > if self.is_sending() { BACKLOG_LIMIT } else { FIRST_BACKLOG_LIMIT }
    }

    fn is_draining(&self) -> bool {
        self.lock().iter().any(|publication| matches!(publication, Publication::Drain(_)))
    }

    /// Whether one more of these flushes may wait. Counts it.
    fn may_flush(&self) -> bool {
        let mut flushes = self.flushes.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, count) =
            flushes.filter(|(began, _)| began.elapsed() < FLUSHES_WITHIN).unwrap_or_else(|| (Instant::now(), 0));
        *flushes = Some((began, count + 1));
        count < FLUSHES
    }

    /// What to send now, or how long to wait for more.
    fn next(&self) -> Result<Publication, Option<Instant>> {
        let mut waiting = self.lock();
        match waiting.front() {
            Some(Publication::Stream(piece)) if waiting.len() == 1 && piece.text.len() < STREAM_LIMIT => {
                let due = piece.due;
                if due > Instant::now() {
                    return Err(Some(due));
                }
            }
            Some(_) => {}
            None => return Err(None),
        }
        waiting.pop_front().ok_or(None)
    }
}

/// The sending end; clones publish into the same order.
#[derive(Clone, Default)]
pub struct Publisher {
    shared: Arc<Shared>,
}

impl Publisher {
    pub fn message(&self, message: Message) {
        self.shared.backlog.fetch_add(message.size(), Ordering::Relaxed);
        self.push(Publication::Message(Box::new(message)));
    }

    /// Appends to a stream of `parent`.
    pub fn stream(&self, name: Stdio, text: &str, parent: Option<&Arc<Message>>) {
        self.shared.backlog.fetch_add(text.len(), Ordering::Relaxed);
        let mut waiting = self.shared.lock();
        if let Some(Publication::Stream(piece)) = waiting.back_mut()
            && piece.continues(&name, parent)
        {
            piece.text.push_str(text);
            if piece.text.len() < STREAM_LIMIT {
                return;
            }
        } else {
            let due = Instant::now() + STREAM_DELAY;
            waiting.push_back(Publication::Stream(Piece { name, text: text.into(), parent: parent.cloned(), due }));
        }
        drop(waiting);
        self.shared.arrived.notify_one();
    }

    /// Like [`Publisher::flush`] up to 100 times a second. More often it does not wait: text is then joined and sent soon,
    /// as always.
    pub async fn flush_sometimes(&self) {
        if self.shared.may_flush() {
            self.flush().await;
        }
    }

    /// Waits a moment, until the system has everything that was published before for one of the clients. Does not wait
    /// before the first client is there.
    pub async fn flush(&self) {
        if self.shared.is_sending() {
            let (done, is_done) = oneshot::channel();
            self.push(Publication::Flush(done));
            // What is not sent by then is sent later.
            let _ = timeout(FLUSH, is_done).await;
        }
    }

    /// Returns when the system has everything that was published before, or when a client does not take it.
    pub async fn drain(&self) {
        let (done, is_done) = oneshot::channel();
        self.push(Publication::Drain(done));
        let _ = is_done.await;
    }

    /// Whether a publisher should wait for the clients.
    pub fn is_congested(&self) -> bool {
        self.shared.is_congested()
    }

    /// Waits until a publisher need not wait for the clients, for some time at most.
    pub fn wait_for_room(&self, limit: Duration) {
        let waiting = self.shared.lock();
        drop(self.shared.has_room.wait_timeout_while(waiting, limit, |_| self.shared.is_congested()));
    }

    fn push(&self, publication: Publication) {
        self.shared.lock().push_back(publication);
        self.shared.arrived.notify_one();
    }
}

/// Starts the task that owns `socket` and sends what `publisher` is given. `subscriptions` are those of its clients.
pub fn start(
    publisher: &Publisher,
    (socket, subscriptions): (PublisherSocket, Subscriptions),
    session: Session,
    signer: Signer,
) {
    let task = Task { socket, subscriptions, session, signer, shared: publisher.shared.clone() };
    tokio::spawn(task.run());
}

struct Task {
    socket: PublisherSocket,
    subscriptions: Subscriptions,
    session: Session,
    signer: Signer,
    shared: Arc<Shared>,
}

impl Task {
    async fn run(mut self) {
        self.wait_for_client().await;
        let shared = self.shared.clone();
        shared.is_sending.store(true, Ordering::Relaxed);
        loop {
            self.welcome_all().await;
            let due = match shared.next() {
                Ok(publication) => {
                    self.publish(publication).await;
                    continue;
                }
                Err(due) => due,
            };
            tokio::select! {
                () = sleep_until(due) => {}
                () = shared.arrived.notified() => {}
                topic = self.subscriptions.next() => if let Some(topic) = topic {
                    self.welcome(topic).await;
                },
            }
        }
    }

    /// Answers those who subscribed by now. What is broadcast reaches all of them, so each topic is answered once, and
    /// only so many between two publications.
    async fn welcome_all(&mut self) {
        let mut topics = Vec::new();
        for topic in std::iter::from_fn(|| self.subscriptions.next_now()).take(MOST_WELCOMES) {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        for topic in topics {
            self.welcome(topic).await;
        }
    }

    /// Returns when a client has subscribed, when somebody wants everything sent, or when too much waits.
    async fn wait_for_client(&mut self) {
        let shared = self.shared.clone();
        while !shared.is_draining() && !shared.is_congested() {
            tokio::select! {
                () = shared.arrived.notified() => {}
                topic = self.subscriptions.next() => {
                    if let Some(topic) = topic {
                        self.welcome(topic).await;
                    }
                    return;
                }
            }
        }
    }

    async fn publish(&mut self, publication: Publication) {
        match publication {
            Publication::Message(message) => {
                let size = message.size();
                self.send(message.msg_type.clone().into(), *message).await;
                self.sent(size);
            }
            Publication::Stream(Piece { name, text, parent, .. }) => {
                let size = text.len();
                let content = to_json(&StreamContent { name, text });
                self.send("stream".into(), self.session.message("stream", content, parent.as_deref())).await;
                self.sent(size);
            }
            Publication::Flush(done) => {
                self.socket.flush(FLUSH).await;
                let _ = done.send(());
            }
            Publication::Drain(done) => {
                self.socket.drain(DRAIN).await;
                let _ = done.send(());
            }
        }
    }

    fn sent(&self, size: usize) {
        let before = self.shared.backlog.fetch_sub(size, Ordering::Relaxed);
        if before > BACKLOG_LIMIT && before - size <= BACKLOG_LIMIT {
            // With the lock, so that it does not come between a look and the wait after it.
            let _waiting = self.shared.lock();
            self.shared.has_room.notify_all();
        }
    }

    /// Tells a new subscriber that its subscription is active (Jupyter Enhancement Proposal 65). As the proposal says,
    /// everybody with a subscription to this topic gets it, and a topic that is not UTF-8 is not answered.
    async fn welcome(&mut self, topic: Bytes) {
        let Ok(subscription) = String::from_utf8(topic.to_vec()) else { return };
        let message = self.session.message("iopub_welcome", to_json(&IoPubWelcome { subscription }), None);
        self.send(topic, message).await;
    }

    async fn send(&mut self, topic: Bytes, mut message: Message) {
        message.identities = vec![topic];
        self.socket.send(encode(message, &self.signer)).await;
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The JSON text of one of the protocol's own contents, which are all plain data.
pub fn to_json(content: &impl serde::Serialize) -> Bytes {
    serde_json::to_vec(content).map_or_else(|_| Bytes::from_static(b"{}"), Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_flushes_in_a_second_wait() {
        let shared = Shared::default();
        let later = Instant::now() + Duration::from_secs(3600);
        *shared.flushes.lock().unwrap() = Some((later, FLUSHES - 1));
        assert!(shared.may_flush());
        assert!(!shared.may_flush());
        let long_ago = Instant::now().checked_sub(FLUSHES_WITHIN).unwrap();
        *shared.flushes.lock().unwrap() = Some((long_ago, FLUSHES));
        assert!(shared.may_flush());
    }

    #[test]
    fn before_the_first_client_more_may_wait() {
        let publisher = Publisher::default();
        publisher.shared.backlog.store(FIRST_BACKLOG_LIMIT, Ordering::Relaxed);
        assert!(!publisher.is_congested());
        publisher.shared.is_sending.store(true, Ordering::Relaxed);
        assert!(publisher.is_congested());
    }
}
