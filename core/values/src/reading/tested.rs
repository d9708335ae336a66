//! The types of parameters that declare none, from the classes that a function tests them for, and from what it asks of
//! them or of their items.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_comprehension, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, Expr, Operator, Pattern, Stmt, StmtFunctionDef};
use twincell_syntax::python::attributes_of;

use super::annotations::plain;
use super::bindings::aliases;
use super::class_syntax::last_name;
use super::facts::ModuleFacts;
use super::types::told;
use super::written::named;
use crate::value::{AbstractValue, Declared, Model, library};

/// How many classes may have what the code asks for.
const MOST_CLASSES: usize = 4;

/// The types of parameters. Whether the uses tell them from all others comes second.
pub(super) fn types(definition: &StmtFunctionDef, known: &ModuleFacts) -> BTreeMap<String, (Declared, bool)> {
    let parameters = definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.as_str());
    let parameters = parameters.filter(|name| !matches!(*name, "self" | "cls" | "mcs"));
    let mut uses = Uses { parameters: parameters.collect(), ..Uses::default() };
    let aliases = aliases(definition);
    uses.aliases = aliases.into_iter().filter(|(_, own)| uses.parameters.contains(own)).collect();
    uses.visit_body(&definition.body);
    let mut found = BTreeMap::new();
    for name in uses.parameters {
        let whole = uses.found.get(&(name, false)).and_then(|asked| asked.declared(name, known));
        let items = uses.found.get(&(name, true)).filter(|_| !uses.others.contains(&name));
        let items = items.and_then(|asked| asked.declared(name.strip_suffix('s').unwrap_or(name), known));
        let of_items = |(items, is_certain)| {
            (Declared { items: Some(Box::new(items)), ..Declared::of(&[AbstractValue::List]) }, is_certain)
        };
        if let Some(own) = whole.or_else(|| items.map(of_items)) {
            found.insert(name.to_owned(), own);
        }
    }
    found
}

/// What is asked of a parameter, or of its items.
#[derive(Default)]
struct ParameterTests {
    tested: Vec<Option<String>>,
    attributes: Vec<String>,
}

impl ParameterTests {
    fn declared(&self, name: &str, known: &ModuleFacts) -> Option<(Declared, bool)> {
        let by_tests = self.by_tests(known).map(|own| (own, true));
        let by_class = || told(&self.attributes).map(|(class, is_certain)| (of_library(class), is_certain));
        by_tests.or_else(|| self.by_members(name, known).map(|own| (own, true))).or_else(by_class)
    }

    /// The classes that it is tested for, if they are all known.
    fn by_tests(&self, known: &ModuleFacts) -> Option<Declared> {
        let tested = self.tested.iter().map(|class| plain(class.as_deref()?, known));
        let tested = tested.collect::<Option<Vec<_>>>()?.into_iter().reduce(|one, other| one.or(&other));
        let tested = tested.filter(|own| own.is_of_classes() || own.is_closed)?;
        let is_single = tested.classes == [AbstractValue::Object] && tested.library.len() + tested.models.len() < 2;
        Some(match is_single {
            // A moment is a date as well, so the code expects other dates.
            true if tested.library == ["datetime.datetime"] => tested.or(&of_library("datetime.date")),
            true => tested.or(&Declared::of(&[AbstractValue::Str, AbstractValue::Int])),
            false => tested,
        })
    }

    /// The classes whose objects have all that is asked for.
    fn by_members(&self, name: &str, known: &ModuleFacts) -> Option<Declared> {
        const PLAIN: [&str; 5] = ["dict", "list", "str", "set", "tuple"];
        let has_all = |model: &Model| {
            let has =
                |name: &String| model.fields.iter().any(|field| field.name == *name) || model.members.contains(name);
            !self.attributes.is_empty() && self.attributes.iter().all(has)
        };
        let classes = known
            .classes
            .values()
            .filter(|class| matches!(class.models.as_slice(), [model] if !model.is_mapping && has_all(model)));
        let classes: Vec<&Declared> = classes.collect();
        let is_named = |class: &&&Declared| class.models.iter().any(|model| snake(&model.class) == name);
        if let Some(class) = classes.iter().find(is_named) {
            return Some((*class).clone());
        }
        let is_plain = |class: &&str| self.attributes.iter().all(|name| attributes_of(class).contains(&name.as_str()));
        let tells = self.attributes.len() > 1 && !PLAIN.iter().any(is_plain) && classes.len() <= MOST_CLASSES;
        classes.into_iter().filter(|_| tells).cloned().reduce(|one, other| one.or(&other))
    }
}

fn of_library(class: &str) -> Declared {
    debug_assert!(library::class_named(class.rsplit('.').next().unwrap_or(class)).is_some());
    Declared { library: vec![class.to_owned()], ..Declared::of(&[AbstractValue::Object]) }
}

/// The name that variables of a class have: `line_item` for `LineItem`.
fn snake(class: &str) -> String {
    let name = class.rsplit([':', '.']).next().unwrap_or(class);
    let mut found = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            found.push('_');
        }
        found.extend(letter.to_lowercase());
    }
    found
}

#[derive(Default)]
struct Uses<'a> {
    parameters: Vec<&'a str>,
    /// The parameter that each local stands for.
    aliases: BTreeMap<&'a str, &'a str>,
    /// The parameter of which each local is an item.
    items: BTreeMap<&'a str, &'a str>,
    /// By parameter, and whether its items are meant.
    found: BTreeMap<(&'a str, bool), ParameterTests>,
    /// Parameters that are certainly no lists.
    others: Vec<&'a str>,
}

impl<'a> Uses<'a> {
    fn asked(&mut self, expr: &'a Expr) -> Option<&mut ParameterTests> {
        let name = expr.as_name_expr()?.id.as_str();
        let of = match self.items.get(name) {
            Some(parameter) => (*parameter, true),
            None => {
                let own = self.aliases.get(name).copied().unwrap_or(name);
                (*self.parameters.iter().find(|one| **one == own)?, false)
            }
        };
        Some(self.found.entry(of).or_default())
    }

    /// `for target in iterated`.
    fn iterate(&mut self, target: &'a Expr, iterated: &'a Expr) {
        match (target, iterated) {
            (Expr::Name(local), Expr::Name(name)) => {
                let local = local.id.as_str();
                if let Some(parameter) = self.parameters.iter().find(|one| **one == name.id.as_str())
                    && !self.parameters.contains(&local)
                {
                    self.items.insert(local, parameter);
                }
            }
            (target, Expr::Call(call))
                if call.arguments.args.len() == 1 || last_name(&call.func) == Some("enumerate") =>
            {
                let Some(inner) = call.arguments.args.first() else { return };
                match (call.func.as_name_expr().map(|name| name.id.as_str()), target) {
                    (Some("sorted" | "reversed" | "list" | "tuple"), _) => self.iterate(target, inner),
                    (Some("enumerate"), Expr::Tuple(parts)) if parts.elts.len() == 2 => {
                        self.iterate(&parts.elts[1], inner)
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn test(&mut self, subject: &'a Expr, class: &'a Expr) {
        match class {
            Expr::Tuple(node) => node.elts.iter().for_each(|class| self.test(subject, class)),
            Expr::BinOp(node) if node.op == Operator::BitOr => {
                [&node.left, &node.right].into_iter().for_each(|class| self.test(subject, class));
            }
            class => {
                let name = named(class);
                if let Some(asked) = self.asked(subject) {
                    asked.tested.push(name);
                }
            }
        }
    }

    fn pattern(&mut self, subject: &'a Expr, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchClass(node) => self.test(subject, &node.cls),
            Pattern::MatchOr(node) => node.patterns.iter().for_each(|one| self.pattern(subject, one)),
            Pattern::MatchAs(node) => node.pattern.iter().for_each(|one| self.pattern(subject, one)),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(node) => self.iterate(&node.target, &node.iter),
            Stmt::Match(node) => node.cases.iter().for_each(|case| self.pattern(&node.subject, &case.pattern)),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_comprehension(&mut self, node: &'a Comprehension) {
        self.iterate(&node.target, &node.iter);
        walk_comprehension(self, node);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            // What a comprehension gives is written before what it iterates over.
            Expr::ListComp(node) => node.generators.iter().for_each(|one| self.iterate(&one.target, &one.iter)),
            Expr::SetComp(node) => node.generators.iter().for_each(|one| self.iterate(&one.target, &one.iter)),
            Expr::Generator(node) => node.generators.iter().for_each(|one| self.iterate(&one.target, &one.iter)),
            Expr::DictComp(node) => node.generators.iter().for_each(|one| self.iterate(&one.target, &one.iter)),
            Expr::Call(node) if last_name(&node.func) == Some("isinstance") => {
                if let [subject, class] = node.arguments.args.as_ref() {
                    self.test(subject, class);
                }
            }
            Expr::Attribute(node) => {
                let name = node.attr.to_string();
                if let Some(asked) = self.asked(&node.value)
                    && !asked.attributes.contains(&name)
                {
                    asked.attributes.push(name);
                }
                if let Expr::Name(own) = node.value.as_ref()
                    && !attributes_of("list").contains(&node.attr.as_str())
                {
                    self.others.push(&own.id);
                }
            }
            Expr::Subscript(node) if node.slice.is_string_literal_expr() => {
                if let Expr::Name(own) = node.value.as_ref() {
                    self.others.push(&own.id);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_syntax::parse::parse;

    const MODULE: &str = "\
from dataclasses import dataclass
@dataclass
class LineItem:
    price: int
    count: int
    @property
    def total(self): ...
@dataclass
class Circle:
    radius: float
@dataclass
class Square:
    side: float
";

    fn found(parameters: &str, body: &str) -> Option<String> {
        let parsed = parse(&format!("def f({parameters}):\n    {body}\n")).into_syntax();
        let Some(Stmt::FunctionDef(definition)) = parsed.body.first() else { panic!() };
        let (declared, _) = types(definition, &ModuleFacts::of(MODULE)).remove(parameters)?;
        let items = declared.items.as_deref();
        let of = items.unwrap_or(&declared);
        let names: Vec<&str> =
            of.library.iter().map(String::as_str).chain(of.models.iter().map(|model| model.class.as_str())).collect();
        Some(format!("{}{}", if items.is_some() { "list of " } else { "" }, names.join(" or ")))
    }

    #[test]
    fn types_are_told_by_tests_and_by_what_is_asked() {
        for (parameter, body, expected) in [
            ("x", "return isinstance(x, (Circle, Square))", Some("Circle or Square")),
            (
                "x",
                "match x:\n        case Circle(radius=r): return r\n        case Square(): return 1",
                Some("Circle or Square"),
            ),
            ("x", "return isinstance(x, Unknown)", None),
            ("x", "return isinstance(x, int)", None),
            ("x", "return isinstance(x, datetime)", Some("datetime.datetime or datetime.date")),
            ("x", "return x.price * x.count", Some("LineItem")),
            ("x", "return x.price", None),
            ("line_item", "return line_item.total", Some("LineItem")),
            ("x", "y = x\n    return y.price * y.count", Some("LineItem")),
            ("x", "y = x\n    y += 1\n    return y.price * y.count", Some("LineItem")),
            ("x", "y = x\n    y = z\n    return y.price * y.count", None),
            ("xs", "return [x.price * x.count for x in xs]", Some("list of LineItem")),
            ("xs", "return sum(isinstance(x, Circle | Square) for x in xs)", Some("list of Circle or Square")),
            ("days", "for day in sorted(days):\n        yield day.weekday()", Some("list of datetime.date")),
            ("days", "for day in days:\n        yield day.weekday(), days['x']", None),
        ] {
            assert_eq!(found(parameter, body).as_deref(), expected, "{body}");
        }
    }
}
