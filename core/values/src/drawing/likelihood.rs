//! How likely a value is according to the predictor: the probability of its class, given its uses in the code, times
//! how usual the value is within its class.
//!
//! Drawing looks for trouble and gives special values more room than they have in real inputs. This file does not.

use super::fitness::fitness;
use crate::predictor::Distribution;
use crate::reading::Uses;
use crate::value::{AbstractValue, ConstructorCall, Recipe};

/// How usual special values are within their class. All other values count as fully usual.
const EMPTY_TEXT: f64 = 0.02;
const SIGNS_ALONE: f64 = 0.02;
const EMPTY_CONTAINER: f64 = 0.3;
/// What is or holds a number that real inputs seldom are: an infinite one, or one from [`HUGE`] on.
const EXTREME_NUMBER: f64 = 0.02;
/// From here on, integers are bounds of machines and dates, and seldom what programs count.
const HUGE: u64 = 1_000_000_000;

/// The predictor's probabilities of the classes, weighted by the uses in the code.
pub fn class_probabilities(distribution: &Distribution, uses: &Uses) -> Distribution {
    let weights = AbstractValue::ALL.map(|class| {
        let predicted = distribution[class as usize];
        if uses.tested.contains(&class) { predicted.max(0.1) } else { predicted * fitness(class, uses).min(1.0) }
    });
    let total: f32 = weights.iter().sum();
    if total > 0.0 { weights.map(|weight| weight / total) } else { *distribution }
}

/// How usual a value is within its class, 0 to 1.
pub fn typicality(recipe: &Recipe) -> f64 {
    match recipe {
        Recipe::Bool(_) => 0.5,
        Recipe::Str(text) if text.is_empty() => EMPTY_TEXT,
        Recipe::Str(text) if !text.chars().any(char::is_alphanumeric) => SIGNS_ALONE,
        Recipe::Bytes(bytes) if bytes.is_empty() => EMPTY_TEXT,
        Recipe::Bytes(bytes) if !bytes.iter().any(u8::is_ascii_alphanumeric) => SIGNS_ALONE,
        number if with_usual_numbers(number).is_some() => EXTREME_NUMBER,
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) if items.is_empty() => EMPTY_CONTAINER,
        Recipe::Dict(entries) if entries.is_empty() => EMPTY_CONTAINER,
        _ => 1.0,
    }
}

/// The same value with a small number in place of each that real inputs seldom are; `None` if there is none.
pub fn with_usual_numbers(recipe: &Recipe) -> Option<Recipe> {
    fn within(recipe: &Recipe, found: &mut bool) -> Recipe {
        let mut all = |items: &[Recipe]| items.iter().map(|item| within(item, found)).collect::<Vec<_>>();
        match recipe {
            Recipe::List(items) => Recipe::List(all(items)),
            Recipe::Tuple(items) => Recipe::Tuple(all(items)),
            Recipe::Set(items) => Recipe::Set(all(items)),
            Recipe::Dict(entries) => {
                let entry = |(key, value): &(Recipe, Recipe)| (key.clone(), within(value, found));
                Recipe::Dict(entries.iter().map(entry).collect())
            }
            Recipe::Made(call) => {
                let arguments = all(&call.arguments);
                let keyword = |(name, value): &(String, Recipe)| (name.clone(), within(value, found));
                let keywords = call.keywords.iter().map(keyword).collect();
                ConstructorCall { class: call.class.clone(), arguments, keywords }.into()
            }
            other => {
                let usual = usual_number(other);
                *found |= usual.is_some();
                usual.unwrap_or_else(|| other.clone())
            }
        }
    }
    let mut found = false;
    let usual = within(recipe, &mut found);
    found.then_some(usual)
}

/// A number in place of one that real inputs seldom are.
fn usual_number(recipe: &Recipe) -> Option<Recipe> {
    match recipe {
        Recipe::Float(value) if !value.is_finite() => Some(Recipe::Float(7.5)),
        Recipe::Int(value) if value.unsigned_abs() >= HUGE => Some(Recipe::Int(7)),
        _ => None,
    }
}

/// Representative values of the classes: an empty and a full one, a usual and a special one.
pub fn representatives() -> Vec<Recipe> {
    let object = || Recipe::Mock(AbstractValue::Object);
    vec![
        Recipe::None,
        Recipe::Bool(true),
        Recipe::Bool(false),
        Recipe::Int(0),
        Recipe::Int(1),
        Recipe::Int(7),
        Recipe::Float(2.5),
        Recipe::Str(String::new()),
        Recipe::Str("word".into()),
        Recipe::List(vec![]),
        Recipe::List(vec![object()]),
        Recipe::Tuple(vec![]),
        Recipe::Tuple(vec![object(), object()]),
        Recipe::Dict(vec![]),
        Recipe::Dict(vec![(Recipe::Str("a".into()), object())]),
        Recipe::Set(vec![]),
        Recipe::Set(vec![Recipe::Str("a".into())]),
        object(),
    ]
}

/// The probability of any of these values: the most usual one of each class counts.
pub fn probability<'a>(classes: &[f32], values: impl IntoIterator<Item = &'a Recipe>) -> f64 {
    let mut usual = [0.0f64; AbstractValue::COUNT];
    for value in values {
        let own = &mut usual[value.abstract_value() as usize];
        *own = match value {
            // There are two truth values, whose probabilities add up.
            Recipe::Bool(_) => (*own + typicality(value)).min(1.0),
            _ => own.max(typicality(value)),
        };
    }
    // All kinds of mock objects behave alike here.
    use AbstractValue as A;
    let mocks = [A::Callable, A::Resource, A::Object].map(|class| usual[class as usize]);
    let most = mocks.into_iter().fold(0.0, f64::max);
    for class in [A::Callable, A::Resource, A::Object] {
        usual[class as usize] = most;
    }
    usual.iter().zip(classes).map(|(usual, class)| usual * f64::from(*class)).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_are_less_likely_than_usual_ones_of_their_class() {
        let mut classes = [0.0f32; AbstractValue::COUNT];
        classes[AbstractValue::Str as usize] = 0.9;
        classes[AbstractValue::None as usize] = 0.1;
        let of = |values: &[Recipe]| probability(&classes, values);
        assert!((of(&[Recipe::Str("abc".into())]) - 0.9).abs() < 1e-6);
        assert!(of(&[Recipe::Str("$".into())]) < 0.1);
        assert!((of(&[Recipe::Str(String::new()), Recipe::None]) - 0.118).abs() < 1e-6);
        assert_eq!(of(&[Recipe::Int(3)]), 0.0);
    }

    #[test]
    fn what_holds_an_extreme_number_is_as_unlikely_as_the_number() {
        let talk = |minutes| ConstructorCall {
            class: "Talk".into(),
            arguments: vec![Recipe::Str("a".into())],
            keywords: vec![("minutes".into(), Recipe::Int(minutes))],
        };
        assert_eq!(typicality(&talk(30).into()), 1.0);
        assert_eq!(typicality(&talk(-9_007_199_254_740_993).into()), EXTREME_NUMBER);
        assert_eq!(typicality(&Recipe::List(vec![talk(i64::MAX).into()])), EXTREME_NUMBER);
        assert_eq!(typicality(&Recipe::Dict(vec![(Recipe::Int(1), Recipe::Float(f64::INFINITY))])), EXTREME_NUMBER);
        assert_eq!(with_usual_numbers(&talk(30).into()), None);
        assert_eq!(with_usual_numbers(&talk(i64::MIN).into()), Some(talk(7).into()));
    }

    #[test]
    fn what_the_code_does_with_a_value_weighs_its_classes() {
        let uses = Uses { iterated: true, ..Uses::default() };
        let classes = class_probabilities(&[1.0 / 12.0; 12], &uses);
        assert!(classes[AbstractValue::List as usize] > 20.0 * classes[AbstractValue::Int as usize]);
        assert!((classes.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}
