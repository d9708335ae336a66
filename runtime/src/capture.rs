//! What surrounds a run: console output, the audit hook that sees blocked effects, and the frame that unpacks.

use std::cell::RefCell;

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use twincell_core::behavior::Call;

use crate::exceptions::StopExecution;
use crate::messages;
use crate::observe;
use crate::state;

/// Characters of console output kept from one run.
const MAX_OUTPUT: usize = 20_000;

/// What streams are made of, looked up once: foreign code cannot exchange it.
struct Streams {
    sys: Py<PyAny>,
    bytes: Py<PyAny>,
    text: Py<PyAny>,
    keywords: Py<PyDict>,
}

static STREAMS: PyOnceLock<Streams> = PyOnceLock::new();

impl Streams {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        STREAMS.get_or_try_init(py, || {
            let io = py.import("io")?;
            let keywords = PyDict::new(py);
            keywords.set_item("encoding", "utf-8")?;
            keywords.set_item("errors", "backslashreplace")?;
            keywords.set_item("write_through", true)?;
            keywords.set_item("newline", "\n")?;
            Ok(Self {
                sys: py.import("sys")?.into_any().unbind(),
                bytes: io.getattr("BytesIO")?.unbind(),
                text: io.getattr("TextIOWrapper")?.unbind(),
                keywords: keywords.unbind(),
            })
        })
    }
}

/// Standard streams of one run, caught in memory.
pub(crate) struct Console<'py> {
    sys: Bound<'py, PyAny>,
    before: (Bound<'py, PyAny>, Bound<'py, PyAny>),
    caught: (Bound<'py, PyAny>, Bound<'py, PyAny>),
}

impl<'py> Console<'py> {
    pub fn catch(py: Python<'py>) -> PyResult<Self> {
        let Streams { sys, bytes, text, keywords } = Streams::get(py)?;
        let sys = sys.bind(py).clone();
        let stream = || -> PyResult<Bound<'py, PyAny>> {
            text.bind(py).call((bytes.bind(py).call0()?,), Some(keywords.bind(py)))
        };
        let before = (sys.getattr("stdout")?, sys.getattr("stderr")?);
        let caught = (stream()?, stream()?);
        sys.setattr("stdout", &caught.0)?;
        sys.setattr("stderr", &caught.1)?;
        Ok(Self { sys, before, caught })
    }

    /// Puts the streams back and gives what was written.
    pub fn release(self) -> PyResult<(String, String)> {
        self.sys.setattr("stdout", &self.before.0)?;
        self.sys.setattr("stderr", &self.before.1)?;
        let text = |stream: &Bound<'py, PyAny>| -> String {
            let bytes = stream.getattr("buffer").and_then(|buffer| buffer.call_method0("getvalue"));
            match bytes.as_ref().map(|bytes| bytes.cast::<PyBytes>()) {
                Ok(Ok(bytes)) => {
                    let text = String::from_utf8_lossy(bytes.as_bytes());
                    match text.char_indices().nth(MAX_OUTPUT) {
                        None => text.into_owned(),
                        // The rest counts through its hash.
                        Some((cut, _)) => format!(
                            "{}... [{} bytes, {:016x}]",
                            &text[..cut],
                            text.len(),
                            xxhash_rust::xxh3::xxh3_64(bytes.as_bytes())
                        ),
                    }
                }
                _ => String::new(),
            }
        };
        Ok((text(&self.caught.0), text(&self.caught.1)))
    }
}

/// Warnings, as `warnings` would show them.
#[pyfunction]
#[pyo3(signature = (message, category, *_place, **_more))]
fn show_warning(
    message: &Bound<'_, PyAny>,
    category: &Bound<'_, PyAny>,
    _place: &Bound<'_, PyTuple>,
    _more: Option<&Bound<'_, PyDict>>,
) {
    messages::warned(message, Some(category));
}

/// What ended a thread, without the places in the code, which differ between versions.
#[pyfunction]
fn thread_ended(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    report_exception(py, "Exception in a thread", arguments)
}

/// An exception that nobody can catch, as one of `__del__`: without addresses and places.
#[pyfunction]
fn unraisable(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    report_exception(py, "Exception ignored", arguments)
}

fn report_exception(py: Python<'_>, what: &str, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = arguments.getattr("exc_type")?.cast_into::<PyType>()?;
    if class.is_subclass_of::<StopExecution>()? || class.is(py.get_type::<PySystemExit>()) {
        return Ok(());
    }
    let value = arguments.getattr("exc_value")?;
    let text = if value.is_none() { String::new() } else { format!(": {}", value.str()?.to_string_lossy()) };
    let line = format!("{what}: {}{text}\n", class.name()?);
    py.import("sys")?.getattr("stderr")?.call_method1("write", (line,))?;
    Ok(())
}

/// Effects that reach outside the process; the sandbox blocks them, the call channel shows them.
#[pyfunction]
fn audit(event: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    match event {
        // A hook can never be taken out again; Python drops the wish without a word.
        "sys.addaudithook" => return Err(pyo3::exceptions::PyRuntimeError::new_err("no audit hooks here")),
        "gc.get_objects" | "gc.get_referrers" | "gc.get_referents" => crate::world::spoil(),
        _ if event.starts_with("ctypes.") && state::with(|execution| !execution.loading) == Some(true) => {
            crate::world::spoil();
        }
        _ => {}
    }
    let effect = match event {
        "open" => {
            let mode = arguments.get_item(1)?;
            let flags = arguments.get_item(2)?.extract::<i64>().unwrap_or(0);
            let writes = mode.extract::<String>().is_ok_and(|mode| mode.contains(['w', 'a', 'x', '+']))
                || flags & i64::from(libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT) != 0;
            // Reading is blocked outside the allowed folders as well, but is no effect on anything.
            if !writes {
                state::with(|execution| execution.side.blocked = true);
                return Ok(());
            }
            true
        }
        "os.remove"
        | "os.rename"
        | "os.mkdir"
        | "os.rmdir"
        | "os.chmod"
        | "os.chown"
        | "os.link"
        | "os.symlink"
        | "os.truncate"
        | "os.utime"
        | "os.system"
        | "os.exec"
        | "os.posix_spawn"
        | "os.fork"
        | "os.forkpty"
        | "os.kill"
        | "os.putenv"
        | "os.unsetenv"
        | "subprocess.Popen"
        | "shutil.copyfile"
        | "shutil.move"
        | "shutil.rmtree"
        | "socket.connect"
        | "socket.bind"
        | "socket.sendto"
        | "socket.getaddrinfo"
        | "socket.gethostbyname"
        | "urllib.Request"
        | "ftplib.connect"
        | "smtplib.connect" => true,
        _ => false,
    };
    if effect && EFFECTS.with(|effects| effects.borrow().is_some()) {
        // The names alone: texts of arguments would run their code.
        EFFECTS.with(|effects| effects.borrow_mut().get_or_insert_default().push(event.to_string()));
        return Ok(());
    }
    if !effect || state::with(|execution| execution.loading) != Some(false) {
        return Ok(());
    }
    let observed = arguments.iter().map(|argument| observe::value(&argument)).collect();
    state::with(|execution| {
        execution.side.blocked = true;
        let line = execution.side.line;
        let call = Call { callee: event.to_string(), arguments: observed, keywords: vec![], line, discarded: true };
        execution.side.calls.push(call);
    });
    Ok(())
}

thread_local! {
    /// Effects while no execution is going on, where somebody watches them.
    static EFFECTS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Collects the effects that code tries to have outside of the process, until [`Effects::seen`].
pub(crate) struct Effects(());

impl Effects {
    pub fn watch() -> Self {
        EFFECTS.with(|effects| *effects.borrow_mut() = Some(Vec::new()));
        Self(())
    }

    /// Ends it; each effect once.
    pub fn seen(self) -> Vec<String> {
        let mut seen = EFFECTS.with(|effects| effects.borrow_mut().take()).unwrap_or_default();
        seen.sort();
        seen.dedup();
        seen
    }
}

static PREPARED: PyOnceLock<()> = PyOnceLock::new();

/// Once a process: warnings, exceptions that nobody catches, and audit.
pub(crate) fn prepare_process(py: Python<'_>) -> PyResult<()> {
    PREPARED.get_or_try_init(py, || -> PyResult<()> {
        let warnings = py.import("warnings")?;
        warnings.call_method1("simplefilter", ("always",))?;
        warnings.setattr("showwarning", wrap_pyfunction!(show_warning, py)?)?;
        let sys = py.import("sys")?;
        sys.setattr("unraisablehook", wrap_pyfunction!(unraisable, py)?)?;
        py.import("threading")?.setattr("excepthook", wrap_pyfunction!(thread_ended, py)?)?;
        sys.call_method1("addaudithook", (wrap_pyfunction!(audit, py)?,))?;
        Ok(())
    })?;
    Ok(())
}

static UNPACKING: PyOnceLock<(u8, u8)> = PyOnceLock::new();

/// How many items the running Python code is about to unpack, if it is unpacking.
pub(crate) fn unpack_count(py: Python<'_>) -> Option<usize> {
    let (sequence, extended) = *UNPACKING
        .get_or_try_init(py, || -> PyResult<(u8, u8)> {
            let opmap = py.import("opcode")?.getattr("opmap")?;
            Ok((opmap.get_item("UNPACK_SEQUENCE")?.extract()?, opmap.get_item("UNPACK_EX")?.extract()?))
        })
        .ok()?;
    let frame = py.import("sys").ok()?.call_method1("_getframe", (0,)).ok()?;
    let last: usize = frame.getattr("f_lasti").ok()?.extract().ok()?;
    let code = frame.getattr("f_code").ok()?.getattr("co_code").ok()?;
    let code = code.cast::<PyBytes>().ok()?.as_bytes();
    let (operation, argument) = (*code.get(last)?, usize::from(*code.get(last + 1)?));
    // UNPACK_EX keeps the number of targets before the star in its low byte; one more item feeds the star.
    (operation == sequence).then_some(argument).or_else(|| (operation == extended).then_some(argument + 1))
}
