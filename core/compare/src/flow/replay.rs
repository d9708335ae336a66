//! Repeats one execution of a comparison, as it was or with other values, for a live view.

use std::collections::BTreeMap;

use twincell_behavior::{bounded, differences};
use twincell_engine::protocol::ExecutionRequest;
use twincell_engine::{Executed, WorkerPool};
use twincell_values::path::{AccessPath, Question};
use twincell_values::predictor::Predictor;
use twincell_values::value::{AbstractValue, Choice, Decision, Fixed, Recipe};

use super::case;
use super::pair::Pair;
use super::prepare::{Prepared, prepare};
use super::select::{Selected, select};
use super::sources::Sources;
use super::witness::{decisive_values, smallest};
use crate::campaign::{self, both, joint_probability};
use crate::report::{Evidence, ExecutionReport, PairReport, Reproducer, Witness};
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
    /// Values to inject instead, by access path. A path may go on from one where an object was injected, which then has
    /// this attribute.
    pub changes: &'a BTreeMap<String, Recipe>,
    /// The access paths of all values that a person has chosen by now.
    pub chosen: &'a [String],
    pub then: Then,
}

/// What to do after the execution ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Show,
    /// Only finds out what differs, and not which values that needs.
    Judge,
    /// Shrinks its values as far as the difference allows.
    Shrink,
    /// Writes a test of its difference.
    Reproduce,
    /// Makes it the example of its pair's report, with a test.
    Headline,
}

/// An execution in full.
#[derive(Debug, Clone)]
pub struct Replayed {
    pub witness: Witness,
    /// The confirmed differences. Empty if both versions did the same.
    pub evidence: Vec<Evidence>,
    /// Whether there were others, which did not appear again.
    pub varies: bool,
    pub reproducer: Option<Reproducer>,
    /// The pair's report with this execution as its example, if that was asked for.
    pub report: Option<PairReport>,
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
    let sources = Sources::new(&old, &new, options);
    let Selected { pairs, .. } = select(&old, &new, options)?;
    let names = [again.pair.old.qualname.as_str(), again.pair.new.qualname.as_str()];
    let functions = pairs
        .into_iter()
        .find(|(old, new)| [old.qualname.as_str(), new.qualname.as_str()] == names)
        .ok_or_else(|| refused("its functions are not in these texts"))?;
    let pair = Pair::new(&sources, functions, options.max_function);
    let fixed = changed(again).map_err(|reason| refused(&reason))?;
    let Prepared { instrumented, program, mut loaded, plan, notes, .. } = prepare(
        &pair,
        predictor_of(again.pair, predictor),
        pool,
        &CompareOptions { isolation: again.pair.isolation, ..options.clone() },
    )?
    .map_err(CompareError::Replay)?;
    let is_example = |execution: &ExecutionReport| execution.number == again.number && execution.example.is_some();
    let request = ExecutionRequest {
        given: again.pair.executions.iter().any(is_example),
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
    let seen = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, &plan.rules).len(),
        _ => 0,
    };
    let mut kept = campaign::examined(&mut loaded, record, &plan)?;
    let varies = seen > 0 && kept.differences.is_empty();
    if !matches!(again.then, Then::Show | Then::Judge) && kept.differences.is_empty() {
        return Err(refused("both versions do the same on these values, so there is no difference to work on"));
    }
    let mut decisive = vec![];
    if again.then == Then::Shrink {
        (kept, decisive) = smallest(&mut loaded, &kept, &plan, go_on);
    } else if again.then != Then::Judge && !kept.differences.is_empty() {
        decisive = decisive_values(&kept, &mut loaded, &plan);
    }
    let functions = pair.functions();
    let reproducer = matches!(again.then, Then::Reproduce | Then::Headline).then(|| {
        reproduce::verified(&case(&pair, &functions, &instrumented, &program, &plan, &kept, &notes), &mut loaded)
    });
    let evidence = assemble::evidence(&kept, joint_probability(&decisive));
    let about = pair.context();
    let report = match &reproducer {
        Some(test) if again.then == Then::Headline => {
            let (test, rules) = (test.clone(), &plan.rules);
            let report = assemble::with_example(&about, again.pair, &kept, &decisive, again.chosen, test, rules);
            Some(report.ok_or_else(|| refused("what differs on these values does not count as a change of behavior"))?)
        }
        _ => None,
    };
    let witness = assemble::witness(&about, &kept, &decisive, &plan.rules)
        .ok_or_else(|| refused("the worker's record lacks one of the versions"))?;
    Ok(Replayed { witness, evidence, varies, reproducer, report })
}

/// The decisions of an execution with the changes in it, or why there is no place for one of them.
fn changed(again: &Again<'_>) -> Result<Fixed, String> {
    let mut fixed: Fixed = again.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
    let added: Vec<&String> = again.changes.keys().filter(|path| !fixed.contains_key(*path)).collect();
    fixed.extend(again.changes.iter().map(|(path, value)| (path.clone(), Decision::Value(value.clone()))));
    for path in added {
        let Some(holder) = holder(path, &fixed) else {
            let decided = again.choices.iter().map(|choice| choice.path.as_str());
            let paths = decided.filter(|path| !Question::is_answer(path)).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "nothing was injected under {path}, nor under what it begins with; there are: {paths}"
            ));
        };
        match fixed.get(holder) {
            None | Some(Decision::Value(Recipe::Mock(_))) => {}
            Some(Decision::Value(value)) => {
                let value = bounded(&value.display());
                return Err(format!("{holder} is {value} here, which has no {path}: put object() in its place first"));
            }
            Some(_) => {
                return Err(format!("no value was injected under {holder} here: put object() in its place first"));
            }
        }
        // Objects on the way to it, and the attribute itself, are there for sure.
        let mut here = AccessPath::from(path.as_str());
        while here.as_str() != holder {
            let is_there = Question::Attribute(here).to_string();
            fixed.insert(is_there, Decision::Value(Recipe::Bool(true)));
            here = here.holder();
            let object = Decision::Value(Recipe::Mock(AbstractValue::Object));
            fixed.entry(here.as_str().to_owned()).or_insert(object);
        }
    }
    Ok(fixed)
}

/// The longest beginning of a path under which something was decided: `self.shop` of `self.shop.discount`. What decided
/// paths go on from is an object, even if it was not decided itself.
fn holder<'a>(path: &'a str, fixed: &Fixed) -> Option<&'a str> {
    if Question::is_answer(path) {
        return None;
    }
    let mut here = AccessPath::from(path);
    loop {
        let holder = here.holder();
        // A path that ends in what is no attribute, item or call looks into nothing.
        if holder.as_str().len() >= here.as_str().len() || holder.as_str().is_empty() {
            return None;
        }
        let goes_on = |path: &String| AccessPath::from(path.as_str()).beyond(holder.as_str()).is_some();
        if fixed.contains_key(holder.as_str()) || fixed.keys().any(goes_on) {
            return Some(holder.as_str());
        }
        here = holder;
    }
}

/// The predictor that the executions of a pair had.
fn predictor_of<'a>(pair: &PairReport, predictor: &'a dyn Predictor) -> &'a dyn Predictor {
    predictor.quick().filter(|quick| quick.describe() == pair.predicted_by).unwrap_or(predictor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_goes_on_from_what_was_decided() {
        let object = || Decision::Value(Recipe::Mock(AbstractValue::Object));
        let fixed: Fixed = [("self".to_owned(), object()), ("self.get('a')".to_owned(), object())].into();
        assert_eq!(holder("self.shop.discount", &fixed), Some("self"));
        assert_eq!(holder("self.get('a').b[0]", &fixed), Some("self.get('a')"));
        let of_app: Fixed = [("app.shop.name".to_owned(), object())].into();
        assert_eq!(holder("app.shop.tax.rate", &of_app), Some("app.shop"));
        assert_eq!(holder("app.shopping", &of_app), Some("app"));
        for nothing in ["other.x", "other", "self", "bool(self)", ""] {
            assert_eq!(holder(nothing, &fixed), None, "{nothing}");
        }
    }
}
