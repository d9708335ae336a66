//! The part of ZeroMQ's wire protocol that a kernel needs: bound ROUTER and XPUB sockets over TCP and Unix sockets,
//! without encryption. [`protocol`] is what goes over the wire, [`peers`] who is connected, [`serving`] how each
//! is served.
//!
//! Everything that a peer sends comes before any signature could be checked, so it is bounded here: memory grows with
//! the data that has arrived, never with announced sizes, and little is taken from a connection before its first signed
//! message. What needs no signature (heartbeats, subscriptions) is short, few and slow. A socket has a bounded number of
//! peers, and only a signed message takes the name of a live peer.
//!
//! Outgoing messages wait in one queue for each peer. Publishing waits for the subscriber that takes them fastest, so
//! that a live client loses nothing, and for no other. One that is too far behind the fastest, or takes next to nothing
//! while all are waited for, loses its connection rather than single messages: a client that connects anew knows that it
//! missed something, and one that misses the end of a cell waits for it forever.

mod peers;
mod protocol;
mod serving;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use self::peers::{Peer, Peers};
use self::serving::listen;
use super::terminal::log;

/// A message in ZeroMQ's form.
pub type Frames = Vec<Bytes>;

/// The maximum length of a received message, with a small charge for each frame.
const MAX_MESSAGE: u64 = 1 << 30;
/// The same before the first message with a valid signature. Front ends begin with a short kernel_info_request. Jupyter
/// Server passes on 10 MiB at most, so that it fits even if a client begins with a cell.
const MAX_UNSIGNED: u64 = 16 << 20;
/// The maximum length of a heartbeat and of a subscription, which carry no signature.
const MAX_BEAT: u64 = 4 << 10;
const MAX_TOPIC: u64 = 1 << 10;
/// The number of bytes that may wait for a peer that has room for more.
const WAITING_LIMIT: usize = 4 << 20;
/// The number of bytes that may wait for a subscriber while another one has room. Queues share the messages, so they
/// take this much together.
const BEHIND: usize = 256 << 20;
/// How long one waits to be told of progress before one looks oneself: a connection that ends tells nothing.
const LOOK: Duration = Duration::from_millis(1);
/// A peer that is waited for takes this many bytes in this time, or is let go.
const LEAST: usize = 256 << 10;
const STUCK: Duration = Duration::from_secs(10);

/// Opens a ROUTER socket: received messages begin with their sender, and messages go to the peer that the first frame
/// names.
pub async fn router(url: &str) -> io::Result<(RouterSender, RouterReceiver)> {
    let (socket, received) = Socket::open(url, Kind::Router).await?;
    Ok((RouterSender { socket: socket.clone() }, RouterReceiver { socket, received }))
}

/// Opens a ROUTER socket that sends every message back as it came.
pub async fn echo(url: &str) -> io::Result<()> {
    // Nothing is received: each message goes back on the connection on which it came.
    Socket::open(url, Kind::Echo).await.map(drop)
}

/// Opens an XPUB socket. Each subscription of a peer is received as its topic.
pub async fn publisher(url: &str) -> io::Result<(PublisherSocket, Subscriptions)> {
    let (socket, received) = Socket::open(url, Kind::Publisher).await?;
    Ok((PublisherSocket { socket }, Subscriptions { received }))
}

/// The sending half of a ROUTER socket.
#[derive(Clone)]
pub struct RouterSender {
    socket: Arc<Socket>,
}

impl RouterSender {
    /// Sends to the peer that the first frame names. Returns whether it is still there.
    pub fn send(&self, mut frames: Frames) -> bool {
        if frames.is_empty() {
            return false;
        }
        let rest = frames.split_off(1);
        self.socket.peers.named(&frames[0]).is_some_and(|peer| peer.push(rest.into()))
    }

    /// Waits until the system has everything, for a moment at most.
    pub async fn drain(&self, limit: Duration) {
        self.socket.drain(limit).await;
    }
}

/// Where a message came from. While it lives, nothing more is read from a connection that is not trusted.
pub struct Origin {
    connection: u64,
    _is_checked: oneshot::Sender<()>,
}

impl Origin {
    /// The receiver learns when the message is checked.
    fn of(peer: &Peer) -> (Self, oneshot::Receiver<()>) {
        let (is_checked, checked) = oneshot::channel();
        (Self { connection: peer.number, _is_checked: is_checked }, checked)
    }
}

/// The receiving half of a ROUTER socket.
pub struct RouterReceiver {
    socket: Arc<Socket>,
    received: mpsc::UnboundedReceiver<(Origin, Frames)>,
}

impl RouterReceiver {
    /// The next message, and where it came from.
    pub async fn next(&mut self) -> Option<(Origin, Frames)> {
        self.received.recv().await
    }

    /// The connection has shown that it may speak under its name. Messages for this name go there from now on, and it
    /// may send long ones.
    pub fn trust(&self, origin: &Origin, name: &Bytes) {
        self.socket.peers.trust(origin.connection, name);
    }
}

/// The subscriptions of an XPUB socket's peers, as topics.
pub struct Subscriptions {
    received: mpsc::UnboundedReceiver<(Origin, Frames)>,
}

impl Subscriptions {
    pub async fn next(&mut self) -> Option<Bytes> {
        let (_, frames) = self.received.recv().await?;
        frames.into_iter().next()
    }

    /// A subscription that has come already.
    pub fn next_now(&mut self) -> Option<Bytes> {
        let (_, frames) = self.received.try_recv().ok()?;
        frames.into_iter().next()
    }
}

/// The sending half of an XPUB socket.
pub struct PublisherSocket {
    socket: Arc<Socket>,
}

impl PublisherSocket {
    /// Sends to every peer that has subscribed to a prefix of the first frame, and waits until one of them has room.
    pub async fn send(&self, frames: Frames) {
        let Some(topic) = frames.first().cloned() else { return };
        let frames: Arc<[Bytes]> = frames.into();
        for peer in self.subscribers(&topic) {
            if peer.waiting.bytes() > BEHIND {
                log("a client that is far behind the others is let go; it misses output until it connects again");
                peer.let_go();
            } else {
                peer.push(frames.clone());
            }
        }
        self.wait_for_room(&topic).await;
    }

    /// Waits until a subscriber has room for more, if there are any.
    async fn wait_for_room(&self, topic: &[u8]) {
        loop {
            let before: Vec<_> = self.subscribers(topic).into_iter().map(|peer| (peer.waiting.bytes(), peer)).collect();
            if timeout(STUCK, self.has_room(topic)).await.is_ok() {
                return;
            }
            for (before, peer) in before {
                if peer.waiting.bytes() + LEAST > before {
                    log("a client that has taken next to nothing for a while is let go");
                    peer.let_go();
                }
            }
        }
    }

    async fn has_room(&self, topic: &[u8]) {
        loop {
            let subscribers = self.subscribers(topic);
            if subscribers.is_empty() || subscribers.iter().any(|peer| peer.waiting.bytes() <= WAITING_LIMIT) {
                return;
            }
            self.socket.taken.notified().await;
        }
    }

    fn subscribers(&self, topic: &[u8]) -> Vec<Arc<Peer>> {
        let mut peers = self.socket.peers.all();
        peers.retain(|peer| peer.subscribes(topic));
        peers
    }

    /// Waits until the system has everything for one of the subscribers, for a moment at most.
    pub async fn flush(&self, limit: Duration) {
        let one = async {
            loop {
                let mut peers = self.socket.peers.all();
                peers.retain(|peer| !peer.subscriptions().is_empty());
                if peers.is_empty() || peers.iter().any(|peer| peer.waiting.bytes() == 0) {
                    return;
                }
                let _ = timeout(LOOK, self.socket.taken.notified()).await;
            }
        };
        let _ = timeout(limit, one).await;
    }

    /// Waits until the system has everything, for a moment at most.
    pub async fn drain(&self, limit: Duration) {
        self.socket.drain(limit).await;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Router,
    Echo,
    Publisher,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Router | Kind::Echo => "ROUTER",
            Kind::Publisher => "XPUB",
        }
    }

    fn talks_to(self, other: &[u8]) -> bool {
        match self {
            Kind::Router | Kind::Echo => matches!(other, b"DEALER" | b"REQ" | b"ROUTER"),
            Kind::Publisher => matches!(other, b"SUB" | b"XSUB"),
        }
    }

    /// The maximum length of a message that a peer sends.
    const fn longest(self, is_known: bool) -> u64 {
        match self {
            Kind::Router if is_known => MAX_MESSAGE,
            Kind::Router => MAX_UNSIGNED,
            Kind::Echo => MAX_BEAT,
            Kind::Publisher => MAX_TOPIC,
        }
    }
}

struct Socket {
    kind: Kind,
    peers: Peers,
    received: mpsc::UnboundedSender<(Origin, Frames)>,
    /// Told when a subscriber took something, or left.
    taken: Arc<Notify>,
}

impl Socket {
    async fn open(url: &str, kind: Kind) -> io::Result<(Arc<Self>, mpsc::UnboundedReceiver<(Origin, Frames)>)> {
        let (socket, receiver) = Self::new(kind);
        listen(url, socket.clone()).await?;
        Ok((socket, receiver))
    }

    fn new(kind: Kind) -> (Arc<Self>, mpsc::UnboundedReceiver<(Origin, Frames)>) {
        let (received, receiver) = mpsc::unbounded_channel();
        (Arc::new(Self { kind, peers: Peers::default(), received, taken: Arc::default() }), receiver)
    }

    /// Waits until the system has everything for all peers, for a moment at most.
    async fn drain(&self, limit: Duration) {
        let peers = self.peers.all();
        let all = async {
            for peer in peers {
                while peer.waiting.bytes() > 0 && peer.is_there() {
                    let _ = timeout(LOOK, peer.waiting.taken.notified()).await;
                }
            }
        };
        // Messages that could not be sent in time are dropped.
        let _ = timeout(limit, all).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::protocol::{CHUNK, FRAME_CHARGE};
    use super::serving::admit;
    use super::*;

    const NAME: Bytes = Bytes::from_static(b"client");

    /// A connection after the handshake.
    async fn connect(socket: &Arc<Socket>) -> DuplexStream {
        let (mut ours, theirs) = duplex(CHUNK);
        admit(theirs, socket);
        let mut greeting = [&[0xff][..], &[0; 8], &[0x7f, 3, 0], b"NULL", &[0; 48]].concat();
        let other = if socket.kind == Kind::Publisher { "SUB" } else { "DEALER" };
        let mut ready = b"\x05READY".to_vec();
        for (name, value) in [("Socket-Type", other), ("Identity", "client")] {
            ready.extend(
                [&[name.len() as u8], name.as_bytes(), &[0, 0, 0, value.len() as u8], value.as_bytes()].concat(),
            );
        }
        greeting.extend([&[4, ready.len() as u8], &ready[..]].concat());
        ours.write_all(&greeting).await.unwrap();
        let mut theirs = vec![0; 66];
        ours.read_exact(&mut theirs).await.unwrap();
        theirs.resize(theirs[65].into(), 0);
        ours.read_exact(&mut theirs).await.unwrap();
        ours
    }

    /// A message of short frames.
    async fn send(stream: &mut DuplexStream, frames: &[&[u8]]) {
        for (index, frame) in frames.iter().enumerate() {
            let flags = u8::from(index + 1 < frames.len());
            let sent = [&[flags, frame.len() as u8], *frame].concat();
            stream.write_all(&sent).await.unwrap();
        }
    }

    /// Announces a frame and sends only its beginning. Returns whether the connection took that.
    async fn begin(stream: &mut DuplexStream, announced: u64, sent: usize) -> bool {
        let header = [&[2][..], &announced.to_be_bytes()].concat();
        stream.write_all(&header).await.is_ok() && stream.write_all(&vec![0; sent]).await.is_ok()
    }

    async fn is_over(stream: &mut DuplexStream) -> bool {
        let mut rest = Vec::new();
        timeout(Duration::from_secs(60), stream.read_to_end(&mut rest)).await.is_ok()
    }

    async fn is_open(stream: &mut DuplexStream) -> bool {
        timeout(Duration::from_millis(50), stream.read_u8()).await.is_err()
    }

    fn router() -> (Arc<Socket>, RouterReceiver) {
        let (socket, received) = Socket::new(Kind::Router);
        (socket.clone(), RouterReceiver { socket, received })
    }

    /// A connection that has shown that it is trusted.
    async fn trusted(socket: &Arc<Socket>, receiver: &mut RouterReceiver) -> DuplexStream {
        let mut stream = connect(socket).await;
        send(&mut stream, &[b"signed"]).await;
        let (origin, frames) = receiver.next().await.unwrap();
        assert_eq!(frames, [NAME, Bytes::from_static(b"signed")]);
        receiver.trust(&origin, &NAME);
        stream
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_long_message_comes_after_one_that_is_signed() {
        let (socket, mut receiver) = router();
        let mut stranger = connect(&socket).await;
        begin(&mut stranger, MAX_UNSIGNED + 1, 0).await;
        assert!(is_over(&mut stranger).await);
        let frames = [1, 0].repeat((MAX_UNSIGNED / FRAME_CHARGE) as usize + 1);
        let mut stranger = connect(&socket).await;
        // The connection ends on the way.
        let _ = stranger.write_all(&frames).await;
        assert!(is_over(&mut stranger).await, "many frames are long, too");

        // The second message is sent before the first one is checked.
        let (reading, mut writing) = tokio::io::split(connect(&socket).await);
        let length = 2 * MAX_UNSIGNED as usize;
        let sending = tokio::spawn(async move {
            writing.write_all(b"\x00\x06signed\x02").await.unwrap();
            writing.write_all(&(length as u64).to_be_bytes()).await.unwrap();
            writing.write_all(&vec![7; length]).await.unwrap();
            writing
        });
        let (origin, _) = receiver.next().await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        receiver.trust(&origin, &NAME);
        drop(origin);
        let (_, frames) = receiver.next().await.unwrap();
        assert_eq!(frames[1].len(), length);
        assert!(is_open(&mut reading.unsplit(sending.await.unwrap())).await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_strangers_send_is_bounded_together() {
        let (socket, mut receiver) = router();
        let mut client = trusted(&socket, &mut receiver).await;
        let mut idle = connect(&socket).await;
        let part = MAX_UNSIGNED as usize - CHUNK;
        let mut strangers = Vec::new();
        for _ in 0..4 {
            let mut stranger = connect(&socket).await;
            assert!(begin(&mut stranger, MAX_UNSIGNED - 64, part).await);
            strangers.push(stranger);
        }
        let mut last = connect(&socket).await;
        assert!(begin(&mut last, MAX_UNSIGNED - 64, part).await);
        assert!(is_over(&mut strangers[0]).await, "the oldest gives way");
        for other in [&mut client, &mut idle, &mut strangers[1], &mut last] {
            assert!(is_open(other).await);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_oldest_connection_without_trust_gives_way_to_a_new_one() {
        let (socket, mut receiver) = router();
        let mut client = trusted(&socket, &mut receiver).await;
        let mut strangers = Vec::new();
        for _ in 0..128 {
            strangers.push(connect(&socket).await);
        }
        assert!(is_over(&mut strangers[0]).await);
        assert!(is_open(&mut client).await && is_open(&mut strangers[1]).await && is_open(&mut strangers[127]).await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn where_all_connections_are_used_a_new_one_is_refused() {
        let (socket, _receiver) = Socket::new(Kind::Publisher);
        let mut subscribers = Vec::new();
        for _ in 0..128 {
            let mut subscriber = connect(&socket).await;
            send(&mut subscriber, &[b"\x01"]).await;
            subscribers.push(subscriber);
        }
        while socket.peers.all().iter().any(|peer| !peer.is_known()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (mut ours, theirs) = duplex(CHUNK);
        admit(theirs, &socket);
        assert!(is_over(&mut ours).await);
        assert!(is_open(&mut subscribers[0]).await);
    }

    async fn subscribed(socket: &Arc<Socket>) -> DuplexStream {
        let before = socket.peers.all().iter().filter(|peer| peer.subscribes(b"")).count();
        let mut subscriber = connect(socket).await;
        send(&mut subscriber, &[b"\x01"]).await;
        while socket.peers.all().iter().filter(|peer| peer.subscribes(b"")).count() == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        subscriber
    }

    /// The number of bytes of a published message's content.
    const SIZE: usize = 1 << 20;

    async fn publish(publisher: &PublisherSocket, number: usize, contents: &[Bytes; 16]) {
        publisher.send(vec![Bytes::new(), contents[number % 16].clone()]).await;
    }

    fn contents() -> [Bytes; 16] {
        std::array::from_fn(|number| vec![number as u8; SIZE].into())
    }

    /// Reads a message that was published, and checks that it is this one.
    async fn read_published(stream: &mut DuplexStream, number: usize) {
        let mut message = vec![0; 2 + 9 + SIZE];
        stream.read_exact(&mut message).await.unwrap();
        assert_eq!(message[..2], [1, 0]);
        assert!(message[11..].iter().all(|byte| usize::from(*byte) == number % 16), "{number}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_subscriber_that_reads_nothing_holds_up_nobody_and_is_let_go() {
        let (socket, _receiver) = Socket::new(Kind::Publisher);
        let publisher = PublisherSocket { socket: socket.clone() };
        let (mut live, mut deaf) = (subscribed(&socket).await, subscribed(&socket).await);
        let (messages, contents) = (2 * BEHIND / SIZE, contents());
        let reading = tokio::spawn(async move {
            for number in 0..messages {
                read_published(&mut live, number).await;
            }
            live
        });
        for number in 0..messages {
            publish(&publisher, number, &contents).await;
            if number == BEHIND / 2 / SIZE {
                assert_eq!(socket.peers.all().len(), 2, "it may be far behind");
            }
        }
        let mut live = reading.await.unwrap();
        assert!(is_over(&mut deaf).await);
        assert!(is_open(&mut live).await);
        assert_eq!(socket.peers.all().len(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_slow_subscriber_alone_is_waited_for_and_loses_nothing() {
        let (socket, _receiver) = Socket::new(Kind::Publisher);
        let publisher = PublisherSocket { socket: socket.clone() };
        let mut slow = subscribed(&socket).await;
        let (messages, contents) = (24, contents());
        let reading = tokio::spawn(async move {
            for number in 0..messages {
                tokio::time::sleep(Duration::from_millis(20)).await;
                read_published(&mut slow, number).await;
            }
        });
        for number in 0..messages {
            publish(&publisher, number, &contents).await;
            let waiting: usize = socket.peers.all().iter().map(|peer| peer.waiting.bytes()).sum();
            assert!(waiting <= WAITING_LIMIT, "publishing waits");
        }
        reading.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_flush_waits_for_the_fastest_subscriber_and_a_drain_for_all() {
        let (socket, _receiver) = Socket::new(Kind::Publisher);
        let publisher = PublisherSocket { socket: socket.clone() };
        let (mut live, _deaf) = (subscribed(&socket).await, subscribed(&socket).await);
        let waiting = || socket.peers.all().iter().filter(|peer| peer.waiting.bytes() > 0).count();
        publish(&publisher, 0, &contents()).await;
        publisher.flush(Duration::ZERO).await;
        assert_eq!(waiting(), 2);
        let reading = tokio::spawn(async move {
            read_published(&mut live, 0).await;
            live
        });
        publisher.flush(Duration::from_secs(60)).await;
        assert_eq!(waiting(), 1);
        publisher.drain(Duration::from_millis(10)).await;
        assert_eq!(waiting(), 1);
        reading.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_subscriber_that_vanishes_is_not_waited_for() {
        let (socket, _receiver) = Socket::new(Kind::Publisher);
        let publisher = PublisherSocket { socket: socket.clone() };
        let gone = subscribed(&socket).await;
        let sending = tokio::spawn(async move {
            publisher.send(vec![Bytes::new(), vec![0; 3 * WAITING_LIMIT].into()]).await;
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!sending.is_finished());
        drop(gone);
        sending.await.unwrap();
        while !socket.peers.all().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
