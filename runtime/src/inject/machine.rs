//! What the machine tells a program, injected for one execution: environment variables, the command line, the platform.
//!
//! Only values that a machine can have are drawn: a variable has a text or is absent, and a platform has one of the
//! names that Python knows.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule};

use twincell_engine::protocol::Injection;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPath, AccessPathBuf, environment_key};
use twincell_values::value::Recipe;

use crate::execution::prediction_index::PredictionIndex;
use crate::execution::state;
use crate::inject::environment;
use crate::inject::replacement::{self, Origin};
use crate::inject::resolve;

const COMMAND_LINE: &str = "sys.argv";
/// The first item of a command line.
const PROGRAM: &str = "program";
/// The names of platforms, by where they are read.
const PLATFORMS: [(&str, &str, &[&str]); 2] = [
    ("sys", "platform", &["linux", "darwin", "win32", "cygwin", "freebsd14", "aix", "emscripten", "wasi"]),
    ("os", "name", &["posix", "nt", "java"]),
];
const SYSTEM: (&str, &str, &[&str]) = ("platform", "system", &["Linux", "Darwin", "Windows", "Java", "FreeBSD"]);

/// What a program reads of its machine.
pub(crate) struct Machine {
    /// Environment variables that any version reads: the path under which the first does, and the name.
    variables: Vec<(AccessPathBuf, String)>,
    /// Whether every version reads it.
    reads_command_line: bool,
    /// The texts that an argument or a variable may have.
    texts: Vec<String>,
}

impl Machine {
    pub(crate) fn of(index: &PredictionIndex) -> Self {
        let paths = |version: usize| {
            let count = index.versions[version].version.sites.sites.len() as u32;
            (0..count).map(move |site| index.path(version, site))
        };
        let all =
            |is_it: &dyn Fn(AccessPath<'_>) -> bool| (0..index.versions.len()).all(|version| paths(version).any(is_it));
        let mut variables: Vec<(AccessPathBuf, String)> = Vec::new();
        for path in (0..index.versions.len()).flat_map(paths) {
            let Some(key) = environment_key(path) else { continue };
            let known = variables.iter().any(|(_, known)| known == key);
            if !known {
                variables.push((path.to_buf(), key.to_owned()));
            }
        }
        let reads_command_line = all(&|path| path.as_str() == COMMAND_LINE);
        Self { variables, reads_command_line, texts: index.texts.clone() }
    }

    /// Sets what this execution injects. Returns the arguments of the real command line if they were replaced. The
    /// environment is restored after each run.
    pub(crate) fn replace<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.variables.is_empty() && !self.reads_command_line || !replacement::is_possible() {
            return Ok(None);
        }
        let texts = environment::texts(&self.texts);
        if self.reads_command_line && replacement::is_injected(COMMAND_LINE, Origin::Own) {
            let program = || Recipe::Str(PROGRAM.to_owned());
            let mut lines = vec![Recipe::List(vec![program()])];
            lines.extend(texts.iter().map(|text| Recipe::List(vec![program(), text.clone()])));
            lines.extend(texts.windows(2).map(|two| Recipe::List(vec![program(), two[0].clone(), two[1].clone()])));
            let line = injected(py, COMMAND_LINE.into(), SiteKind::Attribute, &lines, &is_command_line)?;
            let real = py.import("sys")?.getattr("argv")?;
            let before = real.cast::<PyList>()?.get_slice(0, usize::MAX);
            set_command_line(&real, &line)?;
            self.set_variables(py)?;
            return Ok(Some(before.into_any()));
        }
        self.set_variables(py)?;
        Ok(None)
    }

    fn set_variables(&self, py: Python<'_>) -> PyResult<()> {
        for (path, key) in &self.variables {
            if !replacement::is_injected(path.as_str(), Origin::Own) {
                continue;
            }
            let is_item = path.as_path().split_item().is_some();
            let kind = if is_item { SiteKind::Subscript } else { SiteKind::Call };
            let values = environment::values(&self.texts, kind);
            let value = injected(py, path.as_path(), kind, &values, &|value| environment::is_possible(value, kind))?;
            let environment = py.import("os")?.getattr("environ")?;
            // Only Python's own mapping: setting a variable of the process is an effect.
            let mapping = environment.getattr("_data")?;
            let key = environment.call_method1("encodekey", (key,))?;
            if value.is_none() {
                mapping.call_method1("pop", (key, py.None()))?;
            } else {
                mapping.set_item(key, environment.call_method1("encodevalue", (value,))?)?;
            }
        }
        Ok(())
    }
}

/// Gives the real command line its arguments back.
pub(crate) fn put_back(py: Python<'_>, command_line: Option<Bound<'_, PyAny>>) {
    let Some(before) = command_line else { return };
    let _ = py.import("sys").and_then(|sys| sys.getattr("argv")).and_then(|real| set_command_line(&real, &before));
}

/// In place, since code may have it under a name of its own.
fn set_command_line(real: &Bound<'_, PyAny>, arguments: &Bound<'_, PyAny>) -> PyResult<()> {
    real.cast::<PyList>()?.set_slice(0, usize::MAX, arguments)
}

fn is_command_line(value: &Recipe) -> bool {
    matches!(value, Recipe::List(items) if !items.is_empty() && items.iter().all(|item| matches!(item, Recipe::Str(_))))
}

/// The platform under another name, for `sys.platform` and `os.name` in instrumented code.
pub(crate) fn platform<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((module, _, names)) = PLATFORMS.iter().find(|(_, own, _)| *own == name) else { return Ok(None) };
    if !replacement::is_possible() || !is_module(object, module) {
        return Ok(None);
    }
    let is_read = state::with(|execution| execution.index.is_read_by_all(name));
    named(object.py(), is_read, AccessPath::new(module).attribute(name).as_path(), SiteKind::Attribute, names)
}

/// The answer of `platform.system()` in instrumented code, under another name.
pub(crate) fn system<'py>(callee: &Bound<'py, PyAny>, site: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (module, name, names) = SYSTEM;
    let is_it = |attribute: &str, wanted: &str| {
        callee.getattr(attribute).and_then(|found| found.extract::<String>()).is_ok_and(|found| found == wanted)
    };
    let is_asked = || is_it("__name__", name) && is_it("__module__", module);
    if !replacement::is_possible() || !callee.is_exact_instance_of::<pyo3::types::PyFunction>() || !is_asked() {
        return Ok(None);
    }
    let is_read = state::with(|execution| execution.index.is_called_by_all(execution.version, site));
    named(
        callee.py(),
        is_read,
        AccessPath::new(module).attribute(name).as_path().call("").as_path(),
        SiteKind::Call,
        names,
    )
}

fn named<'py>(
    py: Python<'py>,
    is_read: Option<bool>,
    path: AccessPath<'_>,
    kind: SiteKind,
    names: &[&str],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if is_read != Some(true) || !replacement::is_injected(path.as_str(), Origin::Own) {
        return Ok(None);
    }
    let values: Vec<Recipe> = names.iter().map(|name| Recipe::Str((*name).to_owned())).collect();
    injected(py, path, kind, &values, &|value| values.contains(value)).map(Some)
}

fn is_module(object: &Bound<'_, PyAny>, name: &str) -> bool {
    object.is_exact_instance_of::<PyModule>()
        && object.py().import("sys").and_then(|sys| sys.getattr("modules")).is_ok_and(|modules| {
            modules
                .cast::<PyDict>()
                .is_ok_and(|modules| modules.get_item(name).ok().flatten().is_some_and(|module| module.is(object)))
        })
}

/// One of some values, as a decision under a path.
fn injected<'py>(
    py: Python<'py>,
    path: AccessPath<'_>,
    kind: SiteKind,
    values: &[Recipe],
    is_fit: &dyn Fn(&Recipe) -> bool,
) -> PyResult<Bound<'py, PyAny>> {
    let value = state::with(|execution| {
        let (value, is_new) = execution.draw.among(path.as_str(), values, is_fit);
        if is_new {
            let (version, line) = (execution.version as u8, execution.run.line);
            let probability = 1.0 / values.len().max(1) as f32;
            let (path, value) = (path.to_buf(), value.clone());
            execution.injections.push(Injection {
                path,
                value,
                kind: Some(kind),
                version,
                line,
                probability,
                classes: vec![],
                written: None,
            });
        }
        value
    });
    resolve::build(py, &value.unwrap_or(Recipe::None), path).map(|value| value.into_bound(py))
}
