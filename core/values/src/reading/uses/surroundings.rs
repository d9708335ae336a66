//! What the text around a function reveals about its values: regular expressions and enumerations.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use twincell_syntax::parse::{parse, with_stack_for};

use super::written::literal;
use crate::value::{Recipe, matching};

/// Maximum number of texts for one pattern.
const TEXTS: usize = 12;

/// The patterns and enumerations of a text, by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// Compiled patterns, by the last part of the name: `WORD` and `self._word` are found as `WORD` and `_word`.
    pub(super) patterns: BTreeMap<String, String>,
    /// The members of enumerations: name and value.
    pub(super) members: BTreeMap<String, Vec<(String, Recipe)>>,
}

impl Surroundings {
    pub fn of(text: &str) -> Self {
        if !text.contains("re.compile") && !text.contains("Enum") && !text.contains("Flag") {
            return Self::default();
        }
        with_stack_for(text.len(), || {
            let mut found = Self::default();
            found.visit_body(parse(text).suite());
            found
        })
    }

    /// Notes `NAME = re.compile(...)`.
    pub(super) fn note(&mut self, targets: &[Expr], value: &Expr) {
        let Some(pattern) = compiled(value) else { return };
        for name in targets.iter().filter_map(last_name) {
            self.patterns.insert(name.to_string(), pattern.clone());
        }
    }

    /// The pattern for which an expression stands: a text, `re.compile(...)`, or a name of one.
    fn pattern(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_string()),
            Expr::Call(_) => compiled(expr),
            other => self.patterns.get(last_name(other)?).cloned(),
        }
    }

    /// The value that a call of `re` or of a pattern searches, with texts that the pattern matches.
    pub(super) fn searched<'a>(&self, call: &'a ExprCall) -> Option<(&'a Expr, Vec<String>)> {
        let Expr::Attribute(function) = call.func.as_ref() else { return None };
        let skip = match function.attr.as_str() {
            "match" | "search" | "fullmatch" | "findall" | "finditer" | "split" => 0,
            "sub" | "subn" => 1,
            _ => return None,
        };
        let by_module =
            matches!(function.value.as_ref(), Expr::Name(name) if matches!(name.id.as_str(), "re" | "regex"));
        let arguments = &call.arguments;
        let (pattern, subject) = if by_module {
            (
                verbose(self.pattern(arguments.find_positional(0)?)?, call),
                arguments.find_argument_value("string", skip + 1)?,
            )
        } else {
            if function.value.is_string_literal_expr() {
                return None;
            }
            (self.pattern(&function.value)?, arguments.find_argument_value("string", skip)?)
        };
        let texts = matching(&pattern, TEXTS);
        (!texts.is_empty()).then_some((subject, texts))
    }

    /// The values of the enumeration in which a call looks one up: `State(text)`.
    pub(super) fn looked_up<'a>(&self, call: &'a ExprCall) -> Option<(&'a Expr, Vec<Recipe>)> {
        let members = self.members.get(last_name(&call.func)?)?;
        let [value] = call.arguments.args.as_ref() else { return None };
        Some((value, members.iter().map(|(_, value)| value.clone()).collect()))
    }

    /// The names of the members of an enumeration, for `State[name]`.
    pub(super) fn names(&self, class: &Expr) -> Vec<Recipe> {
        let members = last_name(class).and_then(|name| self.members.get(name));
        members.into_iter().flatten().map(|(name, _)| Recipe::Str(name.clone())).collect()
    }
}

impl<'a> Visitor<'a> for Surroundings {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => self.note(&node.targets, &node.value),
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.note(std::slice::from_ref(&node.target), value);
                }
            }
            Stmt::ClassDef(node) if node.bases().iter().filter_map(last_name).any(is_enumeration) => {
                let member = |stmt: &Stmt| match stmt {
                    Stmt::Assign(node) => match node.targets.as_slice() {
                        [Expr::Name(name)] => Some((name.id.to_string(), literal(&node.value)?)),
                        _ => None,
                    },
                    _ => None,
                };
                self.members.insert(node.name.to_string(), node.body.iter().filter_map(member).collect());
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }
}

fn is_enumeration(base: &str) -> bool {
    base.ends_with("Enum") || base.ends_with("Flag")
}

/// The pattern of `re.compile('...')`.
fn compiled(expr: &Expr) -> Option<String> {
    let call = expr.as_call_expr()?;
    let Expr::Attribute(function) = call.func.as_ref() else { return None };
    let by_module = matches!(function.value.as_ref(), Expr::Name(name) if matches!(name.id.as_str(), "re" | "regex"));
    if !by_module || function.attr.as_str() != "compile" {
        return None;
    }
    let Expr::StringLiteral(pattern) = call.arguments.find_argument_value("pattern", 0)? else { return None };
    Some(verbose(pattern.value.to_str().to_string(), call))
}

/// A pattern with the one flag that changes its notation.
fn verbose(pattern: String, call: &ExprCall) -> String {
    let mut flags: Vec<&Expr> =
        call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|one| &one.value)).collect();
    while let Some(flag) = flags.pop() {
        match flag {
            Expr::BinOp(node) => flags.extend([node.left.as_ref(), node.right.as_ref()]),
            Expr::Attribute(node) if matches!(node.attr.as_str(), "VERBOSE" | "X") => return format!("(?x){pattern}"),
            _ => {}
        }
    }
    pattern
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(node) => Some(&node.attr),
        _ => None,
    }
}
