//! Attempted effects of code on the world outside, as Python's audit hook sees them. The sandbox blocks them.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyFunction, PyInt, PyString, PyTuple};

use twincell_engine::observed::Call;

use crate::execution::state;
use crate::observe::{self, files};

/// A file that takes everything and holds nothing.
const NOWHERE: &str = "/dev/null";

/// Hears an event: its name and its arguments.
type Listener = fn(&str, &Bound<'_, PyTuple>) -> PyResult<()>;

/// Who hears all events first.
static HEARD: OnceLock<Listener> = OnceLock::new();

/// Has a function hear each event before the system is asked.
pub(crate) fn hear(heard: Listener) {
    HEARD.get_or_init(|| heard);
}

/// Whether an event is about something in the worker's own folder, or about a file that is open: what is left there is
/// observed in the end.
fn is_inside(event: &str, arguments: &Bound<'_, PyTuple>) -> bool {
    let is_of_files = event == "open"
        || matches!(
            event,
            "os.remove" | "os.rename" | "os.mkdir" | "os.rmdir" | "os.link" | "os.truncate" | "os.utime"
        )
        || event.starts_with("shutil.");
    if !is_of_files {
        return false;
    }
    // A test makes a folder and goes there before it writes.
    let is_watched = EFFECTS.with(|effects| effects.borrow().is_some());
    // What is removed there is named from that folder.
    let folder = arguments.get_item(1).and_then(|folder| folder.extract::<i64>());
    let is_from_folder = matches!(event, "os.remove" | "os.rmdir") && folder.is_ok_and(|folder| folder != -1);
    let is_own = |path: &str| {
        let is_loose = is_watched && !is_from_folder && !path.starts_with('/') && files::is_current();
        path == NOWHERE || files::is_own(path) && !is_loose
    };
    let is_own = |value: &Bound<'_, PyAny>| {
        if let Ok(path) = value.cast_exact::<PyString>() {
            return path.to_str().is_ok_and(is_own);
        }
        if let Ok(path) = value.cast_exact::<PyBytes>() {
            return std::str::from_utf8(path.as_bytes()).is_ok_and(is_own);
        }
        value.is_exact_instance_of::<PyInt>()
    };
    let paths = if matches!(event, "os.rename" | "os.link" | "shutil.copyfile" | "shutil.move") { 2 } else { 1 };
    arguments.iter().take(paths).all(|value| is_own(&value))
}

/// Effects that reach outside the process. The sandbox blocks them, and the call channel shows them.
#[pyfunction]
fn audit(event: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    if let Some(heard) = HEARD.get() {
        heard(event, arguments)?;
    }
    match event {
        // A hook can never be removed again; Python ignores such a request silently.
        "sys.addaudithook" => return Err(pyo3::exceptions::PyRuntimeError::new_err("no audit hooks here")),
        // Functions of others get other code, of which no module knows.
        "object.__setattr__"
            if arguments.get_item(0)?.is_exact_instance_of::<PyFunction>()
                && state::with(|execution| !execution.loading) == Some(true) =>
        {
            taint();
        }
        "gc.get_objects" | "gc.get_referrers" | "gc.get_referents" => taint(),
        _ if event.starts_with("ctypes.") && state::with(|execution| !execution.loading) == Some(true) => {
            taint();
        }
        _ => {}
    }
    let effect = match event {
        _ if is_inside(event, arguments) => false,
        "open" => {
            let mode = arguments.get_item(1)?;
            let flags = arguments.get_item(2)?.extract::<i64>().unwrap_or(0);
            let writes = mode.extract::<String>().is_ok_and(|mode| mode.contains(['w', 'a', 'x', '+']))
                || flags & i64::from(libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT) != 0;
            // Reading outside the allowed folders is blocked as well, but it has no effect.
            if !writes {
                state::with(|execution| execution.run.blocked = true);
                note_unread(&arguments.get_item(0)?);
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
        | "urllib.ValueRequest"
        | "ftplib.connect"
        | "smtplib.connect" => true,
        _ => false,
    };
    if effect && EFFECTS.with(|effects| effects.borrow().is_some()) {
        // Only the names, since converting arguments to text would run their code.
        EFFECTS.with(|effects| effects.borrow_mut().get_or_insert_default().effects.push(event.to_string()));
        return Ok(());
    }
    if !effect || state::with(|execution| execution.loading) != Some(false) {
        return Ok(());
    }
    let observed = arguments.iter().map(|argument| observe::value(&argument)).collect();
    state::with(|execution| {
        execution.run.blocked = true;
        let line = execution.run.line;
        let callee = event.into();
        let call =
            Call { callee, arguments: observed, keywords: vec![], line, discarded: true, by_all: true, state: vec![] };
        execution.run.calls.push(call);
    });
    Ok(())
}

/// Notes that a file is there and cannot be read, if something watches for it.
fn note_unread(path: &Bound<'_, PyAny>) {
    if !EFFECTS.with(|seen| seen.borrow().is_some()) {
        return;
    }
    let Ok(path) = path.cast_exact::<PyString>().map(|path| path.to_string_lossy().into_owned()) else { return };
    // Without waiting for the other end of a pipe.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path);
    if opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
        EFFECTS.with(|seen| seen.borrow_mut().get_or_insert_default().unread.push(path));
    }
}

thread_local! {
    /// Effects outside an execution, if something watches for them.
    static EFFECTS: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// What was seen of the world outside the process.
#[derive(Default)]
pub(crate) struct Seen {
    /// Attempted effects.
    pub effects: Vec<String>,
    /// Files that exist, and could not be read.
    pub unread: Vec<String>,
}

/// Collects what code asks of the world outside the process, until [`Effects::seen`].
pub(crate) struct Effects(());

impl Effects {
    pub fn watch() -> Self {
        EFFECTS.with(|effects| *effects.borrow_mut() = Some(Seen::default()));
        Self(())
    }

    /// Stops collecting. Returns each effect and each file once.
    pub fn seen(self) -> Seen {
        let mut seen = EFFECTS.with(|effects| effects.borrow_mut().take()).unwrap_or_default();
        for list in [&mut seen.effects, &mut seen.unread] {
            list.sort();
            list.dedup();
        }
        seen
    }
}

static LISTENING: PyOnceLock<()> = PyOnceLock::new();

/// Once for each process: installs an audit hook, which stays for good.
pub(super) fn listen(py: Python<'_>) -> PyResult<()> {
    LISTENING.get_or_try_init(py, || -> PyResult<()> {
        py.import("sys")?.call_method1("addaudithook", (wrap_pyfunction!(audit, py)?,))?;
        Ok(())
    })?;
    Ok(())
}

/// Something was done whose effects nobody can list.
static TAINTED: AtomicBool = AtomicBool::new(false);

/// Records that code did something after which this process serves no other program.
pub(crate) fn taint() {
    TAINTED.store(true, Ordering::Relaxed);
}

/// Whether something of that kind was done.
pub(crate) fn is_tainted() -> bool {
    TAINTED.load(Ordering::Relaxed)
}
