//! The main job: two texts -> a [`Comparison`].

use serde::{Deserialize, Serialize};

use std::time::Instant;

use crate::behavior::Rules;
use crate::campaign::{self, DECISIVE_BUDGET, Decisive, Kept, Plan, Target, Techniques};
use crate::engine::protocol::{Context, Program, Version};
use crate::engine::{EngineError, Loaded, WorkerPool};
use crate::instrument::{Instrumented, instrument};
use crate::predictor::{FunctionSites, Predictor};
use crate::report::{Comparison, FORMAT, PairReport, Verdict, assemble};
use crate::source::{self, Diff, Function, SourceError};
use crate::verdict;

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The code to compare.
    pub text: String,
    /// The module that `text` was taken from, when `text` is only a part of it.
    pub module: Option<String>,
    /// What an error calls it: a file name, `old`, a cell.
    pub label: String,
}

/// Everything that changes the outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Executions at most, for each pair.
    pub budget: u32,
    pub seed: u64,
    pub context: Context,
    /// Compare only the function of this qualified name.
    pub function: Option<String>,
    /// Probability with which a call in a `try` body raises what the `except` clauses name, 0 to 1.
    pub raise_probability: f64,
    /// What the search may use.
    pub techniques: Techniques,
    /// Share by which floats may differ and still count as the same.
    pub float_tolerance: f64,
    /// Differences that only an unlikely value shows do not count.
    pub ignore_edge_cases: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            budget: 300,
            seed: 0,
            context: Context::Module,
            function: None,
            raise_probability: 0.15,
            techniques: Techniques::default(),
            float_tolerance: 0.0,
            ignore_edge_cases: false,
        }
    }
}

/// Where a comparison stands, for progress displays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub pair: u32,
    pub pairs: u32,
    pub executions: u32,
    pub budget: u32,
    /// Share of executable lines that ran, 0 to 1.
    pub coverage: f64,
}

/// Answered by a progress callback: go on, or stop and report what was found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    Yes,
    Stop,
}

/// Why two texts cannot be compared; one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("{label} is not valid Python: {error}")]
    Syntax { label: String, error: SourceError },
    #[error("{label} has no function to compare; define one with def, async def or NAME = lambda")]
    NoFunction { label: String },
    #[error("no function is called {name} in both versions; there are: {known}")]
    UnknownFunction { name: String, known: String },
    #[error("the two versions have no function in common: old has {old}, new has {new}")]
    NothingInCommon { old: String, new: String },
    #[error("the predictor failed: {0}")]
    Predictor(#[from] crate::predictor::PredictError),
    #[error("the worker failed: {0}")]
    Worker(#[from] crate::engine::EngineError),
}

/// Marks that one version may pass in one execution: enough for loops over what is injected, few enough to end.
const STEP_BUDGET: u64 = 20_000;
/// Executions spent on making a witness smaller.
const SHRINK_BUDGET: u32 = 100;

/// Compares every function that the two texts have in common and that changed.
///
/// A pure function of its arguments, times and counts of lost executions aside.
pub fn compare(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Comparison, CompareError> {
    let started = Instant::now();
    let Selected { pairs, added, removed } = select(old, new, options)?;
    let count = pairs.len() as u32;
    let mut reports = Vec::new();
    let mut stopped = false;
    for (number, functions) in pairs.into_iter().enumerate() {
        let pair = Pair::new(old, new, functions, options.context);
        if stopped && !pair.is_same_program() {
            reports.push(assemble::failed(&pair.frame(), "stopped before its turn came".into()));
            continue;
        }
        let mut pair_progress = |executions: u32, coverage: f64| {
            let answer =
                progress(Progress { pair: number as u32, pairs: count, executions, budget: options.budget, coverage });
            stopped = answer == Continue::Stop;
            answer
        };
        reports.push(compare_pair(&pair, predictor, pool, options, &mut pair_progress)?);
    }
    let verdict = Verdict::worst(reports.iter().map(|report| report.verdict));
    let sentence = assemble::overall_sentence(verdict, &reports);
    Ok(Comparison {
        format: FORMAT,
        twincell: env!("CARGO_PKG_VERSION").into(),
        verdict,
        sentence,
        pairs: reports,
        added,
        removed,
        predictor: predictor.describe(),
        seed: options.seed,
        budget: options.budget,
        milliseconds: started.elapsed().as_secs_f64() * 1000.0,
    })
}

fn module_text(source: &Source) -> &str {
    source.module.as_deref().unwrap_or(&source.text)
}

struct Selected {
    pairs: Vec<(Function, Function)>,
    added: Vec<String>,
    removed: Vec<String>,
}

/// Finds the functions to compare.
fn select(old: &Source, new: &Source, options: &CompareOptions) -> Result<Selected, CompareError> {
    let mut sides = Vec::new();
    for side in [old, new] {
        let (functions, errors) = source::functions(&side.text);
        if let Some(error) = errors.into_iter().next() {
            return Err(CompareError::Syntax { label: side.label.clone(), error });
        }
        if functions.is_empty() {
            return Err(CompareError::NoFunction { label: side.label.clone() });
        }
        sides.push(functions);
    }
    let (Some(mut new_functions), Some(mut old_functions)) = (sides.pop(), sides.pop()) else {
        return Err(CompareError::NoFunction { label: old.label.clone() });
    };
    let cut_out = old.module.is_some() || new.module.is_some();
    if let Some(name) = options.function.as_deref() {
        if cut_out {
            // The texts hold the function alone; its place in the module is known by name.
            place(&mut old_functions, name);
            place(&mut new_functions, name);
        }
        let known = |functions: &[Function]| functions.iter().any(|function| function.qualname == name);
        if !known(&old_functions) || !known(&new_functions) {
            let mut names: Vec<&str> =
                old_functions.iter().chain(&new_functions).map(|function| function.qualname.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(CompareError::UnknownFunction { name: name.into(), known: names.join(", ") });
        }
        old_functions.retain(|function| function.qualname == name);
        new_functions.retain(|function| function.qualname == name);
    } else {
        // A nested function runs with the function that holds it.
        old_functions.retain(|function| function.parent.is_none());
        new_functions.retain(|function| function.parent.is_none());
    }
    if let ([one], [other]) = (old_functions.as_slice(), new_functions.as_slice()) {
        return Ok(Selected { pairs: vec![(one.clone(), other.clone())], added: vec![], removed: vec![] });
    }
    let names = |functions: &[Function]| {
        functions.iter().map(|function| function.qualname.as_str()).collect::<Vec<_>>().join(", ")
    };
    let nothing = CompareError::NothingInCommon { old: names(&old_functions), new: names(&new_functions) };
    let pairing = source::pair(old_functions, new_functions);
    if pairing.pairs.is_empty() {
        return Err(nothing);
    }
    Ok(Selected { pairs: pairing.pairs, added: pairing.added, removed: pairing.removed })
}

/// Gives the outermost function of a cut-out text the qualified name that it has in its module.
fn place(functions: &mut [Function], qualname: &str) {
    let Some(outermost) = functions.first_mut() else { return };
    outermost.qualname = qualname.into();
    outermost.parent = None;
    let owner = qualname.rsplit_once('.').map(|(owner, _)| owner);
    outermost.class_name = owner
        .filter(|owner| !owner.ends_with("<locals>"))
        .map(|owner| owner.rsplit('.').next().unwrap_or(owner).to_string());
}

/// One pair with all that its comparison needs.
struct Pair<'a> {
    functions: [Function; 2],
    modules: [&'a str; 2],
    diff: Diff,
    /// Names that the functions use and that the modules bind differently; looked for where the functions are the same.
    changed_names: Vec<String>,
}

impl<'a> Pair<'a> {
    fn new(old: &'a Source, new: &'a Source, functions: (Function, Function), context: Context) -> Self {
        let diff = source::diff(&functions.0, &functions.1);
        let (functions, modules) = (functions.into(), [module_text(old), module_text(new)]);
        let changed_names = match context {
            Context::Module if diff.identical => source::changed_dependencies(&functions, modules),
            _ => vec![],
        };
        Self { functions, modules, diff, changed_names }
    }

    /// Nothing that would show a difference needs to run.
    fn is_same_program(&self) -> bool {
        self.diff.identical && self.changed_names.is_empty()
    }

    fn frame(&self) -> assemble::Frame<'_> {
        assemble::Frame { functions: &self.functions, diff: &self.diff, changed_names: &self.changed_names }
    }
}

/// What [`compare`] loads into workers: one program a pair that can be instrumented. To measure executions by
/// themselves.
pub fn programs(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    options: &CompareOptions,
) -> Result<Vec<Program>, CompareError> {
    let mut programs = Vec::new();
    for functions in select(old, new, options)?.pairs {
        let pair = Pair::new(old, new, functions, options.context);
        if let (Ok(one), Ok(other)) = (instrument(&pair.functions[0]), instrument(&pair.functions[1])) {
            programs.push(program(&pair, &[one, other], predictor, options)?);
        }
    }
    Ok(programs)
}

fn compare_pair(
    pair: &Pair<'_>,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<PairReport, CompareError> {
    let started = Instant::now();
    let frame = pair.frame();
    if pair.is_same_program() {
        return Ok(assemble::identical(&frame));
    }
    let instrumented = match (instrument(&pair.functions[0]), instrument(&pair.functions[1])) {
        (Ok(old), Ok(new)) => [old, new],
        (Err(error), _) | (_, Err(error)) => {
            return Ok(assemble::failed(&frame, format!("the function cannot be instrumented: {error}")));
        }
    };
    let mut program = program(pair, &instrumented, predictor, options)?;
    let mut loading = pool.load(&program);
    let mut context = options.context;
    let mut notes = Vec::new();
    if let (Err(EngineError::Dies { reason, .. }), Context::Module) = (&loading, context) {
        notes.push(format!("the module cannot be evaluated here ({reason}), so the function alone was run"));
        context = Context::Function;
        program.context = context;
        program.versions.iter_mut().for_each(|version| version.module.clear());
        loading = pool.load(&program);
    }
    let mut loaded = match loading {
        Ok(loaded) => loaded,
        Err(EngineError::Load(reason)) => {
            return Ok(assemble::failed(&frame, format!("the function cannot be loaded: {reason}")));
        }
        Err(error @ EngineError::Dies { .. }) => {
            return Ok(assemble::failed(&frame, error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let target = Target::new(&pair.diff, instrumented.each_ref().map(executable_lines));
    let rules = Rules { float_tolerance: options.float_tolerance, changed: target.changed.clone() };
    let plan = Plan {
        budget: options.budget,
        seed: options.seed,
        techniques: options.techniques,
        rules,
        ignore_edge_cases: options.ignore_edge_cases,
        raise_probability: options.raise_probability,
    };
    let campaign = match campaign::run(&mut loaded, &target, &plan, progress) {
        Ok(campaign) => campaign,
        // A worker that cannot be replaced costs this pair and no other.
        Err(error) => return Ok(assemble::failed(&frame, error.to_string())),
    };
    let (witness, decisive) = match campaign.witness {
        Some(position) => {
            let (witness, decisive) = smallest(&mut loaded, &campaign.executions[position], &plan);
            (Some(witness), decisive)
        }
        None => (None, vec![]),
    };
    let (verdict, reason) = verdict::decide(&campaign, &target);
    notes.extend(loaded.notes.iter().cloned());
    Ok(assemble::report(
        &frame,
        &assemble::Findings {
            verdict,
            reason,
            campaign: &campaign,
            witness: witness.as_ref(),
            decisive,
            target: &target,
            rules: &plan.rules,
            notes: &notes,
            context,
            milliseconds: started.elapsed().as_secs_f64() * 1000.0,
        },
    ))
}

/// A smaller witness and its values that matter. A confirmed witness stays one, even where it cannot be made smaller,
/// and a likely one does not become an edge case by being made smaller.
fn smallest(loaded: &mut Loaded<'_>, found: &Kept, plan: &Plan) -> (Kept, Vec<Decisive>) {
    let decisive = |witness: &Kept, loaded: &mut Loaded<'_>| {
        campaign::decisive(loaded, witness, &plan.rules, plan.raise_probability, DECISIVE_BUDGET).unwrap_or_default()
    };
    if let Ok(shrunk) = campaign::shrink(loaded, found, &plan.rules, SHRINK_BUDGET) {
        let values = decisive(&shrunk, loaded);
        if campaign::joint(&values) >= verdict::EDGE_CASE || found.probability < verdict::EDGE_CASE {
            return (shrunk, values);
        }
    }
    let values = decisive(found, loaded);
    (found.clone(), values)
}

fn executable_lines(instrumented: &Instrumented) -> Vec<u32> {
    let sites = &instrumented.sites;
    let mut lines: Vec<u32> =
        sites.lines.iter().copied().chain(sites.branches.iter().map(|branch| branch.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn program(
    pair: &Pair<'_>,
    instrumented: &[Instrumented; 2],
    predictor: &dyn Predictor,
    options: &CompareOptions,
) -> Result<Program, CompareError> {
    let [old, new] = &pair.functions;
    let requests = [
        FunctionSites { text: &old.text, sites: &instrumented[0].sites.sites },
        FunctionSites { text: &new.text, sites: &instrumented[1].sites.sites },
    ];
    let mut predictions = predictor.predict(&requests)?.into_iter();
    let versions = pair
        .functions
        .iter()
        .zip(instrumented)
        .enumerate()
        .map(|(number, (function, instrumented))| Version {
            qualname: function.qualname.clone(),
            name: function.name.clone(),
            code: instrumented.code.clone(),
            locals: source::locals(&function.text, &instrumented.sites.sites),
            uses: source::uses(&function.text, &instrumented.sites.sites),
            sites: instrumented.sites.clone(),
            predictions: predictions.next().unwrap_or_default(),
            parameters: function.parameters.clone(),
            renames: if number == 1 { pair.diff.renames.clone() } else { vec![] },
            class_name: function.class_name.clone(),
            module: match options.context {
                Context::Module => pair.modules[number].to_string(),
                Context::Function => String::new(),
            },
        })
        .collect();
    Ok(Program {
        versions,
        literals: source::literals(&[old, new]),
        context: options.context,
        raise_probability: options.raise_probability,
        step_budget: STEP_BUDGET,
    })
}
