//! Source -> instrumented source and its [`SiteTable`].
//!
//! Rewriting is text edits at expression ranges, so that line numbers stay and a complete program behaves the same.
//! Hooks are globals of the instrumented code. None needs a quote or a backslash, so that they can stand in f-strings:
//!
//! | form | replaces | meaning |
//! |---|---|---|
//! | `_tc_a(n, obj)` | `obj.attr` (load) | site `n`, attribute `sites[n].identifier` (private names already mangled) |
//! | `_tc_c(n, f, *args, **kw)` | `f(*args, **kw)` | site `n` |
//! | `_tc_s(n, obj, key)` | `obj[key]` (load) | site `n`; a slice is passed as `slice(a, b, c)` by way of `_tc_k(a, b, c)` |
//! | `_tc_n(n)` | a name in a class body that is bound neither there nor in an enclosing function | site `n` |
//! | `_tc_v(n, name)` | `name` (load), only in modules whose values are recorded | site `n` |
//! | `_tc_l(line);` | before a simple statement | the line runs; gives None (the body of a function that is a lambda becomes `_tc_l(line) or (body)`, and so does what `for`, `with`, `match` and `except` evaluate first) |
//! | `_tc_b(n, condition)` | condition of if, elif, while, ternary, comprehension, guard, assert | branch `n`; gives the truth as a bool; counts as the branch's line |
//! | `_tc_q(n, op, left, right)` | `left OP right`, a single comparison, not a chain | comparison `n`; `op` as [`crate::site::Comparator`] numbers them |
//! | `_tc_r(value)` | `raise value` -> `raise _tc_r(value)` | the exception is intended |
//! | `_tc_e(value)` | `except value:` | makes a missing exception type usable |
//! | `_tc_t();`, `_tc_w((value))` | in the module around: the beginning of a function, the test of a `while` | counts a step ([`steps`]) |
//!
//! Names in function bodies need no hook: the globals' `__missing__` supplies a missing global. They are nevertheless
//! sites of the table, because predictions are read from them. Where values are recorded ([`recorded`]), names report
//! too.
//!
//! The text loses its class and its enclosing function, so:
//! - private names of the class around it are written mangled (`self.__x` -> `self._C__x`);
//! - `nonlocal x` becomes `global x` where no enclosing function is left that binds `x`;
//! - annotations of parameters, results and locals are dropped (`x: T = 1` -> `x = 1`, `x: T` -> `x: None`): they have
//!   no effect on behavior and name what is not there. Those in class bodies stay, hooked, since `dataclass` reads them.
//!
//! These are left alone: patterns of `match` (their names are sites), the expression of `{x=}` in an f-string (its text
//! is its value; its names are sites), t-strings, type parameters and type aliases, and decorators of the function
//! itself. `super()` becomes `_tc_c(n, super)`. The hook is native and has no frame, and the name `super` stays, so a
//! class inside the function has its `__class__` cell.

mod edits;
mod expressions;
mod module;
mod path;
mod recorded;
mod statements;
mod steps;
mod tokens;
mod visitor;

use ruff_python_ast::{Expr, Stmt};
use serde::{Deserialize, Serialize};

pub use path::written_path;
pub use recorded::{Recorded, RecordedFunction, recorded};
pub use steps::count_steps;

use crate::parse::{Lines, errors, normalize_newlines, parse, with_stack_for};
use crate::site::SiteTable;
use crate::{CodeKind, Function};

/// The instrumented text of a function, and the meaning of its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrumented {
    pub code: String,
    pub sites: SiteTable,
}

/// Why a function could not be instrumented.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InstrumentError(pub String);

/// Instruments one function, snippet or class.
pub fn instrument(function: &Function) -> Result<Instrumented, InstrumentError> {
    instrument_all(&[function], "")
}

/// Instruments a function and others below it under one table, as one text, one after the other. `module` is the text
/// evaluated before them; its imports tell what names mean.
pub fn instrument_all(functions: &[&Function], module: &str) -> Result<Instrumented, InstrumentError> {
    let text: String = functions.iter().map(|function| function.text.as_str()).collect();
    with_stack_for(text.len().max(module.len()), || instrument_text(&text, functions, module))
}

/// Instruments every function of a whole module under one table of sites, methods and nested functions included. Code
/// that runs when the module is imported stays unchanged. So do annotations, which belong to such functions.
pub fn instrument_module(text: &str) -> Result<Instrumented, InstrumentError> {
    whole_module(&normalize_newlines(text), false)
}

fn whole_module(text: &str, reports_names: bool) -> Result<Instrumented, InstrumentError> {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let lines = Lines::new(text);
        if let Some(error) = errors(&parsed, &lines).first() {
            return Err(InstrumentError(format!("the module is not valid Python: {error}")));
        }
        let mut visitor = visitor::Instrumenter::new(text, &lines, parsed.tokens());
        visitor.reports_names = reports_names;
        visitor.module(parsed.suite());
        checked(visitor.finish()?, "the module")
    })
}

fn instrument_text(text: &str, functions: &[&Function], module: &str) -> Result<Instrumented, InstrumentError> {
    let parsed = parse(text);
    let lines = Lines::new(text);
    let name = functions.first().map_or("", |function| &function.qualname);
    if let Some(error) = errors(&parsed, &lines).first() {
        return Err(InstrumentError(format!("{name} is not valid Python: {error}")));
    }
    let mut visitor = visitor::Instrumenter::new(text, &lines, parsed.tokens());
    if module.contains("suppress as ") {
        let imports = parse(module);
        let imports = imports.suite().iter().filter_map(Stmt::as_import_from_stmt);
        visitor.suppressors.extend(imports.flat_map(statements::suppressors));
    }
    match functions {
        [snippet] if snippet.kind == CodeKind::Snippet => visitor.snippet(parsed.suite()),
        _ if parsed.suite().len() == functions.len() => {
            for (stmt, function) in parsed.suite().iter().zip(functions) {
                visitor.outer_class = function.class_name.as_deref();
                one(&mut visitor, stmt, function)?;
            }
        }
        _ => return Err(not_one(name)),
    }
    checked(visitor.finish()?, name)
}

fn one<'a>(
    visitor: &mut visitor::Instrumenter<'a>,
    stmt: &'a Stmt,
    function: &Function,
) -> Result<(), InstrumentError> {
    match stmt {
        Stmt::FunctionDef(definition) => visitor.function(definition),
        Stmt::ClassDef(class) if function.kind == CodeKind::Class => visitor.class(class),
        Stmt::Assign(assign) if assign.value.is_lambda_expr() => {
            visitor.assigned_lambda(&assign.targets, &assign.value);
        }
        Stmt::AnnAssign(assign) if assign.value.as_deref().is_some_and(Expr::is_lambda_expr) => {
            visitor.annotated_lambda(assign);
        }
        _ => return Err(not_one(&function.qualname)),
    }
    Ok(())
}

fn not_one(name: &str) -> InstrumentError {
    InstrumentError(format!("{name} is not one function definition: give def, async def or NAME = lambda"))
}

/// Reports an instrumented text that does not parse, which would otherwise fail later and far from here.
fn checked((code, sites): (String, SiteTable), what: &str) -> Result<Instrumented, InstrumentError> {
    let again = parse(&code);
    if let Some(error) = errors(&again, &Lines::new(&code)).first() {
        return Err(InstrumentError(format!(
            "{what} could not be instrumented ({error} in the result): please report it with the text"
        )));
    }
    Ok(Instrumented { code, sites })
}
