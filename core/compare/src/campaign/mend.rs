//! Mends a witness that rests on forced operations: values on which these operations work in Python, so that a program
//! may have them.
//!
//! A forced operation names the value that does not support it, and the decision for its result is known. So the value
//! can often be made from both: a list that has the missing item, a text that splits into it, an object in place of
//! `None`.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules};
use twincell_engine::EngineError;
use twincell_engine::protocol::ExecutionRecord;
use twincell_values::path::{AccessPath, Question, text_of};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe, matching};

use super::shrink::changed;
use super::{Execute, TestCase};
use crate::Continue;

/// The maximum number of executions that are tried, apart from those that confirm.
const BUDGET: usize = 48;
/// The maximum number of lost executions.
const LOST: u32 = 2;
/// The maximum number of items that a container or a text is given.
const ITEMS: usize = 12;
/// The maximum number of texts for the patterns that the code matches.
const TEXTS: usize = 4;

/// The literal of the end of a line.
const LINE_END: &str = r"'\n'";

/// A set of decisions that replaces those of a witness.
type Decisions = Vec<(String, Decision)>;

/// The witness without forced operations, if the difference remains on values that support what the code does.
/// Operation after operation is mended, as long as each leaves fewer.
pub(super) fn mended(
    execute: &mut dyn Execute,
    witness: &TestCase,
    channels: &BTreeSet<Channel>,
    rules: &Rules,
    literals: &[Recipe],
    go_on: &mut dyn FnMut() -> Continue,
) -> Result<Option<TestCase>, EngineError> {
    let (mut best, mut left, mut lost) = (witness.clone(), BUDGET, 0);
    'mending: while !best.record.forced.is_empty() {
        for decisions in candidates(&best.record, literals) {
            if left == 0 || lost >= LOST || go_on() == Continue::Stop {
                return Ok(None);
            }
            left -= 1;
            if let Some(found) = changed(execute, &best, decisions, channels, rules, &mut lost)?
                && found.record.forced.len() < best.record.forced.len()
            {
                best = found;
                continue 'mending;
            }
        }
        return Ok(None);
    }
    Ok(Some(best))
}

/// Decisions that may do without one of the forced operations, those that keep most of the witness first.
fn candidates(record: &ExecutionRecord, literals: &[Recipe]) -> Vec<Decisions> {
    let of_value = |choice: &Choice| match &choice.decision {
        // An answer such as `len(x)` is no value that could support an operation.
        Decision::Value(value) if !Question::is_answer(&choice.path) => Some((choice.path.clone(), value.clone())),
        _ => None,
    };
    let values: Vec<(String, Recipe)> = record.choices.iter().filter_map(of_value).collect();
    let mut found: Vec<Decisions> = Vec::new();
    for operation in &record.forced {
        let invented = values.iter().find(|(path, _)| path == operation).map(|(_, value)| value);
        for (path, value) in &values {
            let forced = AccessPath::from(operation);
            // A value that only a local names is known by its text.
            let shown = value.display();
            let Some(rest) = forced.beyond_value(AccessPath::new(path)).or_else(|| forced.beyond(&shown)) else {
                continue;
            };
            let supporting = supporting(value, rest, invented).into_iter();
            found.extend(supporting.map(|value| vec![(path.clone(), Decision::Value(value))]));
            let mut of_object = vec![(path.clone(), Decision::Value(Recipe::Versatile(AbstractValue::Object)))];
            of_object.extend(invented.map(|value| (format!("{path}{rest}"), Decision::Value(value.clone()))));
            found.push(of_object);
        }
    }
    found.extend(arguments(record, &values));
    found.extend(texts(&values, literals));
    found
}

/// Values like this one that support an operation, whose result was invented: `rest` is how it goes on from the value.
fn supporting(value: &Recipe, rest: &str, invented: Option<&Recipe>) -> Vec<Recipe> {
    let object = Recipe::Versatile(AbstractValue::Object);
    let part = invented.cloned().unwrap_or(object);
    if let (Recipe::Str(text), Some((separator, index))) = (value, split_item(rest)) {
        let text = with_piece(text, separator, index, &part);
        return text.into_iter().map(Recipe::Str).collect();
    }
    let Some(key) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(key, _)| key) else {
        return vec![];
    };
    let of_list = |items: &[Recipe]| with_item(items, key.parse().ok()?, &part);
    let of_dict = |entries: &[(Recipe, Recipe)]| {
        let key = key.parse().map(Recipe::Int).ok().or_else(|| text_of(key).map(|key| Recipe::Str(key.into())))?;
        Some(entries.iter().cloned().chain([(key, part.clone())]).collect::<Vec<_>>())
    };
    let made = match value {
        Recipe::List(items) => [of_list(items).map(Recipe::List), None],
        Recipe::Tuple(items) => [of_list(items).map(Recipe::Tuple), None],
        Recipe::Dict(entries) => [of_dict(entries).map(Recipe::Dict), None],
        _ => [of_list(&[]).map(Recipe::List), of_dict(&[]).map(Recipe::Dict)],
    };
    made.into_iter().flatten().collect()
}

/// `' '`, 1 of `.split(' ')[1]`.
fn split_item(rest: &str) -> Option<(Option<&str>, i64)> {
    let (call, index) = AccessPath::new(rest).split_item()?;
    let (method, arguments) = call.split_call()?;
    let separator = match method.as_str() {
        ".split" if arguments.is_empty() => None,
        ".split" if arguments == LINE_END => Some("\n"),
        ".split" => Some(text_of(arguments)?),
        ".splitlines" => Some("\n"),
        _ => return None,
    };
    Some((separator, index.parse().ok()?))
}

/// A text that splits into enough pieces, this one of which is the part, if that is a text.
fn with_piece(text: &str, separator: Option<&str>, index: i64, part: &Recipe) -> Option<String> {
    let pieces: Vec<&str> = match separator {
        Some(separator) => text.split(separator).collect(),
        None => text.split_whitespace().collect(),
    };
    let pieces: Vec<Recipe> = pieces.into_iter().map(|piece| Recipe::Str(piece.into())).collect();
    let filler = Recipe::Str("a".into());
    let part = match part {
        Recipe::Str(text) if separator.is_some() || !text.trim().is_empty() => part,
        _ => &filler,
    };
    let whole = with_item(&pieces, index, part)?;
    let texts = whole.iter().map(|piece| match piece {
        Recipe::Str(text) if separator.is_none() && text.is_empty() => "a",
        Recipe::Str(text) => text,
        _ => "a",
    });
    Some(texts.collect::<Vec<_>>().join(separator.unwrap_or(" ")))
}

/// Items of which the one at this index is the part. Those that are missing before it are the part, too.
fn with_item(items: &[Recipe], index: i64, part: &Recipe) -> Option<Vec<Recipe>> {
    let length = if index < 0 { index.unsigned_abs() } else { index.unsigned_abs() + 1 };
    let length = usize::try_from(length).ok().filter(|length| *length <= ITEMS)?;
    let mut items = items.to_vec();
    while items.len() < length {
        items.push(part.clone());
    }
    let at = if index < 0 { items.len() - index.unsigned_abs() as usize } else { length - 1 };
    items[at] = part.clone();
    Some(items)
}

/// Objects in place of the plain arguments of a real function that failed on them.
fn arguments(record: &ExecutionRecord, values: &[(String, Recipe)]) -> Vec<Decisions> {
    let is_call = |operation: &String| AccessPath::from(operation).callee_of_any_call().is_some();
    if !record.forced.iter().any(is_call) {
        return vec![];
    }
    let object = || Decision::Value(Recipe::Versatile(AbstractValue::Object));
    let plain = values.iter().filter(|(_, value)| !matches!(value, Recipe::Versatile(_)));
    plain.map(|(path, _)| vec![(path.clone(), object())]).collect()
}

/// Texts that the patterns among the literals of the code match, in place of others.
fn texts(values: &[(String, Recipe)], literals: &[Recipe]) -> Vec<Decisions> {
    let is_pattern = |text: &str| text.contains(['*', '+', '[', '(', '^', '$', '\\']);
    let patterns = literals.iter().filter_map(|literal| match literal {
        Recipe::Str(text) if is_pattern(text) => Some(text),
        _ => None,
    });
    let found: Vec<String> = patterns.flat_map(|pattern| matching(pattern, 1)).take(TEXTS).collect();
    let is_text = |(_, value): &&(String, Recipe)| matches!(value, Recipe::Str(_));
    let replaced = |(path, _): &(String, Recipe)| {
        let of = |text: &String| vec![(path.clone(), Decision::Value(Recipe::Str(text.clone())))];
        found.iter().map(of).collect::<Vec<_>>()
    };
    values.iter().filter(is_text).flat_map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Recipe {
        Recipe::Str(text.into())
    }

    fn supported(value: Recipe, rest: &str, invented: Recipe) -> Vec<String> {
        supporting(&value, rest, Some(&invented)).iter().map(Recipe::display).collect()
    }

    #[test]
    fn a_container_gets_the_item_that_was_looked_up() {
        let one = || Recipe::Int(1);
        assert_eq!(supported(Recipe::List(vec![one()]), "[2]", text("b")), ["[1, 'b', 'b']"]);
        assert_eq!(supported(Recipe::Tuple(vec![]), "[-2]", one()), ["(1, 1)"]);
        assert_eq!(supported(Recipe::Dict(vec![]), "['k']", one()), ["{'k': 1}"]);
        assert_eq!(supported(Recipe::None, "[0]", one()), ["[1]", "{0: 1}"]);
        assert!(supported(Recipe::List(vec![]), "[100000]", one()).is_empty());
    }

    #[test]
    fn a_text_splits_into_the_piece_that_was_looked_up() {
        assert_eq!(supported(text("usage:"), ".split()[1]", text("stash")), ["'usage: stash'"]);
        assert_eq!(supported(text(""), ".split('\\n')[-3]", text("")), ["'\\n\\n'"]);
        assert_eq!(supported(text("a,b"), ".split(',')[0]", text("c")), ["'c,b'"]);
    }
}
