//! The body of a function as a snippet.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use twincell_syntax::Function;
use twincell_syntax::parse::{parse, with_stack_for};

/// The body of a function as a snippet of its own: dedented, with `exit(...)` in place of each `return`, since nothing
/// can return from a file. `None` if the text has no function of this qualified name.
pub(crate) fn function_body(text: &str, qualname: &str) -> Option<String> {
    let (found, _) = twincell_syntax::functions(text);
    body(&found.into_iter().find(|function| function.qualname == qualname)?)
}

/// A text as a block of its own, one step to the right. Lines that begin in a string stay where they are.
pub(crate) fn indented(text: &str) -> String {
    let strings = with_stack_for(text.len(), || {
        let parsed = parse(text);
        let mut places = Places::default();
        places.visit_body(parsed.suite());
        places.strings
    });
    let line_of = |at: usize| text[..at].matches('\n').count();
    let in_strings: BTreeSet<usize> = strings
        .iter()
        .flat_map(|range| line_of(range.start().to_usize()) + 1..=line_of(range.end().to_usize()))
        .collect();
    let line = |(number, line): (usize, &str)| match line.is_empty() || in_strings.contains(&number) {
        true => format!("{line}\n"),
        false => format!("    {line}\n"),
    };
    text.lines().enumerate().map(line).collect()
}

fn body(function: &Function) -> Option<String> {
    let text = &function.text;
    let (first, places) = with_stack_for(text.len(), || {
        let parsed = parse(text);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { return None };
        let mut places = Places::default();
        places.visit_body(&definition.body);
        Some((definition.body.first()?.start().to_usize(), places))
    })?;
    let line_of = |at: usize| text[..at].matches('\n').count();
    // Lines that begin in a string belong to it, with their indentation.
    let in_strings: BTreeSet<usize> = places
        .strings
        .iter()
        .flat_map(|range| line_of(range.start().to_usize()) + 1..=line_of(range.end().to_usize()))
        .collect();
    let begin = text[..first].rfind('\n').map_or(first, |at| at + 1);
    let indent: String = text[begin..first].chars().take_while(|character| character.is_whitespace()).collect();
    let begin = if begin + indent.len() == first { begin } else { first };
    let skipped = line_of(begin);
    let mut body = text.clone();
    for Return { range, is_bare_tuple } in places.returns.into_iter().rev() {
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        let value = text[start + "return".len()..end].trim_start_matches([' ', '\t']);
        let written = if is_bare_tuple { format!("exit(({value}))") } else { format!("exit({value})") };
        body.replace_range(start..end, &written);
    }
    let dedented = (skipped..).zip(body[begin..].lines()).map(|(number, line)| match in_strings.contains(&number) {
        true => line,
        false => line.strip_prefix(indent.as_str()).unwrap_or(line),
    });
    Some(dedented.collect::<Vec<_>>().join("\n") + "\n")
}

struct Return {
    range: TextRange,
    /// `return a, b`
    is_bare_tuple: bool,
}

/// Where the body's own `return` statements and its strings stand.
#[derive(Default)]
struct Places {
    returns: Vec<Return>,
    strings: Vec<TextRange>,
    depth: u32,
}

impl Visitor<'_> for Places {
    fn visit_stmt(&mut self, statement: &Stmt) {
        let is_inner = matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        if let (Stmt::Return(node), 0) = (statement, self.depth) {
            let is_bare_tuple = match node.value.as_deref() {
                Some(Expr::Tuple(tuple)) => !tuple.parenthesized,
                _ => false,
            };
            self.returns.push(Return { range: node.range(), is_bare_tuple });
        }
        self.depth += u32::from(is_inner);
        walk_stmt(self, statement);
        self.depth -= u32::from(is_inner);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if matches!(expression, Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) | Expr::TString(_)) {
            self.strings.push(expression.range());
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_the_function_returns() {
        let body = |text: &str| function_body(text, "f").unwrap_or_default();
        assert_eq!(body("def f(x):\n    return (x + 1)\n"), "exit((x + 1))\n");
        assert_eq!(
            body("def f(x):\n    if x:\n        return x, 1\n    return\n"),
            "if x:\n    exit((x, 1))\nexit()\n"
        );
        assert_eq!(body("def f(x):\n    return [\n        x,\n    ]\n"), "exit([\n    x,\n])\n");
        let nested = "def f(x):\n    def g():\n        return 1\n    return g\n";
        assert_eq!(body(nested), "def g():\n    return 1\nexit(g)\n");
        assert_eq!(body("def f(x): return x\n"), "exit(x)\n");
        assert_eq!(function_body("x = 1\n", "f"), None);
    }

    #[test]
    fn the_lines_of_a_string_keep_their_indentation() {
        let text = "def f(x):\n    y = \"\"\"a\n    b\n\"\"\"\n    return x + y\n";
        assert_eq!(function_body(text, "f").as_deref(), Some("y = \"\"\"a\n    b\n\"\"\"\nexit(x + y)\n"));
    }
}
