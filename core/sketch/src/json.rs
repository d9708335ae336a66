//! Values as JSON.

use twincell_syntax::python::python_string;
use twincell_values::value::Recipe;

use crate::environment::Node;
use crate::plain::is_exception;

/// A value as JSON. `None` if it has no such form.
pub fn json(node: &Node) -> Option<String> {
    let inner = |key: &str, item: &Recipe| {
        let known = node.items.iter().find(|(known, _)| known == key).map(|(_, node)| node);
        match known {
            Some(known) => json(known),
            None => json(&Node { value: Some(item.clone()), ..Node::default() }),
        }
    };
    Some(match node.value.as_ref()? {
        Recipe::None => "null".into(),
        Recipe::Bool(truth) => truth.to_string(),
        Recipe::Int(number) => number.to_string(),
        Recipe::Float(number) if number.is_finite() => format!("{number:?}"),
        Recipe::Str(text) => quoted(text),
        // `answer['error']`
        error if is_exception(error) => quoted("failure"),
        Recipe::List(items) | Recipe::Tuple(items) => {
            let items = items.iter().enumerate().map(|(index, item)| inner(&index.to_string(), item));
            format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(", "))
        }
        Recipe::Dict(entries) => {
            let entry = |(key, item): &(Recipe, Recipe)| {
                let Recipe::Str(key) = key else { return None };
                Some(format!("{}: {}", quoted(key), inner(&python_string(key), item)?))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            character if u32::from(character) < 32 => out += &format!("\\u{:04x}", u32::from(character)),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}
