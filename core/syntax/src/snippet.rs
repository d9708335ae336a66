//! Statements that run as they stand: a notebook cell, or the top level of a script.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::bound::bound;
use super::parse::{normalize_newlines, parse, with_stack_for};
use super::{CodeKind, Function};

/// The qualified name of a snippet.
pub const SNIPPET: &str = "the snippet";

/// A text as a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The whole text, with [`SNIPPET`] as its name.
    pub function: Function,
    /// The names that the top level binds as its result: those that are not private, or never read here.
    pub results: BTreeSet<String>,
    /// Results that the text itself never reads. They must be meant for later code.
    pub unread: BTreeSet<String>,
    /// All names that the top level binds, including imports, functions and classes.
    pub bound: BTreeSet<String>,
    /// Whether there is more than imports, definitions and docstrings.
    pub has_statements: bool,
}

/// Reads a text as a snippet.
pub fn snippet(text: &str) -> Snippet {
    let text = normalize_newlines(text).into_owned();
    let (results, unread, all, has_statements) = with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let body = &parsed.syntax().body;
        let mut read = Read::default();
        read.visit_body(body);
        let (mut results, mut unread, mut all) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for stmt in body {
            let names = bound(stmt).into_iter().map(str::to_string);
            let definition = matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
            for name in names {
                all.insert(name.clone());
                let is_read = read.names.contains(&name);
                let private = name.starts_with('_') && !name.ends_with("__");
                let left_over = read.is_left_over(&name);
                if definition || private && is_read || name == "_" || read.dropped.contains(&name) || left_over {
                    continue;
                }
                if !is_read && !read.targets.contains(&name) {
                    unread.insert(name.clone());
                }
                results.insert(name);
            }
        }
        all.extend(read.definitions);
        (results, unread, all, body.iter().any(is_statement))
    });
    let function = Function {
        qualname: SNIPPET.into(),
        name: String::new(),
        class_name: None,
        parent: None,
        first_line: 1,
        parameters: vec![],
        decorators: vec![],
        is_async: false,
        is_generator: false,
        kind: CodeKind::Snippet,
        text,
    };
    Snippet { function, results, unread, bound: all, has_statements }
}

/// The text without the definitions and imports at its top level. Lines stay in place.
pub fn without_definitions(text: &str) -> String {
    with_stack_for(text.len(), || {
        let mut out = text.to_string();
        for stmt in parse(text).syntax().body.iter().filter(|stmt| !is_statement(stmt)) {
            let range = stmt.range().to_std_range();
            let blank: String = text.get(range.clone()).unwrap_or_default().chars().filter(|c| *c == '\n').collect();
            let length = range.len();
            // The number of bytes stays the same, so that later ranges hold.
            let filler = format!("{}{blank}", " ".repeat(length - blank.len()));
            out.replace_range(range, &filler);
        }
        out
    })
}

/// Whether a statement is more than an import, a definition or a docstring.
fn is_statement(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => false,
        Stmt::Assign(assign) => !assign.value.is_lambda_expr(),
        Stmt::AnnAssign(assign) => assign.value.as_deref().is_some_and(|value| !value.is_lambda_expr()),
        Stmt::Expr(expression) => !expression.value.is_string_literal_expr(),
        Stmt::TypeAlias(_) => false,
        Stmt::If(node) => {
            let clauses = node.elif_else_clauses.iter().flat_map(|clause| &clause.body);
            node.body.iter().chain(clauses).any(is_statement)
        }
        Stmt::Try(node) => node.body.iter().chain(&node.orelse).chain(&node.finalbody).any(is_statement),
        _ => true,
    }
}

#[derive(Default)]
struct Read {
    names: BTreeSet<String>,
    /// The targets of `for` and `with`.
    targets: BTreeSet<String>,
    /// How often each name is bound at the top level, and by loops that run to their end.
    stored: BTreeMap<String, [usize; 2]>,
    /// The names that are deleted again.
    dropped: BTreeSet<String>,
    definitions: BTreeSet<String>,
    depth: u32,
}

impl Read {
    /// Whether only loops that run to their end bind the name. Then its last item is hardly meant as a result. If a
    /// loop breaks, the item is what it searched for.
    fn is_left_over(&self, name: &str) -> bool {
        self.stored.get(name).is_some_and(|[all, by_loops]| *by_loops > 0 && all == by_loops)
    }

    /// Counts the names that a loop without `break` binds.
    fn note_loop(&mut self, node: &StmtFor) {
        let mut breaks = Breaks(false);
        breaks.visit_body(&node.body);
        if self.depth > 0 || breaks.0 {
            return;
        }
        let mut waiting = vec![node.target.as_ref()];
        while let Some(target) = waiting.pop() {
            match target {
                Expr::Name(name) => self.stored.entry(name.id.to_string()).or_default()[1] += 1,
                Expr::Tuple(node) => waiting.extend(&node.elts),
                Expr::List(node) => waiting.extend(&node.elts),
                Expr::Starred(node) => waiting.push(&node.value),
                _ => {}
            }
        }
    }
}

/// Whether a `break` ends this loop.
struct Breaks(bool);

impl<'a> Visitor<'a> for Breaks {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Break(_) => self.0 = true,
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            // A `break` in an inner loop ends that loop; one in its `else` does not.
            Stmt::For(node) => self.visit_body(&node.orelse),
            Stmt::While(node) => self.visit_body(&node.orelse),
            _ => walk_stmt(self, stmt),
        }
    }
}

impl<'a> Visitor<'a> for Read {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let mut targets = |expr: &Expr| {
            let mut waiting = vec![expr];
            while let Some(expr) = waiting.pop() {
                match expr {
                    Expr::Name(name) => {
                        self.targets.insert(name.id.to_string());
                    }
                    Expr::Tuple(node) => waiting.extend(&node.elts),
                    Expr::List(node) => waiting.extend(&node.elts),
                    Expr::Starred(node) => waiting.push(&node.value),
                    _ => {}
                }
            }
        };
        match stmt {
            Stmt::For(node) => {
                targets(&node.target);
                self.note_loop(node);
            }
            Stmt::With(node) => node.items.iter().filter_map(|item| item.optional_vars.as_deref()).for_each(targets),
            Stmt::Delete(node) if self.depth == 0 => {
                let names = node.targets.iter().filter_map(Expr::as_name_expr);
                self.dropped.extend(names.map(|name| name.id.to_string()));
            }
            Stmt::FunctionDef(node) if self.depth == 0 => {
                self.definitions.insert(node.name.to_string());
            }
            Stmt::ClassDef(node) if self.depth == 0 => {
                self.definitions.insert(node.name.to_string());
            }
            _ => {}
        }
        let inner = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        self.depth += u32::from(inner);
        walk_stmt(self, stmt);
        self.depth -= u32::from(inner);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx.is_load()
        {
            self.names.insert(name.id.to_string());
        }
        if let Expr::Name(name) = expr
            && name.ctx.is_store()
            && self.depth == 0
        {
            self.stored.entry(name.id.to_string()).or_default()[0] += 1;
        }
        walk_expr(self, expr);
    }
}
