//! The values that a difference needs besides the decisive ones.
//!
//! Of two conditions either of which is enough, no value is decisive: with another value of one of them, the other condition
//! still holds. So all values that are not decisive are exchanged at once, and those among them are kept without which that
//! takes the difference away.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules, differences};
use twincell_engine::{EngineError, Executed};
use twincell_values::path::Question;
use twincell_values::value::{Choice, Decision};

use super::confirm::{again, both, repeat};
use super::decisive::{Decisive, other};
use super::{DECISIVE_BUDGET, Execute, TestCase};

/// What an execution with several other values shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Difference,
    Same,
    /// Neither version ended in a way that says something.
    Nothing,
}

/// The paths of values with which the difference stays although all others that are not decisive are exchanged at once, each
/// with one other value. Empty if it stays without them, too, if `goes_on` ends the search, or if an execution is lost.
///
/// Values that were not tried alone, or of whose exchange nothing can be said, stay as they are.
pub(super) fn needed_besides(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisive: &[Decisive],
    rules: &Rules,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<String>, EngineError> {
    let channels: BTreeSet<Channel> = witness.differences.iter().map(|difference| difference.channel).collect();
    let is_free = |path: &str| {
        decisive.iter().all(|one| one.path != path)
            && !witness.is_given(path)
            && !Question::is_about_sequence(path)
            && !matches!(Question::parse(path), Question::Injected(_))
    };
    let with_other = |choice: &Choice| Some((choice.path.clone(), other(&choice.path, &choice.decision)?));
    let tried = witness.record.choices.iter().filter_map(with_other).take(DECISIVE_BUDGET as usize);
    let free: Vec<(String, Decision)> = tried.filter(|(path, _)| is_free(path)).collect();
    // None if it has to end.
    let mut shown = |others: &[(String, Decision)]| -> Result<Option<Shown>, EngineError> {
        if !goes_on() {
            return Ok(None);
        }
        let mut fixed = repeat(&witness.record);
        fixed.extend(others.iter().cloned());
        let executed = execute.execute(vec![again(&witness.record, fixed, both())])?.pop();
        let Some(Executed::Record(record)) = executed else { return Ok(None) };
        let [old, new] = record.behaviors.as_slice() else { return Ok(None) };
        let differs = || differences(old, new, rules).iter().any(|difference| channels.contains(&difference.channel));
        Ok(Some(match old.outcome.is_valid() || new.outcome.is_valid() {
            _ if differs() => Shown::Difference,
            true => Shown::Same,
            false => Shown::Nothing,
        }))
    };
    // One alone is decisive, or it is not.
    if free.len() < 2 || shown(&free)? == Some(Shown::Difference) {
        return Ok(vec![]);
    }
    let (mut exchanged, mut needed) = (Vec::new(), Vec::new());
    // Later values are exchanged first, so that arguments stay.
    for one in free.into_iter().rev() {
        let path = one.0.clone();
        exchanged.push(one);
        match shown(&exchanged)? {
            Some(Shown::Difference) => {}
            Some(now) => {
                exchanged.pop();
                needed.extend((now == Shown::Same).then_some(path));
            }
            None => return Ok(vec![]),
        }
    }
    needed.reverse();
    Ok(needed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use twincell_engine::observed::{Behavior, Observed, Outcome};
    use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
    use twincell_values::value::Recipe;

    use super::*;

    /// Runs `if condition: return 1` against `return 2`, and `return 0` where it does not hold.
    struct Conditional<'a> {
        holds: &'a dyn Fn(&BTreeMap<String, i64>) -> Option<bool>,
    }

    impl Execute for Conditional<'_> {
        fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
            let run = |request: ExecutionRequest| {
                let number = |(path, decision): (&String, &Decision)| match decision {
                    Decision::Value(Recipe::Int(number)) => Some((path.clone(), *number)),
                    _ => None,
                };
                let numbers = request.fixed.iter().filter_map(number).collect();
                let Some(holds) = (self.holds)(&numbers) else {
                    return Executed::Lost { index: request.index, reason: "it hung".into() };
                };
                let gives = |number: i64| Behavior::new(Outcome::Returned(Observed::Int(number.to_string())));
                let behaviors = if holds { vec![gives(1), gives(2)] } else { vec![gives(0), gives(0)] };
                Executed::Record(Box::new(ExecutionRecord { behaviors, ..ExecutionRecord::default() }))
            };
            Ok(requests.into_iter().map(run).collect())
        }
    }

    fn needed(values: &[(&str, i64)], holds: &dyn Fn(&BTreeMap<String, i64>) -> Option<bool>) -> Vec<String> {
        let choice = |(path, value): &(&str, i64)| Choice {
            path: (*path).into(),
            decision: Decision::Value(Recipe::Int(*value)),
        };
        let choices: Vec<Choice> = values.iter().map(choice).collect();
        let mut execute = Conditional { holds };
        let fixed = choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
        let own = ExecutionRequest { fixed, ..ExecutionRequest::default() };
        let Some(Executed::Record(record)) = execute.execute(vec![own]).unwrap().pop() else { panic!() };
        let found = differences(&record.behaviors[0], &record.behaviors[1], &Rules::default());
        let witness = TestCase::new(ExecutionRecord { choices, ..*record }, found);
        needed_besides(&mut execute, &witness, &[], &Rules::default(), &mut || true).unwrap()
    }

    #[test]
    fn of_conditions_that_are_enough_each_one_is_needed() {
        let either = |values: &BTreeMap<String, i64>| Some(values["a"] == 6 || values["b"] == 6);
        assert_eq!(needed(&[("a", 6), ("b", 6), ("c", 6)], &either), ["a"]);
        let always = |_: &BTreeMap<String, i64>| Some(true);
        assert!(needed(&[("a", 6), ("b", 6)], &always).is_empty());
    }

    #[test]
    fn nothing_is_told_where_an_execution_is_lost() {
        let hangs = |values: &BTreeMap<String, i64>| (values["b"] == 6).then_some(values["a"] == 6 || values["c"] == 6);
        assert!(needed(&[("a", 6), ("b", 6), ("c", 6)], &hangs).is_empty());
    }
}
