//! The requests that Python handles: [`ShellRequest`], and the [`Requests`] of one shell.

use std::sync::Arc;

use bytes::Bytes;
use jupyter_protocol::ExecutionState;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::queue::{QueueItem, RequestQueue};
use super::service::Service;
use super::wire::{Message, Session};

/// A message that waits for a reply, or a request to shut down (then `msg_type` is `None`).
#[pyclass(frozen, name = "Request", module = "twincell._twincell")]
pub struct ShellRequest {
    message: Option<Arc<Message>>,
}

#[pymethods]
impl ShellRequest {
    /// Stands for a message of which only the header is known, as JSON: output can be attributed to it, and it is not
    /// answered.
    #[staticmethod]
    fn with_header(header: String) -> Self {
        Self::of(Arc::new(Session::attribution(header.into())))
    }

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

    /// The channel on which it came: shell or control.
    #[getter]
    fn channel(&self) -> &'static str {
        self.message.as_ref().map_or("", |message| message.channel.name())
    }

    /// Where the reply goes: the frames before the delimiter.
    #[getter]
    fn identities<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let identities = self.message.as_ref().map(|message| &message.identities[..]).unwrap_or_default();
        identities.iter().map(|identity| PyBytes::new(py, identity)).collect()
    }

    /// Whether the client was told that it was handled.
    #[getter]
    fn is_done(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.is_done())
    }

    #[getter]
    fn buffers<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let buffers = self.message.as_ref().map(|message| &message.buffers[..]).unwrap_or_default();
        buffers.iter().map(|buffer| PyBytes::new(py, buffer)).collect()
    }
}

impl ShellRequest {
    fn part<'py>(&self, py: Python<'py>, part: impl Fn(&Message) -> &Bytes) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.message.as_ref().map_or(b"{}", |message| part(message)))
    }

    /// The message to which a reply is sent.
    pub fn answerable(&self) -> PyResult<&Arc<Message>> {
        self.message.as_ref().ok_or_else(|| PyValueError::new_err("a shutdown is not answered"))
    }

    /// A message that waits for a reply.
    pub fn of(message: Arc<Message>) -> Self {
        Self { message: Some(message) }
    }

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

impl Requests {
    pub fn new(queue: Arc<RequestQueue>, service: Arc<Service>) -> Self {
        Self { queue, service }
    }
}

#[pymethods]
impl Requests {
    /// A file descriptor that is readable while requests may wait.
    fn fileno(&self) -> i32 {
        self.queue.fileno()
    }

    /// The next request, marked as busy. None if nothing waits.
    fn next(&self, py: Python<'_>) -> Option<ShellRequest> {
        py.detach(|| self.service.next_request(&self.queue)).map(|item| match item {
            QueueItem::Handle(message) | QueueItem::Abort(message) => ShellRequest { message: Some(message) },
            QueueItem::ShutDown => ShellRequest { message: None },
        })
    }

    /// The next message for a comm, marked as busy, past the requests that wait before it. None if no other waits.
    fn next_comm(&self) -> Option<ShellRequest> {
        self.queue.pop_comm().map(|message| {
            self.service.publish_status(ExecutionState::Busy, Some(&message));
            ShellRequest::of(message)
        })
    }

    /// Says that no more requests are taken.
    fn end(&self) {
        self.queue.ended.notify_one();
    }

    /// Aborts the cells that wait.
    fn abort_waiting(&self) {
        self.queue.abort_waiting();
    }

    /// Makes [`Requests::fileno`] readable, so that the shell looks whether it shall end.
    fn wake(&self) {
        self.queue.signal();
    }
}
