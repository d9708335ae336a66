//! The Jupyter wire format: ZeroMQ frames <-> [`Message`], signed with HMAC-SHA256.
//!
//! Contents pass through as the JSON text that the other side wrote. Only the parts that routing needs are read. There
//! are no sockets here.
//! Format: <https://jupyter-client.readthedocs.io/en/stable/messaging.html#the-wire-protocol>.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::json;
use sha2::Sha256;

/// Version of the messaging protocol that the kernel speaks.
pub const PROTOCOL_VERSION: &str = "5.5";

const DELIMITER: &[u8] = b"<IDS|MSG>";
const EMPTY_OBJECT: Bytes = Bytes::from_static(b"{}");

/// The channel on which a request came and its reply goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Channel {
    #[default]
    Shell,
    Control,
    Stdin,
}

impl Channel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Control => "control",
            Self::Stdin => "stdin",
        }
    }
}

/// One message of the protocol. `header`, `parent_header`, `metadata` and `content` are the text of JSON objects.
#[derive(Debug, Clone)]
pub struct Message {
    /// The channel of a received message, and of the request to a reply. Broadcasts do not look at it.
    pub channel: Channel,
    /// Where a reply goes: the frames before the delimiter.
    pub identities: Vec<Bytes>,
    pub msg_type: String,
    /// The sender and the message's number there. No two messages share both.
    pub id: (String, String),
    /// The subshell that shall handle it. If absent, the main shell.
    pub subshell: Option<String>,
    pub header: Bytes,
    pub parent_header: Bytes,
    pub metadata: Bytes,
    pub content: Bytes,
    pub buffers: Vec<Bytes>,
    /// Whether the client was told that it was handled. Copies share it.
    done: Arc<AtomicBool>,
}

impl Message {
    /// Whether it is for a comm, the connection of a widget. Such messages are not answered.
    pub fn is_for_comm(&self) -> bool {
        matches!(self.msg_type.as_str(), "comm_open" | "comm_msg" | "comm_close")
    }

    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    pub fn set_done(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    /// The size in bytes of the parts that may be long.
    pub fn size(&self) -> usize {
        self.content.len() + self.buffers.iter().map(Bytes::len).sum::<usize>()
    }
}

/// Why a received message is ignored.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("it has no delimiter frame <IDS|MSG>")]
    NoDelimiter,
    #[error("it has {found} frames after the delimiter, at least 5 belong there")]
    Truncated { found: usize },
    #[error("its signature does not match the key of the connection file")]
    Signature,
    #[error("its {part} is not a JSON object: {error}")]
    Json { part: &'static str, error: serde_json::Error },
    #[error("its header has no msg_id and msg_type: {0}")]
    Header(serde_json::Error),
    #[error("the connection file asks for the signature scheme {0}; only hmac-sha256 is known")]
    Scheme(String),
}

#[derive(Deserialize)]
struct Routing {
    msg_id: String,
    #[serde(default)]
    session: String,
    msg_type: String,
    subshell_id: Option<String>,
}

/// Signs sent messages and checks received ones, with the key of the connection file.
#[derive(Clone)]
pub struct Signer {
    key: Option<Hmac<Sha256>>,
}

impl Signer {
    /// An empty key turns signing off, as the protocol says.
    pub fn new(key: &str, scheme: &str) -> Result<Self, WireError> {
        if key.is_empty() {
            return Ok(Self { key: None });
        }
        if scheme != "hmac-sha256" {
            return Err(WireError::Scheme(scheme.to_owned()));
        }
        // HMAC takes keys of every length, so this is never `Err`.
        Ok(Self { key: Hmac::new_from_slice(key.as_bytes()).ok() })
    }

    fn sign(&self, parts: [&Bytes; 4]) -> String {
        let Some(mut mac) = self.key.clone() else { return String::new() };
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn verify(&self, signature: &[u8], parts: [&Bytes; 4]) -> bool {
        let Some(mut mac) = self.key.clone() else { return true };
        parts.iter().for_each(|part| mac.update(part));
        unhex(signature).is_some_and(|signature| mac.verify_slice(&signature).is_ok())
    }
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.chunks_exact(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

/// Reads a message from the frames of one socket. Anything but a well-formed, correctly signed message is an error.
pub fn decode(frames: Vec<Bytes>, signer: &Signer) -> Result<Message, WireError> {
    let delimiter = frames.iter().position(|frame| &frame[..] == DELIMITER).ok_or(WireError::NoDelimiter)?;
    let [signature, header, parent_header, metadata, content, buffers @ ..] = &frames[delimiter + 1..] else {
        return Err(WireError::Truncated { found: frames.len() - delimiter - 1 });
    };
    if !signer.verify(signature, [header, parent_header, metadata, content]) {
        return Err(WireError::Signature);
    }
    for (part, text) in
        [("header", header), ("parent_header", parent_header), ("metadata", metadata), ("content", content)]
    {
        // From text, not from bytes: these may hold invalid UTF-8 within a string that nobody reads here.
        std::str::from_utf8(text)
            .map_err(serde_json::Error::custom)
            .and_then(serde_json::from_str::<HashMap<String, IgnoredAny>>)
            .map_err(|error| WireError::Json { part, error })?;
    }
    let routing: Routing = serde_json::from_slice(header).map_err(WireError::Header)?;
    Ok(Message {
        channel: Channel::default(),
        identities: frames[..delimiter].to_vec(),
        msg_type: routing.msg_type,
        id: (routing.session, routing.msg_id),
        subshell: routing.subshell_id,
        header: header.clone(),
        parent_header: parent_header.clone(),
        metadata: metadata.clone(),
        content: content.clone(),
        buffers: buffers.to_vec(),
        done: Arc::default(),
    })
}

/// The frames of a message, signed.
pub fn encode(message: Message, signer: &Signer) -> Vec<Bytes> {
    let parts = [&message.header, &message.parent_header, &message.metadata, &message.content];
    let signature = Bytes::from(signer.sign(parts));
    let mut frames = message.identities;
    frames.push(Bytes::from_static(DELIMITER));
    frames.push(signature);
    frames.extend([message.header, message.parent_header, message.metadata, message.content]);
    frames.extend(message.buffers);
    frames
}

/// Remembers which messages were received, so that a message that a client sends again is not handled twice.
#[derive(Default)]
pub struct Received {
    known: HashSet<(String, String)>,
    order: VecDeque<(String, String)>,
}

/// The maximum number of remembered messages.
const REMEMBERED: usize = 1 << 14;

impl Received {
    /// Whether this message was not received before.
    pub fn is_new(&mut self, message: &Message) -> bool {
        if !self.known.insert(message.id.clone()) {
            return false;
        }
        self.order.push_back(message.id.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// Makes the kernel's own messages: they share the session id of this run of the kernel.
#[derive(Clone)]
pub struct Session {
    id: String,
}

impl Session {
    pub fn new() -> Self {
        Self { id: uuid::Uuid::new_v4().to_string() }
    }

    /// A message of somebody else of which only the header is known, to whose cell output is attributed.
    pub fn attribution(header: Bytes) -> Message {
        Message { header, ..Self { id: String::new() }.message("", EMPTY_OBJECT, None) }
    }

    /// A message in reply to `parent` (none: one that the kernel sends by itself), without identities yet.
    pub fn message(&self, msg_type: &str, content: impl Into<Bytes>, parent: Option<&Message>) -> Message {
        let msg_id = uuid::Uuid::new_v4().to_string();
        let header = json!({
            "msg_id": msg_id,
            "session": self.id,
            "username": "kernel",
            "date": DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Micros, true),
            "msg_type": msg_type,
            "version": PROTOCOL_VERSION,
        });
        Message {
            channel: Channel::default(),
            identities: Vec::new(),
            msg_type: msg_type.to_owned(),
            id: (self.id.clone(), msg_id),
            subshell: None,
            header: header.to_string().into(),
            parent_header: parent.map_or(EMPTY_OBJECT, |parent| parent.header.clone()),
            metadata: EMPTY_OBJECT,
            content: content.into(),
            buffers: Vec::new(),
            done: Arc::default(),
        }
    }

    /// Like [`Session::message`], addressed to the sender of `request`.
    pub fn reply(&self, msg_type: &str, content: impl Into<Bytes>, request: &Message) -> Message {
        let message = self.message(msg_type, content, Some(request));
        Message { channel: request.channel, identities: request.identities.clone(), ..message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(key: &str) -> Signer {
        Signer::new(key, "hmac-sha256").unwrap()
    }

    fn request() -> Message {
        let mut message = Session::new().message("execute_request", r#"{"code":"1"}"#, None);
        message.identities = vec![Bytes::from_static(b"client")];
        message.buffers = vec![Bytes::from_static(b"\x00\xff")];
        message
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for key in ["secret", ""] {
            let sent = request();
            let received = decode(encode(sent.clone(), &signer(key)), &signer(key)).unwrap();
            assert_eq!(received.msg_type, "execute_request");
            assert_eq!(received.identities, sent.identities);
            assert_eq!(received.content, sent.content);
            assert_eq!(received.buffers, sent.buffers);
        }
    }

    #[test]
    fn the_signature_is_hmac_sha256_in_hexadecimal() {
        let part = Bytes::from_static(b"{}");
        assert_eq!(
            signer("key").sign([&part, &part, &part, &part]),
            "ca767b02c5bc061ed184a9a029e7f93a7f2f7ed4e8fe74120fc1212f0b008fa3"
        );
    }

    #[test]
    fn another_key_or_a_changed_part_is_refused() {
        let frames = encode(request(), &signer("secret"));
        assert!(matches!(decode(frames.clone(), &signer("other")), Err(WireError::Signature)));
        let mut changed = frames.clone();
        changed[6] = Bytes::from_static(br#"{"code":"2"}"#);
        assert!(matches!(decode(changed, &signer("secret")), Err(WireError::Signature)));
        let mut odd = frames;
        odd[2] = Bytes::from_static(b"abc");
        assert!(matches!(decode(odd, &signer("secret")), Err(WireError::Signature)));
    }

    #[test]
    fn a_truncated_message_is_refused_at_every_length() {
        let frames = encode(request(), &signer("secret"));
        for length in 0..7 {
            assert!(decode(frames[..length].to_vec(), &signer("secret")).is_err(), "{length} frames");
        }
    }

    #[test]
    fn a_part_that_is_no_json_object_is_refused() {
        for content in [&b""[..], b"{", b"[]", b"1", b"{} {}", b"{\"code\":\"\xff\"}"] {
            let message = Session::new().message("execute_request", Bytes::from_static(content), None);
            let result = decode(encode(message, &signer("k")), &signer("k"));
            assert!(matches!(result, Err(WireError::Json { part: "content", .. })), "{content:?}");
        }
    }

    #[test]
    fn a_header_without_a_message_type_is_refused() {
        let mut message = request();
        message.header = Bytes::from_static(br#"{"msg_id":"1"}"#);
        assert!(matches!(decode(encode(message, &signer("k")), &signer("k")), Err(WireError::Header(_))));
    }

    #[test]
    fn a_message_is_new_once() {
        let (first, second) = (request(), request());
        let mut received = Received::default();
        assert!(received.is_new(&first) && received.is_new(&second));
        assert!(!received.is_new(&first) && !received.is_new(&second));
        for _ in 0..REMEMBERED {
            assert!(received.is_new(&request()));
        }
        assert!(received.is_new(&first), "what is long past is forgotten");
    }

    #[test]
    fn an_unknown_signature_scheme_is_an_error_that_names_it() {
        let error = Signer::new("key", "hmac-md5").err().unwrap();
        assert!(error.to_string().contains("hmac-md5"));
    }
}
