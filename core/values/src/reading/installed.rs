//! Classes of installed packages that declare their fields, as the texts of these packages define them.
//!
//! Packages are large, so only the modules that lead to a class are read, and only the classes that it names.

use std::collections::BTreeSet;
use std::sync::Arc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{Expr, Pattern, Stmt, StmtClassDef};
use ruff_text_size::Ranged;
use twincell_semantic::PlacedText;
use twincell_syntax::parse::{parse, with_stack_for};

use super::class_syntax::{Nodes, last_name};
use super::facts::Classes;
use super::imported_names::{last, names};
use super::models;
use super::provided::Provided;
use crate::value::{Declared, library};

/// How far imports are followed, and how many modules are read for one comparison.
const MAX_STEPS: u32 = 5;
const MOST_MODULES: u32 = 60;
/// The largest module that is read, in bytes.
const LARGEST: usize = 256 << 10;

/// The installed packages, with a bound on what is read.
pub(super) struct Packages<'a> {
    read: &'a dyn Fn(&str) -> Option<Arc<PlacedText>>,
    left: u32,
}

/// The module that defines a class.
struct Home {
    module: String,
    text: Arc<PlacedText>,
    name: String,
}

impl<'a> Packages<'a> {
    pub fn new(read: &'a dyn Fn(&str) -> Option<Arc<PlacedText>>) -> Self {
        Self { read, left: MOST_MODULES }
    }

    /// The values of a class by its dotted name. `None` unless it declares its fields or is an enumeration.
    pub fn class(&mut self, target: &str) -> Option<Declared> {
        self.class_within(target, MAX_STEPS)
    }

    fn class_within(&mut self, target: &str, steps: u32) -> Option<Declared> {
        let is_library = library::class_named(last(target)).is_some();
        let home = if is_library { None } else { self.home(target, steps) }?;
        let whole = home.text.absolute();
        let text = with_stack_for(whole.len(), || own_text(whole, &home.name))?;
        let asked = TypeNames::of(&text, true);
        let mut imported = Classes::new();
        for (written, target) in names(whole).into_iter().filter(|(written, _)| asked.has(written)) {
            if let Some(class) = steps.checked_sub(1).and_then(|steps| self.class_within(&target, steps)) {
                imported.insert(last(&written).to_owned(), class);
            }
        }
        models::classes(&text, Some(&home.module), imported, &Provided::new()).remove(&home.name)
    }

    /// Where a class is defined, wherever packages import it from.
    fn home(&mut self, target: &str, steps: u32) -> Option<Home> {
        let (module, name) = target.rsplit_once('.')?;
        self.left = self.left.checked_sub(1)?;
        let found = (self.read)(module).filter(|found| found.text().len() <= LARGEST && found.text().contains(name))?;
        if defines(found.absolute(), name) {
            return Some(Home { module: module.to_owned(), text: found, name: name.to_owned() });
        }
        let import = found.imports().get(name)?;
        self.home(&import.target, steps.checked_sub(1)?)
    }
}

/// The names that a text has in annotations, tests of classes and patterns.
#[derive(Default)]
pub(super) struct TypeNames {
    names: BTreeSet<String>,
    /// Whether the bases of classes count as well.
    with_bases: bool,
}

impl TypeNames {
    pub fn of(text: &str, with_bases: bool) -> Self {
        let mut asked = Self { with_bases, ..Self::default() };
        with_stack_for(text.len(), || asked.visit_body(parse(text).suite()));
        asked
    }

    /// Whether a dotted name is among them, by its last part.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(last(name))
    }

    fn add(&mut self, expr: &Expr) {
        match expr {
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.add(one)),
            Expr::BinOp(node) => [&node.left, &node.right].into_iter().for_each(|one| self.add(one)),
            Expr::Subscript(node) => [&node.value, &node.slice].into_iter().for_each(|one| self.add(one)),
            Expr::StringLiteral(text) => {
                let words = text.value.to_str().split(|c: char| !c.is_alphanumeric() && c != '_');
                self.names.extend(words.map(str::to_owned));
            }
            other => self.names.extend(last_name(other).map(str::to_owned)),
        }
    }
}

impl<'a> Visitor<'a> for TypeNames {
    fn visit_annotation(&mut self, expr: &'a Expr) {
        self.add(expr);
        walk_expr(self, expr);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && last_name(&call.func).is_some_and(|name| matches!(name, "isinstance" | "issubclass"))
        {
            call.arguments.args.iter().skip(1).for_each(|class| self.add(class));
        }
        walk_expr(self, expr);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Pattern::MatchClass(class) = pattern {
            self.add(&class.cls);
        }
        walk_pattern(self, pattern);
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::ClassDef(class) = stmt
            && self.with_bases
        {
            // What these write is known.
            let others = class.bases().iter().filter(|base| last_name(base) != Some("BaseModel"));
            others.for_each(|base| self.add(base));
        }
        walk_stmt(self, stmt);
    }
}

/// Whether a line begins the class.
fn defines(text: &str, name: &str) -> bool {
    let rest = |line: &str| line.strip_prefix("class ").and_then(|rest| rest.strip_prefix(name)).map(str::to_owned);
    text.lines().filter_map(rest).any(|rest| rest.starts_with(['(', ':', '[', ' ']))
}

/// A class that declares its fields, with the classes beside it that it names, directly or through others.
fn own_text(text: &str, name: &str) -> Option<String> {
    let parsed = parse(text);
    let nodes: Nodes<'_> =
        parsed.suite().iter().filter_map(Stmt::as_class_def_stmt).map(|node| (node.name.as_str(), node)).collect();
    models::declares_fields(nodes.get(name)?, &nodes).then_some(())?;
    let source = |node: &StmtClassDef| text.get(node.range().to_std_range()).unwrap_or_default();
    let mut wanted = BTreeSet::from([name]);
    loop {
        let inside: Vec<&str> = wanted.iter().filter_map(|name| nodes.get(name)).map(|node| source(node)).collect();
        let more: Vec<&str> = nodes
            .keys()
            .copied()
            .filter(|other| !wanted.contains(other) && inside.iter().any(|text| text.contains(other)))
            .collect();
        if more.is_empty() {
            break;
        }
        wanted.extend(more);
    }
    let mut found: Vec<&&StmtClassDef> = wanted.iter().filter_map(|name| nodes.get(name)).collect();
    found.sort_by_key(|node| node.range().start());
    Some(found.into_iter().map(|node| format!("{}\n", source(node))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: &str = "\
from dataclasses import dataclass
import attrs
from .levels import Level, Other
def helper(): ...
class Plain:
    def __init__(self, a): self.a = a
@dataclass
class Part:
    level: Level
    sku: str = ''
@attrs.define
class Bin:
    parts: list[Part]
";

    fn class(target: &str) -> Option<Declared> {
        let read = |module: &str| {
            let (package, text) = match module {
                "depot" => ("depot", "from .models import Bin, Plain as Thing\nfrom .models import Part"),
                "depot.models" => ("depot", MODELS),
                "depot.levels" => ("depot", "import enum\nclass Level(enum.Enum):\n    LOW = 1\n    HIGH = 2\n"),
                _ => return None,
            };
            PlacedText::of(module, "", package, text.into()).map(Arc::new)
        };
        Packages::new(&read).class(target)
    }

    #[test]
    fn a_class_is_found_where_it_is_defined_with_what_its_fields_are() {
        let bin = class("depot.Bin").unwrap();
        assert_eq!(bin.models[0].class, "depot.models:Bin");
        let part = bin.models[0].fields[0].declared.clone().and_then(|own| own.items).unwrap();
        assert_eq!(part.models[0].class, "depot.models:Part");
        let level = part.models[0].fields[0].declared.clone().unwrap();
        assert_eq!(level.literals[1].display(), "Level.HIGH");
    }

    #[test]
    fn only_classes_that_a_text_asks_for_are_looked_up() {
        let text = "class A(B):\n    x: C[D] = E()\ndef f(a: 'G | None', b=H):\n    return isinstance(a, (I, m.J))\n\
                    match x:\n    case K(): L\n";
        let asked = TypeNames::of(text, false);
        let found: String = "ABCDEGHIJKL".chars().filter(|name| asked.has(&name.to_string())).collect();
        assert_eq!(found, "CDGIJK");
        assert!(TypeNames::of(text, true).has("B"));
    }

    #[test]
    fn other_classes_and_what_is_not_installed_stay_unknown() {
        for target in ["depot.models.Plain", "depot.Missing", "depot.levels.Other", "other.Bin", "Bin"] {
            assert_eq!(class(target), None, "{target}");
        }
    }
}
