//! `Comparison.replay`: repeats one execution with the texts and options of the comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use serde::Serialize;
use twincell_compare::report::{Comparison, PairReport};
use twincell_compare::{Again, Continue, Replayed, Source, Then};
use twincell_driver::given::GivenValues;
use twincell_driver::options::Options;
use twincell_driver::reproducers;
use twincell_driver::warm::Engine;
use twincell_values::reading::written_value;
use twincell_values::value::{AbstractValue, Choice, Recipe};
use twincell_widgets::Detail;

use super::environment;
use super::errors::raised;
use super::signals::interruptible;

/// The input of a comparison.
#[derive(Clone)]
pub struct Origin {
    pub old: Source,
    pub new: Source,
    pub options: Options,
    pub given: GivenValues,
}

/// The requested execution.
pub struct ReplayRequest {
    pub pair: usize,
    /// Its number. `None` for the execution that the report shows.
    pub execution: Option<u32>,
    /// An earlier replay to start from. Then `execution` is ignored.
    pub from: Option<Start>,
    /// Literals by access path.
    pub changes: BTreeMap<String, String>,
    pub then: Then,
}

/// A replayed execution from which another replay can start. Views hold on to it.
#[pyclass(frozen, from_py_object, module = "twincell._twincell")]
#[derive(Clone)]
pub struct Start {
    /// The pair whose decisions these are.
    pair: usize,
    number: u32,
    seed: u64,
    choices: Vec<Choice>,
    /// Access paths whose values a person chose on the way here.
    changed: Vec<String>,
    /// Whether values were shrunk on the way here.
    shrunk: bool,
}

/// An execution for people.
#[derive(Serialize)]
pub struct ReplayedExecution {
    #[serde(flatten)]
    detail: Detail,
    /// A pytest file, if it was requested.
    reproducer: Option<String>,
}

pub fn then(name: &str) -> PyResult<Then> {
    match name {
        "show" => Ok(Then::Show),
        "shrink" => Ok(Then::Shrink),
        "reproduce" => Ok(Then::Reproduce),
        other => Err(raised(format!("then is {other}; it can be 'show', 'shrink' or 'reproduce'"))),
    }
}

/// The execution, and the start for a later request.
pub fn replay(
    py: Python<'_>,
    report: &Arc<Comparison>,
    origin: &Origin,
    request: ReplayRequest,
) -> PyResult<(ReplayedExecution, Start)> {
    let then = request.then;
    let (replayed, mut start) = run(py, report, origin, request)?;
    if then == Then::Shrink {
        // What a person chose may have been made smaller.
        start.changed.clear();
        start.shrunk = true;
    }
    let reproducer = match replayed.reproducer.as_ref() {
        Some(made) => match reproducers::offered(made) {
            Some(text) => Some(text.to_owned()),
            None => {
                let why = made.why_not.as_deref().unwrap_or("no reason is known");
                return Err(raised(format!("there is no test for this execution: {why}")));
            }
        },
        None => None,
    };
    let is_as_it_was = start.changed.is_empty() && !start.shrunk;
    let detail = twincell_widgets::detail(&replayed, is_as_it_was, &start.changed);
    Ok((ReplayedExecution { detail, reproducer }, start))
}

/// The report with the execution as the example of its pair, whose difference the headline tells.
pub fn with_example(
    py: Python<'_>,
    report: &Arc<Comparison>,
    origin: &Origin,
    request: ReplayRequest,
) -> PyResult<Comparison> {
    let pair = request.pair;
    let (replayed, _) = run(py, report, origin, ReplayRequest { then: Then::Headline, ..request })?;
    let example = replayed.report.ok_or_else(|| raised("the execution gave no report"))?;
    Ok(report.with_pair(pair, example))
}

fn run(
    py: Python<'_>,
    report: &Arc<Comparison>,
    origin: &Origin,
    request: ReplayRequest,
) -> PyResult<(Replayed, Start)> {
    let start = match request.from {
        Some(start) if start.pair != request.pair => return Err(raised("the start is an execution of another pair")),
        Some(start) => start,
        None => start(report, request.pair, request.execution)?,
    };
    let changes: BTreeMap<String, Recipe> =
        request.changes.iter().map(|(path, text)| Ok((path.clone(), value(path, text)?))).collect::<PyResult<_>>()?;
    let environment = environment::find(py)?;
    of_number(report, request.pair)?;
    let (report, origin, then, pair) = (report.clone(), origin.clone(), request.then, request.pair);
    let Start { pair: _, number, seed, choices, mut changed, shrunk } = start;
    changed.extend(request.changes.into_keys());
    changed.sort_unstable();
    changed.dedup();
    let chosen = changed.clone();
    let replayed = interruptible(py, move |stop| {
        let engine = Engine::warm(&origin.options, &environment)?.stopped_by(stop);
        let (pair, choices, changes, chosen) = (&report.pairs[pair], &choices[..], &changes, &chosen[..]);
        let again = Again { pair, number, seed, choices, changes, chosen, then };
        let mut go_on = || if stop.is_asked() { Continue::Stop } else { Continue::Yes };
        let mut options = origin.options.for_core();
        let _files = origin.given.hand_over(&engine, &mut options)?;
        engine.replay(&origin.old, &origin.new, &options, &again, &mut go_on)
    })?;
    let start = Start { pair: request.pair, number, seed, choices: replayed.witness.choices.clone(), changed, shrunk };
    Ok((replayed, start))
}

/// An execution of the comparison, by its number.
fn start(report: &Comparison, pair: usize, execution: Option<u32>) -> PyResult<Start> {
    let found = of_number(report, pair)?;
    let number = match (execution, &found.witness) {
        (Some(number), _) => number,
        (None, Some(witness)) => witness.execution,
        (None, None) => return Err(raised("nothing was executed, so there is no execution to repeat")),
    };
    let listed = found.executions.iter().find(|listed| listed.number == number).ok_or_else(|| {
        raised(format!("execution {number} is not kept; `pairs[{pair}][\"executions\"]` lists those that are"))
    })?;
    // The witness is shown as it was made small, not as it was found.
    let shown = found.witness.as_ref().filter(|witness| witness.execution == number);
    let choices = shown.map_or(&listed.choices, |witness| &witness.choices).clone();
    let changed = shown.map_or_else(Vec::new, |witness| witness.chosen.clone());
    Ok(Start { pair, number, seed: listed.seed, choices, changed, shrunk: false })
}

pub fn of_number(report: &Comparison, pair: usize) -> PyResult<&PairReport> {
    let count = report.pairs.len();
    let missing = || raised(format!("there is no pair {pair}: the comparison has {count}, counted from 0"));
    report.pairs.get(pair).ok_or_else(missing)
}

/// What a person writes for an object of which nothing else is known.
const OBJECT: &str = "object()";

fn value(path: &str, text: &str) -> PyResult<Recipe> {
    if text.trim() == OBJECT {
        return Ok(Recipe::Mock(AbstractValue::Object));
    }
    written_value(text).ok_or_else(|| {
        raised(format!(
            "the value for {path} cannot be read: write a literal of Python, such as 3, 'text', None or [1, 2], or {OBJECT}"
        ))
    })
}
