//! Calls of existing code in instrumented code. They are made for real, and replaced by an injected value if only
//! injected values make them fail.

use pyo3::exceptions::{
    PyException, PyMemoryError, PyNotImplementedError, PyOSError, PyRecursionError, PyRuntimeError,
    PyStopAsyncIteration, PyStopIteration, PyTypeError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyFunction, PyInt, PyModule, PyTuple, PyType};
use twincell_engine::observed::Observed;
use twincell_syntax::python::is_always_real;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPath, AccessPathBuf, Question, bounded};
use twincell_values::reading::annotated_type;
use twincell_values::value::Declared;

use crate::calls::{MissingCall, SiteCall, builtins, drawing, files, queries, supers, tasks};
use crate::execution::code;
use crate::execution::object::MockObject;
use crate::execution::{state, steps};
use crate::inject::exceptions;
use crate::inject::failures;
use crate::inject::machine;
use crate::inject::replacement;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe;
use crate::observe::comparisons;
use crate::observe::messages;
use crate::outside;
use crate::restore::clock;

/// How often a real call gives an injected value if its own failure would be caught.
const SUCCESS_PROBABILITY: f64 = 0.35;
/// How CPython's message begins when a `raise` is given what is no exception.
const NO_EXCEPTION: &str = "exceptions must derive from BaseException";

impl<'py> SiteCall<'_, 'py> {
    /// The value of the call, or the exception that it raises.
    pub fn answer(&self) -> PyResult<Py<PyAny>> {
        let Self { callee, arguments, keywords, .. } = *self;
        if let Ok(mock) = callee.cast::<MockObject>() {
            return self.of_missing(mock.get().path()).answer();
        }
        if state::with(|_| ()).is_none() {
            return callee.call(arguments, keywords).map(Bound::unbind);
        }
        if let Some(answer) = builtins::answer(self)? {
            return Ok(answer);
        }
        if let Some(answer) = supers::inherited(self)? {
            return Ok(answer);
        }
        if let Some(method) = messages::real_method(callee) {
            messages::record(&method, arguments, keywords)?;
            return Ok(self.py().None());
        }
        if let Some(injected) = self.replaced()? {
            return Ok(injected);
        }
        self.inject_raise()?;
        if let Some(moment) = clock::moment(callee, arguments, keywords)? {
            return Ok(moment.unbind());
        }
        self.made()
    }

    /// Makes the call.
    fn made(&self) -> PyResult<Py<PyAny>> {
        let Self { site, callee, arguments, keywords } = *self;
        // Effects that were blocked earlier, such as during an import, have nothing to do with this call.
        state::with(|execution| execution.run.blocked = false);
        let of_task = tasks::arguments(self)?;
        let supplied = queries::supply(self)?;
        let reads = files::reads(callee);
        let before = state::with(|execution| {
            let before = execution.run.reads_made_up;
            execution.run.reads_made_up |= reads;
            before
        });
        let called = callee.call(of_task.as_ref().unwrap_or(arguments), keywords);
        state::with(|execution| execution.run.reads_made_up = before.unwrap_or_default());
        drop(supplied);
        match called {
            Ok(value) => {
                comparisons::call(site, callee, arguments, &value);
                drawing::record(self, &value);
                Ok(value.unbind())
            }
            Err(error) => self.failed(error),
        }
    }

    /// What the code sees of a real call that raised.
    fn failed(&self, error: PyErr) -> PyResult<Py<PyAny>> {
        if outside::answers(self.callee, self.arguments) {
            if outside::is_drawn(&error, self.py()) && outside::names_something(self.arguments) {
                exceptions::mark_intended(error.value(self.py()).as_any());
            }
            return Err(error);
        }
        if files::is_missing(self, &error) {
            if is_expected(self, &error) {
                return Err(error);
            }
            return match files::read(self) {
                Ok(Some(content)) => Ok(content),
                Ok(None) => files::copied(
                    self.as_missing(callee_path(self.callee, self.site).as_path(), true)?.into_bound(self.py()),
                ),
                Err(refused) => {
                    if caught(self.py(), self.site, &refused) == Some(Caught::Elsewhere) {
                        exceptions::mark_intended(refused.value(self.py()).as_any());
                    }
                    Err(refused)
                }
            };
        }
        let recorded = match stand_in(self, &error) {
            StandIn::No => return Err(error),
            StandIn::Raise(error) => return Err(error),
            StandIn::Value => false,
            StandIn::Effect => true,
        };
        let path = callee_path(self.callee, self.site);
        if is_plain(self.callee, self.arguments) && !error.is_instance_of::<PyOSError>(self.py()) {
            // The arguments are plain, as their tuple is.
            failures::synthesized(self.arguments, path.as_path().any_call().as_path(), error)?;
        } else if !recorded {
            // What is recorded is an effect, and no failure.
            steps::invented()?;
        }
        if code::is_of_program(self.callee) {
            state::failed(path.as_path());
        }
        self.as_missing(path.as_path(), recorded)
    }

    /// Answers the call as if its callee were missing. The arguments are in the order of the callee's signature, so
    /// that it does not matter which were named.
    fn as_missing(&self, path: AccessPath<'_>, recorded: bool) -> PyResult<Py<PyAny>> {
        let declared = returned(self.callee).or_else(|| files::given(self.callee));
        let declared = declared.as_ref();
        match self.bound_arguments() {
            Some((arguments, keywords)) => {
                let call = SiteCall { arguments: &arguments, keywords: Some(&keywords), ..*self };
                MissingCall { recorded, declared, ..call.of_missing(path) }.answer()
            }
            None => MissingCall { recorded, declared, ..self.of_missing(path) }.answer(),
        }
    }

    /// Arguments and keywords as the callee's signature binds them, if keywords are passed.
    pub(super) fn bound_arguments(&self) -> Option<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        if !self.has_keywords() {
            return None;
        }
        let bind = || {
            let signature = self.py().import("inspect")?.call_method1("signature", (self.callee,))?;
            let bound = signature.getattr("bind")?.call(self.arguments, self.keywords)?;
            let named = bound.getattr("kwargs")?.cast_into::<PyDict>()?;
            Ok::<_, PyErr>((bound.getattr("args")?.cast_into::<PyTuple>()?, named))
        };
        bind().ok()
    }

    /// Answers a call of an existing function that this execution replaces with an injected one.
    fn replaced(&self) -> PyResult<Option<Py<PyAny>>> {
        if !replacement::is_possible() || outside::answers(self.callee, self.arguments) {
            return Ok(None);
        }
        if let Some(system) = machine::system(self.callee, self.site)? {
            return Ok(Some(system.unbind()));
        }
        let Some(origin) = replacement::origin(self.callee) else { return Ok(None) };
        // What is made of real tables, an object cannot stand for.
        if is_of_tables(self.callee) || self.arguments.iter().any(|argument| observe::kinds::is_of_tables(&argument)) {
            return Ok(None);
        }
        if !replacement::is_called_by_all(self.callee, self.site) {
            return Ok(None);
        }
        let path = callee_path(self.callee, self.site);
        if !replacement::is_injected(path.as_str(), origin) {
            return Ok(None);
        }
        self.as_missing(path.as_path(), true).map(Some)
    }

    /// A real call to another module may fail like a call to missing code: with what the `except` clauses around it
    /// name, or where versions clean up differently after it.
    fn inject_raise(&self) -> PyResult<()> {
        let Self { site, callee, .. } = *self;
        // What only computes fails as it does for real, unless the code is prepared for more.
        let guarded = state::with(|execution| {
            let (index, version) = (&execution.index, execution.version);
            !index.catches(version, site).is_empty() || index.unwinds(version, site) && !is_pure(callee)
        });
        let computes = || is_pure(callee) && is_plain(callee, self.arguments);
        if guarded != Some(true) || computes() || code::is_own(callee) || outside::answers(callee, self.arguments) {
            return Ok(());
        }
        // Where the other version does by itself what a helper does, nothing can fail in its place.
        if code::is_of_program(callee) && !replacement::is_called_by_all(callee, site) {
            return Ok(());
        }
        let module = callee.getattr("__module__").and_then(|name| name.extract::<String>()).unwrap_or_default();
        let is_of_code = callee.is_instance_of::<PyType>()
            && (module == code::MODULE_NAME || code::is_of_project(self.py(), &module));
        if module.is_empty() || module == "builtins" || is_of_code || decides_by_itself(callee, &module) {
            return Ok(());
        }
        let path = bounded(Question::Raise(self.path_of_value().as_str()).to_string());
        let request = ValueRequest {
            site: Some(site),
            kind: SiteKind::Call,
            raises: true,
            discarded: true,
            ..ValueRequest::default()
        };
        let decided = resolve::value(self.py(), path.as_str().into(), &request);
        if decided.is_err() && code::is_of_program(callee) {
            // Nobody knows whether the program's own function can fail like this.
            state::failed(callee_path(callee, site).as_path());
        }
        decided.map(|_| ())
    }

    /// The path that the call's value would have. It does not matter which arguments are named.
    fn path_of_value(&self) -> AccessPathBuf {
        let arguments = self.bound_arguments().map_or_else(|| self.arguments.clone(), |(arguments, _)| arguments);
        let observed: Vec<Observed> = arguments.iter().map(|argument| observe::value(&argument)).collect();
        callee_path(self.callee, self.site).as_path().call(observe::arguments_text(&observed, &[]))
    }
}

/// What a function of the code declares that it gives, if calling it gives this and no coroutine or generator.
fn returned(callee: &Bound<'_, PyAny>) -> Option<Declared> {
    let function = callee.getattr("__func__").unwrap_or_else(|_| callee.clone());
    if !function.is_exact_instance_of::<PyFunction>() {
        return None;
    }
    if code::gives_later(&function) {
        return None;
    }
    let annotation: String = function.getattr("__annotations__").ok()?.get_item("return").ok()?.extract().ok()?;
    annotated_type(&annotation)
}

/// How a value stands in for a real call that failed.
enum StandIn {
    /// The code sees the exception as it normally would.
    No,
    /// The code sees this exception, which the module's own code raised intentionally.
    Raise(PyErr),
    /// Injected values made a call without effects fail, so its value is injected as well.
    Value,
    /// Injected values made the call fail, or the sandbox blocked it. It counts as a call to external code.
    Effect,
}

/// Whether an injected value may replace a failed real call. It may not if the exception is part of the behavior,
/// because the code raised it intentionally or catches it.
fn stand_in(call: &SiteCall<'_, '_>, error: &PyErr) -> StandIn {
    let SiteCall { site, callee, arguments, .. } = *call;
    let py = call.py();
    if !callee.is_callable() {
        return StandIn::Effect;
    }
    if is_control(py, error) || code::is_own(callee) {
        return StandIn::No;
    }
    if error.is_instance_of::<PyOSError>(py)
        && state::with(|execution| std::mem::take(&mut execution.run.blocked)).unwrap_or(false)
    {
        return StandIn::Effect;
    }
    let identity = error.value(py).as_ptr() as usize;
    if state::with(|execution| execution.run.intended_ids.contains(&identity)) != Some(false) {
        return StandIn::No;
    }
    if is_expected(call, error) {
        return StandIn::No;
    }
    // A method of a real response that is there to raise: `raise_for_status`.
    if is_of_answer(callee)
        && is_plain(callee, arguments)
        && method_name(callee).is_some_and(|name| name.starts_with("raise_"))
    {
        exceptions::mark_intended(error.value(py).as_any());
        return StandIn::No;
    }
    // An abstract method means that another class implements it.
    let is_abstract = error.is_instance_of::<PyNotImplementedError>(py);
    let called_by_all = replacement::is_called_by_all(callee, site);
    match raised_by_module(py, error) {
        Some(_) if is_abstract && called_by_all => StandIn::Effect,
        Some(intended) => StandIn::Raise(intended),
        // Real tables and arrays refuse what they are asked. Nobody knows what they would have given.
        // So do real responses.
        None if is_of_answer(callee) && is_plain(callee, arguments) => StandIn::No,
        None if is_of_tables(callee) && is_plain(callee, arguments) => StandIn::No,
        None if is_of_library(callee) && is_plain(callee, arguments) && !error.is_instance_of::<PyOSError>(py) => {
            StandIn::No
        }
        // If only one version makes the call, an invented result would be a difference of its own.
        None if !called_by_all => StandIn::No,
        // `int('a')` and `''.join([1])` always fail, while a mock argument would never occur. If the versions
        // write the call differently, each invented result would be a difference of its own.
        None if is_of_values(callee) && is_plain(callee, arguments) => StandIn::No,
        None if is_builtin(callee) && (is_plain(callee, arguments) || !is_called_alike(site)) => StandIn::No,
        // What only computes gives nothing that it would not give for real.
        None if is_pure(callee) && is_plain(callee, arguments) => StandIn::No,
        None if is_pure(callee) => StandIn::Value,
        None => StandIn::Effect,
    }
}

/// What the code sees of a real object that raised when an attribute was looked up is an error. The exception itself is
/// given back if the value is injected: a `RuntimeError` of a library says that what a proxy stands for is not there,
/// because nothing around the code runs.
pub(crate) fn failed_attribute(py: Python<'_>, error: PyErr, name: &str, site: u32) -> PyResult<PyErr> {
    let identity = error.value(py).as_ptr() as usize;
    let is_known = state::with(|execution| execution.loading || execution.run.intended_ids.contains(&identity));
    if is_known != Some(false) || is_control(py, &error) || caught(py, site, &error).is_some() {
        return Err(error);
    }
    if let Some(intended) = raised_by_module(py, &error) {
        return Err(intended);
    }
    let by_all = state::with(|execution| execution.index.is_read_by_all(name)) == Some(true);
    let is_around = error.get_type(py).is(py.get_type::<PyRuntimeError>()) && raised_by_library(py, &error);
    if by_all && is_around { Ok(error) } else { Err(error) }
}

/// Whether the exception comes out of code that is neither compared nor of its project.
fn raised_by_library(py: Python<'_>, error: &PyErr) -> bool {
    let mut last = error.traceback(py).map(Bound::into_any);
    while let Some(next) = last.as_ref().and_then(|last| last.getattr("tb_next").ok()).filter(|next| !next.is_none()) {
        last = Some(next);
    }
    let file = last.and_then(|last| last.getattr("tb_frame").ok()?.getattr("f_code").ok()?.getattr("co_filename").ok());
    let file = file.and_then(|file| file.extract::<String>().ok());
    file.is_some_and(|file| {
        !matches!(file.as_str(), code::FILE_NAME | code::FUNCTION_FILE_NAME) && !code::is_file_of_project(&file)
    })
}

/// Exceptions with which Python itself controls the flow. They are never replaced.
fn is_control(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyStopIteration>(py)
        || error.is_instance_of::<PyStopAsyncIteration>(py)
        || error.is_instance_of::<PyMemoryError>(py)
        || error.is_instance_of::<PyRecursionError>(py)
        || !error.is_instance_of::<PyException>(py)
}

/// Which version is prepared for a failure.
#[derive(Clone, Copy, PartialEq)]
enum Caught {
    /// The running one.
    Here,
    /// Only another one.
    Elsewhere,
}

/// Whether any version catches the exception around this site.
fn caught(py: Python<'_>, site: u32, error: &PyErr) -> Option<Caught> {
    let classes = error.get_type(py).mro();
    let names: Vec<String> =
        classes.iter().filter_map(|class| class.getattr("__name__").ok()?.extract().ok()).collect();
    let caught = state::with(|execution| {
        let covers = |name: &String| names.iter().any(|class| class == AccessPath::from(name).last_name());
        let version = &execution.index.versions[execution.version].version;
        let described = version.sites.sites.get(site as usize);
        let here = described.is_some_and(|site| site.catches.iter().any(covers));
        let caught = execution.index.catches(execution.version, site).iter().any(covers);
        caught.then_some(if here { Caught::Here } else { Caught::Elsewhere })
    });
    caught.flatten()
}

/// Whether all versions write a call in the same way as this one.
fn is_called_alike(site: u32) -> bool {
    state::with(|execution| execution.index.is_called_alike_by_all(execution.version, site)).unwrap_or(false)
}

/// Whether the code sees the failure of a call because a version is prepared for it.
fn is_expected(call: &SiteCall<'_, '_>, error: &PyErr) -> bool {
    let Some(caught) = caught(call.py(), call.site, error).filter(|_| !succeeds_instead(call)) else { return false };
    if caught == Caught::Elsewhere {
        // That this version is not prepared for the failure is its behavior.
        exceptions::mark_intended(error.value(call.py()).as_any());
    }
    true
}

/// A call whose failure is caught may nevertheless succeed: injected texts are seldom what a parser accepts, and the
/// code after it matters too.
fn succeeds_instead(call: &SiteCall<'_, '_>) -> bool {
    let path = bounded(Question::Succeeds((&call.path_of_value()).into()).to_string());
    state::with(|execution| execution.draw.truth(&path, SUCCESS_PROBABILITY)).unwrap_or(false)
}

/// Whether the callee is a builtin class of numbers, which refuses any container, whatever it holds.
fn refuses_containers(callee: &Bound<'_, PyAny>) -> bool {
    let py = callee.py();
    callee.is(py.get_type::<PyInt>()) || callee.is(py.get_type::<PyFloat>())
}

/// Neither the callee nor its arguments are mock objects, as far as one level of containers shows.
fn is_plain(callee: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> bool {
    if refuses_containers(callee) {
        return !arguments.iter().any(|value| value.is_instance_of::<MockObject>());
    }
    let is_mock = |value: &Bound<'_, PyAny>| {
        value.is_instance_of::<MockObject>()
            || matches!(observe::value(value), Observed::List(items) | Observed::Tuple(items) | Observed::Set(items)
                if items.iter().any(|item| matches!(item, Observed::Injected { .. })))
    };
    let receiver = callee.getattr("__self__").ok();
    !receiver.iter().any(is_mock) && !arguments.iter().any(|value| is_mock(&value))
}

/// Builtin functions and classes, and methods of builtin classes.
fn is_builtin(callee: &Bound<'_, PyAny>) -> bool {
    let builtin = |object: &Bound<'_, PyAny>| {
        object.getattr("__module__").is_ok_and(|name| name.extract().is_ok_and(|name: String| name == "builtins"))
    };
    builtin(callee) || callee.getattr("__self__").is_ok_and(|owner| builtin(owner.get_type().as_any()))
}

/// Modules whose objects fail by what they hold and by nothing else: an empty queue, a lock that is not held.
const IN_MEMORY: [&str; 3] = ["asyncio", "queue", "threading"];

/// Whether the callee is a method of a real object whose state alone says if it fails.
fn decides_by_itself(callee: &Bound<'_, PyAny>, module: &str) -> bool {
    let package = module.split('.').next().unwrap_or(module);
    IN_MEMORY.contains(&package)
        && callee.getattr("__self__").is_ok_and(|owner| !owner.is_none() && !owner.is_instance_of::<PyModule>())
}

/// Modules of values that are drawn for real. What their classes refuse, nobody can make.
const OF_VALUES: [&str; 6] = ["datetime", "decimal", "fractions", "ipaddress", "uuid", "zoneinfo"];

/// Whether the callee makes a value, or is a method of one.
fn is_of_values(callee: &Bound<'_, PyAny>) -> bool {
    let module = |object: &Bound<'_, PyAny>| {
        object.getattr("__module__").ok().and_then(|name| name.extract::<String>().ok()).unwrap_or_default()
    };
    let is_one = |object: &Bound<'_, PyAny>| OF_VALUES.contains(&module(object).split('.').next().unwrap_or_default());
    match callee.getattr("__self__") {
        Ok(owner) if owner.is_instance_of::<PyType>() => is_one(&owner),
        Ok(owner) if !owner.is_none() => is_one(owner.get_type().as_any()),
        _ => is_one(callee),
    }
}

/// Whether the callee is a method of a table or an array, or a function that takes such.
fn is_of_tables(callee: &Bound<'_, PyAny>) -> bool {
    let of_owner = callee.getattr("__self__").is_ok_and(|owner| observe::kinds::is_around_tables(&owner));
    let module = || callee.getattr("__module__").and_then(|name| name.extract::<String>());
    of_owner || module().is_ok_and(|name| observe::kinds::is_module_of_tables(&name))
}

fn method_name(callee: &Bound<'_, PyAny>) -> Option<String> {
    callee.getattr("__name__").ok()?.extract().ok()
}

/// Whether the callee is a method of a response of a server.
fn is_of_answer(callee: &Bound<'_, PyAny>) -> bool {
    use observe::kinds::{Kind, of};
    // Other objects may run code when they are asked for an attribute.
    of(callee) == Some(Kind::Function) && callee.getattr("__self__").is_ok_and(|owner| of(&owner) == Some(Kind::Answer))
}

/// Whether the callee is of a package that is real wherever it is installed. What it refuses, it refuses everywhere.
fn is_of_library(callee: &Bound<'_, PyAny>) -> bool {
    let module = |object: &Bound<'_, PyAny>| object.getattr("__module__").and_then(|name| name.extract::<String>());
    let of_owner = match callee.getattr("__self__") {
        Ok(owner) if !owner.is_none() => module(owner.get_type().as_any()).ok(),
        _ => None,
    };
    of_owner.or_else(|| module(callee).ok()).is_some_and(|module| is_always_real(&module))
}

/// Builtins and functions of pure modules only compute.
fn is_pure(callee: &Bound<'_, PyAny>) -> bool {
    match callee.getattr("__module__").and_then(|name| name.extract::<String>()) {
        Ok(module) => module == "builtins" || twincell_syntax::python::is_pure_import(&module),
        // Methods of builtin classes have no module.
        Err(_) => true,
    }
}

/// The exception that a `raise` of the module's own code, or of another module of its project, raised, if any. A failing `assert` and a `TypeError` there say
/// that the code never gets such values, so they are not behavior.
fn raised_by_module(py: Python<'_>, error: &PyErr) -> Option<PyErr> {
    let mut last = error.traceback(py).map(Bound::into_any)?;
    while let Ok(next) = last.getattr("tb_next") {
        if next.is_none() {
            break;
        }
        last = next;
    }
    let place = || -> PyResult<(String, usize)> {
        let file = last.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
        Ok((file, last.getattr("tb_lineno")?.extract()?))
    };
    let (file, line) = place().ok()?;
    let statement = |text: &str| text.lines().nth(line.saturating_sub(1)).map(|line| line.trim_start().to_string());
    if file != code::FILE_NAME {
        return None;
    }
    // All modules of the project have this file name, and each its own globals.
    let globals = last.getattr("tb_frame").ok()?.getattr("f_globals").ok()?;
    let own = |execution: &mut state::Execution| {
        let is_own = execution.globals.as_ref().is_none_or(|own| own.as_ptr() == globals.as_ptr());
        is_own.then(|| statement(&execution.index.versions[execution.version].version.module))
    };
    let statement = match state::with(own)? {
        Some(statement) => statement?,
        None => {
            let file: String = globals.get_item("__file__").ok()?.extract().ok()?;
            if !code::is_file_of_project(&file) {
                return None;
            }
            statement(&std::fs::read_to_string(file).ok()?)?
        }
    };
    let raised = statement.strip_prefix("raise")?;
    let is_type_error = error.is_instance_of::<PyTypeError>(py);
    let missing = Some(raised).filter(|_| is_type_error && error.value(py).to_string().starts_with(NO_EXCEPTION));
    if missing.is_none() && is_type_error {
        return None;
    }
    let intended = match missing {
        // The class is missing in this module, so its stand-in is raised.
        Some(raised) => {
            let name: String =
                raised.trim_start().chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
            PyErr::from_value(exceptions::missing_class(py, &name).ok()?.call0().ok()?)
        }
        None => error.clone_ref(py),
    };
    exceptions::mark_intended(intended.value(py).as_any());
    Some(intended)
}

/// The name of a real callee in access paths.
fn callee_path(callee: &Bound<'_, PyAny>, site: u32) -> AccessPathBuf {
    if !callee.is_callable() {
        // The path under which it was injected, or else the value itself, since versions may reach it in other ways.
        let identity = callee.as_ptr() as usize;
        let path = state::with(|execution| {
            let written = execution.index.container_path(execution.version, site);
            let is_it =
                |path: &AccessPathBuf| execution.run.values.get(path.as_str()).is_some_and(|value| value.is(callee));
            execution.run.identities.get(&identity).cloned().or_else(|| Some(written).filter(is_it))
        });
        return path.flatten().unwrap_or_else(|| observe::short(callee).into());
    }
    let name = callee
        .getattr("__qualname__")
        .and_then(|name| name.extract::<String>())
        .unwrap_or_else(|_| callee.get_type().name().map_or_else(|_| "call".into(), |name| name.to_string()));
    let former = observe::former_name(callee);
    let name = former.map_or(name.clone(), |former| match name.rsplit_once('.') {
        Some((holder, _)) => format!("{holder}.{former}"),
        None => former,
    });
    match callee.getattr("__self__") {
        Ok(owner) if !owner.is_none() && owner.get_type().name().is_ok_and(|name| name != "module") => {
            AccessPath::from(&observe::short(&owner)).attribute(AccessPath::from(&name).last_name())
        }
        _ => name.into(),
    }
}
