//! `Comparison.replay`: one execution again, with the texts and options that the comparison had.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde::Serialize;
use twincell_core::compare::{Again, Source, Then};
use twincell_core::report::Comparison;
use twincell_core::source::written_value;
use twincell_core::value::Recipe;
use twincell_widgets::Detail;

use super::{environment, raised};
use crate::options::Options;
use crate::warm::{Engine, Failure};

/// What a comparison was made of.
pub struct Origin {
    pub old: Source,
    pub new: Source,
    pub options: Options,
}

/// Which execution is asked for.
pub struct Asked {
    pub pair: usize,
    /// Its number; `None` for the one that is shown.
    pub execution: Option<u32>,
    /// Literals, by access path.
    pub changes: BTreeMap<String, String>,
    pub then: Then,
}

/// An execution for people.
#[derive(Serialize)]
pub struct Answer {
    #[serde(flatten)]
    detail: Detail,
    /// A pytest file, where it was asked for.
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

pub fn replay(py: Python<'_>, report: &Comparison, origin: &Origin, asked: &Asked) -> PyResult<Answer> {
    let count = report.pairs.len();
    let pair = report.pairs.get(asked.pair).ok_or_else(|| {
        raised(format!("there is no pair {}: the comparison has {count}, counted from 0", asked.pair))
    })?;
    let number = match (asked.execution, &pair.witness) {
        (Some(number), _) => number,
        (None, Some(witness)) => witness.execution,
        (None, None) => return Err(raised("nothing was executed, so there is no execution to repeat")),
    };
    let execution = pair.executions.iter().find(|execution| execution.number == number).ok_or_else(|| {
        raised(format!("execution {number} is not kept; `pairs[{}][\"executions\"]` lists those that are", asked.pair))
    })?;
    let changes: BTreeMap<String, Recipe> =
        asked.changes.iter().map(|(path, text)| Ok((path.clone(), value(path, text)?))).collect::<PyResult<_>>()?;
    // The witness is shown as it was made small, not as it was found.
    let shown = pair.witness.as_ref().filter(|witness| asked.execution.is_none() || witness.execution == number);
    let choices = shown.map_or(execution.choices.as_slice(), |witness| witness.choices.as_slice());
    let again = Again { pair, number, seed: execution.seed, choices, changes: &changes, then: asked.then };
    let environment = environment::find(py)?;
    let replayed = py
        .detach(|| -> Result<_, Failure> {
            let engine = Engine::warm(&origin.options, &environment)?;
            engine.replay(&origin.old, &origin.new, &origin.options.for_core(), &again)
        })
        .map_err(raised)?;
    let changed: Vec<String> = match asked.then {
        // What a person chose may have been made smaller.
        Then::Shrink => replayed.witness.decisive.clone(),
        _ => asked.changes.keys().cloned().collect(),
    };
    let reproducer = match replayed.reproducer.as_ref() {
        Some(made) if made.source.is_none() => {
            let why = made.why_not.as_deref().unwrap_or("no reason is known");
            return Err(raised(format!("there is no test for this execution: {why}")));
        }
        made => made.and_then(|made| made.source.clone()),
    };
    Ok(Answer { detail: twincell_widgets::detail(&replayed, &changed), reproducer })
}

fn value(path: &str, text: &str) -> PyResult<Recipe> {
    written_value(text).ok_or_else(|| {
        raised(format!(
            "the value for {path} cannot be read: write a literal of Python, such as 3, 'text', None or [1, 2]"
        ))
    })
}
