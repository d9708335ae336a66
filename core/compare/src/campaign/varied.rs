//! Which other values of a decisive input show the difference, with all else as in the witness: where old and new part.

use std::collections::BTreeSet;

use twincell_behavior::{Rules, bounded, differences, display_outcome};
use twincell_engine::{EngineError, Executed};
use twincell_values::path::Question;
use twincell_values::value::{Choice, Decision, Recipe};

use super::causes::Decisive;
use super::confirm::{again, both, repeat};
use super::{Execute, TestCase};
use crate::report::{Varied, VariedOutcome, VariedValue};

/// The maximum number of inputs that are varied, and of values of one of them.
const MOST_PATHS: usize = 3;
const MOST_VALUES: usize = 16;
/// Numbers that are tried besides those of the code and those beside the witness's own.
const NUMBERS: [i64; 6] = [0, 1, -1, 2, 10, 100];
/// Texts that are tried besides those of the code.
const TEXTS: [&str; 4] = ["", "a", "A", "0"];

/// The decisive inputs of a witness that are plain values, or its first plain ones if none is decisive, each with other
/// values of its class: those of the code first (`literals`), with the numbers beside them, on both sides of a boundary.
pub fn varied(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisive: &[Decisive],
    literals: &[Recipe],
    rules: &Rules,
) -> Result<Vec<Varied>, EngineError> {
    let is_decisive = |choice: &&Choice| decisive.iter().any(|value| value.path == choice.path);
    let plain = || witness.record.choices.iter().filter(|choice| own(choice).is_some());
    let mut chosen: Vec<&Choice> = plain().filter(is_decisive).take(MOST_PATHS).collect();
    if decisive.is_empty() {
        chosen = plain().take(1).collect();
    }
    let mut found = Vec::new();
    for choice in chosen {
        let values = own(choice).map(|own| values(own, literals)).unwrap_or_default();
        let with = |value: &Recipe| {
            let mut fixed = repeat(&witness.record);
            fixed.insert(choice.path.clone(), Decision::Value(value.clone()));
            again(&witness.record, fixed, both())
        };
        let executed = execute.execute(values.iter().map(with).collect())?;
        let values = values.iter().zip(&executed).filter_map(|(value, executed)| report(value, executed, rules));
        let values: Vec<VariedValue> = values.collect();
        // Of one value alone nothing can be said.
        if values.len() > 1 {
            found.push(Varied { path: choice.path.clone(), sentence: String::new(), values });
        }
    }
    Ok(found)
}

/// The value of a choice, if other plain values can stand in its place.
fn own(choice: &Choice) -> Option<&Recipe> {
    let Decision::Value(recipe) = &choice.decision else { return None };
    let is_plain = matches!(recipe, Recipe::Bool(_) | Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_));
    Some(recipe).filter(|_| is_plain && matches!(Question::parse(&choice.path), Question::Value(_)))
}

/// Values to try in place of one, which is among them: numbers in their order, others as they come.
fn values(own: &Recipe, literals: &[Recipe]) -> Vec<Recipe> {
    let beside = |number: i64| [number, number.saturating_sub(1), number.saturating_add(1)].map(Recipe::Int);
    let mut tried: Vec<Recipe> = vec![own.clone()];
    match own {
        Recipe::Bool(value) => tried.push(Recipe::Bool(!value)),
        Recipe::Str(_) => {
            tried.extend(literals.iter().filter(|literal| matches!(literal, Recipe::Str(_))).cloned());
            tried.extend(TEXTS.map(|text| Recipe::Str(text.into())));
        }
        _ => {
            if let Recipe::Int(number) = own {
                tried.extend(beside(*number));
            }
            for literal in literals {
                match literal {
                    Recipe::Int(number) => tried.extend(beside(*number)),
                    Recipe::Float(_) => tried.push(literal.clone()),
                    _ => {}
                }
            }
            tried.extend(NUMBERS.map(Recipe::Int));
        }
    }
    let mut known = BTreeSet::new();
    tried.retain(|value| known.insert(value.display()));
    tried.truncate(MOST_VALUES);
    // A stable sort, in which all others are equal.
    tried.sort_by(|one, other| match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => std::cmp::Ordering::Equal,
    });
    tried
}

fn number(value: &Recipe) -> Option<f64> {
    match value {
        Recipe::Int(number) => Some(*number as f64),
        Recipe::Float(number) => Some(*number),
        _ => None,
    }
}

fn report(value: &Recipe, executed: &Executed, rules: &Rules) -> Option<VariedValue> {
    let Executed::Record(record) = executed else { return None };
    let [old, new] = record.behaviors.as_slice() else { return None };
    let is_usable = [old, new].iter().all(|behavior| behavior.outcome.is_valid());
    let outcome = match (is_usable, differences(old, new, rules).is_empty()) {
        (false, _) => VariedOutcome::Nothing,
        (true, true) => VariedOutcome::Same,
        (true, false) => VariedOutcome::Differs,
    };
    Some(VariedValue {
        value: bounded(&value.display()),
        number: number(value),
        outcome,
        old: display_outcome(&old.outcome),
        new: display_outcome(&new.outcome),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_on_both_sides_of_those_of_the_code() {
        let shown = |own: Recipe, literals: &[Recipe]| -> Vec<String> {
            values(&own, literals).iter().map(Recipe::display).collect()
        };
        assert_eq!(shown(Recipe::Int(0), &[Recipe::Int(400)]), ["-1", "0", "1", "2", "10", "100", "399", "400", "401"]);
        assert_eq!(shown(Recipe::Bool(true), &[Recipe::Int(4)]), ["True", "False"]);
        let texts = [Recipe::Str("json".into()), Recipe::Int(4)];
        assert_eq!(shown(Recipe::Str("x".into()), &texts), ["'x'", "'json'", "''", "'a'", "'A'", "'0'"]);
    }
}
