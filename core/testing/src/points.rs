//! What values the project's functions had when they began and ended, as bounded plain data.

use serde::{Deserialize, Serialize};

/// A function whose values are recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WatchedFunction {
    /// The file, from the root of the repository, with `/`.
    pub file: String,
    /// The qualified name in it: `Cart.total`, `outer.<locals>.inner`.
    pub function: String,
}

/// Where a value was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Point {
    pub file: String,
    pub function: String,
    pub variable: Variable,
}

/// What had the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variable {
    /// A parameter, when the function begins.
    Parameter(String),
    /// What the function returns.
    Returned,
    /// An attribute of `self`, when a method ends.
    Attribute(String),
}

/// The different values at a point while one test ran, the first few of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointValues {
    pub point: Point,
    pub values: Vec<Value>,
}

/// A value that was seen. Nothing of the value's class ran for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A short text.
    Text(String),
    /// A container or a longer text: its type and its length.
    Sized {
        class: String,
        length: u64,
    },
    /// Anything else, by its type.
    Object {
        class: String,
    },
}
