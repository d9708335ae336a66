//! Values that a person would have written: what a name promises, and the plainest value of a class.

use twincell_values::value::{AbstractValue, Recipe};

/// The last words of names, and what people keep under them.
const NAMES: &[(&[&str], Meaning)] = &[
    (&["args"], Meaning::Tuple),
    (
        &["kwargs", "options", "params", "config", "settings", "headers", "environ", "env", "context", "meta"],
        Meaning::Dict,
    ),
    (&["encoding", "charset"], Meaning::Text("utf-8")),
    (&["url", "uri", "link", "href"], Meaning::Text("https://example.com")),
    (&["host", "hostname"], Meaning::Text("localhost")),
    (&["path", "filename", "file", "folder", "directory", "dirname"], Meaning::Own),
    (&["name", "key", "text", "title", "label", "message", "msg", "prefix", "suffix", "word", "string"], Meaning::Own),
    (&["f", "fn", "func", "function", "callback", "handler", "hook"], Meaning::Function),
    (&["port"], Meaning::Number(8080)),
    (&["year"], Meaning::Number(2024)),
    (
        &["count", "size", "length", "index", "number", "num", "n", "i", "j", "limit", "timeout", "width", "height"],
        Meaning::Number(1),
    ),
];

#[derive(Clone, Copy)]
enum Meaning {
    Tuple,
    Dict,
    Text(&'static str),
    /// The word itself, as a text.
    Own,
    Function,
    Number(i64),
}

/// The maximum number of entries of a dictionary that are tried to be left out.
const ENTRIES: usize = 6;

/// Values to try in place of another one that stands under a name, the most natural first.
pub fn instead_of(value: Option<&Recipe>, name: &str) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = promised(name).into_iter().collect();
    match value {
        Some(Recipe::Str(_)) if !name.is_empty() => found.push(Recipe::Str(name.to_owned())),
        Some(Recipe::Bytes(_)) if !name.is_empty() => found.push(Recipe::Bytes(name.as_bytes().to_vec())),
        Some(Recipe::Int(number)) if !(0..=1).contains(number) => found.push(Recipe::Int(1)),
        Some(Recipe::Float(number)) if *number != 1.0 => found.push(Recipe::Float(1.0)),
        Some(Recipe::List(items)) if !items.is_empty() => {
            found.extend([Recipe::List(vec![]), Recipe::List(first(items))])
        }
        Some(Recipe::Tuple(items)) if !items.is_empty() => {
            found.extend([Recipe::Tuple(vec![]), Recipe::Tuple(first(items))]);
        }
        Some(Recipe::Set(items)) if !items.is_empty() => found.push(Recipe::Set(vec![])),
        Some(Recipe::Dict(entries)) if !entries.is_empty() => {
            found.push(Recipe::Dict(vec![]));
            found.extend((0..entries.len().min(ENTRIES)).rev().map(|left_out| {
                let rest = entries.iter().enumerate().filter(|(at, _)| *at != left_out);
                Recipe::Dict(rest.map(|(_, entry)| entry.clone()).collect())
            }));
        }
        Some(Recipe::Versatile(AbstractValue::Callable | AbstractValue::Resource)) => {
            found.push(Recipe::Versatile(AbstractValue::Object));
        }
        // Nothing is known of it.
        None => found.extend([Recipe::None, Recipe::Versatile(AbstractValue::Object)]),
        _ => {}
    }
    found.retain(|other| Some(other) != value);
    found.dedup();
    found
}

/// Whether a person might have written a text: words, and what stands in paths, addresses and dates.
fn is_natural(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || " _-./:@,".contains(c);
    text.contains(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_usual)
}

/// Parts of a value that no person would have written, outermost first.
pub fn odd_parts<'r>(value: &'r Recipe, parts: &mut Vec<&'r Recipe>) {
    let is_odd = match value {
        Recipe::Str(text) => !is_natural(text),
        Recipe::Float(number) => *number != number.round() || number.abs() > 10.0,
        Recipe::Int(number) => !(-1..=1000).contains(number),
        Recipe::Tuple(items) => !items.is_empty() && items.iter().all(|item| matches!(item, Recipe::Float(_))),
        _ => false,
    };
    if is_odd {
        parts.push(value);
        return;
    }
    match value {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => {
            items.iter().for_each(|item| odd_parts(item, parts));
        }
        Recipe::Dict(entries) => entries.iter().flat_map(|(key, item)| [key, item]).for_each(|part| {
            odd_parts(part, parts);
        }),
        _ => {}
    }
}

/// A value with one part in place of another, wherever it stands.
pub fn with_part(value: &Recipe, part: &Recipe, other: &Recipe) -> Recipe {
    let inner = |value: &Recipe| with_part(value, part, other);
    match value {
        value if value == part => other.clone(),
        Recipe::List(items) => Recipe::List(items.iter().map(inner).collect()),
        Recipe::Tuple(items) => Recipe::Tuple(items.iter().map(inner).collect()),
        Recipe::Set(items) => Recipe::Set(items.iter().map(inner).collect()),
        Recipe::Dict(entries) => Recipe::Dict(entries.iter().map(|(key, value)| (inner(key), inner(value))).collect()),
        value => value.clone(),
    }
}

/// What a function gives: `pages` of `list_pages`.
pub fn result(function: &str) -> String {
    const VERBS: &[&str] =
        &["build", "create", "fetch", "find", "get", "list", "load", "make", "open", "parse", "read", "to"];
    let noun = function.split_once('_').filter(|(verb, noun)| VERBS.contains(verb) && !noun.is_empty());
    noun.map_or(function, |(_, noun)| noun).to_owned()
}

/// What one of several is called.
pub fn singular(name: &str) -> String {
    match name.strip_suffix('s') {
        Some(one) if one.len() > 1 && !one.ends_with('s') => one.to_owned(),
        _ => name.to_owned(),
    }
}

fn first(items: &[Recipe]) -> Vec<Recipe> {
    items.first().cloned().into_iter().collect()
}

/// What the last word of a name promises.
pub fn promised(name: &str) -> Option<Recipe> {
    let lower = name.to_lowercase();
    if ["is_", "has_"].iter().any(|start| lower.starts_with(start)) {
        return Some(Recipe::Bool(true));
    }
    let word = lower.rsplit('_').next().unwrap_or(&lower);
    let (_, meaning) = NAMES.iter().find(|(words, _)| words.contains(&word))?;
    Some(match meaning {
        Meaning::Tuple => Recipe::Tuple(vec![]),
        Meaning::Dict => Recipe::Dict(vec![]),
        Meaning::Text(text) => Recipe::Str((*text).to_owned()),
        Meaning::Own => Recipe::Str(word.to_owned()),
        Meaning::Function => Recipe::Versatile(AbstractValue::Callable),
        Meaning::Number(number) => Recipe::Int(*number),
    })
}

/// Whether a name is written as those of classes are: `Response`, and not `RESPONSE`.
pub fn is_of_class(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_parts_of_values_are_found_and_replaced_wherever_they_stand() {
        let text = |text: &str| Recipe::Str(text.into());
        let pair = Recipe::Tuple(vec![Recipe::Float(-10.0), Recipe::Float(-0.5)]);
        let value = Recipe::List(vec![text("page"), pair.clone(), Recipe::Dict(vec![(pair.clone(), text("²"))])]);
        let mut parts = Vec::new();
        odd_parts(&value, &mut parts);
        assert_eq!(parts, [&pair, &pair, &text("²")]);
        let expected = Recipe::List(vec![text("page"), text("a"), Recipe::Dict(vec![(text("a"), text("²"))])]);
        assert_eq!(with_part(&value, &pair, &text("a")), expected);
    }

    #[test]
    fn names_promise_values_and_odd_values_have_plain_ones_in_their_place() {
        let text = |text: &str| Recipe::Str(text.into());
        assert_eq!(instead_of(Some(&Recipe::Tuple(vec![Recipe::None])), "args")[0], Recipe::Tuple(vec![]));
        assert_eq!(instead_of(Some(&text("")), "charset"), [text("utf-8"), text("charset")]);
        assert_eq!(instead_of(Some(&text("")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("²")), "host")[0], text("localhost"));
        assert_eq!(instead_of(Some(&text("$")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("body")), "body"), []);
        assert_eq!(instead_of(Some(&Recipe::Int(-100)), "failure"), [Recipe::Int(1)]);
        assert_eq!(instead_of(Some(&Recipe::Int(0)), "price"), []);
        assert_eq!(instead_of(Some(&Recipe::Bool(true)), "is_open"), []);
        assert_eq!(instead_of(None, "f_name")[0], text("name"));
        assert_eq!((result("list_pages"), result("invoke")), ("pages".into(), "invoke".into()));
        let function = Recipe::Versatile(AbstractValue::Callable);
        assert_eq!(instead_of(Some(&function), "follow"), [Recipe::Versatile(AbstractValue::Object)]);
        assert_eq!(instead_of(Some(&Recipe::None), "callback"), [function]);
        assert!(is_of_class("Response") && is_of_class("_Page") && !is_of_class("BASE") && !is_of_class("page"));
    }
}
