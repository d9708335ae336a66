//! What a selection of tests is: plain data that serializes, in a fixed order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use twincell_syntax::Side;

/// The version of the serialized form.
pub const SELECTION_VERSION: u32 = 1;

/// The tests of the new version, and why each is worth running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub version: u32,
    /// By path and line.
    pub tests: Vec<SelectedTest>,
    /// The tests that only the old version has.
    pub removed: Vec<TestName>,
    /// What makes the graph unsure, by path and line.
    pub doubts: Vec<Doubt>,
    /// Whether a doubt concerns every test: see [`DoubtKind::concerns_all`].
    pub run_all: bool,
}

/// A test function. Its parameters are left out: all of its cases are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestName {
    pub path: Arc<str>,
    /// `test_f` or `TestCart.test_price`. An inherited method has the name of the class that is collected.
    pub qualname: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedTest {
    pub test: TestName,
    /// Whether only the new version has it.
    pub is_added: bool,
    #[serde(flatten)]
    pub state: TestState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TestState {
    /// It may see the change.
    MustRun { why: Chain },
    /// It uses code that changed, the nearest of which is told, and all of that is proved to do the same.
    CannotSee { why: Chain },
    /// Nothing that it uses has changed.
    Untouched,
}

/// A shortest way from a change to a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The version in which the way leads.
    pub side: Side,
    pub change: CodeChange,
    /// From the change to the test, which is the last one.
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeChange {
    pub kind: CodeChangeKind,
    pub place: Symbol,
    /// The changed file that the place opens, and is not code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeChangeKind {
    Added,
    Removed,
    /// Its text means something else.
    Changed,
    /// A name is imported from elsewhere.
    Import,
    /// Only its docstring, which somebody reads.
    Docstring,
    /// Only its annotations, which somebody reads.
    Annotation,
    /// Only its lines, which somebody reads.
    Source,
    /// A file that is not code.
    DataFile,
}

/// A part of a project: what a module runs on import if the name is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Symbol {
    pub path: Arc<str>,
    pub qualname: Arc<str>,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How it uses what stands before it.
    pub kind: StepKind,
    pub user: Symbol,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// It is the test.
    Test,
    /// It imports the module, whose statements run.
    Import,
    /// It names it.
    Name,
    /// It names a variable.
    Constant,
    /// It has an attribute of this name, of a value whose type is not known.
    Attribute,
    /// A text that it holds has the name.
    Text,
    /// It is a method or an attribute of a class, which is made with it.
    Member,
    /// Python or a library calls it: a special method, a method of a class with a base from outside.
    Implicit,
    /// Its module registers it on import: by a decorator or by a call.
    Registered,
    Fixture,
    /// A `conftest.py` above the test.
    Conftest,
    /// It runs before or after the test: `setUp`.
    Setup,
    /// It imports modules whose names are not in the text.
    DynamicImport,
    /// It gets attributes whose names are not in the text.
    DynamicAttribute,
    /// It has the module as a value.
    WholeModule,
}

/// Something that makes the graph unsure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Doubt {
    pub path: Arc<str>,
    /// From 1, and 0 for a whole file.
    pub line: u32,
    pub kind: DoubtKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// A module is imported whose name is not in the text.
    DynamicImport,
    /// An attribute is read whose name is not in the text.
    DynamicAttribute,
    /// Code runs that is made from text.
    Exec,
    /// A changed file that nothing seems to open.
    DataFile,
    /// Settings of the tests or of the package changed.
    Settings,
    /// A source of an extension changed.
    Extension,
    /// A text does not parse, or is too long to be followed.
    Unread,
    /// Such a long text changed.
    UnreadChange,
}

impl DoubtKind {
    /// Whether every test has to run because of it.
    pub fn concerns_all(self) -> bool {
        matches!(self, Self::Settings | Self::Extension | Self::UnreadChange)
    }
}

/// What to select from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionOptions {
    /// The names of files that hold tests, with `*` for anything: pytest's `python_files`.
    pub test_files: Vec<String>,
    /// What the names of test functions begin with: pytest's `python_functions`.
    pub test_functions: Vec<String>,
    /// What the names of test classes begin with: pytest's `python_classes`.
    pub test_classes: Vec<String>,
    /// The files that differ and are not Python.
    pub files: Vec<FileChange>,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        Self {
            test_files: vec!["test_*.py".into(), "*_test.py".into()],
            test_functions: vec!["test".into()],
            test_classes: vec!["Test".into()],
            files: Vec::new(),
        }
    }
}

/// A file that differs and is not Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: Arc<str>,
    pub old: FileContent,
    pub new: FileContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    Absent,
    /// No text, or too long.
    Binary,
    Text(Arc<str>),
}
