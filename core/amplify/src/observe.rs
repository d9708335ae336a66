//! Observation points in a test, and what differs between the observations of two versions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use twincell_syntax::PerSide;
use twincell_testing::{Observation, Observed, Seen};

use crate::body::places;
use crate::channel::Heard;
use crate::code::{Code, Edit};
use crate::literal::{MAX_LITERAL, literal, string};

/// How many differences of one run are of interest.
const MAX_DIFFERENCES: usize = 50;
/// Objects of pytest and of mocks, by the fixtures that give them. Their state is not the program's.
const TOOLS: [&str; 12] = [
    "request",
    "monkeypatch",
    "mocker",
    "tmpdir",
    "tmp_path",
    "tmpdir_factory",
    "tmp_path_factory",
    "cache",
    "pytestconfig",
    "record_property",
    "testdir",
    "pytester",
];

/// A place where the two versions show something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The number of the observation point, behind whose statement an assertion can stand.
    pub point: u32,
    /// A local variable with what is asked of it: `result`, `len(cart.items)`.
    pub expression: String,
    pub values: PerSide<Observed>,
    /// How many questions lead from the variable to the value.
    pub depth: u32,
    /// For what was printed, logged or warned: the channel, and how a test listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Heard>,
}

/// The test with a call of the observing function behind each statement.
pub fn instrument(code: &Code) -> Code {
    let places = places(code);
    let edits = places.iter().enumerate().map(|(point, place)| {
        Edit::insert(place.behind, format!("{}__twincell_observe__({point}, locals())\n", place.indent))
    });
    // Edits at one position keep the order of their points: the inner statement comes first.
    let mut grouped: BTreeMap<usize, String> = BTreeMap::new();
    for edit in edits {
        grouped.entry(edit.range.start).or_default().push_str(&edit.with);
    }
    let edits = grouped.into_iter().map(|(at, with)| Edit::insert(at, with)).collect();
    code.edited(edits).unwrap_or_else(|| code.clone())
}

/// What differs between the observations of two versions, the nearest first. `hidden` are texts that no value may show,
/// such as the folder of a checkout.
pub fn differences(old: &[Observation], new: &[Observation], hidden: &[String]) -> Vec<Difference> {
    let last = |list: &[Observation]| -> BTreeMap<(u32, String), Observed> {
        let named = list.iter().filter_map(|one| match &one.seen {
            Seen::Local(name) => Some(((one.point, name.clone()), one.value.clone())),
            _ => None,
        });
        named.collect()
    };
    let (old, new) = (last(old), last(new));
    let mut found = Finder::new(hidden, 0);
    let mut seen = BTreeSet::new();
    for ((point, name), before) in &old {
        let Some(after) = new.get(&(*point, name.clone())) else { continue };
        let is_tool = TOOLS.contains(&name.as_str()) || name.starts_with("__") || name.starts_with("@");
        if is_tool || before == after || found.found.len() >= MAX_DIFFERENCES {
            continue;
        }
        found.point = *point;
        let start = found.found.len();
        found.walk(name, before, after, 0);
        // A value that differs at one point mostly does at all that follow.
        let kept: Vec<Difference> = found.found.drain(start..).collect();
        for one in kept {
            let key = (one.expression.clone(), format!("{:?}", one.values));
            if seen.insert(key) {
                found.found.push(one);
            }
        }
    }
    found.found.sort_by_key(|one| (one.depth, one.point, one.expression.len()));
    found.found
}

/// How many places are compared of which no assertion is written.
const MAX_STATES: usize = 200;

/// The places in all that was observed, private attributes too, where two versions differ.
pub fn unlike(old: &[Observation], new: &[Observation]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let new: BTreeMap<(u32, &Seen), &Observed> = new.iter().map(|one| ((one.point, &one.seen), &one.value)).collect();
    for one in old {
        if let (Seen::Local(name), Some(after)) = (&one.seen, new.get(&(one.point, &one.seen))) {
            states(name, &one.value, after, &mut found);
        }
    }
    found
}

fn states(place: &str, old: &Observed, new: &Observed, found: &mut BTreeSet<String>) {
    if old == new || found.len() >= MAX_STATES {
        return;
    }
    match (old, new) {
        (Observed::Object { class, fields }, Observed::Object { class: other, fields: more }) if class == other => {
            for (access, before) in fields {
                if let Some((_, after)) = more.iter().find(|(own, _)| own == access) {
                    states(&format!("{place}{access}"), before, after, found);
                }
            }
        }
        (Observed::List(before), Observed::List(after)) | (Observed::Tuple(before), Observed::Tuple(after))
            if before.len() == after.len() =>
        {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                states(&format!("{place}[{at}]"), before, after, found);
            }
        }
        (Observed::Dict(before), Observed::Dict(after)) if before.len() == after.len() => {
            for (at, ((_, before), (_, after))) in before.iter().zip(after).enumerate() {
                states(&format!("{place}[{at}]"), before, after, found);
            }
        }
        (Observed::Cut, _) | (_, Observed::Cut) => {}
        _ => {
            found.insert(place.to_owned());
        }
    }
}

/// Whether no text in a value depends on the machine or on the run.
pub fn is_telling(value: &Observed, hidden: &[String]) -> bool {
    let plain = |text: &str| !text.contains(" at 0x") && !hidden.iter().any(|hidden| text.contains(hidden));
    match value {
        Observed::Str(text) | Observed::Raised { message: text, .. } => plain(text),
        Observed::Bytes(bytes) => plain(&String::from_utf8_lossy(bytes)),
        Observed::List(items) | Observed::Tuple(items) | Observed::Set(items) | Observed::FrozenSet(items) => {
            items.iter().all(|item| is_telling(item, hidden))
        }
        Observed::Dict(pairs) => pairs.iter().all(|(key, value)| is_telling(key, hidden) && is_telling(value, hidden)),
        _ => true,
    }
}

/// Walks two values together, and collects where they differ.
pub struct Finder<'a> {
    hidden: &'a [String],
    pub found: Vec<Difference>,
    point: u32,
}

impl<'a> Finder<'a> {
    pub fn new(hidden: &'a [String], point: u32) -> Self {
        Self { hidden, found: Vec::new(), point }
    }

    fn add(&mut self, expression: String, old: &Observed, new: &Observed, depth: u32) {
        if self.found.len() < MAX_DIFFERENCES && is_telling(old, self.hidden) && is_telling(new, self.hidden) {
            let values = PerSide::new(old.clone(), new.clone());
            self.found.push(Difference { point: self.point, expression, values, depth, heard: None });
        }
    }

    pub fn walk(&mut self, expression: &str, old: &Observed, new: &Observed, depth: u32) {
        if old == new || matches!(old, Observed::Cut) || matches!(new, Observed::Cut) {
            return;
        }
        match (old, new) {
            (Observed::Object { class, fields }, Observed::Object { class: other, fields: more }) => {
                if class != other {
                    let name = |class: &str| Observed::Str(class.rsplit('.').next().unwrap_or(class).to_owned());
                    let (old, new) = (name(class), name(other));
                    if old != new {
                        self.add(format!("type({expression}).__name__"), &old, &new, depth + 1);
                    }
                }
                self.fields(expression, class, fields, more, depth);
            }
            (Observed::Member { .. }, Observed::Member { .. }) | (Observed::Named { .. }, Observed::Named { .. }) => {
                let name = |value: &Observed| match value {
                    Observed::Member { name, .. } => Some(name.clone()),
                    Observed::Named { name, .. } => name.rsplit('.').next().map(str::to_owned),
                    _ => None,
                };
                let attribute = if matches!(old, Observed::Member { .. }) { "name" } else { "__name__" };
                if let (Some(before), Some(after)) = (name(old), name(new))
                    && before != after
                {
                    let (before, after) = (Observed::Str(before), Observed::Str(after));
                    self.add(format!("{expression}.{attribute}"), &before, &after, depth + 1);
                }
            }
            _ if literal(old).is_some() && literal(new).is_some() => self.add(expression.to_owned(), old, new, depth),
            (Observed::List(before), Observed::List(after)) | (Observed::Tuple(before), Observed::Tuple(after)) => {
                self.items(expression, before, after, depth);
            }
            (Observed::Dict(before), Observed::Dict(after)) => {
                if before.len() != after.len() && !before.iter().chain(after).any(is_cut) {
                    self.lengths(expression, before.len(), after.len(), depth);
                }
                for (key, value) in before {
                    let other = after.iter().find(|(other, _)| other == key);
                    if let (Some(text), Some((_, other))) = (literal(key), other) {
                        self.walk(&format!("{expression}[{text}]"), value, other, depth + 1);
                    }
                }
            }
            (Observed::Str(before), Observed::Str(after)) => {
                self.texts(expression, before, after, depth);
            }
            // One of them is an object, or raised, and the other is something else.
            _ => self.add(expression.to_owned(), old, new, depth),
        }
    }

    fn items(&mut self, expression: &str, old: &[Observed], new: &[Observed], depth: u32) {
        let is_whole = |items: &[Observed]| !matches!(items.last(), Some(Observed::Cut));
        if old.len() != new.len() && is_whole(old) && is_whole(new) {
            self.lengths(expression, old.len(), new.len(), depth);
        }
        for (at, (before, after)) in old.iter().zip(new).enumerate() {
            self.walk(&format!("{expression}[{at}]"), before, after, depth + 1);
        }
    }

    fn lengths(&mut self, expression: &str, old: usize, new: usize, depth: u32) {
        let number = |length: usize| Observed::Int(length.to_string());
        self.add(format!("len({expression})"), &number(old), &number(new), depth + 1);
    }

    /// Two long texts: their first line that differs.
    fn texts(&mut self, expression: &str, old: &str, new: &str, depth: u32) {
        for (at, (before, after)) in old.split('\n').zip(new.split('\n')).enumerate() {
            if before != after {
                let (before, after) = (Observed::Str(before.to_owned()), Observed::Str(after.to_owned()));
                if literal(&before).is_some() && literal(&after).is_some() {
                    self.add(format!("{expression}.split('\\n')[{at}]"), &before, &after, depth + 1);
                }
                return;
            }
        }
        self.lengths(&format!("{expression}.split('\\n')"), old.split('\n').count(), new.split('\n').count(), depth);
    }

    fn fields(
        &mut self,
        expression: &str,
        class: &str,
        old: &[(String, Observed)],
        new: &[(String, Observed)],
        depth: u32,
    ) {
        let is_mock = is_mock(class);
        for (access, before) in old {
            let Some((_, after)) = new.iter().find(|(other, _)| other == access) else { continue };
            let is_call = access == ".call_count" || access.starts_with(".mock_calls[");
            let is_tool = (is_mock && !is_call) || (expression == "self" && access.ends_with("()"));
            if before == after || is_private(access) || is_tool {
                continue;
            }
            let (asked, more) = match access.as_str() {
                "repr()" => (format!("repr({expression})"), 3),
                function if !function.starts_with('.') => {
                    (format!("{}({expression})", function.trim_end_matches("()")), 1)
                }
                attribute => (format!("{expression}{attribute}"), 1),
            };
            self.walk(&asked, before, after, depth + more);
        }
    }
}

/// Whether an access is one of an attribute that no other code should read.
pub fn is_private(access: &str) -> bool {
    access.starts_with("._")
}

/// Whether a class is one of mocks.
pub fn is_mock(class: &str) -> bool {
    class.starts_with("unittest.mock.") || class.starts_with("mock.")
}

fn is_cut(pair: &(Observed, Observed)) -> bool {
    matches!(pair.0, Observed::Cut)
}

/// The lines of an assertion that an expression has a value, where it may also have another one. `None` if the value
/// cannot be told from the other.
pub fn assertion(expression: &str, value: &Observed, other: &Observed) -> Option<Vec<String>> {
    let line = match value {
        // Python calls them equal.
        Observed::Int(_) | Observed::Float(_) if is_equal_number(value, other) => {
            let name = if matches!(value, Observed::Int(_)) { "int" } else { "float" };
            format!("assert type({expression}) is {name}")
        }
        Observed::None => format!("assert {expression} is None"),
        Observed::Bool(true) => format!("assert {expression} is True"),
        Observed::Bool(false) => format!("assert {expression} is False"),
        Observed::Float(text) if text == "nan" => format!("assert {expression} != {expression}"),
        Observed::Float(text) if is_far(text, other) => format!("assert {expression} == pytest.approx({text})"),
        Observed::Raised { class, message } => {
            let class = class.rsplit('.').next().unwrap_or(class);
            return Some(vec![
                format!("with pytest.raises({class}{}):", matching(message)),
                format!("    {expression}"),
            ]);
        }
        Observed::Object { .. } if matches!(other, Observed::None) => format!("assert {expression} is not None"),
        Observed::Object { class, .. } => {
            let name = class.rsplit('.').next().unwrap_or(class);
            format!("assert type({expression}).__name__ == {}", string(name))
        }
        Observed::Member { name, .. } => format!("assert {expression}.name == {}", string(name)),
        Observed::Named { name, .. } => {
            let name = name.rsplit('.').next().unwrap_or(name);
            format!("assert {expression}.__name__ == {}", string(name))
        }
        value => format!("assert {expression} == {}", literal(value)?),
    };
    Some(vec![line])
}

fn is_equal_number(value: &Observed, other: &Observed) -> bool {
    let number = |value: &Observed| match value {
        Observed::Int(text) | Observed::Float(text) => text.parse::<f64>().ok(),
        Observed::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    };
    number(value).is_some_and(|value| Some(value) == number(other))
        && std::mem::discriminant(value) != std::mem::discriminant(other)
}

/// Whether a number is so far from the other value that an approximation tells them apart.
fn is_far(text: &str, other: &Observed) -> bool {
    let (Ok(value), other) = (text.parse::<f64>(), other) else { return false };
    let other = match other {
        Observed::Float(text) | Observed::Int(text) => text.parse::<f64>().ok(),
        _ => None,
    };
    value.is_finite() && value.fract() != 0.0 && other.is_none_or(|other| (value - other).abs() > 1e-5 * value.abs())
}

/// `, match='...'` for the message of an exception, if it tells anything.
pub fn matching(message: &str) -> String {
    let first = message.lines().next().unwrap_or("").trim_end();
    let text: String = first.chars().take(80).collect();
    if text.is_empty() || text.contains(" at 0x") || text.contains('/') {
        return String::new();
    }
    let pattern = crate::literal::pattern(&text);
    let raw = if pattern.contains('\\') && !pattern.contains(['\'', '"']) && pattern.is_ascii() {
        format!("r'{pattern}'")
    } else {
        string(&pattern)
    };
    format!(", match={raw}")
}

/// A value as a sentence has it.
pub fn shown(value: &Observed) -> String {
    let short = |text: String| match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    };
    match value {
        Observed::Raised { class, message } if message.is_empty() => class.clone(),
        Observed::Raised { class, message } => short(format!("{class}: {}", message.lines().next().unwrap_or(""))),
        Observed::Object { class, .. } => format!("an object of {class}"),
        Observed::Member { class, name } => format!("{class}.{name}"),
        Observed::Named { name, .. } => name.clone(),
        Observed::Float(text) => text.clone(),
        Observed::Str(text) if text.chars().count() > MAX_LITERAL => short(string(text)),
        value => literal(value).map_or_else(|| "a value that is too long to show".to_owned(), short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i32) -> Observed {
        Observed::Int(value.to_string())
    }

    fn text(text: &str) -> Observed {
        Observed::Str(text.into())
    }

    fn object(fields: &[(&str, Observed)]) -> Observed {
        let fields = fields.iter().map(|(access, value)| ((*access).to_owned(), value.clone())).collect();
        Observed::Object { class: "shop.Cart".into(), fields }
    }

    fn found(old: Observed, new: Observed) -> Vec<String> {
        let one = |value| [Observation { point: 0, seen: Seen::Local("x".into()), value }];
        let found = differences(&one(old), &one(new), &["/secret".to_owned()]);
        found.into_iter().map(|one| one.expression).collect()
    }

    #[test]
    fn each_statement_that_runs_once_is_observed() {
        let code = Code::new("def test():\n    with a:\n        b = 1\n    return b\n");
        assert_eq!(
            instrument(&code).lines(),
            "def test():\n    with a:\n        b = 1\n        __twincell_observe__(0, locals())\n    \
             __twincell_observe__(1, locals())\n    return b\n"
        );
    }

    #[test]
    fn differences_are_named_by_the_question_that_shows_them() {
        let long = |last: &str| text(&format!("{}\n{last}", "a".repeat(1000)));
        let fields = |total, private| object(&[(".total", total), ("._private", private), ("len()", int(1))]);
        for (old, new, expected) in [
            (int(1), int(2), vec!["x"]),
            (Observed::None, object(&[]), vec!["x"]),
            (fields(int(1), int(1)), fields(int(2), int(2)), vec!["x.total"]),
            (
                object(&[("bool()", Observed::Bool(true))]),
                object(&[("bool()", Observed::Bool(false))]),
                vec!["bool(x)"],
            ),
            (long("b"), long("c"), vec!["x.split('\\n')[1]"]),
            (text("in /secret/a"), text("in /secret/b"), vec![]),
            (int(1), Observed::Cut, vec![]),
            (
                Observed::List(vec![object(&[(".a", int(1))])]),
                Observed::List(vec![object(&[(".a", int(2))]), int(3)]),
                vec!["len(x)", "x[0].a"],
            ),
        ] {
            assert_eq!(found(old, new), expected);
        }
    }

    #[test]
    fn assertions_are_idiomatic() {
        let raised = Observed::Raised { class: "shop.NoStock".into(), message: "none of (a)".into() };
        for (value, other, expected) in [
            (Observed::None, int(1), "assert x is None"),
            (Observed::Bool(true), int(1), "assert x is True"),
            (Observed::Float("0.3".into()), Observed::Float("0.4".into()), "assert x == pytest.approx(0.3)"),
            (Observed::Float("2.0".into()), int(1), "assert x == 2.0"),
            (Observed::Float("2.0".into()), int(2), "assert type(x) is float"),
            (int(1), Observed::Bool(true), "assert type(x) is int"),
            (text("a"), text("b"), "assert x == 'a'"),
            (object(&[]), Observed::None, "assert x is not None"),
            (raised, int(1), "with pytest.raises(NoStock, match=r'none of \\(a\\)'):\n    x"),
        ] {
            assert_eq!(assertion("x", &value, &other).unwrap().join("\n"), expected);
        }
    }
}
