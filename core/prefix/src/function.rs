//! A function of a file as what runs: the parts of the file that it needs, on their lines, and a call of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use twincell_engine::protocol::FilesBeside;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_builtin;
use twincell_syntax::scopes::Bindings;
use twincell_syntax::used_names;

use crate::body::function_body;
use crate::hints::dedented;
use crate::result::Used;

/// What prefixes are searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    pub text: String,
    /// The first and the last line that count. `None` for all.
    pub lines: Option<(u32, u32)>,
    /// The folder of the text's file, or the one that a cell runs in.
    pub folder: Option<PathBuf>,
    /// The name of its file there.
    pub file: Option<String>,
    /// What it uses of its folder.
    pub beside: Option<Beside>,
}

/// The files beside a text that it uses, and a copy of them where workers may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    pub copy: FilesBeside,
    pub used: Used,
    /// The package that holds the text. Empty if there is none.
    pub package: String,
    /// What its modules import.
    pub imports: Vec<String>,
}

impl From<String> for Subject {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// A function of a text with the definitions around that it needs, and a call of it behind them. All lines stand where
/// they stand in the text, and those of the function count. A function within another one is its body alone. `None` if
/// the text has no function of this qualified name.
pub fn function_subject(text: &str, qualname: &str) -> Option<Subject> {
    let text = &*dedented(text);
    let whole = with_stack_for(text.len(), || {
        let parsed = parse(text);
        called(text, parsed.suite(), qualname)
    });
    whole.or_else(|| function_body(text, qualname).map(Subject::from))
}

/// The same for the first function of a text.
pub fn first_function_subject(text: &str) -> Option<Subject> {
    let (found, _) = twincell_syntax::functions(text);
    function_subject(text, &found.first()?.qualname)
}

fn called(text: &str, body: &[Stmt], qualname: &str) -> Option<Subject> {
    let (class, name) = match qualname.split_once('.') {
        Some((class, name)) => (Some(class), name),
        None => (None, qualname),
    };
    let holder = class.map(|class| find_class(body, class)).map_or(Some(None), |class| class.map(Some))?;
    let function = find_function(holder.map_or(body, |class| &class.body), name)?;
    let needed = needed(text, body, holder.map_or_else(|| function.range(), Ranged::range));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count();
    let mut blank = |range: TextRange| {
        let last = line_of(range.end().to_usize().saturating_sub(1));
        for line in lines.iter_mut().take(last + 1).skip(line_of(range.start().to_usize())) {
            line.clear();
        }
    };
    for (index, statement) in body.iter().enumerate() {
        if !needed.contains(&index) {
            blank(statement.range());
        }
    }
    // What decorates it may hide it.
    let decorators = |all: &[Decorator]| all.iter().map(Ranged::range).collect::<Vec<_>>();
    decorators(&function.decorator_list).into_iter().for_each(&mut blank);
    let taken = Bindings::of_body(body);
    // Where the function itself uses asyncio, an import below would only hide that there is none above.
    let own = holder.map_or_else(|| function.range(), Ranged::range);
    let is_used = used_names(&text[own]).free.iter().any(|name| name == "asyncio");
    let imports = if is_used { "" } else { "import asyncio\n\n" };
    let call = call(function, holder, &taken, imports);
    let begin = line_of(function.body.first()?.start().to_usize());
    let end = line_of(function.end().to_usize().saturating_sub(1));
    lines.push(String::new());
    lines.push(call);
    let lines_of = (begin as u32 + 1, end as u32 + 1);
    let lines_of = Some(lines_of).filter(|(first, last)| first <= last);
    Some(Subject { text: lines.join("\n") + "\n", lines: lines_of, ..Subject::default() })
}

fn find_class<'b>(body: &'b [Stmt], name: &str) -> Option<&'b StmtClassDef> {
    body.iter().filter_map(Stmt::as_class_def_stmt).rfind(|class| class.name.as_str() == name)
}

fn find_function<'b>(body: &'b [Stmt], name: &str) -> Option<&'b StmtFunctionDef> {
    body.iter().filter_map(Stmt::as_function_def_stmt).rfind(|function| function.name.as_str() == name)
}

/// The statements that the code in a range needs, by their places: it, and what binds the names that these use.
fn needed(text: &str, body: &[Stmt], of: TextRange) -> BTreeSet<usize> {
    let mut binding: Vec<(usize, Bindings)> = Vec::new();
    let mut found = BTreeSet::new();
    let mut waiting = Vec::new();
    for (index, statement) in body.iter().enumerate() {
        if statement.range().contains_range(of) {
            waiting.push(index);
            continue;
        }
        if !is_definition(statement) {
            continue;
        }
        if let Stmt::ImportFrom(import) = statement
            && (import.names.iter().any(|alias| alias.name.as_str() == "*")
                || import.module.as_ref().is_some_and(|module| module == "__future__"))
        {
            found.insert(index);
        }
        binding.push((index, Bindings::of_body(std::slice::from_ref(statement))));
    }
    while let Some(index) = waiting.pop() {
        if found.insert(index) {
            let used = used_names(&text[body[index].range()]);
            let binds = |bindings: &Bindings| used.free.iter().any(|name| bindings.is_local(name));
            waiting.extend(binding.iter().filter(|(_, bindings)| binds(bindings)).map(|(index, _)| *index));
        }
    }
    found
}

/// Whether a statement only says what names mean.
fn is_definition(statement: &Stmt) -> bool {
    match statement {
        Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::FunctionDef(_) | Stmt::ClassDef(_) => true,
        Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::TypeAlias(_) => true,
        Stmt::Try(node) => node.body.iter().all(is_definition),
        Stmt::If(node) => node.body.iter().all(is_definition),
        _ => false,
    }
}

/// What calls a function: its parameters are names that nothing defines. `imports` is what a coroutine needs.
fn call(function: &StmtFunctionDef, class: Option<&StmtClassDef>, taken: &Bindings, imports: &str) -> String {
    let name = function.name.as_str();
    let is_static = function.decorator_list.iter().any(|decorator| is_named(decorator, "staticmethod"));
    let is_of_class = function.decorator_list.iter().any(|decorator| is_named(decorator, "classmethod"));
    let own_init = class.and_then(|class| find_function(&class.body, "__init__"));
    let (callee, first) = match (class, own_init) {
        (None, _) => (name.to_owned(), vec![]),
        (Some(class), _) if is_static => (format!("{}.{name}", class.name), vec![]),
        (Some(class), _) if is_of_class => (format!("{}.{name}", class.name), vec![class.name.to_string()]),
        (Some(class), _) if name == "__init__" || name == "__new__" => (class.name.to_string(), vec![]),
        (Some(class), Some(init)) => {
            (format!("{}({}).{name}", class.name, arguments(&init.parameters, 1, &[], taken)), vec![])
        }
        (Some(class), None) => (format!("{}.{name}", class.name), vec!["self".to_owned()]),
    };
    let skipped = usize::from(class.is_some() && !is_static);
    let call = format!("{callee}({})", arguments(&function.parameters, skipped, &first, taken));
    let mut yields = Yields::default();
    yields.visit_body(&function.body);
    match (function.is_async, yields.found) {
        (false, false) => call,
        (false, true) => format!("list({call})"),
        (true, false) => format!("{imports}asyncio.run({call})"),
        (true, true) => format!(
            "{imports}async def collect():\n    return [item async for item in {call}]\n\nasyncio.run(collect())"
        ),
    }
}

fn is_named(decorator: &Decorator, name: &str) -> bool {
    matches!(&decorator.expression, Expr::Name(node) if node.id == name)
}

fn arguments(parameters: &Parameters, skipped: usize, first: &[String], taken: &Bindings) -> String {
    let given = |name: &str| match taken.is_local(name) || is_builtin(name) {
        true => format!("{name}_"),
        false => name.to_owned(),
    };
    let positional = parameters.posonlyargs.iter().chain(&parameters.args).skip(skipped);
    let mut all = first.to_vec();
    all.extend(positional.map(|parameter| given(&parameter.parameter.name)));
    all.extend(parameters.vararg.iter().map(|parameter| format!("*{}", given(&parameter.name))));
    all.extend(parameters.kwonlyargs.iter().map(|parameter| {
        let name = &parameter.parameter.name;
        format!("{name}={}", given(name))
    }));
    all.extend(parameters.kwarg.iter().map(|parameter| format!("**{}", given(&parameter.name))));
    all.join(", ")
}

/// Whether a function is a generator.
#[derive(Default)]
struct Yields {
    found: bool,
}

impl Visitor<'_> for Yields {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        self.found |= matches!(expression, Expr::Yield(_) | Expr::YieldFrom(_));
        if !matches!(expression, Expr::Lambda(_)) {
            walk_expr(self, expression);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str, name: &str) -> (String, Option<(u32, u32)>) {
        let Subject { text, lines, .. } = function_subject(text, name).unwrap_or_default();
        (text, lines)
    }

    #[test]
    fn a_function_keeps_what_it_needs_of_its_file_on_its_lines() {
        let text = "import os\nimport json\nLIMIT = 3\nmain()\ndef g(x):\n    return x + LIMIT\n\n@route\ndef f(a, *, b):\n    return g(a)\n";
        let expected =
            "\n\nLIMIT = 3\n\ndef g(x):\n    return x + LIMIT\n\n\ndef f(a, *, b):\n    return g(a)\n\nf(a, b=b)\n";
        assert_eq!(subject(text, "f"), (expected.to_owned(), Some((10, 10))));
        assert_eq!(function_subject(text, "h"), None);
    }

    #[test]
    fn every_kind_of_function_is_called_as_it_asks_to_be() {
        let last = |text: &str, name: &str| subject(text, name).0.lines().last().unwrap_or_default().to_owned();
        assert_eq!(last("async def f(a):\n    return a\n", "f"), "asyncio.run(f(a))");
        assert_eq!(last("def f(a):\n    yield a\n", "f"), "list(f(a))");
        assert_eq!(last("async def f(a):\n    yield a\n", "f"), "asyncio.run(collect())");
        assert_eq!(last("class C:\n    def f(self, a):\n        pass\n", "C.f"), "C.f(self, a)");
        let made = "class C:\n    def __init__(self, b):\n        self.b = b\n    def f(self, a):\n        pass\n";
        assert_eq!(last(made, "C.f"), "C(b).f(a)");
        assert_eq!(last("class C:\n    @staticmethod\n    def f(id):\n        pass\n", "C.f"), "C.f(id_)");
    }
}
