//! Value sites and the other numbered places of an instrumented function.
//!
//! Instrumented code reports everything to the runtime by number. The [`SiteTable`] says what a number means. Ranges
//! are byte offsets into the function's text as [`crate::Function::text`] holds it (dedented, without decorators),
//! which is also the text that a predictor reads.

use serde::{Deserialize, Serialize};

/// The four kinds of expressions whose value may be missing (ChangeGuard, LExecutor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteKind {
    Name,
    Attribute,
    Call,
    Subscript,
}

/// One value site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    pub kind: SiteKind,
    /// The byte range of the expression in the function's text, end exclusive.
    pub start: u32,
    pub end: u32,
    /// The 1-based line in the function's text on which the expression starts.
    pub line: u32,
    /// The identifier that is looked up: the name or the attribute; for a call, the callee's last identifier; for a
    /// subscript, the container's last identifier. It is empty if there is none, as in `f()()`.
    pub identifier: String,
    /// The expression's text with normalised white space. It is the static access path, e.g. `request.meta['retries']`.
    pub path: String,
    /// The dotted names that `except` clauses around this site catch, innermost first, if the site is in a `try` body.
    /// A bare `except` counts as `Exception`. Only handlers within the same function count.
    pub catches: Vec<String>,
    /// For a call: whether its value is unused (the call is a whole expression statement, also when awaited).
    pub discarded: bool,
}

/// The construct that decides a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchKind {
    If,
    While,
    Ternary,
    Comprehension,
    Guard,
    Assert,
}

/// A condition that is reported with its truth value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub kind: BranchKind,
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

/// Methods and functions whose answer reveals the content of a text or container. Calls of them are observed.
pub const TELLING_CALLS: [&str; 7] =
    ["startswith", "endswith", "match", "fullmatch", "search", "isdisjoint", "issubset"];

/// The operator of a comparison. The numbers are those that instrumented code passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparator {
    Eq = 0,
    NotEq = 1,
    Lt = 2,
    LtE = 3,
    Gt = 4,
    GtE = 5,
    In = 6,
    NotIn = 7,
    Is = 8,
    IsNot = 9,
}

impl Comparator {
    pub fn of(op: ruff_python_ast::CmpOp) -> Self {
        use ruff_python_ast::CmpOp;
        match op {
            CmpOp::Eq => Comparator::Eq,
            CmpOp::NotEq => Comparator::NotEq,
            CmpOp::Lt => Comparator::Lt,
            CmpOp::LtE => Comparator::LtE,
            CmpOp::Gt => Comparator::Gt,
            CmpOp::GtE => Comparator::GtE,
            CmpOp::In => Comparator::In,
            CmpOp::NotIn => Comparator::NotIn,
            CmpOp::Is => Comparator::Is,
            CmpOp::IsNot => Comparator::IsNot,
        }
    }

    pub const ALL: [Comparator; 10] = [
        Comparator::Eq,
        Comparator::NotEq,
        Comparator::Lt,
        Comparator::LtE,
        Comparator::Gt,
        Comparator::GtE,
        Comparator::In,
        Comparator::NotIn,
        Comparator::Is,
        Comparator::IsNot,
    ];
}

/// A comparison of two operands. Chains (`a < b < c`) do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub comparator: Comparator,
    /// The byte range in the function's text.
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

/// The meaning of the numbers in one instrumented function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Indexed by the number passed to the site hooks.
    pub sites: Vec<Site>,
    /// Indexed by the number passed to the branch hook.
    pub branches: Vec<Branch>,
    /// Indexed by the number passed to the hook of comparisons.
    pub comparisons: Vec<Comparison>,
    /// The 1-based lines of the function's text whose code reports when it runs, ascending, each once.
    pub lines: Vec<u32>,
    pub yields: Yields,
    /// The sites whose failure runs more code of the same function before it leaves it, ascending, each with a
    /// fingerprint of that code: the `finally` clauses and the `with` statements around it.
    pub cleanups: Vec<(u32, u64)>,
}

impl SiteTable {
    /// The fingerprint of what runs after a failure at a site, if anything does.
    pub fn cleanup(&self, site: usize) -> Option<u64> {
        let at = self.cleanups.binary_search_by_key(&site, |(own, _)| *own as usize).ok()?;
        Some(self.cleanups[at].1)
    }
}

/// How a generator uses what its consumer does at a `yield`, besides asking for the next item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yields {
    /// The dotted names of exceptions that have an effect when they are thrown in: those that handlers around a `yield`
    /// name, and `Exception` where a `finally` or a `with` is around one.
    pub thrown: Vec<String>,
    /// Whether the value of some `yield` is used, so that the value sent in matters.
    pub sent: bool,
}
