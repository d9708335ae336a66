//! What kind of code a change is in: that of the statements which the two versions do not share.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{ElifElseClause, ExceptHandler, Expr, MatchCase, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::parse::{parse, slice, with_stack_for};

/// The kind of code that a change is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Names, parameters, bases and decorators of definitions.
    Definition,
    Condition,
    Loop,
    /// What is returned or yielded.
    Result,
    Assignment,
    /// An expression for its effect, mostly a call.
    Call,
    /// `raise`, `assert`, `try` and its handlers.
    Exception,
    /// Imports, `with`, `del`, `pass` and the like.
    Other,
    /// More than one of these.
    Several,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Condition => "condition",
            Self::Loop => "loop",
            Self::Result => "result",
            Self::Assignment => "assignment",
            Self::Call => "call",
            Self::Exception => "exception",
            Self::Other => "other",
            Self::Several => "several",
        }
    }
}

/// The kind of a change between two texts. None if either is not Python, or both have the same statements.
pub fn change_kind(old: &str, new: &str) -> Option<ChangeKind> {
    let mut counts = statements(old)?;
    for (statement, count) in statements(new)? {
        *counts.entry(statement).or_default() -= count;
    }
    let mut kinds = counts.into_iter().filter(|(_, count)| *count != 0).map(|((kind, _), _)| kind);
    let first = kinds.next()?;
    Some(if kinds.all(|kind| kind == first) { first } else { ChangeKind::Several })
}

/// How often a text has each statement. What a compound one holds counts for itself.
fn statements(text: &str) -> Option<BTreeMap<(ChangeKind, String), i64>> {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        if !parsed.errors().is_empty() {
            return None;
        }
        let mut found = Statements { text, counts: BTreeMap::new() };
        found.visit_body(parsed.suite());
        Some(found.counts)
    })
}

struct Statements<'text> {
    text: &'text str,
    counts: BTreeMap<(ChangeKind, String), i64>,
}

impl Statements<'_> {
    fn add(&mut self, kind: ChangeKind, range: TextRange) {
        let words: Vec<&str> = slice(self.text, range).split_whitespace().collect();
        *self.counts.entry((kind, words.join(" "))).or_default() += 1;
    }
}

/// From the beginning of a compound statement to the end of what stands before its colon.
fn head(statement: &Stmt, end: TextSize) -> TextRange {
    TextRange::new(statement.start(), end)
}

impl<'a> SourceOrderVisitor<'a> for Statements<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(of) => {
                let end = of.returns.as_deref().map_or(of.parameters.end(), Ranged::end);
                self.add(ChangeKind::Definition, head(statement, end));
            }
            Stmt::ClassDef(of) => {
                let end = of.arguments.as_deref().map_or(of.name.end(), Ranged::end);
                self.add(ChangeKind::Definition, head(statement, end));
            }
            Stmt::If(of) => self.add(ChangeKind::Condition, of.test.range()),
            Stmt::Match(of) => self.add(ChangeKind::Condition, of.subject.range()),
            Stmt::While(of) => self.add(ChangeKind::Loop, of.test.range()),
            Stmt::For(of) => self.add(ChangeKind::Loop, head(statement, of.iter.end())),
            Stmt::With(of) => {
                let end = of.items.last().map_or(statement.start(), Ranged::end);
                self.add(ChangeKind::Other, head(statement, end));
            }
            // It has nothing of its own; its handlers have.
            Stmt::Try(_) => {}
            Stmt::Return(_) => self.add(ChangeKind::Result, statement.range()),
            Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::AnnAssign(_) => {
                self.add(ChangeKind::Assignment, statement.range());
            }
            Stmt::Raise(_) | Stmt::Assert(_) => self.add(ChangeKind::Exception, statement.range()),
            Stmt::Expr(of) => match &*of.value {
                Expr::StringLiteral(_) => {}
                Expr::Yield(_) | Expr::YieldFrom(_) => self.add(ChangeKind::Result, statement.range()),
                _ => self.add(ChangeKind::Call, statement.range()),
            },
            _ => self.add(ChangeKind::Other, statement.range()),
        }
        source_order::walk_stmt(self, statement);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if let Some(test) = &clause.test {
            self.add(ChangeKind::Condition, test.range());
        }
        source_order::walk_elif_else_clause(self, clause);
    }

    fn visit_match_case(&mut self, case: &'a MatchCase) {
        self.add(ChangeKind::Condition, case.pattern.range());
        source_order::walk_match_case(self, case);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(of) = handler;
        let none = TextRange::empty(handler.start());
        self.add(ChangeKind::Exception, of.type_.as_deref().map_or(none, Ranged::range));
        source_order::walk_except_handler(self, handler);
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeKind, change_kind};

    #[test]
    fn a_change_has_the_kind_of_the_statements_that_differ() {
        let inside = |body: &str| format!("def f(a, b=1):\n{body}");
        let old = inside("    if a > 1:\n        a = g(a)\n    return a\n");
        for (new, kind) in [
            (inside("    if a >= 1:\n        a = g(a)\n    return a\n"), Some(ChangeKind::Condition)),
            (inside("    if a > 1:\n        a = g(b)\n    return a\n"), Some(ChangeKind::Assignment)),
            (inside("    if a > 1:\n        a = g(a)\n    return b\n"), Some(ChangeKind::Result)),
            (inside("    if a > 1:\n        g(a)\n    return a\n"), Some(ChangeKind::Several)),
            (inside("    # as before\n    if a  > 1:\n        a = g(a)\n    return a\n"), None),
            (old.replace("b=1", "b=2"), Some(ChangeKind::Definition)),
            ("def f(:".to_owned(), None),
        ] {
            assert_eq!(change_kind(&old, &new), kind, "{new}");
        }
    }

    #[test]
    fn handlers_and_loops_have_kinds_of_their_own() {
        let handled = |error: &str| format!("try:\n    f()\nexcept {error}:\n    pass\n");
        assert_eq!(change_kind(&handled("KeyError"), &handled("ValueError")), Some(ChangeKind::Exception));
        assert_eq!(change_kind("for a in b:\n    f()\n", "for a in c:\n    f()\n"), Some(ChangeKind::Loop));
    }
}
