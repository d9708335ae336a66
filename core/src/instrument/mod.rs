//! Source -> instrumented source and its [`SiteTable`].
//!
//! Rewriting is text edits at expression ranges, so that line numbers stay and a complete program behaves the same.
//! Hooks are globals of the instrumented code; none needs a quote or a backslash, so that they can stand in f-strings:
//!
//! | form | replaces | meaning |
//! |---|---|---|
//! | `_tc_a(n, obj)` | `obj.attr` (load) | site `n`, attribute `sites[n].identifier` (private names already mangled) |
//! | `_tc_c(n, f, *args, **kw)` | `f(*args, **kw)` | site `n` |
//! | `_tc_s(n, obj, key)` | `obj[key]` (load) | site `n`; a slice is passed as `slice(a, b, c)` by way of `_tc_k(a, b, c)` |
//! | `_tc_n(n)` | a name in a class body that is bound neither there nor in an enclosing function | site `n` |
//! | `_tc_l(line);` | before a simple statement | the line runs |
//! | `_tc_b(n, condition)` | condition of if, elif, while, ternary, comprehension, guard, assert | branch `n`; gives the truth as a bool |
//! | `_tc_r(value)` | `raise value` -> `raise _tc_r(value)` | the exception is intended |
//! | `_tc_e(value)` | `except value:` | makes a missing exception type usable |
//!
//! Names in function bodies need no hook: a missing global is supplied through the globals' `__missing__`. They are in
//! the table as sites all the same, because predictions are read from them.

use serde::{Deserialize, Serialize};

use crate::site::SiteTable;

/// A function's instrumented text and what the numbers in it mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrumented {
    pub code: String,
    pub sites: SiteTable,
}

/// Why a function could not be instrumented.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InstrumentError(pub String);

/// Instruments one function.
pub fn instrument(function: &crate::source::Function) -> Result<Instrumented, InstrumentError> {
    let _ = function;
    Err(InstrumentError("not there yet".into()))
}
