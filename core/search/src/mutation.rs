//! Mutation on error: after an exception that injected values caused, another value for the one to blame.
//!
//! CPython's messages name the classes that did not fit (`'int' object is not iterable`). The line is known, and so are
//! the injected values: those of such a class whose name is on the line are the suspects. A wrong suspicion costs one
//! execution.
//!
//! After an execution that ended well, operands of changed lines get another truth, and containers get the name of a
//! keyword argument, since what such values have in common decides what the code gives.

use twincell_engine::observed::{Observed, Outcome};
use twincell_engine::protocol::ExecutionRecord;
use twincell_syntax::Side;
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::solve::{self, Assignment};
use super::target::Reading;

/// The maximum number of suspects that are replaced, one for each execution.
const SUSPECTS: usize = 2;

/// The maximum number of operands whose truth is changed, one for each execution.
const OPERANDS: usize = 6;

/// The number of fields of a text that has too few.
const LONGER: usize = 4;

/// What a value should become.
enum Need {
    /// Any of these values instead.
    OneOf(Vec<Recipe>),
    Length(usize),
    Longer,
    Key(Recipe),
}

/// The failure.
pub(super) struct Failure<'a> {
    pub(super) side: Side,
    pub(super) line: u32,
    pub(super) class: &'a str,
    message: &'a str,
}

/// The unintended exception of an execution, if it ended in one.
pub(super) fn failure(record: &ExecutionRecord) -> Option<Failure<'_>> {
    Side::BOTH.into_iter().zip(&record.behaviors).find_map(|(side, behavior)| match &behavior.outcome {
        Outcome::Raised { exception: Observed::Exception { class, .. }, intended: false, line, message } => {
            Some(Failure { side, line: *line, class, message })
        }
        _ => None,
    })
}

/// Decisions that may prevent the failure.
pub(super) fn mutations(failure: &Failure<'_>, record: &ExecutionRecord, reading: &Reading) -> Vec<Assignment> {
    let Some((culprits, need)) = diagnose(failure) else { return vec![] };
    let line = reading.lines.get((failure.line as usize).saturating_sub(1)).map_or("", String::as_str);
    let mut suspects: Vec<(u8, &Choice, &Recipe)> = record
        .choices
        .iter()
        .filter_map(|choice| match &choice.decision {
            Decision::Value(value) if is_value_path(&choice.path) && culprits(value) => {
                Some((distance(&choice.path, line), choice, value))
            }
            _ => None,
        })
        .collect();
    suspects.sort_by_key(|(distance, _, _)| *distance);
    let separators = separators(&reading.lines);
    let mut found = Vec::new();
    for (_, choice, value) in suspects.into_iter().take(SUSPECTS) {
        for changed in meet(&need, value, &separators) {
            found.push(Assignment::from([(choice.path.clone(), Decision::Value(changed))]));
        }
    }
    found
}

/// Decisions under which an operand of a changed `and` or `or` has the other truth, one at a time. Its truth decides what
/// the line gives, also where no branch tests it. `changed` has the changed lines.
pub(super) fn operands(record: &ExecutionRecord, changed: &[&str]) -> Vec<Assignment> {
    let lines: Vec<&&str> = changed.iter().filter(|line| line.contains(" and ") || line.contains(" or ")).collect();
    let is_operand =
        |choice: &&Choice| is_value_path(&choice.path) && lines.iter().any(|line| distance(&choice.path, line) <= 1);
    let choices = record.choices.iter().filter(is_operand);
    let flipped = choices.filter_map(|choice| match &choice.decision {
        Decision::Value(value) => {
            Some(Assignment::from([(choice.path.clone(), Decision::Value(with_other_truth(value)?))]))
        }
        _ => None,
    });
    flipped.take(OPERANDS).collect()
}

/// Decisions under which a container holds the name of a keyword argument that was given to `**kwargs`, one at a time.
/// Code that merges the two then has to choose between two values.
pub(super) fn shared_keywords(record: &ExecutionRecord) -> Vec<Assignment> {
    let given = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
        (Question::Keyword { name, .. }, Decision::Value(Recipe::Bool(true))) => Some(Recipe::Str(name.to_owned())),
        _ => None,
    };
    let Some(name) = record.choices.iter().find_map(given) else { return vec![] };
    let with_name = |choice: &Choice| {
        let Decision::Value(value) = &choice.decision else { return None };
        let value = match value {
            Recipe::List(items) if !items.contains(&name) => {
                Recipe::List([&items[..], std::slice::from_ref(&name)].concat())
            }
            Recipe::Dict(entries) if entries.iter().all(|(key, _)| *key != name) => {
                Recipe::Dict([&entries[..], &[(name.clone(), Recipe::Int(7))]].concat())
            }
            _ => return None,
        };
        Some(Assignment::from([(choice.path.clone(), Decision::Value(value))]))
    };
    record.choices.iter().filter(|choice| is_value_path(&choice.path)).filter_map(with_name).take(OPERANDS).collect()
}

/// The empty value of the same class, or an object in place of a value that is empty. `None` for functions,
/// constants and values of classes, whose truth is what it is.
fn with_other_truth(value: &Recipe) -> Option<Recipe> {
    Some(match value {
        Recipe::Bool(truth) => Recipe::Bool(!truth),
        Recipe::Int(number) if *number != 0 => Recipe::Int(0),
        Recipe::Float(number) if *number != 0.0 => Recipe::Float(0.0),
        Recipe::Str(text) if !text.is_empty() => Recipe::Str(String::new()),
        Recipe::Bytes(bytes) if !bytes.is_empty() => Recipe::Bytes(vec![]),
        Recipe::List(items) if !items.is_empty() => Recipe::List(vec![]),
        Recipe::Tuple(items) if !items.is_empty() => Recipe::Tuple(vec![]),
        Recipe::Set(items) if !items.is_empty() => Recipe::Set(vec![]),
        Recipe::Dict(entries) if !entries.is_empty() => Recipe::Dict(vec![]),
        Recipe::Mock(AbstractValue::Callable)
        | Recipe::Named(_)
        | Recipe::Made(_)
        | Recipe::Given(_)
        | Recipe::Provided(_) => {
            return None;
        }
        Recipe::Mock(_) => Recipe::List(vec![]),
        _ => Recipe::Mock(AbstractValue::Object),
    })
}

/// Answers such as `bool(x)` cause no failure. The text of an object may.
fn is_value_path(path: &str) -> bool {
    !Question::is_answer(path) || Question::is_text(path)
}

/// How near a path is to a line of code: written on it, only its last name written on it, or neither.
fn distance(path: &str, line: &str) -> u8 {
    let last = AccessPath::new(path).last_word();
    let is_word = |name: &str| {
        line.match_indices(name).any(|(at, _)| {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            !line[..at].ends_with(word) && !line[at + name.len()..].starts_with(word)
        })
    };
    if line.contains(path) && is_word(path) {
        0
    } else if is_word(last) {
        1
    } else {
        2
    }
}

fn class_name(value: &Recipe) -> &'static str {
    match value {
        Recipe::None => "NoneType",
        Recipe::Bytes(_) => "bytes",
        Recipe::Mock(_) => "Mock",
        other => other.abstract_value().name(),
    }
}

fn sample(class: &str) -> Option<Recipe> {
    Some(match class {
        "int" | "bool" => Recipe::Int(1),
        "float" => Recipe::Float(1.5),
        "str" => Recipe::Str("a".into()),
        "bytes" => Recipe::Bytes(b"a".to_vec()),
        "list" => Recipe::List(vec![Recipe::Str("a".into())]),
        "tuple" => Recipe::Tuple(vec![Recipe::Str("a".into())]),
        "dict" => Recipe::Dict(vec![(Recipe::Str("a".into()), Recipe::Int(1))]),
        "set" => Recipe::Set(vec![Recipe::Int(1)]),
        _ => return None,
    })
}

/// The names of builtin classes in a message, in order.
fn classes(message: &str) -> Vec<&str> {
    const KNOWN: [&str; 10] = ["NoneType", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set"];
    message.split(|c: char| !c.is_alphanumeric()).filter(|word| KNOWN.contains(word)).collect()
}

fn number_after(message: &str, word: &str) -> Option<usize> {
    let rest = &message[message.find(word)? + word.len()..];
    rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

type Culprits = Box<dyn Fn(&Recipe) -> bool>;

/// What a message says about the value that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misfit {
    NotIterable,
    NotSubscriptable,
    NoObject,
    Unhashable,
    /// The key is of the wrong class for the container.
    Index,
    Concatenation,
    Operands,
    /// It has another number of items than names to unpack into.
    Items,
    NotNumeric,
}

/// Parts of CPython's messages for values of the wrong class, and their meaning. The first that occurs holds. CPython
/// 3.10 to 3.14 write them alike, except that 3.10 has no message about a context manager: it raises
/// `AttributeError: __enter__`.
const OF_CLASSES: [(&str, Misfit); 14] = [
    ("not iterable", Misfit::NotIterable),
    ("non-iterable", Misfit::NotIterable),
    ("has no len()", Misfit::NotIterable),
    ("not subscriptable", Misfit::NotSubscriptable),
    ("item assignment", Misfit::NotSubscriptable),
    ("item deletion", Misfit::NotSubscriptable),
    ("has no attribute", Misfit::NoObject),
    ("not callable", Misfit::NoObject),
    ("context manager", Misfit::NoObject),
    ("unhashable", Misfit::Unhashable),
    ("indices must be", Misfit::Index),
    // `can only concatenate str (not "int") to str`
    ("concatenate", Misfit::Concatenation),
    // `unsupported operand type(s) for +: 'int' and 'str'`
    ("operand type", Misfit::Operands),
    // `'<' not supported between instances of 'str' and 'int'`
    ("not supported between", Misfit::Operands),
];

/// What stands before the number of names to unpack into.
const EXPECTED: &str = "unpack (expected ";

/// Parts of CPython's messages for wrong values of the right class, and their meaning.
const OF_VALUES: [(&str, Misfit); 3] = [
    (EXPECTED, Misfit::Items),
    ("invalid literal for int()", Misfit::NotNumeric),
    ("could not convert string to float", Misfit::NotNumeric),
];

/// A message with this word asks for a text.
const TEXT: &str = "string";
/// A message with this class asks for a text too, unless it is the class of what was given.
const TEXT_CLASS: &str = "str";

fn misfit(table: &[(&str, Misfit)], message: &str) -> Option<Misfit> {
    table.iter().find(|(part, _)| message.contains(part)).map(|(_, misfit)| *misfit)
}

/// Whether a message such as `expected str, bytes or os.PathLike object, not int` asks for a text.
fn wants_text(message: &str, given: &str) -> bool {
    message.contains(TEXT) || message.contains(TEXT_CLASS) && given != TEXT_CLASS
}

fn of_class(class: &str) -> Culprits {
    let class = class.to_string();
    Box::new(move |value| class_name(value) == class)
}

/// Values with items, or that are split into items.
fn holders() -> Culprits {
    Box::new(|value| matches!(value, Recipe::List(_) | Recipe::Tuple(_) | Recipe::Str(_) | Recipe::Bytes(_)))
}

/// The separators at which a code splits texts, each once.
fn separators(lines: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        for (at, call) in line.match_indices("split(").chain(line.match_indices("partition(")) {
            let given = line[at + call.len()..].trim_start_matches(['b', 'r']);
            let separator = match given.chars().next() {
                Some(quote @ ('\'' | '"')) => given[1..].split(quote).next().unwrap_or_default(),
                Some(')') => " ",
                _ => "",
            };
            if !separator.is_empty() && !separator.contains('\\') && found.iter().all(|known| known != separator) {
                found.push(separator.to_string());
            }
        }
    }
    found
}

/// Texts and bytes that the separators split into as many fields.
fn of_fields(value: &Recipe, count: usize, separators: &[String]) -> Vec<Recipe> {
    let split = |text: &str| {
        let with = |separator: &String| {
            let own = text.split(separator.as_str()).map(|field| if field.is_empty() { "a" } else { field });
            let fields: Vec<&str> = own.chain(std::iter::repeat("1")).take(count).collect();
            fields.join(separator)
        };
        separators.iter().map(with).collect::<Vec<String>>()
    };
    match value {
        Recipe::Str(text) => split(text).into_iter().map(Recipe::Str).collect(),
        Recipe::Bytes(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            split(&text).into_iter().map(|text| Recipe::Bytes(text.into_bytes())).collect()
        }
        _ => vec![],
    }
}

/// The values that may have caused a failure, and what they should have been.
fn diagnose(failure: &Failure<'_>) -> Option<(Culprits, Need)> {
    let message = failure.message;
    match failure.class {
        "TypeError" | "AttributeError" => of_wrong_class(message),
        "ValueError" => of_wrong_value(message),
        "IndexError" => Some((holders(), Need::Longer)),
        "KeyError" => {
            let key = match message.parse::<i64>() {
                Ok(number) => Recipe::Int(number),
                Err(_) => Recipe::Str(message.trim_matches(['\'', '"']).to_string()),
            };
            Some((Box::new(|value| matches!(value, Recipe::Dict(_))), Need::Key(key)))
        }
        "ZeroDivisionError" => {
            let is_zero: Culprits =
                Box::new(|value| matches!(value, Recipe::Int(0) | Recipe::Bool(false)) || *value == Recipe::Float(0.0));
            Some((is_zero, Need::OneOf(vec![Recipe::Int(3), Recipe::Float(0.5)])))
        }
        _ => None,
    }
}

/// The values whose class does not support an operation, and values of classes that may support it.
fn of_wrong_class(message: &str) -> Option<(Culprits, Need)> {
    let object = || Recipe::Mock(AbstractValue::Object);
    let text = || Recipe::Str("a".into());
    let named = classes(message);
    let (first, last) = (*named.first()?, *named.last()?);
    let (culprits, wanted) = match (misfit(&OF_CLASSES, message), named.as_slice()) {
        (Some(Misfit::NotIterable), _) => {
            (of_class(first), vec![Recipe::List(vec![text(), Recipe::Str("b".into())]), object()])
        }
        (Some(Misfit::NotSubscriptable), _) => (of_class(first), vec![object(), Recipe::Dict(vec![])]),
        (Some(Misfit::NoObject), _) => (of_class(first), vec![object()]),
        (Some(Misfit::Unhashable), _) => (of_class(first), vec![text(), Recipe::Int(1)]),
        (Some(Misfit::Index), _) => {
            (of_class(first), vec![object(), sample(if last == "str" { "dict" } else { "list" })?])
        }
        (Some(Misfit::Concatenation), [wanted, given, ..]) => (of_class(given), sample(wanted).into_iter().collect()),
        (Some(Misfit::Operands), [one, other, ..]) => {
            let plain = [*one, *other].into_iter().filter_map(sample);
            let wanted = plain.chain([Recipe::Int(1)]).collect();
            let (one, other) = (of_class(one), of_class(other));
            let either: Culprits = Box::new(move |value| one(value) || other(value));
            (either, wanted)
        }
        _ => {
            let wanted = if wants_text(message, last) { "str" } else { "int" };
            (of_class(last), sample(wanted).into_iter().collect())
        }
    };
    Some((culprits, Need::OneOf(wanted)))
}

/// The values of the right class that may not suit an operation, and what would suit.
fn of_wrong_value(message: &str) -> Option<(Culprits, Need)> {
    match misfit(&OF_VALUES, message)? {
        Misfit::Items => Some((holders(), Need::Length(number_after(message, EXPECTED)?))),
        Misfit::NotNumeric => {
            let numbers = ["1", "0", "-7"].map(|text| Recipe::Str(text.into())).into();
            Some((Box::new(|value| matches!(value, Recipe::Str(_))), Need::OneOf(numbers)))
        }
        _ => None,
    }
}

fn meet(need: &Need, value: &Recipe, separators: &[String]) -> Vec<Recipe> {
    match need {
        Need::OneOf(values) => values.iter().filter(|wanted| *wanted != value).cloned().collect(),
        Need::Length(count) => [of_fields(value, *count, separators), solve::of_length(value, *count)].concat(),
        Need::Longer => {
            let longer = solve::length(value).map(|length| solve::of_length(value, length + 3)).unwrap_or_default();
            [of_fields(value, LONGER, separators), longer].concat()
        }
        Need::Key(key) => solve::holding(value, key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Behavior;

    fn failed(class: &str, message: &str, value: Recipe) -> Vec<Recipe> {
        let exception = Observed::Exception { class: class.into(), arguments: vec![] };
        let outcome = Outcome::Raised { exception, intended: false, line: 2, message: message.into() };
        let record = ExecutionRecord {
            choices: vec![Choice { path: "x".into(), decision: Decision::Value(value) }],
            behaviors: vec![Behavior::new(outcome)],
            ..ExecutionRecord::default()
        };
        let reading = Reading { lines: vec!["def f(x):".into(), "    use(x)".into()], ..Reading::default() };
        let failure = failure(&record).unwrap();
        let found = mutations(&failure, &record, &reading).into_iter().flat_map(Assignment::into_values);
        found.filter_map(|decision| if let Decision::Value(value) = decision { Some(value) } else { None }).collect()
    }

    fn ran(choices: &[(&str, Recipe)]) -> ExecutionRecord {
        let choice =
            |(path, value): &(&str, Recipe)| Choice { path: (*path).into(), decision: Decision::Value(value.clone()) };
        ExecutionRecord { choices: choices.iter().map(choice).collect(), ..ExecutionRecord::default() }
    }

    #[test]
    fn operands_of_changed_lines_get_the_other_truth() {
        let workers = Recipe::List(vec![Recipe::Int(1)]);
        let record = ran(&[("helps", Recipe::Bool(true)), ("task.workers", workers), ("task.id", Recipe::Int(1))]);
        let found =
            operands(&record, &["    mine = (helps and task.workers) or worker in task.workers", "    task.id"]);
        let with = |path: &str, value| Assignment::from([(path.to_owned(), Decision::Value(value))]);
        assert_eq!(found, [with("helps", Recipe::Bool(false)), with("task.workers", Recipe::List(vec![]))]);
        assert!(operands(&record, &["    return helps"]).is_empty());
    }

    #[test]
    fn the_other_truth_is_of_the_same_class_where_it_can_be() {
        assert_eq!(with_other_truth(&Recipe::Float(1.5)), Some(Recipe::Float(0.0)));
        assert_eq!(with_other_truth(&Recipe::Bytes(vec![1])), Some(Recipe::Bytes(vec![])));
        assert_eq!(with_other_truth(&Recipe::None), Some(Recipe::Mock(AbstractValue::Object)));
        assert_eq!(with_other_truth(&Recipe::Mock(AbstractValue::Callable)), None);
    }

    #[test]
    fn containers_get_the_name_of_a_keyword_that_was_given() {
        let keys = |names: &[&str]| Recipe::List(names.iter().map(|name| Recipe::Str((*name).into())).collect());
        let given = |is: bool| ran(&[("self.keys()", keys(&["a"])), ("'extra' in **rest", Recipe::Bool(is))]);
        let shared = Assignment::from([("self.keys()".to_owned(), Decision::Value(keys(&["a", "extra"])))]);
        assert_eq!(shared_keywords(&given(true)), [shared]);
        assert!(shared_keywords(&given(false)).is_empty());
    }

    #[test]
    fn what_is_not_iterable_becomes_a_list() {
        let found = failed("TypeError", "'int' object is not iterable", Recipe::Int(3));
        assert!(matches!(found[0], Recipe::List(_)), "{found:?}");
    }

    #[test]
    fn a_text_that_is_no_number_becomes_one() {
        let message = "invalid literal for int() with base 10: 'a'";
        assert_eq!(failed("ValueError", message, Recipe::Str("a".into()))[0], Recipe::Str("1".into()));
    }

    #[test]
    fn a_text_that_is_split_gets_the_right_number_of_fields() {
        let exception = Observed::Exception { class: "ValueError".into(), arguments: vec![] };
        let message = "not enough values to unpack (expected 2, got 1)".into();
        let outcome = Outcome::Raised { exception, intended: false, line: 2, message };
        let choice = Choice { path: "x".into(), decision: Decision::Value(Recipe::Bytes(b"k".to_vec())) };
        let record = ExecutionRecord {
            choices: vec![choice],
            behaviors: vec![Behavior::new(outcome)],
            ..ExecutionRecord::default()
        };
        let lines = vec!["def f(x):".into(), "    a, b = x.split(b':')".into()];
        let found = mutations(&failure(&record).unwrap(), &record, &Reading { lines, ..Reading::default() });
        assert_eq!(found[0]["x"], Decision::Value(Recipe::Bytes(b"k:1".to_vec())));
    }

    #[test]
    fn a_container_gets_the_missing_key_the_right_number_of_items_and_a_divisor_is_not_zero() {
        let found = failed("KeyError", "'k'", Recipe::Dict(vec![]));
        assert!(matches!(&found[0], Recipe::Dict(entries) if entries[0].0 == Recipe::Str("k".into())), "{found:?}");
        let message = "not enough values to unpack (expected 3, got 1)";
        let found = failed("ValueError", message, Recipe::List(vec![Recipe::Int(1)]));
        assert!(matches!(&found[0], Recipe::List(items) if items.len() == 3), "{found:?}");
        assert_eq!(failed("ZeroDivisionError", "division by zero", Recipe::Int(0))[0], Recipe::Int(3));
    }
}
