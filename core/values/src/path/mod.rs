//! Access paths, and the questions that an execution asks about what stands at them.
//!
//! A path is a text such as `request.meta['retries']`, and so is a question: `len(request.meta)`, `raise load(x)`.
//! Random streams are keyed by these texts and records carry them, so they are kept as they are. [`AccessPath`] and
//! [`Question`] are views of such texts that know their grammar, and [`AccessPathBuf`] owns the text of a path. Other code
//! writes paths and takes them apart through these types, and hands them on as such.
//!
//! ```
//! use twincell_values::path::{AccessPath, Question, Segment};
//!
//! let path = AccessPath::new("client.get('a(')[0]");
//! use Segment::{Attribute, Call, Name, Subscript};
//! assert!(path.segments().eq([Name("client"), Attribute("get"), Call("'a('"), Subscript("0")]));
//!
//! let question = Question::Length(path);
//! assert_eq!(question.to_string(), "len(client.get('a(')[0])");
//! assert_eq!(Question::parse("len(client.get('a(')[0])"), question);
//! ```

mod bounded;
mod machine;
mod outside;
mod owned;
mod question;
mod scan;
mod segment;

use std::fmt::{self, Display};

use bounded::starts_with_mark;
use twincell_syntax::python::is_identifier;

pub use bounded::{MAX_ARGUMENTS, MAX_PATH, bounded, cut_at};
pub use machine::environment_key;
pub use outside::Outside;
pub use owned::AccessPathBuf;
pub use question::{EVERYTHING, Question};
pub use segment::{Segment, Segments};

/// How the code reaches a value: a view of the text, like [`std::path::Path`]. Any text is one; what the grammar does
/// not know is a [`Segment::Unknown`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessPath<'a>(&'a str);

impl<'a> From<&'a str> for AccessPath<'a> {
    fn from(text: &'a str) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a String> for AccessPath<'a> {
    fn from(text: &'a String) -> Self {
        Self(text)
    }
}

impl Display for AccessPath<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

/// Longer paths from it.
impl AccessPath<'_> {
    /// `x.name`.
    pub fn attribute(self, name: &str) -> AccessPathBuf {
        [self.0, ".", name].concat().into()
    }

    /// `x[key]`.
    pub fn item(self, key: impl Display) -> AccessPathBuf {
        format!("{self}[{key}]").into()
    }

    /// `options['name']`: the value of a further keyword argument.
    pub fn keyword_item(self, name: &str) -> AccessPathBuf {
        self.item(format_args!("'{name}'"))
    }

    /// `x(arguments)`.
    pub fn call(self, arguments: impl Display) -> AccessPathBuf {
        format!("{self}({arguments})").into()
    }

    /// `x(...)`: any call of it.
    pub fn any_call(self) -> AccessPathBuf {
        self.call(ANY)
    }

    /// `await x`.
    pub fn awaited(self) -> AccessPathBuf {
        [AWAIT, self.0].concat().into()
    }

    /// `x#2`: what the same call gives where it is repeated.
    pub fn repeated(self, count: impl Display) -> AccessPathBuf {
        format!("{self}#{count}").into()
    }

    /// `x (2)`: the second argument of this name in one execution. The first one has the name alone.
    pub fn numbered(self, count: usize) -> AccessPathBuf {
        if count <= 1 { self.to_buf() } else { format!("{self} ({count})").into() }
    }

    /// Where a key of a drawn dictionary is drawn; nothing stands there.
    pub fn key(self, index: usize) -> AccessPathBuf {
        format!("{self} key {index}").into()
    }
}

const AWAIT: &str = "await ";
/// The number of characters in brackets that a path for people keeps.
const BRIEF: usize = 12;
/// Stands for any arguments.
const ANY: &str = "...";
/// Stands for a function that is the result, in the paths of what it is called with.
const RESULT: &str = "result";

/// What it is made of.
impl<'a> AccessPath<'a> {
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    pub fn as_str(self) -> &'a str {
        self.0
    }

    pub fn to_buf(self) -> AccessPathBuf {
        self.0.into()
    }

    /// Its parts in order. Their texts put together are the path's text.
    pub fn segments(self) -> Segments<'a> {
        Segments::new(self.0)
    }

    /// The path for people, with an ellipsis for each part that is cut off.
    pub fn with_ellipses(self) -> String {
        bounded::with_ellipses(self.0)
    }

    /// The path for people: of more than `most` characters, without what is long in its brackets, `Rule(…).name`.
    pub fn abridged(self, most: usize) -> String {
        if self.0.chars().count() <= most {
            return self.0.to_owned();
        }
        let is_long = |inner: &str| inner.chars().count() > BRIEF;
        let part = |segment: Segment<'_>| match segment {
            Segment::Call(inner) | Segment::Group(inner) if is_long(inner) => "(…)".to_owned(),
            Segment::Subscript(key) if is_long(key) => "[…]".to_owned(),
            // Brackets that a cut left open.
            Segment::Unknown(rest) if is_long(rest) && rest.starts_with('(') => "(…)".to_owned(),
            other => other.to_string(),
        };
        self.segments().map(part).collect()
    }

    /// Whether a part of it is cut off.
    pub fn is_cut(self) -> bool {
        self.0.match_indices('~').any(|(at, _)| starts_with_mark(&self.0[at..]))
    }

    /// Whether it is of the form `await x`.
    pub fn is_awaited(self) -> bool {
        self.0.starts_with(AWAIT)
    }

    /// Whether a call or a bracketed expression ends it.
    pub fn ends_in_call(self) -> bool {
        self.0.ends_with(')')
    }

    /// Whether it begins with a method of a text that the code itself writes down: `'-'.join(words)`.
    pub fn is_of_text(self) -> bool {
        let rest = ['\'', '"'].iter().find_map(|quote| self.0.strip_prefix(*quote)?.split_once(*quote));
        rest.is_some_and(|(_, rest)| rest.starts_with('.'))
    }

    /// The arguments of the call of a plain value, which no name tells: `(x)` of `'a'(x)`, of `100(x)` and of `None(x)`.
    pub fn of_called_value(self) -> Option<&'a str> {
        let (callee, _) = self.without_repetition().split_call()?;
        callee.is_of_no_name().then(|| &self.0[callee.0.len()..])
    }

    /// The method that it calls of a plain value, which no name tells: `write` of `None.write(x)`.
    pub fn of_value_method(self) -> Option<&'a str> {
        let (holder, method) = self.without_repetition().callee()?.split_attribute()?;
        holder.is_of_no_name().then_some(method)
    }

    /// Whether it is a plain value as it is written.
    fn is_of_no_name(self) -> bool {
        let is_number = self.0.starts_with(|c: char| c.is_ascii_digit() || c == '-') && self.0.parse::<f64>().is_ok();
        is_number || matches!(self.0, "None" | "True" | "False") || scan::is_literal(self.0)
    }

    /// The first name, and what follows.
    pub fn split_root(self) -> (&'a str, &'a str) {
        self.0.split_at(self.0.find(|c| !is_name_part(c)).unwrap_or(self.0.len()))
    }

    /// `c` of `a.b.c`; empty when the path ends in something else.
    pub fn last_name(self) -> &'a str {
        &self.0[self.0.trim_end_matches(is_name_part).len()..]
    }

    /// What it is called where it stands: `c` of `a.b.c`, `b(1)` of `a.b(1)`, all of a path without a holder.
    pub fn own_name(self) -> &'a str {
        self.split_attribute().map_or(self.0, |(_, name)| name)
    }

    /// Whether it is the module of this dotted name, or something in it by its name: `os.path.join` is within `os.path`. So
    /// is a path that starts with a local that has the module's name.
    pub fn is_within(self, module: &str) -> bool {
        self.0.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The last word in it, wherever that stands; all of a path without words.
    pub fn last_word(self) -> &'a str {
        self.0.rsplit(|c| !is_name_part(c)).find(|part| !part.is_empty()).unwrap_or(self.0)
    }

    /// `a.b`, `c` of `a.b.c`; `a`, `b(1)` of `a.b(1)`.
    pub fn split_attribute(self) -> Option<(AccessPath<'a>, &'a str)> {
        // Behind a dot that only a name follows, no bracket is open.
        let last = self.0.rfind('.')?;
        let is_plain = self.0[last + 1..].chars().all(is_name_part);
        let at = if is_plain { last } else { scan::rfind(self.0, '.')? };
        Some((AccessPath(&self.0[..at]), &self.0[at + 1..]))
    }

    /// `x.get`, `'a'` of `x.get('a')`.
    pub fn split_call(self) -> Option<(AccessPath<'a>, &'a str)> {
        self.split_brackets(')')
    }

    /// `x`, `'a'` of `x['a']`.
    pub fn split_item(self) -> Option<(AccessPath<'a>, &'a str)> {
        self.split_brackets(']')
    }

    fn split_brackets(self, closes: char) -> Option<(AccessPath<'a>, &'a str)> {
        let inner = self.0.strip_suffix(closes)?;
        let at = scan::last_opening(self.0)?;
        Some((AccessPath(&self.0[..at]), &inner[at + 1..]))
    }

    /// What the brackets that end it are of, call or subscript alike: `x.get` of `x.get('a')`; all of a path that ends in
    /// something else.
    pub fn before_brackets(self) -> AccessPath<'a> {
        let end = scan::last_opening(self.0).filter(|&at| !self.0[at..].starts_with('{')).unwrap_or(self.0.len());
        AccessPath(&self.0[..end])
    }

    /// What it looks into or calls: `x` of `x.a`, `x[0]` and `x(1)`; all of a path that is none of these.
    pub fn holder(self) -> AccessPath<'a> {
        match self.before_brackets() {
            whole if whole == self => self.split_attribute().map_or(self, |(holder, _)| holder),
            holder => holder,
        }
    }

    /// What stands before the first arguments in it.
    pub fn before_first_call(self) -> Option<AccessPath<'a>> {
        scan::first(self.0, '(').map(|at| AccessPath(&self.0[..at]))
    }

    /// What is called by the call that ends it, or by the first one where the end is cut off. What a function gets that is
    /// the result, and what is awaited, is no call of the code.
    pub fn callee(self) -> Option<AccessPath<'a>> {
        let cut_off = || self.before_first_call().filter(|_| self.is_cut() && !self.ends_in_call());
        let callee = self.split_call().map(|(callee, _)| callee).or_else(cut_off)?;
        (!matches!(callee.0, "" | RESULT) && callee.0 != AWAIT.trim_end()).then_some(callee)
    }

    /// `x.f` of `x.f(...)`, see [`Self::any_call`].
    pub fn callee_of_any_call(self) -> Option<AccessPath<'a>> {
        self.split_call().filter(|(_, arguments)| *arguments == ANY).map(|(callee, _)| callee)
    }

    /// What stands before a number of repetition: `f()` of `f()#2`.
    pub fn without_repetition(self) -> AccessPath<'a> {
        match self.0.rsplit_once('#') {
            Some((head, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => AccessPath(head),
            _ => self,
        }
    }

    /// `x`, `2` of `x (2)`, see [`Self::numbered`].
    pub fn split_number(self) -> Option<(AccessPath<'a>, &'a str)> {
        let (name, number) = self.0.strip_suffix(')')?.rsplit_once(" (")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some((AccessPath(name), number))
    }

    /// This path with another number for each argument of a name, see [`Self::numbered`]: `len(x)` of `len(x (2))`. Where
    /// `number` gives none, it stays. Texts and names of keywords are no arguments.
    pub fn renumbered(self, name: &str, number: &dyn Fn(usize) -> Option<usize>) -> String {
        let mut exchanged = String::new();
        let mut done = 0;
        for (at, _) in self.0.match_indices(name) {
            let (before, after) = (&self.0[..at], &self.0[at + name.len()..]);
            let goes_on = |character: char| is_name_part(character) || character == '.';
            let is_keyword = after.starts_with('=') && !after.starts_with("==");
            let is_part = before.ends_with(goes_on) || after.starts_with(is_name_part);
            if at < done || is_part || is_keyword || !scan::is_outside(self.0, at) {
                continue;
            }
            let numbered = after.strip_prefix(" (").and_then(|rest| rest.split_once(')'));
            let written =
                numbered.and_then(|(digits, _)| Some((digits.parse::<usize>().ok()?, digits.len() + " ()".len())));
            let (own, length) = written.unwrap_or((1, 0));
            let Some(other) = number(own) else { continue };
            exchanged.push_str(&self.0[done..at]);
            exchanged.push_str(AccessPath(name).numbered(other).as_str());
            done = at + name.len() + length;
        }
        exchanged + &self.0[done..]
    }

    /// Whether it is made of names alone: `a.b.c`.
    pub fn is_dotted(self) -> bool {
        self.0.split('.').all(is_identifier)
    }

    /// How this path goes on from another one: `.b[0]` of `a.b[0]` from `a`.
    pub fn beyond(self, base: &str) -> Option<&'a str> {
        self.0.strip_prefix(base).filter(|rest| rest.starts_with(['.', '[', '(']))
    }

    /// How this path goes on from the value at another one, which stands in parentheses if it is awaited: `.y` of
    /// `(await x).y` from `await x`.
    pub fn beyond_value(self, base: AccessPath<'_>) -> Option<&'a str> {
        let bare = self.0.strip_prefix('(').filter(|_| base.is_awaited());
        let rest = bare.unwrap_or(self.0).strip_prefix(base.0)?.trim_start_matches(')');
        rest.starts_with(['.', '[', '(']).then_some(rest)
    }

    /// This path with another value wherever one stands as an argument, in a subscript or in a calculation: `f(2).y` of
    /// `f(1).y`. None where it does not stand. What looks like it within a text is exchanged, too.
    pub fn with_value(self, value: &str, other: &str) -> Option<String> {
        let mut exchanged = String::new();
        let mut done = 0;
        for (at, _) in self.0.match_indices(value) {
            let (before, after) = (&self.0[..at], &self.0[at + value.len()..]);
            let is_number_of_argument = before.ends_with(" (");
            if !is_number_of_argument
                && before.ends_with(['(', ' ', '=', '['])
                && after.starts_with([')', ',', ' ', ']'])
            {
                exchanged.extend([&self.0[done..at], other]);
                done = at + value.len();
            }
        }
        exchanged.push_str(&self.0[done..]);
        (done > 0).then_some(exchanged)
    }

    /// Whether a function or class is the first argument of a call in this path: `wraps(<function f>)`.
    pub fn takes_code(self) -> bool {
        ["(<function ", "(<class "].iter().any(|start| scan::contains(self.0, start))
    }

    /// Whether it is reached through what a function gets that is the result: `result(x)`, `result(x).y`.
    pub fn is_of_result(self) -> bool {
        self.0.strip_prefix(RESULT).is_some_and(|rest| rest.starts_with('('))
    }
}

/// `(x + 1)`. The operands are paths, or values as they stand in paths.
pub fn binary(left: &str, sign: &str, right: &str) -> AccessPathBuf {
    ["(", left, " ", sign, " ", right, ")"].concat().into()
}

/// `(x + 2)`, `(x - 2)`, `x`.
pub fn sum(path: AccessPath<'_>, by: i64) -> AccessPathBuf {
    match by {
        0 => path.to_buf(),
        by => binary(path.0, if by < 0 { "-" } else { "+" }, &by.unsigned_abs().to_string()),
    }
}

/// `(-x)`.
pub fn unary(sign: char, operand: AccessPath<'_>) -> AccessPathBuf {
    format!("({sign}{operand})").into()
}

/// Whether this character may stand in a name. Beyond ASCII, marks belong to names as letters do.
fn is_name_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}

/// The arguments of a call one by one, as they are written.
pub fn arguments(written: &str) -> impl Iterator<Item = &str> {
    scan::between_commas(written)
}

/// The keyword of an argument, as it is written: `b` of `b=1`.
pub fn keyword_of(argument: &str) -> Option<&str> {
    let (name, rest) = AccessPath(argument).split_root();
    let value = rest.trim_start().strip_prefix('=')?;
    (!name.is_empty() && !value.starts_with('=')).then_some(name)
}

/// The text that a literal stands for: `a` of `'a'`. None if it is no text, or has quotes or escapes.
pub fn text_of(literal: &str) -> Option<&str> {
    let literal = literal.trim();
    let inner = ["'", "\""].iter().find_map(|quote| literal.strip_prefix(quote)?.strip_suffix(quote))?;
    (!inner.contains(['\\', '\'', '"'])).then_some(inner)
}

/// Whether a path occurs in a text, and not merely as a part of another name.
pub fn mentions(text: &str, path: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: usize| {
        !text[..at].ends_with(|c: char| is_name(c) || c == '.') && !text[at + path.len()..].starts_with(is_name)
    };
    text.match_indices(path).any(|(at, _)| is_whole(at))
}

/// What stands behind each `<` in a text that begins the representation of an object, `<x.a>`, or of a calculation,
/// `<(x + 1)>`. Functions and classes have representations of their own.
pub fn representations(text: &str) -> impl Iterator<Item = &str> {
    let begins = |rest: &&str| {
        rest.starts_with(|c: char| is_name_part(c) || matches!(c, '(' | '[' | '{' | '\'' | '"'))
            && !OF_CODE.iter().any(|kind| rest.starts_with(kind))
    };
    text.match_indices('<').map(|(at, _)| &text[at + 1..]).filter(begins)
}

/// How the representation of something begins that the code defines.
const OF_CODE: [&str; 3] = ["function ", "class ", "module "];

/// A function that the code gives as its result is called on values at paths of this name.
pub fn of_result() -> AccessPath<'static> {
    AccessPath(RESULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_exchanged_where_it_stands_alone() {
        let with = |path: &'static str| AccessPath::new(path).with_value("1", "'a'");
        assert_eq!(with("f(1, x=1, y=[1]).z").as_deref(), Some("f('a', x='a', y=['a']).z"));
        assert_eq!(with("g((1 + 11))").as_deref(), Some("g(('a' + 11))"));
        assert_eq!((with("f(11)"), with("x1"), with("x (1)")), (None, None, None));
    }

    #[test]
    fn arguments_of_a_name_get_other_numbers() {
        let with =
            |path: &'static str| AccessPath::new(path).renumbered("key", &|own| [None, Some(1), Some(2)][own - 1]);
        assert_eq!(with("key (2)"), "key");
        assert_eq!(with("len(key (3).keys)"), "len(key (2).keys)");
        assert_eq!(with("order(key (2), key (3))"), "order(key, key (2))");
        for path in ["key", "a.key (2)", "'key (2)' in x", "monkey (2)", "keys (2)"] {
            assert_eq!(with(path), path);
        }
        let later = |path: &'static str| AccessPath::new(path).renumbered("key", &|own| Some(own + 1));
        assert_eq!(later("key.a"), "key (2).a");
        for path in ["get(key=5)", "d['my key']", "a.key"] {
            assert_eq!(later(path), path);
        }
    }

    #[test]
    fn a_method_of_a_text_is_no_membership() {
        for (path, expected) in
            [("'-'.join(x)", true), ("\"a'b\".strip()", true), ("'a' in x", false), ("x['a'].b", false)]
        {
            assert_eq!(AccessPath::new(path).is_of_text(), expected, "{path}");
        }
    }

    #[test]
    fn a_path_is_taken_apart_outside_of_its_literals() {
        let call = |text| AccessPath::new(text).split_call().map(|(callee, arguments)| (callee.0, arguments));
        assert_eq!(call("x.split('(')"), Some(("x.split", "'('")));
        assert_eq!(call("f(a)(b)"), Some(("f(a)", "b")));
        assert_eq!(call("f(a)[0]"), None);
        assert_eq!(call("f(a, b(c~0123456789abcdef)"), Some(("f", "a, b(c~0123456789abcdef")));
        let attribute = |text| AccessPath::new(text).split_attribute().map(|(base, name)| (base.0, name));
        assert_eq!(attribute("get('a.b').close"), Some(("get('a.b')", "close")));
        assert_eq!(attribute("x['a.b']"), None);
        assert_eq!(AccessPath::new("f(...)").callee_of_any_call(), Some("f".into()));
        assert_eq!(AccessPath::new("a.b[0]").beyond("a"), Some(".b[0]"));
        assert_eq!(AccessPath::new("ab").beyond("a"), None);
        assert_eq!(AccessPath::new("(await x).y").beyond_value("await x".into()), Some(".y"));
        assert_eq!(AccessPath::new("await x.y").beyond_value("await x".into()), Some(".y"));
        assert_eq!(AccessPath::new("(x).y").beyond_value("x".into()), None);
        for (path, rest) in [("'a('(x)", Some("(x)")), ("100()#2", Some("()#2")), ("-1.5(x)", Some("(x)"))] {
            assert_eq!(AccessPath::new(path).of_called_value(), rest, "{path}");
        }
        for (path, method) in
            [("None.write(x)", Some("write")), ("'a'.f()#2", Some("f")), ("x.f()", None), ("1(x)", None)]
        {
            assert_eq!(AccessPath::new(path).of_value_method(), method, "{path}");
        }
        for path in ["'-'.join(x)", "f(x)", "inf(x)", "(a + b)(x)", "'a'"] {
            assert_eq!(AccessPath::new(path).of_called_value(), None, "{path}");
        }
        let keywords: Vec<_> = arguments("a, b=1, c = g(d=2, e), 'f=1', h == 2").map(keyword_of).collect();
        assert_eq!(keywords, [None, Some("b"), Some("c"), None, None]);
        assert!(arguments("").eq([""]));
    }

    #[test]
    fn what_a_path_calls_and_looks_into() {
        let path = AccessPath::new;
        for (text, callee, holder, before) in [
            ("x.get('a')", Some("x.get"), "x.get", "x.get"),
            ("x['a(']", None, "x", "x"),
            ("a.b", None, "a", "a.b"),
            ("x{1}", None, "x{1}", "x{1}"),
            ("await(x)", None, "await", "await"),
            ("result(x)", None, "result", "result"),
            ("f(a, g(b~0123456789abcdef", Some("f"), "f(a, g(b~0123456789abcdef", "f(a, g(b~0123456789abcdef"),
        ] {
            assert_eq!(path(text).callee().map(AccessPath::as_str), callee, "{text}");
            assert_eq!((path(text).holder().0, path(text).before_brackets().0), (holder, before), "{text}");
        }
        assert_eq!(path("x['('].f(a)").before_first_call(), Some("x['('].f".into()));
        assert_eq!((path("f()#2").without_repetition().0, path("f#a").without_repetition().0), ("f()", "f#a"));
        assert_eq!(path("x['#1']").without_repetition().0, "x['#1']");
        assert_eq!(path("x (12)").split_number(), Some(("x".into(), "12")));
        assert_eq!((path("f(x, (a))").split_number(), path("x ()").split_number()), (None, None));
        assert!(path("a.b1.ä").is_dotted() && !path("a..b").is_dotted() && !path("a.b()").is_dotted());
        assert!(path("wraps(<function f>)").takes_code() && !path("f('(<function ')").takes_code());
    }

    #[test]
    fn what_is_long_in_brackets_is_left_out_for_people() {
        let path =
            AccessPath::new("create(_SSLMethod([value]=2, _name_='TLS'), 1).get('a')[x].items['a long key of it']");
        assert_eq!(path.abridged(40), "create(…).get('a')[x].items[…]");
        let open = AccessPath::new("NamedSignal(_by_receiver=defaultdict([items]={}), _by_sender=defaultdict([items]…");
        assert_eq!(open.abridged(40), "NamedSignal(…)");
        assert_eq!(AccessPath::new("f('a long argument')").abridged(40), "f('a long argument')");
    }

    #[test]
    fn names_in_any_script_are_names() {
        for name in ["नमस्ते", "e\u{301}", "名前", "a_1"] {
            assert_eq!(AccessPath::new(&format!("x['a'].{name}")).last_name(), name);
            assert_eq!(AccessPath::new(&format!("{name}.a")).split_root(), (name, ".a"));
        }
        assert_eq!((AccessPath::new("f()").last_name(), AccessPath::new("f()").last_word()), ("", "f"));
    }
}
