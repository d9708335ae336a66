//! The kernel as Python sees it: [`Connection`] and [`Request`].
//!
//! Contents cross this border as JSON text. Calls that may wait release Python's lock and let signals through.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{ExecutionState, Stdio};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::runtime::Runtime;

use super::queue;
use super::service::{CHILD_OUTPUT_LIMIT, Service, StartError, read_connection_file};
use super::wire::Message;

/// How long an answer or a free way is waited for before signals are looked at.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Messages received within this time after a failed cell were sent before its failure was known.
const ABORT_GRACE: Duration = Duration::from_millis(10);
/// The sockets' own writers get this long to send the last messages.
const LINGER: Duration = Duration::from_millis(100);

/// A message that waits for an answer, or the wish to shut down (`msg_type` is then `None`).
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Request {
    message: Option<Arc<Message>>,
}

#[pymethods]
impl Request {
    #[getter]
    fn msg_type(&self) -> Option<&str> {
        self.message.as_ref().map(|message| message.msg_type.as_str())
    }

    /// The header, as JSON.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.part(py, |message| &message.header)
    }

    /// The metadata, as JSON.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.part(py, |message| &message.metadata)
    }

    /// The content, as JSON.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.part(py, |message| &message.content)
    }

    #[getter]
    fn buffers<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let buffers = self.message.as_ref().map(|message| &message.buffers[..]).unwrap_or_default();
        buffers.iter().map(|buffer| PyBytes::new(py, buffer)).collect()
    }
}

impl Request {
    fn part<'py>(&self, py: Python<'py>, part: impl Fn(&Message) -> &Bytes) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.message.as_ref().map_or(b"{}", |message| part(message)))
    }

    fn answerable(&self) -> PyResult<&Arc<Message>> {
        self.message.as_ref().ok_or_else(|| PyValueError::new_err("a shutdown is not answered"))
    }
}

/// The open sockets of a kernel. Lives as long as the process.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Connection {
    service: Arc<Service>,
    runtime: &'static Runtime,
    /// The process that owns the sockets; a forked child has none of its threads.
    owner: u32,
    from_child: UnixDatagram,
}

/// The runtime is never dropped: waiting for its threads in a forked child would never end.
fn runtime() -> std::io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("twincell-kernel")
        .enable_all()
        .build()?;
    Ok(RUNTIME.get_or_init(|| runtime))
}

#[pymethods]
impl Connection {
    /// Opens the sockets of a connection file. `kernel_info` is the content of every kernel_info_reply, as JSON.
    #[staticmethod]
    fn open(py: Python<'_>, connection_file: PathBuf, kernel_info: String) -> PyResult<Self> {
        let start = || -> Result<Self, StartError> {
            let info = read_connection_file(&connection_file)?;
            let runtime = runtime()?;
            let (child_output, from_child) = UnixDatagram::pair()?;
            child_output.set_nonblocking(true)?;
            let service = runtime.block_on(async {
                let child_output = tokio::net::UnixDatagram::from_std(child_output)?;
                Service::start(info, kernel_info.into(), child_output).await
            })?;
            Ok(Self { service, runtime, owner: std::process::id(), from_child })
        };
        py.detach(start).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// A file descriptor that is readable while requests may wait.
    fn fileno(&self) -> i32 {
        self.service.queue.fileno()
    }

    /// The next request, marked as busy; none when nothing waits.
    fn next_request(&self, py: Python<'_>) -> Option<Request> {
        py.detach(|| self.runtime.block_on(self.service.next_request())).map(|request| match request {
            queue::Request::Handle(message) | queue::Request::Abort(message) => Request { message: Some(message) },
            queue::Request::ShutDown => Request { message: None },
        })
    }

    /// Answers a request.
    #[pyo3(signature = (request, msg_type, content, metadata = "{}"))]
    fn reply(
        &self,
        py: Python<'_>,
        request: &Request,
        msg_type: &str,
        content: String,
        metadata: &str,
    ) -> PyResult<()> {
        let mut reply = self.service.session.reply(msg_type, content, request.answerable()?);
        reply.metadata = metadata.to_owned().into();
        py.detach(|| self.runtime.block_on(self.service.send_shell(reply)));
        Ok(())
    }

    /// Marks a request as done.
    fn finish(&self, request: &Request) -> PyResult<()> {
        self.service.publish_status(ExecutionState::Idle, Some(request.answerable()?));
        Ok(())
    }

    /// Aborts the cells that were sent before a failure could be known.
    fn abort_waiting(&self, py: Python<'_>) {
        py.detach(|| std::thread::sleep(ABORT_GRACE));
        self.service.queue.abort_waiting();
    }

    /// Broadcasts a message on iopub.
    #[pyo3(signature = (msg_type, content, parent = None, metadata = "{}", buffers = Vec::new()))]
    fn publish(
        &self,
        py: Python<'_>,
        msg_type: &str,
        content: String,
        parent: Option<&Request>,
        metadata: &str,
        buffers: Vec<Vec<u8>>,
    ) -> PyResult<()> {
        if self.is_forked() {
            return Ok(());
        }
        let parent = parent.and_then(|parent| parent.message.as_deref());
        let mut message = self.service.session.message(msg_type, content, parent);
        message.metadata = metadata.to_owned().into();
        message.buffers = buffers.into_iter().map(Bytes::from).collect();
        self.service.publisher.message(message);
        self.wait_while_congested(py)
    }

    /// Appends to `stdout` or `stderr`. Pieces that follow each other closely are sent as one.
    #[pyo3(signature = (name, text, parent = None))]
    fn write(&self, py: Python<'_>, name: &str, text: String, parent: Option<&Request>) -> PyResult<()> {
        if self.is_forked() {
            return self.write_from_child(name, &text);
        }
        let parent = parent.and_then(|parent| parent.message.clone());
        self.service.publisher.stream(stream(name), text, parent);
        self.wait_while_congested(py)
    }

    /// Asks the client for a line; `content` is that of the input_request. Returns the content of the answer, as JSON.
    fn ask<'py>(&self, py: Python<'py>, request: &Request, content: String) -> PyResult<Bound<'py, PyBytes>> {
        if self.is_forked() {
            return Err(PyRuntimeError::new_err("a forked process cannot ask for input; ask before forking"));
        }
        let message = request.answerable()?;
        py.detach(|| {
            self.runtime.block_on(async {
                self.service.publisher.drain().await;
                self.service.ask_input(content.into(), message).await;
            });
        });
        loop {
            if let Some(answer) = self.service.take_input() {
                return Ok(PyBytes::new(py, &answer.content));
            }
            py.detach(|| std::thread::sleep(SIGNAL_INTERVAL));
            py.check_signals()?;
        }
    }

    /// Sends what is still on its way; the last call before the process ends.
    fn close(&self, py: Python<'_>) {
        if self.is_forked() {
            return;
        }
        py.detach(|| {
            self.runtime.block_on(async {
                let drained = self.service.publisher.drain();
                let _ = tokio::time::timeout(Duration::from_secs(1), drained).await;
                tokio::time::sleep(LINGER).await;
            });
        });
    }
}

impl Connection {
    fn is_forked(&self) -> bool {
        std::process::id() != self.owner
    }

    fn write_from_child(&self, name: &str, text: &str) -> PyResult<()> {
        let first = if matches!(stream(name), Stdio::Stderr) { 2 } else { 1 };
        let mut rest = text;
        while !rest.is_empty() {
            let mut length = rest.len().min(CHILD_OUTPUT_LIMIT);
            while !rest.is_char_boundary(length) {
                length -= 1;
            }
            let (piece, next) = rest.split_at(length);
            let mut datagram = vec![first];
            datagram.extend_from_slice(piece.as_bytes());
            self.from_child.send(&datagram)?;
            rest = next;
        }
        Ok(())
    }

    fn wait_while_congested(&self, py: Python<'_>) -> PyResult<()> {
        while self.service.publisher.is_congested() {
            py.detach(|| std::thread::sleep(SIGNAL_INTERVAL));
            py.check_signals()?;
        }
        Ok(())
    }
}

fn stream(name: &str) -> Stdio {
    if name == "stderr" { Stdio::Stderr } else { Stdio::Stdout }
}
