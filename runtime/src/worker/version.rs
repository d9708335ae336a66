//! One version of a program, loaded once and run once for each execution. A function is called, statements run as they
//! stand, and a class is used from outside.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::rc::Rc;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyCodeMethods, PyDict, PyString, PyType};
use rustc_hash::FxBuildHasher;

use twincell_engine::observed::{Elision, Observed, Outcome, Slot};
use twincell_engine::protocol::{Body, Context, Member, Version};
use twincell_syntax::scopes::mangle;
use twincell_syntax::{Parameter, ParameterKind};
use twincell_values::path::{AccessPath, Question};
use twincell_values::reading::Hint;

use crate::execution::given::GivenObjects;
use crate::execution::object::{Mark, MockObject};
use crate::execution::state;
use crate::execution::steps::StopExecution;
use crate::inject::arguments::{self, Arguments};
use crate::inject::names;
use crate::restore::module_state::ModuleState;
use crate::worker::module::{self, helpers};
use crate::worker::outcome;
use crate::worker::tree::Tree;
use crate::{hooks, observe};

/// The number of members of an object that are used: one to six.
const LENGTHS: [f64; 6] = [0.15, 0.25, 0.25, 0.2, 0.1, 0.05];
/// How many times as often a member is used that uses something changed.
const CHANGED: f64 = 3.0;
/// How many times as often a member that changed is used again, once another one was used after it.
const AGAIN: f64 = 3.0;
/// How often a parameter gets a new value although an earlier one with its name has a value.
const NEW: f64 = 0.6;
/// How often an object is compared with another of its own class.
const SAME_CLASS: f64 = 0.8;
/// Set in the flags of code with an `await` at its top level.
const IS_COROUTINE: u32 = 0x80;

/// The class of a property whose object keeps the first result.
const CACHED_PROPERTY: &str = "cached_property";

/// A function with the arguments of its call.
pub(crate) struct Called<'py> {
    function: Bound<'py, PyAny>,
    arguments: Arguments<'py>,
    /// The object of the property keeps the result of the first call.
    is_kept: bool,
}

impl<'py> Called<'py> {
    /// What a second call with the same arguments gives, after the first one gave `first`.
    pub fn again(&self, first: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_kept { Ok(first.clone()) } else { self.arguments.call(&self.function) }
    }
}

pub(crate) struct LoadedVersion {
    code: Py<PyCode>,
    pub globals: Py<PyDict>,
    /// The globals as the module left them.
    pub before: Py<PyDict>,
    /// The content of these globals.
    pub state: ModuleState,
    /// What the module set in the interpreter ([`world::left`]).
    ///
    /// [`world::left`]: crate::restore::world::left
    pub left: Option<Py<PyAny>>,
    /// The module's stand-ins for what is missing.
    pub stand_ins: Rc<Vec<(Py<MockObject>, Mark)>>,
    /// It may assign globals that other code sees. The names of a snippet are its results.
    pub assigns_globals: bool,
    /// The class of `self`, if the module has it.
    pub receiver: Option<Py<PyAny>>,
    /// The other modules of its project.
    pub tree: Option<Tree>,
    /// The objects that somebody gave.
    pub given: Rc<GivenObjects>,
}

impl LoadedVersion {
    /// Compiles a version and makes its globals. `evaluate` evaluates `module` in them, with the other modules of its
    /// project if there are any, and returns what it left.
    pub fn load(
        py: Python<'_>,
        version: &Version,
        module: &str,
        context: Context,
        identifiers: Vec<Py<PyString>>,
        mut tree: Option<Tree>,
        evaluate: impl FnOnce(&Bound<'_, PyDict>, Option<&Tree>) -> PyResult<Option<Py<PyAny>>>,
    ) -> PyResult<Self> {
        let is_snippet = matches!(version.body, Body::Snippet { .. });
        let code = if is_snippet {
            module::compile_snippet(py, &version.code)?
        } else {
            module::compile_function(py, &version.code)?
        };
        let globals = names::new_globals(py, context)?;
        hooks::install(&globals, identifiers)?;
        if is_snippet {
            // Code behind `if __name__ == '__main__'` is meant to run.
            globals.set_item("__name__", "__main__")?;
        }
        if let Some(tree) = &tree {
            tree.adopt(&globals, module)?;
        }
        let (mut receiver, mut left) = (None, None);
        if !module.is_empty() {
            left = evaluate(&globals, tree.as_ref())?;
            receiver = module::enclosing_class(&globals, &version.qualname).map(Bound::unbind);
        }
        if let Some(tree) = &mut tree {
            tree.keep(py)?;
        }
        let state = ModuleState::of(&globals);
        Ok(Self {
            code: code.cast_into::<PyCode>()?.unbind(),
            before: globals.copy()?.unbind(),
            left,
            stand_ins: Rc::new(state.stand_ins(py)),
            state,
            assigns_globals: !is_snippet && assigns_globals(version),
            globals: globals.unbind(),
            receiver,
            tree,
            given: Rc::default(),
        })
    }

    /// Runs it. Observations besides the result are added to `extra`. A call is put into `called`, so that it can be made
    /// again.
    pub fn run<'py>(
        &self,
        py: Python<'py>,
        version: &Version,
        extra: &mut Vec<(Slot, Observed)>,
        called: &mut Option<Called<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &version.body {
            Body::Function => {
                let call = self.call(py, version, extra)?;
                let result = call.arguments.call(&call.function);
                *called = Some(call);
                result
            }
            Body::Snippet { .. } => self.statements(py),
            Body::Class { constructor, members } => {
                let class = self.define(py, version)?;
                let class = module::decorate(self.globals.bind(py), &version.decorators, class)?;
                state::with(|execution| execution.run.public_only = true);
                let object = use_object(&class, constructor, members, extra)?;
                let inside = FxBuildHasher.hash_one(observe::whole(&object));
                state::with(|execution| execution.run.inside = Some(inside));
                Ok(object)
            }
        }
    }

    /// Executes the definition and returns what it defines.
    fn define<'py>(&self, py: Python<'py>, version: &Version) -> PyResult<Bound<'py, PyAny>> {
        let globals = self.globals.bind(py);
        // A function that takes `self` is a method, even if its class was left out.
        let is_method =
            version.parameters.first().is_some_and(|first| matches!(first.name.as_str(), "self" | "cls" | "mcs"));
        let local = is_method || version.class_name.is_some() || version.qualname.contains('.');
        // Instrumented code spells private names as the class would.
        let name = &mangle(&version.name, version.class_name.as_deref());
        let shadowed = if local { globals.get_item(name).ok().flatten() } else { None };
        self.code.bind(py).run(Some(globals), None)?;
        let Some(defined) = globals.get_item(name)? else {
            return Err(pyo3::exceptions::PyRuntimeError::new_err(format!("{name} was not defined")));
        };
        if local {
            // A method's name is not a global of the module.
            match shadowed {
                Some(global) => globals.set_item(name, global)?,
                None => globals.del_item(name)?,
            }
        }
        Ok(defined)
    }

    /// The function, ready to be called.
    fn call<'py>(
        &self,
        py: Python<'py>,
        version: &Version,
        extra: &mut Vec<(Slot, Observed)>,
    ) -> PyResult<Called<'py>> {
        let mut function = self.define(py, version)?;
        let mut is_kept = false;
        let receiver = self.receiver.as_ref().map(|class| class.bind(py));
        if !version.decorators.is_empty() {
            function = module::decorate(self.globals.bind(py), &version.decorators, function)?;
            is_kept = function.get_type().name()? == CACHED_PROPERTY;
            function = beneath_descriptor(function, extra)?;
        }
        let arguments = Arguments::inject(py, &version.parameters, receiver)?;
        Ok(Called { function, arguments, is_kept })
    }

    fn statements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let globals = self.globals.bind(py);
        let code = self.code.bind(py);
        let flags: u32 = code.getattr("co_flags")?.extract()?;
        let result = code.run(Some(globals), None)?;
        if flags & IS_COROUTINE != 0 {
            helpers(py)?.getattr("run")?.call1((result,))?;
        }
        Ok(globals.get_item("_tc_result")?.unwrap_or_else(|| py.None().into_bound(py)))
    }
}

/// Whether a text of the version has the statement `global`.
fn assigns_globals(version: &Version) -> bool {
    let companions = version.companions.iter().map(|companion| &companion.code);
    companions.chain([&version.code, &version.module]).any(|text| text.contains("global "))
}

/// The function in a `property`, `staticmethod` or `classmethod`. How it is reached is part of the behavior.
fn beneath_descriptor<'py>(
    decorated: Bound<'py, PyAny>,
    extra: &mut Vec<(Slot, Observed)>,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = decorated.get_type().name()?.to_string();
    let (inner, said) = match kind.as_str() {
        "property" => ("fget", "property"),
        CACHED_PROPERTY => ("func", "property"),
        "staticmethod" | "classmethod" => ("__func__", kind.as_str()),
        _ => return Ok(decorated),
    };
    extra.push((Slot::Descriptor, Observed::Str(said.into())));
    decorated.getattr(inner)
}

/// The names that the statements of a snippet bound, by canonical name.
pub(crate) fn bound_names(globals: &Bound<'_, PyDict>, results: &[(String, String)]) -> Vec<(Slot, Observed)> {
    let mut extra = Vec::new();
    let mut found = Vec::new();
    for (own, canonical) in results {
        let Ok(Some(value)) = globals.get_item(own) else { continue };
        // A bound iterator that was not used up counts as the items that it would give.
        let observed = match outcome::unwrap(&value, 1, &mut extra) {
            Ok(observed) => observed,
            Err(_) => observe::value(&value),
        };
        found.push((Slot::Name(canonical.clone()), observed));
    }
    found
}

/// Makes an object on injected arguments and uses a few of its members, one after the other.
fn use_object<'py>(
    class: &Bound<'py, PyAny>,
    constructor: &BTreeMap<String, Hint>,
    members: &[Member],
    extra: &mut Vec<(Slot, Observed)>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if let Ok(class) = class.cast::<PyType>() {
        extra.push((Slot::ClassAttributes, public(observe::namespace(class))));
    }
    let mut given: Vec<String> = Vec::new();
    let object = if class.hasattr("__members__")? {
        let values = helpers(py)?.getattr("members")?.call1((class,))?;
        extra.push((Slot::EnumMembers, observe::value(&values)));
        let all: Vec<Bound<'py, PyAny>> = class.try_iter()?.collect::<PyResult<_>>()?;
        if all.is_empty() {
            return Ok(class.clone());
        }
        let index = arguments::draw_number(Question::WhichMember, &vec![1.0; all.len()]);
        all[usize::try_from(index).unwrap_or(0).min(all.len() - 1)].clone()
    } else {
        arguments(class, constructor, &mut given)?.call(class)?
    };
    if members.is_empty() {
        return Ok(object);
    }
    let length = 1 + arguments::draw_number(Question::MembersUsed, &LENGTHS);
    let mut weights: Vec<f64> = members.iter().map(|member| if member.is_changed { CHANGED } else { 1.0 }).collect();
    let mut last: Option<usize> = None;
    for step in 1..=u32::try_from(length).unwrap_or(1) {
        let index = usize::try_from(arguments::draw_number(Question::Member(step), &weights)).unwrap_or(0);
        let Some(member) = members.get(index) else { continue };
        // It may have kept what it gave.
        if let Some(before) = last.filter(|before| *before != index && members[*before].is_changed) {
            weights[before] = CHANGED * AGAIN;
        }
        last = Some(index);
        let slot = Slot::Use { step, member: member.name.clone() };
        let made = match operation(class, constructor, &object, member, &mut given, Question::Operand(step)) {
            Some(observed) => observed,
            None => use_member(&object, member, &mut given, extra),
        };
        match made {
            Ok(observed) => extra.push((slot, observed)),
            Err(error) if error.is_instance_of::<StopExecution>(py) => return Err(error),
            Err(error) => match outcome::raised(py, &error) {
                Outcome::Raised { exception, intended: true, .. } => extra.push((slot, exception)),
                _ => return Err(error),
            },
        }
    }
    Ok(object)
}

/// The result of an operator or a builtin on an object: comparisons with another one of its class, its hash, its text,
/// an attribute that is set. Refusals by Python itself are observed as well.
fn operation(
    class: &Bound<'_, PyAny>,
    constructor: &BTreeMap<String, Hint>,
    object: &Bound<'_, PyAny>,
    member: &Member,
    given: &mut Vec<String>,
    operand: Question<'_>,
) -> Option<PyResult<Observed>> {
    let py = object.py();
    let comparison = match member.name.as_str() {
        "__eq__" => Some(CompareOp::Eq),
        "__lt__" => Some(CompareOp::Lt),
        _ => None,
    };
    // Objects that enumerations and similar classes make for themselves are not made here.
    let is_made = object.get_type().is(class);
    let done = match (member.name.as_str(), comparison) {
        (_, Some(operator)) if is_made && arguments::draw_number(operand, &[SAME_CLASS, 1.0 - SAME_CLASS]) == 0 => {
            let other = arguments(class, constructor, given).and_then(|arguments| arguments.call(class));
            other.and_then(|other| object.rich_compare(other, operator)).map(|result| observe::value(&result))
        }
        (name, None) if member.by_operation && !matches!(name, "__hash__" | "__setattr__") => {
            special(class, constructor, object, name, given)
        }
        ("__hash__", _) => object.hash().map(|_| Observed::Bool(true)),
        ("__repr__", _) => {
            object.repr().map(|text| Observed::Str(observe::bounded(text.to_string_lossy().into_owned())))
        }
        ("__setattr__", _) if is_made => {
            let first = constructor.keys().next()?;
            object.setattr(first.as_str(), 0).map(|()| Observed::None)
        }
        _ => return None,
    };
    let done = match done {
        // Another error of the code's own is due to the values.
        Err(error) if member.by_operation && !error.is_instance_of::<StopExecution>(py) && !is_refusal(py, &error) => {
            return Some(Ok(Observed::Elided { reason: Elision::UnintendedException }));
        }
        done => done,
    };
    Some(done.or_else(|error| {
        let class = error.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string());
        if is_refusal(py, &error) { Ok(Observed::Exception { class, arguments: vec![] }) } else { Err(error) }
    }))
}

/// The result of an operation that asks for a special method which only one version defines.
fn special<'py>(
    class: &Bound<'py, PyAny>,
    constructor: &BTreeMap<String, Hint>,
    object: &Bound<'py, PyAny>,
    name: &str,
    given: &mut Vec<String>,
) -> PyResult<Observed> {
    let py = class.py();
    let is_operator: bool = helpers(py)?.getattr("is_operator")?.call1((name,))?.extract()?;
    let other = if is_operator { arguments(class, constructor, given)?.call(class)? } else { object.clone() };
    let result = helpers(py)?.getattr("operate")?.call1((name, object, other))?;
    outcome::unwrap(&result, 0, &mut Vec::new())
}

/// Whether Python itself has no such operation for the object: no code of the class ran, or only the code generated for
/// a frozen one. Anything else may be due to the values.
fn is_refusal(py: Python<'_>, error: &PyErr) -> bool {
    let refused = [py.get_type::<PyTypeError>(), py.get_type::<PyAttributeError>()];
    let is_frozen = || error.get_type(py).name().is_ok_and(|name| name == "FrozenInstanceError");
    refused.iter().any(|refused| error.is_instance(py, refused)) && (is_frozen() || !outcome::passed_code(py, error))
}

fn use_member(
    object: &Bound<'_, PyAny>,
    member: &Member,
    given: &mut Vec<String>,
    extra: &mut Vec<(Slot, Observed)>,
) -> PyResult<Observed> {
    let found = object.getattr(member.name.as_str())?;
    let value = if member.is_property || !found.is_callable() {
        found
    } else {
        arguments(&found, &member.hints, given)?.call(&found)?
    };
    outcome::unwrap(&value, 0, extra)
}

/// Arguments by the signature of a callable. A name that got a value before often gets an earlier one again, so that a
/// value stored under a key is looked up by this key.
fn arguments<'py>(
    callable: &Bound<'py, PyAny>,
    hints: &BTreeMap<String, Hint>,
    given: &mut Vec<String>,
) -> PyResult<Arguments<'py>> {
    let py = callable.py();
    let signature: Vec<(String, u8, bool)> = helpers(py)?.getattr("parameters")?.call1((callable,))?.extract()?;
    let parameters: Vec<Parameter> = signature
        .into_iter()
        .map(|(name, kind, has_default)| Parameter {
            name,
            kind: match kind {
                0 => ParameterKind::PositionalOnly,
                1 => ParameterKind::Positional,
                2 => ParameterKind::VarPositional,
                3 => ParameterKind::KeywordOnly,
                _ => ParameterKind::VarKeyword,
            },
            has_default,
            annotation: None,
        })
        .collect();
    let path = |name: &str| {
        let name = arguments::canonical(name);
        let numbered = |count: usize| AccessPath::from(&name).numbered(count + 1);
        let count = given.iter().filter(|known| **known == name).count();
        let own = numbered(count);
        if count == 0 {
            return own;
        }
        // A new value, or any of the earlier ones.
        let weights: Vec<f64> = std::iter::once(NEW).chain((0..count).map(|_| (1.0 - NEW) / count as f64)).collect();
        match usize::try_from(arguments::draw_number(Question::Again((&own).into()), &weights)) {
            Ok(again @ 1..) => numbered(again.min(count) - 1),
            _ => own,
        }
    };
    let arguments = Arguments::inject_as(py, &parameters, None, &|_| true, &path, hints)?;
    given.extend(parameters.iter().map(|parameter| arguments::canonical(&parameter.name)));
    Ok(arguments)
}

fn public(observed: Observed) -> Observed {
    match observed {
        Observed::Object { class, mut attributes } => {
            attributes.retain(|(name, _)| !name.starts_with('_'));
            Observed::Object { class, attributes }
        }
        other => other,
    }
}
