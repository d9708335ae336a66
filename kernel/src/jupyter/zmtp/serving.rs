//! The connections of a socket: how they are accepted, and what comes over them. [`super::peers`] is who is connected.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::super::terminal::log;
use super::peers::{Entered, Peer};
use super::protocol::{CHUNK, Received, receive, shake_hands, split_name, write_always};
use super::{Frames, Kind, MAX_UNSIGNED, Origin, STUCK, Socket, WAITING_LIMIT};

/// The maximum number of subscriptions of a peer.
const SUBSCRIPTIONS: usize = 64;
/// How long a peer waits between two heartbeats, or two changes of its subscriptions. A client sends one a second.
const PACE: Duration = Duration::from_millis(10);
/// The time in which a new peer must say what it is.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A connection over which nothing has come for this long is asked whether its other end is still there, this often,
/// and this many times. Otherwise a client whose network failed would keep its place and its name.
const SILENCE: Duration = Duration::from_secs(20);
const QUESTIONS: Duration = Duration::from_secs(5);
const UNANSWERED: u32 = 3;
/// Accepts connections at an address, and serves them.
pub(super) async fn listen(url: &str, socket: Arc<Socket>) -> io::Result<()> {
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
pub(super) fn admit(stream: impl AsyncRead + AsyncWrite + Send + 'static, socket: &Arc<Socket>) {
    let taken = if socket.kind == Kind::Publisher { socket.taken.clone() } else { Arc::default() };
    let Some(Entered { peer, queued, begins_to_crowd }) = socket.peers.enter(taken) else {
        log("a connection was refused: the socket has as many as it serves");
        return;
    };
    if begins_to_crowd {
        log("connections that have not been used yet give way to new ones: the socket has as many as it serves");
    }
    let socket = socket.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = peer.end.notified() => {}
            () = serve(stream, queued, &peer, &socket) => {}
        }
        socket.peers.leave(&peer);
        socket.taken.notify_one();
    });
}

/// Talks to one peer until it goes away or breaks the protocol.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + 'static,
    queued: mpsc::UnboundedReceiver<Arc<[Bytes]>>,
    peer: &Arc<Peer>,
    socket: &Socket,
) {
    let (reading, mut writing) = tokio::io::split(stream);
    let mut reading = BufReader::with_capacity(CHUNK, reading);
    let handshake = timeout(HANDSHAKE, shake_hands(&mut reading, &mut writing, socket.kind, peer.number));
    let Ok(Ok(identity)) = handshake.await else { return };

    // It ends with this function.
    let mut writer = JoinSet::new();
    let waiting = peer.waiting.clone();
    writer.spawn(async move {
        // If this fails, nobody reads any more. The connection ends when nothing more comes from there either.
        let _ = write_always(writing, queued, waiting.clone()).await;
        waiting.taken.notify_one();
    });
    // A client that reconnects under its name gets it when the connection that it lost has ended, or with its first
    // signed message. Strangers cannot sign.
    socket.peers.name(peer, identity.clone());
    let count = |bytes| {
        if socket.kind == Kind::Router && !peer.is_known() && socket.peers.hold(peer, bytes) {
            log("a connection without a signed message gave way: such connections together have sent too much at once");
        }
    };
    loop {
        let limit = socket.kind.longest(peer.is_known());
        let received = match receive(&mut reading, limit, &count).await {
            Ok(received) => received,
            Err(error) => {
                if error.kind() == io::ErrorKind::FileTooLarge {
                    let first = if limit == MAX_UNSIGNED { "; a shorter signed message has to come first" } else { "" };
                    log(&format!("a message of more than {limit} bytes was refused, and its connection ended{first}"));
                }
                break;
            }
        };
        let goes_on = match (received, socket.kind) {
            (Received::Command(command), _) => obey(&command, peer, socket),
            (Received::Message(frames), Kind::Echo) => {
                peer.becomes_known();
                // A peer that takes no answers gets no more of them.
                peer.push(frames.into()) && has_room(peer).await
            }
            (Received::Message(mut frames), Kind::Router) => {
                frames.insert(0, identity.clone());
                deliver(frames, peer, socket).await
            }
            (Received::Message(frames), Kind::Publisher) => {
                match frames.first().and_then(|frame| frame.split_first()) {
                    Some((1, topic)) => subscribe(Bytes::copy_from_slice(topic), peer, socket),
                    Some((0, topic)) => unsubscribe(topic, peer),
                    _ => true,
                }
            }
        };
        if !goes_on {
            break;
        }
        peer.is_checked();
        if socket.kind != Kind::Router {
            tokio::time::sleep(PACE).await;
        }
    }
}

/// Hands a message over. Nothing more is read from a connection that is not known before that message was checked: the
/// next one may be long only if this one is signed.
async fn deliver(frames: Frames, peer: &Peer, socket: &Socket) -> bool {
    let (origin, checked) = Origin::of(peer);
    let is_taken = socket.received.send((origin, frames)).is_ok();
    if !peer.is_known() {
        // An error is what comes: the sender is dropped, and never sends.
        let _ = checked.await;
    }
    is_taken
}

/// Waits until a peer has room for more. Returns whether that happened.
async fn has_room(peer: &Peer) -> bool {
    while peer.waiting.bytes() > WAITING_LIMIT {
        if timeout(STUCK, peer.waiting.taken.notified()).await.is_err() {
            return false;
        }
    }
    true
}

fn subscribe(topic: Bytes, peer: &Peer, socket: &Socket) -> bool {
    let mut subscriptions = peer.subscriptions();
    if subscriptions.len() >= SUBSCRIPTIONS {
        log(&format!("a client with {SUBSCRIPTIONS} subscriptions asked for more and is let go"));
        return false;
    }
    peer.becomes_known();
    subscriptions.push(topic.clone());
    let (origin, _) = Origin::of(peer);
    socket.received.send((origin, vec![topic])).is_ok()
}

fn unsubscribe(topic: &[u8], peer: &Peer) -> bool {
    let mut subscriptions = peer.subscriptions();
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
