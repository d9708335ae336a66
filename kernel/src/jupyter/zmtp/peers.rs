//! The connections of a socket: which are let in, which have to go, and what waits for each.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use super::protocol::FRAME_CHARGE;

/// The maximum number of connections of a socket. A client has one to each socket.
const PEERS: usize = 128;
/// What all connections that have shown no valid signature may hold together of messages that are not checked yet.
const UNSIGNED_TOGETHER: usize = 64 << 20;

/// A connection, from the first byte on.
pub(super) struct Peer {
    pub(super) number: u64,
    /// The name, once it is known.
    pub(super) identity: OnceLock<Bytes>,
    queue: mpsc::UnboundedSender<Arc<[Bytes]>>,
    pub(super) waiting: Arc<Waiting>,
    pub(super) subscriptions: Mutex<Vec<Bytes>>,
    /// Whether it has done what its socket is for: a signed message, a heartbeat, a subscription.
    is_known: AtomicBool,
    /// The number of bytes that have come and are not checked yet, while it is not known.
    unsigned: AtomicUsize,
    is_let_go: AtomicBool,
    /// Told when the connection has to end.
    pub(super) end: Notify,
}

impl Peer {
    pub(super) fn push(&self, frames: Arc<[Bytes]>) -> bool {
        self.waiting.add(size(&frames));
        self.queue.send(frames).is_ok()
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    pub(super) fn becomes_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Everything that has come is checked.
    pub(super) fn is_checked(&self) {
        self.unsigned.store(0, Ordering::Relaxed);
    }

    /// Ends the connection soon. From now on it counts no more.
    pub(super) fn let_go(&self) {
        self.is_let_go.store(true, Ordering::Relaxed);
        self.end.notify_one();
    }

    /// Whether something that is sent can still arrive.
    pub(super) fn is_there(&self) -> bool {
        !self.is_let_go.load(Ordering::Relaxed) && !self.queue.is_closed()
    }

    pub(super) fn subscribes(&self, topic: &[u8]) -> bool {
        self.subscriptions().iter().any(|subscription| topic.starts_with(subscription))
    }

    pub(super) fn subscriptions(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of bytes that wait for a peer.
#[derive(Default)]
pub(super) struct Waiting {
    bytes: AtomicUsize,
    /// Told when some were taken. Subscribers share it.
    pub(super) taken: Arc<Notify>,
}

impl Waiting {
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn take(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.taken.notify_one();
    }
}

pub(super) fn size(frames: &[Bytes]) -> usize {
    frames.iter().map(|frame| frame.len() + FRAME_CHARGE as usize).sum()
}

/// A connection that is let in.
pub(super) struct Entered {
    pub(super) peer: Arc<Peer>,
    /// What is to be written to it.
    pub(super) queued: mpsc::UnboundedReceiver<Arc<[Bytes]>>,
    /// Whether it is the first in a row to which another one gave way.
    pub(super) begins_to_crowd: bool,
}

/// The connections of a socket.
#[derive(Default)]
pub(super) struct Peers {
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    last: u64,
    is_crowded: bool,
    /// By number, so the oldest comes first.
    all: BTreeMap<u64, Arc<Peer>>,
    /// Where several announce the same name, the first of them has it.
    names: HashMap<Bytes, Vec<Arc<Peer>>>,
}

impl Peers {
    /// Lets one more connection in. If there are too many, the oldest that is not known gives way. If all are known,
    /// nothing is returned.
    pub(super) fn enter(&self, taken: Arc<Notify>) -> Option<Entered> {
        let mut connections = self.lock();
        let mut there = connections.all.values().filter(|peer| peer.is_there());
        let is_crowded = there.clone().count() >= PEERS;
        if is_crowded {
            there.find(|peer| !peer.is_known())?.let_go();
        }
        let begins_to_crowd = is_crowded && !connections.is_crowded;
        connections.is_crowded = is_crowded;
        connections.last += 1;
        let (queue, queued) = mpsc::unbounded_channel();
        let peer = Arc::new(Peer {
            number: connections.last,
            identity: OnceLock::new(),
            queue,
            waiting: Arc::new(Waiting { taken, ..Waiting::default() }),
            subscriptions: Mutex::default(),
            is_known: AtomicBool::new(false),
            unsigned: AtomicUsize::new(0),
            is_let_go: AtomicBool::new(false),
            end: Notify::new(),
        });
        connections.all.insert(peer.number, peer.clone());
        Some(Entered { peer, queued, begins_to_crowd })
    }

    /// Gives a connection its name, after others of the same name.
    pub(super) fn name(&self, peer: &Arc<Peer>, identity: Bytes) {
        self.lock().names.entry(identity.clone()).or_default().push(peer.clone());
        // A connection is named once.
        let _ = peer.identity.set(identity);
    }

    pub(super) fn leave(&self, peer: &Peer) {
        let mut connections = self.lock();
        connections.all.remove(&peer.number);
        if let Some(name) = peer.identity.get()
            && let Some(same) = connections.names.get_mut(name)
        {
            same.retain(|other| other.number != peer.number);
            if same.is_empty() {
                connections.names.remove(name);
            }
        }
    }

    /// The connection is known, so messages for this name go there from now on.
    pub(super) fn trust(&self, connection: u64, name: &Bytes) {
        if let Some(same) = self.lock().names.get_mut(name)
            && let Some(place) = same.iter().position(|peer| peer.number == connection)
        {
            same[place].becomes_known();
            same[..=place].rotate_right(1);
        }
    }

    pub(super) fn named(&self, name: &Bytes) -> Option<Arc<Peer>> {
        self.lock().names.get(name).and_then(|same| same.first()).cloned()
    }

    /// All that are there.
    pub(super) fn all(&self) -> Vec<Arc<Peer>> {
        self.lock().all.values().filter(|peer| peer.is_there()).cloned().collect()
    }

    /// Some more bytes came from a connection that is not known. If all of these hold too many, the oldest of those that
    /// hold any has to go. Returns whether that happened.
    pub(super) fn hold(&self, peer: &Peer, bytes: usize) -> bool {
        peer.unsigned.fetch_add(bytes, Ordering::Relaxed);
        let connections = self.lock();
        let held = |peer: &Peer| if peer.is_known() { 0 } else { peer.unsigned.load(Ordering::Relaxed) };
        let there = connections.all.values().filter(|peer| peer.is_there());
        if there.clone().map(|peer| held(peer)).sum::<usize>() <= UNSIGNED_TOGETHER {
            return false;
        }
        if let Some(oldest) = there.clone().find(|peer| held(peer) > 0) {
            oldest.let_go();
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
