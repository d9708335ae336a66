//! What a test does and what must hold then, as data: which value of the test is compared with what. `checks.rs` and
//! `direct.rs` decide on it, and `assertions.rs` writes it.

use std::collections::BTreeSet;

use twincell_syntax::PerSide;

use super::equality::Equality;
use super::python;
use super::shape::Shape;

/// A test: how its call is made, and what must hold.
#[derive(Debug, Default)]
pub(super) struct TestPlan {
    /// The expression around the bare call.
    pub shape: Shape,
    /// The exception that the call is expected to raise.
    pub raises: Option<Raises>,
    /// Whether the call is made a second time, and the result of that has a name.
    pub again: bool,
    /// The access paths of arguments that are examined after the call, and so have a name.
    pub watched: BTreeSet<String>,
    pub checks: Vec<Check>,
}

/// What a call raises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raises {
    /// A class that the test names.
    Class(String),
    /// An exception that the test does not compare.
    Anything,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Check {
    /// A value is as the old version left it.
    Equal(Operand, Equality),
    /// Whether two values are one object.
    Identical(Operand, Operand, bool),
    /// Whether the second call gives what the first one gave.
    Repeats(bool),
    /// A value and what it was before the call, by `==`, `is` or `is not`.
    WithBefore(Operand, &'static str),
    /// A key, as source, is not in a container.
    Absent(String, Operand),
    NoAttribute(Operand, String),
    /// Whether the result is a coroutine, which nobody awaits.
    Coroutine(bool),
    /// A method of a mock says how it was called, with arguments as source.
    MockCalled {
        mock: Operand,
        how: &'static str,
        arguments: Vec<String>,
    },
    /// What is found each time, as source.
    EachTime {
        when: Moment,
        found: Operand,
        expected: Vec<String>,
        starts_equal: bool,
    },
}

/// When a test looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    /// At calls of a stand-in.
    Call(String),
    /// At calls of a mock.
    MockCall(Operand),
    /// When an iterator gives an item.
    Item,
}

/// A value that a test looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Result,
    /// The result of the second call.
    Again,
    /// The exception that was raised, with its context.
    Caught,
    /// What the code's own functions gave, which missing code was handed.
    CalledBack,
    /// What the code's own functions gave, which it stored.
    Stored,
    /// Standard output or error.
    Output(&'static str),
    /// Messages to loggers and warnings.
    Log,
    /// The calls of these callees, or all calls.
    Calls(Vec<String>),
    /// The number of calls of these callees.
    CallCount(Vec<String>),
    /// A global of the version, or None.
    Global(String),
    /// The recorded answer for an access path.
    Answer(String),
    /// A file that a call is given, by the position of the argument.
    File(usize),
    /// What is in a file of the working folder after the call, by its path.
    Written(String),
    /// A variable of the test, and the steps from there.
    Named(String),
    /// What follows an operand: `.args`, `['a']`.
    Step(Box<Operand>, String),
    /// What a function of one argument gives.
    Applied(&'static str, Box<Operand>),
    /// Whether a key, as source, is in a container.
    Contains(String, Box<Operand>),
    /// Whether a value is as expected.
    Holds(Box<Operand>, Equality),
}

impl Operand {
    pub(super) fn step(self, step: impl Into<String>) -> Self {
        Self::Step(Box::new(self), step.into())
    }

    pub(super) fn applied(self, function: &'static str) -> Self {
        Self::Applied(function, Box::new(self))
    }

    /// What the code assigned to a stand-in at a place.
    pub(super) fn assigned(object: Self, place: &str) -> Self {
        object.applied("assigned").step(format!(".get({})", python::string(&python::masked(place))))
    }

    /// The value that it starts from.
    fn root(&self) -> &Self {
        match self {
            Self::Step(inner, _) | Self::Applied(_, inner) | Self::Contains(_, inner) | Self::Holds(inner, _) => {
                inner.root()
            }
            own => own,
        }
    }
}

impl Check {
    fn looks_at(&self, operand: &Operand) -> bool {
        match self {
            Self::Equal(own, _) | Self::WithBefore(own, _) | Self::Absent(_, own) | Self::NoAttribute(own, _) => {
                own.root() == operand
            }
            Self::Identical(one, other, _) => one.root() == operand || other.root() == operand,
            Self::Coroutine(_) => *operand == Operand::Result,
            Self::Repeats(_) | Self::MockCalled { .. } | Self::EachTime { .. } => false,
        }
    }
}

impl TestPlan {
    /// Whether some check looks at this value, which then needs a name.
    pub(super) fn looks_at(&self, operand: &Operand) -> bool {
        self.checks.iter().any(|check| check.looks_at(operand))
    }

    pub(super) fn compare(&mut self, operand: Operand, equality: Equality) {
        self.checks.push(Check::Equal(operand, equality));
    }

    /// What must hold of the result, if nothing else is looked at.
    pub(super) fn of_result(&self) -> Option<&Equality> {
        match self.checks.as_slice() {
            [Check::Equal(Operand::Result, equality)] if self.raises.is_none() && self.watched.is_empty() => {
                Some(equality)
            }
            _ => None,
        }
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
