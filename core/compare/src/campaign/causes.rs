//! What a confirmed difference rests on.
//!
//! It is found by running the execution again with other values, never by reading texts. A difference rests on unknown
//! answers if it changes with the results of unknown calls that only one version makes. It rests on an *exchange* if it
//! disappears once the calls of both versions give the same answers. It rests on neither if it shows what one and the same
//! unknown callable made of other values: the caller gets something else.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use twincell_behavior::{Basis, Difference, Displayed, Rules, differences, with_values};
use twincell_engine::observed::{Behavior, Call, Observed};
use twincell_engine::protocol::ExecutionRecord;
use twincell_engine::{EngineError, Executed};
use twincell_syntax::PerSide;
use twincell_values::drawing::Orders;
use twincell_values::path::{AccessPath, mentions};
use twincell_values::reading::written_value;
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::Execute;
use super::confirm::{Confirmed, again, both, repeat};
use super::decisive::other;

/// Numbers that replace the objects of a calculation.
const NUMBERS: [[i64; 4]; 3] = [[3, 5, 7, 11], [12, 2, 9, 4], [-4, 10, 1, -3]];

/// Determines what each difference of a confirmed execution rests on.
pub(super) fn classify_basis(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    confirmed: Confirmed,
    rules: &Rules,
) -> Result<Vec<Difference>, EngineError> {
    let Confirmed { mut differences, exclusive: PerSide { old, new }, .. } = confirmed;
    calculate(execute, record, &mut differences, rules)?;
    tell_equals(record, &mut differences, rules);
    if old.is_empty() && new.is_empty() {
        return Ok(differences);
    }
    let decision = |path: &str| record.choices.iter().find(|choice| choice.path == path).map(|choice| &choice.decision);
    let plain = Decision::Value(Recipe::Int(7));
    // With other answers: does the difference follow them? Whether an object is true is drawn.
    let is_object = |decision: &Decision| matches!(decision, Decision::Value(Recipe::Mock(_)));
    let mut varied = repeat(record);
    for path in old.iter().chain(&new) {
        let varied_decision = decision(path)
            .and_then(|decision| other(path, decision))
            .filter(|exchanged| !is_object(exchanged))
            .unwrap_or_else(|| plain.clone());
        varied.insert(path.clone(), varied_decision);
    }
    // With equal answers: does it disappear?
    let mut unified = repeat(record);
    for (at, path) in new.iter().enumerate() {
        let counterpart = old.get(at).or(old.last());
        let same = counterpart.and_then(|path| decision(path)).filter(|decision| {
            !matches!(decision, Decision::Value(Recipe::Mock(_))) && matches!(decision, Decision::Value(_))
        });
        unified.insert(path.clone(), same.unwrap_or(&plain).clone());
        if let Some(counterpart) = counterpart.filter(|_| same.is_none()) {
            unified.insert(counterpart.clone(), plain.clone());
        }
    }
    // With an object from each call that both versions make, though with other values: does the difference show it?
    let built = builders(record, &PerSide::new(&old[..], &new[..]));
    let mut objects = repeat(record);
    for path in old.iter().chain(&new).filter(|_| !built.is_empty()) {
        let of_builder = built.iter().any(|pair| pair.iter().any(|built| *built == path.as_str()));
        let object = Decision::Value(Recipe::Mock(AbstractValue::Object));
        objects.insert(path.clone(), if of_builder { object } else { plain.clone() });
    }
    let mut requests = vec![again(record, varied, both()), again(record, unified, both())];
    requests.extend((!built.is_empty()).then(|| again(record, objects, both())));
    let mut found = execute.execute(requests)?.into_iter().map(|executed| shown(&executed, rules));
    let varied = found.next().flatten();
    let unified = found.next().flatten();
    let objects = found.next().flatten().unwrap_or_default();
    for difference in &mut differences {
        let shows = |pair: &PerSide<&str>| {
            let holds = |one: &Difference| one.old.holds_object(pair.old) && one.new.holds_object(pair.new);
            objects.iter().any(|one| one.place == difference.place && holds(one))
        };
        if built.iter().any(shows) {
            continue;
        }
        let stays = match &varied {
            Some(found) => found.iter().any(|other| {
                (other.channel, &other.old, &other.new) == (difference.channel, &difference.old, &difference.new)
            }),
            // Nothing is known about it except what it shows.
            None => !old
                .iter()
                .chain(&new)
                .any(|path| difference.displayed().any(|shown| shown.of_program().any(|part| part.contains(path)))),
        };
        if stays {
            continue;
        }
        let goes = |found: &Vec<Difference>| found.iter().all(|other| other.channel != difference.channel);
        let exchanged = !old.is_empty() && !new.is_empty() && unified.as_ref().is_some_and(goes);
        difference.basis = difference.basis.min(if exchanged { Basis::DifferentQueries } else { Basis::OneSidedQuery });
    }
    Ok(differences)
}

/// The calls of unknown code that both versions make with as many arguments and the same keywords, but with other
/// values: the paths of their results. Whatever such a call builds, it builds something else.
fn builders<'a>(record: &ExecutionRecord, exclusive: &PerSide<&'a [String]>) -> Vec<PerSide<&'a str>> {
    let [old, new] = record.behaviors.as_slice() else { return vec![] };
    let alike = |callee: &str| {
        let keywords = |call: &Call| call.keywords.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
        let shape = |call: &Call| (call.arguments.len(), keywords(call));
        let of = |behavior: &Behavior| -> Vec<_> {
            behavior.calls.iter().filter(|call| call.callee == callee).map(shape).collect()
        };
        let (old, new) = (of(old), of(new));
        old.iter().any(|shape| new.contains(shape))
    };
    let callee = |path: &'a str| AccessPath::new(path).split_call().map(|(callee, _)| callee.as_str());
    let mut found = Vec::new();
    for path in exclusive.old {
        let Some(name) = callee(path).filter(|name| alike(name)) else { continue };
        let others = exclusive.new.iter().filter(|other| callee(other.as_str()) == Some(name));
        found.extend(others.map(|other| PerSide::new(path.as_str(), other.as_str())));
    }
    found
}

/// Results that were calculated from objects are texts: `<(x * 2)>`, `<(x + x)>`. Where they differ, numbers replace
/// the objects, since a difference in the texts alone does not count.
fn calculate(
    execute: &mut dyn Execute,
    record: &ExecutionRecord,
    differences: &mut [Difference],
    rules: &Rules,
) -> Result<(), EngineError> {
    let texts: Vec<String> = differences
        .iter()
        .filter(|difference| is_calculated(difference))
        .flat_map(|difference| difference.displayed().flat_map(Displayed::of_program).map(str::to_owned))
        .collect();
    if texts.is_empty() {
        return Ok(());
    }
    // What stands in the path of another value is no operand.
    let mut paths: Vec<&str> = record.choices.iter().map(|choice| choice.path.as_str()).collect();
    paths.retain(|path| path.contains(['(', '[']));
    paths.sort_by_key(|path| Reverse(path.len()));
    let without_paths = |text: &String| paths.iter().fold(text.clone(), |text, path| text.replace(path, ""));
    let operands: Vec<String> = texts.iter().map(without_paths).collect();
    let holds_operands = |choice: &Choice| {
        let Decision::Value(recipe) = &choice.decision else { return false };
        holds_objects(recipe) && texts.iter().any(|text| mentions(text, &choice.path))
    };
    let whole = record.choices.iter().any(holds_operands).then_some(Operand::Whole);
    for operand in [Some(Operand::Inside), whole].into_iter().flatten() {
        let requests: Vec<_> = NUMBERS
            .iter()
            .map(|numbers| {
                let mut numbers = numbers.iter().cycle();
                let mut next = || numbers.next().copied().unwrap_or_default();
                let mut fixed = repeat(record);
                for choice in &record.choices {
                    if let Decision::Value(recipe) = &choice.decision
                        && let Some(value) = calculated(&texts, &operands, &choice.path, recipe, operand, &mut next)
                    {
                        fixed.insert(choice.path.clone(), Decision::Value(value));
                    }
                }
                again(record, fixed, both())
            })
            .collect();
        let outcomes: Vec<Vec<Difference>> = execute
            .execute(requests)?
            .iter()
            .filter(|executed| matches!(executed, Executed::Record(now) if now.invented() <= record.invented()))
            .filter(|executed| ends_usably(executed))
            .filter_map(|executed| shown(executed, rules))
            .collect();
        if outcomes.len() < 2 {
            continue;
        }
        for difference in differences.iter_mut().filter(|difference| is_calculated(difference)) {
            let stays = |found: &Vec<Difference>| found.iter().any(|other| other.channel == difference.channel);
            if !outcomes.iter().any(stays) {
                difference.basis = difference.basis.min(Basis::FormattingOnly);
            }
        }
        return Ok(());
    }
    Ok(())
}

/// Notes the differences that go when of values which are equal, as was decided when the code compared them, all are the
/// same one: `max(x, y)` may give `x` or `y` where `x == y`.
fn tell_equals(record: &ExecutionRecord, known: &mut [Difference], rules: &Rules) {
    let [old, new] = record.behaviors.as_slice() else { return };
    let mut orders = Orders::default();
    record.choices.iter().for_each(|choice| orders.note(&choice.path, &choice.decision));
    let plain = |text: &str| match written_value(text)? {
        Recipe::None => Some(Observed::None),
        Recipe::Bool(flag) => Some(Observed::Bool(flag)),
        Recipe::Int(number) => Some(Observed::Int(number.to_string())),
        Recipe::Float(number) => Some(Observed::Float(format!("{number:?}"))),
        Recipe::Str(text) => Some(Observed::Str(text)),
        _ => None,
    };
    let first = |path: AccessPath<'_>| {
        let equal = orders.equals(path.as_str());
        let object = || {
            let path = equal.iter().min()?;
            Some(Observed::Injected { path: (*path).into(), assigned: vec![] })
        };
        equal.iter().find_map(|text| plain(text)).or_else(object)
    };
    let PerSide { old, new } = PerSide::new(old, new).map(|behavior| with_values(behavior, &first));
    let found = differences(&old, &new, rules);
    for difference in known {
        if found.iter().all(|other| other.channel != difference.channel) {
            difference.basis = difference.basis.min(Basis::Equal);
        }
    }
}

/// Where the numbers go if the value at a path is a container that holds objects.
#[derive(Clone, Copy)]
enum Operand {
    /// In place of the objects in it: `x[0] * 2`.
    Inside,
    /// In place of the container: `[<object>] - b`, which no list of numbers supports.
    Whole,
}

/// Whether it contains a result that was calculated from objects.
pub(super) fn is_calculated(difference: &Difference) -> bool {
    difference.displayed().any(Displayed::is_calculated)
}

fn ends_usably(executed: &Executed) -> bool {
    let Executed::Record(record) = executed else { return false };
    record.behaviors.iter().all(|behavior| behavior.outcome.is_valid())
}

/// A number for an operand of a calculation: an object, or a plain value that is not a number. `operands`: the texts without
/// the paths of values.
fn calculated(
    texts: &[String],
    operands: &[String],
    path: &str,
    recipe: &Recipe,
    operand: Operand,
    number: &mut dyn FnMut() -> i64,
) -> Option<Recipe> {
    if texts.iter().any(|text| mentions(text, path)) {
        let exchanged = match operand {
            Operand::Whole if holds_objects(recipe) => Recipe::Int(number()),
            Operand::Inside | Operand::Whole => with_numbers(recipe, number),
        };
        // A plain value whose text happens to be its path is one of those below.
        if exchanged != *recipe {
            return Some(exchanged);
        }
    }
    let is_number = matches!(recipe, Recipe::Int(_) | Recipe::Float(_) | Recipe::Bool(_));
    let written = in_order(recipe).display();
    (!is_number && operands.iter().any(|text| text.contains(&written))).then(|| Recipe::Int(number()))
}

/// The value as texts show it: with the members of a set in order.
fn in_order(recipe: &Recipe) -> Recipe {
    let mut shown = recipe.clone();
    if let Recipe::Set(members) = &mut shown {
        members.sort_by_cached_key(Recipe::display);
    }
    shown
}

/// Whether it is a container that holds objects.
fn holds_objects(recipe: &Recipe) -> bool {
    let is_object = |item: &Recipe| matches!(item, Recipe::Mock(_)) || holds_objects(item);
    match recipe {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().any(is_object),
        Recipe::Dict(entries) => entries.iter().any(|(_, value)| is_object(value)),
        _ => false,
    }
}

/// The value with numbers in place of objects.
fn with_numbers(recipe: &Recipe, next: &mut dyn FnMut() -> i64) -> Recipe {
    let mut all = |items: &[Recipe]| items.iter().map(|item| with_numbers(item, next)).collect();
    match recipe {
        Recipe::Mock(_) => Recipe::Int(next()),
        Recipe::List(items) => Recipe::List(all(items)),
        Recipe::Tuple(items) => Recipe::Tuple(all(items)),
        Recipe::Dict(entries) => {
            Recipe::Dict(entries.iter().map(|(key, value)| (key.clone(), with_numbers(value, next))).collect())
        }
        other => other.clone(),
    }
}

/// The differences of an execution that says something; `None` for one that does not.
fn shown(executed: &Executed, rules: &Rules) -> Option<Vec<Difference>> {
    let Executed::Record(record) = executed else { return None };
    match record.behaviors.as_slice() {
        [old, new] if old.outcome.is_valid() || new.outcome.is_valid() => Some(differences(old, new, rules)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Outcome;
    use twincell_engine::protocol::ExecutionRequest;
    use twincell_values::value::AbstractValue;

    #[test]
    fn which_of_equal_values_is_given_is_a_difference_of_its_own() {
        let object = |path: &str| Observed::Injected { path: path.into(), assigned: vec![] };
        let basis = |orders: &[(&str, i64)], old: Observed, new: Observed| {
            let choice = |(path, order): &(&str, i64)| Choice {
                path: (*path).into(),
                decision: Decision::Value(Recipe::Int(*order)),
            };
            let behaviors = [old, new].map(|value| Behavior::new(Outcome::Returned(value)));
            let mut found = differences(&behaviors[0], &behaviors[1], &Rules::default());
            let choices = orders.iter().map(choice).collect();
            let record = ExecutionRecord { choices, behaviors: behaviors.into(), ..ExecutionRecord::default() };
            tell_equals(&record, &mut found, &Rules::default());
            found[0].basis
        };
        let two = || Observed::Int("2".into());
        assert_eq!(basis(&[("order(x, 2)", 1)], object("x"), two()), Basis::Equal);
        assert_eq!(basis(&[("order(x, 2)", 2)], object("x"), two()), Basis::Observable);
        assert_eq!(basis(&[("order(x, y)", 1), ("order(y, z)", 1)], object("x"), object("z")), Basis::Equal);
        let pair = |first: Observed| Observed::List(vec![first, Observed::None]);
        assert_eq!(basis(&[("order(x, 2)", 1)], pair(object("x")), pair(two())), Basis::Equal);
        assert_eq!(basis(&[("order(x, 2)", 1)], pair(object("x")), pair(Observed::Int("3".into()))), Basis::Observable);
    }

    /// Loses a request with a container. Otherwise both versions return the same number.
    struct WithoutContainers;

    impl Execute for WithoutContainers {
        fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
            let executed = |request: ExecutionRequest| {
                let holds = |decision: &Decision| matches!(decision, Decision::Value(Recipe::List(_)));
                if request.fixed.values().any(holds) {
                    return Executed::Lost { index: request.index, reason: String::new() };
                }
                let number = Behavior::new(Outcome::Returned(Observed::Int("1".into())));
                let behaviors = vec![number.clone(), number];
                Executed::Record(Box::new(ExecutionRecord { behaviors, ..ExecutionRecord::default() }))
            };
            Ok(requests.into_iter().map(executed).collect())
        }
    }

    #[test]
    fn a_container_in_a_calculation_gives_way_to_a_number_beside_values_that_are_none() {
        let result = |path: &str| Observed::Injected { path: path.into(), assigned: vec![] };
        let behaviors = ["(a * 2)", "(a + a)"].map(|path| Behavior::new(Outcome::Returned(result(path))));
        let rules = Rules::default();
        let mut found = differences(&behaviors[0], &behaviors[1], &rules);
        let list = Recipe::List(vec![Recipe::Mock(AbstractValue::Object)]);
        let choices = [("a", list), ("n", Recipe::Int(1))]
            .map(|(path, value)| Choice { path: path.into(), decision: Decision::Value(value) });
        let record =
            ExecutionRecord { choices: choices.into(), behaviors: behaviors.into(), ..ExecutionRecord::default() };
        assert_eq!(found[0].basis, Basis::Observable);
        calculate(&mut WithoutContainers, &record, &mut found, &rules).unwrap();
        assert_eq!(found[0].basis, Basis::FormattingOnly);
    }

    #[test]
    fn what_a_calculation_has_as_its_operand_gives_way_to_a_number() {
        let object = || Recipe::Mock(AbstractValue::Object);
        let texts = ["<([<a[0]>] - b)>".to_owned()];
        let of = |path: &str, recipe: Recipe, operand| calculated(&texts, &texts, path, &recipe, operand, &mut || 3);
        for operand in [Operand::Inside, Operand::Whole] {
            assert_eq!(of("b", object(), operand), Some(Recipe::Int(3)));
            assert_eq!(of("c", object(), operand), None);
        }
        let texts_of_set = ["<({0, 1} - b)>".to_owned()];
        let set = Recipe::Set(vec![Recipe::Int(1), Recipe::Int(0)]);
        let number = calculated(&texts_of_set, &texts_of_set, "a", &set, Operand::Inside, &mut || 3);
        assert_eq!(number, Some(Recipe::Int(3)));
        let list = || Recipe::List(vec![object()]);
        assert_eq!(of("a", list(), Operand::Inside), Some(Recipe::List(vec![Recipe::Int(3)])));
        for container in [list(), Recipe::Set(vec![Recipe::Tuple(vec![object()])])] {
            assert_eq!(of("a", container, Operand::Whole), Some(Recipe::Int(3)));
        }
        // Only plain values, since they were compared.
        assert_eq!(of("a", Recipe::List(vec![Recipe::Int(1)]), Operand::Whole), None);
    }
}
