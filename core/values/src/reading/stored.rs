//! What methods put into the containers that their objects hold: `self.done.append(Edit(at, text))`.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};

use super::annotations::plain;
use super::bindings::{bound_once, own_attribute};
use super::facts::ModuleFacts;
use super::written::literal;
use crate::value::{AbstractValue, Declared};

/// What each attribute holds. Where nobody knows the type of something that is put there, it is most likely of the classes
/// that are known, and nothing is said of plain values.
pub(super) fn stored<'a>(
    methods: impl Iterator<Item = &'a StmtFunctionDef>,
    known: &ModuleFacts,
) -> BTreeMap<String, Declared> {
    let mut found: BTreeMap<String, ContainerContent> = BTreeMap::new();
    for method in methods {
        let mut put = Put { method, known, locals: bound_once(method), found: &mut found };
        put.visit_body(&method.body);
    }
    let held = |(name, ContainerContent { known, has_others }): (String, ContainerContent)| {
        let known = known.filter(|known| !has_others || known.is_of_classes())?;
        Some((name, known))
    };
    found.into_iter().filter_map(held).collect()
}

/// What is put into one container.
#[derive(Default)]
struct ContainerContent {
    known: Option<Declared>,
    /// Whether there is anything else.
    has_others: bool,
}

struct Put<'a, 'f> {
    method: &'a StmtFunctionDef,
    known: &'f ModuleFacts,
    locals: BTreeMap<&'a str, &'a Expr>,
    found: &'f mut BTreeMap<String, ContainerContent>,
}

impl Put<'_, '_> {
    fn put(&mut self, container: &Expr, value: Option<&Expr>) {
        let Some(name) = own_attribute(self.method, container) else { return };
        let class = value.and_then(|value| self.type_of(value));
        let held = self.found.entry(name.to_owned()).or_default();
        held.has_others |= class.is_none();
        held.known = match (held.known.take(), class) {
            (Some(before), Some(class)) => Some(before.or(&class)),
            (before, class) => before.or(class),
        };
    }

    fn type_of(&self, value: &Expr) -> Option<Declared> {
        match value {
            Expr::FString(_) => Some(Declared::of(&[AbstractValue::Str])),
            // A class by its name. What a method gives has no type, whatever its name.
            Expr::Call(call) => plain(call.func.as_name_expr()?.id.as_str(), self.known),
            Expr::Name(name) => {
                let value = self.locals.get(name.id.as_str())?;
                if value.is_name_expr() { None } else { self.type_of(value) }
            }
            Expr::BytesLiteral(_) => Some(Declared { bytes: true, ..Declared::of(&[AbstractValue::Str]) }),
            other => {
                let class = literal(other)?.abstract_value();
                (class != AbstractValue::None).then(|| Declared::of(&[class]))
            }
        }
    }

    fn called(&mut self, call: &ExprCall) {
        let Expr::Attribute(method) = call.func.as_ref() else { return };
        match (method.attr.as_str(), call.arguments.args.as_ref()) {
            ("append" | "add" | "appendleft", [value]) | ("insert" | "setdefault", [_, value]) => {
                self.put(&method.value, Some(value));
            }
            ("extend" | "update" | "__setitem__", _) => self.put(&method.value, None),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Put<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => {
                for target in &node.targets {
                    if let Expr::Subscript(item) = target {
                        self.put(
                            &item.value,
                            Some(&node.value).filter(|_| !item.slice.is_slice_expr()).map(|one| &**one),
                        );
                    }
                }
            }
            Stmt::AugAssign(node) => match node.target.as_ref() {
                Expr::Subscript(item) => self.put(&item.value, None),
                whole => self.put(whole, None),
            },
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.called(call);
        }
        walk_expr(self, expr);
    }
}
