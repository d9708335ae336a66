//! What is known of tests, as plain data: which there are, and what one run of each did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::PointValues;

/// A test as pytest collected it. Each set of parameters is a test of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// pytest's node id: `tests/test_cart.py::TestCart::test_total[two]`.
    pub id: String,
    /// The file that defines it, relative to the repository, with `/`.
    pub file: String,
    /// The first line of its definition, decorators included, from 1. 0 where pytest does not know it.
    pub line: u32,
    /// Its name in the file, without parameters: `TestCart.test_total`.
    pub function: String,
    pub kind: TestKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// A function, or a method of a plain class.
    Function,
    /// A method of a `unittest.TestCase`.
    Unittest,
    Doctest,
    /// Whatever else a plugin collects.
    Other,
}

/// A file or folder that pytest could not collect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionError {
    /// pytest's node id of what failed, usually the file.
    pub id: String,
    /// The class of the exception that kept it from being imported, as in [`Failure`]. Empty where nobody knows.
    pub exception: String,
    /// The last line of the error.
    pub message: String,
}

/// One run of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestRecord {
    pub id: String,
    pub outcome: Outcome,
    /// Why it did not pass. Absent for tests that passed or that were skipped without a word.
    pub failure: Option<Failure>,
    /// The time of its set-up, call and teardown.
    pub seconds: f64,
    /// For each covered file, the lines that ran, in ascending order. Empty if coverage was not requested. Lines that ran
    /// when modules were imported belong to no test.
    #[serde(default)]
    pub lines: BTreeMap<String, Vec<u32>>,
    /// What calls of `__twincell_observe__` saw, in their order.
    #[serde(default)]
    pub observations: Vec<Observation>,
    /// What covered files compared, each pair once, in their order. Empty if it was not asked for.
    #[serde(default)]
    pub operands: Vec<Operands>,
    /// What values watched functions had, by point. Empty if none was watched.
    #[serde(default)]
    pub values: Vec<PointValues>,
    /// The files of the checkout that it opened: what it imports late, and data. Relative to the checkout, with `/`. `None` where
    /// nobody knows, such as after it has started another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    /// Its set-up or its teardown failed.
    Error,
    Skipped,
    /// It failed, as it says it would.
    XFailed,
    /// It passed, although it says it would fail.
    XPassed,
    /// It took longer than its limit and was killed.
    TimedOut,
    /// Its process ended in the middle of it.
    Crashed,
    /// pytest does not find it, or cannot collect its file.
    NotFound,
}

impl Outcome {
    /// Whether plain pytest would go on as if all is well.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Passed | Self::Skipped | Self::XFailed | Self::XPassed)
    }

    /// Whether the test itself came to it. One slow or crowded moment is enough for the others, and another run may differ.
    pub fn is_lasting(self) -> bool {
        !matches!(self, Self::TimedOut | Self::Crashed | Self::NotFound)
    }
}

/// Why a test did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exception's class with its module, `builtins` left out: `AssertionError`, `shop.errors.NoStock`.
    pub exception: String,
    /// Its message, cut.
    pub message: String,
    /// Where it was raised: a path relative to the repository, or absolute outside of it. Empty where nobody knows.
    pub file: String,
    pub line: u32,
    /// The line of the test's own file that was running, if one was.
    pub test_line: Option<u32>,
    /// Whether an assertion failed: an `AssertionError` or a failure that pytest declares, such as "did not raise".
    pub assertion: bool,
}

/// Two values that the code under test compared and that are not the same: numbers, texts or bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operands {
    /// The covered file.
    pub file: String,
    pub line: u32,
    pub relation: Relation,
    pub left: Observed,
    pub right: Observed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Equal,
    Order,
    /// An item and one of those among which it is looked for, or a text and a part.
    Member,
    /// A text and its possible start.
    Start,
    /// A text and its possible end.
    End,
}

/// What was seen at one point of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The number that the call of `__twincell_observe__` passed.
    pub point: u32,
    pub seen: Seen,
    pub value: Observed,
}

/// What has an observed value. All but variables are what was said since the point before, and absent where nothing was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A local variable, by its name.
    Local(String),
    /// What was written to standard output, as a text.
    Output,
    /// What was written to standard error, as a text.
    ErrorOutput,
    /// Messages that reached the root logger, as a list of texts.
    Messages,
    /// Warnings that were shown, as a list of pairs: the dotted class and the text.
    Warnings,
}

/// A Python value as plain data. It is bounded in depth, in items and in characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    None,
    Bool(bool),
    /// In decimal.
    Int(String),
    /// As `repr` writes it.
    Float(String),
    Complex(String),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Observed>),
    Tuple(Vec<Observed>),
    /// In the order of their written form, since sets have none.
    Set(Vec<Observed>),
    FrozenSet(Vec<Observed>),
    Dict(Vec<(Observed, Observed)>),
    /// A class, a function or a module, by its dotted name.
    Named {
        kind: NamedKind,
        name: String,
    },
    /// A member of an enumeration: the class by its dotted name, and the member.
    Member {
        class: String,
        name: String,
    },
    /// A value of a class that is none of the above.
    Object {
        /// The dotted name of its class.
        class: String,
        /// What was asked of it: `.attribute`, `.method()`, `len()`, `str()`, `repr()`, `bool()`, and the answer.
        fields: Vec<(String, Observed)>,
    },
    /// The question raised: the exception's dotted class, and its message.
    Raised {
        class: String,
        message: String,
    },
    /// Here a bound was reached. What is behind it is unknown.
    Cut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedKind {
    Class,
    Function,
    Module,
}
