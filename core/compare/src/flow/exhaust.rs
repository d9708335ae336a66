//! Whether anything is left to try: where the annotations allow so few values that all combinations can run, they run
//! after a search that found nothing.

use twincell_behavior::differences;
use twincell_engine::protocol::{ExecutionRequest, ReplacementScope};
use twincell_engine::{EngineError, Executed};
use twincell_syntax::{CodeKind, Parameter, ParameterKind, PerSide, Side};
use twincell_values::reading::annotated_type;
use twincell_values::value::{AbstractValue, Decision, Fixed, Recipe};

use super::pair::Pair;
use crate::campaign::{self, Campaign, Execute, Plan};
use crate::reason::Support;

/// The most combinations of values that run.
const MAX_COMBINATIONS: usize = 64;

/// Runs a pair on all values that its annotations allow, if these are few and it asks for nothing else. A difference
/// becomes the campaign's witness.
pub(super) fn exhaust(
    pair: &Pair,
    execute: &mut dyn Execute,
    campaign: &mut Campaign,
    plan: &Plan,
) -> Result<(), EngineError> {
    let Some(combinations) = combinations(pair).filter(|_| !campaign.stopped_early) else { return Ok(()) };
    // To leave an argument out gives no other value.
    let count = combinations.iter().filter(|fixed| fixed.values().all(|one| *one != Decision::Default)).count();
    let requests = (plan.budget..).zip(combinations).map(|(index, fixed)| ExecutionRequest {
        index,
        seed: plan.seed,
        fixed,
        versions: vec![Side::Old.number(), Side::New.number()],
        replace: ReplacementScope::Nothing,
        given: true,
        ..ExecutionRequest::default()
    });
    let mut is_whole = true;
    for executed in execute.execute(requests.collect())? {
        let Executed::Record(record) = executed else {
            is_whole = false;
            continue;
        };
        let [old, new] = record.behaviors.as_slice() else {
            is_whole = false;
            continue;
        };
        is_whole &= record.given && old.outcome.is_valid() && new.outcome.is_valid();
        if differences(old, new, &plan.rules).is_empty() {
            continue;
        }
        is_whole = false;
        let case = campaign::examined(execute, *record, plan)?;
        if !case.differences.is_empty() && campaign.witness.is_none() {
            campaign.witness = Some(campaign.executions.len());
            campaign.executions.push(case);
        }
    }
    if is_whole {
        campaign.support = Support::Exhausted { combinations: count };
    }
    Ok(())
}

/// All combinations of the values that the parameters may have, by their old names. `None` if there are too many, or if
/// a parameter may be anything.
fn combinations(pair: &Pair) -> Option<Vec<Fixed>> {
    if pair.kind() != CodeKind::Function {
        return None;
    }
    let parameters = PerSide::of(|side| pair.versions[side].parts[0].parameters.as_slice());
    let mut combinations = vec![Fixed::new()];
    for own in parameters.new {
        let renames = &pair.diff.renames;
        let old_name = renames.iter().find(|(new, _)| *new == own.name).map_or(&own.name, |(_, old)| old);
        let other = parameters.old.iter().find(|other| other.name == *old_name)?;
        let decisions = decisions(&[other, own])?;
        if combinations.len() * decisions.len() > MAX_COMBINATIONS {
            return None;
        }
        let with = |fixed: &Fixed, decision: &Decision| {
            let mut fixed = fixed.clone();
            fixed.insert(old_name.clone(), decision.clone());
            fixed
        };
        combinations =
            combinations.iter().flat_map(|fixed| decisions.iter().map(move |decision| with(fixed, decision))).collect();
    }
    (parameters.old.len() == parameters.new.len()).then_some(combinations)
}

/// What can be decided of a parameter: all its declared values, and to leave it out.
fn decisions(versions: &[&Parameter]) -> Option<Vec<Decision>> {
    let mut found = Vec::new();
    for parameter in versions {
        if matches!(parameter.kind, ParameterKind::VarPositional | ParameterKind::VarKeyword) {
            return None;
        }
        for value in values(parameter.annotation.as_deref()?)? {
            let decision = Decision::Value(value);
            if !found.contains(&decision) {
                found.push(decision);
            }
        }
    }
    if versions.iter().all(|parameter| parameter.has_default) {
        found.push(Decision::Default);
    }
    Some(found)
}

/// The values of a type that has few.
fn values(annotation: &str) -> Option<Vec<Recipe>> {
    let declared = annotated_type(annotation)?;
    let mut values = declared.literals.clone();
    for class in &declared.classes {
        match class {
            AbstractValue::None => values.push(Recipe::None),
            AbstractValue::Bool if declared.literals.is_empty() => {
                values.extend([Recipe::Bool(false), Recipe::Bool(true)]);
            }
            class if declared.literals.iter().any(|value| value.abstract_value() == *class) => {}
            _ => return None,
        }
    }
    (!values.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_few_values_have_them_all() {
        let texts = |annotation: &str| -> Option<Vec<String>> {
            Some(values(annotation)?.iter().map(Recipe::display).map(|value| value.to_string()).collect())
        };
        assert_eq!(texts("bool").unwrap(), ["False", "True"]);
        assert_eq!(texts("bool | None").unwrap(), ["False", "True", "None"]);
        assert_eq!(texts("Literal['a', 'b']").unwrap(), ["'a'", "'b'"]);
        assert_eq!(texts("Optional[Literal[1, 2]]").unwrap(), ["1", "2", "None"]);
        assert_eq!(texts("None").unwrap(), ["None"]);
    }

    #[test]
    fn types_with_many_values_have_none() {
        for annotation in ["int", "str | None", "bool | int", "list[bool]", "Colour", "Literal[1] | str", "object"] {
            assert_eq!(values(annotation), None, "{annotation}");
        }
    }
}
