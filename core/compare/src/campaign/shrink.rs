//! Makes a witness small.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use twincell_behavior::{Channel, Difference, Rules, differences};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, Injection};
use twincell_engine::{EngineError, Executed};
use twincell_values::drawing::likelihood::probability;
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{AbstractValue, Choice, Decision, Given, Recipe};

use super::bisect::Search;
use super::causes::classify_basis;
use super::concretize::{classes, of_class, plainer, shown_objects, zero_like};
use super::confirm::{Effort, Repeated, again, both, confirm, repeat};
use super::smaller::{holds_items, simpler, smaller};
use super::{Execute, TestCase};
use crate::Continue;
use crate::verdict::{CHANGING, EDGE_CASE};

/// The number of lost executions after which a witness stays as it is.
pub(super) const LOST: u32 = 3;
/// The maximum length of a given object, as it is written, that is shown as a whole.
const SMALL: usize = 300;
/// The maximum number of parts of a container that are tried in its place.
const PARTS: usize = 4;
/// The maximum number of values that are tried for several equal ones at once.
const EQUAL: usize = 3;
/// The maximum number of likelier classes that are tried in place of one.
const CLASSES: usize = 2;

/// Which values a shrunk witness has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Plain ones in place of objects, where a difference shows the objects or a condition tests them.
    Plain,
    /// The same, and no value that is tried alone becomes one that its path hardly ever has.
    Usual,
    /// The objects stay where they were drawn.
    Drawn,
}

/// Shrinks a witness: replaces decisions by simpler ones while a difference in the same channel remains.
///
/// First as a whole, then one pass over the decisions in order, with at most `budget` candidates. This is safe because
/// every candidate is
/// executed, and a candidate that shows a difference is confirmed as the witness was. It ends on request, or when
/// executions are lost, since each of those costs a deadline.
pub fn shrink(
    execute: &mut dyn Execute,
    witness: &TestCase,
    rules: &Rules,
    values: Values,
    budget: u32,
    go_on: &mut dyn FnMut() -> Continue,
) -> Result<TestCase, EngineError> {
    let mut best = witness.clone();
    let mut channels: BTreeSet<_> = witness.differences.iter().map(|difference| difference.channel).collect();
    let mut left = budget;
    let mut lost = 0;
    for decisions in without_synthesized(&best.record) {
        if left == 0 || lost >= LOST || best.record.synthesized.is_empty() {
            break;
        }
        left -= 1;
        if let Some(found) = changed(execute, &best, decisions, &channels, rules, &mut lost)?
            && found.record.invented() < best.record.invented()
        {
            best = found;
        }
    }
    best = search(execute, &channels, rules, &mut left, &mut lost, go_on).fewer_uses(best)?;
    if values != Values::Drawn {
        best = search(execute, &channels, rules, &mut left, &mut lost, go_on).as_data(best)?;
        best = search(execute, &channels, rules, &mut left, &mut lost, go_on).really(best)?;
        channels.extend(best.differences.iter().map(|difference| difference.channel));
    }
    best = written_out(execute, best, &channels, rules, &mut left, &mut lost)?;
    let likely = likelihoods(execute, &best)?;
    if values != Values::Drawn {
        best = plainer(execute, best, &channels, &likely, rules, &mut lost)?;
    }
    let (mut position, mut is_smaller) = (0, false);
    while position < best.record.choices.len() && left > 0 && lost < LOST && go_on() == Continue::Yes {
        let choice = best.record.choices[position].clone();
        if best.is_given(&choice.path) {
            position += 1;
            continue;
        }
        let seen = best
            .differences
            .iter()
            .any(|difference| difference.sides().into_iter().any(|shown| shown.holds_object(&choice.path)));
        let likelier = likelier(&choice, &likely);
        let real = Question::replaced(&choice.path, &choice.decision).map(|_| Decision::Value(Recipe::Bool(false)));
        let is_argument = |injection: &Injection| injection.path == choice.path && injection.kind.is_none() && !seen;
        let default = best.record.injections.iter().any(is_argument).then_some(Decision::Default);
        // The empty text comes first where it saves a decision or a failure.
        let is_text = matches!(&choice.decision, Decision::Value(Recipe::Str(text)) if !text.is_empty());
        let empty = is_text.then(|| Decision::Value(Recipe::Str(String::new())));
        let is_empty = |decision: &Decision| matches!(decision, Decision::Value(Recipe::Str(text)) if text.is_empty());
        // What was refused for a container is refused for what is left of it, too. A table with fewer rows may allow what
        // the larger one did not.
        let others = empty.into_iter().chain(real).chain(default).chain(likelier).filter(|_| !is_smaller);
        let is_made = matches!(&choice.decision, Decision::Value(Recipe::Made(_)));
        let simple = simpler(&choice.decision, seen).into_iter().filter(|_| !is_smaller || is_made);
        let is_allowed = |to: &Decision| values != Values::Usual || !becomes_unlikely(&choice, to, &likely);
        let tried: Vec<Decision> = others.chain(simple).chain(smaller(&choice.decision)).filter(is_allowed).collect();
        is_smaller = false;
        let mut is_unchanged = true;
        for (at, simpler) in tried.iter().cloned().enumerate() {
            if left == 0 || lost >= LOST {
                break;
            }
            left -= 1;
            let must_save = at == 0 && is_text && is_empty(&simpler);
            let decisions = vec![(choice.path.clone(), simpler)];
            if let Some(found) = changed(execute, &best, decisions, &channels, rules, &mut lost)?
                && found.record.choices.len() <= best.record.choices.len()
                && is_as_readable(&best, &found)
                && (!must_save || needs_less(&best, &found))
            {
                best = found;
                is_smaller = holds_items(&choice.decision);
                is_unchanged = false;
                break;
            }
        }
        for together in equal(&best, &choice, &tried) {
            if !is_unchanged || left == 0 || lost >= LOST {
                break;
            }
            left -= 1;
            if let Some(found) = changed(execute, &best, together, &channels, rules, &mut lost)?
                && found.record.choices.len() <= best.record.choices.len()
                && is_as_readable(&best, &found)
            {
                best = found;
                is_unchanged = false;
            }
        }
        if is_unchanged
            && let Some(found) = search(execute, &channels, rules, &mut left, &mut lost, go_on).least(&best, &choice)?
            && found.record.choices.len() <= best.record.choices.len()
            && is_as_readable(&best, &found)
            && found.record.choices.iter().filter(|one| one.path == choice.path).all(|one| is_allowed(&one.decision))
        {
            best = found;
        }
        // What is left of a container may become smaller still.
        position += usize::from(!is_smaller);
    }
    if values != Values::Drawn && shown_objects(&best) > 0 && go_on() == Continue::Yes {
        // A calculation may support numbers only now, with simpler operands beside them.
        best = plainer(execute, best, &channels, &likely, rules, &mut lost)?;
    }
    // With simpler values, a use may have nothing to show any more.
    search(execute, &channels, rules, &mut left, &mut lost, go_on).fewer_uses(best)
}

fn search<'a>(
    execute: &'a mut dyn Execute,
    channels: &'a BTreeSet<Channel>,
    rules: &'a Rules,
    left: &'a mut u32,
    lost: &'a mut u32,
    go_on: &'a mut dyn FnMut() -> Continue,
) -> Search<'a> {
    Search { execute, channels, rules, left, lost, go_on }
}

/// The decisions that give equal numbers or texts another value all at once, since the code may compare them.
fn equal(witness: &TestCase, choice: &Choice, tried: &[Decision]) -> Vec<Vec<(String, Decision)>> {
    let is_scalar = |decision: &Decision| {
        matches!(decision, Decision::Value(Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_) | Recipe::Bytes(_)))
    };
    let is_value = |choice: &Choice| matches!(Question::parse(&choice.path), Question::Value(_));
    let is_equal = |other: &&Choice| other.decision == choice.decision && is_value(other);
    let equal: Vec<&Choice> =
        witness.record.choices.iter().filter(is_equal).filter(|other| !witness.is_given(&other.path)).collect();
    if !is_scalar(&choice.decision) || !is_value(choice) || equal.len() < 2 {
        return vec![];
    }
    let empty = Decision::Value(Recipe::Str(String::new()));
    let with = |decision: &Decision| equal.iter().map(|choice| (choice.path.clone(), decision.clone())).collect();
    tried.iter().filter(|decision| is_scalar(decision) && **decision != empty).take(EQUAL).map(with).collect()
}

/// Whether the second witness needs fewer decisions, or less that is invented.
fn needs_less(one: &TestCase, other: &TestCase) -> bool {
    other.record.choices.len() < one.record.choices.len() || other.record.invented() < one.record.invented()
}

/// Whether a witness needs no more that is invented than another one, and shows no more objects unless it needs less.
fn is_as_readable(one: &TestCase, other: &TestCase) -> bool {
    match other.record.invented().cmp(&one.record.invented()) {
        Ordering::Less => true,
        Ordering::Equal => shown_objects(other) <= shown_objects(one),
        Ordering::Greater => false,
    }
}

/// Whether a decision has a usual value, and another one has not.
fn becomes_unlikely(choice: &Choice, other: &Decision, likely: &BTreeMap<String, Vec<f32>>) -> bool {
    let Some(classes) = likely.get(&choice.path) else { return false };
    let is_unlikely = |decision: &Decision| match decision {
        Decision::Value(recipe) => probability(classes, [recipe]) < EDGE_CASE,
        _ => false,
    };
    is_unlikely(other) && !is_unlikely(&choice.decision)
}

/// The probability of each class, by path.
fn likelihoods(execute: &mut dyn Execute, witness: &TestCase) -> Result<BTreeMap<String, Vec<f32>>, EngineError> {
    let injections = explained(execute, witness)?.into_iter();
    Ok(injections.map(|injection| (injection.path.into_string(), injection.classes)).collect())
}

/// The injections of a witness, with all that is known of each.
fn explained(execute: &mut dyn Execute, witness: &TestCase) -> Result<Vec<Injection>, EngineError> {
    let request = again(&witness.record, repeat(&witness.record), both());
    let explained = execute.execute(vec![ExecutionRequest { explain: true, ..request }])?.into_iter().next();
    let Some(Executed::Record(record)) = explained else { return Ok(vec![]) };
    Ok(record.injections)
}

/// The witness with values that can be written in place of objects that somebody gave: the same value if it is small,
/// otherwise one that is made from the same object, and otherwise the same value after all.
fn written_out(
    execute: &mut dyn Execute,
    witness: TestCase,
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    left: &mut u32,
    lost: &mut u32,
) -> Result<TestCase, EngineError> {
    let mut best = witness;
    let given = |choice: &Choice| match &choice.decision {
        Decision::Value(Recipe::Given(given)) => Some((choice.path.clone(), given.clone())),
        _ => None,
    };
    let all: Vec<(String, Box<Given>)> = best.record.choices.iter().filter_map(given).collect();
    for (path, given) in all {
        let own = written(execute, &best, &path)?;
        let is_small = |written: &Recipe| written.display().len() <= SMALL;
        let mut tried: Vec<Recipe> = own.clone().filter(is_small).into_iter().collect();
        if tried.is_empty() {
            best = halved(execute, best, (&path, &given), channels, rules, left, lost)?;
            tried.extend(written(execute, &best, &path)?.filter(is_small));
        }
        tried.extend(given.others());
        tried.extend(own.filter(|own| !is_small(own)));
        for value in tried {
            if *left == 0 || *lost >= LOST {
                return Ok(best);
            }
            *left -= 1;
            let is_other = matches!(value, Recipe::Given(_));
            let decisions = vec![(path.clone(), Decision::Value(value.clone()))];
            let Some(mut case) = exchanged(execute, &best, decisions, channels, rules, lost)? else { continue };
            if !is_other {
                case.given = best.given.as_deref().map(|example| Arc::new(example.with(&path, value)));
                best = case;
                break;
            }
            let Some(written) = written(execute, &case, &path)? else { continue };
            let decisions = vec![(path.clone(), Decision::Value(written))];
            if let Some(found) = exchanged(execute, &case, decisions, channels, rules, lost)? {
                // It is not what was given.
                best = TestCase { given: None, ..found };
                break;
            }
        }
    }
    Ok(best)
}

/// The witness with as few of the rows of a given object as show the difference, found by halving. Each half costs half of
/// what the one before did, and only the last one is confirmed, which takes many times as long.
fn halved(
    execute: &mut dyn Execute,
    witness: TestCase,
    (path, given): (&str, &Given),
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    left: &mut u32,
    lost: &mut u32,
) -> Result<TestCase, EngineError> {
    let with = |rows: &Given| vec![(path.to_owned(), Decision::Value(rows.clone().into()))];
    let mut rows = given.clone();
    while let Some(halves) = rows.halves() {
        let mut found = None;
        for half in halves {
            if *left == 0 || *lost >= LOST || found.is_some() {
                break;
            }
            *left -= 1;
            found = differing(execute, &witness, with(&half), channels, rules, lost)?.map(|_| half);
        }
        let Some(half) = found else { break };
        rows = half;
    }
    if rows == *given {
        return Ok(witness);
    }
    let found = exchanged(execute, &witness, with(&rows), channels, rules, lost)?;
    // It is not what was given.
    Ok(found.map_or(witness, |case| TestCase { given: None, ..case }))
}

/// What else makes the given object under a path.
fn written(execute: &mut dyn Execute, witness: &TestCase, path: &str) -> Result<Option<Recipe>, EngineError> {
    let found = explained(execute, witness)?.into_iter().find(|injection| injection.path == path);
    Ok(found.and_then(|injection| injection.written))
}

/// Values that are likelier in place of this one: plain ones that a container holds, since a text may show by itself what
/// it shows within the container, and small ones of likelier classes that are no containers: their items would be guessed.
fn likelier(choice: &Choice, likely: &BTreeMap<String, Vec<f32>>) -> Vec<Decision> {
    let (Decision::Value(recipe), Some(shares)) = (&choice.decision, likely.get(&choice.path)) else { return vec![] };
    let share = |class: AbstractValue| shares.get(class as usize).copied().unwrap_or(0.0);
    let of = |part: &Recipe| share(part.abstract_value());
    let parts: Vec<&Recipe> = match recipe {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().collect(),
        Recipe::Dict(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
        _ => vec![],
    };
    let is_plain =
        |part: &&&Recipe| matches!(part, Recipe::Str(_) | Recipe::Bytes(_) | Recipe::Int(_) | Recipe::Float(_));
    let mut found: Vec<Decision> = Vec::new();
    for part in parts.iter().filter(is_plain).filter(|part| of(part) > of(recipe)) {
        let decision = Decision::Value((*part).clone());
        if !found.contains(&decision) && found.len() < PARTS {
            found.push(decision);
        }
    }
    let is_replaceable = !matches!(
        recipe,
        Recipe::Mock(_) | Recipe::Named(_) | Recipe::Made(_) | Recipe::Provided(_) | Recipe::Given(_)
    );
    let is_false = matches!(recipe, Recipe::None | Recipe::Bool(false)) || zero_like(recipe) == *recipe;
    let is_scalar = |class: &AbstractValue| !matches!(class, AbstractValue::List | AbstractValue::Tuple);
    let is_likelier = |class: &AbstractValue| is_replaceable && share(*class) > share(recipe.abstract_value());
    for class in classes(&choice.path, likely).into_iter().filter(is_scalar).filter(is_likelier).take(CLASSES) {
        let value = of_class(class, 1);
        found.extend(is_false.then(|| Decision::Value(zero_like(&value))));
        found.push(Decision::Value(value));
    }
    found
}

/// The witness with some decisions replaced, if the difference remains and is confirmed.
pub(super) fn changed(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisions: Vec<(String, Decision)>,
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    lost: &mut u32,
) -> Result<Option<TestCase>, EngineError> {
    if decisions.iter().any(|(path, _)| witness.is_given(path)) {
        // What somebody gave says more than what is simpler.
        return Ok(None);
    }
    exchanged(execute, witness, decisions, channels, rules, lost)
}

/// The execution of a witness with some decisions replaced, if both versions still differ. Nothing is confirmed.
pub(super) fn differing(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisions: Vec<(String, Decision)>,
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    lost: &mut u32,
) -> Result<Option<Box<ExecutionRecord>>, EngineError> {
    let mut fixed = repeat(&witness.record);
    for (path, decision) in follow(&witness.record.choices, &decisions) {
        fixed.entry(path).or_insert(decision);
    }
    fixed.extend(decisions);
    let request = again(&witness.record, fixed, both());
    let Some(Executed::Record(record)) = execute.execute(vec![request])?.into_iter().next() else {
        *lost += 1;
        return Ok(None);
    };
    let [old, new] = record.behaviors.as_slice() else { return Ok(None) };
    if !differences(old, new, rules).iter().any(|difference| channels.contains(&difference.channel)) {
        return Ok(None);
    }
    Ok(Some(record))
}

/// The decisions of these choices for what gets other values than before: `f(2)` is what `f(1)` was.
fn follow(choices: &[Choice], decisions: &[(String, Decision)]) -> Vec<(String, Decision)> {
    let exchanged = decisions.iter().filter_map(|(path, decision)| {
        let Decision::Value(other) = decision else { return None };
        let before = choices.iter().find(|choice| choice.path == *path)?;
        let Decision::Value(value) = &before.decision else { return None };
        // The path of an object stands for it.
        let shown = |recipe: &Recipe| if recipe.has_object() { path.clone() } else { recipe.display() };
        Some((shown(value), shown(other)))
    });
    let exchanged: Vec<(String, String)> = exchanged.collect();
    let follow = |choice: &Choice| {
        let path = exchanged.iter().fold(choice.path.clone(), |path, (value, other)| {
            AccessPath::new(&path).with_value(value, other).unwrap_or(path)
        });
        (path != choice.path).then(|| (path, choice.decision.clone()))
    };
    choices.iter().filter_map(follow).collect()
}

/// The witness with some decisions replaced, whoever made them, if the difference remains and is confirmed.
fn exchanged(
    execute: &mut dyn Execute,
    witness: &TestCase,
    decisions: Vec<(String, Decision)>,
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    lost: &mut u32,
) -> Result<Option<TestCase>, EngineError> {
    let Some(record) = differing(execute, witness, decisions, channels, rules, lost)? else { return Ok(None) };
    let Repeated::Known(confirmed) = confirm(execute, &record, Effort::USUAL, rules)? else { return Ok(None) };
    let differences = classify_basis(execute, &record, confirmed, rules)?;
    let strongest = witness.differences.iter().map(|difference| difference.basis).max();
    // What needs fewer synthesized results may be weaker.
    let is_more_real = record.invented() < witness.record.invented();
    let is_as_strong = |difference: &Difference| {
        channels.contains(&difference.channel) && (is_more_real || Some(difference.basis) >= strongest)
    };
    if !differences.iter().any(is_as_strong) {
        return Ok(None);
    }
    let found = TestCase { record: *record, differences, ..witness.clone() };
    // What does not count must not come to count because it is made readable, and the reverse.
    Ok(((found.score() >= CHANGING) == (witness.score() >= CHANGING)).then_some(found))
}

/// Decisions that may do without a synthesized result: an object in place of the plain value that was asked for what it
/// does not have, and an attribute that exists in place of a default.
fn without_synthesized(record: &ExecutionRecord) -> Vec<Vec<(String, Decision)>> {
    let is_asked = |path: &str, value: &Recipe| {
        let path = AccessPath::new(path);
        let name = path.last_name();
        let shown = value.display();
        let more = |operation: &String| {
            let callee = AccessPath::new(operation).callee_of_any_call();
            let called = callee.is_some_and(|callee| !name.is_empty() && callee.last_name() == name);
            // A value that only a local names is known by its value: `1.status`.
            let of_value = AccessPath::new(operation).beyond(&shown).is_some();
            called || of_value || AccessPath::new(operation).beyond_value(path).is_some()
        };
        record.synthesized.iter().any(more)
    };
    let object = || Decision::Value(Recipe::Mock(AbstractValue::Object));
    let instead = |choice: &Choice| match &choice.decision {
        Decision::Value(Recipe::Mock(_)) => None,
        Decision::Value(Recipe::Bool(false)) => {
            let Question::Attribute(attribute) = Question::parse(&choice.path) else { return None };
            let there = (choice.path.clone(), Decision::Value(Recipe::Bool(true)));
            Some(vec![there, (attribute.to_string(), object())])
        }
        Decision::Value(value) if is_asked(&choice.path, value) => {
            // What the container holds stays where it is.
            let held = match value {
                Recipe::Dict(entries) => entries.as_slice(),
                _ => &[],
            };
            let item = |(key, value): &(Recipe, Recipe)| {
                let path = AccessPath::new(&choice.path).item(key.display());
                (path.into_string(), Decision::Value(value.clone()))
            };
            Some([(choice.path.clone(), object())].into_iter().chain(held.iter().map(item)).collect())
        }
        _ => None,
    };
    record.choices.iter().filter_map(instead).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gets_another_value_gives_the_same() {
        let value = |value: i64| Decision::Value(Recipe::Int(value));
        let choice = |path: &str, decision| Choice { path: path.into(), decision };
        let choices = [choice("x", value(70)), choice("f(70, 1)", value(5)), choice("g(y)", value(6))];
        assert_eq!(follow(&choices, &[("x".into(), value(0))]), [("f(0, 1)".to_owned(), value(5))]);
        let object = Decision::Value(Recipe::Mock(AbstractValue::Object));
        assert_eq!(follow(&choices, &[("x".into(), object)]), [("f(x, 1)".to_owned(), value(5))]);
        let choices = [choice("x", value(70)), choice("y", value(80)), choice("f(70, 80)", value(5))];
        let both = [("x".into(), value(0)), ("y".into(), value(1))];
        assert_eq!(follow(&choices, &both), [("f(0, 1)".to_owned(), value(5))]);
        let choices = [choice("x", value(70)), choice("g(y)", value(6)), choice("g(y)", value(6))];
        assert_eq!(follow(&[choice("y", Decision::Value(Recipe::None)), choices[2].clone()], &[]), []);
    }

    #[test]
    fn a_likelier_class_is_tried() {
        let mut shares = vec![0.0; AbstractValue::COUNT];
        shares[AbstractValue::Int as usize] = 0.6;
        shares[AbstractValue::List as usize] = 0.1;
        let likely = BTreeMap::from([("limit".to_owned(), shares)]);
        let of = |recipe| likelier(&Choice { path: "limit".into(), decision: Decision::Value(recipe) }, &likely);
        let numbers = |numbers: &[i64]| numbers.iter().map(|&number| Decision::Value(Recipe::Int(number))).collect();
        let expected: Vec<Decision> = numbers(&[0, 1]);
        assert_eq!(of(Recipe::List(vec![])), expected);
        let expected: Vec<Decision> = numbers(&[1]);
        assert_eq!(of(Recipe::Str("a".into())), expected);
        assert!(of(Recipe::Int(7)).is_empty());
    }

    #[test]
    fn an_object_in_place_of_a_dictionary_keeps_what_that_held() {
        let value = Recipe::Dict(vec![(Recipe::Str("a".into()), Recipe::Int(1))]);
        let choice = Choice { path: "meta".into(), decision: Decision::Value(value) };
        let record = ExecutionRecord {
            choices: vec![choice],
            synthesized: vec!["meta.flag".into()],
            ..ExecutionRecord::default()
        };
        let object = Decision::Value(Recipe::Mock(AbstractValue::Object));
        let held = Decision::Value(Recipe::Int(1));
        assert_eq!(without_synthesized(&record), [vec![("meta".to_owned(), object), ("meta['a']".to_owned(), held)]]);
    }
}
