//! What an execution asks: for a value, or about one.

use std::fmt::{self, Display};
use std::ops::Bound;

use super::{AccessPath, scan};
use crate::value::{Decision, Fixed, Recipe};

/// What can be asked. Each answer is a decision under the question's text.
///
/// The texts look like calls of builtins, which are never missing, and of `zero`, `order` and `injected`: a call of a
/// missing function of one of these names shares its decision with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question<'a> {
    /// The value itself: the text is the path.
    Value(AccessPath<'a>),
    /// `bool(x)`.
    Truth(AccessPath<'a>),
    /// `len(x)`.
    Length(AccessPath<'a>),
    /// `int(x)`: what an object counts to.
    Number(AccessPath<'a>),
    /// `zero(x)`: which of the values that are false a false object equals.
    Zero(AccessPath<'a>),
    /// `class(x)`: which missing class an object is of.
    Class(AccessPath<'a>),
    /// `isinstance(x, C)`.
    Instance { of: AccessPath<'a>, class: &'a str },
    /// `hasattr(x.y)`: is the attribute at this path there?
    Attribute(AccessPath<'a>),
    /// `str(x)`.
    Text(AccessPath<'a>),
    /// `repr(x)`.
    Representation(AccessPath<'a>),
    /// `iter(x)`.
    Iteration(AccessPath<'a>),
    /// `next(x)`.
    Next(AccessPath<'a>),
    /// `order(x, y)`: the values as they stand in paths.
    Order { one: &'a str, other: &'a str },
    /// `'a' in x`.
    Item { item: &'a str, holder: AccessPath<'a> },
    /// `place of 'a' in x`.
    Place { item: &'a str, holder: AccessPath<'a> },
    /// `'name' in **options`: is this keyword given?
    Keyword { name: &'a str, parameter: AccessPath<'a> },
    /// `len(*rest)`: how many further positional arguments are given?
    Positional(&'a str),
    /// `raise f(x)`: does this operation fail? It is a path or a question itself.
    Raise(&'a str),
    /// `stable f(x)`: does a call that consumes give the same once more?
    Stable(AccessPath<'a>),
    /// `succeeds f(x)`: does a real call that failed succeed all the same?
    Succeeds(AccessPath<'a>),
    /// `injected(name)`: is something real replaced with an injected one? The name [`EVERYTHING`] is the whole module.
    Injected(&'a str),
    /// Which member of an enumeration is used.
    WhichMember,
    /// How many members of an object are used after the first.
    MembersUsed,
    /// `member 1`: which member of a class one step uses. Steps are counted from one.
    Member(u32),
    /// `operand 1`: of which class the other operand of one step is.
    Operand(u32),
    /// `again for x (2)`: does an argument stand for an earlier one of its name?
    Again(AccessPath<'a>),
    /// The beginning of a question whose text is cut off. It is known what is asked, and not of what.
    Cut(&'a str),
}

/// What [`Question::Injected`] asks of to leave the whole module out. No object has this name.
pub const EVERYTHING: &str = "*";

const RAISE: &str = "raise ";
const STABLE: &str = "stable ";
const SUCCEEDS: &str = "succeeds ";
const PLACE: &str = "place of ";
const ORDER: &str = "order(";
const INSTANCE: &str = "isinstance(";
const INJECTED: &str = "injected(";
const POSITIONAL: &str = "len(*";
const KEYWORDS: &str = "**";
const TEXT: &str = "str(";
const REPRESENTATION: &str = "repr(";
const IN: &str = " in ";
const COMMA: &str = ", ";
const WHICH_MEMBER: &str = "which member";
const MEMBERS_USED: &str = "members used";
const MEMBER: &str = "member ";
const OPERAND: &str = "operand ";
const AGAIN: &str = "again for ";

type OfOne = for<'a> fn(AccessPath<'a>) -> Question<'a>;

/// Questions about one value, by how they begin.
const OF_ONE: [(&str, OfOne); 10] = [
    ("bool(", |of| Question::Truth(of)),
    ("len(", |of| Question::Length(of)),
    ("int(", |of| Question::Number(of)),
    ("zero(", |of| Question::Zero(of)),
    ("class(", |of| Question::Class(of)),
    ("hasattr(", |of| Question::Attribute(of)),
    (TEXT, |of| Question::Text(of)),
    (REPRESENTATION, |of| Question::Representation(of)),
    ("iter(", |of| Question::Iteration(of)),
    ("next(", |of| Question::Next(of)),
];

/// How the other answers begin.
const OTHERS: [&str; 7] = [ORDER, INSTANCE, INJECTED, RAISE, STABLE, SUCCEEDS, PLACE];

impl<'a> Question<'a> {
    /// Reads a question. Any text is one: what is not asked about a value asks for the value at that path.
    pub fn parse(text: &'a str) -> Self {
        Self::of_sequence(text).or_else(|| Self::of_operation(text)).or_else(|| Self::of_value(text)).unwrap_or_else(
            || match scan::find(text, IN) {
                Some(at) => Self::membership(&text[..at], &text[at + IN.len()..]),
                None => Question::Value(text.into()),
            },
        )
    }

    /// Choices that make a sequence of uses.
    fn of_sequence(text: &'a str) -> Option<Self> {
        // Numbers that would be written in another way are none of ours.
        let number = |start: &str| {
            let digits = text.strip_prefix(start)?;
            digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)
        };
        match text {
            WHICH_MEMBER => Some(Question::WhichMember),
            MEMBERS_USED => Some(Question::MembersUsed),
            _ => number(MEMBER)
                .map(Question::Member)
                .or_else(|| number(OPERAND).map(Question::Operand))
                .or_else(|| text.strip_prefix(AGAIN).map(|path| Question::Again(path.into()))),
        }
    }

    /// What begins with a word, and a space.
    fn of_operation(text: &'a str) -> Option<Self> {
        let place = |rest: &'a str| match scan::find(rest, IN) {
            Some(at) => Question::Place { item: &rest[..at], holder: rest[at + IN.len()..].into() },
            None => Question::Cut(text),
        };
        let after = |start: &str| text.strip_prefix(start);
        after(RAISE)
            .map(Question::Raise)
            .or_else(|| after(STABLE).map(|call| Question::Stable(call.into())))
            .or_else(|| after(SUCCEEDS).map(|call| Question::Succeeds(call.into())))
            .or_else(|| after(PLACE).map(place))
    }

    /// What begins with a name, and a bracket.
    fn of_value(text: &'a str) -> Option<Self> {
        let made = OF_ONE.iter().find(|(start, _)| text.starts_with(start));
        let open = match made {
            Some((start, _)) => start.len() - 1,
            None => [ORDER, INSTANCE, INJECTED].iter().find(|start| text.starts_with(**start))?.len() - 1,
        };
        let cut = || AccessPath::new(text).is_cut().then_some(Question::Cut(text));
        let Some(end) = scan::closing(&text[open..]).map(|end| open + end) else { return cut() };
        if end + 1 < text.len() {
            // What is reached through the answer, or asked about it.
            return None;
        }
        let inner = &text[open + 1..end];
        if let Some((_, made)) = made {
            let positional = || text.starts_with(POSITIONAL).then(|| Question::Positional(&inner[1..]));
            return Some(positional().unwrap_or_else(|| made(inner.into())));
        }
        if text.starts_with(INJECTED) {
            return Some(Question::Injected(inner));
        }
        let Some(at) = scan::find(inner, COMMA) else { return cut() };
        let (one, other) = (&inner[..at], &inner[at + COMMA.len()..]);
        Some(match text.starts_with(ORDER) {
            true => Question::Order { one, other },
            false => Question::Instance { of: one.into(), class: other },
        })
    }

    fn membership(item: &'a str, holder: &'a str) -> Self {
        let name = item.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        match (name, holder.strip_prefix(KEYWORDS)) {
            (Some(name), Some(parameter)) => Question::Keyword { name, parameter: parameter.into() },
            _ => Question::Item { item, holder: holder.into() },
        }
    }

    /// Whether a text asks about a value (`bool(x)`, `'a' in x`, `str(x)`) rather than for one, or goes on from such an
    /// answer.
    pub fn is_answer(text: &str) -> bool {
        OF_ONE.iter().any(|(start, _)| text.starts_with(start))
            || OTHERS.iter().any(|start| text.starts_with(start))
            || scan::find(text, IN).is_some()
    }

    /// Whether it is the text of an object: an answer about the object, and yet a text that the code goes on with.
    pub fn is_text(text: &str) -> bool {
        text.starts_with(TEXT) || text.starts_with(REPRESENTATION)
    }

    /// Whether a text decides which members of an object are used, and in which order.
    pub fn is_about_members(text: &str) -> bool {
        matches!(Question::of_sequence(text), Some(Question::MembersUsed | Question::Member(_)))
    }

    /// Whether a text decides anything about a sequence of uses: also which of its arguments are the same.
    pub fn is_about_sequence(text: &str) -> bool {
        Question::of_sequence(text).is_some()
    }

    /// Whether these decisions replace something real with an injected object.
    pub fn any_injected(fixed: &Fixed) -> bool {
        let first = fixed.range::<str, _>((Bound::Included(INJECTED), Bound::Unbounded)).next();
        first.is_some_and(|(path, _)| path.starts_with(INJECTED))
    }

    /// What a decision replaces with an injected object, if it does: a name, or [`EVERYTHING`].
    pub fn replaced<'c>(path: &'c str, decision: &Decision) -> Option<&'c str> {
        match (Question::parse(path), decision) {
            (Question::Injected(name), Decision::Value(Recipe::Bool(true))) => Some(name),
            _ => None,
        }
    }

    /// Whether a decision lets an operation fail that Python cannot do on the values that it has: `None.name`.
    pub fn lets_fail(path: &str, decision: &Decision) -> bool {
        match (Question::parse(path), decision) {
            (Question::Succeeds(operation), Decision::Value(Recipe::Bool(false))) => {
                operation.split_call().is_none() || operation.callee_of_any_call().is_some()
            }
            _ => false,
        }
    }

    /// `y` of `order(x, y)` for this `x`.
    pub fn ordered_with(text: &'a str, one: &str) -> Option<&'a str> {
        text.strip_prefix(ORDER)?.strip_prefix(one)?.strip_prefix(COMMA)?.strip_suffix(')')
    }
}

impl Display for Question<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Value(path) => path.fmt(out),
            Question::Truth(of) => write!(out, "bool({of})"),
            Question::Length(of) => write!(out, "len({of})"),
            Question::Number(of) => write!(out, "int({of})"),
            Question::Zero(of) => write!(out, "zero({of})"),
            Question::Class(of) => write!(out, "class({of})"),
            Question::Instance { of, class } => write!(out, "{INSTANCE}{of}{COMMA}{class})"),
            Question::Attribute(path) => write!(out, "hasattr({path})"),
            Question::Text(of) => write!(out, "{TEXT}{of})"),
            Question::Representation(of) => write!(out, "{REPRESENTATION}{of})"),
            Question::Iteration(of) => write!(out, "iter({of})"),
            Question::Next(of) => write!(out, "next({of})"),
            Question::Order { one, other } => write!(out, "{ORDER}{one}{COMMA}{other})"),
            Question::Item { item, holder } => write!(out, "{item}{IN}{holder}"),
            Question::Place { item, holder } => write!(out, "{PLACE}{item}{IN}{holder}"),
            Question::Keyword { name, parameter } => write!(out, "'{name}'{IN}{KEYWORDS}{parameter}"),
            Question::Positional(parameter) => write!(out, "{POSITIONAL}{parameter})"),
            Question::Raise(operation) => write!(out, "{RAISE}{operation}"),
            Question::Stable(call) => write!(out, "{STABLE}{call}"),
            Question::Succeeds(call) => write!(out, "{SUCCEEDS}{call}"),
            Question::Injected(name) => write!(out, "{INJECTED}{name})"),
            Question::WhichMember => out.write_str(WHICH_MEMBER),
            Question::MembersUsed => out.write_str(MEMBERS_USED),
            Question::Member(step) => write!(out, "{MEMBER}{step}"),
            Question::Operand(step) => write!(out, "{OPERAND}{step}"),
            Question::Again(path) => write!(out, "{AGAIN}{path}"),
            Question::Cut(text) => out.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_about_values_are_told_from_values() {
        for text in [
            "zero(x)",
            "str(x.name)",
            "repr(x)",
            "injected(helper)",
            "place of 'a' in x",
            "raise f(x)",
            "len(*rest)",
            "'a' in **options",
            "3 in x",
            "b'it' in x",
            "key in x.items",
            "f('a')[0] in x",
        ] {
            assert!(Question::is_answer(text), "{text}");
            assert!(!matches!(Question::parse(text), Question::Value(_)), "{text}");
        }
        let values =
            ["x", "x.len(y)", "f('a in b')", "x['a in b']", "(x + y)", "strip(x)", "await x.f()", "नमस्ते.a", "é"];
        for text in values {
            assert!(!Question::is_answer(text), "{text}");
            assert_eq!(Question::parse(text), Question::Value(text.into()));
        }
        assert!(Question::is_text("str(x)") && Question::is_text("repr(x)") && !Question::is_text("strip(x)"));
    }

    #[test]
    fn a_question_says_what_is_asked_and_of_what() {
        use Question as Q;
        for (text, question) in [
            ("hasattr(x.y)", Q::Attribute("x.y".into())),
            ("len(f(')'))", Q::Length("f(')')".into())),
            ("len(x).a", Q::Value("len(x).a".into())),
            ("len(x) in y", Q::Item { item: "len(x)", holder: "y".into() }),
            ("order(x)", Q::Value("order(x)".into())),
            ("order(x~0123456789abcdef)", Q::Cut("order(x~0123456789abcdef)")),
            ("len(*rest)", Q::Positional("rest")),
            ("order(f(a, b), 'x, y')", Q::Order { one: "f(a, b)", other: "'x, y'" }),
            ("isinstance(x, m.C)", Q::Instance { of: "x".into(), class: "m.C" }),
            ("'a in b' in x", Q::Item { item: "'a in b'", holder: "x".into() }),
            ("'a' in **rest", Q::Keyword { name: "a", parameter: "rest".into() }),
            ("place of 'a' in x", Q::Place { item: "'a'", holder: "x".into() }),
            ("raise 'a' in x", Q::Raise("'a' in x")),
            ("member 12", Q::Member(12)),
            ("member 012", Q::Value("member 012".into())),
            ("again for x (2)", Q::Again("x (2)".into())),
            ("str(x~0123456789abcdef", Q::Cut("str(x~0123456789abcdef")),
            ("len(f(x~0123456789abcdef)", Q::Length("f(x~0123456789abcdef".into())),
        ] {
            assert_eq!(Question::parse(text), question);
            assert_eq!(question.to_string(), text);
        }
    }

    #[test]
    fn an_order_is_found_by_its_first_value() {
        assert_eq!(Question::ordered_with("order(x.y, 3)", "x.y"), Some("3"));
        assert_eq!(Question::ordered_with("order(x.y, 3)", "x"), None);
        assert!(Question::is_about_members("members used") && Question::is_about_members("member 3"));
        assert!(!Question::is_about_members("member x") && !Question::is_about_members("operand 1"));
    }
}
