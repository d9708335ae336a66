//! What a change does to the code of a project: which statements it touches, in which functions, and the constants in
//! them.
//!
//! Comments, docstrings, imports and blank lines are no code. A function whose tree is the same is not touched, whatever
//! its formatting.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_elif_else_clause, walk_except_handler, walk_expr, walk_stmt,
};
use ruff_python_ast::{ElifElseClause, ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextSize};
use serde::{Deserialize, Serialize};
use twincell_syntax::parse::{Lines, normalize_newlines, parse, with_stack_for};
use twincell_syntax::{Function, ParameterKind, PerSide, Side, functions, pair, rows, same_tree};

/// A file before and after a change. One that is missing on a side has no text there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    /// Relative to the repository, with `/` between its parts.
    pub path: String,
    pub texts: PerSide<Option<String>>,
}

/// What a change touches in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    pub statements: PerSide<Vec<Touched>>,
    /// The functions in which something changed, or which use a changed name of their module, by qualified name.
    pub functions: PerSide<BTreeMap<String, Touchable>>,
}

/// A statement that a change touches, without the statements in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Touched {
    /// 1-based.
    pub first: u32,
    pub last: u32,
}

/// A function that a test may want to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touchable {
    pub name: String,
    pub class: Option<String>,
    pub parameters: Vec<(String, ParameterKind, Option<String>)>,
    pub lines: Touched,
    pub is_async: bool,
    /// Whether the function itself changed, and not only a name that it uses.
    pub is_changed: bool,
}

/// Constants that the touched functions and statements name: what inputs are compared with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constants {
    /// Those in touched statements come first.
    pub texts: Vec<String>,
    pub integers: Vec<i64>,
    pub floats: Vec<f64>,
}

impl Touched {
    pub fn holds(&self, lines: &BTreeSet<u32>) -> bool {
        lines.range(self.first..=self.last).next().is_some()
    }
}

impl ChangedFile {
    /// Whether nothing of the old version changed or went.
    pub fn only_adds(&self) -> bool {
        self.statements.old.is_empty()
    }

    /// Whether a statement stands in no function, so that it runs when its module is imported.
    pub fn runs_at_import(&self, side: Side, statement: &Touched) -> bool {
        let mut functions = self.functions[side].values();
        !functions.any(|one| one.lines.first <= statement.first && statement.last <= one.lines.last)
    }

    pub fn is_empty(&self) -> bool {
        self.statements.old.is_empty() && self.statements.new.is_empty()
    }
}

/// What changed in a file. `None` if nothing that matters to behavior did.
pub fn changed_file(file: &ChangedText) -> Option<ChangedFile> {
    let texts = PerSide::of(|side| normalize_newlines(file.texts[side].as_deref().unwrap_or("")).into_owned());
    let found = with_stack_for(texts.old.len() + texts.new.len(), || {
        let lines = changed_lines(&texts);
        let known = PerSide::of(|side| functions(&texts[side]).0);
        let same = same_functions(&known);
        PerSide::of(|side| touched(&texts[side], &lines[side], &known[side], &same[side]))
    });
    let [old, new] = [found.old, found.new];
    let changed = ChangedFile {
        path: file.path.clone(),
        statements: PerSide::new(old.0, new.0),
        functions: PerSide::new(old.1, new.1),
    };
    (!changed.is_empty()).then_some(changed)
}

/// 1-based.
fn changed_lines(texts: &PerSide<String>) -> PerSide<BTreeSet<u32>> {
    let lines = texts.as_ref().map(|text| text.lines().collect::<Vec<_>>());
    let mut changed = PerSide::<BTreeSet<u32>>::default();
    for row in rows(&texts.old, &texts.new) {
        let old = row.old.and_then(|line| lines.old.get(line as usize));
        let new = row.new.and_then(|line| lines.new.get(line as usize));
        if old != new {
            changed.old.extend(row.old.map(|line| line + 1));
            changed.new.extend(row.new.map(|line| line + 1));
        }
    }
    changed
}

/// Names of functions that are the same program on both sides.
fn same_functions(known: &PerSide<Vec<Function>>) -> PerSide<BTreeSet<String>> {
    let mut same = PerSide::<BTreeSet<String>>::default();
    let pairing = pair(known.old.clone(), known.new.clone());
    for (old, new) in &pairing.pairs {
        let is_same = old.decorators == new.decorators && old.parent == new.parent && same_tree(old, new);
        if is_same {
            same.old.insert(old.qualname.clone());
            same.new.insert(new.qualname.clone());
        }
    }
    same
}

fn touched(
    text: &str,
    changed: &BTreeSet<u32>,
    known: &[Function],
    same: &BTreeSet<String>,
) -> (Vec<Touched>, BTreeMap<String, Touchable>) {
    let parsed = parse(text);
    let lines = Lines::new(text);
    let mut spans = Spans { lines: &lines, found: Vec::new() };
    spans.visit_body(parsed.suite());

    let ends: Vec<Touched> = known.iter().map(whole).collect();
    let inside = |line: u32| -> Option<usize> {
        let holds = (0..known.len()).filter(|at| ends[*at].first <= line && line <= ends[*at].last);
        holds.max_by_key(|at| ends[*at].first)
    };
    let outermost = |mut at: usize| {
        while let Some(parent) = &known[at].parent {
            match known.iter().position(|function| function.qualname == *parent) {
                Some(above) => at = above,
                None => break,
            }
        }
        at
    };
    let mut statements = BTreeSet::new();
    let mut reached: BTreeMap<usize, bool> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for span in &spans.found {
        if !changed.range(span.lines.first..=span.lines.last).any(|_| true) {
            continue;
        }
        let function = if span.is_definition { inside(span.body) } else { inside(span.lines.first) };
        match function {
            Some(at) if same.contains(&known[at].qualname) => {}
            Some(at) => {
                // The line of a definition runs when its module is imported. The body runs in its place.
                let lines = if span.is_definition { Touched { first: span.body, last: span.body } } else { span.lines };
                statements.insert(lines);
                reached.insert(outermost(at), true);
            }
            None => {
                statements.insert(span.lines);
                names.extend(span.binds.iter().cloned());
            }
        }
    }
    // A name of the module that changed: who reads it runs with the change.
    if !names.is_empty() {
        for (at, lines) in readers(parsed.suite(), &lines, &names, &inside) {
            let at = outermost(at);
            reached.entry(at).or_insert(false);
            statements.insert(lines);
        }
    }
    let functions = reached.into_iter().map(|(at, is_changed)| {
        let function = &known[at];
        let parameters =
            function.parameters.iter().map(|one| (one.name.clone(), one.kind, default_of(function, &one.name)));
        let touchable = Touchable {
            name: function.name.clone(),
            class: function.class_name.clone(),
            parameters: parameters.collect(),
            lines: ends[at],
            is_async: function.is_async,
            is_changed,
        };
        (function.qualname.clone(), touchable)
    });
    (statements.into_iter().collect(), functions.collect())
}

fn whole(function: &Function) -> Touched {
    let length = u32::try_from(function.text.lines().count()).unwrap_or(u32::MAX);
    Touched { first: function.first_line, last: function.first_line.saturating_add(length.saturating_sub(1)) }
}

/// The text of a parameter's default.
fn default_of(function: &Function, name: &str) -> Option<String> {
    let parsed = parse(&function.text);
    let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { return None };
    let found = definition.parameters.iter_non_variadic_params().find(|one| one.name().as_str() == name)?;
    let range = found.default()?.range().to_std_range();
    function.text.get(range).map(str::to_owned)
}

/// The statements in functions that read one of some names of their module.
fn readers(
    suite: &[Stmt],
    lines: &Lines<'_>,
    names: &BTreeSet<String>,
    inside: &impl Fn(u32) -> Option<usize>,
) -> Vec<(usize, Touched)> {
    struct Reads<'a> {
        names: &'a BTreeSet<String>,
        found: Vec<TextSize>,
    }
    impl<'a> SourceOrderVisitor<'a> for Reads<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr
                && name.ctx.is_load()
                && self.names.contains(name.id.as_str())
            {
                self.found.push(name.start());
            }
            walk_expr(self, expr);
        }
    }
    let mut reads = Reads { names, found: Vec::new() };
    reads.visit_body(suite);
    let at = reads.found.into_iter().map(|at| lines.line(at));
    at.filter_map(|line| Some((inside(line)?, Touched { first: line, last: line }))).collect()
}

/// The lines of each statement without the statements in it.
struct Spans<'a> {
    lines: &'a Lines<'a>,
    found: Vec<Span>,
}

struct Span {
    lines: Touched,
    is_definition: bool,
    /// The first line of the body of a definition.
    body: u32,
    /// The names of the module or of a class that it binds.
    binds: Vec<String>,
}

impl Spans<'_> {
    /// The lines of a clause before its body.
    fn clause(&mut self, at: TextSize, body: &[Stmt]) {
        let first = self.lines.line(at);
        let inside = body.first().map_or(first, |stmt| self.lines.line(stmt.start()));
        let lines = Touched { first, last: inside.saturating_sub(1).max(first) };
        self.found.push(Span { lines, is_definition: false, body: inside, binds: vec![] });
    }
}

impl<'a> SourceOrderVisitor<'a> for Spans<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let is_docstring = matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr());
        let is_import = stmt.is_import_stmt() || stmt.is_import_from_stmt();
        if is_docstring || is_import || stmt.is_pass_stmt() {
            return;
        }
        let inner: Option<&[Stmt]> = match stmt {
            Stmt::FunctionDef(one) => Some(&one.body),
            Stmt::ClassDef(one) => Some(&one.body),
            Stmt::If(one) => Some(&one.body),
            Stmt::For(one) => Some(&one.body),
            Stmt::While(one) => Some(&one.body),
            Stmt::With(one) => Some(&one.body),
            Stmt::Try(one) => Some(&one.body),
            Stmt::Match(one) => one.cases.first().map(|case| &case.body[..]),
            _ => None,
        };
        let first = self.lines.line(stmt.start());
        let code = inner.and_then(|body| {
            body.iter().find(|stmt| !matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr()))
        });
        let body = inner.map(|_| code.map_or(first, |stmt| self.lines.line(stmt.start())));
        let last = match inner.and_then(|body| body.first()) {
            Some(inside) => self.lines.line(inside.start()).saturating_sub(1).max(first),
            None => self.lines.line(stmt.end()),
        };
        self.found.push(Span {
            lines: Touched { first, last },
            is_definition: stmt.is_function_def_stmt(),
            body: body.unwrap_or(first),
            binds: binds(stmt),
        });
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _expr: &'a Expr) {}

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if clause.test.is_some() {
            self.clause(clause.start(), &clause.body);
        }
        walk_elif_else_clause(self, clause);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        self.clause(handler.start(), &inner.body);
        walk_except_handler(self, handler);
    }
}

fn binds(stmt: &Stmt) -> Vec<String> {
    let targets: Vec<&Expr> = match stmt {
        Stmt::Assign(assign) => assign.targets.iter().collect(),
        Stmt::AnnAssign(assign) => vec![&assign.target],
        Stmt::AugAssign(assign) => vec![&assign.target],
        _ => vec![],
    };
    let mut names = Vec::new();
    let mut left = targets;
    while let Some(target) = left.pop() {
        match target {
            Expr::Name(name) => names.push(name.id.to_string()),
            Expr::Tuple(tuple) => left.extend(&tuple.elts),
            _ => {}
        }
    }
    names
}

/// The constants of a change: first those that touched statements name, then those of touched functions.
pub fn constants(files: &[(ChangedText, ChangedFile)]) -> Constants {
    let mut found = Constants::default();
    for near in [true, false] {
        for (text, file) in files {
            for side in Side::BOTH {
                let Some(content) = &text.texts[side] else { continue };
                let content = normalize_newlines(content);
                let spans: Vec<Touched> = match near {
                    true => file.statements[side].clone(),
                    false => file.functions[side].values().map(|function| function.lines).collect(),
                };
                with_stack_for(content.len(), || collect(&content, &spans, &mut found));
            }
        }
    }
    found
}

fn collect(text: &str, spans: &[Touched], found: &mut Constants) {
    struct Literals<'a> {
        lines: Lines<'a>,
        spans: &'a [Touched],
        found: &'a mut Constants,
    }
    impl<'a> SourceOrderVisitor<'a> for Literals<'_> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if !matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr()) {
                walk_stmt(self, stmt);
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            let (first, last) = (self.lines.line(expr.start()), self.lines.line(expr.end()));
            if self.spans.iter().any(|span| first <= span.last && span.first <= last) {
                match expr {
                    Expr::StringLiteral(text) => push(&mut self.found.texts, text.value.to_str().to_owned()),
                    Expr::BytesLiteral(bytes) => {
                        let bytes: Vec<u8> = bytes.value.bytes().collect();
                        if let Ok(text) = String::from_utf8(bytes) {
                            push(&mut self.found.texts, text);
                        }
                    }
                    Expr::FString(text) => {
                        for part in text.value.elements().filter_map(|part| part.as_literal()) {
                            push(&mut self.found.texts, part.value.to_string());
                        }
                    }
                    Expr::NumberLiteral(number) => match &number.value {
                        ruff_python_ast::Number::Int(value) => {
                            if let Some(value) = value.as_i64() {
                                push(&mut self.found.integers, value);
                            }
                        }
                        ruff_python_ast::Number::Float(value) => push(&mut self.found.floats, *value),
                        ruff_python_ast::Number::Complex { .. } => {}
                    },
                    _ => {}
                }
            }
            walk_expr(self, expr);
        }
    }
    let parsed = parse(text);
    let mut literals = Literals { lines: Lines::new(text), spans, found };
    literals.visit_body(parsed.suite());
}

fn push<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: &str, new: &str) -> Option<ChangedFile> {
        let texts = PerSide::new(Some(old.to_owned()), Some(new.to_owned()));
        changed_file(&ChangedText { path: "shop.py".into(), texts })
    }

    fn spans(touched: &[Touched]) -> Vec<(u32, u32)> {
        touched.iter().map(|one| (one.first, one.last)).collect()
    }

    #[test]
    fn comments_docstrings_imports_and_formatting_are_no_code() {
        let old = "import os\n\ndef f(a):\n    '''Doc.'''\n    return a + 1 # one\n";
        for new in [
            "import os, sys\n\ndef f(a):\n    '''Doc.'''\n    return a + 1 # one\n",
            "import os\n\ndef f(a):\n    '''Other.'''\n    # more\n    return a + 1\n",
            "import os\n\ndef f(a):\n    '''Doc.'''\n    return (a+\n      1)\n",
        ] {
            assert_eq!(change(old, new), None, "{new}");
        }
    }

    #[test]
    fn changed_statements_are_told_from_what_stands_in_them() {
        let old = "def f(a):\n    if a > 1:\n        return 1\n    return 2\n";
        let new = "def f(a):\n    if a >= 1:\n        return 1\n    x = 3\n    return 2\n";
        let found = change(old, new).unwrap();
        assert_eq!(spans(&found.statements.old), [(2, 2)]);
        assert_eq!(spans(&found.statements.new), [(2, 2), (4, 4)]);
        assert_eq!(found.functions.old.keys().collect::<Vec<_>>(), ["f"]);
    }

    #[test]
    fn a_changed_definition_counts_as_the_body_that_runs() {
        let old = "class A:\n    def f(self, a=1):\n        '''Doc.'''\n        return a\n";
        let new = "class A:\n    def f(self, a=2):\n        '''Doc.'''\n        return a\n";
        let found = change(old, new).unwrap();
        assert_eq!(spans(&found.statements.old), [(4, 4)]);
        let function = &found.functions.new["A.f"];
        assert_eq!(function.parameters[1], ("a".into(), ParameterKind::Positional, Some("2".into())));
    }

    #[test]
    fn who_reads_a_changed_name_of_the_module_runs_with_the_change() {
        let old = "LIMIT = 1\n\ndef f(a):\n    b = a\n    return b > LIMIT\n";
        let new = "LIMIT = 2\n\ndef f(a):\n    b = a\n    return b > LIMIT\n";
        let found = change(old, new).unwrap();
        assert_eq!(spans(&found.statements.new), [(1, 1), (5, 5)]);
        assert!(!found.functions.new["f"].is_changed);
    }

    #[test]
    fn a_change_that_only_adds_touches_nothing_old() {
        let found =
            change("def f(a):\n    return a\n", "def f(a):\n    return a\n\ndef g(a):\n    return 2\n").unwrap();
        assert!(found.only_adds() && found.functions.new.contains_key("g"));
    }

    #[test]
    fn constants_of_touched_statements_come_first() {
        let old = "def f(a):\n    x = 'far'\n    return a == 'near' and a < 100\n";
        let new = "def f(a):\n    x = 'far'\n    return a == 'other' and a < 99.95\n";
        let text = ChangedText { path: "a.py".into(), texts: PerSide::new(Some(old.into()), Some(new.into())) };
        let file = changed_file(&text).unwrap();
        let found = constants(&[(text, file)]);
        assert_eq!(
            (found.texts, found.integers, found.floats),
            (vec!["near".into(), "other".into(), "far".to_owned()], vec![100], vec![99.95])
        );
    }
}
