//! Text -> trees: the content of a Python text, the differences between two texts, and the sites of missing values.
//!
//! A text becomes [`Function`]s ([`functions()`]). The functions of two texts are matched into a [`Pairing`]
//! ([`pair`]), and the two of a pair differ by a [`Diff`] ([`diff()`]). [`instrument`] rewrites a function so that it
//! reports its actions by number, and the [`site::SiteTable`] says what the numbers mean. An [`Index`] says which part
//! of a text uses which other.
//!
//! Parsing gives a tree and errors. It never panics and never stops at the first error. Instrumentation keeps line
//! numbers. Deliberately absent: values, predictions, and anything that runs.
//!
//! ```
//! use twincell_syntax::{diff, functions, instrument::instrument};
//!
//! let (old, errors) = functions("def price(item, tax):\n    total = item.price\n    return total * tax\n");
//! let (new, _) = functions("def price(item, tax):\n    sum = item.price\n    return sum + tax\n");
//! assert!(errors.is_empty());
//!
//! let found = diff(&old[0], &new[0]);
//! assert_eq!((found.lines.old, found.lines.new), (vec![3], vec![3]));
//! assert_eq!(found.renames, [("sum".to_string(), "total".to_string())]);
//!
//! let instrumented = instrument(&old[0])?;
//! let paths: Vec<&str> = instrumented.sites.sites.iter().map(|site| site.path.as_str()).collect();
//! assert_eq!(paths, ["item.price", "item", "total", "tax"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod align;
mod attributes;
mod bound;
mod cells;
mod complexity;
mod defaults;
mod diff;
mod dotted;
mod functions;
mod guards;
mod imports;
mod index;
pub mod instrument;
mod kind;
mod labels;
mod nesting;
mod normalize;
mod notebook;
mod pairing;
pub mod parse;
mod properties;
pub mod python;
mod queries;
mod renames;
mod replacing;
pub mod scopes;
mod side;
mod similar_names;
pub mod site;
mod size;
mod snippet;
mod texts;
mod unpacked;

pub use attributes::{attribute_renames, private_attributes};
pub use cells::{CellContext, CellName, EarlierCells, UsedNames, defined_names, used_names};
pub use complexity::complexity;
pub use defaults::has_lasting_defaults;
pub use diff::{diff, diff_renamed, rows, same_tree, unaligned_diff};
pub use dotted::dotted;
pub use functions::{classes, functions};
pub use guards::{Guard, Tested, guards, tests_other_truths};
pub use imports::{Import, absolute_imports, imported_modules, imports, imports_others, modules_imported_anywhere};
pub use index::{Class, Index, attribute_names, changed_entities, global_names};
pub use kind::{ChangeKind, change_kind};
pub use nesting::{Nesting, TooDeep, too_deep};
pub use notebook::{cell_code, plain_python, runs_python, without_escapes};
pub use pairing::{function_renames, pair};
pub use properties::{Wrapped, wrapped_attributes};
pub use queries::{EVALUATORS, names_in_query};
pub use replacing::{AfterCells, Replacing, replacing};
pub use side::{PerSide, Side};
pub use similar_names::similar_names;
pub use size::size;
pub use snippet::{SNIPPET, Snippet, snippet, without_definitions};
pub use texts::texts;
pub use unpacked::unpacked_splits;

use serde::{Deserialize, Serialize};

/// Where and why a text is not Python.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SourceError {
    pub message: String,
    /// 1-based, in the given text.
    pub line: u32,
    pub column: u32,
}

/// Which kind of code a piece of text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeKind {
    /// `def`, `async def`, or a lambda bound to a name.
    #[default]
    Function,
    /// Statements that run as they stand, as in a notebook cell.
    Snippet,
    /// A whole class, without its decorators.
    Class,
}

/// A function found in a text: `def`, `async def`, or a lambda bound to a name. Snippets and classes have this type,
/// too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// `f`, `Session.auth`, `main.<locals>.log_error`. The second function of the same name in a text is `f#2`;
    /// those that a later definition replaces are counted last.
    pub qualname: String,
    pub name: String,
    /// The innermost class whose body holds the function, directly or in another function.
    pub class_name: Option<String>,
    /// The qualified name of the enclosing function, for nested functions.
    pub parent: Option<String>,
    /// The text without decorators, dedented, ending in a newline.
    pub text: String,
    /// The 1-based line of `def` in the original text, so that `first_line + n - 1` is the line of text line `n`.
    pub first_line: u32,
    pub parameters: Vec<Parameter>,
    pub decorators: Vec<String>,
    pub is_async: bool,
    pub is_generator: bool,
    #[serde(default)]
    pub kind: CodeKind,
}

impl Function {
    /// The qualified name without the number of a duplicate: what the module binds.
    pub fn entity(&self) -> &str {
        entity(&self.qualname)
    }
}

/// The name that a module binds, of a qualified name that may have the number of a duplicate.
pub fn entity(qualname: &str) -> &str {
    qualname.split('#').next().unwrap_or(qualname)
}

/// The functions of two texts, matched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    pub pairs: Vec<(Function, Function)>,
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

/// The differences between the two functions of a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// Whether both are the same program once comments, docstrings, annotations and names of locals and parameters are
    /// dropped.
    pub identical: bool,
    /// The 1-based lines in each function's text that hold a structural difference, ascending.
    pub lines: PerSide<Vec<u32>>,
    /// Both texts side by side, line by line, as 0-based line indices.
    pub rows: Vec<AlignedRow>,
    /// The renamed parameters and locals as (name in new, name in old).
    pub renames: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    PositionalOnly,
    Positional,
    VarPositional,
    KeywordOnly,
    VarKeyword,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterKind,
    pub has_default: bool,
    /// The text of the annotation, if any.
    pub annotation: Option<String>,
}

/// One row of the two versions side by side: indices into the versions' `lines`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignedRow {
    pub old: Option<u32>,
    pub new: Option<u32>,
}
