//! What is outside of the code: files of the working folder, other programs, servers. Nothing of it is there, and each has one
//! state, drawn once for an execution, which both versions see however they ask. What the library makes of it, it makes for
//! real: only the lowest functions, by which the library asks the system, are replaced (`programs.py`, `files.py`,
//! `servers.py`).

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyModule, PyString, PyTuple};

use twincell_engine::observed::{Call, Observed, Slot};
use twincell_engine::protocol::Injection;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPathBuf, Outside};
use twincell_values::value::{Decision, Recipe};

use crate::execution::state;
use crate::inject::{exceptions, given, resolve};
use crate::observe::{self, effects, files};

mod contents;

// They use the functions below as the module `twincell_outside`.
const PROGRAMS: &std::ffi::CStr = pyo3::ffi::c_str!(include_str!("programs.py"));
const FILES: &std::ffi::CStr = pyo3::ffi::c_str!(include_str!("files.py"));
const SERVERS: &std::ffi::CStr = pyo3::ffi::c_str!(include_str!("servers.py"));

/// Packages whose functions reach outside by these ways alone.
const OF_PROGRAMS_AND_SERVERS: [&str; 2] = ["requests", "subprocess"];
/// Packages whose functions ask for files.
const OF_FILES: [&str; 9] = ["_io", "genericpath", "glob", "io", "os", "pathlib", "posix", "posixpath", "shutil"];

struct Replaced {
    programs: Py<PyModule>,
    files: Py<PyModule>,
    servers: Py<PyModule>,
}

/// The functions of the system that were replaced.
struct Real {
    stat: Py<PyAny>,
    lstat: Py<PyAny>,
    access: Py<PyAny>,
}

static REAL: PyOnceLock<Real> = PyOnceLock::new();
static REPLACED: PyOnceLock<Replaced> = PyOnceLock::new();
/// Whether files were asked for since the last run began.
static ARE_ASKED: AtomicBool = AtomicBool::new(false);
static PROGRAMS_ARE_PATCHED: AtomicBool = AtomicBool::new(false);
static SERVERS_ARE_PATCHED: AtomicBool = AtomicBool::new(false);

/// Once for each process, before the first program: replaces the functions of `os`.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    REPLACED.get_or_try_init(py, || -> PyResult<Replaced> {
        let own = PyModule::new(py, "twincell_outside")?;
        own.add_function(wrap_pyfunction!(draw, &own)?)?;
        own.add_function(wrap_pyfunction!(tell, &own)?)?;
        own.add_function(wrap_pyfunction!(texts, &own)?)?;
        own.add_function(wrap_pyfunction!(intended, &own)?)?;
        own.add_function(wrap_pyfunction!(is_on, &own)?)?;
        own.add_function(wrap_pyfunction!(folders, &own)?)?;
        own.add_function(wrap_pyfunction!(decided, &own)?)?;
        own.add_function(wrap_pyfunction!(names_folders, &own)?)?;
        py.import("sys")?.getattr("modules")?.set_item("twincell_outside", own)?;
        let module = |source, file, name| PyModule::from_code(py, source, file, name).map(Bound::unbind);
        let outside = Replaced {
            programs: module(PROGRAMS, c"twincell_programs.py", c"twincell_programs")?,
            files: module(FILES, c"twincell_files.py", c"twincell_files")?,
            servers: module(SERVERS, c"twincell_servers.py", c"twincell_servers")?,
        };
        let os = py.import("os")?;
        let like = |holder: &Bound<'_, PyModule>, own: Bound<'_, PyAny>, name: &str| -> PyResult<Py<PyAny>> {
            let real = holder.getattr(name)?;
            for set in ["supports_dir_fd", "supports_effective_ids", "supports_fd", "supports_follow_symlinks"] {
                let set = os.getattr(set)?;
                if set.contains(&real)? {
                    set.call_method1("add", (&own,))?;
                }
            }
            holder.setattr(name, own)?;
            Ok(real.unbind())
        };
        // As those of the system, they are no methods where a class has them.
        let posix = PyModule::new(py, "posix")?;
        let real = Real {
            stat: like(&os, wrap_pyfunction!(stat, &posix)?.into_any(), "stat")?,
            lstat: like(&os, wrap_pyfunction!(lstat, &posix)?.into_any(), "lstat")?,
            access: like(&os, wrap_pyfunction!(access, &posix)?.into_any(), "access")?,
        };
        let _ = REAL.set(py, real);
        outside.files.bind(py).call_method1("bypass", (os.getattr("stat")?,))?;
        for (holder, name) in [(&os, "system"), (&py.import("shutil")?, "which")] {
            let own = outside.programs.bind(py).getattr(name)?;
            for attribute in ["__name__", "__qualname__", "__module__", "__doc__"] {
                own.setattr(attribute, holder.getattr(name)?.getattr(attribute)?)?;
            }
            like(holder, own, name)?;
        }
        // Code cannot find them by their names.
        let modules = py.import("sys")?.getattr("modules")?;
        for name in ["twincell_outside", "twincell_files", "twincell_programs", "twincell_servers"] {
            modules.del_item(name)?;
        }
        effects::hear(heard);
        Ok(outside)
    })?;
    patch(py)
}

/// Replaces the functions of modules that have been imported by now.
pub(crate) fn patch(py: Python<'_>) -> PyResult<()> {
    let Some(outside) = REPLACED.get(py) else { return Ok(()) };
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    for (name, source, is_patched) in [
        ("subprocess", &outside.programs, &PROGRAMS_ARE_PATCHED),
        ("requests.adapters", &outside.servers, &SERVERS_ARE_PATCHED),
    ] {
        if !is_patched.load(Ordering::Relaxed)
            && let Some(module) = modules.get_item(name)?
        {
            is_patched.store(true, Ordering::Relaxed);
            source.bind(py).call_method1("patch", (module,))?;
        }
    }
    Ok(())
}

/// Begins a run, for which nothing is known to be there.
pub(crate) fn begin_run(py: Python<'_>) -> PyResult<()> {
    patch(py)?;
    if !ARE_ASKED.swap(false, Ordering::Relaxed) {
        return Ok(());
    }
    REPLACED.get(py).map_or(Ok(()), |outside| outside.files.bind(py).call_method0("begin").map(drop))
}

/// The files that the code made, changed or removed, by their names in the working folder. If they cannot be listed, that shows.
pub(crate) fn left(py: Python<'_>) -> Vec<(Slot, Observed)> {
    let Some(outside) = REPLACED.get(py) else { return vec![] };
    // Most code has nothing to do with files.
    if !ARE_ASKED.load(Ordering::Relaxed) && files::is_empty() {
        return vec![];
    }
    let unknown = || vec![(Slot::File("...".into()), Observed::None)];
    let Ok(changed) = outside.files.bind(py).call_method0("left") else { return unknown() };
    let Ok(changed) = changed.cast_into::<PyDict>() else { return unknown() };
    let mut found: Vec<(Slot, Observed)> = changed
        .iter()
        .map(|(name, content)| {
            let observed = match content.cast::<PyBytes>() {
                Ok(bytes) => match std::str::from_utf8(bytes.as_bytes()) {
                    Ok(text) => Observed::Str(text.to_owned()),
                    Err(_) => Observed::Bytes(bytes.as_bytes().to_vec()),
                },
                // A folder, whose files have names of their own.
                Err(_) if content.is_instance_of::<PyList>() => Observed::List(vec![]),
                Err(_) => Observed::None,
            };
            let name = name.cast::<PyString>().map(|name| name.to_string_lossy().into_owned());
            (Slot::File(name.unwrap_or_default()), observed)
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Whether what a real callable gives depends on nothing but its arguments and on what is drawn here.
pub(crate) fn answers(callee: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> bool {
    let module = |object: &Bound<'_, PyAny>| {
        object.getattr("__module__").and_then(|name| name.extract::<String>()).unwrap_or_default()
    };
    let owner = callee.getattr("__self__").ok().filter(|owner| !owner.is_none() && !owner.is_instance_of::<PyModule>());
    let module = owner.as_ref().map_or_else(|| module(callee), |owner| module(owner.get_type().as_any()));
    let package = module.split('.').next().unwrap_or_default();
    OF_PROGRAMS_AND_SERVERS.contains(&package)
        || OF_FILES.contains(&package)
            && owner.into_iter().chain(arguments.iter().next()).next().is_some_and(|first| is_below(&first))
}

/// Whether a value names something below the working folder, or where nothing is.
fn is_below(value: &Bound<'_, PyAny>) -> bool {
    let text = if let Ok(text) = value.cast_exact::<PyString>() {
        text.to_str().ok().map(str::to_owned)
    } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        std::str::from_utf8(bytes.as_bytes()).ok().map(str::to_owned)
    } else if value
        .get_type()
        .module()
        .is_ok_and(|module| module.to_str().is_ok_and(|name| name.starts_with("pathlib")))
    {
        value.str().ok().and_then(|text| text.extract().ok())
    } else {
        // What is no path fails as in Python. Whether an object is one, nobody knows.
        return !value.is_instance_of::<PyInt>();
    };
    text.is_some_and(|text| files::is_own(&text) || !is_of_code(&text))
}

/// Whether the code itself names a path that begins at the root, or the beginning of it: that is to be there, and cannot be made.
fn is_of_code(path: &str) -> bool {
    let begins = |text: &String| text.len() > 1 && text.starts_with('/') && path.starts_with(text.as_str());
    state::with(|execution| execution.index.texts.iter().any(begins)) == Some(true)
}

/// Whether a value names a file, and not nothing or a folder that is always there.
pub(crate) fn names_something(arguments: &Bound<'_, PyTuple>) -> bool {
    let first = arguments.iter().next();
    !first.is_some_and(|first| {
        first.str().is_ok_and(|text| text.to_str().is_ok_and(|text| matches!(text, "" | "." | "/")))
    })
}

/// Whether the failure of such a call is what is drawn here, and not due to a wrong guess.
pub(crate) fn is_drawn(error: &PyErr, py: Python<'_>) -> bool {
    let module = error.get_type(py).module().map(|module| module.to_string()).unwrap_or_default();
    // What `raise_for_status` raises has the response.
    let has_response = || error.value(py).getattr("response").is_ok_and(|response| !response.is_none());
    match module.split('.').next() {
        Some("subprocess") => true,
        Some("requests") => has_response(),
        _ => error.is_instance_of::<PyOSError>(py),
    }
}

/// The events that ask for files.
const ASKING: [&str; 11] = [
    "open",
    "os.chdir",
    "os.chmod",
    "os.link",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.truncate",
];

fn heard(event: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = arguments.py();
    if !ASKING.contains(&event) {
        return Ok(());
    }
    match REPLACED.get(py) {
        Some(outside) if is_on() => {
            ARE_ASKED.store(true, Ordering::Relaxed);
            outside.files.bind(py).call_method1("heard", (event, arguments)).map(drop)
        }
        _ => Ok(()),
    }
}

/// Settles what is at a path before the system is asked by a function of which no event tells.
fn asked(path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let py = path.py();
    let is_elsewhere = options
        .is_some_and(|options| options.get_item("dir_fd").ok().flatten().is_some_and(|folder| !folder.is_none()));
    match REPLACED.get(py).filter(|_| is_on() && !is_elsewhere && !path.is_instance_of::<PyInt>()) {
        Some(outside) => {
            ARE_ASKED.store(true, Ordering::Relaxed);
            outside.files.bind(py).call_method1("settle", (path, "any")).map(drop)
        }
        None => Ok(()),
    }
}

#[pyfunction]
#[pyo3(signature = (path, **options))]
fn stat(path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
    asked(path, options)?;
    real(path.py())?.stat.call(path.py(), (path,), options)
}

#[pyfunction]
#[pyo3(signature = (path, **options))]
fn lstat(path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
    asked(path, options)?;
    real(path.py())?.lstat.call(path.py(), (path,), options)
}

#[pyfunction]
#[pyo3(signature = (path, mode, **options))]
fn access(
    path: &Bound<'_, PyAny>,
    mode: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    asked(path, options)?;
    real(path.py())?.access.call(path.py(), (path, mode), options)
}

fn real(py: Python<'_>) -> PyResult<&Real> {
    REAL.get(py).ok_or_else(|| PyOSError::new_err("nothing is replaced"))
}

/// Whether code runs whose world is drawn.
#[pyfunction]
fn is_on() -> bool {
    state::with(|execution| !execution.loading && !execution.run.reads_made_up) == Some(true)
}

/// One of some values, as the decision under a path: only one of these, or also another one of the same kind.
#[pyfunction]
fn draw(py: Python<'_>, path: String, values: Vec<Bound<'_, PyAny>>, is_closed: bool) -> PyResult<Py<PyAny>> {
    let path = AccessPathBuf::from(path).bounded();
    let values: Vec<Recipe> = values.iter().filter_map(given::recipe).collect();
    let is_alike = |own: &Recipe, value: &Recipe| match is_closed {
        true => own == value,
        false => std::mem::discriminant(own) == std::mem::discriminant(value),
    };
    let is_fit = |value: &Recipe| values.iter().any(|own| is_alike(own, value)) && !value.has_object();
    let drawn = state::with(|execution| {
        let (value, is_new) = execution.draw.among(path.as_str(), &values, &is_fit);
        if is_new {
            let (version, line) = (execution.version as u8, execution.run.line);
            let alike = values.iter().filter(|own| **own == value).count().max(1);
            let probability = alike as f32 / values.len().max(1) as f32;
            let (path, value, kind) = (path.clone(), value.clone(), Some(SiteKind::Call));
            let classes = vec![];
            execution.injections.push(Injection {
                path,
                value,
                kind,
                version,
                line,
                probability,
                classes,
                written: None,
            });
        }
        value
    });
    resolve::build(py, &drawn.unwrap_or(Recipe::None), path.as_path())
}

/// What is decided of files: their names and what is there.
#[pyfunction]
fn decided(py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
    let name = |path: &str| match Outside::of(path.into()) {
        Some(Outside::File(name)) => Some(name.to_owned()),
        _ => None,
    };
    let found = state::with(|execution| {
        let draw = &execution.draw;
        let given = draw.given_paths().filter_map(|path| Some((name(path)?, draw.given(path)?.clone())));
        let taken = draw.choices().iter().filter_map(|choice| Some((name(&choice.path)?, choice.decision.clone())));
        given.chain(taken).collect::<Vec<_>>()
    });
    let values = found.unwrap_or_default().into_iter().filter_map(|(name, decision)| match decision {
        Decision::Value(value) if !value.has_object() => Some((name, value)),
        _ => None,
    });
    values.map(|(name, value)| Ok((name, resolve::apart(py, &value)?))).collect()
}

/// Records what the code does to the world outside.
#[pyfunction]
fn tell(callee: String, arguments: &Bound<'_, PyList>, keywords: &Bound<'_, PyDict>) {
    let arguments = arguments.iter().map(|argument| observe::value(&argument)).collect();
    let named = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| (name.to_string(), observe::value(&value));
    let keywords = keywords.iter().map(named).collect();
    state::with(|execution| {
        let (callee, line) = (callee.into(), execution.run.line);
        let call = Call { callee, arguments, keywords, line, discarded: true, by_all: true, state: vec![] };
        execution.run.calls.push(call);
    });
}

/// Texts that a file may hold, or another program or a server may say. `is_plenty`: those that the code reads, and not messages.
#[pyfunction]
fn texts(is_plenty: bool) -> Vec<String> {
    state::with(|execution| contents::texts(&execution.index, is_plenty)).unwrap_or_default()
}

/// Whether the code asks for folders by any name: where it does not, what it asks for is a file.
#[pyfunction]
fn names_folders() -> bool {
    state::with(|execution| contents::names_folders(&execution.index)) == Some(true)
}

/// Marks an exception as part of what is drawn.
#[pyfunction]
fn intended(error: &Bound<'_, PyAny>) {
    exceptions::mark_intended(error);
}

/// The working folder, by its real path and as code sees it.
#[pyfunction]
fn folders() -> Vec<String> {
    files::folders()
}
