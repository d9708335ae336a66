//! Values like one that somebody gave.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::texts::related;
use crate::value::{Given, Provided, Recipe, library};

/// How often a container loses an item, and how often an item changes.
const LOSES: f64 = 0.35;
const CHANGES: f64 = 0.3;

/// A value like the given one: of the same class, and of the same form where it has one.
pub fn varied(value: &Recipe, random: &mut Pcg64Mcg) -> Recipe {
    match value {
        Recipe::Given(given) => {
            Given { variation: random.random_range(1..=u32::MAX), rows: None, ..Given::clone(given) }.into()
        }
        Recipe::Bool(flag) => Recipe::Bool(flag ^ random.random_bool(0.5)),
        Recipe::Int(number) => Recipe::Int(whole(*number, random)),
        Recipe::Float(number) => Recipe::Float(fraction(*number, random)),
        Recipe::Str(text) => Recipe::Str(match random.random_range(0..6) {
            0 => String::new(),
            1 => text.chars().take(random.random_range(0..=text.chars().count().min(40))).collect(),
            2 => text.clone(),
            _ => related(random, text),
        }),
        Recipe::Bytes(bytes) => {
            let length = random.random_range(0..=bytes.len());
            Recipe::Bytes(bytes[..length].to_vec())
        }
        Recipe::List(items) => Recipe::List(varied_items(items, random)),
        Recipe::Set(items) => Recipe::Set(kept(items, random)),
        // Its length is its form.
        Recipe::Tuple(items) => Recipe::Tuple(items.iter().map(|item| now_and_then(item, random)).collect()),
        Recipe::Dict(entries) => {
            let entries = kept(entries, random);
            Recipe::Dict(entries.into_iter().map(|(key, value)| (key, now_and_then(&value, random))).collect())
        }
        Recipe::Made(_) => {
            let others = library::others(value);
            others.get(random.random_range(0..=others.len())).unwrap_or(value).clone()
        }
        Recipe::Provided(provided) => {
            let number = random.random_range(0..provided.by.count().max(1));
            Provided { number, ..Provided::clone(provided) }.into()
        }
        Recipe::None | Recipe::Mock(_) | Recipe::Named(_) => value.clone(),
    }
}

/// Whether the search may put a value in the place of a given one: those of another class are not what was given.
pub fn is_like(value: &Recipe, given: &Recipe) -> bool {
    match (value, given) {
        // The object of the same file, or what was written for it.
        (Recipe::Given(own), Recipe::Given(given)) => own.index == given.index,
        (Recipe::Mock(_), _) => false,
        (Recipe::Int(_), Recipe::Float(_)) => true,
        (value, Recipe::Given(given)) => value.abstract_value() == given.class,
        (value, given) => value.abstract_value() == given.abstract_value(),
    }
}

fn whole(number: i64, random: &mut Pcg64Mcg) -> i64 {
    match random.random_range(0..8) {
        0 => 0,
        1 => number.saturating_neg(),
        2 => number.saturating_mul(2),
        3 => number / 2,
        4 => number.saturating_sub(1),
        5 => number.saturating_add(1),
        _ => number.saturating_add(random.random_range(-9..=9)),
    }
}

fn fraction(number: f64, random: &mut Pcg64Mcg) -> f64 {
    match random.random_range(0..8) {
        0 => 0.0,
        1 => -number,
        2 => number * 2.0,
        3 => number / 2.0,
        4 => number.round(),
        5 => number + 1.0,
        _ => number + f64::from(random.random_range(-8..=8)) / 4.0,
    }
}

fn varied_items(items: &[Recipe], random: &mut Pcg64Mcg) -> Vec<Recipe> {
    let mut items: Vec<Recipe> = kept(items, random).iter().map(|item| now_and_then(item, random)).collect();
    match random.random_range(0..6) {
        0 => items.reverse(),
        1 if !items.is_empty() => items.push(items[random.random_range(0..items.len())].clone()),
        2 => items.clear(),
        _ => {}
    }
    items
}

/// The items, in some cases without some of them.
fn kept<T: Clone>(items: &[T], random: &mut Pcg64Mcg) -> Vec<T> {
    let loses = random.random_bool(LOSES);
    items.iter().filter(|_| !loses || random.random_bool(0.6)).cloned().collect()
}

fn now_and_then(value: &Recipe, random: &mut Pcg64Mcg) -> Recipe {
    if random.random_bool(CHANGES) { varied(value, random) } else { value.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    use crate::value::AbstractValue;

    fn variations(value: &Recipe) -> Vec<Recipe> {
        (0..60).map(|seed| varied(value, &mut Pcg64Mcg::seed_from_u64(seed))).collect()
    }

    fn text(text: &str) -> Recipe {
        Recipe::Str(text.into())
    }

    #[test]
    fn variations_are_like_the_given_value_and_differ_from_it() {
        let cart =
            Recipe::Dict(vec![(text("price"), Recipe::Float(9.5)), (text("items"), Recipe::List(vec![text("a")]))]);
        for value in [Recipe::Int(7), Recipe::Float(0.2), text("Berlin"), cart, Recipe::Tuple(vec![Recipe::Int(1)])] {
            let found = variations(&value);
            assert!(found.iter().all(|other| is_like(other, &value)), "{found:?}");
            assert!(found.iter().any(|other| *other != value), "{found:?}");
        }
    }

    #[test]
    fn tuples_keep_their_length() {
        let value = Recipe::Tuple(vec![Recipe::Int(1), text("x")]);
        assert!(variations(&value).iter().all(|other| matches!(other, Recipe::Tuple(items) if items.len() == 2)));
    }

    #[test]
    fn an_object_is_varied_by_number() {
        let class = AbstractValue::Object;
        let value = Recipe::from(Given {
            index: 0,
            variation: 0,
            rows: None,
            count: 0,
            shown: "sales".into(),
            class,
            is_large: true,
        });
        assert!(variations(&value).iter().all(|other| matches!(other, Recipe::Given(own) if own.variation > 0)));
        assert!(!is_like(&Recipe::Mock(class), &value) && !is_like(&Recipe::None, &value));
    }
}
