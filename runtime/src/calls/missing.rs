//! Calls of missing code: recorded, and resolved by callee and arguments. `real.rs` has calls of existing code.

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};
use twincell_engine::observed::{Call, Observed};
use twincell_syntax::site::SiteKind;
use twincell_values::drawing::Draw;
use twincell_values::path::{AccessPath, AccessPathBuf, Question};
use twincell_values::value::{AbstractValue, Decision, Declared, Recipe};

use crate::calls::{MissingCall, conversions, implied};
use crate::execution::object::MockObject;
use crate::execution::state::{self, Execution};
use crate::execution::steps;
use crate::inject::reach;
use crate::inject::resolve::{self, ValueRequest};
use crate::inject::running;
use crate::observe::kinds::{self, Kind};
use crate::observe::{self, identity, messages};

/// How often a call that consumes and repeats with the same arguments gives the same value.
const STABLE_PROBABILITY: f64 = 0.4;
/// The number of calls with the same arguments from one place after which the value turns false, so that loops end.
const PATIENCE: u32 = 12;
/// The steps that a call takes. It costs about as much as so many lines.
const CALL_STEPS: u64 = 8;
/// First words of the names of calls that consume: the same call gives something else the next time.
const CONSUMING: [&str; 16] = [
    "read", "readline", "recv", "receive", "next", "pop", "popleft", "poll", "fetch", "fetchone", "accept", "random",
    "randint", "choice", "uuid4", "time",
];

/// The rules that answer a call, in the order in which they are tried. If none answers, the value is drawn.
const RULES: [Rule; 9] = [
    while_loading,
    logged,
    exited,
    implied::item,
    implied::parts,
    implied::lines,
    implied::copy,
    implied::position,
    decorated,
];

type Rule = fn(&MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>>;

/// What instrumented code says about a call.
#[derive(Default)]
struct CallSite {
    line: u32,
    discarded: bool,
    raised: bool,
    awaited: bool,
    /// Whether it is in the body of a `try`.
    guarded: bool,
}

impl CallSite {
    fn of(py: Python<'_>, site: Option<u32>) -> Self {
        let discarded = site.is_none() && running::discards_call(py);
        state::with(|execution| {
            let line = execution.run.line;
            let version = &execution.index.versions[execution.version].version;
            let Some(number) = site else { return Self { line, discarded, ..Self::default() } };
            let uses = version.uses.get(number as usize);
            let known = version.sites.sites.get(number as usize);
            Self {
                line: known.map_or(line, |site| site.line),
                discarded: known.is_some_and(|site| site.discarded),
                raised: uses.is_some_and(|uses| uses.exception),
                awaited: uses.is_some_and(|uses| uses.awaited),
                guarded: !execution.index.catches(execution.version, number).is_empty(),
            }
        })
        .unwrap_or_default()
    }
}

/// The arguments of a call as external code would see them.
struct Handed {
    positional: Vec<Observed>,
    named: Vec<(String, Observed)>,
}

impl Handed {
    fn by(call: &MissingCall<'_, '_>) -> PyResult<Self> {
        let positional = call.arguments.iter().map(|argument| handed(&argument)).collect::<PyResult<_>>()?;
        let named = call.keywords.iter().flat_map(|keywords| keywords.iter());
        let named = named.map(|(name, value)| Ok((name.to_string(), handed(&value)?))).collect::<PyResult<_>>()?;
        Ok(Self { positional, named })
    }

    /// In the notation of access paths: keywords in the order in which any version first writes them.
    fn text(&self, callee: AccessPath<'_>) -> String {
        let mut ordered: Vec<&(String, Observed)> = self.named.iter().collect();
        state::with(|execution| {
            ordered.sort_by_key(|(name, _)| execution.index.keyword_place(callee.last_name(), name));
        });
        observe::arguments_text(&self.positional, ordered.into_iter().map(|(_, value)| value))
    }
}

fn is_function(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyFunction>() || kinds::of(value) == Some(Kind::Partial)
}

impl<'py> MissingCall<'_, 'py> {
    pub fn py(&self) -> Python<'py> {
        self.arguments.py()
    }

    pub fn has_keywords(&self) -> bool {
        self.keywords.is_some_and(|keywords| !keywords.is_empty())
    }

    pub fn has_arguments(&self) -> bool {
        !self.arguments.is_empty() || self.has_keywords()
    }

    /// The value of the call, or the exception that was decided.
    pub fn answer(&self) -> PyResult<Py<PyAny>> {
        for rule in RULES {
            if let Some(answer) = rule(self)? {
                return Ok(answer);
            }
        }
        self.drawn()
    }

    /// Records the call and returns the decision under its path.
    fn drawn(&self) -> PyResult<Py<PyAny>> {
        let Self { callee, site, arguments, keywords, .. } = *self;
        let functions = self.functions();
        let handed = Handed::by(self)?;
        let place = CallSite::of(self.py(), site);
        let key = callee.call(handed.text(callee)).bounded();
        if self.recorded {
            let Handed { positional: arguments, named: keywords } = handed;
            let (callee, line, discarded) = (callee.to_buf(), place.line, place.discarded);
            let by_all = site
                .and_then(|site| state::with(|execution| execution.index.is_called_by_all(execution.version, site)));
            let by_all = by_all.unwrap_or(false);
            let call = Call { callee, arguments, keywords, line, discarded, by_all, state: vec![] };
            reach::record(self.py(), call, &self.handed());
        }
        let path = state::with(|execution| {
            if self.recorded {
                execution.run.callbacks.extend(functions);
            }
            self.path(execution, key.as_path())
        })
        .unwrap_or(key);
        if self.recorded {
            reach::made(path.as_path(), callee, &self.handed());
        }
        if !place.raised
            && !place.guarded
            && let Some(value) = conversions::converted(callee, arguments, keywords)
        {
            return Ok(value.unbind());
        }
        steps::step(CALL_STEPS)?;
        if place.raised {
            let exception = MockObject::from_call(path, callee.to_buf(), arguments.clone().unbind());
            return Ok(Py::new(self.py(), exception)?.into_any());
        }
        let identifier = callee.last_name();
        let of_file = state::with(|execution| of_text_file(callee, execution)).flatten();
        let request = ValueRequest {
            site,
            kind: SiteKind::Call,
            identifier,
            callee,
            is_line: of_file == Some("readline"),
            raises: true,
            discarded: place.discarded && !place.awaited,
            declared: (self.declared.cloned())
                .or_else(|| site.is_none().then(|| resolve::of_protocol(identifier, true)).flatten())
                .or_else(|| of_file.map(|_| Declared::of(&[AbstractValue::Str])))
                .or_else(|| resolve::of_name(identifier)),
            ..ValueRequest::default()
        };
        resolve::value(self.py(), path.as_path(), &request)
    }

    /// All arguments.
    fn handed(&self) -> Vec<Bound<'py, PyAny>> {
        let named = self.keywords.iter().flat_map(|keywords| keywords.values());
        self.arguments.iter().chain(named).collect()
    }

    /// Functions among the arguments, and in containers among them: external code may call them.
    fn functions(&self) -> Vec<Py<PyAny>> {
        let mut found = Vec::new();
        for passed in self.handed() {
            let held = identity::contents("".into(), &passed).into_iter().map(|(_, held)| held);
            let is_mock = passed.is_instance_of::<MockObject>();
            let all = std::iter::once(passed).chain(held.filter(|_| !is_mock));
            found.extend(all.filter(|value| is_function(value)).map(Bound::unbind));
        }
        found
    }

    /// The path of this call's value. The same question at another place has the same answer. In a loop the answer may
    /// change.
    fn path(&self, execution: &mut Execution, key: AccessPath<'_>) -> AccessPathBuf {
        // Each line of a file is read once, wherever that is.
        let reads_line = of_text_file(self.callee, execution) == Some("readline");
        let asked = match reads_line {
            true => key.to_string(),
            false => format!("{key} at {}", self.site.map_or(0, |site| site + 1)),
        };
        let count = execution.run.occurrences.entry(asked).or_insert(0);
        *count += 1;
        let count = *count;
        let name = self.callee.last_name();
        let consumes = CONSUMING.contains(&name.split('_').next().unwrap_or(name));
        let stable = |draw: &mut Draw| !consumes || draw.truth(&Question::Stable(key).to_string(), STABLE_PROBABILITY);
        if count == 1 || !reads_line && count <= PATIENCE && stable(&mut execution.draw) {
            return key.to_buf();
        }
        let path = key.repeated(count);
        if count > PATIENCE {
            // A file that is read to its end gives empty texts from then on.
            let end = if reads_line { Recipe::Str(String::new()) } else { Recipe::None };
            execution.draw.settle(path.as_str(), Decision::Value(end));
        }
        path
    }
}

/// `read`, `readline` of a callee that is this method of an injected file, which is read as text.
fn of_text_file<'a>(callee: AccessPath<'a>, execution: &Execution) -> Option<&'a str> {
    let (file, method) = callee.split_attribute()?;
    let is_it = matches!(method, "read" | "readline") && execution.run.text_files.contains(file.as_str());
    is_it.then_some(method)
}

/// While a module is evaluated, missing decorators return the decorated object, and other calls give an object.
fn while_loading(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if !state::with(|execution| execution.loading).unwrap_or(true) {
        return Ok(None);
    }
    if let Some(passed) = passed_through(call)? {
        return Ok(Some(passed));
    }
    let MissingCall { callee, arguments, .. } = *call;
    let observed: Vec<Observed> = arguments.iter().map(|argument| observe::value(&argument)).collect();
    let path = callee.call(observe::arguments_text(&observed, &[])).bounded();
    let value = MockObject::from_call(path, callee.to_buf(), arguments.clone().unbind());
    Ok(Some(Py::new(call.py(), value)?.into_any()))
}

/// Messages to a logger and warnings are a separate channel.
fn logged(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let MissingCall { callee, arguments, keywords, recorded, .. } = *call;
    if !recorded {
        return Ok(None);
    }
    let is_logged = match messages::missing_method(callee) {
        Some(method) => {
            messages::record(method, arguments, keywords)?;
            true
        }
        None => messages::missing_warning(callee, arguments, keywords)?,
    };
    Ok(is_logged.then(|| call.py().None()))
}

/// Code that calls `sys.exit` does not intend to continue.
fn exited(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.recorded && call.callee == "sys.exit".into() {
        return Err(PySystemExit::new_err(call.arguments.iter().next().map(Bound::unbind)));
    }
    Ok(None)
}

/// A missing decorator returns the decorated object, and may keep it.
fn decorated(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let passed = if call.site.is_some() { None } else { passed_through(call)? };
    if let Some(function) = &passed {
        let registered = (call.callee.to_buf(), function.clone_ref(call.py()));
        state::with(|execution| execution.run.registered.push(registered));
    }
    Ok(passed)
}

/// The only argument, if it is a function or a class.
fn passed_through(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() != 1 || call.has_keywords() {
        return Ok(None);
    }
    let only = call.arguments.get_item(0)?;
    let is_definition = only.is_instance_of::<PyType>() || only.is_exact_instance_of::<PyFunction>();
    Ok(is_definition.then(|| only.unbind()))
}

/// An argument as external code would see it: such code consumes the items of an iterator.
fn handed(argument: &Bound<'_, PyAny>) -> PyResult<Observed> {
    if !matches!(kinds::of(argument), Some(Kind::Generator | Kind::Iterator)) {
        return Ok(observe::value(argument));
    }
    let mut items = Vec::new();
    for item in argument.try_iter()?.take(observe::MAX_ITEMS) {
        items.push(observe::value(&item?));
    }
    Ok(Observed::List(items))
}
