//! The kernel as Python sees it: its [`Connection`]. [`super::requests`] has the requests, and [`super::stream`] the
//! streams.
//!
//! Contents come in as JSON text and go out as Python values. Calls that may wait release Python's lock and let signals through.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use jupyter_protocol::{ExecutionState, Stdio};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::runtime::Runtime;

use super::capture;
use super::json::to_json;
use super::requests::{Requests, ShellRequest};
use super::service::{Created, Service, StartError, read_connection_file};
use super::stream::{SIGNAL_INTERVAL, StreamWriter, wait_while_congested};
use super::terminal::terminal;

/// How long sending the last messages may take.
const LINGER: Duration = Duration::from_secs(1);

/// The open sockets of a kernel. Lives as long as the process.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Connection {
    service: Arc<Service>,
    runtime: &'static Runtime,
    created: Mutex<mpsc::Receiver<Created>>,
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

    /// The requests of the main shell.
    fn requests(&self) -> Requests {
        Requests::new(self.service.queue.clone(), self.service.clone())
    }

    /// Waits until a thread is needed, for a subshell or for the control channel. Returns a name for it and its
    /// requests. Called by one thread.
    fn next_shell(&self, py: Python<'_>) -> Option<(String, Requests)> {
        let Created { name, queue } =
            py.detach(|| self.created.lock().unwrap_or_else(PoisonError::into_inner).recv().ok())?;
        Some((name, Requests::new(queue, self.service.clone())))
    }

    /// The ids of the subshells.
    fn subshells(&self) -> Vec<String> {
        self.service.subshells()
    }

    /// From here on, text written to file descriptors 1 and 2 is output of the notebook. Returns the descriptor of the
    /// terminal that stderr was.
    fn capture_output(&self) -> PyResult<i32> {
        self.service.capture_output()?;
        Ok(terminal())
    }

    /// The native part of `sys.stdout` or `sys.stderr`. Both functions return the request to which the output of the
    /// running thread belongs, the second one for threads that have not written before.
    fn stream(&self, name: &str, known: Py<PyAny>, adopt: Py<PyAny>) -> StreamWriter {
        let name = if name == "stderr" { Stdio::Stderr } else { Stdio::Stdout };
        StreamWriter::new(self.service.clone(), name, known, adopt)
    }

    /// Turns the recording of cells' output on or off. Returns whether it was on.
    fn record(&self, on: bool) -> bool {
        self.service.record.switch(on)
    }

    /// The output recorded since the last call, as names of streams and texts.
    fn recorded(&self) -> Vec<(&'static str, String)> {
        self.service.record.take()
    }

    /// The request on which the main shell works.
    fn current(&self) -> Option<ShellRequest> {
        self.service.current().map(ShellRequest::of)
    }

    /// The latest request on the control channel.
    fn latest_control(&self) -> Option<ShellRequest> {
        self.service.latest_control().map(ShellRequest::of)
    }

    /// Makes output of programs and C code belong to this request.
    fn set_current(&self, request: &ShellRequest) -> PyResult<()> {
        self.service.set_current(request.answerable()?.clone());
        Ok(())
    }

    /// Whether this process was forked from the kernel.
    #[staticmethod]
    fn is_forked() -> bool {
        capture::is_forked()
    }

    /// Waits a moment, until the system has all text that Python and programs wrote, so that it survives the process.
    fn flush(&self, py: Python<'_>) {
        if !capture::is_forked() {
            py.detach(|| {
                self.service.drain_capture();
                self.runtime.block_on(self.service.publisher.flush_sometimes());
            });
        }
    }

    /// Answers a request. The answer to a cell comes after its output: some clients look no more then.
    #[pyo3(signature = (request, msg_type, content, metadata = None))]
    fn reply(
        &self,
        py: Python<'_>,
        request: &ShellRequest,
        msg_type: &str,
        content: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if capture::is_forked() {
            return Ok(());
        }
        let mut reply = self.service.session.reply(msg_type, to_json(content)?, request.answerable()?);
        if let Some(metadata) = metadata {
            reply.metadata = to_json(metadata)?;
        }
        py.detach(|| {
            if msg_type == "execute_reply" {
                self.service.flush_capture();
                self.runtime.block_on(self.service.publisher.flush());
            }
            self.service.send_reply(reply);
        });
        Ok(())
    }

    /// Marks a request as done.
    fn finish(&self, py: Python<'_>, request: &ShellRequest) -> PyResult<()> {
        let message = request.answerable()?;
        message.set_done();
        py.detach(|| self.service.flush_capture());
        self.service.publish_status(ExecutionState::Idle, Some(message));
        Ok(())
    }

    /// Broadcasts a message on iopub. Returns the length of its content in bytes.
    #[pyo3(signature = (msg_type, content, parent = None, metadata = None, buffers = Vec::new()))]
    fn publish(
        &self,
        py: Python<'_>,
        msg_type: &str,
        content: &Bound<'_, PyAny>,
        parent: Option<&ShellRequest>,
        metadata: Option<&Bound<'_, PyAny>>,
        buffers: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<usize> {
        if capture::is_forked() {
            return Ok(0);
        }
        let parent = parent.and_then(|parent| parent.message()).map(Arc::as_ref);
        let mut message = self.service.session.message(msg_type, to_json(content)?, parent);
        if let Some(metadata) = metadata {
            message.metadata = to_json(metadata)?;
        }
        message.buffers = buffers.iter().map(|buffer| Bytes::copy_from_slice(buffer.as_bytes())).collect();
        self.service.drain_capture();
        let length = message.content.len();
        self.service.publisher.message(message);
        wait_while_congested(py, &self.service.publisher)?;
        Ok(length)
    }

    /// Asks the client for a line. `content` is the content of the input_request. Returns the content of the answer, as
    /// JSON, or none if the request is done before. An interrupt ends the wait of every thread that was about to ask
    /// when [`Connection::times_given_up`] was `given_up`.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        request: &ShellRequest,
        content: &Bound<'py, PyAny>,
        given_up: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        if capture::is_forked() {
            return Err(PyRuntimeError::new_err("a forked process cannot ask for input; ask before forking"));
        }
        let (message, content) = (request.answerable()?, to_json(content)?);
        let may_be_answered = || match self.service.times_given_up() == given_up {
            true => Ok(!message.is_done()),
            false => Err(PyKeyboardInterrupt::new_err("the question was given up")),
        };
        if !may_be_answered()? {
            return Ok(None);
        }
        py.detach(|| {
            self.service.flush_capture();
            self.runtime.block_on(self.service.publisher.drain());
            self.service.ask_input(content, message);
        });
        loop {
            if let Some(answer) = self.service.take_input() {
                return Ok(Some(PyBytes::new(py, &answer.content)));
            }
            py.detach(|| std::thread::sleep(SIGNAL_INTERVAL));
            py.check_signals()?;
            if !may_be_answered()? {
                return Ok(None);
            }
        }
    }

    /// How often questions were given up.
    fn times_given_up(&self) -> u64 {
        self.service.times_given_up()
    }

    /// Ends every wait for an answer with a `KeyboardInterrupt`.
    fn give_up_questions(&self) {
        self.service.give_up_questions();
    }

    /// Sends everything that is still on its way. This is the last call before the process ends.
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
