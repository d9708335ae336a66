//! What a reproducer is made of, before any of it is put together. Those who decide on it fill these in, and those who
//! write the file read them.

use std::collections::BTreeSet;

use twincell_syntax::PerSide;

use super::equality::Equality;
use super::shape::Shape;

/// What a call raises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raises {
    /// A class that the test names.
    Class(String),
    /// An exception that the test does not compare.
    Anything,
}

/// A test with stand-ins or literals: how its call is made, and what must hold afterwards.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// The expression around the bare call.
    pub shape: Shape,
    /// The exception that the call is expected to raise.
    pub raises: Option<Raises>,
    /// Whether the exception is examined after the call.
    pub caught: bool,
    /// Whether the result needs a name.
    pub result: bool,
    /// Whether the call is made a second time, and the result of that has a name.
    pub again: bool,
    /// Whether the result may be a coroutine that nobody awaits.
    pub closes: bool,
    /// Whether what the code's own functions give, which missing code was handed, needs a name.
    pub called_back: bool,
    /// Whether what the code's own functions give, which it stored, needs a name.
    pub stored: bool,
    /// Whether standard output or error is captured under its name.
    pub output: Vec<&'static str>,
    /// Whether messages to loggers and warnings are recorded.
    pub log: bool,
    /// A statement for each item of the generator that the call gives.
    pub each: Option<String>,
    /// Statements before the call.
    pub before: Vec<String>,
    /// Statements after it.
    pub after: Vec<String>,
    /// The access paths of arguments that are examined after the call.
    pub watched: Vec<String>,
}

/// A test on plain values and mocks: what stands around its call, and what must hold.
#[derive(Default)]
pub(super) struct Test {
    pub before: Vec<String>,
    /// Context managers around the call.
    pub around: Vec<String>,
    /// What must hold of the result.
    pub result: Option<Equality>,
    pub after: Vec<String>,
    /// The arguments that are examined after the call, by path.
    pub watched: BTreeSet<String>,
}

impl Test {
    /// Whether it looks at the result of the call and at nothing else.
    pub(super) fn is_of_result(&self) -> bool {
        self.before.is_empty() && self.around.is_empty() && self.after.is_empty() && self.watched.is_empty()
    }
}

/// A file about a class.
pub(super) struct ClassFile<'a> {
    pub qualname: &'a str,
    /// What the class needs of its module.
    pub module: String,
    /// Names that are injected.
    pub missing: Vec<String>,
    /// Both versions, with their decorators.
    pub texts: PerSide<String>,
    /// The name of the test, and its statements.
    pub test: String,
    pub lines: Vec<String>,
}
