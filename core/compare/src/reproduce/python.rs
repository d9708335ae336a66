//! Plain data as Python source: literals where they exist, and a structural text otherwise.
//!
//! The texts are those of `standin/text.py`. Both must agree to the letter.

use ruff_python_ast::{Expr, Stmt};

use twincell_engine::observed::{Call, Observed, WRITTEN};
use twincell_syntax::parse::parse;
use twincell_syntax::python::{float_repr, python_float, python_string};
use twincell_values::value::{
    ConstructorCall, Decision, Makes, NOTEBOOK, Provided, Recipe, library, short_module, within_module, written_class,
};

/// A recipe as a literal. `...` stands for a stand-in.
pub(super) fn literal(recipe: &Recipe) -> String {
    let all = |items: &[Recipe]| items.iter().map(literal).collect::<Vec<_>>().join(", ");
    match recipe {
        Recipe::Float(value) => python_float(*value),
        Recipe::Str(text) => string(text),
        Recipe::List(items) => format!("[{}]", all(items)),
        Recipe::Tuple(items) if items.len() == 1 => format!("({},)", all(items)),
        Recipe::Tuple(items) => format!("({})", all(items)),
        Recipe::Set(items) if items.is_empty() => "set()".into(),
        Recipe::Set(items) => format!("{{{}}}", all(items)),
        Recipe::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", literal(key), literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Recipe::Mock(_) => "...".into(),
        Recipe::Named(name) => format!("Same({})", string(name)),
        Recipe::Made(call) => {
            let ConstructorCall { class, arguments, keywords } = &**call;
            let within = |value: &Recipe| match value {
                // What makes the values of a mapping: `int`.
                Recipe::Named(name) => reached(name),
                other => literal(other),
            };
            if let Some((before, behind)) = library::written_stream(class) {
                return format!("{before}{}{behind}", all(arguments));
            }
            let positional = arguments.iter().map(within);
            let named = keywords.iter().map(|(name, value)| format!("{name}={}", within(value)));
            let arguments = positional.chain(named).collect::<Vec<_>>().join(", ");
            match library::is_filled(class) {
                true => format!(
                    "(lambda made, **fields: vars(made).update(fields) or made)({}(), {arguments})",
                    made(class)
                ),
                false => format!("{}({arguments})", made(class)),
            }
        }
        Recipe::Provided(value) => provided(value),
        other => other.display(),
    }
}

/// A value that the project declares for its class.
fn provided(value: &Provided) -> String {
    match (&value.by.makes, within_module(&value.by.class)) {
        (Makes::Function(function), _) => {
            let function = match within_module(function) {
                (Some(NOTEBOOK), own) => own,
                _ => function,
            };
            format!("{}(__import__('random').Random({}))", reached(function), value.number)
        }
        (Makes::Expressions(_), (None, _)) => {
            let text = value.by.written(value.number);
            if is_operand(&text) { text } else { format!("({text})") }
        }
        (Makes::Expressions(_), (Some(module), _)) => {
            let text = string(&value.by.written(value.number));
            format!("eval({text}, vars(__import__('importlib').import_module({})))", string(module))
        }
    }
}

/// Whether an expression can stand anywhere as it is.
fn is_operand(text: &str) -> bool {
    let parsed = parse(text);
    let Some(Stmt::Expr(node)) = parsed.suite().first() else { return false };
    matches!(*node.value, Expr::Call(_) | Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_))
}

/// The values in a recipe that are written with names of the code's own module.
pub(super) fn in_module(recipe: &Recipe) -> Vec<String> {
    match recipe {
        Recipe::Provided(value) if within_module(&value.by.class).0.is_none() => vec![provided(value)],
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().flat_map(in_module).collect(),
        Recipe::Dict(entries) => entries.iter().flat_map(|(key, value)| [key, value]).flat_map(in_module).collect(),
        Recipe::Made(call) => {
            let is_own = within_module(&call.class).0.is_none() && !call.class.contains('.');
            let keywords = call.keywords.iter().map(|(_, value)| value);
            let within = call.arguments.iter().chain(keywords).flat_map(in_module);
            is_own.then(|| call.class.clone()).into_iter().chain(within).collect()
        }
        _ => vec![],
    }
}

/// What makes a value. Only tables and arrays need an import, since everybody knows their modules by short names.
fn made(class: &str) -> String {
    if library::is_model(class) {
        return reached(class);
    }
    match class.rsplit_once('.') {
        Some(("builtins", name)) => name.to_owned(),
        Some((module, _)) if short_module(module).is_some() => written_class(class).into_owned(),
        Some((module, name)) => {
            let within = module.split_once('.').map(|(_, within)| format!("{within}.")).unwrap_or_default();
            format!("__import__({}).{within}{name}", string(module))
        }
        None => class.to_owned(),
    }
}

/// The object in a decision that somebody gave and that nothing writes, in a few words.
pub(super) fn given_object(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Value(value @ Recipe::Given(_)) => Some(value.display()),
        _ => None,
    }
}

/// A name of the code itself, or in another module of its project.
fn reached(name: &str) -> String {
    match within_module(name) {
        (Some(module), name) => format!("__import__('importlib').import_module({}).{name}", string(module)),
        (None, name) => name.to_owned(),
    }
}

/// Whether a recipe contains a stand-in.
pub(super) fn has_standin(recipe: &Recipe) -> bool {
    holds(recipe, &|part| matches!(part, Recipe::Mock(_) | Recipe::Named(_)))
}

/// Whether a recipe contains what a name stands for.
pub(super) fn has_named(recipe: &Recipe) -> bool {
    holds(recipe, &|part| matches!(part, Recipe::Named(_)))
}

pub(super) fn holds(recipe: &Recipe, is_it: &dyn Fn(&Recipe) -> bool) -> bool {
    let any = |items: &[Recipe]| items.iter().any(|item| holds(item, is_it));
    match recipe {
        recipe if is_it(recipe) => true,
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => any(items),
        Recipe::Dict(entries) => entries.iter().any(|(key, value)| holds(key, is_it) || holds(value, is_it)),
        _ => false,
    }
}

/// A string literal on one line, whatever the string holds.
pub(super) fn string(text: &str) -> String {
    let mut out = String::new();
    for character in python_string(text).chars() {
        match character {
            // Characters that editors or Python's own reader take for a line end, or that are invisible.
            '\u{80}'..='\u{a0}' | '\u{ad}' => out.push_str(&format!("\\x{:02x}", character as u32)),
            '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => {
                out.push_str(&format!("\\u{:04x}", character as u32));
            }
            _ => out.push(character),
        }
    }
    out
}

fn parsed(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// A value as a literal, if `==` with this literal expresses everything that was observed of it.
pub(super) fn plain(value: &Observed) -> Option<String> {
    let all = |items: &[Observed]| Some(items.iter().map(plain).collect::<Option<Vec<_>>>()?.join(", "));
    Some(match value {
        Observed::None => "None".into(),
        Observed::Bool(true) => "True".into(),
        Observed::Bool(false) => "False".into(),
        Observed::Int(text) => text.clone(),
        Observed::Float(text) => Some(parsed(text)).filter(|value| !value.is_nan()).map(python_float)?,
        Observed::Str(text) => string(text),
        Observed::Bytes(bytes) => Recipe::Bytes(bytes.clone()).display(),
        Observed::List(items) => format!("[{}]", all(items)?),
        Observed::Tuple(items) if items.len() == 1 => format!("({},)", all(items)?),
        Observed::Tuple(items) => format!("({})", all(items)?),
        Observed::Set(items) if items.is_empty() => "set()".into(),
        Observed::Set(items) => format!("{{{}}}", all(items)?),
        Observed::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| Some(format!("{}: {}", plain(key)?, plain(value)?)));
            format!("{{{}}}", entries.collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}

/// Whether Python's `==` considers these two equal although their classes differ (`1`, `1.0`, `True`).
pub(super) fn is_equal_in_python(one: &Observed, other: &Observed) -> bool {
    loose(one) == loose(other)
}

/// A value with all numbers in one class.
fn loose(value: &Observed) -> String {
    let all = |items: &[Observed]| items.iter().map(loose).collect::<Vec<_>>();
    match value {
        Observed::Bool(flag) => float_repr(f64::from(u8::from(*flag))),
        Observed::Int(text) | Observed::Float(text) if text.parse::<f64>().is_ok() => float_repr(parsed(text)),
        Observed::List(items) => format!("[{}]", all(items).join(",")),
        Observed::Tuple(items) => format!("({})", all(items).join(",")),
        Observed::Set(items) => {
            let mut items = all(items);
            items.sort();
            format!("{{{}}}", items.join(","))
        }
        Observed::Dict(entries) => {
            let mut entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}:{}", loose(key), loose(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        other => format!("{other:?}"),
    }
}

/// A value as text. `None` if a part of it was not observed.
pub(super) fn text(value: &Observed) -> Option<String> {
    let all = |items: &[Observed]| items.iter().map(text).collect::<Option<Vec<_>>>();
    Some(match value {
        Observed::Float(number) => float_repr(parsed(number)),
        Observed::Str(characters) => string(characters),
        Observed::None | Observed::Bool(_) | Observed::Int(_) | Observed::Bytes(_) => plain(value)?,
        Observed::List(items) => format!("[{}]", all(items)?.join(", ")),
        Observed::Tuple(items) if items.len() == 1 => format!("({},)", all(items)?.join(", ")),
        Observed::Tuple(items) => format!("({})", all(items)?.join(", ")),
        Observed::Set(items) if items.is_empty() => "set()".into(),
        Observed::Set(items) => {
            let mut items = all(items)?;
            items.sort();
            format!("{{{}}}", items.join(", "))
        }
        Observed::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| Some(format!("{}: {}", text(key)?, text(value)?)));
            format!("{{{}}}", entries.collect::<Option<Vec<_>>>()?.join(", "))
        }
        Observed::Injected { path, assigned } if assigned.is_empty() => format!("<{}>", masked(path.as_str())),
        Observed::Injected { path, assigned } => format!("<{} with {}>", masked(path.as_str()), named(assigned)?),
        Observed::Object { class, attributes } => match attributes.as_slice() {
            [(name, Observed::Str(inner))] if name == WRITTEN => format!("{class}({inner})"),
            _ => format!("{class}({})", named(attributes)?),
        },
        Observed::Function { name } => format!("<function {name}>"),
        Observed::Called { gave } => format!("function(returned={})", text(gave)?),
        Observed::Class { name } => format!("<class {name}>"),
        Observed::Module { name } => format!("<module {name}>"),
        Observed::Exception { class, arguments } => format!("{}({})", masked(class), all(arguments)?.join(", ")),
        Observed::Iterator { kind, items, finished } => {
            let mut items = all(items)?;
            items.extend((!finished).then(|| "...".into()));
            format!("<{kind}: {}>", if items.is_empty() { "no items".into() } else { items.join(", ") })
        }
        Observed::Cycle { .. } | Observed::Elided { .. } | Observed::Varying(_) => return None,
    })
}

pub(super) fn named(values: &[(String, Observed)]) -> Option<String> {
    let values = values.iter().map(|(name, value)| Some(format!("{}={}", masked(name), text(value)?)));
    Some(values.collect::<Option<Vec<_>>>()?.join(", "))
}

/// A recorded call as text.
pub(super) fn call(call: &Call) -> Option<String> {
    let arguments = call.arguments.iter().map(text);
    let keywords = call.keywords.iter().map(|(name, value)| Some(format!("{name}={}", text(value)?)));
    Some(format!(
        "{}({})",
        masked(call.callee.as_str()),
        arguments.chain(keywords).collect::<Option<Vec<_>>>()?.join(", ")
    ))
}

/// An access path without the hashes that stand for what was cut, since a reproducer has no such hashes.
pub(super) fn masked(path: &str) -> String {
    const DIGITS: usize = 16;
    let mut out = String::with_capacity(path.len());
    let mut left = 0;
    for character in path.chars() {
        if left > 0 && character.is_ascii_hexdigit() {
            out.push('0');
            left -= 1;
        } else {
            left = if character == '~' { DIGITS } else { 0 };
            out.push(character);
        }
    }
    out
}

/// A text as a triple-quoted literal, which is raw if that says the same.
pub(super) fn block(text: &str) -> String {
    let quote = ["'''", "\"\"\""].into_iter().find(|quote| !text.contains(quote) && !text.contains('\r'));
    match quote {
        Some(quote) => format!("r{quote}\n{text}{quote}"),
        None => {
            let text = text.replace('\\', "\\\\").replace("'''", "\\'\\'\\'").replace('\r', "\\r");
            format!("'''\n{text}'''")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Elision;

    #[test]
    fn only_values_that_a_literal_says_in_full_are_plain() {
        let injected = Observed::Injected { path: "x".into(), assigned: vec![] };
        assert_eq!(plain(&Observed::List(vec![Observed::None])).as_deref(), Some("[None]"));
        assert_eq!(plain(&Observed::List(vec![injected.clone()])), None);
        assert_eq!(text(&Observed::List(vec![injected])).as_deref(), Some("[<x>]"));
        assert_eq!(plain(&Observed::Float("NaN".into())), None);
        assert_eq!(text(&Observed::Elided { reason: Elision::Depth }), None);
    }

    #[test]
    fn numbers_that_python_takes_for_equal_are_known() {
        let (one, truth) = (Observed::Int("1".into()), Observed::Bool(true));
        assert!(is_equal_in_python(&Observed::List(vec![one.clone()]), &Observed::List(vec![truth])));
        assert!(!is_equal_in_python(&Observed::List(vec![one.clone()]), &Observed::Tuple(vec![one])));
    }

    #[test]
    fn hashes_in_paths_are_masked() {
        assert_eq!(masked("a.b~0123456789abcdef.c"), "a.b~0000000000000000.c");
        assert_eq!(masked("a~beta"), "a~00ta");
    }

    #[test]
    fn a_text_that_holds_both_quotes_is_escaped() {
        assert_eq!(block("a\n"), "r'''\na\n'''");
        assert_eq!(block("'''\"\"\"\\\n"), "'''\n\\'\\'\\'\"\"\"\\\\\n'''");
        assert_eq!(block("'''x'''\n"), "r\"\"\"\n'''x'''\n\"\"\"");
    }
}
