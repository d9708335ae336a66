//! The tasks that own the sockets of one kernel: shell, control, stdin and heartbeat (for iopub see [`super::iopub`]).
//!
//! What needs no Python is answered here: kernel_info, connect, interrupt and shutdown, and the heartbeat. So these work
//! while a cell runs. No task ever takes Python's lock.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{ConnectionInfo, ExecutionState, InterruptReply, ReplyStatus, ShutdownReply, Status, Stdio};
use serde_json::{Value, json};
use tokio::net::UnixDatagram;
use zeromq::{RouterRecvHalf, RouterSendHalf, RouterSocket, Socket, SocketRecv, SocketSend, XPubSocket, ZmqMessage};

use super::iopub::{self, Publisher, to_json};
use super::log;
use super::process;
use super::queue::{Request, RequestQueue};
use super::wire::{Message, Session, Signer, WireError, decode, encode};

/// A port of a kernel that was just restarted may be taken for a moment: how often to try, 100 ms apart.
const BIND_ATTEMPTS: u32 = 50;
/// After a shutdown_request, a process that has not ended by itself is ended.
const SHUT_DOWN_GRACE: Duration = Duration::from_secs(3);
/// The largest piece of output that a forked child sends at once.
pub const CHILD_OUTPUT_LIMIT: usize = 32 * 1024;

/// Why a kernel does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the connection file {path} cannot be read: {error}")]
    Unreadable { path: String, error: std::io::Error },
    #[error("the connection file {path} is not one of Jupyter's: {error}")]
    Malformed { path: String, error: serde_json::Error },
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the {channel} channel cannot be opened at {url}: {error}")]
    Bind { channel: &'static str, url: String, error: zeromq::ZmqError },
    #[error("the kernel's threads cannot be started: {0}")]
    Threads(#[from] std::io::Error),
}

/// A running kernel, shared by its tasks and by Python.
pub struct Service {
    pub queue: RequestQueue,
    pub publisher: Publisher,
    pub session: Session,
    signer: Signer,
    info: ConnectionInfo,
    kernel_info: Bytes,
    shell: RouterSendHalf,
    stdin: RouterSendHalf,
    input_replies: Mutex<VecDeque<Message>>,
    /// What Python works on: the parent of what forked children write.
    current: Mutex<Option<Arc<Message>>>,
    shutting_down: AtomicBool,
}

/// Reads a connection file.
pub fn read_connection_file(path: &Path) -> Result<ConnectionInfo, StartError> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| StartError::Unreadable { path: name(), error })?;
    serde_json::from_str(&text).map_err(|error| StartError::Malformed { path: name(), error })
}

impl Service {
    /// Opens the sockets and starts the tasks. `kernel_info` is the content of every kernel_info_reply;
    /// `child_output` brings what forked children write, with a first byte of 1 (stdout) or 2 (stderr).
    pub async fn start(
        info: ConnectionInfo,
        kernel_info: Bytes,
        child_output: UnixDatagram,
    ) -> Result<Arc<Self>, StartError> {
        let signer = Signer::new(&info.key, &info.signature_scheme)?;
        let session = Session::new();
        let (shell, shell_requests) = router("shell", &info.shell_url()).await?.split();
        let (control, control_requests) = router("control", &info.control_url()).await?.split();
        let (stdin, stdin_replies) = router("stdin", &info.stdin_url()).await?.split();
        let heartbeat = router("heartbeat", &info.hb_url()).await?;
        let mut iopub_socket = XPubSocket::new();
        bind(&mut iopub_socket, "iopub", &info.iopub_url()).await?;

        let service = Arc::new(Self {
            queue: RequestQueue::new()?,
            publisher: iopub::start(iopub_socket, session.clone(), signer.clone()),
            session,
            signer,
            info,
            kernel_info,
            shell,
            stdin,
            input_replies: Mutex::default(),
            current: Mutex::default(),
            shutting_down: AtomicBool::new(false),
        });
        service.publish_status(ExecutionState::Starting, None);
        tokio::spawn(echo(heartbeat));
        tokio::spawn(service.clone().receive_requests(shell_requests));
        tokio::spawn(service.clone().answer_control(control_requests, control));
        tokio::spawn(service.clone().receive_input(stdin_replies));
        tokio::spawn(service.clone().forward_child_output(child_output));
        tokio::spawn(process::end_with_parent());
        Ok(service)
    }

    /// The next request for Python, or none. What Rust can answer by itself on the shell channel is answered on the
    /// way, in its turn.
    pub async fn next_request(&self) -> Option<Request> {
        loop {
            match self.queue.pop()? {
                Request::Abort(request) => {
                    self.publish_status(ExecutionState::Busy, Some(&request));
                    let reply = self.session.reply("execute_reply", r#"{"status":"aborted"}"#, &request);
                    self.send_shell(reply).await;
                    self.publish_status(ExecutionState::Idle, Some(&request));
                }
                Request::Handle(request) => {
                    self.publish_status(ExecutionState::Busy, Some(&request));
                    if request.msg_type == "shutdown_request" {
                        self.shut_down(&request, &mut self.shell.clone()).await;
                        continue;
                    }
                    let Some(reply) = self.answer_without_python(&request) else {
                        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
                        return Some(Request::Handle(request));
                    };
                    self.send_shell(reply).await;
                    self.publish_status(ExecutionState::Idle, Some(&request));
                }
                Request::ShutDown => return Some(Request::ShutDown),
            }
        }
    }

    pub fn publish_status(&self, state: ExecutionState, parent: Option<&Message>) {
        self.publisher.message(self.session.message("status", to_json(&Status { execution_state: state }), parent));
    }

    pub async fn send_shell(&self, reply: Message) {
        send(&mut self.shell.clone(), encode(reply, &self.signer)).await;
    }

    /// Asks the client that sent `request` for a line of input; the answer is taken with [`Service::take_input`].
    pub async fn ask_input(&self, content: Bytes, request: &Message) {
        self.lock_input().clear();
        let question = self.session.reply("input_request", content, request);
        send(&mut self.stdin.clone(), encode(question, &self.signer)).await;
    }

    pub fn take_input(&self) -> Option<Message> {
        self.lock_input().pop_front()
    }

    fn lock_input(&self) -> std::sync::MutexGuard<'_, VecDeque<Message>> {
        self.input_replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer_without_python(&self, request: &Message) -> Option<Message> {
        let reply = |msg_type, content: Bytes| Some(self.session.reply(msg_type, content, request));
        match request.msg_type.as_str() {
            "kernel_info_request" => reply("kernel_info_reply", self.kernel_info.clone()),
            "connect_request" => {
                let ConnectionInfo { shell_port, iopub_port, stdin_port, control_port, hb_port, .. } = self.info;
                let ports = json!({
                    "status": "ok", "shell_port": shell_port, "iopub_port": iopub_port, "stdin_port": stdin_port,
                    "control_port": control_port, "hb_port": hb_port,
                });
                reply("connect_reply", to_json(&ports))
            }
            _ => None,
        }
    }

    async fn receive_requests(self: Arc<Self>, mut socket: RouterRecvHalf) {
        loop {
            if let Some(request) = receive(&mut socket, "shell", &self.signer).await {
                self.queue.push(request);
            }
        }
    }

    async fn receive_input(self: Arc<Self>, mut socket: RouterRecvHalf) {
        loop {
            match receive(&mut socket, "stdin", &self.signer).await {
                Some(reply) if reply.msg_type == "input_reply" => self.lock_input().push_back(reply),
                Some(other) => log(&format!("a message {} on the stdin channel was ignored", other.msg_type)),
                None => {}
            }
        }
    }

    async fn answer_control(self: Arc<Self>, mut requests: RouterRecvHalf, mut replies: RouterSendHalf) {
        loop {
            let Some(request) = receive(&mut requests, "control", &self.signer).await else { continue };
            self.publish_status(ExecutionState::Busy, Some(&request));
            let reply = match request.msg_type.as_str() {
                "interrupt_request" => {
                    process::interrupt();
                    Some(self.session.reply("interrupt_reply", to_json(&InterruptReply::new()), &request))
                }
                "shutdown_request" => {
                    self.shut_down(&request, &mut replies).await;
                    continue;
                }
                msg_type => {
                    let reply = self.answer_without_python(&request);
                    if reply.is_none() {
                        log(&format!("a message {msg_type} on the control channel was ignored"));
                    }
                    reply
                }
            };
            if let Some(reply) = reply {
                send(&mut replies, encode(reply, &self.signer)).await;
            }
            self.publish_status(ExecutionState::Idle, Some(&request));
        }
    }

    /// Answers, stops the cell that runs, and has Python end the process; ends it from here when Python does not.
    async fn shut_down(&self, request: &Message, socket: &mut RouterSendHalf) {
        let restart = serde_json::from_slice::<Value>(&request.content)
            .is_ok_and(|content| content.get("restart").and_then(Value::as_bool).unwrap_or(false));
        let content = to_json(&ShutdownReply { restart, status: ReplyStatus::Ok, error: None });
        send(socket, encode(self.session.reply("shutdown_reply", content.clone(), request), &self.signer)).await;
        self.publisher.message(self.session.message("shutdown_reply", content, Some(request)));
        self.publish_status(ExecutionState::Idle, Some(request));
        if self.shutting_down.swap(true, Ordering::Relaxed) {
            return;
        }
        self.queue.push_shut_down();
        process::interrupt();
        tokio::spawn(async {
            tokio::time::sleep(SHUT_DOWN_GRACE).await;
            process::end_now(0);
        });
    }

    async fn forward_child_output(self: Arc<Self>, socket: UnixDatagram) {
        let mut bytes = vec![0; CHILD_OUTPUT_LIMIT + 1];
        while let Ok(length) = socket.recv(&mut bytes).await {
            let [name, text @ ..] = &bytes[..length] else { continue };
            let name = if *name == 2 { Stdio::Stderr } else { Stdio::Stdout };
            let text = String::from_utf8_lossy(text).into_owned();
            let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.publisher.stream(name, text, current);
        }
    }
}

async fn router(channel: &'static str, url: &str) -> Result<RouterSocket, StartError> {
    let mut socket = RouterSocket::new();
    bind(&mut socket, channel, url).await?;
    Ok(socket)
}

async fn bind(socket: &mut impl Socket, channel: &'static str, url: &str) -> Result<(), StartError> {
    let mut attempt = 1;
    loop {
        match socket.bind(url).await {
            Ok(_) => return Ok(()),
            Err(_) if attempt < BIND_ATTEMPTS => attempt += 1,
            Err(error) => return Err(StartError::Bind { channel, url: url.to_owned(), error }),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The next well-formed message; others are logged and forgotten.
async fn receive(socket: &mut RouterRecvHalf, channel: &str, signer: &Signer) -> Option<Message> {
    match socket.recv().await {
        Ok(frames) => match decode(frames.into_vec(), signer) {
            Ok(message) => Some(message),
            Err(error) => {
                log(&format!("a message on the {channel} channel was ignored: {error}"));
                None
            }
        },
        Err(error) => {
            log(&format!("the {channel} channel: {error}"));
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

async fn send(socket: &mut RouterSendHalf, frames: Vec<Bytes>) {
    let Ok(frames) = ZmqMessage::try_from(frames) else { return };
    if let Err(error) = socket.send(frames).await {
        log(&format!("a reply could not be sent: {error}"));
    }
}

/// Sends every heartbeat back as it came.
async fn echo(mut socket: RouterSocket) {
    loop {
        match socket.recv().await {
            Ok(beat) => {
                // A client that has gone in the meantime needs no answer.
                let _ = socket.send(beat).await;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
