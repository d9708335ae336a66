//! The tasks that own the sockets of one kernel: shell, control, stdin and heartbeat (for iopub see [`super::iopub`]).
//!
//! Requests that need no Python are answered here: kernel_info, connect, interrupt, shutdown, the list of subshells,
//! and the heartbeat. So these work while a cell runs. No task ever takes Python's lock.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{ConnectionInfo, ExecutionState, InterruptReply, ReplyStatus, ShutdownReply, Status};
use serde_json::{Value, json};

use super::capture::Capture;
use super::iopub::{self, Publisher, to_json};
use super::process;
use super::queue::{QueueItem, RequestQueue};
use super::recorded::Record;
use super::terminal::log;
use super::wire::{Channel, Message, Received, Session, Signer, WireError, decode, encode};
use super::zmtp::{self, Frames, RouterReceiver, RouterSender};

/// The ports of a kernel that was just restarted may be taken for a moment: how often to try, 100 ms apart.
const BIND_ATTEMPTS: u32 = 50;
/// How long after a shutdown_request a process that has not ended by itself is ended.
const SHUT_DOWN_GRACE: Duration = Duration::from_secs(3);

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
    Bind { channel: &'static str, url: String, error: std::io::Error },
    #[error("the kernel's threads cannot be started: {0}")]
    Threads(#[from] std::io::Error),
}

/// A running kernel, shared by its tasks and by Python.
pub struct Service {
    /// The requests of the main shell.
    pub queue: Arc<RequestQueue>,
    subshells: Mutex<BTreeMap<String, Arc<RequestQueue>>>,
    /// The requests of the control channel that need Python. Most kernels never get one.
    control_queue: OnceLock<Arc<RequestQueue>>,
    /// The queues that were created. Python starts a thread for each.
    created: mpsc::Sender<Created>,
    pub publisher: Publisher,
    pub session: Session,
    pub record: Record,
    signer: Signer,
    info: ConnectionInfo,
    kernel_info: Bytes,
    shell: RouterSender,
    control: RouterSender,
    stdin: RouterSender,
    input_replies: Mutex<VecDeque<Message>>,
    /// How often the questions for input were given up.
    given_up: AtomicU64,
    /// The latest request on the control channel.
    latest_control: Mutex<Option<Arc<Message>>>,
    /// The request on which the main shell works. Output of programs and C code belongs to it.
    current: Arc<Mutex<Option<Arc<Message>>>>,
    capture: OnceLock<Arc<Capture>>,
    shutting_down: AtomicBool,
}

/// A queue that was created, and a name for its thread.
pub struct Created {
    pub name: String,
    pub queue: Arc<RequestQueue>,
}

/// Reads a connection file.
pub fn read_connection_file(path: &Path) -> Result<ConnectionInfo, StartError> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| StartError::Unreadable { path: name(), error })?;
    serde_json::from_str(&text).map_err(|error| StartError::Malformed { path: name(), error })
}

impl Service {
    /// Opens the sockets and starts the tasks. `kernel_info` is the content of every kernel_info_reply. `created`
    /// receives each new queue.
    pub async fn start(
        info: ConnectionInfo,
        kernel_info: Bytes,
        created: mpsc::Sender<Created>,
    ) -> Result<Arc<Self>, StartError> {
        let signer = Signer::new(&info.key, &info.signature_scheme)?;
        let session = Session::new();
        // First, so that no client is answered before it can subscribe.
        let iopub_socket = bind("iopub", &info.iopub_url(), zmtp::publisher).await?;
        let (shell, shell_requests) = bind("shell", &info.shell_url(), zmtp::router).await?;
        let (control, control_requests) = bind("control", &info.control_url(), zmtp::router).await?;
        let (stdin, stdin_replies) = bind("stdin", &info.stdin_url(), zmtp::router).await?;
        bind("heartbeat", &info.hb_url(), zmtp::echo).await?;

        let publisher = Publisher::default();
        iopub::start(&publisher, iopub_socket, session.clone(), signer.clone());
        let service = Arc::new(Self {
            queue: Arc::new(RequestQueue::new()?),
            subshells: Mutex::default(),
            control_queue: OnceLock::new(),
            created,
            publisher,
            session,
            record: Record::default(),
            signer,
            info,
            kernel_info,
            shell,
            control,
            stdin,
            input_replies: Mutex::default(),
            given_up: AtomicU64::new(0),
            latest_control: Mutex::default(),
            current: Arc::default(),
            capture: OnceLock::new(),
            shutting_down: AtomicBool::new(false),
        });
        service.publish_status(ExecutionState::Starting, None);
        tokio::spawn(service.clone().receive_requests(shell_requests));
        tokio::spawn(service.clone().answer_control(control_requests));
        tokio::spawn(service.clone().receive_input(stdin_replies));
        tokio::spawn(process::end_with_parent());
        Ok(service)
    }

    /// From here on, text written to file descriptors 1 and 2 is output of the notebook.
    pub fn capture_output(&self) -> std::io::Result<()> {
        if self.capture.get().is_none() {
            let capture = Capture::start(self.publisher.clone(), self.current.clone())?;
            // Python calls this once, at the start.
            let _ = self.capture.set(capture);
        }
        Ok(())
    }

    /// Publishes everything written to file descriptors so far.
    pub fn drain_capture(&self) {
        if let Some(capture) = self.capture.get() {
            capture.drain();
        }
    }

    /// Like [`Service::drain_capture`], including the text that C code holds in its buffer.
    pub fn flush_capture(&self) {
        if let Some(capture) = self.capture.get() {
            capture.flush();
        }
    }

    /// The ids of the subshells.
    pub fn subshells(&self) -> Vec<String> {
        self.lock_subshells().keys().cloned().collect()
    }

    fn subshell(&self, id: &str) -> Option<Arc<RequestQueue>> {
        self.lock_subshells().get(id).cloned()
    }

    /// The message on which the main shell works.
    pub fn current(&self) -> Option<Arc<Message>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The latest request on the control channel.
    pub fn latest_control(&self) -> Option<Arc<Message>> {
        self.latest_control.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_current(&self, request: Arc<Message>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
    }

    /// The next request of a queue for Python, or none. Requests on the shell channel that Rust can answer by itself
    /// are answered on the way, in their turn.
    pub fn next_request(&self, queue: &RequestQueue) -> Option<QueueItem> {
        loop {
            match queue.pop()? {
                QueueItem::Abort(request) => {
                    self.publish_status(ExecutionState::Busy, Some(&request));
                    let reply = self.session.reply("execute_reply", r#"{"status":"aborted"}"#, &request);
                    self.send_reply(reply);
                    self.publish_status(ExecutionState::Idle, Some(&request));
                }
                QueueItem::Handle(request) => {
                    self.publish_status(ExecutionState::Busy, Some(&request));
                    if request.msg_type == "shutdown_request" {
                        self.shut_down(&request);
                        continue;
                    }
                    let Some(reply) = self.answer_without_python(&request) else {
                        if request.subshell.is_none() && request.channel == Channel::Shell {
                            self.set_current(request.clone());
                        }
                        return Some(QueueItem::Handle(request));
                    };
                    self.send_reply(reply);
                    self.publish_status(ExecutionState::Idle, Some(&request));
                }
                QueueItem::ShutDown => return Some(QueueItem::ShutDown),
            }
        }
    }

    pub fn publish_status(&self, state: ExecutionState, parent: Option<&Message>) {
        self.publisher.message(self.session.message("status", to_json(&Status { execution_state: state }), parent));
    }

    /// Sends a reply on the channel of its request.
    pub fn send_reply(&self, reply: Message) {
        let socket = match reply.channel {
            Channel::Shell => &self.shell,
            Channel::Control => &self.control,
            Channel::Stdin => &self.stdin,
        };
        send(socket, encode(reply, &self.signer));
    }

    /// Waits until the system has everything that was sent and published, for a moment at most.
    pub async fn flush(&self, limit: Duration) {
        self.publisher.drain().await;
        self.shell.drain(limit).await;
        self.control.drain(limit).await;
    }

    /// Asks the client that sent `request` for a line of input. [`Service::take_input`] takes the answer.
    pub fn ask_input(&self, content: Bytes, request: &Message) {
        self.lock_input().clear();
        let question = self.session.reply("input_request", content, request);
        send(&self.stdin, encode(question, &self.signer));
    }

    pub fn take_input(&self) -> Option<Message> {
        self.lock_input().pop_front()
    }

    /// Ends every wait for an answer.
    pub fn give_up_questions(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// How often questions were given up. While it stays the same, a question may still be answered.
    pub fn times_given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    fn lock_input(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.input_replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_subshells(&self) -> MutexGuard<'_, BTreeMap<String, Arc<RequestQueue>>> {
        self.subshells.lock().unwrap_or_else(PoisonError::into_inner)
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

    async fn receive_requests(self: Arc<Self>, mut socket: RouterReceiver) {
        let mut received = Received::default();
        loop {
            let Some(request) = receive(&mut socket, Channel::Shell, &self.signer, &mut received).await else {
                continue;
            };
            match &request.subshell {
                None => self.queue.push(Arc::new(request)),
                Some(id) => match self.subshell(id) {
                    Some(queue) => queue.push(Arc::new(request)),
                    None => self.refuse_subshell(&request),
                },
            }
        }
    }

    /// Answers a request for a missing subshell.
    fn refuse_subshell(&self, request: &Message) {
        self.refuse(request, &unknown_subshell(request.subshell.as_deref().unwrap_or_default()));
    }

    /// Answers with an error, between the statuses that belong to it. A message that is no request has no reply.
    fn refuse(&self, request: &Message, error: &Value) {
        self.publish_status(ExecutionState::Busy, Some(request));
        if let Some(name) = request.msg_type.strip_suffix("_request") {
            self.send_reply(self.session.reply(&format!("{name}_reply"), to_json(error), request));
        }
        self.publish_status(ExecutionState::Idle, Some(request));
    }

    /// Creates or lists subshells (Jupyter Enhancement Proposal 91).
    fn answer_for_subshells(&self, request: &Message) -> Option<Value> {
        match request.msg_type.as_str() {
            "create_subshell_request" => {
                let queue = match RequestQueue::new() {
                    Ok(queue) => Arc::new(queue),
                    Err(error) => return Some(no_queue(&error)),
                };
                let id = uuid::Uuid::new_v4().to_string();
                self.lock_subshells().insert(id.clone(), queue.clone());
                self.announce(format!("subshell-{id}"), queue);
                Some(json!({"status": "ok", "subshell_id": id}))
            }
            "list_subshell_request" => Some(json!({"status": "ok", "subshell_id": self.subshells()})),
            _ => None,
        }
    }

    fn announce(&self, name: String, queue: Arc<RequestQueue>) {
        // This fails only if Python is ending.
        let _ = self.created.send(Created { name, queue });
    }

    async fn receive_input(self: Arc<Self>, mut socket: RouterReceiver) {
        let mut received = Received::default();
        loop {
            match receive(&mut socket, Channel::Stdin, &self.signer, &mut received).await {
                Some(reply) if reply.msg_type == "input_reply" => self.lock_input().push_back(reply),
                Some(other) => log(&format!("a message {} on the stdin channel was ignored", other.msg_type)),
                None => {}
            }
        }
    }

    async fn answer_control(self: Arc<Self>, mut requests: RouterReceiver) {
        let mut received = Received::default();
        loop {
            let request = receive(&mut requests, Channel::Control, &self.signer, &mut received).await;
            let Some(request) = request.map(Arc::new) else { continue };
            *self.latest_control.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
            match request.msg_type.as_str() {
                "shutdown_request" => {
                    self.publish_status(ExecutionState::Busy, Some(&request));
                    self.shut_down(&request);
                }
                "delete_subshell_request" => self.clone().delete_subshell(request),
                _ => match self.answer_on_control(&request) {
                    Some(reply) => self.answer(&request, reply),
                    None => self.pass_control_on(request),
                },
            }
        }
    }

    /// Sends a reply between the statuses that belong to it.
    fn answer(&self, request: &Message, reply: Message) {
        self.publish_status(ExecutionState::Busy, Some(request));
        self.send_reply(reply);
        self.publish_status(ExecutionState::Idle, Some(request));
    }

    /// Ends a subshell, and answers when its thread has ended, or does not end soon.
    fn delete_subshell(self: Arc<Self>, request: Arc<Message>) {
        let content = serde_json::from_slice::<Value>(&request.content).unwrap_or_default();
        let id = content.get("subshell_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let queue = self.lock_subshells().remove(&id);
        tokio::spawn(async move {
            let content = match queue {
                Some(queue) => {
                    queue.push_shut_down();
                    let _ = tokio::time::timeout(SHUT_DOWN_GRACE, queue.ended.notified()).await;
                    json!({"status": "ok"})
                }
                None => unknown_subshell(&id),
            };
            self.answer(&request, self.session.reply("delete_subshell_reply", to_json(&content), &request));
        });
    }

    fn answer_on_control(&self, request: &Message) -> Option<Message> {
        if request.msg_type == "interrupt_request" {
            process::interrupt();
            return Some(self.session.reply("interrupt_reply", to_json(&InterruptReply::new()), request));
        }
        match self.answer_for_subshells(request) {
            Some(content) => {
                let msg_type = request.msg_type.replace("_request", "_reply");
                Some(self.session.reply(&msg_type, to_json(&content), request))
            }
            None => self.answer_without_python(request),
        }
    }

    /// Leaves a request of the control channel to a thread of Python.
    fn pass_control_on(&self, request: Arc<Message>) {
        if self.control_queue.get().is_none() {
            let queue = match RequestQueue::new() {
                Ok(queue) => Arc::new(queue),
                Err(error) => return self.refuse(&request, &no_queue(&error)),
            };
            // One task alone receives from this channel.
            let _ = self.control_queue.set(queue.clone());
            self.announce("control".to_owned(), queue);
        }
        if let Some(queue) = self.control_queue.get() {
            queue.push(request);
        }
    }

    /// Answers, stops the running cell, and makes Python end the process. If Python does not, ends it from here.
    fn shut_down(&self, request: &Message) {
        let restart = serde_json::from_slice::<Value>(&request.content)
            .is_ok_and(|content| content.get("restart").and_then(Value::as_bool).unwrap_or(false));
        let content = to_json(&ShutdownReply { restart, status: ReplyStatus::Ok, error: None });
        self.send_reply(self.session.reply("shutdown_reply", content.clone(), request));
        self.publisher.message(self.session.message("shutdown_reply", content, Some(request)));
        self.publish_status(ExecutionState::Idle, Some(request));
        if self.shutting_down.swap(true, Ordering::Relaxed) {
            return;
        }
        self.queue.push_shut_down();
        self.lock_subshells().values().for_each(|queue| queue.push_shut_down());
        process::interrupt();
        tokio::spawn(async {
            tokio::time::sleep(SHUT_DOWN_GRACE).await;
            process::end_now(0);
        });
    }
}

/// Opens a socket, and tries again while its port is still taken.
async fn bind<T>(
    channel: &'static str,
    url: &str,
    open: impl AsyncFn(&str) -> std::io::Result<T>,
) -> Result<T, StartError> {
    let mut attempt = 1;
    loop {
        match open(url).await {
            Ok(socket) => return Ok(socket),
            Err(_) if attempt < BIND_ATTEMPTS => attempt += 1,
            Err(error) => return Err(StartError::Bind { channel, url: url.to_owned(), error }),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn unknown_subshell(id: &str) -> Value {
    // The words of ipykernel, by which clients may know it.
    error_content("UnknownSubshellError", &format!("Unknown subshell_id '{id}'"))
}

/// What a client is told if nothing more can wait for Python, as where too many files are open.
fn no_queue(error: &std::io::Error) -> Value {
    error_content("OSError", &error.to_string())
}

/// The content of a reply to a request that failed.
fn error_content(ename: &str, evalue: &str) -> Value {
    json!({"status": "error", "ename": ename, "evalue": evalue, "traceback": []})
}

/// The next well-formed message that was not received before. Others are logged and dropped.
async fn receive(
    socket: &mut RouterReceiver,
    channel: Channel,
    signer: &Signer,
    received: &mut Received,
) -> Option<Message> {
    // The sockets live as long as the process.
    let (origin, frames) = socket.next().await?;
    match decode(frames, signer) {
        Ok(mut message) if received.is_new(&message) => {
            message.channel = channel;
            if let Some(name) = message.identities.first() {
                socket.trust(&origin, name);
            }
            Some(message)
        }
        Ok(message) => {
            log(&format!("the {} on the {} channel was received before", message.msg_type, channel.name()));
            None
        }
        Err(error) => {
            log(&format!("a message on the {} channel was ignored: {error}", channel.name()));
            None
        }
    }
}

fn send(socket: &RouterSender, frames: Frames) {
    if !socket.send(frames) {
        log("a reply could not be sent: its client is gone");
    }
}
