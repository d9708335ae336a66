//! The parts that all reproducers share: the stand-in class and its companions.
//!
//! Each file of `standin/` is one part: a docstring, its imports, and the text that goes into a reproducer. Its imports
//! from neighbouring files say which parts it needs. `recorded.py` is not a part. It stands for the data that each
//! reproducer has itself (`recorded.rs`).

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use ruff_python_ast::Stmt;

use twincell_syntax::parse::parse;

/// What a test needs beyond its own lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    /// Objects that answer as recorded, and the globals that have them.
    Standins,
    /// `<`, `sorted` and similar operations.
    Order,
    /// Objects that were found to be equal.
    Equality,
    Arithmetic,
    /// `with`.
    Contexts,
    /// `await`, `async for`, `async with`.
    Awaiting,
    /// Plain values from which the code asks more than they have.
    Extended,
    Imports,
    /// Definitions of classes with keywords.
    Classes,
    /// `isinstance` with missing classes.
    Instances,
    /// `hasattr` of names that every object has.
    Attributes,
    /// Real functions that answer as recorded.
    Patches,
    /// Functions of the code that it handed to missing code.
    CallBacks,
    /// Functions of the code that it stored in stand-ins.
    Stored,
    /// Items that real mappings lack.
    Fills,
    /// What `super()` gives.
    Parent,
    /// The object of a method whose class exists.
    Receiver,
    /// The items of an asynchronous generator.
    Collected,
    /// An event loop that does not wait.
    VirtualTime,
}

/// One file of `standin/`.
struct Part {
    name: &'static str,
    source: &'static str,
    /// Its purpose. `None` for a part that only other parts need.
    serves: Option<Feature>,
}

macro_rules! part {
    ($name:literal, $serves:expr) => {
        Part { name: $name, source: include_str!(concat!("standin/", $name, ".py")), serves: $serves }
    };
}

/// All parts, in their order in a reproducer.
const PARTS: [Part; 29] = [
    part!("state", None),
    part!("standin", Some(Feature::Standins)),
    part!("answers", None),
    part!("calls", None),
    part!("questions", None),
    part!("paths", None),
    part!("log", None),
    part!("text", None),
    part!("assigned", Some(Feature::Standins)),
    part!("compare", Some(Feature::Order)),
    part!("hashes", Some(Feature::Equality)),
    part!("arithmetic", Some(Feature::Arithmetic)),
    part!("context_manager", Some(Feature::Contexts)),
    part!("awaiting", Some(Feature::Awaiting)),
    part!("extended", Some(Feature::Extended)),
    part!("names", Some(Feature::Standins)),
    part!("mend", Some(Feature::Standins)),
    part!("imports", Some(Feature::Imports)),
    part!("classes", Some(Feature::Classes)),
    part!("instances", Some(Feature::Instances)),
    part!("attributes", Some(Feature::Attributes)),
    part!("patch", Some(Feature::Patches)),
    part!("call_back", Some(Feature::CallBacks)),
    part!("stored", Some(Feature::Stored)),
    part!("fill", Some(Feature::Fills)),
    part!("parent", Some(Feature::Parent)),
    part!("receiver", Some(Feature::Receiver)),
    part!("collected", Some(Feature::Collected)),
    part!("virtual_time", Some(Feature::VirtualTime)),
];

/// The part that ends with the lines of the stand-in class.
const CLASS: &str = "standin";

/// A part without its docstring and imports.
struct Body {
    text: &'static str,
    /// The names of the parts that it needs.
    needs: Vec<String>,
}

impl Part {
    fn body(&self) -> Body {
        let parsed = parse(self.source);
        let (mut needs, mut end) = (vec![], 0);
        for statement in parsed.suite() {
            match statement {
                Stmt::Expr(node) if node.value.is_string_literal_expr() => {}
                Stmt::Import(_) => {}
                Stmt::ImportFrom(node) => needs.extend(node.module.iter().map(ToString::to_string)),
                _ => break,
            }
            end = ruff_text_size::Ranged::range(statement).end().to_usize();
        }
        Body { text: self.source.get(end..).unwrap_or("").trim_matches('\n'), needs }
    }
}

/// All parts and their bodies. They are the same in every reproducer, so they are parsed once.
static BODIES: LazyLock<Vec<(Part, Body)>> = LazyLock::new(|| {
    PARTS
        .into_iter()
        .map(|part| {
            let body = part.body();
            (part, body)
        })
        .collect()
});

/// The parts for some features, with all parts that these need in turn, each after two empty lines. `members` are
/// further lines of the stand-in class.
pub(super) fn compose(features: &BTreeSet<Feature>, members: &str) -> String {
    let mut taken: Vec<bool> =
        PARTS.iter().map(|part| part.serves.is_some_and(|feature| features.contains(&feature))).collect();
    let is_needed = |taken: &[bool], name: &str| {
        BODIES.iter().zip(taken).any(|((_, body), taken)| *taken && body.needs.iter().any(|need| need == name))
    };
    while let Some(next) = (0..PARTS.len()).find(|&at| !taken[at] && is_needed(&taken, PARTS[at].name)) {
        taken[next] = true;
    }
    let mut text = String::new();
    for ((part, body), _) in BODIES.iter().zip(taken).filter(|(_, taken)| *taken) {
        let members = if part.name == CLASS { members } else { "" };
        let _ = write!(text, "\n\n{}\n{members}", body.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use twincell_syntax::scopes::Bindings;
    use twincell_values::path::{MAX_ARGUMENTS, MAX_PATH, cut_at};

    use super::*;

    /// The text from `recorded.rs`, and the loader.
    const RECORDED: &str = "recorded";

    fn source(name: &str) -> &'static str {
        PARTS.iter().find(|part| part.name == name).map_or(include_str!("standin/recorded.py"), |part| part.source)
    }

    #[test]
    fn a_stand_in_cuts_paths_where_executions_do() {
        let text = source("paths");
        let kept = cut_at("x".repeat(MAX_PATH + 1), MAX_PATH).find('~');
        let expected = [
            format!("cut(path, {MAX_PATH})"),
            format!("in values), {MAX_ARGUMENTS})"),
            format!("head[: most - {}]", MAX_PATH - kept.unwrap_or(0)),
        ];
        for part in expected {
            assert!(text.contains(&part), "{part}");
        }
    }

    #[test]
    fn what_a_part_takes_from_another_one_is_there() {
        for part in &PARTS {
            for statement in parse(part.source).suite() {
                let Stmt::ImportFrom(import) = statement else { continue };
                let from = import.module.as_deref().unwrap_or_default();
                assert!(from == RECORDED || PARTS.iter().any(|part| part.name == from), "{}: {from}", part.name);
                let bound = Bindings::of_body(parse(source(from)).suite()).bound;
                for alias in &import.names {
                    assert!(bound.contains(alias.name.as_str()), "{}: {from}.{}", part.name, alias.name);
                }
            }
        }
    }

    #[test]
    fn parts_bring_what_they_need_and_nothing_else() {
        let collected = compose(&[Feature::Collected].into(), "");
        assert!(collected.starts_with("\n\nasync def collected") && !collected.contains("class "), "{collected}");
        let instances = compose(&[Feature::Instances].into(), "    added = True\n");
        assert!(
            instances.contains("\nclass Standin:") && instances.contains("= __instancecheck__\n    added = True\n")
        );
        assert!(!instances.contains("import ") && !instances.contains("__matmul__"));
    }
}
