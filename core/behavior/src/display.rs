//! Observed behavior as short texts for people: values, outcomes and calls. Views do the escaping for a medium (HTML, a
//! terminal).

use std::borrow::Cow;

use twincell_engine::observed::{
    Call, Elision, INDEX, ITEMS, Limit, NAMES, Observed, Outcome, Reached, Slot, TEXT, VALUE, VALUES, Varying, WRITTEN,
};
use twincell_engine::protocol::{INJECTED_MESSAGE, OWN_FOLDER, PROJECT_FOLDER};
use twincell_engine::sources::Source;
use twincell_syntax::python::python_string;
use twincell_values::path::AccessPath;
use twincell_values::value::Decision;

use super::displayed::{Displayed, Part};
use super::{Channel, EvidencePlace, Shown, Stream, Strength, is_argument};

/// The maximum length of a text from [`display_observed`], without the ellipsis.
pub const DISPLAY_LIMIT: usize = 200;

/// What a member of an enumeration has: what Python keeps in it, and the number or the text that it is as well.
const OF_MEMBERS: [&str; 8] = ["_name_", "_value_", "_sort_order_", "_inverted_", "__objclass__", VALUE, TEXT, ITEMS];

/// A bounded, plain text for a value, as people would write it in Python.
pub fn display_observed(value: &Observed) -> String {
    displayed(value).into_text()
}

/// The same, with what it shows.
pub(crate) fn displayed(value: &Observed) -> Displayed {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    write_value(&mut out, value);
    out.finish()
}

/// A text, cut as values are.
pub fn bounded(text: &str) -> String {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    out.push(text);
    out.finish().into_text()
}

/// A message, cut as values are.
pub(crate) fn displayed_message(level: &str, message: &str) -> Displayed {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    out.push(level);
    out.push(": ");
    out.push_part(message, of_text);
    out.finish()
}

fn of_text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn of_object(path: &str) -> Part {
    Part::Object(path.into())
}

fn of_place(path: &str) -> Part {
    Part::Place(path.into())
}

/// The maximum number of characters of one text within a sentence.
const SENTENCE_TEXT: usize = 80;
/// The number of characters of a path in a sentence up to which nothing in its brackets is left out.
const SENTENCE_PATH: usize = 40;

/// A text within a sentence.
pub fn short_text(text: &str) -> String {
    if text.chars().count() <= SENTENCE_TEXT {
        return text.to_string();
    }
    format!("{}…", text.chars().take(SENTENCE_TEXT).collect::<String>())
}

/// A path within a sentence.
pub fn short_path(path: &str) -> String {
    short_text(&AccessPath::new(path).abridged(SENTENCE_PATH))
}

/// How a version ended, e.g. `returned 3` or `raised ValueError: too long`.
pub fn display_outcome(outcome: &Outcome) -> String {
    displayed_outcome(outcome).into_text()
}

/// The same, with what it shows.
pub(crate) fn displayed_outcome(outcome: &Outcome) -> Displayed {
    outcome_with_verbs(outcome, "returned ", "raised ")
}

/// How a version ends, for a sentence in the present tense: `returns 3`.
pub fn display_outcome_in_present(outcome: &Outcome) -> String {
    outcome_with_verbs(outcome, "returns ", "raises ").into_text()
}

fn outcome_with_verbs(outcome: &Outcome, returned: &str, raised: &str) -> Displayed {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    match outcome {
        Outcome::Returned(value) => {
            out.push(returned);
            write_value(&mut out, value);
        }
        Outcome::Raised { exception, message, .. } => {
            out.push(raised);
            match exception {
                Observed::Exception { class, .. } if message.is_empty() || message == INJECTED_MESSAGE => {
                    out.push_part(class, of_place)
                }
                Observed::Exception { class, .. } => {
                    out.push_part(class, of_place);
                    out.push(": ");
                    out.push_part(message, of_text);
                }
                other => write_value(&mut out, other),
            }
        }
        Outcome::Stopped { reason: Limit::Steps } => out.push("goes on until its steps are used up"),
        Outcome::Stopped { reason } => {
            out.push("stopped: ");
            out.push(&display_limit(*reason));
        }
    }
    out.finish()
}

/// A call as it would be written in code, e.g. `self.stats.inc_value('retries', count=1)`.
pub fn display_call(call: &Call) -> String {
    displayed_call(call).into_text()
}

/// The same, with what it shows.
pub(crate) fn displayed_call(call: &Call) -> Displayed {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    out.push_part(call.callee.as_str(), of_place);
    out.push("(");
    write_items(&mut out, &call.arguments);
    for (index, (name, value)) in call.keywords.iter().enumerate() {
        if index > 0 || !call.arguments.is_empty() {
            out.push(", ");
        }
        out.push(name);
        out.push("=");
        write_value(&mut out, value);
    }
    out.push(")");
    out.finish()
}

/// What a moment is like in one place, or in a part of it, e.g. `store.save(message) with message.archived = True`.
pub(crate) fn displayed_moment(moment: &Displayed, place: &Reached, part: &str, value: Option<&Observed>) -> Displayed {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    out.append(moment);
    if let Reached::Actions(object) = place {
        let Some(Observed::List(names)) = value else {
            let mut none = Bounded::new(usize::MAX);
            none.append(moment);
            none.push(" before any action on ");
            none.push_part(object, of_place);
            return none.finish();
        };
        out.push(" after ");
        for (index, name) in names.iter().filter_map(Observed::as_text).enumerate() {
            out.push(if index > 0 { ", " } else { "" });
            out.push_part(object, of_place);
            out.push(".");
            out.push(name);
        }
        return out.finish();
    }
    out.push(" with ");
    match place {
        Reached::Assigned { object, place } => {
            out.push_part(object, of_place);
            out.push(place);
        }
        Reached::Container(path) => out.push_part(path, of_place),
        Reached::Global(name) => {
            out.push("global ");
            out.push_part(name, of_place);
        }
        Reached::File(argument) => out.push(&format!("the file of argument {}", argument + 1)),
        Reached::Actions(_) | Reached::Rest => out.push("the rest"),
    }
    match value {
        Some(value) => {
            out.push(part);
            out.push(" = ");
            out.append(&displayed(value));
        }
        None => out.push(" as it was"),
    }
    out.finish()
}

/// The decision for an access path, e.g. `{'a': 1}` or `raises ValueError`.
pub fn display_decision(decision: &Decision) -> String {
    let mut out = Bounded::new(DISPLAY_LIMIT);
    match decision {
        Decision::Value(recipe) => out.push(&recipe.display()),
        Decision::Raise(class) => {
            out.push("raises ");
            out.push(class);
        }
        Decision::Default => out.push("not passed, its default applies"),
        Decision::Same(path) => {
            out.push("the same object as ");
            out.push(path);
        }
        Decision::Fail => out.push("missing, fails as Python would"),
    }
    out.finish().into_text()
}

/// What a version ran into, e.g. `used up its steps`.
pub fn display_limit(limit: Limit) -> Cow<'static, str> {
    match limit {
        Limit::Steps => "used up its steps".into(),
        Limit::Recursion => "recursed too deeply".into(),
        Limit::Memory => "used up its memory".into(),
        Limit::RecordBytes(most) => format!("what was observed is over the limit of {most} bytes").into(),
    }
}

/// A value that differs from run to run, by where it comes from, e.g. `<bool that depends on the time>`,
/// `'took <a timer> s'`.
pub fn display_varying(varying: &Varying) -> String {
    let names: Vec<&str> = varying.sources.iter().flat_map(|sources| sources.iter()).map(source).collect();
    let name = if names.is_empty() { "another one in each run".to_owned() } else { names.join(", ") };
    match &varying.around {
        (before, behind) if before.is_empty() && behind.is_empty() && !varying.types.is_empty() => {
            let depends = if names.is_empty() { ", ".to_owned() } else { " that depends on ".to_owned() };
            format!("<{}{depends}{name}>", varying.types.join(" or "))
        }
        (before, behind) => format!("'{before}<{name}>{behind}'"),
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Time => "the time",
        Source::Timer => "a timer",
        Source::Random => "a random value",
        Source::Process => "a process number",
        Source::TemporaryName => "a temporary name",
    }
}

fn elision(reason: Elision) -> &'static str {
    match reason {
        Elision::Size => "too many parts",
        Elision::Depth => "nested too deeply",
        Elision::Deleted => "deleted",
        Elision::UnintendedException => "an unintended exception",
        Elision::Noise => "differs from run to run",
    }
}

/// Where something is left behind, e.g. `request.meta`, `global CACHE`, `use 2, total`.
pub fn display_slot(slot: &Slot) -> Cow<'_, str> {
    match slot {
        Slot::Argument(path) | Slot::Reordered(path) => path.into(),
        Slot::File(path) => format!("file {path}").into(),
        Slot::Global(name) => format!("global {name}").into(),
        Slot::Name(name) => format!("name {name}").into(),
        Slot::Awaited => "the result must be awaited".into(),
        Slot::Yielded => "yielded values".into(),
        Slot::YieldedAfterwards => "yielded values afterwards".into(),
        Slot::GeneratorValue => "value of the generator".into(),
        Slot::Callback(number) => format!("callback {number}").into(),
        Slot::Descriptor => "how it is used".into(),
        Slot::ClassAttributes => "class attributes".into(),
        Slot::EnumMembers => "members".into(),
        Slot::Use { step, member } => format!("use {step}, {member}").into(),
        Slot::Same { place, other } => format!("identity of {place} and {other}").into(),
        Slot::Kept(place) => format!("identity of {place} and an object of the module").into(),
        Slot::Rebound(name) => format!("object of the global {name}").into(),
        Slot::Again => "second call".into(),
        Slot::Repeats => "second call gives the same".into(),
        Slot::Stored(place) => format!("function in {place}").into(),
        Slot::Cause => "cause of the exception".into(),
    }
}

/// What stands behind the name of a slot under which the code also received a value, and so tells the two apart.
pub fn afterwards(slot: &Slot) -> &'static str {
    if matches!(slot, Slot::Argument(_) | Slot::Reordered(_) | Slot::Global(_)) { " afterwards" } else { "" }
}

/// Where a difference is, e.g. `return value`, `argument request.meta`, `call 3`.
pub fn display_place(place: &EvidencePlace) -> String {
    match place {
        EvidencePlace::ReturnValue => "return value".into(),
        EvidencePlace::Exception => "exception".into(),
        EvidencePlace::Left { slot } if is_argument(slot) => format!("argument {}", display_slot(slot)),
        EvidencePlace::Left { slot } => display_slot(slot).into_owned(),
        EvidencePlace::Output { stream } => stream.name().into(),
        EvidencePlace::Message { number } => format!("message {number}"),
        EvidencePlace::Call { number } => format!("call {number}"),
    }
}

/// What a version shows in the place of a difference.
pub fn display_shown(shown: &Shown) -> &str {
    match shown {
        Shown::Text(shown) | Shown::InState { shown, .. } => shown.text(),
        Shown::NoCall => "no call",
        Shown::Unchanged => "unchanged",
        Shown::Absent | Shown::NothingLogged => "nothing",
        Shown::Same => "the same object",
        Shown::Another => "another object",
    }
}

impl Stream {
    /// The stream as Python names it.
    pub fn name(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        }
    }
}

impl Channel {
    /// The name of the channel in reports.
    pub fn name(self) -> &'static str {
        match self {
            Channel::Return => "return value",
            Channel::Arguments => "arguments",
            Channel::Output => "output",
            Channel::Log => "log",
            Channel::Calls => "calls",
            Channel::Exception => "exception",
        }
    }
}

impl Strength {
    /// The name of the strength in reports.
    pub fn name(self) -> &'static str {
        match self {
            Strength::Observable => "observable",
            Strength::CallPattern => "call pattern",
        }
    }
}

/// A text that stops growing at a limit, so that a huge value costs no more than its shown part.
struct Bounded {
    text: String,
    parts: Vec<Part>,
    left: usize,
    full: bool,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self { text: String::new(), parts: Vec::new(), left: limit, full: false }
    }

    fn push(&mut self, piece: &str) {
        for character in piece.chars() {
            if self.left == 0 {
                self.full = true;
                return;
            }
            self.text.push(character);
            self.left -= 1;
        }
    }

    /// Something of the program: what of it fits is a part of the text.
    fn push_part(&mut self, piece: &str, part: fn(&str) -> Part) {
        let start = self.text.len();
        self.push(piece);
        if start < self.text.len() {
            self.parts.push(part(&self.text[start..]));
        }
    }

    /// Another text with its parts.
    fn append(&mut self, other: &Displayed) {
        self.push(other.text());
        self.parts.extend_from_slice(other.parts());
    }

    fn finish(mut self) -> Displayed {
        if self.full {
            self.text.push('…');
        }
        if !self.text.contains("/proc/self/fd/21") {
            return Displayed::new(self.text, self.parts);
        }
        // Where a worker has its folders is of no interest.
        let text = self.text.replace(&format!("{PROJECT_FOLDER}/"), "");
        Displayed::new(text.replace(PROJECT_FOLDER, ".").replace(OWN_FOLDER, "/tmp"), self.parts)
    }
}

fn write_value(out: &mut Bounded, value: &Observed) {
    if out.full {
        return;
    }
    match value {
        Observed::None => out.push("None"),
        Observed::Bool(true) => out.push("True"),
        Observed::Bool(false) => out.push("False"),
        Observed::Int(text) | Observed::Float(text) => out.push(text),
        Observed::Str(text) => {
            // One character more than fits, so that a cut shows.
            let head: String = text.chars().take(out.left + 1).collect();
            out.push_part(&python_string(&head), of_text);
        }
        Observed::Bytes(bytes) => {
            out.push("b'");
            for byte in bytes.iter().take(out.left + 1) {
                out.push(&byte.escape_ascii().to_string());
            }
            out.push("'");
        }
        Observed::List(items) => write_enclosed(out, "[", items, "]"),
        Observed::Tuple(items) => write_enclosed(out, "(", items, if items.len() == 1 { ",)" } else { ")" }),
        Observed::Set(items) if items.is_empty() => out.push("set()"),
        Observed::Set(items) => write_enclosed(out, "{", items, "}"),
        Observed::Dict(entries) => {
            out.push("{");
            for (index, (key, value)) in entries.iter().enumerate() {
                if out.full {
                    return;
                }
                if index > 0 {
                    out.push(", ");
                }
                write_value(out, key);
                out.push(": ");
                write_value(out, value);
            }
            out.push("}");
        }
        Observed::Injected { path, assigned } => {
            out.push("<");
            out.push_part(path.as_str(), of_object);
            if !assigned.is_empty() {
                out.push(" with ");
                write_named(out, assigned);
            }
            out.push(">");
        }
        Observed::Object { class, attributes } if matches!(attributes.as_slice(), [(name, _)] if name == VALUES) => {
            // `float64[1.5, nan]`
            out.push(class);
            write_value(out, &attributes[0].1);
        }
        Observed::Object { class, attributes } if let Some((name, value)) = member(attributes) => {
            // `<Color.RED: 1>`, as Python shows it
            out.push("<");
            out.push(class);
            out.push(".");
            out.push(name);
            out.push(": ");
            write_value(out, value);
            out.push(">");
        }
        Observed::Object { class, attributes } => {
            out.push(class);
            out.push("(");
            match attributes.as_slice() {
                [(name, Observed::Str(inner))] if name == WRITTEN => out.push(inner),
                _ => write_named(out, attributes),
            }
            out.push(")");
        }
        Observed::Function { name } => write_tagged(out, "function", name),
        Observed::Called { gave } => {
            out.push("function(returned=");
            write_value(out, gave);
            out.push(")");
        }
        Observed::Class { name } => write_tagged(out, "class", name),
        Observed::Module { name } => write_tagged(out, "module", name),
        Observed::Exception { class, arguments } => {
            out.push_part(class, of_place);
            write_enclosed(out, "(", arguments, ")");
        }
        Observed::Iterator { kind, items, finished } => write_iterator(out, kind, items, *finished),
        Observed::Cycle { .. } => out.push("..."),
        Observed::Elided { reason } => write_tagged(out, "not shown:", elision(*reason)),
        Observed::Varying(varying) => out.push_part(&display_varying(varying), of_text),
    }
}

/// The name and the value of an object that is a member of an enumeration, and has nothing else.
fn member(attributes: &[(String, Observed)]) -> Option<(&str, &Observed)> {
    let of = |name: &str| attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let is_of_all = |(name, _): &(String, Observed)| OF_MEMBERS.contains(&name.as_str());
    let (name, value) = (of("_name_")?.as_text()?, of("_value_")?);
    attributes.iter().all(is_of_all).then_some((name, value))
}

fn write_iterator(out: &mut Bounded, kind: &str, items: &[Observed], finished: bool) {
    out.push("<");
    out.push(kind);
    out.push(": ");
    write_items(out, items);
    match (items.is_empty(), finished) {
        (true, true) => out.push("no items"),
        (true, false) => out.push("..."),
        (false, true) => {}
        (false, false) => out.push(", ..."),
    }
    out.push(">");
}

fn write_enclosed(out: &mut Bounded, open: &str, items: &[Observed], close: &str) {
    out.push(open);
    write_items(out, items);
    out.push(close);
}

fn write_items(out: &mut Bounded, items: &[Observed]) {
    for (index, item) in items.iter().enumerate() {
        if out.full {
            return;
        }
        if index > 0 {
            out.push(", ");
        }
        write_value(out, item);
    }
}

fn write_named(out: &mut Bounded, named: &[(String, Observed)]) {
    for (index, (name, value)) in named.iter().enumerate() {
        if out.full {
            return;
        }
        if index > 0 {
            out.push(", ");
        }
        match name.as_str() {
            ITEMS | TEXT | VALUE | VALUES => {}
            INDEX => out.push("index="),
            NAMES => out.push("names="),
            name => {
                out.push(name);
                out.push("=");
            }
        }
        write_value(out, value);
    }
}

fn write_tagged(out: &mut Bounded, tag: &str, name: &str) {
    out.push("<");
    out.push(tag);
    out.push(" ");
    out.push(name);
    out.push(">");
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::sources::Sources;

    fn int(value: i64) -> Observed {
        Observed::Int(value.to_string())
    }

    fn str(text: &str) -> Observed {
        Observed::Str(text.into())
    }

    #[test]
    fn the_folders_of_a_worker_are_not_shown() {
        assert_eq!(display_observed(&str("/proc/self/fd/211/src/rates.py")), "'src/rates.py'");
        assert_eq!(display_observed(&str("in /proc/self/fd/211, /proc/self/fd/210/a")), "'in ., /tmp/a'");
    }

    #[test]
    fn a_value_that_varies_is_shown_by_its_class_and_where_it_comes_from() {
        let varying = |sources, around: (&str, &str)| {
            let around = (around.0.to_owned(), around.1.to_owned());
            display_varying(&Varying { types: vec!["bool".into(), "int".into()], sources, around })
        };
        let time = Some(Sources::only(Source::Time));
        assert_eq!(varying(time, ("", "")), "<bool or int that depends on the time>");
        assert_eq!(varying(None, ("", "")), "<bool or int, another one in each run>");
        assert_eq!(varying(time, ("at ", "")), "'at <the time>'");
    }

    #[test]
    fn a_member_of_an_enumeration_reads_as_python_shows_it() {
        let own = |name: &str, value| (name.to_owned(), value);
        let kept = || vec![own("_name_", str("RED")), own("_sort_order_", int(0)), own("_value_", int(1))];
        let of = |attributes| display_observed(&Observed::Object { class: "Color".into(), attributes });
        assert_eq!(of(kept()), "<Color.RED: 1>");
        assert_eq!(of([vec![own(VALUE, int(1))], kept()].concat()), "<Color.RED: 1>");
        assert_eq!(of(vec![own(ITEMS, Observed::List(vec![int(1)])), own("size", int(2))]), "Color([1], size=2)");
        let more = of([kept(), vec![own("price", int(3))]].concat());
        assert_eq!(more, "Color(_name_='RED', _sort_order_=0, _value_=1, price=3)");
    }

    #[test]
    fn values_read_as_python() {
        let named = |name: &str, value| vec![(name.to_string(), value)];
        let injected = |assigned| Observed::Injected { path: "request.meta".into(), assigned };
        let generator = |items, finished| Observed::Iterator { kind: "generator".into(), items, finished };
        let table = [
            (Observed::Dict(vec![(str("a"), int(1)), (int(2), Observed::None)]), "{'a': 1, 2: None}"),
            (Observed::Tuple(vec![int(1)]), "(1,)"),
            (Observed::Tuple(vec![]), "()"),
            (Observed::Set(vec![]), "set()"),
            (Observed::List(vec![Observed::Bool(true), Observed::Float("nan".into())]), "[True, nan]"),
            (Observed::Bytes(b"a\x00".to_vec()), "b'a\\x00'"),
            (injected(vec![]), "<request.meta>"),
            (injected(named("retries", int(1))), "<request.meta with retries=1>"),
            (Observed::Object { class: "Response".into(), attributes: named("status", int(3)) }, "Response(status=3)"),
            (
                Observed::Object { class: "date".into(), attributes: named(WRITTEN, str("2020, 1, 1")) },
                "date(2020, 1, 1)",
            ),
            (Observed::Exception { class: "ValueError".into(), arguments: vec![str("x")] }, "ValueError('x')"),
            (generator(vec![int(1), int(2)], false), "<generator: 1, 2, ...>"),
            (generator(vec![int(1), int(2)], true), "<generator: 1, 2>"),
            (generator(vec![], true), "<generator: no items>"),
            (Observed::Function { name: "f".into() }, "<function f>"),
            (Observed::Called { gave: Box::new(int(3)) }, "function(returned=3)"),
            (Observed::List(vec![Observed::Cycle { up: 1 }]), "[...]"),
            (Observed::Elided { reason: Elision::Depth }, "<not shown: nested too deeply>"),
        ];
        for (value, expected) in table {
            assert_eq!(display_observed(&value), expected);
        }
    }

    #[test]
    fn a_long_value_is_cut_with_an_ellipsis() {
        let long = Observed::List((0..100_000).map(int).collect());
        let text = display_observed(&long);
        assert_eq!(text.chars().count(), DISPLAY_LIMIT + 1);
        assert!(text.starts_with("[0, 1, 2") && text.ends_with('…'));
        assert!(display_observed(&str(&"x".repeat(1_000_000))).ends_with("x…"));
    }

    #[test]
    fn outcomes_and_calls_read_as_sentences_and_code() {
        let exception = Observed::Exception { class: "ValueError".into(), arguments: vec![] };
        let raised = |message: &str| Outcome::Raised {
            exception: exception.clone(),
            intended: true,
            line: 2,
            message: message.into(),
        };
        assert_eq!(display_outcome(&Outcome::Returned(int(3))), "returned 3");
        assert_eq!(display_outcome(&raised("too long")), "raised ValueError: too long");
        assert_eq!(display_outcome(&raised("")), "raised ValueError");
        assert_eq!(display_outcome(&Outcome::Stopped { reason: Limit::Steps }), "goes on until its steps are used up");
        let call = |arguments, keywords| Call {
            callee: "a.b".into(),
            arguments,
            keywords,
            line: 1,
            discarded: true,
            by_all: true,
            state: vec![],
        };
        assert_eq!(display_call(&call(vec![], vec![])), "a.b()");
        assert_eq!(display_call(&call(vec![int(1)], vec![("n".into(), int(2))])), "a.b(1, n=2)");
        assert_eq!(display_call(&call(vec![], vec![("n".into(), int(2))])), "a.b(n=2)");
    }

    #[test]
    fn decisions_that_are_no_value_read_as_words() {
        assert_eq!(display_decision(&Decision::Raise("KeyError".into())), "raises KeyError");
        assert_eq!(display_decision(&Decision::Default), "not passed, its default applies");
    }

    fn injected(path: &str) -> Observed {
        Observed::Injected { path: path.into(), assigned: vec![] }
    }

    #[test]
    fn objects_are_counted_where_they_are_and_not_where_the_text_has_angles() {
        let text = |text: &str| Observed::Str(text.into());
        let function = || Observed::Function { name: "f".into() };
        for (value, objects) in [
            (injected("x"), 1),
            (injected("([<a[0]>] - b)"), 2),
            (injected("(x << 2)"), 1),
            (Observed::List(vec![injected("x"), injected("y"), function()]), 2),
            (text("got <x>"), 1),
            (text("a < b <= c << d </p>"), 0),
            (function(), 0),
            (Observed::Int("1".into()), 0),
        ] {
            assert_eq!(displayed(&value).objects(), objects, "{}", displayed(&value));
        }
    }

    #[test]
    fn what_is_cut_off_is_not_shown() {
        let long = Observed::List(vec![Observed::Str("x".repeat(300)), injected("y")]);
        assert_eq!((displayed(&long).objects(), displayed(&long).mentions("y".into())), (0, false));
    }

    #[test]
    fn a_calculation_mentions_its_operands_and_holds_no_other_object() {
        let shown = displayed(&injected("(x.size * 2)"));
        assert!(shown.is_calculated() && shown.mentions("x".into()) && shown.mentions("x.size".into()));
        assert!(!shown.holds_object("x") && !shown.mentions("size".into()) && !shown.mentions("y".into()));
        assert!(displayed(&injected("x.size")).holds_object("x"));
    }

    #[test]
    fn the_message_of_an_exception_is_of_the_program_and_its_sentence_is_not() {
        let class = "Bad".to_owned();
        let outcome = Outcome::Raised {
            exception: Observed::Exception { class, arguments: vec![] },
            intended: true,
            line: 1,
            message: "no <x>".into(),
        };
        let shown = displayed_outcome(&outcome);
        assert_eq!((shown.text(), shown.objects()), ("raised Bad: no <x>", 1));
        assert!(shown.mentions("x".into()) && shown.mentions("Bad".into()) && !shown.mentions("raised".into()));
    }
}
