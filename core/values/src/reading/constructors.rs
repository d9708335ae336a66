//! Classes that have a constructor of their own: what it takes, where any arguments of the right types will do.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};

use twincell_syntax::python::{is_builtin_exception, is_pure_import};

use super::annotations::{parameter_type, plain};
use super::class_syntax::{Nodes, bases, last_name, put};
use super::facts::ModuleFacts;
use crate::value::Field;

/// How far bases are followed.
const MAX_DEPTH: u32 = 4;
/// Bases that need nothing.
const NEUTRAL: [&str; 3] = ["object", "ABC", "Generic"];
/// Builtin functions that constructors use, beside classes.
const CALCULATING: [&str; 19] = [
    "abs",
    "all",
    "any",
    "enumerate",
    "getattr",
    "isinstance",
    "len",
    "map",
    "max",
    "min",
    "object",
    "range",
    "reversed",
    "round",
    "sorted",
    "sum",
    "super",
    "type",
    "zip",
];
/// Decorators that leave the constructor as it is.
const HARMLESS: [&str; 3] = ["final", "total_ordering", "runtime_checkable"];

/// Whether a class has methods that only its heirs define.
pub(super) fn is_abstract(node: &StmtClassDef, nodes: &Nodes<'_>) -> bool {
    let mut defined = BTreeSet::new();
    ancestry(node, nodes).into_iter().any(|class| {
        let open = methods(class).filter(|method| !defined.contains(method.name.as_str())).any(is_open);
        defined.extend(methods(class).map(|method| method.name.as_str()));
        open
    })
}

fn is_open(method: &StmtFunctionDef) -> bool {
    let is_named = |name: &str| matches!(name, "abstractmethod" | "abstractproperty");
    method.decorator_list.iter().any(|decorator| last_name(&decorator.expression).is_some_and(is_named))
}

/// The arguments of the constructor that a class writes or inherits. `None` where it does more than to store and to check
/// them.
pub(super) fn fields(node: &StmtClassDef, nodes: &Nodes<'_>, known: &ModuleFacts) -> Option<Vec<Field>> {
    let ancestry = ancestry(node, nodes);
    if !ancestry.iter().all(|class| is_plain(class, nodes)) {
        return None;
    }
    let init = ancestry.iter().find_map(|class| methods(class).find(|method| method.name.as_str() == "__init__"));
    let Some(init) = init else {
        // What is declared and has no value is assigned elsewhere.
        let is_open = |stmt: &Stmt| matches!(stmt, Stmt::AnnAssign(node) if node.value.is_none());
        return (!ancestry.iter().any(|class| class.body.iter().any(is_open))).then(Vec::new);
    };
    let parameters = &init.parameters;
    let first = parameters.posonlyargs.iter().chain(&parameters.args).next()?;
    let names: BTreeSet<&str> = parameters.iter().map(|one| one.name().as_str()).collect();
    let mut body = Body { known, names, only_calculates: true, used: BTreeSet::new() };
    body.visit_body(&init.body);
    if !body.only_calculates || parameters.posonlyargs.len() > 1 {
        return None;
    }
    let mut fields = Vec::new();
    for one in parameters.iter_non_variadic_params().filter(|one| one.parameter.name != first.parameter.name) {
        let name = one.parameter.name.as_str();
        let declared = parameter_type(one, known);
        let has_default = one.default.is_some();
        if declared.is_none() && !has_default && body.used.contains(name) {
            // Not every value will do.
            return None;
        }
        put(&mut fields, Field { name: name.to_owned(), declared, has_default });
    }
    Some(fields)
}

/// A class with those that it inherits from, nearest first, as far as they are of the module.
fn ancestry<'a>(node: &'a StmtClassDef, nodes: &Nodes<'a>) -> Vec<&'a StmtClassDef> {
    let mut found = vec![node];
    let mut level = vec![node];
    for _ in 0..MAX_DEPTH {
        let of_level = level.iter().flat_map(|class| bases(class)).filter_map(|base| nodes.get(base).copied());
        level = of_level.filter(|base| found.iter().all(|known| known.name != base.name)).collect();
        found.extend(&level);
    }
    found
}

fn methods(class: &StmtClassDef) -> impl Iterator<Item = &StmtFunctionDef> {
    class.body.iter().filter_map(|stmt| stmt.as_function_def_stmt())
}

/// What the objects of a class have: methods, attributes of the class, and those that methods assign.
pub(super) fn members(node: &StmtClassDef, nodes: &Nodes<'_>) -> Vec<String> {
    #[derive(Default)]
    struct Assigned(BTreeSet<String>);
    impl<'a> Visitor<'a> for Assigned {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(node) = expr
                && node.ctx.is_store()
                && matches!(node.value.as_ref(), Expr::Name(own) if own.id.as_str() == "self")
            {
                self.0.insert(node.attr.to_string());
            }
            walk_expr(self, expr);
        }
    }
    let mut found = Assigned::default();
    for class in ancestry(node, nodes) {
        for stmt in &class.body {
            match stmt {
                Stmt::FunctionDef(method) => {
                    found.0.insert(method.name.to_string());
                    found.visit_body(&method.body);
                }
                Stmt::Assign(node) => found.0.extend(node.targets.iter().filter_map(last_name).map(String::from)),
                Stmt::AnnAssign(node) => found.0.extend(last_name(&node.target).map(String::from)),
                _ => {}
            }
        }
    }
    found.0.into_iter().collect()
}

/// Whether all that makes objects of a class is in the module.
fn is_plain(class: &StmtClassDef, nodes: &Nodes<'_>) -> bool {
    let is_known = |base: &str| nodes.contains_key(base) || NEUTRAL.contains(&base);
    let is_harmless = |name: &str| HARMLESS.contains(&name);
    class.bases().len() == bases(class).count()
        && bases(class).all(is_known)
        && class.keywords().iter().all(|keyword| last_name(&keyword.value) == Some("ABCMeta"))
        && class.decorator_list.iter().all(|one| last_name(&one.expression).is_some_and(is_harmless))
        && methods(class).all(|method| method.name.as_str() != "__new__")
}

/// What a constructor does.
struct Body<'k> {
    known: &'k ModuleFacts,
    /// The parameters.
    names: BTreeSet<&'k str>,
    only_calculates: bool,
    /// The parameters with which more is done than to store them.
    used: BTreeSet<String>,
}

impl Body<'_> {
    /// Whether a call needs nothing but its arguments.
    fn is_calculation(&self, callee: &Expr) -> bool {
        match callee {
            Expr::Name(name) => {
                let name = name.id.as_str();
                CALCULATING.contains(&name) || is_builtin_exception(name) || plain(name, self.known).is_some()
            }
            Expr::Attribute(node) => match node.value.as_ref() {
                Expr::Name(root) => self.names.contains(root.id.as_str()) || is_pure_import(&root.id),
                Expr::Call(call) => self.is_calculation(&call.func),
                Expr::StringLiteral(_) => true,
                Expr::Attribute(_) => self.is_calculation(&node.value),
                _ => false,
            },
            _ => false,
        }
    }

    /// A value that is stored as it is: `value`, `value or []`, `[] if value is None else value`.
    fn stored(&mut self, value: &Expr) {
        match value {
            Expr::Name(_) => {}
            Expr::BoolOp(node) => node.values.iter().for_each(|value| self.stored(value)),
            Expr::If(node) => {
                [&node.body, &node.orelse].into_iter().for_each(|value| self.stored(value));
                match node.test.as_ref() {
                    Expr::Compare(test) if test.left.is_name_expr() => {
                        test.comparators.iter().for_each(|other| self.visit_expr(other));
                    }
                    Expr::Name(_) => {}
                    test => self.visit_expr(test),
                }
            }
            other => self.visit_expr(other),
        }
    }
}

impl<'a> Visitor<'a> for Body<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) if node.targets.iter().all(|target| target.is_attribute_expr()) => {
                self.stored(&node.value)
            }
            Stmt::AnnAssign(node) if node.target.is_attribute_expr() => {
                node.value.iter().for_each(|value| self.stored(value));
            }
            Stmt::With(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Global(_) | Stmt::While(_) => {
                self.only_calculates = false;
            }
            other => walk_stmt(self, other),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.used.insert(name.id.to_string());
            }
            Expr::Call(call) => {
                self.only_calculates &= self.is_calculation(&call.func);
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::AbstractValue;

    fn found(module: &str, class: &str) -> Option<Vec<String>> {
        let known = ModuleFacts::of(module);
        let models = &known.classes.get(class)?.models;
        Some(
            models
                .iter()
                .map(|model| {
                    let fields: Vec<&str> = model.fields.iter().map(|field| field.name.as_str()).collect();
                    format!("{}({})", model.class, fields.join(", "))
                })
                .collect(),
        )
    }

    #[test]
    fn classes_are_made_through_constructors_that_store_and_check() {
        for (init, expected) in [
            ("def __init__(self, a: int, b=2):\n        self.a, self.b = a, b", Some("C(a, b)")),
            ("def __init__(self, items=None):\n        self.items = items or []", Some("C(items)")),
            ("def __init__(self, items):\n        self.items = items", Some("C(items)")),
            ("def __init__(self, items):\n        self.first = items[0]", None),
            (
                "def __init__(self, a: float):\n        if a < 0:\n            raise ValueError(a)\n        self.a = a",
                Some("C(a)"),
            ),
            ("def __init__(self, a: str):\n        self.a = open(a).read()", None),
            ("def __init__(self, a: str):\n        self.a = requests.get(a)", None),
            ("def __init__(self, a: str):\n        self.a = a.strip().lower()", Some("C(a)")),
            ("def area(self): ...", Some("C()")),
        ] {
            let found = found(&format!("class C:\n    {init}\n"), "C");
            assert_eq!(found, expected.map(|one| vec![one.to_owned()]), "{init}");
        }
    }

    #[test]
    fn heirs_stand_for_an_abstract_class() {
        let module = "\
from abc import ABC, abstractmethod
class Shape(ABC):
    def __init__(self, name: str):
        self.name = name
    @abstractmethod
    def area(self): ...
class Square(Shape):
    def __init__(self, side: float):
        super().__init__('square')
        self.side = side
    def area(self):
        return self.side ** 2
class Unit(Shape):
    def area(self):
        return 1
class Other(Unknown):
    pass
";
        let shapes = ["Square(side)", "Unit(name)"].map(String::from).to_vec();
        assert_eq!(found(module, "Shape"), Some(shapes));
        assert_eq!(found(module, "Other"), None);
        let known = ModuleFacts::of(module);
        let side = &known.classes["Square"].models[0].fields[0];
        assert_eq!(side.declared.as_ref().unwrap().classes, [AbstractValue::Float, AbstractValue::Int]);
    }
}
