//! What a function says of the classes of its module that can be made: where it gives them dictionaries, and which it names.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, StmtFunctionDef};

use super::class_syntax::last_name;
use super::facts::ModuleFacts;
use crate::value::{AbstractValue, Declared, Model};

/// The dictionaries that are given to classes by the names of their fields: `User(**data)`,
/// `User.model_validate(data)`.
pub(super) fn payloads(definition: &StmtFunctionDef, known: &ModuleFacts) -> BTreeMap<String, Declared> {
    struct Finder<'k> {
        known: &'k ModuleFacts,
        found: BTreeMap<String, Declared>,
    }
    impl<'a> Visitor<'a> for Finder<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                let (class, given) = match call.func.as_ref() {
                    Expr::Name(class) => {
                        let unpacked = call.arguments.keywords.iter().find(|keyword| keyword.arg.is_none());
                        (Some(class.id.as_str()), unpacked.map(|keyword| &keyword.value))
                    }
                    Expr::Attribute(node) if matches!(node.attr.as_str(), "model_validate" | "parse_obj") => {
                        (last_name(&node.value), call.arguments.args.first())
                    }
                    _ => (None, None),
                };
                if let (Some(class), Some(Expr::Name(name))) =
                    (class.and_then(|name| self.known.classes.get(name)), given)
                    && let [model] = class.models.as_slice()
                {
                    let models = vec![Model { is_mapping: true, ..model.clone() }];
                    let declared = Declared { models, ..Declared::of(&[AbstractValue::Dict]) };
                    self.found.insert(name.id.to_string(), declared);
                }
            }
            walk_expr(self, expr);
        }
    }
    let mut finder = Finder { known, found: BTreeMap::new() };
    if !known.classes.is_empty() {
        finder.visit_body(&definition.body);
    }
    finder.found
}

/// The fields of the classes that a function names: dictionaries beside their objects often have them as keys.
pub(super) fn fields_named(definition: &StmtFunctionDef, known: &ModuleFacts) -> Vec<String> {
    struct Finder<'k> {
        known: &'k ModuleFacts,
        found: Vec<String>,
    }
    impl<'a> Visitor<'a> for Finder<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr
                && let Some(class) = self.known.classes.get(name.id.as_str())
            {
                let fields = class.models.iter().flat_map(|model| &model.fields).map(|field| &field.name);
                let new: Vec<_> = fields.filter(|name| !self.found.contains(name)).cloned().collect();
                self.found.extend(new);
            }
            walk_expr(self, expr);
        }
    }
    let mut finder = Finder { known, found: vec![] };
    if !known.classes.is_empty() {
        finder.visit_body(&definition.body);
    }
    finder.found
}
