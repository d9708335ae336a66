//! The part of ZeroMQ's wire protocol that a kernel needs: bound ROUTER and XPUB sockets over TCP and Unix sockets,
//! without encryption. Specification: ZMTP 3.0, <https://rfc.zeromq.org/spec/23/>.
//!
//! Everything that a peer sends comes before any signature could be checked, so it is bounded here: memory grows with
//! the data that has arrived, never with announced sizes. What needs no signature (heartbeats, subscriptions) is short,
//! few and slow. A socket has a bounded number of peers, and only a signed message takes the name of a live peer. Outgoing
//! messages wait in one queue for each peer. A subscriber that takes nothing for [`STUCK`] is disconnected instead of delaying the
//! kernel.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::terminal::log;

/// A message in ZeroMQ's form.
pub type Frames = Vec<Bytes>;

/// The maximum length of a received message, with a small charge for each frame.
const MAX_MESSAGE: u64 = 1 << 30;
const FRAME_CHARGE: u64 = 64;
/// The maximum length of a command and of an identity, from the specification.
const MAX_COMMAND: u64 = 1 << 16;
const MAX_IDENTITY: usize = 255;
/// The maximum length of a heartbeat and of a subscription, which carry no signature.
const MAX_BEAT: u64 = 4 << 10;
const MAX_TOPIC: u64 = 1 << 10;
/// The maximum number of subscriptions of a peer.
const SUBSCRIPTIONS: usize = 64;
/// How long a peer waits between two heartbeats, or two changes of its subscriptions. A client sends one a second.
const PACE: Duration = Duration::from_millis(10);
/// The maximum number of peers of a socket. A client has one connection to each socket.
const PEERS: usize = 128;
/// The time in which a new peer must say what it is.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A connection over which nothing has come for this long is asked whether its other end is still there, this often,
/// and this many times. Otherwise a client whose network failed would keep its place and its name.
const SILENCE: Duration = Duration::from_secs(20);
const QUESTIONS: Duration = Duration::from_secs(5);
const UNANSWERED: u32 = 3;
/// The number of bytes that may wait for one subscriber before publishing waits, and how long it then waits for
/// progress.
const WAITING_LIMIT: usize = 4 << 20;
const STUCK: Duration = Duration::from_secs(10);
/// Frames longer than this are sent without being copied.
const COPIED: usize = 16 << 10;
/// The number of bytes read at once, and gathered before a write.
const CHUNK: usize = 64 << 10;

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

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
        match self.socket.lock().get(&frames[0]).and_then(|peers| peers.first()) {
            Some(peer) => peer.push(rest.into()),
            None => false,
        }
    }

    /// Waits until the system has everything, for a moment at most.
    pub async fn flush(&self, limit: Duration) {
        self.socket.flush(limit).await;
    }
}

/// The receiving half of a ROUTER socket.
pub struct RouterReceiver {
    socket: Arc<Socket>,
    received: mpsc::UnboundedReceiver<(u64, Frames)>,
}

impl RouterReceiver {
    /// The next message, and the number of the connection on which it came.
    pub async fn next(&mut self) -> Option<(u64, Frames)> {
        self.received.recv().await
    }

    /// The connection has shown that it may speak under its name, so messages for this name go there from now on.
    pub fn trust(&self, connection: u64, name: &Bytes) {
        if let Some(peers) = self.socket.lock().get_mut(name)
            && let Some(place) = peers.iter().position(|peer| peer.number == connection)
        {
            peers[..=place].rotate_right(1);
        }
    }
}

/// The subscriptions of an XPUB socket's peers, as topics.
pub struct Subscriptions {
    received: mpsc::UnboundedReceiver<(u64, Frames)>,
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
    /// Sends to every peer that has subscribed to a prefix of the first frame.
    pub async fn send(&self, frames: Frames) {
        let Some(topic) = frames.first().cloned() else { return };
        let frames: Arc<[Bytes]> = frames.into();
        for (identity, peer) in self.socket.peers() {
            if peer.subscribes(&topic) && peer.push(frames.clone()) && !peer.has_room().await {
                log("a client that has taken nothing for a while is let go");
                self.socket.forget(&identity, peer.number);
            }
        }
    }

    /// Waits until the system has everything, for a moment at most.
    pub async fn flush(&self, limit: Duration) {
        self.socket.flush(limit).await;
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
    fn longest(self) -> u64 {
        match self {
            Kind::Router => MAX_MESSAGE,
            Kind::Echo => MAX_BEAT,
            Kind::Publisher => MAX_TOPIC,
        }
    }
}

struct Socket {
    kind: Kind,
    /// By identity. Where several peers announce the same one, the first of them has it.
    peers: Mutex<HashMap<Bytes, Vec<Arc<Peer>>>>,
    /// Messages, with the number of their connection.
    received: mpsc::UnboundedSender<(u64, Frames)>,
    next: AtomicU64,
    room: Arc<Semaphore>,
}

/// A connection.
struct Peer {
    number: u64,
    queue: mpsc::UnboundedSender<Arc<[Bytes]>>,
    /// The number of waiting bytes, and the signal that some were taken.
    waiting: Arc<(AtomicUsize, Notify)>,
    subscriptions: Mutex<Vec<Bytes>>,
    writer: AbortHandle,
}

impl Peer {
    fn push(&self, frames: Arc<[Bytes]>) -> bool {
        self.waiting.0.fetch_add(size(&frames), Ordering::Relaxed);
        self.queue.send(frames).is_ok()
    }

    fn subscribes(&self, topic: &[u8]) -> bool {
        self.lock().iter().any(|subscription| topic.starts_with(subscription))
    }

    /// Waits until less than the limit is waiting. Returns whether that happened.
    async fn has_room(&self) -> bool {
        let (waiting, taken) = &*self.waiting;
        while waiting.load(Ordering::Relaxed) > WAITING_LIMIT {
            if timeout(STUCK, taken.notified()).await.is_err() {
                return false;
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(frames: &[Bytes]) -> usize {
    frames.iter().map(|frame| frame.len() + FRAME_CHARGE as usize).sum()
}

impl Socket {
    async fn open(url: &str, kind: Kind) -> io::Result<(Arc<Self>, mpsc::UnboundedReceiver<(u64, Frames)>)> {
        let (received, receiver) = mpsc::unbounded_channel();
        let (peers, next, room) = (Mutex::default(), AtomicU64::new(1), Arc::new(Semaphore::new(PEERS)));
        let socket = Arc::new(Self { kind, peers, received, next, room });
        listen(url, socket.clone()).await?;
        Ok((socket, receiver))
    }

    /// A place for one more peer, unless there are too many.
    fn admit(&self) -> Option<OwnedSemaphorePermit> {
        let place = self.room.clone().try_acquire_owned().ok();
        if place.is_none() {
            log(&format!("a connection was refused: the socket has {PEERS}, and more are not served"));
        }
        place
    }

    fn peers(&self) -> Vec<(Bytes, Arc<Peer>)> {
        let each = |(identity, peers): (&Bytes, &Vec<Arc<Peer>>)| {
            peers.iter().map(|peer| (identity.clone(), peer.clone())).collect::<Vec<_>>()
        };
        self.lock().iter().flat_map(each).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Bytes, Vec<Arc<Peer>>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, identity: &Bytes, number: u64) {
        let mut peers = self.lock();
        let Some(same) = peers.get_mut(identity) else { return };
        if let Some(place) = same.iter().position(|peer| peer.number == number) {
            same.remove(place).writer.abort();
        }
        if same.is_empty() {
            peers.remove(identity);
        }
    }

    async fn flush(&self, limit: Duration) {
        let peers = self.peers();
        let all = async {
            for (_, peer) in peers {
                while peer.waiting.0.load(Ordering::Relaxed) > 0 && !peer.queue.is_closed() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        // Messages that could not be sent in time are dropped.
        let _ = timeout(limit, all).await;
    }
}

async fn listen(url: &str, socket: Arc<Socket>) -> io::Result<()> {
    if let Some(path) = url.strip_prefix("ipc://") {
        // A kernel that was killed leaves its file behind.
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => admit(stream, &socket),
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        return Ok(());
    }
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "only tcp:// and ipc:// are known");
    let address = url.strip_prefix("tcp://").ok_or_else(unknown)?.replacen('*', "0.0.0.0", 1);
    let listener = TcpListener::bind(address).await?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Without it, small messages would wait for each other. If it fails, they only come later.
                    let _ = stream.set_nodelay(true);
                    // If it fails, a lost client is noticed later.
                    let _ = SockRef::from(&stream).set_tcp_keepalive(
                        &TcpKeepalive::new().with_time(SILENCE).with_interval(QUESTIONS).with_retries(UNANSWERED),
                    );
                    admit(stream, &socket);
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    });
    Ok(())
}

/// Serves a peer, if there is room for it.
fn admit(stream: impl AsyncRead + AsyncWrite + Send + 'static, socket: &Arc<Socket>) {
    if let Some(place) = socket.admit() {
        let socket = socket.clone();
        tokio::spawn(async move {
            serve(stream, socket).await;
            drop(place);
        });
    }
}

/// Talks to one peer until it goes away or breaks the protocol.
async fn serve(stream: impl AsyncRead + AsyncWrite + Send + 'static, socket: Arc<Socket>) {
    let (reading, mut writing) = tokio::io::split(stream);
    let mut reading = BufReader::with_capacity(CHUNK, reading);
    let number = socket.next.fetch_add(1, Ordering::Relaxed);
    let handshake = timeout(HANDSHAKE, shake_hands(&mut reading, &mut writing, socket.kind, number));
    let Ok(Ok(identity)) = handshake.await else { return };

    let (queue, queued) = mpsc::unbounded_channel();
    let waiting = Arc::new((AtomicUsize::new(0), Notify::new()));
    let writer = tokio::spawn(write_always(writing, queued, waiting.clone())).abort_handle();
    let peer = Arc::new(Peer { number, queue, waiting, subscriptions: Mutex::default(), writer });
    // A client that reconnects under its name gets it when the connection that it lost has ended, or with its first signed
    // message. Strangers cannot sign.
    socket.lock().entry(identity.clone()).or_default().push(peer.clone());
    while let Ok(received) = receive(&mut reading, socket.kind.longest()).await {
        let goes_on = match (received, socket.kind) {
            (Received::Command(command), _) => obey(&command, &peer, &socket),
            // A peer that takes no answers gets no more of them.
            (Received::Message(frames), Kind::Echo) => peer.push(frames.into()) && peer.has_room().await,
            (Received::Message(mut frames), Kind::Router) => {
                frames.insert(0, identity.clone());
                socket.received.send((number, frames)).is_ok()
            }
            (Received::Message(frames), Kind::Publisher) => {
                match frames.first().and_then(|frame| frame.split_first()) {
                    Some((1, topic)) => subscribe(Bytes::copy_from_slice(topic), &peer, &socket),
                    Some((0, topic)) => unsubscribe(topic, &peer),
                    _ => true,
                }
            }
        };
        if !goes_on {
            break;
        }
        if socket.kind != Kind::Router {
            tokio::time::sleep(PACE).await;
        }
    }
    socket.forget(&identity, number);
}

fn subscribe(topic: Bytes, peer: &Peer, socket: &Socket) -> bool {
    let mut subscriptions = peer.lock();
    if subscriptions.len() >= SUBSCRIPTIONS {
        log(&format!("a client with {SUBSCRIPTIONS} subscriptions asked for more and is let go"));
        return false;
    }
    subscriptions.push(topic.clone());
    socket.received.send((peer.number, vec![topic])).is_ok()
}

fn unsubscribe(topic: &[u8], peer: &Peer) -> bool {
    let mut subscriptions = peer.lock();
    if let Some(index) = subscriptions.iter().position(|known| known == topic) {
        subscriptions.swap_remove(index);
    }
    true
}

/// Handles commands after the handshake, also those of later versions of the protocol.
fn obey(command: &Bytes, peer: &Peer, socket: &Socket) -> bool {
    let Some((name, data)) = split_name(command) else { return false };
    match name {
        b"SUBSCRIBE" if socket.kind == Kind::Publisher => subscribe(Bytes::copy_from_slice(data), peer, socket),
        b"CANCEL" if socket.kind == Kind::Publisher => unsubscribe(data, peer),
        b"ERROR" => false,
        _ => true,
    }
}

/// Greeting and READY in both directions; returns the peer's identity.
async fn shake_hands(
    reading: &mut (impl AsyncRead + Unpin),
    writing: &mut (impl AsyncWrite + Unpin),
    kind: Kind,
    number: u64,
) -> io::Result<Bytes> {
    let mut greeting = [0; 64];
    greeting[0] = 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    greeting[12..16].copy_from_slice(b"NULL");
    writing.write_all(&greeting).await?;
    let mut theirs = [0; 64];
    reading.read_exact(&mut theirs).await?;
    if theirs[0] != 0xff || theirs[9] & 1 == 0 || theirs[10] < 3 || theirs[12..32] != greeting[12..32] {
        return Err(broken());
    }

    let mut ready = BytesMut::new();
    ready.put_slice(b"\x05READY");
    for (name, value) in [("Socket-Type", kind.name()), ("Identity", "")] {
        ready.put_u8(name.len() as u8);
        ready.put_slice(name.as_bytes());
        ready.put_u32(value.len() as u32);
        ready.put_slice(value.as_bytes());
    }
    let mut frame = BytesMut::new();
    put_header(&mut frame, COMMAND, ready.len());
    frame.put_slice(&ready);
    writing.write_all(&frame).await?;

    let (COMMAND, command) = read_frame(reading, MAX_COMMAND).await? else { return Err(broken()) };
    let Some((b"READY", properties)) = split_name(&command) else { return Err(broken()) };
    let (mut identity, mut fits, mut rest) = (Bytes::new(), false, properties);
    while !rest.is_empty() {
        let (name, value, next) = property(rest).ok_or_else(broken)?;
        if name.eq_ignore_ascii_case(b"Socket-Type") {
            fits = kind.talks_to(value);
        } else if name.eq_ignore_ascii_case(b"Identity") && value.len() <= MAX_IDENTITY {
            identity = Bytes::copy_from_slice(value);
        }
        rest = next;
    }
    if !fits {
        return Err(broken());
    }
    if identity.is_empty() || kind == Kind::Publisher {
        // A peer's own identity may not begin with zero, so the two kinds cannot be confused.
        let mut made = BytesMut::from(&[0][..]);
        made.put_u64(number);
        identity = made.freeze();
    }
    Ok(identity)
}

/// One property of a READY command: name, value, and the rest.
fn property(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (value, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((name, value, rest))
}

/// A command's name and its data.
fn split_name(command: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = command.split_first()?;
    rest.split_at_checked(length.into())
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

enum Received {
    Message(Frames),
    Command(Bytes),
}

/// A message of at most `limit` bytes, or a command.
async fn receive(reading: &mut (impl AsyncRead + Unpin), limit: u64) -> io::Result<Received> {
    let mut frames = Vec::new();
    let mut left = limit;
    loop {
        let (flags, body) = read_frame(reading, left).await?;
        if flags & COMMAND != 0 {
            return if frames.is_empty() { Ok(Received::Command(body)) } else { Err(broken()) };
        }
        left = left.checked_sub(body.len() as u64 + FRAME_CHARGE).ok_or_else(broken)?;
        frames.push(body);
        if flags & MORE == 0 {
            return Ok(Received::Message(frames));
        }
    }
}

/// One frame: its flags, except the one for its length, and its body.
async fn read_frame(reading: &mut (impl AsyncRead + Unpin), limit: u64) -> io::Result<(u8, Bytes)> {
    let flags = reading.read_u8().await?;
    let length = if flags & LONG == 0 { reading.read_u8().await?.into() } else { reading.read_u64().await? };
    if flags > MORE | LONG | COMMAND || length > limit || flags & COMMAND != 0 && length > MAX_COMMAND {
        return Err(broken());
    }
    let mut body = Vec::with_capacity(length.min(CHUNK as u64) as usize);
    reading.take(length).read_to_end(&mut body).await?;
    if (body.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((flags & !LONG, body.into()))
}

fn put_header(bytes: &mut BytesMut, flags: u8, length: usize) {
    match u8::try_from(length) {
        Ok(length) => bytes.put_slice(&[flags, length]),
        Err(_) => {
            bytes.put_u8(flags | LONG);
            bytes.put_u64(length as u64);
        }
    }
}

/// Writes the queue of a peer. Small frames go out together.
async fn write_always(
    mut writing: impl AsyncWrite + Unpin,
    mut queued: mpsc::UnboundedReceiver<Arc<[Bytes]>>,
    waiting: Arc<(AtomicUsize, Notify)>,
) -> io::Result<()> {
    let mut gathered = BytesMut::new();
    while let Some(first) = queued.recv().await {
        let mut next = Some(first);
        let mut written = 0;
        while let Some(frames) = next {
            written += size(&frames);
            for (index, frame) in frames.iter().enumerate() {
                put_header(&mut gathered, if index + 1 < frames.len() { MORE } else { 0 }, frame.len());
                if frame.len() > COPIED {
                    writing.write_all(&gathered).await?;
                    gathered.clear();
                    writing.write_all(frame).await?;
                } else {
                    gathered.put_slice(frame);
                }
            }
            next = if gathered.len() < CHUNK && written < WAITING_LIMIT { queued.try_recv().ok() } else { None };
        }
        writing.write_all(&gathered).await?;
        gathered.clear();
        waiting.0.fetch_sub(written, Ordering::Relaxed);
        waiting.1.notify_one();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> io::Result<Received> {
        receive(&mut &bytes[..], MAX_MESSAGE).await
    }

    #[tokio::test]
    async fn a_message_is_read_as_it_was_written() {
        let frames: Arc<[Bytes]> = [vec![], vec![1; 255], vec![2; 256], vec![3; COPIED + 1]].map(Bytes::from).into();
        let (sender, queued) = mpsc::unbounded_channel();
        sender.send(frames.clone()).unwrap();
        drop(sender);
        let waiting = Arc::new((AtomicUsize::new(size(&frames)), Notify::new()));
        let mut bytes = Vec::new();
        write_always(&mut bytes, queued, waiting.clone()).await.unwrap();
        let Ok(Received::Message(read)) = read(&bytes).await else { panic!() };
        assert_eq!(read, frames.to_vec());
        assert_eq!(waiting.0.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn what_is_announced_and_does_not_come_takes_no_memory() {
        for length in [1 << 20, MAX_MESSAGE, 1 << 40, u64::MAX] {
            let mut bytes = vec![LONG];
            bytes.extend(length.to_be_bytes());
            bytes.extend([0; 100]);
            assert!(read(&bytes).await.is_err(), "{length}");
        }
    }

    #[tokio::test]
    async fn a_message_cut_off_anywhere_and_flags_that_are_unknown_are_refused() {
        let whole = [MORE, 1, b'a', 0, 1, b'b'];
        assert!(read(&whole).await.is_ok());
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).await.is_err(), "{length}");
        }
        assert!(read(&[8, 0]).await.is_err());
        assert!(read(&[MORE, 0, COMMAND, 0]).await.is_err());
    }

    #[tokio::test]
    async fn frames_without_end_are_refused() {
        let bytes = [MORE, 0].repeat((MAX_MESSAGE / FRAME_CHARGE) as usize / 1000);
        assert!(read(&bytes).await.is_err());
    }

    #[test]
    fn properties_that_are_cut_off_are_refused() {
        let whole = b"\x04Name\x00\x00\x00\x02ab";
        assert_eq!(property(whole), Some((&b"Name"[..], &b"ab"[..], &b""[..])));
        for length in 0..whole.len() {
            assert_eq!(property(&whole[..length]), None, "{length}");
        }
    }
}
