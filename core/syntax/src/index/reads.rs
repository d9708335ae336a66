//! The names and attributes that code reads.

use std::collections::BTreeSet;

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_expr};

use crate::parse::{parse, with_stack_for};
use crate::queries::names_of_call;

/// Marks a look-up that starts behind a class.
pub(super) const SUPER: &str = "<super>";

/// The names and attributes that code reads.
pub(super) struct Reads {
    class: Option<String>,
    pub first_parameter: Option<String>,
    pub found: BTreeSet<String>,
}

impl Reads {
    pub fn new(class: Option<&str>) -> Self {
        Self { class: class.map(str::to_string), first_parameter: None, found: BTreeSet::new() }
    }

    /// The class of the object that an expression gives, or the class that it is.
    fn class_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) if Some(name.id.as_str()) == self.first_parameter.as_deref() => self.class.clone(),
            Expr::Name(name) => Some(name.id.to_string()),
            Expr::Call(call) => match call.func.as_ref() {
                Expr::Name(name) if name.id.as_str() == "super" => Some(format!("{}{SUPER}", self.class.as_ref()?)),
                Expr::Name(name) if name.id.as_str() == "type" => self.class.clone(),
                other => self.class_of(other).filter(|_| other.is_name_expr()),
            },
            Expr::Attribute(attribute) if attribute.attr.as_str() == "__class__" => self.class_of(&attribute.value),
            _ => None,
        }
    }
}

impl<'a> Visitor<'a> for Reads {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx.is_load() => {
                self.found.insert(name.id.to_string());
            }
            // `super(C, self)` in `C` says no more than `super()`.
            Expr::Call(call) if is_super(&call.func) && self.class.is_some() => {
                let is_own = |first: &Expr| match first {
                    Expr::Name(name) => {
                        self.class.as_deref().and_then(|class| class.rsplit('.').next()) == Some(name.id.as_str())
                    }
                    _ => false,
                };
                let first = call.arguments.args.first().is_some_and(is_own);
                call.arguments.args.iter().skip(usize::from(first)).for_each(|argument| self.visit_expr(argument));
                return;
            }
            Expr::Call(call) => self.found.extend(names_of_call(call).into_iter().map(str::to_owned)),
            Expr::Attribute(attribute) => {
                if let Some(class) = self.class_of(&attribute.value) {
                    self.found.insert(format!("{class}.{}", attribute.attr));
                    // `C.x` reads only that attribute of the class.
                    if attribute.value.is_name_expr() {
                        return;
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

fn is_super(callee: &Expr) -> bool {
    matches!(callee, Expr::Name(name) if name.id.as_str() == "super")
}

/// The first part of each dotted name.
pub(super) fn owners(names: &BTreeSet<String>) -> Vec<String> {
    names.iter().filter_map(|name| name.split_once('.')).map(|(owner, _)| owner.to_string()).collect()
}

/// The names that the statements of a text read.
pub fn global_names(text: &str) -> BTreeSet<String> {
    with_stack_for(text.len(), || {
        let mut reads = Reads::new(None);
        reads.visit_body(&parse(text).syntax().body);
        let owners = owners(&reads.found);
        reads.found.extend(owners);
        reads.found
    })
}

/// The names of all attributes that a text reads, whatever objects they are of: `total` for `a.b().total`.
pub fn attribute_names(text: &str) -> BTreeSet<String> {
    #[derive(Default)]
    struct Attributes(BTreeSet<String>);

    impl<'a> Visitor<'a> for Attributes {
        fn visit_annotation(&mut self, _: &'a Expr) {}

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(node) = expr
                && node.ctx.is_load()
            {
                self.0.insert(node.attr.to_string());
            }
            walk_expr(self, expr);
        }
    }

    with_stack_for(text.len(), || {
        let mut read = Attributes::default();
        read.visit_body(&parse(text).syntax().body);
        read.0
    })
}
