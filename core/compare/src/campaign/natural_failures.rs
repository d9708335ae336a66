//! What really happens: failures of Python in place of what was invented. Nobody can see what `None.name` gives. Few programs
//! have objects that are false and hold items all the same. A call that raises is seldom why two versions differ.

use std::collections::BTreeSet;

use twincell_behavior::Channel;
use twincell_engine::EngineError;
use twincell_engine::observed::{Behavior, Outcome};
use twincell_values::path::{AccessPath, Question, bounded};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::TestCase;
use super::bisect::Search;
use super::concretize::at_objects;
use super::shrink::{changed, differing};

impl Search<'_> {
    /// The witness with real failures, as far as one version returns where the other fails by them.
    pub(super) fn really(&mut self, witness: TestCase) -> Result<TestCase, EngineError> {
        let mut best = witness;
        for operation in best.record.synthesized.clone() {
            if !best.record.synthesized.contains(&operation) {
                continue;
            }
            let found = self.failing(best.clone(), vec![failing(&operation)])?;
            // Of one value, either everything is invented or nothing.
            let of = AccessPath::new(&operation).holder();
            let is_whole = found.record.synthesized.iter().all(|other| AccessPath::new(other).holder() != of);
            best = if is_whole { found } else { best };
        }
        let raises = |choice: &Choice| matches!(choice.decision, Decision::Raise(_));
        let paths = |witness: &TestCase, passes: &dyn Fn(&Choice) -> bool| -> Vec<String> {
            witness.record.choices.iter().filter(|choice| passes(choice)).map(|choice| choice.path.clone()).collect()
        };
        for path in paths(&best, &raises) {
            let value = Decision::Value(Recipe::Mock(AbstractValue::Object));
            best = self.with_its_failures(best, (path, value))?.0;
        }
        for path in paths(&best, &|_| true) {
            for nothing in [Recipe::List(vec![]), Recipe::Dict(vec![]), Recipe::None] {
                let Some(value) = emptied(&best.record.choices, &path, &nothing) else { break };
                let (found, is_new) = self.with_its_failures(best, (path.clone(), Decision::Value(value)))?;
                best = found;
                if is_new {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// The witness with another decision and with the failures that this one leads to, and whether it is another one.
    fn with_its_failures(
        &mut self,
        witness: TestCase,
        decision: (String, Decision),
    ) -> Result<(TestCase, bool), EngineError> {
        if self.is_over() {
            return Ok((witness, false));
        }
        *self.left -= 1;
        let all = BTreeSet::from(Channel::ALL);
        let decisions = vec![decision];
        let record = differing(self.execute, &witness, decisions.clone(), &all, self.rules, self.lost)?;
        let synthesized = record.map(|record| record.synthesized).unwrap_or_default();
        let new: Vec<&String> =
            synthesized.iter().filter(|operation| !witness.record.synthesized.contains(operation)).collect();
        if new.is_empty() {
            return Ok((witness, false));
        }
        let failures = new.into_iter().map(|operation| failing(operation));
        let before = witness.record.choices.clone();
        let found = self.failing(witness, decisions.into_iter().chain(failures).collect())?;
        let is_new = found.record.choices != before;
        Ok((found, is_new))
    }

    /// The witness with decisions that let operations fail, if no more has to be invented then and one version returns. Where
    /// both fail, the order of their failures says nothing.
    fn failing(&mut self, witness: TestCase, decisions: Vec<(String, Decision)>) -> Result<TestCase, EngineError> {
        if self.is_over() {
            return Ok(witness);
        }
        *self.left -= 1;
        let channels = self.channels.iter().copied().chain([Channel::Exception]).collect();
        let found = changed(self.execute, &witness, decisions, &channels, self.rules, self.lost)?;
        let returns = |behavior: &Behavior| matches!(behavior.outcome, Outcome::Returned(_));
        let is_new = |path: &String| !witness.record.synthesized.contains(path);
        let is_real = |case: &TestCase| {
            !case.record.synthesized.iter().any(is_new)
                && case.record.choices != witness.record.choices
                && case.record.behaviors.iter().any(returns)
        };
        Ok(found.filter(is_real).unwrap_or(witness))
    }
}

/// The decision that an operation fails as it does in Python, in place of giving an invented result.
fn failing(operation: &str) -> (String, Decision) {
    (bounded(Question::Succeeds(operation.into()).to_string()), Decision::Value(Recipe::Bool(false)))
}

/// The value at a path with nothing in place of the objects that are false and of which more was read; none if there are
/// none.
fn emptied(choices: &[Choice], path: &str, nothing: &Recipe) -> Option<Recipe> {
    let choice = choices.iter().find(|choice| choice.path == path)?;
    let (Question::Value(_), Decision::Value(recipe)) = (Question::parse(path), &choice.decision) else { return None };
    let emptied = at_objects(path, recipe, &mut |path| is_false_and_read(choices, path).then(|| nothing.clone()));
    (emptied != *recipe).then_some(emptied)
}

fn is_false_and_read(choices: &[Choice], path: &str) -> bool {
    let says_false = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
        (Question::Truth(of), Decision::Value(Recipe::Bool(false)))
        | (Question::Length(of), Decision::Value(Recipe::Int(0))) => of.as_str() == path,
        _ => false,
    };
    let reads = |choice: &Choice| match Question::parse(&choice.path) {
        Question::Value(of) => of.beyond(path).is_some(),
        _ => false,
    };
    choices.iter().any(says_false) && choices.iter().any(reads)
}
