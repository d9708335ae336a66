//! Which builtin type a parameter seems to have, by what is done with it. A guess restricts a proof, and never makes it wrong:
//! the proof says for which types it holds.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::types::Type;

#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    as_sequence: bool,
    as_text: bool,
    as_dict: bool,
    as_object: bool,
}

#[derive(Default)]
struct Visitor(BTreeMap<String, Uses>);

impl Visitor {
    fn note(&mut self, expr: &Expr, note: impl FnOnce(&mut Uses)) {
        if let Expr::Name(name) = expr {
            note(self.0.entry(name.id.to_string()).or_default());
        }
    }
}

impl<'e> SourceOrderVisitor<'e> for Visitor {
    fn visit_stmt(&mut self, stmt: &'e Stmt) {
        if let Stmt::For(node) = stmt {
            self.note(&node.iter, |uses| uses.as_sequence = true);
        }
        source_order::walk_stmt(self, stmt);
    }

    fn visit_comprehension(&mut self, comprehension: &'e ruff_python_ast::Comprehension) {
        self.note(&comprehension.iter, |uses| uses.as_sequence = true);
        source_order::walk_comprehension(self, comprehension);
    }

    fn visit_expr(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Subscript(node) => self.note(&node.value, |uses| {
                uses.as_sequence = true;
                uses.as_dict |= node.slice.is_string_literal_expr();
            }),
            Expr::Call(node) if node.func.as_name_expr().is_some_and(|name| takes_sequences(&name.id)) => {
                node.arguments.args.iter().for_each(|argument| self.note(argument, |uses| uses.as_sequence = true));
            }
            Expr::Attribute(node) => self.note(&node.value, |uses| match node.attr.as_str() {
                "append" | "extend" | "pop" | "insert" => uses.as_sequence = true,
                "get" | "items" | "keys" | "values" | "setdefault" => uses.as_dict = true,
                "upper" | "lower" | "strip" | "split" | "startswith" | "endswith" | "replace" | "join" | "isdigit"
                | "lstrip" | "rstrip" | "find" | "title" | "isalpha" => uses.as_text = true,
                _ => uses.as_object = true,
            }),
            Expr::BinOp(node) => {
                for (one, other) in [(&node.left, &node.right), (&node.right, &node.left)] {
                    if other.is_string_literal_expr() || other.is_f_string_expr() {
                        self.note(one, |uses| uses.as_text = true);
                    }
                }
            }
            Expr::Compare(node) => {
                for value in node.comparators.iter() {
                    if value.is_string_literal_expr() {
                        self.note(&node.left, |uses| uses.as_text = true);
                    }
                }
            }
            _ => {}
        }
        source_order::walk_expr(self, expr);
    }
}

fn takes_sequences(builtin: &str) -> bool {
    matches!(builtin, "len" | "sorted" | "sum" | "list")
}

/// What to try for parameters without a type: as used, with lists of anything, of numbers and of texts, then texts for
/// lists.
pub(crate) fn guesses(functions: [&StmtFunctionDef; 2], types: &[(String, Type)]) -> Vec<Vec<(String, Type)>> {
    let mut visitor = Visitor::default();
    functions.iter().for_each(|function| visitor.visit_body(&function.body));
    // What an annotation says that is no builtin type is no reason to guess one.
    let is_annotated = |name: &str| {
        functions
            .iter()
            .flat_map(|function| function.parameters.iter())
            .any(|parameter| parameter.name().as_str() == name && parameter.annotation().is_some())
    };
    let complete = |choose: &dyn Fn(Uses) -> Type| -> Vec<(String, Type)> {
        types
            .iter()
            .map(|(name, class)| {
                let uses = visitor.0.get(name).copied().unwrap_or_default();
                let is_open = *class == Type::Any && name != "self" && name != "cls" && !is_annotated(name);
                (name.clone(), if is_open { choose(uses) } else { class.clone() })
            })
            .collect()
    };
    let as_used = |uses: Uses, item: Type| match uses {
        Uses { as_object: true, .. } => Type::Any,
        Uses { as_text: true, .. } => Type::Text,
        Uses { as_dict: true, .. } => Type::Dict(Box::new(Type::Text), Box::new(Type::Any)),
        Uses { as_sequence: true, .. } => Type::List(Box::new(item)),
        _ => Type::Int,
    };
    let mut all = vec![
        complete(&|uses| as_used(uses, Type::Any)),
        complete(&|uses| as_used(uses, Type::Int)),
        complete(&|uses| as_used(uses, Type::Text)),
        complete(&|uses| if uses.as_sequence { Type::Text } else { as_used(uses, Type::Any) }),
    ];
    all.dedup();
    all
}
