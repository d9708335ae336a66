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
    (
        &["count", "size", "length", "index", "number", "num", "n", "i", "j", "limit", "timeout", "width", "height"],
        Meaning::One,
    ),
];

#[derive(Clone, Copy)]
enum Meaning {
    Tuple,
    Dict,
    Text(&'static str),
    /// The word itself, as a text.
    Own,
    One,
}

/// Values to try in place of another one that stands under a name, the most natural first.
pub fn instead_of(value: Option<&Recipe>, name: &str) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = promised(name).into_iter().collect();
    match value {
        Some(Recipe::Str(text)) if !is_natural(text) && !name.is_empty() => found.push(Recipe::Str(name.to_owned())),
        Some(Recipe::Int(number)) if !(0..=1).contains(number) => found.push(Recipe::Int(1)),
        Some(Recipe::Float(number)) if *number != 1.0 => found.push(Recipe::Float(1.0)),
        Some(Recipe::List(items)) if !items.is_empty() => {
            found.extend([Recipe::List(vec![]), Recipe::List(first(items))])
        }
        Some(Recipe::Tuple(items)) if !items.is_empty() => {
            found.extend([Recipe::Tuple(vec![]), Recipe::Tuple(first(items))]);
        }
        Some(Recipe::Set(items)) if !items.is_empty() => found.push(Recipe::Set(vec![])),
        Some(Recipe::Dict(entries)) if !entries.is_empty() => found.push(Recipe::Dict(vec![])),
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
        Meaning::One => Recipe::Int(1),
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
    fn names_promise_values_and_odd_values_have_plain_ones_in_their_place() {
        let text = |text: &str| Recipe::Str(text.into());
        assert_eq!(instead_of(Some(&Recipe::Tuple(vec![Recipe::None])), "args")[0], Recipe::Tuple(vec![]));
        assert_eq!(instead_of(Some(&text("")), "charset"), [text("utf-8"), text("charset")]);
        assert_eq!(instead_of(Some(&text("")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("²")), "host")[0], text("localhost"));
        assert_eq!(instead_of(Some(&text("$")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("x, y")), "body"), []);
        assert_eq!(instead_of(Some(&Recipe::Int(-100)), "failure"), [Recipe::Int(1)]);
        assert_eq!(instead_of(Some(&Recipe::Int(0)), "price"), []);
        assert_eq!(instead_of(Some(&Recipe::Bool(true)), "is_open"), []);
        assert_eq!(instead_of(None, "f_name")[0], text("name"));
        assert!(is_of_class("Response") && is_of_class("_Page") && !is_of_class("BASE") && !is_of_class("page"));
    }
}
