//! What other values of the inputs of a witness show, with all else as in it: where old and new part, and which inputs
//! matter.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules, bounded, differences, display_outcome};
use twincell_engine::protocol::ExecutionRecord;
use twincell_engine::{EngineError, Executed};
use twincell_values::path::Question;
use twincell_values::value::{Choice, Decision, Fixed, Recipe};

use super::confirm::{again, both, repeat};
use super::contributing_inputs::needed_besides;
use super::decisive::Decisive;
use super::{Execute, TestCase};
use crate::report::{InputWeight, Varied, VariedOutcome, VariedTogether, VariedValue};

/// The maximum number of inputs that are varied, and of values of one of them.
const MOST_PATHS: usize = 3;
const MOST_VALUES: usize = 16;
/// The maximum number of values of each of two numbers that are varied together.
const MOST_TOGETHER: usize = 9;
/// The maximum number of inputs of which it is told how much they matter, and of other values of one that is not varied.
const MOST_WEIGHTS: usize = 8;
const FEW_VALUES: usize = 6;
/// The maximum number of further witnesses.
const MOST_FURTHER: usize = 3;
/// The maximum number of values of one item of a container, with its own.
const FEW_OF_ITEM: usize = 4;
/// Numbers that are tried besides those of the code and those beside the witness's own.
const NUMBERS: [i64; 6] = [0, 1, -1, 2, 10, 100];
/// Texts that are tried besides those of the code.
const TEXTS: [&str; 4] = ["", "a", "A", "0"];

/// What other values of the inputs of a witness show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variations {
    /// One decisive input at a time.
    pub varied: Vec<Varied>,
    /// Two decisive numbers at the same time.
    pub together: Option<VariedTogether>,
    /// The paths of the values that the difference needs besides the decisive ones, see [`needed_besides`].
    pub needed: Vec<String>,
    /// How often the difference goes away, the inputs first without which that is most often so.
    pub weights: Vec<InputWeight>,
    /// Executions with other values of the first input that differ as well, each with other outcomes.
    pub further: Vec<ExecutionRecord>,
}

/// Executes a witness with other values. It ends when `goes_on` says so, or when executions are lost.
///
/// The decisive inputs that are plain values, or else the first plain one, rather one that is needed besides, get many values of their class:
/// those of the code first (`literals`), with the numbers beside them, on both sides of a boundary. If two of them are
/// numbers, these are varied together as well. Other inputs, lists and dictionaries too, get a few values.
pub fn variations(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisive: &[Decisive],
    literals: &[Recipe],
    rules: &Rules,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Variations, EngineError> {
    let needed = needed_besides(execute, witness, decisive, rules, goes_on)?;
    let channels = witness.differences.iter().map(|difference| difference.channel).collect();
    let trial = &mut Trial { execute, witness, channels, rules, goes_on, is_over: false, further: vec![] };
    let is_decisive = |choice: &Choice| decisive.iter().any(|value| value.path == choice.path);
    let plain: Vec<(&Choice, &Recipe)> =
        witness.record.choices.iter().filter_map(|choice| Some((choice, own(choice)?))).collect();
    let mut chosen: Vec<(&Choice, &Recipe)> =
        plain.iter().filter(|(choice, _)| is_decisive(choice)).take(MOST_PATHS).copied().collect();
    if decisive.is_empty() {
        let is_needed = |(choice, _): &&(&Choice, &Recipe)| needed.contains(&choice.path);
        chosen = plain.iter().find(is_needed).or(plain.first()).into_iter().copied().collect();
    }
    let mut found = Variations { needed, ..Variations::default() };
    for (choice, own) in &chosen {
        trial.further.clear();
        let tried = trial.of(choice, &values(own, literals, MOST_VALUES))?;
        let values: Vec<VariedValue> = tried.iter().flat_map(|(_, shown)| shown).cloned().collect();
        // Of one value alone nothing can be said.
        let usable = values.iter().filter(|value| value.outcome != VariedOutcome::Nothing).count();
        let is_shown = tried.iter().any(|(value, shown)| {
            value == *own && shown.as_ref().is_some_and(|shown| shown.outcome == VariedOutcome::Differs)
        });
        if usable > 1 && is_shown {
            if found.varied.is_empty() {
                found.further = std::mem::take(&mut trial.further);
            }
            found.weights.extend(weight(choice, own, &tried));
            found.varied.push(Varied { path: choice.path.clone(), values });
        }
    }
    let containers = witness.record.choices.iter().filter_map(|choice| Some((choice, container(choice)?)));
    let mut further: Vec<(&Choice, &Recipe)> =
        plain.iter().filter(|one| !chosen.contains(one)).copied().chain(containers).collect();
    further.sort_by_key(|(choice, _)| !is_decisive(choice));
    for (choice, own) in further {
        if found.weights.len() < MOST_WEIGHTS {
            let others = if is_plain(own) { values(own, literals, FEW_VALUES + 1) } else { changed(own, literals) };
            found.weights.extend(weight(choice, own, &trial.of(choice, &others)?));
        }
    }
    // By the shares of what was tried, without rounding.
    found.weights.sort_by(|one, other| (other.gone * one.tried).cmp(&(one.gone * other.tried)));
    if found.weights.len() < 2 {
        found.weights.clear();
    }
    let is_number = |own: &Recipe| number(own).is_some();
    let is_varied = |choice: &Choice| found.varied.iter().any(|varied| varied.path == choice.path);
    let mut numbers = chosen.iter().filter(|(choice, own)| is_number(own) && is_varied(choice));
    if let (Some(one), Some(other)) = (numbers.next(), numbers.next()) {
        found.together = together(trial, [*one, *other], literals, &found.varied)?;
    }
    Ok(found)
}

/// What executions of a witness with other values need.
struct Trial<'a> {
    execute: &'a mut dyn Execute,
    witness: &'a TestCase,
    /// Those in which the witness differs.
    channels: BTreeSet<Channel>,
    rules: &'a Rules,
    goes_on: &'a mut dyn FnMut() -> bool,
    is_over: bool,
    /// Of the executions with other values of one input, those that differ, each with other outcomes.
    further: Vec<ExecutionRecord>,
}

impl Trial<'_> {
    /// What each of some values in place of one choice shows. Of values that were not tried, or were lost, nothing is known.
    fn of(&mut self, choice: &Choice, values: &[Recipe]) -> Result<Vec<(Recipe, Option<VariedValue>)>, EngineError> {
        let fixed = |value: &Recipe| vec![(choice.path.as_str(), value.clone())];
        let executed = self.run(values.iter().map(fixed))?;
        let mut shown = vec![];
        for (value, executed) in values.iter().zip(executed) {
            let reported = report(value, &executed, &self.channels, self.rules);
            let differs = reported.as_ref().is_some_and(|one| one.outcome == VariedOutcome::Differs);
            shown.push((value.clone(), reported));
            if let (true, Executed::Record(record)) = (differs, executed) {
                self.keep(*record);
            }
        }
        Ok(shown)
    }

    /// Keeps a further witness if none has its outcomes.
    fn keep(&mut self, record: ExecutionRecord) {
        let outcomes = |record: &ExecutionRecord| -> Vec<String> {
            record.behaviors.iter().map(|behavior| display_outcome(&behavior.outcome)).collect()
        };
        let own = outcomes(&record);
        let is_known = std::iter::once(&self.witness.record).chain(&self.further).any(|known| outcomes(known) == own);
        if !is_known && self.further.len() < MOST_FURTHER {
            self.further.push(record);
        }
    }

    /// The witness once more for each of these changes.
    fn run<'c>(&mut self, changes: impl Iterator<Item = Vec<(&'c str, Recipe)>>) -> Result<Vec<Executed>, EngineError> {
        if self.is_over || !(self.goes_on)() {
            self.is_over = true;
            return Ok(vec![]);
        }
        let with = |changes: Vec<(&str, Recipe)>| {
            let mut fixed: Fixed = repeat(&self.witness.record);
            fixed.extend(changes.into_iter().map(|(path, value)| (path.to_owned(), Decision::Value(value))));
            again(&self.witness.record, fixed, both())
        };
        let requests: Vec<_> = changes.map(with).collect();
        let count = requests.len();
        let executed = self.execute.execute(requests)?;
        self.is_over = executed.len() < count || executed.iter().any(|one| matches!(one, Executed::Lost { .. }));
        Ok(executed)
    }
}

/// How often the difference goes away with another value than the witness's own. None if no other value says anything.
fn weight(choice: &Choice, own: &Recipe, tried: &[(Recipe, Option<VariedValue>)]) -> Option<InputWeight> {
    let others = || tried.iter().filter(|(value, _)| value != own).filter_map(|(_, shown)| shown.as_ref());
    let count = |wanted: VariedOutcome| others().filter(|shown| shown.outcome == wanted).count() as u32;
    let gone = count(VariedOutcome::Same);
    let tried = gone + count(VariedOutcome::Differs);
    (tried > 0).then(|| InputWeight { path: choice.path.clone(), tried, gone })
}

/// Two numbers varied at the same time. None if not all pairs of values could be tried, or if all show the same.
fn together(
    trial: &mut Trial<'_>,
    inputs: [(&Choice, &Recipe); 2],
    literals: &[Recipe],
    varied: &[Varied],
) -> Result<Option<VariedTogether>, EngineError> {
    let [(one, first), (other, second)] = inputs;
    let rows = axis(first, second, literals, of_path(varied, &one.path));
    let columns = axis(second, first, literals, of_path(varied, &other.path));
    let mut outcomes = vec![];
    for row in &rows {
        let pair = |column: &Recipe| vec![(one.path.as_str(), row.clone()), (other.path.as_str(), column.clone())];
        let executed = trial.run(columns.iter().map(pair))?;
        if trial.is_over {
            return Ok(None);
        }
        let shown = columns.iter().zip(&executed);
        let outcome = |(value, executed)| report(value, executed, &trial.channels, trial.rules).map(|one| one.outcome);
        outcomes.push(shown.map(|one| outcome(one).unwrap_or(VariedOutcome::Nothing)).collect::<Vec<_>>());
    }
    let has = |wanted: VariedOutcome| outcomes.iter().flatten().any(|outcome| *outcome == wanted);
    if !has(VariedOutcome::Differs) || !has(VariedOutcome::Same) {
        return Ok(None);
    }
    let display = |values: &[Recipe]| values.iter().map(|value| bounded(&value.display())).collect();
    Ok(Some(VariedTogether {
        paths: [one.path.clone(), other.path.clone()],
        values: [display(&rows), display(&columns)],
        outcomes,
    }))
}

fn of_path<'a>(varied: &'a [Varied], path: &str) -> &'a [VariedValue] {
    varied.iter().find(|one| one.path == path).map_or(&[], |one| &one.values)
}

/// The values of a number that is varied together with another one, ascending: its own and the other's, both with the
/// numbers beside them, since a boundary may lie where the two are equal; those on both sides of a boundary that it has by
/// itself; and further ones.
fn axis(own: &Recipe, other: &Recipe, literals: &[Recipe], varied: &[VariedValue]) -> Vec<Recipe> {
    let further = values(own, literals, MOST_VALUES);
    let with_number = |wanted: Option<f64>| further.iter().find(|value| number(value) == wanted);
    let boundaries = varied.windows(2).filter(|pair| pair[0].outcome != pair[1].outcome).flatten();
    let mut tried = vec![own.clone()];
    tried.extend(boundaries.filter_map(|value| with_number(value.number)).cloned());
    tried.extend(around(own, own));
    tried.extend(around(own, other));
    tried.extend(further.iter().cloned());
    distinct(&mut tried, MOST_TOGETHER);
    tried
}

/// A number and the two beside it, as values of the class of `like`.
fn around(like: &Recipe, of: &Recipe) -> Vec<Recipe> {
    match (like, of) {
        (Recipe::Int(_), Recipe::Int(of)) => {
            [*of, of.saturating_sub(1), of.saturating_add(1)].map(Recipe::Int).to_vec()
        }
        (Recipe::Float(_), of) => number(of).map_or(vec![], |of| [of, of - 1.0, of + 1.0].map(Recipe::Float).to_vec()),
        _ => vec![],
    }
}

/// The first of these values, each once; then numbers in their order, and others as they come.
fn distinct(values: &mut Vec<Recipe>, most: usize) {
    let mut known = BTreeSet::new();
    values.retain(|value| known.insert(value.display()));
    values.truncate(most);
    // A stable sort, in which all others are equal.
    values.sort_by(|one, other| match (one, other) {
        (Recipe::Int(one), Recipe::Int(other)) => one.cmp(other),
        (Recipe::Float(one), Recipe::Float(other)) => one.total_cmp(other),
        _ => std::cmp::Ordering::Equal,
    });
}

/// The value of a choice, if other plain values can stand in its place.
fn own(choice: &Choice) -> Option<&Recipe> {
    let Decision::Value(recipe) = &choice.decision else { return None };
    Some(recipe).filter(|_| is_plain(recipe) && matches!(Question::parse(&choice.path), Question::Value(_)))
}

fn is_plain(recipe: &Recipe) -> bool {
    matches!(recipe, Recipe::Bool(_) | Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_))
}

/// The value of a choice that is a list, a tuple or a dictionary.
fn container(choice: &Choice) -> Option<&Recipe> {
    let Decision::Value(recipe) = &choice.decision else { return None };
    let is_container = matches!(recipe, Recipe::List(_) | Recipe::Tuple(_) | Recipe::Dict(_));
    Some(recipe).filter(|_| is_container && matches!(Question::parse(&choice.path), Question::Value(_)))
}

/// Other values of a container: the empty one, and those with another value in one of its plain places.
fn changed(own: &Recipe, literals: &[Recipe]) -> Vec<Recipe> {
    let items: Vec<Recipe> = match own {
        Recipe::List(items) | Recipe::Tuple(items) => items.clone(),
        Recipe::Dict(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
        _ => return vec![],
    };
    let with = |values: Vec<Recipe>| match own {
        Recipe::Dict(entries) => Recipe::Dict(entries.iter().map(|(key, _)| key.clone()).zip(values).collect()),
        Recipe::Tuple(_) => Recipe::Tuple(values),
        _ => Recipe::List(values),
    };
    let mut tried = vec![with(vec![])];
    for (place, item) in items.iter().enumerate().filter(|(_, item)| is_plain(item)) {
        for value in values(item, literals, FEW_OF_ITEM).into_iter().filter(|value| value != item) {
            let mut changed = items.clone();
            changed[place] = value;
            tried.push(with(changed));
        }
    }
    tried.retain(|value| value != own);
    distinct(&mut tried, FEW_VALUES);
    tried
}

/// Values to try in place of one, which is among them.
fn values(own: &Recipe, literals: &[Recipe], most: usize) -> Vec<Recipe> {
    let mut tried: Vec<Recipe> = vec![own.clone()];
    match own {
        Recipe::Bool(value) => tried.push(Recipe::Bool(!value)),
        Recipe::Str(_) => {
            tried.extend(literals.iter().filter(|literal| matches!(literal, Recipe::Str(_))).cloned());
            tried.extend(TEXTS.map(|text| Recipe::Str(text.into())));
        }
        _ => {
            tried.extend(std::iter::once(own).chain(literals).flat_map(|of| around(own, of)));
            let is_float = matches!(own, Recipe::Float(_));
            let further = |number: i64| if is_float { Recipe::Float(number as f64) } else { Recipe::Int(number) };
            tried.extend(NUMBERS.map(further));
        }
    }
    distinct(&mut tried, most);
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
    let is_valid = [old, new].iter().all(|behavior| behavior.outcome.is_valid());
    // Besides what differs in the witness, all that callers see, unless the values may be to blame. Calls of unknown code
    // are weak evidence by themselves.
    let counts = |channel: Channel| channels.contains(&channel) || is_valid && channel != Channel::Calls;
    let outcome = if differences(old, new, rules).iter().any(|difference| counts(difference.channel)) {
        VariedOutcome::Differs
    } else if is_valid {
        VariedOutcome::Same
    } else {
        VariedOutcome::Nothing
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
    use twincell_engine::protocol::ExecutionRequest;

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

    /// A witness whose results differ.
    fn witness(choices: Vec<Choice>) -> TestCase {
        let shown = |text: &str| Shown::Text(text.into());
        TestCase {
            record: ExecutionRecord { choices, ..ExecutionRecord::default() },
            differences: vec![Difference::new(EvidencePlace::ReturnValue, shown("1"), shown("2"), Basis::SideEffect)],
            new_lines: 0,
            coverage: 1.0,
            probability: 1.0,
            rests_on_text: false,
            rests_on_objects: false,
            examined: true,
            given: None,
        }
    }

    fn of(loses: bool, own: i64) -> Vec<Varied> {
        let witness = witness(vec![Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(own)) }]);
        let literals = [Recipe::Int(400)];
        let found =
            variations(&mut Below { loses }, &witness, &[], &literals, &Rules::default(), &mut || true).unwrap();
        // It has one input, so there is nothing to weigh.
        assert!(found.weights.is_empty() && found.together.is_none());
        found.varied
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
    fn containers_change_in_one_plain_place() {
        let key = || Recipe::Str("k".into());
        let shown = |own: Recipe| -> Vec<String> { changed(&own, &[]).iter().map(Recipe::display).collect() };
        assert_eq!(shown(Recipe::Dict(vec![(key(), Recipe::Int(0))])), ["{}", "{'k': -1}", "{'k': 1}", "{'k': 2}"]);
        assert_eq!(shown(Recipe::Tuple(vec![Recipe::Bool(true), Recipe::None])), ["()", "(False, None)"]);
        assert!(shown(Recipe::List(vec![])).is_empty());
    }

    #[test]
    fn numbers_lie_on_both_sides_of_those_of_the_code() {
        let shown = |own: Recipe, literals: &[Recipe]| -> Vec<String> {
            values(&own, literals, MOST_VALUES).iter().map(Recipe::display).collect()
        };
        assert_eq!(shown(Recipe::Int(0), &[Recipe::Int(400)]), ["-1", "0", "1", "2", "10", "100", "399", "400", "401"]);
        assert_eq!(shown(Recipe::Bool(true), &[Recipe::Int(4)]), ["True", "False"]);
        let texts = [Recipe::Str("json".into()), Recipe::Int(4)];
        assert_eq!(shown(Recipe::Str("x".into()), &texts), ["'x'", "'json'", "''", "'a'", "'A'", "'0'"]);
    }

    /// Old returns whether the first number is below the second, and new whether it is at most that; a third number has no say.
    struct AtMost;

    impl Execute for AtMost {
        fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
            let run = |request: ExecutionRequest| {
                let number = |path: &str| match request.fixed.get(path) {
                    Some(Decision::Value(Recipe::Int(number))) => *number,
                    other => panic!("{other:?}"),
                };
                let returned = |value: bool| Behavior::new(Outcome::Returned(Observed::Bool(value)));
                let (x, y) = (number("x"), number("y"));
                let behaviors = vec![returned(x < y), returned(x <= y)];
                Executed::Record(Box::new(ExecutionRecord { behaviors, ..ExecutionRecord::default() }))
            };
            Ok(requests.into_iter().map(run).collect())
        }
    }

    #[test]
    fn two_numbers_are_varied_together_and_inputs_weighed() {
        let input =
            |path: &str, value: i64| Choice { path: path.into(), decision: Decision::Value(Recipe::Int(value)) };
        let choices = vec![input("z", 5), input("x", 3), input("y", 3)];
        let witness = witness(choices);
        let decisive = ["x", "y"].map(|path| Decisive { path: path.into(), probability: 1.0 });
        let run = |goes_on: &mut dyn FnMut() -> bool| {
            variations(&mut AtMost, &witness, &decisive, &[], &Rules::default(), goes_on).unwrap()
        };
        let found = run(&mut || true);
        let together = found.together.unwrap();
        assert_eq!(together.paths, ["x", "y"]);
        // They differ where both are equal, and nowhere else.
        for (value, row) in together.values[0].iter().zip(&together.outcomes) {
            for (other, outcome) in together.values[1].iter().zip(row) {
                assert_eq!(*outcome == VariedOutcome::Differs, value == other, "{value} {other}");
            }
        }
        let weights: Vec<_> = found.weights.iter().map(|one| (one.path.as_str(), one.gone == one.tried)).collect();
        assert_eq!(weights, [("x", true), ("y", true), ("z", false)]);
        assert_eq!(found.weights[2].gone, 0);
        // What is not tried to its end is not told.
        let mut left = 3;
        let few = run(&mut || {
            left -= 1;
            left >= 0
        });
        assert!(few.together.is_none() && few.varied.len() == 2);
    }
}
