//! The messages between engine, zygotes and workers: length-prefixed MessagePack, plain data only.
//!
//! A frame is a little-endian u32 length and then that many bytes of one message (rmp-serde with fields by position,
//! since all sides have the same version, and names would be half of a record). All sides refuse frames over
//! [`MAX_FRAME`]. A zygote speaks first ([`FromZygote::Ready`]). A worker is first told its key ([`ToWorker::Begin`]), and
//! each of its messages carries a tag that only the key gives (`frame::Seal`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use twincell_repo::ModulePath;
use twincell_syntax::Parameter;
use twincell_syntax::site::{SiteKind, SiteTable};
use twincell_values::path::AccessPathBuf;
use twincell_values::predictor::Distribution;
use twincell_values::reading::{Hint, Locals, Uses};
use twincell_values::value::{AbstractValue, Choice, Decision, Fixed, Given, Recipe};

use crate::observed::{Behavior, Outcome};

pub use twincell_sandbox::{Lack, Mechanism, SandboxReport};

pub const PROTOCOL_VERSION: u32 = 20;
pub const MAX_FRAME: usize = 64 << 20;

/// Where missing names come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// The function alone. Everything that it does not define is injected.
    Function,
    /// The function's own module is evaluated first. Whatever cannot be evaluated is injected.
    #[default]
    Module,
}

/// What runs in a version, and what is compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// The function is called on injected arguments.
    #[default]
    Function,
    /// The statements run, and the names that they bind are compared.
    Snippet {
        /// (name in this version, canonical name) of the compared names.
        results: Vec<(String, String)>,
        /// Other names that the statements bind.
        temporary: Vec<String>,
    },
    /// An object is made on injected arguments, and a few of its members are used one after the other.
    Class {
        /// What the class declares about the arguments of its constructor, by parameter.
        constructor: BTreeMap<String, Hint>,
        members: Vec<Member>,
    },
}

/// A public member that both versions of a class have, or an operation that both support in their own way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// It is read, not called.
    pub is_property: bool,
    /// What it declares about its parameters.
    pub hints: BTreeMap<String, Hint>,
    /// Only one version defines this special method, so the operation that asks for it is used: `bool(x)`, `x[0]`.
    pub by_operation: bool,
    /// It uses something that changed, directly or indirectly.
    pub is_changed: bool,
}

impl Member {
    /// The member as code would use it: `add()`, `total`.
    pub fn shown(&self) -> String {
        if self.is_property { self.name.clone() } else { format!("{}()", self.name) }
    }
}

/// A function of the program that the compared function uses and that also changed, or that one version alone uses. Its
/// instrumented code replaces the plain code from its module's evaluation, so that it is observed like the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Companion {
    pub qualname: String,
    pub name: String,
    /// The other module of the project that holds it, by dotted name. `None` if it is of the same text.
    pub module: Option<String>,
    pub code: String,
}

/// Where executions run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// One after the other in one process, which is restored after each. If something cannot be restored, this is
    /// detected, and then each execution gets its own process.
    #[default]
    Auto,
    /// Each in a fresh fork of the process that holds the loaded program.
    Process,
}

/// One version of a function, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// `Session.auth`, `main.<locals>.log_error`.
    pub qualname: String,
    /// The name that the instrumented text binds.
    pub name: String,
    /// The instrumented text: one `def`, `async def` or assignment of a lambda at module level.
    pub code: String,
    pub sites: SiteTable,
    /// One distribution for each site.
    pub predictions: Vec<Distribution>,
    /// How the code uses each site's value, one entry for each site.
    pub uses: Vec<Uses>,
    /// How the methods of its class use what objects of the class hold.
    pub held: Vec<HeldValue>,
    pub parameters: Vec<Parameter>,
    /// (name in this version, canonical name): parameters and locals that the diff found renamed. They are applied to
    /// access paths.
    pub renames: Vec<(String, String)>,
    pub locals: Locals,
    /// The innermost enclosing class, for private names and `super`.
    pub class_name: Option<String>,
    /// The text that is evaluated before: the function's module, or as much of it as the context allows.
    pub module: String,
    /// In module context, the text that is evaluated before an execution without the module
    /// ([`ReplacementScope::All`]).
    pub alone: String,
    pub body: Body,
    pub companions: Vec<Companion>,
    /// The decorators to apply, outermost first, as written.
    pub decorators: Vec<String>,
    /// (name in this version, canonical name) of attributes of `self` that the diff found renamed.
    pub attribute_renames: Vec<(String, String)>,
    /// (class, name here, name in the other version) of attributes that this version alone keeps behind a property.
    pub wrapped_attributes: Vec<(String, String, String)>,
    /// (qualified name in this version, name in the old one) of functions of its module with the same code.
    pub function_renames: Vec<(String, String)>,
    /// What the versions reach through different imports.
    pub imports: Vec<Imported>,
    /// Where the module lies, if the other modules around it can be imported.
    pub place: Option<ModulePath>,
}

impl Version {
    /// The uses of each site's value and of what objects hold.
    pub fn all_uses(&self) -> impl Iterator<Item = &Uses> {
        self.uses.iter().chain(self.held.iter().map(|held| &held.uses))
    }

    pub fn all_uses_mut(&mut self) -> impl Iterator<Item = &mut Uses> {
        self.uses.iter_mut().chain(self.held.iter_mut().map(|held| &mut held.uses))
    }
}

/// A value that objects of a class hold: `self.last`, `self.clock()`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldValue {
    pub path: String,
    pub distribution: Distribution,
    pub uses: Uses,
}

/// A class, function, value or module that the versions import in different ways. All versions have the same entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Its dotted path, without the dots of a relative import: `a.b.C`.
    pub target: String,
    /// As this version writes it: `C`, `b.C`.
    pub written: String,
    /// As all access paths write it.
    pub canonical: String,
    /// Whether some version's module binds the object itself when it is evaluated.
    pub at_load: bool,
}

/// A program: versions that run on the same injected values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub versions: Vec<Version>,
    /// The literals of all versions, each once, in order of appearance.
    pub literals: Vec<Recipe>,
    pub context: Context,
    /// The probability that a call in a `try` body raises what the `except` clauses name.
    pub raise_probability: f64,
    /// The maximum number of marks that one version may pass in one execution.
    pub step_budget: u64,
    pub isolation: Isolation,
    /// The modules that the versions' modules import first thing, by dotted path, each once. The installed ones are
    /// imported before the program arrives.
    pub imports: Vec<String>,
    /// Whether the versions test other values for their truth, so that values which are false tell most.
    pub tests_other_truths: bool,
    /// Whether functions are called a second time with the same arguments, because they may remember the first call.
    pub calls_twice: bool,
    /// What somebody gave for parameters and globals. [`Given::index`] is a position in this table.
    ///
    /// [`Given::index`]: twincell_values::value::Given::index
    pub given: Vec<GivenValue>,
}

/// A value that somebody gave for a parameter or a global.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenValue {
    /// The name of the parameter or the global.
    pub name: String,
    pub content: GivenContent,
}

impl GivenValue {
    /// The value as it is. `index` is its position in the program's table.
    pub fn recipe(&self, index: u32) -> Recipe {
        match &self.content {
            GivenContent::Plain(recipe) => recipe.clone(),
            GivenContent::File(file) => {
                let GivenFile { shown, class, is_large, count, .. } = file;
                let (shown, class, is_large, count) = (shown.clone(), *class, *is_large, *count);
                Given { index, variation: 0, rows: None, count, shown, class, is_large }.into()
            }
        }
    }

    /// The modules that its classes are in.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        let file = match &self.content {
            GivenContent::Plain(_) => None,
            GivenContent::File(file) => Some(file),
        };
        file.into_iter().flat_map(|file| file.modules.iter().map(String::as_str))
    }
}

/// What a given value is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenContent {
    Plain(Recipe),
    File(GivenFile),
}

/// An object as Python pickled it, which is loaded only in workers. The file starts with the number of its parts and the
/// size of each, as little-endian `u64`; the parts follow, each from the next multiple of 64 bytes on. The first is the
/// pickle, and the others are its buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenFile {
    /// Where workers may read.
    pub path: PathBuf,
    /// The object in a few words: `sales, a DataFrame of 1000000 x 5`.
    pub shown: String,
    pub class: AbstractValue,
    /// The number of its rows or items. 0 if it cannot be divided.
    pub count: u64,
    /// Loading or copying all of it takes longer than many executions, so most of these have a part of it.
    pub is_large: bool,
    /// The installed modules that its classes are in, which workers import before they load it.
    pub modules: Vec<String>,
}

/// Existing objects to replace with injected ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacementScope {
    #[default]
    Nothing,
    /// Randomly chosen functions and plain globals of the code's own module.
    Helpers,
    /// Nearly all functions that do more than calculate, imported ones as well.
    Most,
    /// Everything that function context would inject: the versions run without their module.
    All,
}

/// One execution to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    pub index: u32,
    pub seed: u64,
    pub fixed: Fixed,
    /// Which versions run, in order: `[0, 1]`, or `[0, 0]` to check whether a version is deterministic.
    pub versions: Vec<u8>,
    /// Send back the values with which injected values were compared.
    pub observe: bool,
    /// Send back the probability of each class for every injected value, and what else makes the same value as a given
    /// object.
    pub explain: bool,
    /// Decisions in `fixed` replace objects in any case.
    pub replace: ReplacementScope,
    /// The versions get many times the steps of the program, which shows whether they end.
    pub longer: bool,
    /// A person gave the decisions in `fixed`. Where nothing else is drawn, no exception comes from drawn values.
    pub given: bool,
}

/// The place of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationPoint {
    /// The number of a comparison. The operands are its left and right side.
    Comparison(u32),
    /// The number of a call's site (`x.startswith(y)`, `re.match(y, x)`). The operands are the receiver of the method,
    /// then the arguments.
    Call(u32),
}

/// One operand of an observed comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Operand {
    /// The access path, where the runtime knows it.
    pub path: Option<AccessPathBuf>,
    /// The value, if it is plain and small.
    pub value: Option<Recipe>,
}

/// A comparison that the code made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub version: u8,
    pub place: ObservationPoint,
    pub operands: Vec<Operand>,
    pub truth: bool,
}

/// A value that was injected into an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    pub path: AccessPathBuf,
    pub value: Recipe,
    /// `None` for a parameter.
    pub kind: Option<SiteKind>,
    /// The version whose code asked first, and the 1-based line in its text (0 if unknown).
    pub version: u8,
    pub line: u32,
    /// The probability that the predictor gave to the value's class.
    pub probability: f32,
    /// The probability of each class, given the uses in the code. Empty unless the request asks for it.
    pub classes: Vec<f32>,
    /// What makes the same value as a given object, if that is plain and small. Absent unless the request asks for it.
    pub written: Option<Recipe>,
}

/// The record of one execution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    pub index: u32,
    pub seed: u64,
    /// All decisions in order. Given as `fixed`, they repeat this execution.
    pub choices: Vec<Choice>,
    pub injections: Vec<Injection>,
    /// One for each of the request's `versions`.
    pub behaviors: Vec<Behavior>,
    /// In order of appearance, each once, bounded. Empty unless the request asks for them.
    pub observations: Vec<Observation>,
    /// The access paths of synthesized results, which were invented where Python itself would have failed: an
    /// item that an injected dictionary does not have, the call of an injected number.
    pub synthesized: Vec<String>,
    /// The access paths of functions of the program that failed on injected values when they were called, so that what they
    /// give was invented, or that were made to fail.
    pub failed: Vec<String>,
    /// Of a class, a hash of all that its object holds in the end, private attributes too: one for each version that came to an
    /// end. It only says whether further uses of the object may show a difference.
    pub inside: Vec<u64>,
    pub microseconds: u32,
    /// Whether all values are those that a person gave. Set by who asked, whatever a worker says.
    pub given: bool,
}

impl ExecutionRecord {
    /// How many results were invented where Python itself would have failed. What a function of the program did not give on
    /// plain values counts twice, as it can never occur.
    pub fn invented(&self) -> usize {
        self.synthesized.len() + self.failed.len()
    }

    /// The record as the request makes it: on values that a person gave, every exception is the code's own.
    pub fn within(mut self, request: &ExecutionRequest) -> Self {
        let is_given = |choice: &Choice| {
            let is_object = matches!(&choice.decision, Decision::Value(value) if value.has_object());
            request.fixed.contains_key(&choice.path) && !is_object
        };
        self.given = request.given && self.synthesized.is_empty() && self.choices.iter().all(is_given);
        for behavior in self.behaviors.iter_mut().filter(|_| self.given) {
            if let Outcome::Raised { intended, .. } = &mut behavior.outcome {
                *intended = true;
            }
        }
        self
    }

    /// Whether it can be the record of a request, of which this many versions ran. The code may have made it.
    pub fn is_of(&self, request: &ExecutionRequest, versions: usize) -> bool {
        self.index == request.index && self.seed == request.seed && self.behaviors.len() == versions
    }
}

/// The maximum length in characters of a text that a worker sends for people.
const MAX_WORDS: usize = 1000;
/// The maximum number of such texts in one message.
const MAX_NOTES: usize = 100;

/// A text of a worker for people, cut at a bound: what it says may be of the making of the code that runs there.
pub fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MAX_WORDS) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// What a worker could not evaluate, cut at a bound.
pub fn cut_notes(notes: Vec<Unevaluated>) -> Vec<Unevaluated> {
    let cut_one = |note| match note {
        Unevaluated::Statement { line, error } => Unevaluated::Statement { line, error: cut(error) },
        Unevaluated::Module { error } => Unevaluated::Module { error: cut(error) },
        Unevaluated::Library { module } => Unevaluated::Library { module: cut(module) },
        Unevaluated::Lacking { module, name } => Unevaluated::Lacking { module: cut(module), name: cut(name) },
        Unevaluated::Given { name, error } => Unevaluated::Given { name: cut(name), error: cut(error) },
        Unevaluated::Value { class, value, error, is_last } => {
            Unevaluated::Value { class: cut(class), value: cut(value), error: cut(error), is_last }
        }
    };
    notes.into_iter().take(MAX_NOTES).map(cut_one).collect()
}

impl ScriptRun {
    /// Cuts its texts and lists at a bound: `lines` is the number of lines of the snippet.
    pub fn cut(mut self, lines: usize) -> Self {
        for known in [&mut self.lines, &mut self.completed] {
            known.retain(|&line| line > 0 && line as usize <= lines);
            known.sort_unstable();
            known.dedup();
        }
        self.completed.retain(|line| self.lines.contains(line));
        match &mut self.end {
            End::Unreadable { message: text, .. } | End::Lost { reason: text } => *text = cut(std::mem::take(text)),
            End::Raised(raise) => {
                raise.bases.truncate(MAX_NOTES);
                let texts = raise.bases.iter_mut().chain(&mut raise.name);
                texts.chain([&mut raise.class, &mut raise.message]).for_each(|text| *text = cut(std::mem::take(text)));
            }
            End::Whole | End::Steps | End::Time | End::Waits => {}
        }
        self
    }
}

/// The report of a worker, with its texts cut at a bound.
pub fn bounded(mut report: SandboxReport) -> SandboxReport {
    let texts =
        [&mut report.filesystem, &mut report.network, &mut report.programs, &mut report.memory, &mut report.time];
    for text in texts {
        *text = cut(std::mem::take(text));
    }
    report.lacks.truncate(MAX_NOTES);
    report.lacks.iter_mut().for_each(|lack| lack.reason = cut(std::mem::take(&mut lack.reason)));
    report
}

/// A part of a module that could not be evaluated, with the exception as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unevaluated {
    /// The statement on this line, from 1.
    Statement { line: u32, error: String },
    /// The whole module.
    Module { error: String },
    /// A library is not installed here, so that objects stand in for its values.
    Library { module: String },
    /// A library that is installed here does not have what the code asks of it: the code is for another version.
    Lacking { module: String, name: String },
    /// A value that somebody gave cannot be loaded here, so that others are injected.
    Given { name: String, error: String },
    /// A value that the project declares for a class cannot be made here. `is_last`: the class has no other values.
    Value { class: String, value: String, error: String, is_last: bool },
}

/// What a zygote is told: a process that has loaded what programs need, runs none of them, and forks the processes that
/// do. After a message that asks for a process, the files that this process gets travel over the same socket: its end of
/// its own connection, and its standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToZygote {
    /// Fork a worker. Answered by `Forked`. On its own connection the worker then awaits [`ToWorker::Begin`].
    Worker(Fork),
    /// Fork another zygote, which imports these modules, in order, before it says [`FromZygote::Ready`] on its own
    /// connection. Answered by `Forked`.
    Zygote { imports: Vec<String> },
    /// Which of these modules are installed, so that a zygote may import them. Answered by `Installed`.
    Installed { modules: Vec<String> },
}

/// A worker to be forked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// Its own folder, the only place where it may write.
    pub folder: PathBuf,
    /// Its memory limit beyond its use when it locks itself.
    pub memory_bytes: u64,
    /// It runs no program itself, and forks a process for each execution of a version ([`Isolation::Process`]).
    pub forks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromZygote {
    /// It awaits questions. `can_fork`: it has imported what it was told to, and no threads, which no fork would have.
    Ready {
        protocol: u32,
        can_fork: bool,
    },
    /// The number of the process. It is the zygote's own where a system cannot fork processes for the engine: then the
    /// zygote became the worker.
    Forked {
        process: u32,
    },
    /// Those of the modules asked about that are installed, in the same order.
    Installed {
        modules: Vec<String>,
    },
    Failed {
        reason: String,
    },
}

/// The paths under which code sees the worker's own folder and the copy of its project: descriptors that each process
/// opens for itself.
pub const OWN_FOLDER: &str = "/proc/self/fd/210";
/// The message of an exception that a decision raises.
pub const INJECTED_MESSAGE: &str = "injected by twincell";
pub const PROJECT_FOLDER: &str = "/proc/self/fd/211";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// The first message. The key that gives the tags of the worker's messages.
    Begin { key: [u8; 16] },
    /// Compile and keep a program under a number, replacing any program with this number.
    Load { program: u64, source: Box<Program> },
    /// Predict a loaded program anew: the same program with other predictions. Answered by `Loaded`.
    Predict { program: u64, source: Box<Program> },
    /// Answered by one `Record` for each request, in order, then `Done`. A `Failed` replaces a record that cannot be
    /// made.
    Run { program: u64, requests: Vec<ExecutionRequest> },
    /// Run a file's tests unchanged, without hooks, on one version. Answered by one `Tested`.
    Test {
        program: u64,
        source: String,
        /// `old` or `new`: the value of `TWINCELL_SUBJECT` meanwhile.
        subject: String,
        /// Zero where executions run. Other numbers: later by so many periods, and with other random numbers and names.
        elsewhere: u32,
    },
    /// Run a snippet behind a prefix as plain Python, in a process of its own. Only workers that fork do
    /// ([`Isolation::Process`]). Answered by `Ran`.
    Script { program: u64, script: Script },
    /// Look for everything that executions left in the process, which takes longer than many of them. Answered by
    /// `Inspected`.
    Inspect { program: u64 },
}

/// What a file's tests did. All of it is only what they did here: in the sandbox, by the worker's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// Why a test did not pass.
    pub failure: Option<String>,
    /// The name that the file does not have, if this is why.
    pub lacking: Option<String>,
    /// Attempted effects outside the process.
    pub effects: Vec<String>,
    /// Files that exist, and that the sandbox did not let them read.
    pub unread: Vec<String>,
    /// The number of seconds that they wait where a clock does not wait for them.
    pub waited: f64,
}

/// A snippet, and what runs before it as one file with it. Both are plain Python, without hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    pub prefix: String,
    pub snippet: String,
    /// The maximum number of completed statements.
    pub steps: u64,
    pub beside: Option<FilesBeside>,
}

/// A copy of the files beside a snippet: modules that it can import, and files that it finds in its working folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesBeside {
    /// The folder that holds the copy, where workers may read.
    pub folder: PathBuf,
    /// The folders in which imports look first, in this order, from the folder of the copy. Empty for itself.
    pub search: Vec<String>,
    /// The folder, from that of the copy, whose files stand in the working folder.
    pub begin: String,
    /// These files, from there.
    pub files: Vec<String>,
}

/// What a snippet did behind a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptRun {
    /// The lines on which a statement begins, ascending. Docstrings have none, nor have lines with nothing but `try`,
    /// `except`, `else` or `finally`.
    pub lines: Vec<u32>,
    /// Those whose statement completed: control went on from it, to the next one or by its own `return`, `raise`,
    /// `break`, `continue` or `exit`.
    pub completed: Vec<u32>,
    pub end: End,
}

/// How a snippet ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, or by `exit`.
    Whole,
    /// It was stopped after so many statements.
    Steps,
    /// It was stopped because it took too long. What it completed by then depends on the machine.
    Time,
    /// Its event loop would wait for ever.
    Waits,
    /// The worker's Python cannot compile it.
    Unreadable {
        line: u32,
        message: String,
    },
    Raised(Box<Raise>),
    /// Its process ended before it did.
    Lost {
        reason: String,
    },
}

/// An exception that left a snippet or the prefix before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    /// The snippet had begun.
    pub begun: bool,
    /// The name of its class, and those of the classes above.
    pub class: String,
    pub bases: Vec<String>,
    pub message: String,
    /// The name, attribute, module or file that was missing, where Python says so.
    pub name: Option<String>,
    /// A `raise` of the snippet itself made it.
    pub intended: bool,
    /// Whether `line` is of the snippet. If not, it is of the prefix.
    pub in_snippet: bool,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// Where the expression that failed begins and ends in its line, in bytes, if all of it is there and Python knows it.
    pub columns: Option<(u32, u32)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    Hello {
        protocol: u32,
        twincell: String,
        python: String,
        sandbox: SandboxReport,
    },
    Loaded {
        program: u64,
        unevaluated: Vec<Unevaluated>,
    },
    Failed {
        program: u64,
        reason: String,
    },
    Record {
        program: u64,
        record: Box<ExecutionRecord>,
    },
    /// `tainted`: executions left something in the process that cannot be restored, as far as a glance tells.
    Done {
        program: u64,
        tainted: bool,
    },
    /// The same, after a thorough look.
    Inspected {
        program: u64,
        tainted: bool,
    },
    Tested {
        program: u64,
        tested: Tested,
    },
    Ran {
        program: u64,
        ran: ScriptRun,
    },
    /// The last message: code in a process of an execution wrote what only that process itself may
    /// ([`Isolation::Process`]).
    Forged,
}
