//! Loads programs and runs executions in this process's interpreter.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use twincell_engine::observed::{Behavior, Observed, Outcome, Slot};
use twincell_engine::protocol::{
    Body, Context, ExecutionRecord, ExecutionRequest, Injection, Program, ReplacementScope, Script, ScriptRun, Tested,
    Unevaluated,
};
use twincell_engine::sources::{Source, Sources};
use twincell_syntax::Side;
use twincell_values::drawing::Draw;
use twincell_values::path::{AccessPathBuf, EVERYTHING, Question};
use twincell_values::value::{Fixed, Provider, Recipe};

use crate::execution::given::GivenObjects;
use crate::execution::object::{Mark, MockObject};
use crate::execution::observations::Observations;
use crate::execution::own_uses::OwnUses;
use crate::execution::prediction_index::PredictionIndex;
use crate::execution::state::{self, Execution, OfThreads, VersionRun};
use crate::execution::steps::StopExecution;
use crate::inject::machine::{self, Machine};
use crate::inject::{given, names, original};
use crate::observe;
use crate::observe::console::Console;
use crate::observe::{bindings, files};
use crate::outside;
use crate::restore::scratch::Scratch;
use crate::restore::{clock, identity, order, world};
use crate::worker::globals::Plain;
use crate::worker::identities::{Seen, identities};
use crate::worker::libraries::{lacking, without_missing_libraries, without_stand_ins};
use crate::worker::own_uses;
use crate::worker::passed_on::{self, PassedOn};
use crate::worker::providers::{self, Failure};
use crate::worker::tree::Tree;
use crate::worker::version::{self, LoadedVersion};
use crate::worker::{Host, globals, module, outcome, script, snippet};

/// How many times the steps a version gets where it is to show whether it ends.
const LONGER: u64 = 20;
/// How many steps all threads of the code have together, if the budget has as many.
const STEPS_OF_THREADS: u64 = 5000;

/// A program, ready to run in its context, and without its module once an execution asks for this.
struct LoadedProgram {
    index: Rc<PredictionIndex>,
    within: Loaded,
    /// The declared values that some version cannot make.
    failures: Vec<Failure>,
    alone: OnceCell<Loaded>,
}

/// All versions of a program in one context.
struct Loaded {
    versions: Vec<LoadedVersion>,
    /// The globals that every version's module has.
    shared: HashSet<String>,
    /// The globals that some versions have and others lack.
    uneven: Rc<HashSet<String>>,
    own_uses: Rc<OwnUses>,
    passed_on: Rc<PassedOn>,
    /// The globals and class attributes that can be injected instead.
    plain: Vec<Plain>,
    machine: Machine,
}

impl LoadedProgram {
    /// The versions for an execution, and what their context is. `alone`: without their module.
    fn loaded(&self, py: Python<'_>, alone: bool) -> PyResult<&Loaded> {
        match self.alone.get() {
            _ if !alone => Ok(&self.within),
            Some(loaded) => Ok(loaded),
            None => {
                world::note_taint(py);
                // Its notes are those of the module.
                let (loaded, _) = load(py, &self.index, Context::Function, &[], &mut vec![])?;
                Ok(self.alone.get_or_init(|| loaded))
            }
        }
    }
}

/// The interpreter of a zygote and of the workers that are forked from it, in which programs run.
pub struct PythonHost {
    programs: HashMap<u64, LoadedProgram>,
    scratch: Scratch,
    folder: PathBuf,
    finish: Option<Py<PyAny>>,
}

impl PythonHost {
    /// `folder` holds the folders of all workers. `finish` does what the start of Python has left out.
    pub fn new(folder: PathBuf, finish: Py<PyAny>) -> Self {
        let scratch = Scratch::new(folder.clone());
        Self { programs: HashMap::new(), scratch, folder, finish: Some(finish) }
    }

    fn load_program(py: Python<'_>, mut program: Program) -> PyResult<(LoadedProgram, Vec<Unevaluated>)> {
        world::begin_program(py);
        if program.versions.is_empty() {
            // It runs snippets. Each fork finds the helpers there.
            snippet::prepare(py)?;
        }
        let context = program.context;
        let missing = without_missing_libraries(py, &mut program);
        let providers = providers::of(&mut program);
        let again = (!providers.is_empty()).then(|| program.clone());
        let mut index = Rc::new(PredictionIndex::new(py, program));
        let mut failures = Vec::new();
        let (mut within, mut unevaluated) = load(py, &index, context, &providers, &mut failures)?;
        if let Some(mut program) = again.filter(|_| !failures.is_empty()) {
            let notes = providers::leave_out(&mut program, &failures);
            index = Rc::new(PredictionIndex::new(py, program));
            (within, unevaluated) = load(py, &index, context, &[], &mut vec![])?;
            unevaluated.extend(notes);
        }
        unevaluated.extend(missing.into_iter().map(|module| Unevaluated::Library { module }));
        unevaluated.extend(lacking(py, &index, &within.versions));
        Ok((LoadedProgram { index, within, failures, alone: OnceCell::new() }, unevaluated))
    }

    fn run_request(
        &self,
        py: Python<'_>,
        program: &LoadedProgram,
        request: &ExecutionRequest,
        positions: Range<usize>,
    ) -> PyResult<ExecutionRecord> {
        let started = Instant::now();
        let mut draw = Draw::new(request.seed, request.fixed.clone(), program.index.raise_probability);
        let mut injections = Vec::new();
        let mut observations = request.observe.then(Observations::default);
        let mut behaviors = Vec::new();
        let (mut synthesized, mut failed, mut inside) = (Vec::new(), Vec::new(), Vec::new());
        let first = positions.start;
        let may_replace = request.replace != ReplacementScope::Nothing || Question::any_injected(&request.fixed);
        let alone = program.index.context == Context::Module && {
            let probability = if request.replace == ReplacementScope::All { 1.0 } else { 0.0 };
            draw.whether(&Question::Injected(EVERYTHING).to_string(), probability)
        };
        let loaded = program.loaded(py, alone)?;
        for (position, &number) in request.versions.iter().enumerate().take(positions.end).skip(first) {
            if position > first {
                // Files that the previous version wrote are gone for the next.
                self.scratch.reset();
            }
            let number = usize::from(number);
            let Some(version) = loaded.versions.get(number) else {
                return Err(pyo3::exceptions::PyIndexError::new_err(format!("the program has no version {number}")));
            };
            let again = request.versions[..position].iter().filter(|&&other| usize::from(other) == number).count();
            begin_run(py, request.seed, again)?;
            let mut execution = new_execution(&program.index, number, draw, version.globals.bind(py), false);
            execution.alone |= alone;
            execution.uneven = loaded.uneven.clone();
            execution.own_uses = loaded.own_uses.clone();
            execution.passed_on = loaded.passed_on.clone();
            execution.receiver = version.receiver.as_ref().map(|class| class.clone_ref(py));
            execution.stand_ins = version.stand_ins.clone();
            execution.given = version.given.clone();
            execution.globals_before = version.assigns_globals.then(|| version.before.clone_ref(py));
            execution.injections = injections;
            execution.observations = observations;
            execution.explain = request.explain;
            if request.longer {
                execution.step_budget = execution.step_budget.saturating_mul(LONGER);
            }
            execution.replace = request.replace;
            execution.may_replace = may_replace && !alone;
            execution.run.repeated = again > 0;
            let ran = run_version(py, version, loaded, execution)?;
            (draw, injections, observations) = (ran.draw, ran.injections, ran.observations);
            synthesized.extend(ran.synthesized);
            failed.extend(ran.failed);
            inside.extend(ran.inside);
            behaviors.push(ran.behavior);
        }
        Ok(ExecutionRecord {
            index: request.index,
            seed: request.seed,
            choices: draw.into_choices(),
            injections,
            behaviors,
            observations: observations.map(Observations::into_vec).unwrap_or_default(),
            synthesized,
            failed,
            inside,
            microseconds: u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX),
            given: false,
        })
    }
}

impl Host for PythonHost {
    /// Imports what every execution needs.
    fn start(&mut self, finish: bool) -> Result<(), String> {
        let left_out = self.finish.take().filter(|_| finish);
        Python::attach(|py| {
            left_out
                .map_or(Ok(()), |left_out| left_out.call0(py).map(drop))
                .and_then(|()| order::prepare(py))
                .and_then(|()| observe::prepare(py))
                .and_then(|()| identity::prepare(py, &self.folder))
                .and_then(|()| clock::prepare(py))
                .and_then(|()| module::prepare(py))
                .and_then(|()| names::prepare(py))
                .and_then(|()| script::prepare(py))
                .and_then(|()| outside::prepare(py))
                .and_then(|()| world::prepare(py))
                .map_err(|error| module::describe(py, &error))
        })
    }

    fn installed(&mut self, modules: Vec<String>) -> Vec<String> {
        Python::attach(|py| world::installed(py, modules))
    }

    fn import(&mut self, modules: Vec<String>) -> bool {
        Python::attach(|py| {
            if !modules.is_empty() {
                // As when a program is loaded, modules see the same random numbers and the same time.
                let _ = begin_run(py, 0, 0);
            }
            let has_one_thread = world::import(py, modules);
            has_one_thread && outside::patch(py).and_then(|()| world::note(py)).is_ok()
        })
    }

    fn imported(&self) -> Vec<String> {
        Python::attach(world::module_names)
    }

    fn fork(&mut self, fork: &dyn Fn() -> libc::pid_t) -> libc::pid_t {
        Python::attach(|_| {
            // SAFETY: as in `os.fork`, the interpreter is told before and after. This thread holds it throughout, and only
            // this thread continues in the child.
            unsafe {
                pyo3::ffi::PyOS_BeforeFork();
                let child = fork();
                match child {
                    0 => pyo3::ffi::PyOS_AfterFork_Child(),
                    _ => pyo3::ffi::PyOS_AfterFork_Parent(),
                }
                child
            }
        })
    }

    fn begin(&mut self, folder: &Path) -> Result<(), String> {
        let seen = Python::attach(|py| {
            let seen = identity::adopt(py, folder).and_then(|seen| world::begin_process(py).map(|()| seen));
            seen.map_err(|error| module::describe(py, &error))
        })?;
        files::keep(folder, &seen);
        self.scratch = Scratch::new(folder.to_path_buf());
        Ok(())
    }

    fn prepare(&mut self, source: &Program) {
        Python::attach(|py| {
            for version in &source.versions {
                // What cannot be prepared is done when it is needed.
                let _ = module::keep(py, version, source.context);
                let place = version.place.as_ref().filter(|_| source.context == Context::Module);
                let tree = place.map(|place| Tree::open(py, place));
                let _ = tree.map(|tree| tree.and_then(|tree| tree.prepare(py, &version.module)));
            }
        });
    }

    fn load(&mut self, program: u64, source: Program) -> Result<Vec<Unevaluated>, String> {
        Python::attach(|py| match Self::load_program(py, source) {
            Ok((loaded, unevaluated)) => {
                self.programs.insert(program, loaded);
                Ok(unevaluated)
            }
            Err(error) => Err(module::describe(py, &error)),
        })
    }

    fn freeze(&mut self) {
        Python::attach(world::freeze);
    }

    fn predict(&mut self, program: u64, mut source: Program) -> Result<(), String> {
        let Some(loaded) = self.programs.get_mut(&program) else {
            return Err(format!("program {program} is not loaded"));
        };
        if loaded.index.versions.len() != source.versions.len() {
            return Err(format!("program {program} has another number of versions"));
        }
        loaded.index = Python::attach(|py| {
            without_missing_libraries(py, &mut source);
            providers::leave_out(&mut source, &loaded.failures);
            Rc::new(PredictionIndex::new(py, source))
        });
        Ok(())
    }

    fn is_tainted(&mut self) -> bool {
        Python::attach(world::is_tainted)
    }

    fn seems_tainted(&mut self) -> bool {
        Python::attach(world::seems_tainted)
    }

    fn test(&mut self, program: u64, source: &str, subject: &str, elsewhere: u32) -> Tested {
        let loaded = self.programs.get(&program).map(|program| &program.within.versions);
        let version = loaded.and_then(|versions| versions.get(usize::from(subject == Side::New.name())));
        let tree = version.and_then(|version| version.tree.as_ref());
        Python::attach(|py| {
            let failed = |error| Tested { failure: Some(module::describe(py, &error)), ..Tested::default() };
            if let Err(error) = begin_test(py, elsewhere).and_then(|()| tree.map_or(Ok(()), |tree| tree.enter(py))) {
                return failed(error);
            }
            let tested = script::test(py, source, subject).unwrap_or_else(failed);
            if let Some(tree) = tree {
                let left = tree.leave(py);
                tree.restore(py);
                if let Err(error) = left {
                    return failed(error);
                }
            }
            tested
        })
    }

    fn script(&mut self, script: &Script) -> ScriptRun {
        Python::attach(|py| {
            let ran = begin_run(py, 0, 0).and_then(|()| snippet::run(py, script));
            ran.unwrap_or_else(|error| super::lost(module::describe(py, &error)))
        })
    }

    fn run(
        &mut self,
        program: u64,
        request: &ExecutionRequest,
        positions: Range<usize>,
    ) -> Result<ExecutionRecord, String> {
        let Some(loaded) = self.programs.get(&program) else {
            return Err(format!("program {program} is not loaded"));
        };
        Python::attach(|py| {
            self.run_request(py, loaded, request, positions).map_err(|error| module::describe(py, &error))
        })
    }
}

/// Loads all versions of a program in a context. Returns the parts of their modules that could not be evaluated. What the
/// providers cannot make goes to `failures`.
fn load(
    py: Python<'_>,
    index: &Rc<PredictionIndex>,
    context: Context,
    providers: &[Arc<Provider>],
    failures: &mut Vec<Failure>,
) -> PyResult<(Loaded, Vec<Unevaluated>)> {
    let is_within = context == index.context;
    let mut unevaluated = Vec::new();
    let mut versions = Vec::new();
    for (number, indexed) in index.versions.iter().enumerate() {
        let version = &indexed.version;
        let module = if is_within { &version.module } else { &version.alone };
        let evaluate = |globals: &Bound<'_, PyDict>, tree: Option<&Tree>| {
            let console = Console::catch(py)?;
            let mut execution = new_execution(index, number, Draw::new(0, Fixed::new(), 0.0), globals, true);
            execution.alone = context == Context::Function;
            let outer = state::replace(Some(execution), world::begin_run(py));
            // Each version's own module sees the same random numbers and the same time.
            begin_run(py, 0, 0)?;
            let parts = match tree {
                None => {
                    let parts = module::evaluate(globals, module);
                    providers::check(py, providers, failures);
                    parts
                }
                Some(tree) => {
                    tree.enter(py)?;
                    let parts = tree.evaluate(py);
                    providers::check(py, providers, failures);
                    tree.leave(py)?;
                    parts?
                }
            };
            for part in parts {
                if !unevaluated.contains(&part) {
                    unevaluated.push(part);
                }
            }
            let is_parameter = |name: &str| version.parameters.iter().any(|parameter| parameter.name == name);
            for given in index.given.iter().filter(|given| !is_parameter(&given.name)) {
                // It takes the place of what the module binds.
                let _ = globals.del_item(&given.name);
            }
            without_stand_ins(globals, index.as_ref());
            let installed = module::install(globals, tree, &version.companions);
            let execution = state::replace(outer, Vec::new());
            let left = world::left(py);
            world::restore(py);
            console.release()?;
            drop(execution);
            installed.map(|()| left)
        };
        let identifiers = indexed.names.iter().map(|name| name.clone_ref(py)).collect();
        let tree = version.place.as_ref().map(|place| Tree::open(py, place)).transpose()?;
        let mut loaded = LoadedVersion::load(py, version, module, context, identifiers, tree, evaluate)?;
        if !index.given.is_empty() {
            let known = versions.last().map(|version: &LoadedVersion| version.given.clone()).unwrap_or_default();
            loaded.given = Rc::new(load_given(py, index, number, &loaded, &known, &mut unevaluated)?);
        }
        versions.push(loaded);
    }
    for tree in versions.iter().filter_map(|version: &LoadedVersion| version.tree.as_ref()) {
        tree.enter(py)?;
        world::note(py)?;
        tree.leave(py)?;
    }
    world::note(py)?;
    let names = |version: &LoadedVersion| -> HashSet<String> {
        let globals = version.before.bind(py);
        let names = globals.keys().iter().filter_map(|name| name.extract::<String>().ok());
        names.chain(globals.values().iter().flat_map(|value| observe::classes::methods(&value))).collect()
    };
    let shared = versions.iter().map(names).reduce(|a, b| &a & &b).unwrap_or_default();
    let all = versions.iter().map(names).reduce(|a, b| &a | &b).unwrap_or_default();
    let uneven = Rc::new(&all - &shared);
    globals::inject_alike(py, index, &versions, &shared)?;
    let modules: Vec<_> = versions.iter().map(|version: &LoadedVersion| version.before.bind(py).clone()).collect();
    let plain = if context == Context::Module { globals::plain(index, &modules) } else { vec![] };
    let own_uses = Rc::new(own_uses::own_uses(index, &modules));
    let passed_on = Rc::new(passed_on::passed_on(index, &modules));
    Ok((Loaded { versions, shared, uneven, own_uses, passed_on, plain, machine: Machine::of(index) }, unevaluated))
}

/// Loads what somebody gave for a version. What cannot be loaded goes to `unevaluated`.
fn load_given(
    py: Python<'_>,
    index: &Rc<PredictionIndex>,
    number: usize,
    version: &LoadedVersion,
    known: &GivenObjects,
    unevaluated: &mut Vec<Unevaluated>,
) -> PyResult<GivenObjects> {
    let globals = version.globals.bind(py);
    let console = Console::catch(py)?;
    let execution = new_execution(index, number, Draw::new(0, Fixed::new(), 0.0), globals, true);
    let outer = state::replace(Some(execution), world::begin_run(py));
    begin_run(py, 0, 0)?;
    let mut failed = |position: usize, error: PyErr| {
        let name = index.given.get(position).map(|value| value.name.clone()).unwrap_or_default();
        let error = match error.is_instance_of::<StopExecution>(py) {
            true => "it goes on until its steps are used up".into(),
            false => module::describe(py, &error),
        };
        if !unevaluated.iter().any(|part| matches!(part, Unevaluated::Given { name: known, .. } if *known == name)) {
            unevaluated.push(Unevaluated::Given { name, error });
        }
    };
    let loaded = given::load(&index.given, globals, known, &mut failed);
    let execution = state::replace(outer, Vec::new());
    world::restore(py);
    console.release()?;
    drop(execution);
    restore(globals, version.before.bind(py))?;
    version.state.restore(py);
    Ok(loaded)
}

/// Begins a run of a version on a seed: the repetition with this number in one execution. Clocks, random numbers and
/// names are the same for all versions.
fn begin_run(py: Python<'_>, seed: u64, repetition: usize) -> PyResult<()> {
    let varied = Sources::varied(repetition);
    let number = |source| if varied.contains(source) { repetition } else { 0 };
    world::reseed(py, seed.wrapping_add(number(Source::Random) as u64));
    clock::reset(py, repetition, varied)?;
    order::begin(repetition > 0);
    outside::begin_run(py)?;
    identity::begin(py, number(Source::Process), seed.wrapping_add(number(Source::TemporaryName) as u64))
}

/// Begins a run of a test, as that of a version. Elsewhere the time of day is another one by about so many years, which
/// are no whole ones, and no whole weeks and days; the random numbers and names are others.
fn begin_test(py: Python<'_>, elsewhere: u32) -> PyResult<()> {
    const PERIOD: f64 = 30_000_900.0;
    begin_run(py, elsewhere.into(), 0)?;
    identity::begin(py, elsewhere as usize, elsewhere.into())?;
    clock::advance(py, f64::from(elsewhere) * PERIOD)
}

fn new_execution(
    index: &Rc<PredictionIndex>,
    number: usize,
    draw: Draw,
    globals: &Bound<'_, PyDict>,
    loading: bool,
) -> Box<Execution> {
    let sites = &index.versions[number].version.sites;
    let lines =
        sites.lines.iter().chain(sites.branches.iter().map(|branch| &branch.line)).max().map_or(0, |&line| line);
    let run = VersionRun {
        lines: vec![0; lines as usize + 1],
        branches: vec![(0, 0); sites.branches.len()],
        of_threads: OfThreads { steps: index.step_budget.saturating_sub(STEPS_OF_THREADS), ..OfThreads::default() },
        ..VersionRun::default()
    };
    Box::new(Execution {
        index: index.clone(),
        draw,
        injections: Vec::new(),
        observations: None,
        explain: false,
        step_budget: index.step_budget,
        replace: Default::default(),
        may_replace: false,
        version: number,
        run,
        uneven: Rc::default(),
        own_uses: Rc::default(),
        passed_on: Rc::default(),
        globals: Some(globals.clone().unbind()),
        globals_before: None,
        receiver: None,
        stand_ins: Rc::default(),
        loading,
        imports_may_fail: false,
        given: Rc::default(),
        alone: index.context == Context::Function,
    })
}

/// The result of running one version, with what it hands on to the next.
struct Ran {
    behavior: Behavior,
    draw: Draw,
    injections: Vec<Injection>,
    observations: Option<Observations>,
    synthesized: Vec<String>,
    failed: Vec<String>,
    inside: Option<u64>,
}

/// Runs one version. Returns its behavior and hands the decisions on to the next.
fn run_version(py: Python<'_>, version: &LoadedVersion, program: &Loaded, execution: Box<Execution>) -> PyResult<Ran> {
    let index = execution.index.clone();
    let number = execution.version;
    let globals = version.globals.bind(py);
    let console = Console::catch(py)?;
    let outer = state::replace(Some(execution), world::begin_run(py));
    let mut extra = Vec::new();
    let mut replaced = Vec::new();
    let mut called = None;
    let description = &index.versions[number].version;
    let mut command_line = None;
    let result = version.left.as_ref().map_or(Ok(()), |left| world::put(py, left));
    let result = result
        .and_then(|()| version.tree.as_ref().map_or(Ok(()), |tree| tree.enter(py)))
        .and_then(|()| globals::replace(globals, number, &program.plain, &mut replaced))
        .and_then(|()| program.machine.replace(py))
        .map(|before| command_line = before)
        .and_then(|()| version.run(py, description, &mut extra, &mut called));
    world::end_run(py);
    let (outcome, returned) = outcome::settle(py, result, &mut extra);
    let returned = returned.filter(|_| matches!(outcome, Outcome::Returned(_)));
    let mut again = None;
    if let (true, Some(called), Some(first)) = (index.calls_twice, &called, &returned) {
        again = outcome::again(py, called.again(first), &mut extra);
        outcome::note_repetition(&outcome, &mut extra);
    }
    if !matches!(outcome, Outcome::Stopped { .. }) {
        outcome::callbacks(py, returned.as_ref(), &mut extra);
    }
    let files = outside::left(py);
    globals::put_back(globals, replaced);
    machine::put_back(py, command_line);
    let injected = state::with(|execution| std::mem::take(&mut execution.run.injected)).unwrap_or_default();
    let mut arguments = changed_values(py, &injected);
    let mut assigned = bindings::changed(globals, version.before.bind(py));
    if let Body::Snippet { results, temporary } = &description.body {
        let bound: HashSet<&String> = results.iter().map(|(own, _)| own).chain(temporary).collect();
        assigned.retain(|(name, _)| !bound.contains(name) && !name.starts_with('_'));
        arguments.extend(version::bound_names(globals, results));
    }
    let mut held = version.state.changed(globals);
    let names = assigned.iter().chain(&held).map(|(name, _)| name);
    let changed = names.map(|name| (name.clone(), program.shared.contains(name))).collect();
    held.retain(|(name, _)| program.shared.contains(name) && assigned.iter().all(|(known, _)| known != name));
    let seen = Seen { injected: &injected, changed, results: [returned, again] };
    extra.extend(identities(version, globals, seen));
    arguments.extend(assigned.into_iter().chain(held).map(|(name, value)| (Slot::Global(name), value)));
    arguments.append(&mut extra);
    arguments.extend(files);
    if let Some(tree) = &version.tree {
        arguments.extend(tree.changed(py).into_iter().map(|(name, value)| (Slot::Global(name), value)));
        tree.leave(py)?;
        tree.restore(py);
    }
    let execution = state::replace(outer, Vec::new());
    world::restore(py);
    let (stdout, stderr) = console.release()?;
    restore(globals, version.before.bind(py))?;
    version.state.restore(py);
    let Some(mut execution) = execution else {
        return Err(pyo3::exceptions::PyRuntimeError::new_err("the execution lost its state"));
    };
    let mut run = std::mem::take(&mut execution.run);
    let lines =
        run.lines.iter().enumerate().filter(|(_, hits)| **hits > 0).map(|(line, hits)| (line as u32, *hits)).collect();
    let branches = run
        .branches
        .iter()
        .enumerate()
        .filter(|(_, counts)| **counts != (0, 0))
        .map(|(branch, counts)| (branch as u32, counts.0, counts.1))
        .collect();
    let mut calls = std::mem::take(&mut run.calls);
    let mut log = std::mem::take(&mut run.log);
    // The order in which threads take turns is arbitrary.
    let OfThreads { calls: mut more_calls, log: mut more_log, .. } = std::mem::take(&mut run.of_threads);
    more_calls.sort_by_cached_key(|call| format!("{call:?}"));
    more_log.sort_by_cached_key(|logged| format!("{logged:?}"));
    calls.append(&mut more_calls);
    log.append(&mut more_log);
    let (synthesized, failed) = (std::mem::take(&mut run.synthesized), std::mem::take(&mut run.failed));
    let yields = std::mem::take(&mut run.yields);
    let inside = run.inside;
    let steps = run.steps;
    // Finalizers of the code's own objects run here, outside any execution.
    drop(run);
    let behavior = Behavior { outcome, arguments, stdout, stderr, log, calls, yields, lines, branches, steps };
    let Execution { draw, injections, observations, .. } = *execution;
    Ok(Ran { behavior, draw, injections, observations, synthesized, failed, inside })
}

/// The injected values that the code changed, in a fixed order.
fn changed_values(py: Python<'_>, injected: &[(AccessPathBuf, Py<PyAny>, Recipe)]) -> Vec<(Slot, Observed)> {
    let mut changed = Vec::new();
    for (path, value, recipe) in injected {
        let value = value.bind(py);
        if let Ok(mock) = value.cast::<MockObject>() {
            let assigned = observe::assigned_since(mock.get(), py, Mark::default());
            if !assigned.is_empty() {
                changed.push((Slot::Argument(path.to_string()), Observed::Injected { path: path.clone(), assigned }));
            }
        } else if !path.as_path().ends_in_call() {
            // A plain container that a call returned belongs to the code. Its use is observed.
            changed.extend(original::changed(value, recipe, path.as_path()));
        }
    }
    changed.sort_by(|a, b| a.0.cmp(&b.0));
    changed
}

fn restore(globals: &Bound<'_, PyDict>, before: &Bound<'_, PyDict>) -> PyResult<()> {
    let same = bindings::unchanged(globals, before);
    if same < before.len() {
        globals.clear();
        return globals.update(before.as_mapping());
    }
    let added: Vec<Bound<'_, PyAny>> = globals.iter().skip(same).map(|(name, _)| name).collect();
    added.into_iter().try_for_each(|name| globals.del_item(name))
}
