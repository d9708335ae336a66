//! The statements of a test: where something can be put behind one, and how some are taken out.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::code::{Code, Edit, definition, indent, line_end, line_start};

/// A statement behind which others can stand, and which runs at most once in a run of its test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertionPoint {
    pub range: TextRange,
    /// The blanks before it.
    pub indent: String,
    /// Where the line behind it begins.
    pub behind: usize,
    /// Whether it is a statement of the function itself, and not of a block in it.
    pub is_outer: bool,
    /// The `with` statement of `pytest.raises` and its kin around it.
    pub expects: bool,
    /// Whether it is or stands in a statement that expects an exception.
    pub catches: bool,
}

/// The places of a test, in the order in which they run. Their positions in this list are the numbers of observation
/// points.
pub fn places(code: &Code) -> Vec<InsertionPoint> {
    let parsed = code.parse();
    let mut found = Vec::new();
    if let Some(function) = definition(&parsed) {
        collect(code, &function.body, Around { is_outer: true, expects: false, catches: false }, &mut found);
    }
    found
}

/// What stands around statements.
#[derive(Clone, Copy)]
struct Around {
    is_outer: bool,
    expects: bool,
    catches: bool,
}

fn collect(code: &Code, body: &[Stmt], around: Around, found: &mut Vec<InsertionPoint>) {
    let inner = Around { is_outer: false, ..around };
    for stmt in body {
        let mut catches = around.catches;
        match stmt {
            Stmt::With(with) => {
                let expects = around.expects || with.items.iter().any(|item| is_expectation(&item.context_expr));
                catches |= with.items.iter().any(|item| expects_exception(&item.context_expr));
                collect(code, &with.body, Around { is_outer: false, expects, catches }, found);
            }
            Stmt::Expr(one) => catches |= expects_exception(&one.value),
            Stmt::Try(one) => {
                collect(code, &one.body, inner, found);
                for handler in &one.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    collect(code, &handler.body, inner, found);
                }
                collect(code, &one.orelse, inner, found);
                collect(code, &one.finalbody, inner, found);
            }
            Stmt::If(one) => {
                collect(code, &one.body, inner, found);
                for clause in &one.elif_else_clauses {
                    collect(code, &clause.body, inner, found);
                }
            }
            _ => {}
        }
        let binds_nothing = matches!(
            stmt,
            Stmt::Return(_)
                | Stmt::Raise(_)
                | Stmt::Import(_)
                | Stmt::ImportFrom(_)
                | Stmt::FunctionDef(_)
                | Stmt::ClassDef(_)
                | Stmt::Pass(_)
                | Stmt::Global(_)
                | Stmt::Nonlocal(_)
                | Stmt::Delete(_)
                | Stmt::Break(_)
                | Stmt::Continue(_)
        );
        let is_docstring = matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr());
        if !binds_nothing && !is_docstring && stands_alone(code.text(), stmt.range()) {
            found.push(InsertionPoint {
                range: stmt.range(),
                indent: indent(code.text(), stmt.start().to_usize()).to_owned(),
                behind: line_end(code.text(), stmt.end().to_usize()),
                is_outer: around.is_outer,
                expects: around.expects,
                catches,
            });
        }
    }
}

/// Whether nothing but a comment shares its lines with a statement.
pub fn stands_alone(text: &str, range: TextRange) -> bool {
    let (start, end) = (range.start().to_usize(), range.end().to_usize());
    let before = text.get(line_start(text, start)..start).unwrap_or("x");
    let after = text.get(end..line_end(text, end)).unwrap_or("x").trim();
    before.trim().is_empty() && (after.is_empty() || after.starts_with('#'))
}

/// Whether a call expects that the code in its block raises or warns.
pub fn is_expectation(expr: &Expr) -> bool {
    const WARNINGS: [&str; 3] = ["warns", "assertWarns", "assertWarnsRegex"];
    expects_exception(expr) || called(expr).is_some_and(|name| WARNINGS.contains(&name))
}

/// Whether a call expects that the code in its block, or the function that it is given, raises.
pub fn expects_exception(expr: &Expr) -> bool {
    const NAMES: [&str; 6] =
        ["raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises", "assert_raises_regex"];
    called(expr).is_some_and(|name| NAMES.contains(&name))
}

/// The name of what is called.
fn called(expr: &Expr) -> Option<&str> {
    expr.as_call_expr().and_then(|call| last_name(&call.func))
}

/// `c` of `a.b.c`, and `f` of `f`.
pub fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// All statements of a test's own body that can be taken out, also in blocks and loops, outer ones first.
pub fn removable(code: &Code) -> Vec<TextRange> {
    let parsed = code.parse();
    let mut found = Vec::new();
    if let Some(function) = definition(&parsed) {
        suites(&function.body, &mut |suite| found.extend(suite.iter().map(Ranged::range)));
    }
    found
}

/// For each `try` statement with a `finally`: where it stands, and where what cleans up does.
pub fn cleanups(code: &Code) -> Vec<(TextRange, TextRange)> {
    let parsed = code.parse();
    let mut found = Vec::new();
    if let Some(function) = definition(&parsed) {
        suites(&function.body, &mut |suite| {
            for one in suite.iter().filter_map(Stmt::as_try_stmt) {
                if let (Some(first), Some(last)) = (one.finalbody.first(), one.finalbody.last()) {
                    found.push((one.range(), TextRange::new(first.start(), last.end())));
                }
            }
        });
    }
    found
}

/// Calls `each` with every suite of statements below, outer ones first, without nested functions and classes.
pub fn suites<'a>(body: &'a [Stmt], each: &mut impl FnMut(&'a [Stmt])) {
    each(body);
    for stmt in body {
        match stmt {
            Stmt::With(one) => suites(&one.body, each),
            Stmt::For(one) => {
                suites(&one.body, each);
                if !one.orelse.is_empty() {
                    suites(&one.orelse, each);
                }
            }
            Stmt::While(one) => {
                suites(&one.body, each);
                if !one.orelse.is_empty() {
                    suites(&one.orelse, each);
                }
            }
            Stmt::If(one) => {
                suites(&one.body, each);
                for clause in &one.elif_else_clauses {
                    suites(&clause.body, each);
                }
            }
            Stmt::Try(one) => {
                suites(&one.body, each);
                for handler in &one.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    suites(&handler.body, each);
                }
                for more in [&one.orelse, &one.finalbody] {
                    if !more.is_empty() {
                        suites(more, each);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The code without some of its statements. A suite that would be empty becomes `pass`.
pub fn without(code: &Code, taken: &BTreeSet<(u32, u32)>) -> Option<Code> {
    let parsed = code.parse();
    let function = definition(&parsed)?;
    let mut edits = Vec::new();
    let is_taken = |stmt: &Stmt| taken.contains(&(stmt.start().to_u32(), stmt.end().to_u32()));
    let text = code.text();
    suites(&function.body, &mut |suite| {
        let all = suite.iter().all(is_taken);
        let shares_line = |one: &Stmt, next: &Stmt| {
            let between = text.get(one.end().to_usize()..next.start().to_usize());
            between.is_some_and(|between| !between.contains('\n'))
        };
        for (at, line) in suite.chunk_by(shares_line).enumerate() {
            let (Some(first), Some(last)) = (line.first(), line.last()) else { continue };
            let kept: Vec<&str> = line.iter().filter(|stmt| !is_taken(stmt)).map(|stmt| code.slice(stmt)).collect();
            let range = TextRange::new(first.start(), last.end());
            if kept.len() == line.len() {
                continue;
            } else if !kept.is_empty() {
                edits.push(Edit::replace(range, kept.join("; ")));
            } else if (all && at == 0) || !stands_alone(text, range) {
                edits.push(Edit::replace(range, "pass"));
            } else {
                // Blank lines and comments above a statement stay.
                let start = line_start(text, first.start().to_usize());
                edits.push(Edit { range: start..line_end(text, last.end().to_usize()), with: String::new() });
            }
        }
    });
    code.edited(edits)
}

/// Every name that occurs in a code, so that others are new.
pub fn names(code: &Code) -> BTreeSet<String> {
    names_in(code.parse().suite())
}

/// Every name that occurs in statements.
pub fn names_in(body: &[Stmt]) -> BTreeSet<String> {
    struct Names(BTreeSet<String>);
    impl<'a> SourceOrderVisitor<'a> for Names {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr {
                self.0.insert(name.id.to_string());
            }
            walk_expr(self, expr);
        }

        fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
            self.0.insert(parameter.name.to_string());
        }
    }
    let mut names = Names(BTreeSet::new());
    names.visit_body(body);
    names.0
}

/// A name that a code does not have yet, and which it has from now on.
pub fn fresh(names: &mut BTreeSet<String>, wish: &str) -> String {
    let numbered = (2..).map(|number| format!("{wish}_{number}"));
    let name = std::iter::once(wish.to_owned()).chain(numbered).find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_a_test_passes_once() {
        let code = Code::new(
            "def test_a(x):\n    '''Doc.'''\n    a = 1; b = 2\n    with open(x) as f:\n        c = 3  # three\n    \
             for i in c:\n        d = 4\n    if d: e = 5\n    return e\n",
        );
        let found: Vec<String> = places(&code).iter().map(|place| code.slice(place.range).replace('\n', "|")).collect();
        assert_eq!(found, ["c = 3", "with open(x) as f:|        c = 3", "for i in c:|        d = 4", "if d: e = 5"]);
    }

    #[test]
    fn a_suite_without_statements_passes() {
        let code = Code::new("    def test(self):\n        with a:\n            f()\n            g()\n        h()\n");
        let all = removable(&code);
        let key = |range: &TextRange| (range.start().to_u32(), range.end().to_u32());
        let taken: BTreeSet<_> = all[2..].iter().map(key).collect();
        assert_eq!(
            without(&code, &taken).unwrap().lines(),
            "    def test(self):\n        with a:\n            pass\n        h()\n"
        );
        let taken: BTreeSet<_> = all[..1].iter().map(key).collect();
        assert_eq!(without(&code, &taken).unwrap().lines(), "    def test(self):\n        h()\n");
    }

    #[test]
    fn of_statements_in_one_line_the_others_stay() {
        let code = Code::new("def test():\n    a(); b(); c()  # Three.\n    d(); e()\n    f();\n");
        let all = removable(&code);
        for (taken, expected) in [
            (&[1][..], "    a(); c()  # Three.\n    d(); e()\n    f();\n"),
            (&[0, 2, 4], "    b()  # Three.\n    d()\n    f();\n"),
            (&[3, 4], "    a(); b(); c()  # Three.\n    f();\n"),
            (&[0, 1, 2, 3, 4], "    f();\n"),
        ] {
            let taken = taken.iter().map(|at: &usize| (all[*at].start().to_u32(), all[*at].end().to_u32())).collect();
            assert_eq!(without(&code, &taken).unwrap().lines(), format!("def test():\n{expected}"));
        }
    }
}
