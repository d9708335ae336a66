//! Test functions as they stand in their modules, and modules with more of them.

use std::collections::BTreeSet;

use ruff_python_ast::{Alias, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;
use twincell_syntax::parse::{Lines, normalize_newlines, parse, with_stack_for};

use crate::code::{Code, Edit, apply, line_end, line_start};

/// The byte order mark.
const MARK: char = '\u{feff}';

/// A test function of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Relative to the repository, with `/` between its parts.
    pub file: String,
    /// The classes around it, the outermost first.
    pub classes: Vec<String>,
    pub name: String,
    pub code: Code,
    /// Where a test that follows it begins in the module.
    pub behind: usize,
    /// The names of its parameters, without `self`: fixtures and sets of parameters.
    pub parameters: Vec<String>,
}

/// One module with its test functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestModule {
    pub file: String,
    /// The text as Python reads it: without a byte order mark, and with `\n` for every line end.
    pub text: String,
    /// The text as the file has it.
    original: String,
    pub subjects: Vec<Subject>,
    /// Whether the project does not have it yet.
    pub is_new: bool,
}

/// A test that is put into a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The position in the module where it is put.
    pub behind: usize,
    pub code: Code,
    /// Import statements that it needs at the top of the module.
    pub imports: BTreeSet<String>,
}

impl Subject {
    /// `TestCart.test_total`, as [`twincell_testing::Test::function`] has it.
    pub fn function(&self) -> String {
        let mut parts = self.classes.clone();
        parts.push(self.name.clone());
        parts.join(".")
    }

    /// The node id of a test of another name beside it.
    pub fn id(&self, name: &str) -> String {
        let mut parts = vec![self.file.as_str()];
        parts.extend(self.classes.iter().map(String::as_str));
        parts.push(name);
        parts.join("::")
    }
}

impl TestModule {
    /// Reads a module. One that does not parse has no subjects.
    pub fn new(file: &str, original: &str) -> Self {
        let text = normalize_newlines(original).into_owned();
        let subjects = with_stack_for(text.len(), || {
            let parsed = parse(&text);
            let mut subjects = Vec::new();
            if parsed.errors().is_empty() {
                find(file, &text, parsed.suite(), &mut Vec::new(), &mut subjects);
            }
            subjects
        });
        Self { file: file.to_owned(), text, original: original.to_owned(), subjects, is_new: false }
    }

    /// A module that is to have variants of one test, and not the test itself. `None` if the text has no such test.
    pub fn of_one(file: &str, text: &str) -> Option<Self> {
        let whole = Self::new(file, text);
        let [subject] = whole.subjects.as_slice() else { return None };
        let start = subject.behind.checked_sub(subject.code.lines().len())?;
        let head = whole.text.get(..start)?.trim_end();
        let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
        let subject = Subject { behind: head.len(), ..subject.clone() };
        Some(Self { text: head, original: String::new(), subjects: vec![subject], is_new: true, ..whole })
    }

    pub fn subject(&self, function: &str) -> Option<&Subject> {
        // Of two tests of one name the last is the one that runs.
        self.subjects.iter().rev().find(|subject| subject.function() == function)
    }

    /// The text as the file has it. A module that the project does not have yet has none.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// A text of the module with more lines as the file is to have it: with its byte order mark, and with its own end for
    /// each of its lines. New lines end as its first one does.
    pub fn as_written(&self, text: &str) -> String {
        if self.original == self.text {
            return text.to_owned();
        }
        let unmarked = self.original.strip_prefix(MARK);
        let mut known = lines(unmarked.unwrap_or(&self.original)).peekable();
        let first = known.peek().map_or("", |(_, end)| *end);
        let usual = if first.is_empty() { "\n" } else { first };
        let mut written = if unmarked.is_some() { MARK.to_string() } else { String::new() };
        for (line, end) in lines(text) {
            let own = known.next_if(|(known, _)| *known == line).map_or("", |(_, end)| end);
            written.push_str(line);
            written.push_str(match () {
                () if end.is_empty() => "",
                () if own.is_empty() => usual,
                () => own,
            });
        }
        written
    }

    /// The text of the module with more tests.
    pub fn with(&self, additions: &[Addition]) -> String {
        let mut edits: Vec<Edit> = Vec::new();
        for addition in additions {
            let is_method = addition.code.lines().starts_with([' ', '\t']);
            let gap = if is_method { "\n" } else { "\n\n" };
            let before = self.text.get(..addition.behind).unwrap_or("");
            let gap = if before.is_empty() || before.ends_with('\n') { gap.to_owned() } else { format!("\n{gap}") };
            let text = format!("{gap}{}", addition.code.lines());
            match edits.iter_mut().find(|edit| edit.range.start == addition.behind) {
                Some(edit) => edit.with.push_str(&text),
                None => edits.push(Edit::insert(addition.behind, text)),
            }
        }
        let missing: BTreeSet<&str> = additions.iter().flat_map(|one| &one.imports).map(String::as_str).collect();
        if !missing.is_empty() {
            // Where both are put at the end of a module, imports come first.
            edits.insert(0, self.import_edit(&missing));
        }
        apply(&self.text, edits)
    }

    /// Puts imports below those of the module.
    fn import_edit(&self, imports: &BTreeSet<&str>) -> Edit {
        let parsed = parse(&self.text);
        let mut at = 0;
        let mut has_import = false;
        for (position, stmt) in parsed.suite().iter().enumerate() {
            let is_docstring = position == 0 && matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr());
            let is_import = stmt.is_import_stmt() || stmt.is_import_from_stmt();
            if is_import || is_docstring {
                at = line_end(&self.text, stmt.end().to_usize());
                has_import |= is_import;
            } else {
                break;
            }
        }
        let lines: String = imports.iter().map(|import| format!("{import}\n")).collect();
        let is_ended = self.text.get(..at).is_none_or(|before| before.is_empty() || before.ends_with('\n'));
        let lead = match (has_import || at == 0, is_ended) {
            (true, true) => "",
            (true, false) | (false, true) => "\n",
            (false, false) => "\n\n",
        };
        let trail = if has_import || at > 0 { "" } else { "\n" };
        Edit::insert(at, format!("{lead}{lines}{trail}"))
    }

    /// The import statements at the top of the module.
    pub fn imports(&self) -> BTreeSet<String> {
        let parsed = parse(&self.text);
        let statements = parsed.suite().iter().filter(|stmt| stmt.is_import_stmt() || stmt.is_import_from_stmt());
        statements.filter_map(|stmt| self.text.get(stmt.range().to_std_range())).map(str::to_owned).collect()
    }

    /// Import statements of these for what the module does not import yet.
    pub fn missing(&self, imports: &BTreeSet<String>) -> BTreeSet<String> {
        let known: BTreeSet<(String, String)> = imported(&self.text).into_iter().collect();
        let left = |import: &String| {
            let all = imported(import);
            let left: Vec<&(String, String)> = all.iter().filter(|one| !known.contains(*one)).collect();
            match left.as_slice() {
                [] => None,
                left if left.len() == all.len() => Some(import.clone()),
                left => {
                    let names: Vec<&str> = left.iter().map(|(_, name)| name.as_str()).collect();
                    Some(format!("{} {}", left[0].0, names.join(", ")))
                }
            }
        };
        imports.iter().filter_map(left).collect()
    }
}

/// What the import statements at the top of a text import: `from shop import` and `total as sum`.
fn imported(text: &str) -> Vec<(String, String)> {
    let parsed = parse(text);
    let mut found = Vec::new();
    for stmt in parsed.suite() {
        let (head, names) = match stmt {
            Stmt::Import(one) => ("import".to_owned(), &one.names),
            Stmt::ImportFrom(one) => {
                let module = one.module.as_ref().map_or("", |name| name.as_str());
                (format!("from {}{module} import", ".".repeat(one.level as usize)), &one.names)
            }
            _ => continue,
        };
        let name = |alias: &Alias| match &alias.asname {
            Some(own) => format!("{} as {own}", alias.name),
            None => alias.name.to_string(),
        };
        found.extend(names.iter().map(|alias| (head.clone(), name(alias))));
    }
    found
}

/// The lines of a text, each with what ends it.
fn lines(mut text: &str) -> impl Iterator<Item = (&str, &str)> {
    std::iter::from_fn(move || {
        let at = text.find(['\r', '\n']).unwrap_or(text.len());
        let (line, rest) = text.split_at(at);
        let length = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        let (end, rest) = rest.split_at(length);
        let is_over = text.is_empty();
        text = rest;
        (!is_over).then_some((line, end))
    })
}

fn find(file: &str, text: &str, body: &[Stmt], classes: &mut Vec<String>, found: &mut Vec<Subject>) {
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(function) => found.extend(subject(file, text, function, classes)),
            Stmt::ClassDef(class) => class_of(file, text, class, classes, found),
            // Tests may stand below a condition, as for a version of Python.
            Stmt::If(one) => {
                find(file, text, &one.body, classes, found);
                for clause in &one.elif_else_clauses {
                    find(file, text, &clause.body, classes, found);
                }
            }
            Stmt::Try(one) => {
                find(file, text, &one.body, classes, found);
                find(file, text, &one.orelse, classes, found);
            }
            _ => {}
        }
    }
}

fn class_of(file: &str, text: &str, class: &StmtClassDef, classes: &mut Vec<String>, found: &mut Vec<Subject>) {
    classes.push(class.name.to_string());
    find(file, text, &class.body, classes, found);
    classes.pop();
}

fn subject(file: &str, text: &str, function: &StmtFunctionDef, classes: &[String]) -> Option<Subject> {
    let start = line_start(text, function.start().to_usize());
    let end = line_end(text, function.end().to_usize());
    if !crate::body::stands_alone(text, function.range()) {
        return None;
    }
    let parameters = function.parameters.iter_non_variadic_params().map(|one| one.name().to_string());
    let skip = usize::from(!classes.is_empty());
    Some(Subject {
        file: file.to_owned(),
        classes: classes.to_vec(),
        name: function.name.to_string(),
        code: Code::new(text.get(start..end)?),
        behind: end,
        parameters: parameters.skip(skip).collect(),
    })
}

/// Names and the source of their values.
type Named = Vec<(String, String)>;

/// The literals that a test module binds to names at its top, and those that its fixtures return: the name and the text.
pub fn literals_of(text: &str) -> (Named, Named) {
    let parsed = parse(text);
    let lines = Lines::new(text);
    let (mut constants, mut fixtures) = (Vec::new(), Vec::new());
    for stmt in parsed.suite() {
        match stmt {
            Stmt::Assign(assign) if is_plain(&assign.value) => {
                if let [Expr::Name(name)] = assign.targets.as_slice() {
                    constants.push((name.id.to_string(), lines.text(assign.value.range()).to_owned()));
                }
            }
            Stmt::FunctionDef(function) => {
                let is_fixture = function.decorator_list.iter().any(|one| {
                    let called = one.expression.as_call_expr().map_or(&one.expression, |call| &call.func);
                    crate::body::last_name(called) == Some("fixture")
                });
                if let [Stmt::Return(returned)] = function.body.as_slice()
                    && let Some(value) = &returned.value
                    && is_fixture
                    && is_plain(value)
                {
                    fixtures.push((function.name.to_string(), lines.text(value.range()).to_owned()));
                }
            }
            _ => {}
        }
    }
    (constants, fixtures)
}

fn is_plain(expr: &Expr) -> bool {
    expr.is_string_literal_expr() || expr.is_number_literal_expr() || expr.is_bytes_literal_expr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_functions_methods_and_tests_below_conditions() {
        let module = TestModule::new(
            "tests/test_a.py",
            "import os\n\n@mark\ndef test_a(x):\n    pass\n\nclass TestB(Base):\n    def test_b(self, y):\n        pass\n\
             if os:\n    def test_c():\n        pass\n",
        );
        let names: Vec<String> = module.subjects.iter().map(Subject::function).collect();
        assert_eq!(names, ["test_a", "TestB.test_b", "test_c"]);
        assert_eq!(module.subjects[1].id("test_d"), "tests/test_a.py::TestB::test_d");
        assert_eq!(module.subjects[1].parameters, ["y"]);
        assert_eq!(module.subjects[0].code.lines(), "@mark\ndef test_a(x):\n    pass\n");
    }

    #[test]
    fn a_test_is_put_behind_its_origin_and_its_imports_at_the_top() {
        let module =
            TestModule::new("t.py", "'''Doc.'''\nimport os\n\ndef test_a():\n    pass\n\ndef test_b():\n    pass");
        let addition = |at: usize, name: &str| Addition {
            behind: module.subjects[at].behind,
            code: module.subjects[at].code.renamed(name),
            imports: ["import pytest".to_owned()].into(),
        };
        assert_eq!(
            module.with(&[addition(0, "test_c"), addition(1, "test_d")]),
            "'''Doc.'''\nimport os\nimport pytest\n\ndef test_a():\n    pass\n\n\ndef test_c():\n    pass\n\n\
             def test_b():\n    pass\n\n\ndef test_d():\n    pass\n"
        );
    }

    #[test]
    fn what_a_module_imports_in_another_statement_is_not_missing() {
        let text = "import os, pytest\nfrom .shop import (\n    fee,\n    total as add,\n)\n";
        let module = TestModule::new("t.py", text);
        for (import, expected) in [
            ("import pytest", None),
            ("from .shop import fee", None),
            ("from shop import fee", Some("from shop import fee")),
            ("from .shop import total", Some("from .shop import total")),
            ("from .shop import fee, total, total as add", Some("from .shop import total")),
        ] {
            let missing = module.missing(&[import.to_owned()].into());
            assert_eq!(missing.into_iter().next().as_deref(), expected, "{import}");
        }
    }

    #[test]
    fn imports_go_behind_a_line_without_an_end() {
        for (text, expected) in [
            ("import os", "import os\nimport pytest\n"),
            ("'''Doc.'''", "'''Doc.'''\n\nimport pytest\n\n"),
            ("", "import pytest\n\n"),
        ] {
            let imports = ["import pytest".to_owned()].into();
            let added = Addition { behind: text.len(), code: Code::new("def test_a(): pass\n"), imports };
            let written = TestModule::new("t.py", text).with(&[added]);
            assert!(written.starts_with(expected) && written.ends_with("\ndef test_a(): pass\n"), "{written:?}");
            assert!(parse(&written).errors().is_empty(), "{written:?}");
        }
    }

    #[test]
    fn lines_of_the_file_keep_their_ends_and_new_ones_end_as_the_first() {
        let added = |original: &str| {
            let module = TestModule::new("t.py", original);
            let subject = &module.subjects[0];
            let imports = ["import pytest".to_owned()].into();
            let addition = Addition { behind: subject.behind, code: subject.code.renamed("test_b"), imports };
            module.as_written(&module.with(&[addition]))
        };
        let expected = "import pytest\n\nX = 1\ndef test_a():\n    pass\n\n\ndef test_b():\n    pass\n\n# End.\n";
        let lf = "X = 1\ndef test_a():\n    pass\n\n# End.\n";
        assert_eq!(added(lf), expected);
        assert_eq!(added(&lf.replace('\n', "\r\n")), expected.replace('\n', "\r\n"));
        assert_eq!(added(&lf.replace('\n', "\r")), expected.replace('\n', "\r"));
        assert_eq!(added(&format!("{MARK}{lf}")), format!("{MARK}{expected}"));
        let mixed = "X = 1\r\ndef test_a():\n    pass\n\r\n# End.";
        assert_eq!(
            added(mixed),
            "import pytest\r\n\r\nX = 1\r\ndef test_a():\n    pass\n\r\n\r\ndef test_b():\r\n    pass\r\n\r\n# End."
        );
    }

    #[test]
    fn a_new_module_has_what_a_test_needs_without_the_test() {
        let module = TestModule::of_one("t.py", "import os\n\n\ndef test_a():\n    pass\n").unwrap();
        let code = module.subjects[0].code.renamed("test_b");
        let added = Addition { behind: module.subjects[0].behind, code, imports: BTreeSet::new() };
        assert_eq!(module.with(&[added]), "import os\n\n\ndef test_b():\n    pass\n");
        assert!(TestModule::of_one("t.py", "import os\n").is_none());
    }

    #[test]
    fn constants_and_fixtures_of_a_module_are_known() {
        let (constants, fixtures) = literals_of(
            "A = 'a'\nB = [1]\n\n@pytest.fixture\ndef out():\n    return 'b' 'c'\n\ndef f():\n    return 'd'\n",
        );
        assert_eq!(constants, [("A".to_owned(), "'a'".to_owned())]);
        assert_eq!(fixtures, [("out".to_owned(), "'b' 'c'".to_owned())]);
    }
}
