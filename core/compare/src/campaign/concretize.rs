//! Makes a witness readable: plain values in place of objects that a difference shows or that a condition rests on.
//!
//! People read the difference first. `99.0 -> 89.1` says more than `99.0 -> <(x * 2)>`.

use std::collections::{BTreeMap, BTreeSet};

use twincell_behavior::{Channel, Displayed, Rules};
use twincell_engine::EngineError;
use twincell_values::path::{AccessPath, Question, mentions};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::shrink::changed;
use super::{Execute, TestCase};

/// The maximum number of executions that are tried, apart from those that confirm.
const BUDGET: usize = 24;
/// The maximum number of objects that are replaced.
const OBJECTS: usize = 8;
/// Numbers for calculations in which small ones say nothing.
const NUMBERS: [i64; 4] = [12, 5, 7, 3];

/// The classes whose values are written as they are, those that say most in the fewest characters first.
const PLAIN: [AbstractValue; 6] = [
    AbstractValue::Int,
    AbstractValue::Str,
    AbstractValue::Float,
    AbstractValue::Bool,
    AbstractValue::List,
    AbstractValue::Tuple,
];

/// The number of objects that the differences show.
pub(super) fn shown_objects(witness: &TestCase) -> usize {
    witness.differences.iter().flat_map(|difference| difference.displayed()).map(Displayed::objects).sum()
}

/// The witness with plain values in place of objects that it shows or that a condition tests, as far as the difference
/// remains. First all of them change at once, since a calculation with one object left is an object. `likely` has the
/// probability of each class, by path.
pub(super) fn plainer(
    execute: &mut dyn Execute,
    witness: TestCase,
    channels: &BTreeSet<Channel>,
    likely: &BTreeMap<String, Vec<f32>>,
    rules: &Rules,
    lost: &mut u32,
) -> Result<TestCase, EngineError> {
    let mut best = witness;
    let mut left = BUDGET;
    let mut takes = |best: &mut TestCase, decisions: Vec<(String, Decision)>, is_plainer: IsPlainer| {
        let gives_way = |choice: &Choice| holds_object(choice) || is_zero(choice);
        let is_there = |(path, _): &(String, Decision)| {
            best.record.choices.iter().any(|choice| choice.path == *path && gives_way(choice))
        };
        if left == 0 || *lost > 0 || !decisions.iter().all(is_there) {
            return Ok::<_, EngineError>(false);
        }
        left -= 1;
        let found = changed(execute, best, decisions, channels, rules, lost)?;
        let found = found.filter(|found| found.record.invented() <= best.record.invented());
        let Some(found) = found.filter(|found| is_plainer(best, found)) else { return Ok(false) };
        *best = found;
        Ok(true)
    };
    let shown = objects(&best, is_shown);
    let zeros: Vec<ObjectChoice> = zeros(&best).collect();
    let mut tried = together(&shown, likely);
    if !shown.is_empty() && !zeros.is_empty() {
        // A product or a quotient of zero says nothing.
        tried.extend(together(&[shown, zeros].concat(), likely));
    }
    for decisions in tried {
        if takes(&mut best, decisions, shows_fewer)? {
            break;
        }
    }
    let asked =
        objects(&best, |witness, path| is_shown(witness, path) || is_asked(witness, path) || is_hidden(witness, path));
    for decisions in asked.iter().flat_map(|held| alone(held, likely)) {
        takes(&mut best, decisions, shows_fewer_or_asks_fewer)?;
    }
    Ok(best)
}

/// Whether the second witness is plainer than the first.
type IsPlainer = fn(&TestCase, &TestCase) -> bool;

fn shows_fewer(one: &TestCase, other: &TestCase) -> bool {
    shown_objects(other) < shown_objects(one)
}

fn shows_fewer_or_asks_fewer(one: &TestCase, other: &TestCase) -> bool {
    let asks_fewer = held(other).count() < held(one).count();
    shows_fewer(one, other) || asks_fewer && shown_objects(other) == shown_objects(one)
}

/// The choices that hold objects.
fn held(witness: &TestCase) -> impl Iterator<Item = &Choice> {
    witness.record.choices.iter().filter(|choice| holds_object(choice))
}

/// A choice that holds an object.
#[derive(Debug, Clone)]
struct ObjectChoice {
    choice: Choice,
    /// The paths of the objects that count as false, as empty containers and zeros do.
    false_paths: BTreeSet<String>,
}

impl ObjectChoice {
    /// The plain classes of the object, likeliest first. Nobody knows them of the objects in a container.
    fn classes(&self, likely: &BTreeMap<String, Vec<f32>>) -> Vec<AbstractValue> {
        match self.choice.decision {
            Decision::Value(Recipe::Mock(_)) => classes(&self.choice.path, likely),
            _ => PLAIN.to_vec(),
        }
    }
}

/// The objects of a witness that pass, up to a number.
fn objects(witness: &TestCase, passes: impl Fn(&TestCase, &str) -> bool) -> Vec<ObjectChoice> {
    let leaves = held(witness).filter(|choice| is_leaf(witness, &choice.path) && passes(witness, &choice.path));
    leaves
        .take(OBJECTS)
        .map(|choice| ObjectChoice { choice: choice.clone(), false_paths: false_within(witness, &choice.path) })
        .collect()
}

/// The values of a witness that are zero, as if they were objects.
fn zeros(witness: &TestCase) -> impl Iterator<Item = ObjectChoice> {
    let zeros = witness.record.choices.iter().filter(|choice| is_zero(choice));
    let object = Decision::Value(Recipe::Mock(AbstractValue::Object));
    zeros.take(OBJECTS).map(move |choice| ObjectChoice {
        choice: Choice { path: choice.path.clone(), decision: object.clone() },
        false_paths: BTreeSet::new(),
    })
}

fn is_zero(choice: &Choice) -> bool {
    let is_zero = match &choice.decision {
        Decision::Value(Recipe::Int(number)) => *number == 0,
        Decision::Value(Recipe::Float(number)) => *number == 0.0,
        _ => false,
    };
    is_zero && matches!(Question::parse(&choice.path), Question::Value(_))
}

/// The paths of this value and of its items that count as false.
fn false_within(witness: &TestCase, path: &str) -> BTreeSet<String> {
    let is_false = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
        (Question::Truth(of), Decision::Value(Recipe::Bool(false)))
        | (Question::Length(of), Decision::Value(Recipe::Int(0))) => Some(of.as_str().to_owned()),
        _ => None,
    };
    let is_within = |of: &String| of == path || AccessPath::new(of).beyond(path).is_some();
    witness.record.choices.iter().filter_map(is_false).filter(is_within).collect()
}

fn holds_object(choice: &Choice) -> bool {
    matches!(&choice.decision, Decision::Value(recipe) if recipe.has_object())
}

/// Whether the code asks for nothing within the value: a plain value has no attributes of the program's own.
fn is_leaf(witness: &TestCase, path: &str) -> bool {
    let within =
        |choice: &Choice| AccessPath::new(&choice.path).beyond(path).is_some_and(|rest| !rest.starts_with('['));
    !witness.record.choices.iter().any(within)
}

fn is_shown(witness: &TestCase, path: &str) -> bool {
    witness.differences.iter().flat_map(|difference| difference.displayed()).any(|shown| shown.mentions(path.into()))
}

/// Whether a condition tests the object or compares it.
fn is_asked(witness: &TestCase, path: &str) -> bool {
    let asks = |choice: &Choice| match Question::parse(&choice.path) {
        Question::Truth(of) | Question::Length(of) | Question::Number(of) => of.as_str() == path,
        Question::Order { one, other } => mentions(one, path) || mentions(other, path),
        _ => false,
    };
    witness.record.choices.iter().any(asks)
}

/// Whether the objects in a container stand for what could be written.
fn is_hidden(witness: &TestCase, path: &str) -> bool {
    witness.record.choices.iter().any(|choice| choice.path == path && witness.hides(choice))
}

/// Plain values for all objects at once: of the likeliest classes, numbers, texts, other numbers.
fn together(objects: &[ObjectChoice], likely: &BTreeMap<String, Vec<f32>>) -> Vec<Vec<(String, Decision)>> {
    let all = |value: &dyn Fn(&ObjectChoice, usize) -> Recipe| -> Vec<(String, Decision)> {
        let mut number = 0;
        let mut next = |held: &ObjectChoice| {
            number += 1;
            value(held, number)
        };
        objects.iter().map(|held| (held.choice.path.clone(), filled(held, &mut next))).collect()
    };
    let likeliest = |held: &ObjectChoice, number: usize| {
        of_class(held.classes(likely).first().copied().unwrap_or(AbstractValue::Int), number)
    };
    let mut found: Vec<Vec<(String, Decision)>> = Vec::new();
    for tried in [
        all(&likeliest),
        all(&|_, number| of_class(AbstractValue::Int, number)),
        all(&|_, number| of_class(AbstractValue::Str, number)),
        all(&|_, number| Recipe::Int(NUMBERS[(number - 1) % NUMBERS.len()])),
    ] {
        if !tried.is_empty() && !found.contains(&tried) {
            found.push(tried);
        }
    }
    found
}

/// Plain values for one object, of the likeliest classes first, then other numbers.
fn alone(held: &ObjectChoice, likely: &BTreeMap<String, Vec<f32>>) -> Vec<Vec<(String, Decision)>> {
    let with = |value: Recipe| vec![(held.choice.path.clone(), filled(held, &mut |_| value.clone()))];
    let classes: Vec<AbstractValue> = held.classes(likely).into_iter().take(3).collect();
    let numbers = NUMBERS.iter().filter(|_| classes.contains(&AbstractValue::Int)).map(|number| Recipe::Int(*number));
    classes.iter().map(|class| of_class(*class, 1)).chain(numbers).map(with).collect()
}

/// The decision of a choice with values in place of its objects.
fn filled(held: &ObjectChoice, next: &mut dyn FnMut(&ObjectChoice) -> Recipe) -> Decision {
    let Decision::Value(recipe) = &held.choice.decision else { return held.choice.decision.clone() };
    Decision::Value(at_objects(&held.choice.path, recipe, &mut |path| match next(held) {
        value if held.false_paths.contains(path) => Some(zero_like(&value)),
        value => Some(value),
    }))
}

/// The value of the same class that counts as false.
pub(super) fn zero_like(value: &Recipe) -> Recipe {
    match value {
        Recipe::Int(_) => Recipe::Int(0),
        Recipe::Float(_) => Recipe::Float(0.0),
        Recipe::Str(_) => Recipe::Str(String::new()),
        Recipe::List(_) => Recipe::List(vec![]),
        Recipe::Tuple(_) => Recipe::Tuple(vec![]),
        _ => Recipe::Bool(false),
    }
}

/// The value with others in place of its objects, where there are any for their paths.
pub(super) fn at_objects(path: &str, recipe: &Recipe, other: &mut dyn FnMut(&str) -> Option<Recipe>) -> Recipe {
    let mut item = |key: String, item: &Recipe| at_objects(AccessPath::new(path).item(key).as_str(), item, other);
    let mut items =
        |held: &[Recipe]| (0..).zip(held).map(|(at, value): (usize, _)| item(at.to_string(), value)).collect();
    match recipe {
        Recipe::Mock(_) => other(path).unwrap_or_else(|| recipe.clone()),
        Recipe::List(held) => Recipe::List(items(held)),
        Recipe::Tuple(held) => Recipe::Tuple(items(held)),
        Recipe::Set(held) => Recipe::Set(items(held)),
        Recipe::Dict(entries) => {
            Recipe::Dict(entries.iter().map(|(key, value)| (key.clone(), item(key.display(), value))).collect())
        }
        other => other.clone(),
    }
}

/// The plain classes of what stands at a path, likeliest first.
pub(super) fn classes(path: &str, likely: &BTreeMap<String, Vec<f32>>) -> Vec<AbstractValue> {
    let shares = likely.get(path);
    let share = |class: AbstractValue| shares.and_then(|shares| shares.get(class as usize)).copied().unwrap_or(0.0);
    let mut classes = PLAIN.to_vec();
    // A stable sort: of equally likely classes the one that says most comes first.
    classes.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
    classes
}

/// The smallest plain value of a class that differs from those with other numbers.
pub(super) fn of_class(class: AbstractValue, number: usize) -> Recipe {
    let whole = i64::try_from(number).unwrap_or(1);
    let letter = char::from(b'a' + u8::try_from((number + 25) % 26).unwrap_or(0)).to_string();
    match class {
        AbstractValue::Str => Recipe::Str(letter),
        AbstractValue::Float => Recipe::Float(whole as f64 + 0.5),
        AbstractValue::Bool => Recipe::Bool(true),
        AbstractValue::List => Recipe::List(vec![Recipe::Int(whole)]),
        AbstractValue::Tuple => Recipe::Tuple(vec![Recipe::Int(whole)]),
        _ => Recipe::Int(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str) -> ObjectChoice {
        let decision = Decision::Value(Recipe::Mock(AbstractValue::Object));
        ObjectChoice { choice: Choice { path: path.into(), decision }, false_paths: BTreeSet::new() }
    }

    #[test]
    fn all_objects_change_at_once_to_values_that_differ() {
        let of = |value| Decision::Value(value);
        let found = together(&[object("a"), object("b")], &BTreeMap::new());
        assert_eq!(found[0], [("a".into(), of(Recipe::Int(1))), ("b".into(), of(Recipe::Int(2)))]);
        assert_eq!(found[1], [("a".into(), of(Recipe::Str("a".into()))), ("b".into(), of(Recipe::Str("b".into())))]);
        assert_eq!(found.len(), 3);
        assert!(together(&[], &BTreeMap::new()).is_empty());
        let found = together(
            &[ObjectChoice { false_paths: BTreeSet::from(["a".to_owned()]), ..object("a") }],
            &BTreeMap::new(),
        );
        assert_eq!(found[0], [("a".into(), of(Recipe::Int(0)))]);
    }

    #[test]
    fn the_likeliest_class_comes_first() {
        let mut shares = vec![0.0; AbstractValue::COUNT];
        shares[AbstractValue::Str as usize] = 0.9;
        let likely = BTreeMap::from([("a".to_owned(), shares)]);
        assert_eq!(classes("a", &likely)[..2], [AbstractValue::Str, AbstractValue::Int]);
        assert_eq!(classes("b", &likely)[0], AbstractValue::Int);
    }

    #[test]
    fn objects_within_a_container_give_way() {
        let object = || Recipe::Mock(AbstractValue::Object);
        let inside = |first, second| {
            Recipe::Dict(vec![
                (Recipe::Str("a".into()), first),
                (Recipe::Int(0), Recipe::List(vec![Recipe::None, second])),
            ])
        };
        let choice = Choice { path: "x".into(), decision: Decision::Value(inside(object(), object())) };
        let held = ObjectChoice { choice, false_paths: BTreeSet::from(["x['a']".to_owned()]) };
        let expected = inside(Recipe::Int(0), Recipe::Int(1));
        assert_eq!(filled(&held, &mut |_| Recipe::Int(1)), Decision::Value(expected));
    }
}
