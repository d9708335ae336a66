//! Runs a call at a commit, in the sandbox, on a copy of the commit's files.
//!
//! The module is evaluated statement by statement. What fails, or is not installed, gets a stand-in, so that old commits run
//! with the libraries of today. A value that may rest on a stand-in tells nothing, and the commit is left out: `caller.py` looks
//! for stand-ins before it makes the call.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::TempDir;
use twincell_behavior::{Rules, bounded, display_outcome, equal};
use twincell_engine::observed::{Behavior, Elision, Observed, Outcome};
use twincell_engine::protocol::{
    Body, Context, ExecutionRecord, ExecutionRequest, Isolation, PROJECT_FOLDER, Program, Unevaluated, Version,
};
use twincell_engine::{EngineError, Executed, WorkerPool};
use twincell_files::private;
use twincell_repo::{ModulePath, Repo, ReusedCopy, Revision};
use twincell_syntax::imported_modules;
use twincell_syntax::instrument::count_steps;
use twincell_syntax::python::{is_builtin, is_of_stdlib};
use twincell_values::path::AccessPath;

use crate::call::Call;
use crate::probe::{Asked, At, Probe};
use crate::result::{Skip, State, Value, ValueKind, Whole};
use crate::{BlameError, Request};

/// The maximum number of calls and loop tests that the call may make.
const STEP_BUDGET: u64 = 2_000_000;
/// The code that makes the call, the function in it, and what that raises where the call may reach a stand-in.
const CALLER: &str = include_str!("caller.py");
const CALLER_NAME: &str = "_tc_blamed_call";
const STAND_INS: &str = "_tc_StandIns";
/// What stands in that code for the call, and for the folder under which it sees the project.
const CALL: &str = "_TC_CALL  # noqa: F821";
const FOLDER: &str = "_TC_FOLDER";
/// The maximum number of names in a reason.
const MAX_NAMES: usize = 5;

/// Runs one call at any commit.
pub struct CallProbe<'a> {
    repo: &'a Repo,
    pool: &'a WorkerPool,
    call: &'a Call,
    copy: ReusedCopy,
    /// What workers import before they are forked: always the same, so that one process serves all commits.
    imports: Option<Vec<String>>,
    // Removed after the copy.
    _place: TempDir,
}

impl<'a> CallProbe<'a> {
    /// # Errors
    ///
    /// Where there is no place for copies that workers may read.
    pub fn new(request: &Request<'a>, call: &'a Call, pool: &'a WorkerPool) -> Result<Self, BlameError> {
        let place = private::temporary_in("blame-", &pool.projects()?).map_err(BlameError::Copy)?;
        let copy = ReusedCopy::new(place.path().to_owned());
        let repo = request.repo;
        Ok(Self { repo, pool, call, copy, imports: None, _place: place })
    }

    fn execute(&self, program: &Program) -> Result<State, BlameError> {
        let skipped = |skip| Ok(State::Skipped(skip));
        let mut loaded = match self.pool.load(program) {
            Ok(loaded) => loaded,
            Err(error) => return not_loaded(error),
        };
        // Twice, with other clocks and other random numbers the second time.
        let request = ExecutionRequest { versions: vec![0, 0], given: true, ..ExecutionRequest::default() };
        let executed = match loaded.run(vec![request]) {
            Ok(executed) => executed.into_iter().next(),
            // The worker had to load the program again.
            Err(error) => return not_loaded(error),
        };
        let record = match executed {
            Some(Executed::Record(record)) => *record,
            Some(Executed::Lost { reason, .. }) => return skipped(Skip::Lost { reason: bounded(&reason) }),
            None => return Err(EngineError::Stopped.into()),
        };
        if let Some(missing) = missing(&record, &loaded.unevaluated) {
            return skipped(missing);
        }
        let [one, other] = record.behaviors.as_slice() else {
            return skipped(Skip::Lost { reason: "the worker sent no record of the call".to_owned() });
        };
        let stopped = [one, other].into_iter().find(|one| matches!(one.outcome, Outcome::Stopped { .. }));
        if let Some(stopped) = stopped {
            return skipped(Skip::Lost { reason: display_outcome(&stopped.outcome) });
        }
        if !same_outcome(&one.outcome, &other.outcome) {
            let shown = |behavior: &Behavior| display_outcome(&behavior.outcome);
            return skipped(Skip::Varies { one: shown(one), other: shown(other) });
        }
        Ok(State::Gave(value(&one.outcome)))
    }
}

impl Probe for CallProbe<'_> {
    fn asked(&self) -> Asked {
        Asked { call: self.call.text().to_owned(), values: None }
    }

    fn run(&mut self, at: &At<'_>) -> Result<State, BlameError> {
        let Some(call) = self.call.of(&at.place.function) else {
            return Ok(State::Skipped(Skip::OtherForm { function: at.place.function.clone() }));
        };
        let snapshot = self.repo.snapshot(&Revision::Commit(at.commit.to_string()))?;
        let folder = match self.copy.show(&snapshot) {
            Ok(folder) => folder,
            Err(error) => return Ok(State::Skipped(Skip::NotCopied { reason: error.to_string() })),
        };
        let imports = self.imports.get_or_insert_with(|| imported_modules(at.text).into_iter().collect()).clone();
        self.execute(&program(&call, at.text, &folder, &at.place.file, imports))
    }
}

/// A program that cannot be loaded leaves its commit out. Other errors end the search.
fn not_loaded(error: EngineError) -> Result<State, BlameError> {
    let reason = match error {
        EngineError::Load(reason) | EngineError::Dies { reason, .. } => bounded(&reason),
        EngineError::Forged => EngineError::Forged.to_string(),
        error => return Err(error.into()),
    };
    Ok(State::Skipped(Skip::NotLoaded { reason }))
}

/// What stood in for missing values that the call used.
fn missing(record: &ExecutionRecord, unevaluated: &[Unevaluated]) -> Option<Skip> {
    let root = |path: &str| AccessPath::new(path).split_root().0.to_owned();
    let injected = record.injections.iter().map(|one| root(one.path.as_str()));
    let chosen = record.choices.iter().map(|one| root(&one.path));
    let called = record.behaviors.iter().flat_map(|one| &one.calls).map(|call| root(call.callee.as_str()));
    let stand_ins = record.behaviors.iter().flat_map(stand_ins);
    let roots: BTreeSet<String> = injected.chain(chosen).chain(called).chain(stand_ins).collect();
    if roots.is_empty() {
        return None;
    }
    let shown = |names: &BTreeSet<String>| names.iter().take(MAX_NAMES).map(|name| bounded(name)).collect();
    if roots.iter().all(|name| is_builtin(name) || is_of_stdlib(name)) {
        return Some(Skip::Effects { names: shown(&roots) });
    }
    let because = unevaluated.iter().find_map(|one| match one {
        Unevaluated::Statement { error, .. } | Unevaluated::Module { error } => Some(error.clone()),
        Unevaluated::Library { module } => Some(format!("No module named {module}")),
        Unevaluated::Lacking { .. } | Unevaluated::Given { .. } | Unevaluated::Value { .. } => None,
    });
    Some(Skip::Missing { names: shown(&roots), because: because.map(|text| bounded(&text)) })
}

/// The stand-ins that the call may reach, by name, where it was not made for this reason.
fn stand_ins(behavior: &Behavior) -> Vec<String> {
    match &behavior.outcome {
        Outcome::Raised { exception: Observed::Exception { class, arguments }, .. } if class == STAND_INS => {
            arguments.iter().filter_map(Observed::as_text).map(str::to_owned).collect()
        }
        _ => vec![],
    }
}

fn value(outcome: &Outcome) -> Value {
    let kind = if matches!(outcome, Outcome::Raised { .. }) { ValueKind::Raised } else { ValueKind::Returned };
    Value { kind, shown: display_outcome(outcome), whole: Whole::Outcome(outcome.clone()) }
}

/// Whether two calls gave the same. `None` where what was observed of them is the same and is not all of them.
pub fn same_value(one: &Value, other: &Value) -> Option<bool> {
    match (&one.whole, &other.whole) {
        (Whole::Outcome(one), Whole::Outcome(other)) => {
            let is_same = same_outcome(one, other);
            (!is_same || is_whole(one) && is_whole(other)).then_some(is_same)
        }
        (Whole::AsNewest(one), Whole::AsNewest(other)) => Some(one == other),
        _ => Some(one.kind == other.kind && one.shown == other.shown),
    }
}

/// Whether all of a value was observed.
fn is_whole(outcome: &Outcome) -> bool {
    let mut left = match outcome {
        Outcome::Returned(value) | Outcome::Raised { exception: value, .. } => vec![value],
        Outcome::Stopped { .. } => vec![],
    };
    while let Some(value) = left.pop() {
        match value {
            Observed::Elided { reason: Elision::Size | Elision::Depth } => return false,
            Observed::List(items)
            | Observed::Tuple(items)
            | Observed::Set(items)
            | Observed::Iterator { items, .. }
            | Observed::Exception { arguments: items, .. } => left.extend(items),
            Observed::Dict(entries) => left.extend(entries.iter().flat_map(|(key, value)| [key, value])),
            Observed::Object { attributes: named, .. } | Observed::Injected { assigned: named, .. } => {
                left.extend(named.iter().map(|(_, value)| value));
            }
            Observed::Called { gave } => left.push(gave),
            _ => {}
        }
    }
    true
}

fn same_outcome(one: &Outcome, other: &Outcome) -> bool {
    let rules = Rules::default();
    match (one, other) {
        (Outcome::Returned(one), Outcome::Returned(other)) => equal(one, other, &rules),
        (Outcome::Raised { exception: one, .. }, Outcome::Raised { exception: other, .. }) => equal(one, other, &rules),
        _ => false,
    }
}

fn program(call: &str, text: &str, folder: &Path, file: &str, imports: Vec<String>) -> Program {
    let version = Version {
        qualname: CALLER_NAME.to_owned(),
        name: CALLER_NAME.to_owned(),
        code: CALLER.replace(FOLDER, PROJECT_FOLDER).replace(CALL, call),
        sites: Default::default(),
        predictions: vec![],
        uses: vec![],
        held: vec![],
        parameters: vec![],
        renames: vec![],
        locals: Default::default(),
        class_name: None,
        module: count_steps(text),
        alone: String::new(),
        body: Body::Function,
        companions: vec![],
        decorators: vec![],
        attribute_renames: vec![],
        wrapped_attributes: vec![],
        function_renames: vec![],
        imports: vec![],
        place: Some(ModulePath::of(folder, file)),
    };
    Program {
        versions: vec![version],
        literals: vec![],
        context: Context::Module,
        raise_probability: 0.0,
        step_budget: STEP_BUDGET,
        isolation: Isolation::Auto,
        imports,
        tests_other_truths: false,
        calls_twice: false,
        given: vec![],
    }
}
