//! Examples as JSON. A file has a list of calls, or calls by function; a recorder writes one call in each line.
//!
//! Values are JSON where that says them. What it does not say is an object with one key that begins with `$`: `$tuple`,
//! `$set`, `$dict` (pairs of key and value), `$bytes` (as Latin-1), `$float` (`nan`, `inf`, `-inf`), `$call` with `args` and
//! `kwargs` (a date, a frame, an object of a class of the module), `$name` (a constant or a member of an enumeration) and
//! `$opaque` (a value that nobody could write).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Call, DEEPEST, MOST_CALLS, Passed};
use crate::value::{ConstructorCall, Recipe};

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct JsonError {
    pub line: usize,
    pub what: String,
}

/// The calls of a file of examples: `[{"function": "price", "args": [10], "kwargs": {"rate": 0.2}}]`, or by function
/// `{"price": [[10, 0.2], {"cost": 10}]}`, each a list of arguments or an object with arguments by name.
pub fn calls_of_json(text: &str) -> Result<Vec<Call>, JsonError> {
    let whole = |error: serde_json::Error| JsonError { line: error.line(), what: cut(&error) };
    let mut calls = Vec::new();
    match serde_json::from_str(text).map_err(whole)? {
        Outer::List(list) => {
            for raw in list {
                calls.push(at(text, raw, |value| one(value, None))?);
            }
        }
        Outer::ByFunction(functions) => {
            for (function, list) in functions {
                for raw in list {
                    calls.push(at(text, raw, |value| one(value, Some(&function)))?);
                }
            }
        }
    }
    calls.truncate(MOST_CALLS);
    Ok(calls)
}

/// The calls that a recorder wrote, one in each line.
pub fn calls_of_records(text: &str) -> Result<Vec<Call>, JsonError> {
    let mut calls = Vec::new();
    for (line, written) in (1..).zip(text.lines()).filter(|(_, written)| !written.trim().is_empty()) {
        let wrong = |what: String| JsonError { line, what };
        let value: Value = serde_json::from_str(written).map_err(|error| wrong(cut(&error)))?;
        let call = one(value, None).map_err(wrong)?;
        calls.push(Call { line: line as u32, ..call });
        if calls.len() >= MOST_CALLS {
            break;
        }
    }
    Ok(calls)
}

/// The parser's message without its position.
fn cut(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

enum Outer<'a> {
    List(Vec<&'a RawValue>),
    ByFunction(Vec<(String, Vec<&'a RawValue>)>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Outer<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Outer<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of calls, or an object with a list of calls for each function")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Outer::List(list))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut functions = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    functions.push(entry);
                }
                Ok(Outer::ByFunction(functions))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// One call within a text, with its line.
fn at(text: &str, raw: &RawValue, read: impl FnOnce(Value) -> Result<Call, String>) -> Result<Call, JsonError> {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let line = 1 + text.get(..start).unwrap_or_default().matches('\n').count();
    let value = serde_json::from_str(raw.get()).map_err(|error| JsonError { line, what: cut(&error) })?;
    let call = read(value).map_err(|what| JsonError { line, what })?;
    Ok(Call { line: line as u32, ..call })
}

const FORM: &str = "a call is {\"function\": NAME, \"args\": [...], \"kwargs\": {...}}";

/// A call, of this function if it names none.
fn one(value: Value, function: Option<&str>) -> Result<Call, String> {
    let named =
        |keywords: Map<String, Value>| keywords.into_iter().map(|(name, value)| (name, recipe(&value, DEEPEST)));
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    match (value, function) {
        (Value::Array(arguments), Some(function)) => Ok(Call {
            function: function.to_owned(),
            is_imported: true,
            is_bound: true,
            arguments: arguments.iter().map(|value| recipe(value, DEEPEST)).collect(),
            ..Call::default()
        }),
        (Value::Object(keywords), Some(function)) => Ok(Call {
            function: function.to_owned(),
            is_imported: true,
            is_bound: true,
            keywords: named(keywords).collect(),
            ..Call::default()
        }),
        (Value::Object(mut call), None) => {
            let function = text(call.remove("function")).ok_or_else(|| FORM.to_owned())?;
            let arguments = match call.remove("args") {
                None => vec![],
                Some(Value::Array(list)) => list.iter().map(|value| recipe(value, DEEPEST)).collect(),
                Some(_) => return Err(format!("args is no list: {FORM}")),
            };
            let keywords = match call.remove("kwargs") {
                None => vec![],
                Some(Value::Object(keywords)) => named(keywords).collect(),
                Some(_) => return Err(format!("kwargs is no object: {FORM}")),
            };
            Ok(Call {
                function,
                is_imported: true,
                // Data passes no objects to methods.
                is_bound: true,
                arguments,
                keywords,
                file: text(call.remove("file")),
                test: text(call.remove("test")),
                ..Call::default()
            })
        }
        _ => Err(FORM.to_owned()),
    }
}

fn recipe(value: &Value, levels: u32) -> Passed {
    let levels = levels.checked_sub(1)?;
    let all = |items: &[Value]| items.iter().map(|item| recipe(item, levels)).collect::<Option<Vec<_>>>();
    Some(match value {
        Value::Null => Recipe::None,
        Value::Bool(value) => Recipe::Bool(*value),
        Value::Number(number) if number.is_f64() => Recipe::Float(number.as_f64()?),
        Value::Number(number) => Recipe::Int(number.as_i64()?),
        Value::String(text) => Recipe::Str(text.clone()),
        Value::Array(items) => Recipe::List(all(items)?),
        Value::Object(entries) => match entries.iter().next() {
            Some((tag, content)) if tag.starts_with('$') => return tagged(tag, content, entries, levels),
            _ => {
                let entry = |(key, value): (&String, &Value)| Some((Recipe::Str(key.clone()), recipe(value, levels)?));
                Recipe::Dict(entries.iter().map(entry).collect::<Option<Vec<_>>>()?)
            }
        },
    })
}

fn tagged(tag: &str, content: &Value, beside: &Map<String, Value>, levels: u32) -> Passed {
    let all = |items: &Value| items.as_array()?.iter().map(|item| recipe(item, levels)).collect::<Option<Vec<_>>>();
    Some(match tag {
        "$tuple" => Recipe::Tuple(all(content)?),
        "$set" => Recipe::Set(all(content)?.into_iter().map(hashable).collect::<Option<Vec<_>>>()?),
        "$dict" => {
            let entry = |pair: &Value| match pair.as_array()?.as_slice() {
                [key, value] => Some((hashable(recipe(key, levels)?)?, recipe(value, levels)?)),
                _ => None,
            };
            Recipe::Dict(content.as_array()?.iter().map(entry).collect::<Option<Vec<_>>>()?)
        }
        "$bytes" => {
            Recipe::Bytes(content.as_str()?.chars().map(|one| u8::try_from(one).ok()).collect::<Option<Vec<_>>>()?)
        }
        "$float" => Recipe::Float(content.as_str()?.parse().ok()?),
        "$name" => Recipe::Named(content.as_str()?.to_owned()),
        "$call" => {
            let keyword = |(name, value): (&String, &Value)| Some((name.clone(), recipe(value, levels)?));
            let keywords = match beside.get("kwargs") {
                Some(Value::Object(keywords)) => keywords.iter().map(keyword).collect::<Option<Vec<_>>>()?,
                _ => vec![],
            };
            let arguments = beside.get("args").map_or(Some(vec![]), all)?;
            Recipe::from(ConstructorCall { class: content.as_str()?.to_owned(), arguments, keywords })
        }
        _ => return None,
    })
}

/// A recipe that can be a member of a set or a key.
fn hashable(recipe: Recipe) -> Option<Recipe> {
    let is = match &recipe {
        Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) => false,
        Recipe::Tuple(items) => items.iter().cloned().all(|item| hashable(item).is_some()),
        _ => true,
    };
    is.then_some(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Passed {
        recipe(&serde_json::from_str(text).unwrap(), DEEPEST)
    }

    #[test]
    fn calls_are_listed_or_sorted_by_function_and_know_their_lines() {
        let listed = calls_of_json(
            "[\n  {\"function\": \"price\", \"args\": [10], \"kwargs\": {\"rate\": 0.5}},\n  {\"function\": \"f\"}\n]",
        );
        let calls = listed.unwrap();
        assert_eq!(calls.iter().map(|call| call.line).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(calls[0].arguments, [Some(Recipe::Int(10))]);
        assert_eq!(calls[0].keywords, [("rate".to_owned(), Some(Recipe::Float(0.5)))]);
        let calls = calls_of_json("{\"price\": [[10, 0.2],\n{\"cost\": 1}], \"f\": []}").unwrap();
        assert_eq!(calls.iter().map(|call| call.function.as_str()).collect::<Vec<_>>(), ["price", "price"]);
        assert_eq!(calls[1].line, 2);
    }

    #[test]
    fn what_json_does_not_say_is_tagged() {
        for (text, shown) in [
            ("{\"$tuple\": [1, \"a\"]}", "(1, 'a')"),
            ("{\"$set\": [1]}", "{1}"),
            ("{\"$dict\": [[1, null]]}", "{1: None}"),
            ("{\"$bytes\": \"a\\u00ff\"}", "b'a\\xff'"),
            ("{\"$float\": \"inf\"}", "inf"),
            ("{\"$call\": \"datetime.date\", \"args\": [2024, 1, 31]}", "datetime.date(2024, 1, 31)"),
            ("{\"$call\": \"Cart\", \"kwargs\": {\"size\": 2}}", "Cart(size=2)"),
            ("{\"a\": [true]}", "{'a': [True]}"),
        ] {
            assert_eq!(value(text).map(|value| value.display()).as_deref(), Some(shown));
        }
        for text in
            ["{\"$opaque\": \"socket\"}", "{\"$set\": [[1]]}", "[{\"$what\": 1}]", "123456789012345678901234567890"]
        {
            assert!(value(text).is_none_or(|value| matches!(value, Recipe::Float(_))), "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, what) in [
            ("{\n\"price\": [1,}", 2, "expected value"),
            ("3", 1, "invalid type"),
            ("[\n{\"args\": []}]", 2, "a call is"),
            ("{\"price\": [\n3]}", 2, "a call is"),
            ("[{\"function\": \"f\",\n\"args\": 3}]", 1, "args is no list"),
        ] {
            let error = calls_of_json(text).unwrap_err();
            assert!(error.line == line && error.what.starts_with(what), "{text}: {error}");
        }
        let error = calls_of_records("{\"function\": \"f\"}\n\n{\"function\": ").unwrap_err();
        assert_eq!(error.line, 3);
    }

    #[test]
    fn values_that_nest_too_deep_are_unknown() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(value(&nested(50)).is_some() && value(&nested(51)).is_none());
    }
}
