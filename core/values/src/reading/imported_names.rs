//! The names of classes that imports bind, with what they lead to.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_expr};

use twincell_syntax::imports;
use twincell_syntax::parse::{parse, with_stack_for};

use super::written::named;

/// The dotted names in a text that look like those of imported classes, with what each of them stands for.
pub(super) fn names(text: &str) -> BTreeMap<String, String> {
    let imports = imports(text);
    // Constants begin like classes, or with an underscore.
    let is_class = |target: &str| last(target).trim_start_matches('_').starts_with(char::is_uppercase);
    let mut found: BTreeMap<String, String> = imports
        .iter()
        .map(|(name, import)| (name.clone(), import.target.clone()))
        .filter(|(_, target)| is_class(target))
        .collect();
    if imports.values().any(|import| !is_class(&import.target)) {
        let mut reached = Reached::default();
        with_stack_for(text.len(), || reached.visit_body(parse(text).suite()));
        for dotted in reached.0 {
            let (root, rest) = dotted.split_once('.').unwrap_or((&dotted, ""));
            if let Some(import) = imports.get(root) {
                found.insert(dotted.clone(), format!("{}.{rest}", import.target));
            }
        }
    }
    found
}

/// The dotted names whose last part looks like the name of a class.
#[derive(Default)]
struct Reached(BTreeSet<String>);

impl<'a> Visitor<'a> for Reached {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(node) = expr
            && node.attr.starts_with(char::is_uppercase)
            && let Some(dotted) = named(expr)
        {
            self.0.insert(dotted);
        }
        walk_expr(self, expr);
    }
}

pub(super) fn last(dotted: &str) -> &str {
    dotted.rsplit('.').next().unwrap_or(dotted)
}
