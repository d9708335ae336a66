//! The current execution: its decisions, and what the running version has seen.
//!
//! One version of one execution runs at a time. The threads that its code starts take part and share its decisions.
//! Their calls, messages and steps are kept apart, because these depend on how threads take turns. A thread that still
//! works for an earlier run takes part in no other: its hooks find no execution, count nothing and inject nothing.
//! Nothing here calls Python while the state is borrowed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};

use twincell_engine::observed::{Call, Logged, Observed, State};
use twincell_engine::protocol::{Injection, ReplacementScope};
use twincell_values::drawing::Draw;
use twincell_values::path::{AccessPath, AccessPathBuf};
use twincell_values::value::Recipe;

use crate::execution::actions::Actions;
use crate::execution::given::GivenObjects;
use crate::execution::object::{Mark, MockObject};
use crate::execution::observations::Observations;
use crate::execution::own_uses::OwnUses;
use crate::execution::prediction_index::PredictionIndex;

/// The maximum number of synthesized results, and of functions that failed, kept from one run.
const MAX_NOTED: usize = 20;

/// What threads that the code started did.
#[derive(Default)]
pub(crate) struct OfThreads {
    pub calls: Vec<Call>,
    pub log: Vec<Logged>,
    pub steps: u64,
}

/// What one run of one version has seen and done so far.
#[derive(Default)]
pub(crate) struct VersionRun {
    /// The consistency map: access path -> this version's value.
    pub values: FxHashMap<AccessPathBuf, Py<PyAny>>,
    /// The access paths of injected containers, by identity (`values` keeps them alive).
    pub identities: FxHashMap<usize, AccessPathBuf>,
    /// The static path of a site -> the access path of its last value, where Python shares the value among all equal
    /// ones.
    pub shared: FxHashMap<String, AccessPathBuf>,
    /// Containers as they were injected, to see how the code changed them.
    pub injected: Vec<(AccessPathBuf, Py<PyAny>, Recipe)>,
    /// What objects of the code's own classes were like when they were made, by access path. Making them runs the code.
    pub originals: FxHashMap<AccessPathBuf, Observed>,
    /// The access paths of the injected files that are read as text.
    pub text_files: FxHashSet<AccessPathBuf>,
    /// The sums of objects and integers, by path: the object's path, and the integer.
    pub moved: FxHashMap<AccessPathBuf, (AccessPathBuf, i64)>,
    /// How often a call with the same arguments was made.
    pub occurrences: FxHashMap<String, u32>,
    /// Functions that were passed to external code.
    pub callbacks: Vec<Py<PyAny>>,
    /// Functions that were decorated by external code, by the path of the decorator.
    pub registered: Vec<(AccessPathBuf, Py<PyAny>)>,
    pub calls: Vec<Call>,
    /// The actions on each object, by its access path.
    pub actions: BTreeMap<AccessPathBuf, Actions>,
    /// What objects of missing classes were made of: access paths, by the access path of the object.
    pub made: BTreeMap<AccessPathBuf, Vec<AccessPathBuf>>,
    /// How many states other code found changed.
    pub moments: usize,
    /// How many values were looked at to find out.
    pub looks: usize,
    /// What a consumer found at each `yield`.
    pub yields: Vec<State>,
    pub log: Vec<Logged>,
    /// For the threads that the code started.
    pub of_threads: OfThreads,
    pub lines: Vec<u32>,
    pub branches: Vec<(u32, u32)>,
    pub steps: u64,
    /// The steps of the module around the compared code.
    pub steps_around: u64,
    pub line: u32,
    /// The objects whose `id` was asked for, by address: a number and the object itself.
    pub ids: FxHashMap<usize, (i64, Py<PyAny>)>,
    /// The same version ran before in this execution.
    pub repeated: bool,
    /// Exceptions that were raised intentionally, by identity, kept alive.
    pub intended: Vec<Py<PyAny>>,
    pub intended_ids: FxHashSet<usize>,
    /// Stand-ins for missing exception types, by name.
    pub missing_classes: FxHashMap<String, Py<PyType>>,
    /// The dotted names whose objects are being looked up, each by its thread.
    pub looked_up: Vec<(std::thread::ThreadId, String)>,
    /// The last assertion failed.
    pub assertion_failed: bool,
    /// Objects of the module's own classes show only their public attributes.
    pub public_only: bool,
    /// The sandbox blocked an effect in the current call.
    pub blocked: bool,
    /// A function of a library reads a file whose content is made up as a whole.
    pub reads_made_up: bool,
    /// The access paths of synthesized results, which were invented where Python would have failed.
    pub synthesized: Vec<String>,
    /// The access paths of functions of the program whose results were invented because they failed.
    pub failed: Vec<String>,
    /// A hash of all that the object of a class holds in the end.
    pub inside: Option<u64>,
}

/// One execution.
pub(crate) struct Execution {
    pub index: Rc<PredictionIndex>,
    pub draw: Draw,
    pub injections: Vec<Injection>,
    /// The comparisons that the code made, if the request asks for them.
    pub observations: Option<Observations>,
    /// Which existing objects are replaced with injected ones, and whether any may be.
    pub replace: ReplacementScope,
    pub may_replace: bool,
    /// Whether injections include the probability of each class.
    pub explain: bool,
    /// The maximum number of steps.
    pub step_budget: u64,
    /// The index into [`PredictionIndex::versions`] of the running version.
    pub version: usize,
    pub run: VersionRun,
    /// Globals and methods of classes that some versions have and others lack, by qualified name.
    pub uneven: Rc<HashSet<String>>,
    /// The calls and properties of all versions, and which of them have counterparts.
    pub own_uses: Rc<OwnUses>,
    /// The names of keywords that the versions hand on, by the path of the parameter that collects them.
    pub passed_on: Rc<FxHashMap<String, Vec<String>>>,
    /// The globals of the running version.
    pub globals: Option<Py<pyo3::types::PyDict>>,
    /// The same before the run, if the version may assign globals for others to see.
    pub globals_before: Option<Py<pyo3::types::PyDict>>,
    /// The class whose method runs, if the running version has it.
    pub receiver: Option<Py<PyAny>>,
    /// The module's stand-ins for what is missing, as the module left them.
    pub stand_ins: Rc<Vec<(Py<MockObject>, Mark)>>,
    /// A module is being evaluated: decorators return the decorated object, and nothing is recorded.
    pub loading: bool,
    /// A failing import fails for real, since the module handles it.
    pub imports_may_fail: bool,
    /// The objects that somebody gave, as the running version sees them.
    pub given: Rc<GivenObjects>,
    /// The versions run without their module, and everything that they do not define is injected.
    pub alone: bool,
}

/// The current execution, and the number of the run.
struct Current {
    run: u64,
    /// The threads that worked for an earlier run when this one began.
    strangers: Vec<u64>,
    execution: Option<Box<Execution>>,
}

/// State that is shared by threads of which only one runs Python at a time.
struct UnderLock(RefCell<Current>);

// SAFETY: only threads that hold the interpreter's lock call this module, and none releases it while it borrows the
// state (`with` must not call Python). So no two threads are ever in here at once, and the lock orders their accesses.
// An interpreter without that lock cannot load this library, which is built for the stable ABI.
unsafe impl Sync for UnderLock {}

static CURRENT: UnderLock = UnderLock(RefCell::new(Current { run: 0, strangers: Vec::new(), execution: None }));

/// The relation of a thread to runs.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
    /// No hook was called on it yet.
    New,
    /// The run with this number was started on it.
    Owner(u64),
    /// Code of the run with this number started it.
    Helper(u64),
}

thread_local! {
    static SEAT: Cell<Seat> = const { Cell::new(Seat::New) };
    /// The line at which a helper is.
    static LINE: Cell<u32> = const { Cell::new(0) };
}

/// Makes an execution the current one, with this thread as the one that runs it. Returns the previous one. `strangers`
/// are the threads that still work for an earlier run.
pub(crate) fn replace(execution: Option<Box<Execution>>, strangers: Vec<u64>) -> Option<Box<Execution>> {
    let mut current = CURRENT.0.borrow_mut();
    current.run += 1;
    current.strangers = strangers;
    SEAT.set(Seat::Owner(current.run));
    std::mem::replace(&mut current.execution, execution)
}

/// Records a synthesized result: a value is invented where Python would have failed.
pub(crate) fn synthesized(operation: &str) {
    with(|execution| note(&mut execution.run.synthesized, operation));
}

/// Records a function of the program whose result is invented because it failed.
pub(crate) fn failed(path: AccessPath<'_>) {
    with(|execution| note(&mut execution.run.failed, path.as_str()));
}

fn note(paths: &mut Vec<String>, path: &str) {
    if paths.len() < MAX_NOTED && paths.iter().all(|known| known != path) {
        paths.push(path.to_owned());
    }
}

/// Calls `f` with the current execution, if there is one that this thread takes part in. `f` must not call Python.
pub(crate) fn with<R>(f: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    let mut current = CURRENT.0.try_borrow_mut().ok()?;
    let current = &mut *current;
    let execution = current.execution.as_deref_mut()?;
    match SEAT.get() {
        Seat::Owner(run) if run == current.run => Some(f(execution)),
        Seat::Helper(run) if run == current.run => Some(as_helper(execution, f)),
        Seat::Owner(_) => None,
        _ if !current.strangers.contains(&this_thread()) => {
            SEAT.set(Seat::Helper(current.run));
            Some(as_helper(execution, f))
        }
        _ => None,
    }
}

/// Whether the current run was started on this thread.
pub(crate) fn is_owner() -> bool {
    let current = CURRENT.0.try_borrow();
    current.is_ok_and(|current| SEAT.get() == Seat::Owner(current.run))
}

/// A thread has its own place in the code. Its calls, messages and steps are kept apart.
fn as_helper<R>(execution: &mut Execution, f: impl FnOnce(&mut Execution) -> R) -> R {
    fn exchange(run: &mut VersionRun) {
        std::mem::swap(&mut run.calls, &mut run.of_threads.calls);
        std::mem::swap(&mut run.log, &mut run.of_threads.log);
        std::mem::swap(&mut run.steps, &mut run.of_threads.steps);
        run.line = LINE.replace(run.line);
    }
    exchange(&mut execution.run);
    let result = f(execution);
    exchange(&mut execution.run);
    result
}

/// The same number as Python's `threading.get_ident`.
fn this_thread() -> u64 {
    // SAFETY: this asks for the number of this thread and always succeeds.
    unsafe { libc::pthread_self() as u64 }
}
