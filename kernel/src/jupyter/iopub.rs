//! The broadcast channel: one task owns the socket, so everything is seen in the order in which it was published.
//!
//! Pieces of stdout and stderr are joined for a few milliseconds before they are sent; whatever else is published
//! sends them first. When clients read too slowly, publishers wait instead of filling the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{IoPubWelcome, Stdio, StreamContent};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use zeromq::{SocketRecv, SocketSend, XPubSocket, ZmqMessage};

use super::log;
use super::wire::{Message, Session, Signer, encode};

/// How long a piece of a stream waits for the next one.
const STREAM_DELAY: Duration = Duration::from_millis(10);
/// A stream message is sent at once when it has grown to this many bytes.
const STREAM_LIMIT: usize = 64 * 1024;
/// Publishers wait while more bytes than this are on their way.
const BACKLOG_LIMIT: usize = 32 * 1024 * 1024;

/// What is published: whole messages and pieces of streams.
enum Publication {
    Message(Box<Message>),
    Stream { name: Stdio, text: String, parent: Option<Arc<Message>> },
    Drain(oneshot::Sender<()>),
}

/// The sending end; clones publish into the same order.
#[derive(Clone)]
pub struct Publisher {
    sender: mpsc::UnboundedSender<Publication>,
    backlog: Arc<AtomicUsize>,
}

impl Publisher {
    pub fn message(&self, message: Message) {
        let size = message.content.len() + message.buffers.iter().map(Bytes::len).sum::<usize>();
        self.send(size, Publication::Message(Box::new(message)));
    }

    pub fn stream(&self, name: Stdio, text: String, parent: Option<Arc<Message>>) {
        self.send(text.len(), Publication::Stream { name, text, parent });
    }

    /// Returns when everything published before is handed to the sockets.
    pub async fn drain(&self) {
        let (done, is_done) = oneshot::channel();
        self.send(0, Publication::Drain(done));
        let _ = is_done.await;
    }

    /// Whether a publisher should wait for the clients.
    pub fn is_congested(&self) -> bool {
        self.backlog.load(Ordering::Relaxed) > BACKLOG_LIMIT
    }

    fn send(&self, size: usize, publication: Publication) {
        self.backlog.fetch_add(size, Ordering::Relaxed);
        // Fails only when the task has ended, with the process.
        let _ = self.sender.send(publication);
    }
}

/// Starts the task that owns `socket`.
pub fn start(socket: XPubSocket, session: Session, signer: Signer) -> Publisher {
    let (sender, receiver) = mpsc::unbounded_channel();
    let backlog = Arc::new(AtomicUsize::new(0));
    let publisher = Publisher { sender, backlog: backlog.clone() };
    let task = Task { socket, session, signer, backlog, pending: None };
    tokio::spawn(task.run(receiver));
    publisher
}

struct PendingStream {
    name: Stdio,
    text: String,
    parent: Option<Arc<Message>>,
    due: Instant,
}

impl PendingStream {
    fn continues(&self, name: &Stdio, parent: &Option<Arc<Message>>) -> bool {
        let same_name = matches!((&self.name, name), (Stdio::Stdout, Stdio::Stdout) | (Stdio::Stderr, Stdio::Stderr));
        let header = |parent: &Option<Arc<Message>>| parent.as_ref().map(|parent| parent.header.clone());
        same_name && header(&self.parent) == header(parent)
    }
}

struct Task {
    socket: XPubSocket,
    session: Session,
    signer: Signer,
    backlog: Arc<AtomicUsize>,
    pending: Option<PendingStream>,
}

impl Task {
    async fn run(mut self, mut receiver: mpsc::UnboundedReceiver<Publication>) {
        loop {
            let due = self.pending.as_ref().map(|pending| pending.due);
            tokio::select! {
                biased;
                () = sleep_until(due) => self.send_pending().await,
                subscription = self.socket.recv() => match subscription {
                    Ok(subscription) => self.welcome(&subscription).await,
                    // A client that went away; the socket has forgotten it already.
                    Err(_) => tokio::task::yield_now().await,
                },
                publication = receiver.recv() => match publication {
                    Some(publication) => self.publish(publication).await,
                    None => return,
                },
            }
        }
    }

    async fn publish(&mut self, publication: Publication) {
        match publication {
            Publication::Message(message) => {
                self.send_pending().await;
                self.send(*message).await;
            }
            Publication::Stream { name, text, parent } => {
                match &mut self.pending {
                    Some(pending) if pending.continues(&name, &parent) => pending.text.push_str(&text),
                    _ => {
                        self.send_pending().await;
                        self.pending = Some(PendingStream { name, text, parent, due: Instant::now() + STREAM_DELAY });
                    }
                }
                if self.pending.as_ref().is_some_and(|pending| pending.text.len() >= STREAM_LIMIT) {
                    self.send_pending().await;
                }
            }
            Publication::Drain(done) => {
                self.send_pending().await;
                let _ = done.send(());
            }
        }
    }

    async fn send_pending(&mut self) {
        let Some(PendingStream { name, text, parent, .. }) = self.pending.take() else { return };
        if text.is_empty() {
            return;
        }
        let content = to_json(&StreamContent { name, text });
        let message = self.session.message("stream", content, parent.as_deref());
        self.send(message).await;
    }

    /// Tells a new subscriber that it is heard now (Jupyter Enhancement Proposal 65).
    async fn welcome(&mut self, subscription: &ZmqMessage) {
        let Some([1, topic @ ..]) = subscription.get(0).map(|frame| &frame[..]) else { return };
        let content = to_json(&IoPubWelcome { subscription: String::from_utf8_lossy(topic).into_owned() });
        let message = self.session.message("iopub_welcome", content, None);
        self.send(message).await;
    }

    async fn send(&mut self, mut message: Message) {
        let size = message.content.len() + message.buffers.iter().map(Bytes::len).sum::<usize>();
        message.identities = vec![Bytes::from(message.msg_type.clone())];
        if let Ok(frames) = ZmqMessage::try_from(encode(message, &self.signer))
            && let Err(error) = self.socket.send(frames).await
        {
            log(&format!("a message could not be published: {error}"));
        }
        // Messages of this task itself were never counted, so the count may not fall below zero.
        let _ =
            self.backlog.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bytes| Some(bytes.saturating_sub(size)));
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
