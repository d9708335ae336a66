//! A test function as text that is edited, and read as a tree after each edit.
//!
//! The text keeps the indentation and the comments that the person wrote. A method is indented, which Python refuses at
//! the top, so the text of one begins with a line of ours that is not part of it.

use std::ops::Range;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, ModModule, Stmt, StmtFunctionDef};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::parse::parse;

/// The line before an indented function.
const OPENING: &str = "if 1:\n";

/// One function definition with its decorators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(String);

/// A piece of text in the place of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub with: String,
}

impl Edit {
    pub fn replace(range: TextRange, with: impl Into<String>) -> Self {
        Self { range: range.to_std_range(), with: with.into() }
    }

    pub fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { range: at..at, with: with.into() }
    }
}

impl Code {
    /// Whole lines of a module that are one definition. The last one ends in a line end.
    pub fn new(lines: &str) -> Self {
        let mut text = if lines.starts_with([' ', '\t']) { format!("{OPENING}{lines}") } else { lines.to_owned() };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Self(text)
    }

    /// The text that is parsed; ranges of nodes are positions in it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The lines as they stand in a module.
    pub fn lines(&self) -> &str {
        self.0.strip_prefix(OPENING).unwrap_or(&self.0)
    }

    pub fn parse(&self) -> Parsed<ModModule> {
        parse(&self.0)
    }

    /// The source of a node.
    pub fn slice(&self, node: impl Ranged) -> &str {
        self.0.get(node.range().to_std_range()).unwrap_or("")
    }

    /// The code after some edits. `None` if it is no valid definition then.
    pub fn edited(&self, edits: Vec<Edit>) -> Option<Self> {
        let code = Self(apply(&self.0, edits));
        let parsed = code.parse();
        (parsed.errors().is_empty() && definition(&parsed).is_some()).then_some(code)
    }

    /// The same with another name for a variable.
    pub fn with_name(&self, name: &str, other: &str) -> Option<Self> {
        struct Names<'n> {
            name: &'n str,
            found: Vec<TextRange>,
        }
        impl<'a> SourceOrderVisitor<'a> for Names<'_> {
            fn visit_expr(&mut self, expr: &'a Expr) {
                if let Expr::Name(one) = expr
                    && one.id.as_str() == self.name
                {
                    self.found.push(one.range());
                }
                walk_expr(self, expr);
            }
        }
        let parsed = self.parse();
        let mut names = Names { name, found: Vec::new() };
        names.visit_body(parsed.suite());
        self.edited(names.found.into_iter().map(|range| Edit::replace(range, other)).collect())
    }

    /// The same function under another name.
    pub fn renamed(&self, name: &str) -> Self {
        let parsed = self.parse();
        match definition(&parsed) {
            Some(function) => Self(apply(&self.0, vec![Edit::replace(function.name.range(), name)])),
            None => self.clone(),
        }
    }
}

/// The function of a text. `Code` is made of one, so it is there.
pub fn definition(parsed: &Parsed<ModModule>) -> Option<&StmtFunctionDef> {
    match parsed.suite().as_slice() {
        [Stmt::FunctionDef(function)] => Some(function),
        [Stmt::If(opening)] => match opening.body.as_slice() {
            [Stmt::FunctionDef(function)] => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// A text after edits that do not overlap. Of two that do, the later one is left out.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        // A position that is none of this text, which may be a person's file, costs nothing of it.
        let [start, end] = [edit.range.start, edit.range.end].map(|position| text.floor_char_boundary(position));
        if start < at {
            continue;
        }
        result.push_str(text.get(at..start).unwrap_or(""));
        result.push_str(&edit.with);
        at = end.max(start);
    }
    result.push_str(text.get(at..).unwrap_or(""));
    result
}

/// The start of the line that holds a position.
pub fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// The start of the line behind the one that holds a position.
pub fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |length| at + length + 1)
}

/// The blanks with which the line of a position begins.
pub fn indent(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or("");
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_keeps_its_indentation_and_is_still_a_function() {
        let code = Code::new("    def test(self):\n        assert f() == '''a\nb'''\n");
        let parsed = code.parse();
        assert_eq!(definition(&parsed).unwrap().name.as_str(), "test");
        assert_eq!(code.renamed("test_more").lines(), "    def test_more(self):\n        assert f() == '''a\nb'''\n");
        assert!(code.edited(vec![Edit::insert(code.text().len(), "        )\n")]).is_none());
    }

    #[test]
    fn no_position_costs_text() {
        let insert = |at| apply("aé\nb\n", vec![Edit::insert(at, "+"), Edit::insert(1, "-")]);
        assert_eq!(insert(100), "a-é\nb\n+");
        assert_eq!(insert(2), "a-+é\nb\n");
        assert_eq!(apply("abc", vec![Edit { range: 1..100, with: "x".into() }]), "ax");
    }
}
