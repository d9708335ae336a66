//! The kernel as Python sees it: [`Connection`], [`Requests`] and [`Request`]; its streams are in [`super::stream`].
//!
//! Contents come in as JSON text and go out as Python values. Calls that may wait release Python's lock and let signals through.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{ExecutionState, Stdio};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::runtime::Runtime;

use super::capture;
use super::iopub::Publisher;
use super::json::to_json;
use super::queue::{self, RequestQueue};
use super::service::{Service, StartError, read_connection_file};
use super::stream::StreamWriter;
use super::wire::Message;

/// How long an answer or a free way is waited for before signals are looked at.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Messages received within this time after a failed cell were sent before its failure was known.
const ABORT_GRACE: Duration = Duration::from_millis(10);
/// The last messages get this long to be sent.
const LINGER: Duration = Duration::from_secs(1);

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

impl Request {
    pub fn message(&self) -> Option<&Arc<Message>> {
        self.message.as_ref()
    }
}

/// The requests of one shell: the main one, or a subshell.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Requests {
    queue: Arc<RequestQueue>,
    service: Arc<Service>,
}

#[pymethods]
impl Requests {
    /// A file descriptor that is readable while requests may wait.
    fn fileno(&self) -> i32 {
        self.queue.fileno()
    }

    /// The next request, marked as busy; none when nothing waits.
    fn next(&self, py: Python<'_>) -> Option<Request> {
        py.detach(|| self.service.next_request(&self.queue)).map(|request| match request {
            queue::Request::Handle(message) | queue::Request::Abort(message) => Request { message: Some(message) },
            queue::Request::ShutDown => Request { message: None },
        })
    }

    /// Aborts the cells that were sent before a failure could be known.
    fn abort_waiting(&self, py: Python<'_>) {
        py.detach(|| std::thread::sleep(ABORT_GRACE));
        self.queue.abort_waiting();
    }
}

/// The open sockets of a kernel. Lives as long as the process.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Connection {
    service: Arc<Service>,
    runtime: &'static Runtime,
    created: Mutex<mpsc::Receiver<String>>,
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
            let (sender, created) = mpsc::channel();
            let service = runtime.block_on(Service::start(info, kernel_info.into(), sender))?;
            capture::notice_forks();
            Ok(Self { service, runtime, created: Mutex::new(created) })
        };
        py.detach(start).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// The requests of the main shell or, with an id, of a subshell; `None` when that was deleted again.
    #[pyo3(signature = (subshell = None))]
    fn requests(&self, subshell: Option<&str>) -> Option<Requests> {
        let queue = match subshell {
            None => self.service.queue.clone(),
            Some(id) => self.service.subshell(id)?,
        };
        Some(Requests { queue, service: self.service.clone() })
    }

    /// Waits until a subshell is created, and returns its id. Called by one thread.
    fn next_subshell(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.created.lock().unwrap_or_else(PoisonError::into_inner).recv().ok())
    }

    /// From here on, what is written to file descriptors 1 and 2 is output of the notebook. Returns the descriptor of the
    /// terminal that stderr was.
    fn capture_output(&self) -> PyResult<i32> {
        self.service.capture_output()?;
        Ok(capture::terminal())
    }

    /// The native part of `sys.stdout` or `sys.stderr`; both functions return the request that the running thread's
    /// output belongs to, the second one for threads that have not written before.
    fn stream(&self, name: &str, known: Py<PyAny>, adopt: Py<PyAny>) -> StreamWriter {
        let name = if name == "stderr" { Stdio::Stderr } else { Stdio::Stdout };
        StreamWriter::new(self.service.clone(), name, known, adopt)
    }

    /// Turns the recording of what cells write on or off. Returns whether it was on.
    fn record(&self, on: bool) -> bool {
        self.service.record.switch(on)
    }

    /// What was recorded since the last call: names of streams and texts.
    fn recorded(&self) -> Vec<(&'static str, String)> {
        self.service.record.take()
    }

    /// The request that the main shell works on.
    fn current(&self) -> Option<Request> {
        self.service.current().map(|message| Request { message: Some(message) })
    }

    /// Answers a request.
    #[pyo3(signature = (request, msg_type, content, metadata = None))]
    fn reply(
        &self,
        py: Python<'_>,
        request: &Request,
        msg_type: &str,
        content: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut reply = self.service.session.reply(msg_type, to_json(content)?, request.answerable()?);
        if let Some(metadata) = metadata {
            reply.metadata = to_json(metadata)?;
        }
        py.detach(|| self.service.send_shell(reply));
        Ok(())
    }

    /// Marks a request as done.
    fn finish(&self, py: Python<'_>, request: &Request) -> PyResult<()> {
        py.detach(|| self.service.flush_capture());
        self.service.publish_status(ExecutionState::Idle, Some(request.answerable()?));
        Ok(())
    }

    /// Broadcasts a message on iopub.
    #[pyo3(signature = (msg_type, content, parent = None, metadata = None, buffers = Vec::new()))]
    fn publish(
        &self,
        py: Python<'_>,
        msg_type: &str,
        content: &Bound<'_, PyAny>,
        parent: Option<&Request>,
        metadata: Option<&Bound<'_, PyAny>>,
        buffers: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<()> {
        if capture::is_forked() {
            return Ok(());
        }
        let parent = parent.and_then(|parent| parent.message.as_deref());
        let mut message = self.service.session.message(msg_type, to_json(content)?, parent);
        if let Some(metadata) = metadata {
            message.metadata = to_json(metadata)?;
        }
        message.buffers = buffers.iter().map(|buffer| Bytes::copy_from_slice(buffer.as_bytes())).collect();
        self.service.drain_capture();
        self.service.publisher.message(message);
        wait_while_congested(py, &self.service.publisher)
    }

    /// Asks the client for a line; `content` is that of the input_request. Returns the content of the answer, as JSON.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        content: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if capture::is_forked() {
            return Err(PyRuntimeError::new_err("a forked process cannot ask for input; ask before forking"));
        }
        let (message, content) = (request.answerable()?, to_json(content)?);
        py.detach(|| {
            self.service.flush_capture();
            self.runtime.block_on(self.service.publisher.drain());
            self.service.ask_input(content, message);
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
        if capture::is_forked() {
            return;
        }
        py.detach(|| {
            self.service.flush_capture();
            self.runtime.block_on(self.service.flush(LINGER));
        });
    }
}

/// Waits until clients have taken most of what is on its way; an interrupt ends the wait.
pub fn wait_while_congested(py: Python<'_>, publisher: &Publisher) -> PyResult<()> {
    while publisher.is_congested() {
        py.detach(|| std::thread::sleep(SIGNAL_INTERVAL));
        py.check_signals()?;
    }
    Ok(())
}
