//! Repeats one execution of a comparison, as it was or with other values, for a live view.

use std::collections::BTreeMap;

use twincell_engine::protocol::ExecutionRequest;
use twincell_engine::{Executed, WorkerPool};
use twincell_values::path::Question;
use twincell_values::predictor::Predictor;
use twincell_values::value::{Choice, Decision, Recipe};

use super::case;
use super::pair::{Pair, Texts};
use super::prepare::{Prepared, prepare};
use super::select::{self, Selected, select};
use super::witness::{decisive_values, smallest};
use crate::campaign::{self, both, joint_probability};
use crate::report::{Evidence, PairReport, Reproducer, Witness};
use crate::{CompareError, CompareOptions, Continue, Source, assemble, reproduce};

/// Which execution to repeat, and what to do with it.
#[derive(Debug, Clone)]
pub struct Again<'a> {
    /// The pair's report from the comparison of the same texts with the same options.
    pub pair: &'a PairReport,
    /// Those of [`crate::report::ExecutionReport`], or those of an execution that was replayed before.
    pub number: u32,
    pub seed: u64,
    pub choices: &'a [Choice],
    /// Values to inject instead, by access path.
    pub changes: &'a BTreeMap<String, Recipe>,
    pub then: Then,
}

/// What to do after the execution ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Show,
    /// Shrinks its values as far as the difference allows.
    Shrink,
    /// Writes a test of its difference.
    Reproduce,
}

/// An execution in full.
#[derive(Debug, Clone)]
pub struct Replayed {
    pub witness: Witness,
    /// The confirmed differences. Empty if both versions did the same.
    pub evidence: Vec<Evidence>,
    pub reproducer: Option<Reproducer>,
}

/// Executes once more. This is a pure function of its arguments: the same values give what the comparison saw. `go_on`
/// is asked while values are shrunk.
pub fn replay(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    again: &Again<'_>,
    go_on: &mut dyn FnMut() -> Continue,
) -> Result<Replayed, CompareError> {
    let refused = |reason: &str| CompareError::Replay(reason.to_owned());
    let (old, _) = super::plain(old);
    let (new, _) = super::plain(new);
    let texts = Texts::new(&old, &new, options);
    let Selected { pairs, .. } = select(&old, &new, options)?;
    let names = [again.pair.old.qualname.as_str(), again.pair.new.qualname.as_str()];
    let functions = pairs
        .into_iter()
        .filter(|functions| select::is_worth(&texts, functions, options))
        .find(|(old, new)| [old.qualname.as_str(), new.qualname.as_str()] == names)
        .ok_or_else(|| refused("its functions are not in these texts"))?;
    let pair = Pair::new(&texts, functions, options.max_function);
    let decided = || again.choices.iter().map(|choice| choice.path.as_str());
    if let Some(path) = again.changes.keys().find(|path| !decided().any(|known| known == *path)) {
        let paths = decided().filter(|path| !Question::is_answer(path)).collect::<Vec<_>>().join(", ");
        return Err(refused(&format!("nothing was injected under {path}; there are: {paths}")));
    }
    let Prepared { instrumented, program, mut loaded, plan, notes, .. } = prepare(
        &pair,
        predictor_of(again.pair, predictor),
        pool,
        &CompareOptions { isolation: again.pair.isolation, ..options.clone() },
    )?
    .map_err(CompareError::Replay)?;
    let mut fixed: BTreeMap<String, Decision> =
        again.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
    let changes = again.changes.iter().map(|(path, value)| (path.clone(), Decision::Value(value.clone())));
    fixed.extend(changes);
    let request = ExecutionRequest {
        index: again.number.saturating_sub(1),
        seed: again.seed,
        fixed,
        versions: both(),
        explain: true,
        ..ExecutionRequest::default()
    };
    let record = match loaded.run(vec![request])?.pop() {
        Some(Executed::Record(record)) => *record,
        Some(Executed::Lost { reason, .. }) => return Err(refused(&reason)),
        None => return Err(refused("the worker gave no answer")),
    };
    let mut kept = campaign::examined(&mut loaded, record, &plan)?;
    if again.then != Then::Show && kept.differences.is_empty() {
        return Err(refused("both versions do the same on these values, so there is no difference to work on"));
    }
    let mut decisive = vec![];
    if again.then == Then::Shrink {
        (kept, decisive) = smallest(&mut loaded, &kept, &plan, go_on);
    } else if !kept.differences.is_empty() {
        decisive = decisive_values(&kept, &mut loaded, &plan);
    }
    let functions = pair.functions();
    let reproducer = (again.then == Then::Reproduce).then(|| {
        reproduce::verified(&case(&pair, &functions, &instrumented, &program, &plan, &kept, &notes), &mut loaded)
    });
    let evidence = assemble::evidence(&kept, joint_probability(&decisive));
    let witness = assemble::witness(&pair.context(), &kept, &decisive, &plan.rules)
        .ok_or_else(|| refused("the worker's record lacks one of the versions"))?;
    Ok(Replayed { witness, evidence, reproducer })
}

/// The predictor that the executions of a pair had.
fn predictor_of<'a>(pair: &PairReport, predictor: &'a dyn Predictor) -> &'a dyn Predictor {
    predictor.quick().filter(|quick| quick.describe() == pair.predicted_by).unwrap_or(predictor)
}
