//! Mappings that are merged with others: they may have the keys that these have, and then the order of merging counts.

use ruff_python_ast::{Expr, ExprCall, ExprDict, Operator};

use super::add_missing;
use super::collector::Collector;
use crate::reading::written::literal;
use crate::value::Recipe;

impl Collector {
    /// `{**x, 'a': 1}`.
    pub(super) fn note_display(&mut self, node: &ExprDict) {
        let keys = keys(node);
        for item in node.items.iter().filter(|item| item.key.is_none()) {
            self.note_keys(&item.value, &keys);
        }
    }

    /// `dict(x, a=1)`, `x.update(a=1)`, `f(a=1, **x)`.
    pub(super) fn note_keywords(&mut self, node: &ExprCall) {
        let keywords = &node.arguments.keywords;
        let named = keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
        let keys: Vec<Recipe> = named.map(|name| Recipe::Str(name.to_string())).collect();
        for keyword in keywords.iter().filter(|keyword| keyword.arg.is_none()) {
            self.note_keys(&keyword.value, &keys);
        }
        match (node.func.as_ref(), node.arguments.args.as_ref()) {
            (Expr::Name(name), [mapping]) if name.id == "dict" => self.note_keys(mapping, &keys),
            (Expr::Attribute(method), arguments) if method.attr.as_str() == "update" => {
                self.note_keys(&method.value, &keys);
                if let [Expr::Dict(display)] = arguments {
                    self.note_keys(&method.value, &self::keys(display));
                }
            }
            _ => {}
        }
    }

    /// `x | {'a': 1}`.
    pub(super) fn note_union(&mut self, left: &Expr, operator: Operator, right: &Expr) {
        if operator == Operator::BitOr {
            for (side, other) in [(left, right), (right, left)] {
                if let Expr::Dict(display) = other {
                    self.note_keys(side, &keys(display));
                }
            }
        }
    }

    fn note_keys(&mut self, mapping: &Expr, keys: &[Recipe]) {
        if !keys.is_empty() {
            self.note(mapping, |uses| add_missing(&mut uses.key_candidates, keys));
        }
    }
}

/// The literal keys of a dictionary display.
fn keys(node: &ExprDict) -> Vec<Recipe> {
    node.items.iter().filter_map(|item| literal(item.key.as_ref()?)).collect()
}
