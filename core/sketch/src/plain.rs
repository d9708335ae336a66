//! Plain values beside each other: their order, their truth, and others like them.

use twincell_values::value::{AbstractValue, Recipe};

use crate::usual;

/// A value, and those beside it.
pub(crate) fn around(value: &Recipe) -> Vec<Recipe> {
    match value {
        Recipe::Int(number) => {
            let more = Recipe::Int(number.saturating_add(1));
            vec![Recipe::Int(*number), more, Recipe::Int(number.saturating_sub(1))]
        }
        Recipe::Float(number) => vec![Recipe::Float(*number), Recipe::Float(number + 1.0), Recipe::Float(number - 1.0)],
        Recipe::Str(text) => {
            let other = if text == "other" { "another" } else { "other" };
            vec![Recipe::Str(text.clone()), Recipe::Str(other.into()), Recipe::Str(String::new())]
        }
        Recipe::Bool(truth) => vec![Recipe::Bool(*truth), Recipe::Bool(!truth)],
        Recipe::Bytes(bytes) => vec![Recipe::Bytes(bytes.clone()), Recipe::Bytes(b"other".to_vec())],
        Recipe::Tuple(items) => {
            let with_first = |first: Recipe| [&[first], &items[1..]].concat();
            let firsts = items.first().map(around).unwrap_or_default();
            firsts.into_iter().map(|first| Recipe::Tuple(with_first(first))).collect()
        }
        other => match usual::of_moment(other) {
            Some((class, _)) => usual::around_now(class),
            None => vec![other.clone()],
        },
    }
}

/// The order of two values, where they have one.
pub(crate) fn compare(one: &Recipe, other: &Recipe) -> Option<std::cmp::Ordering> {
    let number = |value: &Recipe| match value {
        Recipe::Int(number) => Some(*number as f64),
        Recipe::Float(number) => Some(*number),
        Recipe::Bool(truth) => Some(f64::from(u8::from(*truth))),
        _ => None,
    };
    if let (Recipe::Tuple(one), Recipe::Tuple(other)) = (one, other) {
        let orders = one.iter().zip(other).map(|(one, other)| compare(one, other));
        let different = orders.into_iter().find(|order| *order != Some(std::cmp::Ordering::Equal));
        return different.unwrap_or_else(|| Some(one.len().cmp(&other.len())));
    }
    if let (Some((_, one)), Some((_, other))) = (usual::of_moment(one), usual::of_moment(other)) {
        return Some(one.cmp(&other));
    }
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.partial_cmp(&other),
        _ => Some(text_of(one)?.cmp(text_of(other)?)),
    }
}

/// The text that a value is.
pub(crate) fn text_of(value: &Recipe) -> Option<&str> {
    match value {
        Recipe::Str(text) => Some(text),
        _ => None,
    }
}

/// Whether it counts as true.
pub(crate) fn is_true(value: &Recipe) -> bool {
    match value {
        Recipe::None => false,
        Recipe::Bool(truth) => *truth,
        Recipe::Int(number) => *number != 0,
        Recipe::Float(number) => *number != 0.0,
        Recipe::Str(text) => !text.is_empty(),
        Recipe::Bytes(bytes) => !bytes.is_empty(),
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => !items.is_empty(),
        Recipe::Dict(entries) => !entries.is_empty(),
        _ => true,
    }
}

/// The value of the same type that is false.
pub(crate) fn empty(value: &Recipe) -> Recipe {
    match value {
        Recipe::Int(_) => Recipe::Int(0),
        Recipe::Float(_) => Recipe::Float(0.0),
        Recipe::Str(_) => Recipe::Str(String::new()),
        Recipe::List(_) => Recipe::List(vec![]),
        Recipe::Tuple(_) => Recipe::Tuple(vec![]),
        Recipe::Dict(_) => Recipe::Dict(vec![]),
        Recipe::Mock(AbstractValue::Object) => Recipe::None,
        _ => Recipe::Bool(false),
    }
}

/// Whether it is the exception that stands for any.
pub fn is_exception(value: &Recipe) -> bool {
    matches!(value, Recipe::Made(made) if made.class == "builtins.Exception")
}
