//! Which other values of a decisive input show the difference, with all else as in the witness: where old and new part.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules, bounded, differences, display_outcome};
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

/// The decisive inputs of a witness that are plain values, or its first plain one if none is decisive, each with other
/// values of its class: those of the code first (`literals`), with the numbers beside them, on both sides of a boundary. It
/// ends when `goes_on` says so, or when executions are lost.
pub fn varied(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisive: &[Decisive],
    literals: &[Recipe],
    rules: &Rules,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Varied>, EngineError> {
    let is_decisive = |choice: &&Choice| decisive.iter().any(|value| value.path == choice.path);
    let plain = || witness.record.choices.iter().filter(|choice| own(choice).is_some());
    let mut chosen: Vec<&Choice> = plain().filter(is_decisive).take(MOST_PATHS).collect();
    if decisive.is_empty() {
        chosen = plain().take(1).collect();
    }
    let channels: BTreeSet<Channel> = witness.differences.iter().map(|difference| difference.channel).collect();
    let mut found = Vec::new();
    for choice in chosen {
        let Some(own) = own(choice).filter(|_| goes_on()) else { break };
        let values = values(own, literals);
        let with = |value: &Recipe| {
            let mut fixed = repeat(&witness.record);
            fixed.insert(choice.path.clone(), Decision::Value(value.clone()));
            again(&witness.record, fixed, both())
        };
        let executed = execute.execute(values.iter().map(with).collect())?;
        let is_lost = executed.len() < values.len() || executed.iter().any(|one| matches!(one, Executed::Lost { .. }));
        let shown = values
            .iter()
            .zip(&executed)
            .filter_map(|(value, executed)| Some((value == own, report(value, executed, &channels, rules)?)));
        let (is_own, values): (Vec<bool>, Vec<VariedValue>) = shown.unzip();
        let is_shown = |(is_own, value): (&bool, &VariedValue)| *is_own && value.outcome == VariedOutcome::Differs;
        let usable = values.iter().filter(|value| value.outcome != VariedOutcome::Nothing).count();
        // Of one value alone nothing can be said.
        if usable > 1 && is_own.iter().zip(&values).any(is_shown) {
            found.push(Varied { path: choice.path.clone(), sentence: String::new(), values });
        }
        if is_lost {
            break;
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
        Recipe::Float(number) => {
            let beside = |number: f64| [number, number - 1.0, number + 1.0].map(Recipe::Float);
            tried.extend(beside(*number));
            tried.extend(literals.iter().filter_map(self::number).flat_map(beside));
            tried.extend(NUMBERS.map(|number| Recipe::Float(number as f64)));
        }
        _ => {
            let whole = |literal: &Recipe| match literal {
                Recipe::Int(number) => Some(*number),
                _ => None,
            };
            tried.extend(std::iter::once(own).chain(literals).filter_map(whole).flat_map(beside));
            tried.extend(NUMBERS.map(Recipe::Int));
        }
    }
    let mut known = BTreeSet::new();
    tried.retain(|value| known.insert(value.display()));
    tried.truncate(MOST_VALUES);
    // A stable sort, in which all others are equal.
    tried.sort_by(|one, other| match (one, other) {
        (Recipe::Int(one), Recipe::Int(other)) => one.cmp(other),
        (Recipe::Float(one), Recipe::Float(other)) => one.total_cmp(other),
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

fn report(value: &Recipe, executed: &Executed, channels: &BTreeSet<Channel>, rules: &Rules) -> Option<VariedValue> {
    let Executed::Record(record) = executed else { return None };
    let [old, new] = record.behaviors.as_slice() else { return None };
    let differs = differences(old, new, rules).iter().any(|difference| channels.contains(&difference.channel));
    let outcome = match [old, new].iter().all(|behavior| behavior.outcome.is_valid()) {
        // A failure of one version alone is a difference, too.
        _ if differs => VariedOutcome::Differs,
        true => VariedOutcome::Same,
        false => VariedOutcome::Nothing,
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
    use twincell_behavior::{Basis, Difference, EvidencePlace, Shown};
    use twincell_engine::observed::{Behavior, Observed, Outcome};
    use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};

    use super::*;

    /// Old returns 1, and new 2 below 400. At 10 both fail in a way that says nothing; at 100 the worker is lost if it may.
    struct Below {
        loses: bool,
    }

    impl Execute for Below {
        fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
            let returned = |value: i64| Behavior::new(Outcome::Returned(Observed::Int(value.to_string())));
            let failed = || {
                Behavior::new(Outcome::Raised {
                    exception: Observed::Exception { class: "TypeError".into(), arguments: vec![] },
                    intended: false,
                    line: 1,
                    message: String::new(),
                })
            };
            let run = |request: ExecutionRequest| {
                let Some(Decision::Value(Recipe::Int(x))) = request.fixed.get("x") else { panic!("{request:?}") };
                let behaviors = match x {
                    100 if self.loses => return Executed::Lost { index: request.index, reason: "gone".into() },
                    10 => vec![failed(), failed()],
                    x => vec![returned(1), returned(if *x < 400 { 2 } else { 1 })],
                };
                Executed::Record(Box::new(ExecutionRecord { behaviors, ..ExecutionRecord::default() }))
            };
            Ok(requests.into_iter().map(run).collect())
        }
    }

    fn of(loses: bool, own: i64) -> Vec<Varied> {
        let record = ExecutionRecord {
            choices: vec![Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(own)) }],
            ..ExecutionRecord::default()
        };
        let shown = |text: &str| Shown::Text(text.into());
        let difference = Difference::new(EvidencePlace::ReturnValue, shown("1"), shown("2"), Basis::Acted);
        let witness = TestCase {
            record,
            differences: vec![difference],
            new_lines: 0,
            coverage: 1.0,
            probability: 1.0,
            rests_on_text: false,
            examined: true,
            given: None,
        };
        let literals = [Recipe::Int(400)];
        varied(&mut Below { loses }, &witness, &[], &literals, &Rules::default(), &mut || true).unwrap()
    }

    #[test]
    fn values_on_both_sides_of_a_boundary_are_told_apart() {
        let found = of(false, 0);
        let outcomes: Vec<(&str, VariedOutcome)> =
            found[0].values.iter().map(|value| (value.value.as_str(), value.outcome)).collect();
        use VariedOutcome::{Differs, Nothing, Same};
        assert_eq!(
            outcomes,
            [
                ("-1", Differs),
                ("0", Differs),
                ("1", Differs),
                ("2", Differs),
                ("10", Nothing),
                ("100", Differs),
                ("399", Differs),
                ("400", Same),
                ("401", Same)
            ]
        );
        // Its own value has to differ again, and what was lost is not told.
        assert!(of(false, 400).is_empty());
        assert!(of(true, 0)[0].values.iter().all(|value| value.value != "100"));
    }

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
