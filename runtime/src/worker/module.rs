//! Module context: the module of a function, evaluated statement by statement.
//!
//! Statements that cannot be evaluated here are skipped and noted. Their names are then missing, and injected when code
//! asks for them.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyCodeMethods, PyDict, PyFunction, PyModule, PyTuple, PyType};

use twincell_engine::protocol::{Body, Companion, Context, Unevaluated, Version};
use twincell_syntax::scopes::mangle;

use crate::execution::code::FILE_NAME;
use crate::execution::namespaces;
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::observe;
use crate::worker::tree::Tree;

/// The maximum number of failing statements of a module that are reported.
const MAX_UNEVALUATED: usize = 20;

/// The file name of the worker's own code in Python.
pub(crate) const HELPERS_FILE: &str = "twincell_helpers.py";

static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Makes what is made on first use: here it is made once for all forks of this process.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let helpers = helpers(py)?;
    helpers.getattr("statements")?.call1(("import sys\nNAME = [sys]\n",))?;
    helpers.getattr("function")?.call1(("def function(a):\n    return a\n",))?;
    helpers.getattr("snippet")?.call1(("1",)).map(drop)
}

/// Small parts that are best written in Python: splitting a module, driving coroutines.
const SOURCE: &std::ffi::CStr = cr"
import ast, gc, __future__

# What is compiled for all processes that are forked from this one, by kind and text.
_kept = {}

def _compiler(make):
    def compiled(source, keep=False):
        key = make.__name__, source
        found = _kept.get(key)
        if found is None:
            # This makes many objects and no garbage, so collections only take time.
            enabled = gc.isenabled()
            gc.disable()
            try:
                found = make(source)
            finally:
                if enabled:
                    gc.enable()
            if keep:
                _kept[key] = found
        return found
    return compiled

def _falls_back(node):
    # Another import stands in where one fails: then it is better to let it fail than to make a module up.
    return isinstance(node, ast.Try) and any(
        isinstance(inner, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
        for handler in node.handlers for inner in handler.body
    )

@_compiler
def statements(source):
    tree = ast.parse(source)
    found = []
    flags = __future__.annotations.compiler_flag
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == '__future__':
            continue
        module = ast.Module([node], [])
        try:
            code = compile(module, '<twincell module>', 'exec', flags, True)
        except SyntaxError:
            # In a cell of a notebook, `await` may stand outside of functions.
            code = compile(module, '<twincell module>', 'exec', flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        found.append((node.lineno, code, _falls_back(node)))
    return tuple(found)

def evaluate(code, names):
    if code.co_flags & inspect.CO_COROUTINE:
        run(eval(code, names))
    else:
        exec(code, names)

@_compiler
def function(source):
    return compile(source, '<twincell>', 'exec', 0, True)

@_compiler
def method(source):
    # The class around it gives `super()` the cell that it reads. A name without letters changes no private name.
    around, = ast.parse('class _: pass').body
    around.body = ast.parse(source).body
    code = compile(ast.Module([around], []), '<twincell>', 'exec', 0, True)
    return next(inner for inner in code.co_consts if inspect.iscode(inner))

@_compiler
def snippet(source):
    tree = ast.parse(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        result = ast.Assign([ast.Name('_tc_result', ast.Store())], last.value)
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(result, last))
    return compile(tree, '<twincell>', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)

import inspect

def parameters(of):
    try:
        found = inspect.signature(of).parameters.values()
    except (TypeError, ValueError):
        return []
    return [(one.name, int(one.kind), one.default is not one.empty) for one in found]

def members(enum):
    return {name: member.value for name, member in enum.__members__.items()}

import copy, itertools, operator, re

class _Probe(Exception):
    pass

def _holds_back(one):
    try:
        with one:
            raise _Probe
    except _Probe:
        return False
    return True

def _text(text):
    # Where an object lies in memory is not behavior.
    return re.sub(r' at 0x[0-9a-fA-F]+', '', text)

# Operations on one object, by the special method that each asks for first.
_OPERATIONS = {
    '__bool__': bool,
    '__len__': len,
    '__iter__': lambda one: list(itertools.islice(iter(one), 20)),
    '__next__': next,
    '__contains__': lambda one: None in one,
    '__getitem__': lambda one: one[0],
    '__setitem__': lambda one: operator.setitem(one, 0, None),
    '__delitem__': lambda one: operator.delitem(one, 0),
    '__call__': callable,
    '__enter__': _holds_back,
    '__copy__': copy.copy,
    '__deepcopy__': copy.deepcopy,
    '__getattr__': lambda one: one.an_attribute_of_no_class,
    '__str__': lambda one: _text(str(one)) + _text(repr(one)),
    '__format__': lambda one: _text(format(one)),
    '__reversed__': lambda one: list(itertools.islice(reversed(one), 20)),
    '__int__': int,
    '__float__': float,
    '__index__': operator.index,
    '__abs__': abs,
    '__neg__': operator.neg,
    '__invert__': operator.invert,
}
# Operators between two objects.
_OPERATORS = {
    f'__{name}__': getattr(operator, name + '_' if name in ('and', 'or') else name)
    for name in (
        'le', 'ge', 'add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'pow', 'matmul', 'and', 'or', 'xor', 'lshift',
        'rshift',
    )
}

def is_operator(name):
    return name in _OPERATORS

def operate(name, one, other):
    return _OPERATORS[name](one, other) if name in _OPERATORS else _OPERATIONS[name](one)

import asyncio

from twincell_clock import new_loop

_loop = new_loop()

def run(awaitable):
    global _loop
    if _loop.is_closed():
        _loop = new_loop()
    async def main():
        return await awaitable
    try:
        return _loop.run_until_complete(main())
    finally:
        for task in asyncio.all_tasks(_loop):
            task.cancel()

def collect(generator, count, respond):
    # `respond` tells what the consumer does after an item: the value that it sends, and the exception that it throws.
    async def items():
        found = []
        sent, thrown = None, None
        try:
            while True:
                step = generator.asend(sent) if thrown is None else generator.athrow(thrown)
                found.append(await step)
                sent, thrown = respond(len(found))
                if len(found) >= count:
                    break
        except StopAsyncIteration:
            return found, True, None
        except BaseException as error:
            return found, True, error
        try:
            await generator.aclose()
        except BaseException:
            # Code may refuse to stop. Its clean-up is not part of the comparison.
            pass
        return found, False, None
    return run(items())
";

pub(crate) fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    Ok(HELPERS
        .get_or_try_init(py, || {
            PyModule::from_code(py, SOURCE, c"twincell_helpers.py", c"twincell_helpers").map(Bound::unbind)
        })?
        .bind(py))
}

/// Compiles the texts that a version runs in its context for all processes that are forked from this one. What has an error
/// says so where it is needed.
pub(crate) fn keep(py: Python<'_>, version: &Version, context: Context) -> PyResult<()> {
    let module = if context == Context::Module { &version.module } else { &version.alone };
    let code = if matches!(version.body, Body::Snippet { .. }) { "snippet" } else { "function" };
    let companions = version.companions.iter().map(|companion| (compiler(companion), &companion.code));
    let helpers = helpers(py)?;
    for (compiler, text) in [("statements", module), (code, &version.code)].into_iter().chain(companions) {
        let _ = helpers.getattr(compiler)?.call1((text, true));
    }
    Ok(())
}

/// What compiles a companion: one that names its class closes over it.
fn compiler(companion: &Companion) -> &'static str {
    let is_method = companion.qualname.contains('.');
    let names_class = || companion.code.contains("super") || companion.code.contains("__class__");
    if is_method && names_class() { "method" } else { "function" }
}

/// Compiles a function's instrumented text.
pub(crate) fn compile_function<'py>(py: Python<'py>, code: &str) -> PyResult<Bound<'py, PyAny>> {
    helpers(py)?.getattr("function")?.call1((code,))
}

/// Compiles a snippet's instrumented text, which binds the value of its last expression to `_tc_result`.
pub(crate) fn compile_snippet<'py>(py: Python<'py>, code: &str) -> PyResult<Bound<'py, PyAny>> {
    helpers(py)?.getattr("snippet")?.call1((code,))
}

/// Gives functions of the evaluated module, and of others of its project, the instrumented code of their companions, so
/// that they are observed. A function that is not found, or whose code cannot be replaced, stays as it is.
pub(crate) fn install(globals: &Bound<'_, PyDict>, tree: Option<&Tree>, companions: &[Companion]) -> PyResult<()> {
    let py = globals.py();
    for companion in companions {
        let of_other = match &companion.module {
            Some(dotted) => {
                let Some(names) = tree.and_then(|tree| tree.names(py, dotted)) else { continue };
                Some(names)
            }
            None => None,
        };
        let globals = of_other.as_ref().unwrap_or(globals);
        let definition = helpers(py)?.getattr(compiler(companion))?.call1((&companion.code,))?;
        // As Python spells a private name within its class.
        let class = companion.qualname.rsplit('.').nth(1);
        let spelled = mangle(&companion.name, class);
        let is_own = |constant: &Bound<'_, PyAny>| {
            let name = constant.getattr("co_name").and_then(|name| name.extract::<String>());
            name.is_ok_and(|name| name == spelled)
        };
        let constants = definition.getattr("co_consts")?.cast_into::<PyTuple>()?;
        let Some(code) = constants.iter().find(is_own) else { continue };
        match function_at(globals, &companion.qualname) {
            Some(function) => {
                // Python refuses this if the function closes over other variables. Then it runs unobserved.
                let _ = function.setattr("__code__", code);
            }
            None if companion.module.is_none() && !companion.qualname.contains('.') => {
                definition.cast_into::<PyCode>()?.run(Some(globals), None)?;
            }
            None => {}
        }
    }
    Ok(())
}

/// The plain function with a qualified name, without its decorators.
fn function_at<'py>(globals: &Bound<'py, PyDict>, qualname: &str) -> Option<Bound<'py, PyAny>> {
    let mut parts = qualname.split('.');
    let mut class = parts.next()?;
    let mut found = globals.get_item(class).ok()??;
    for part in parts {
        // Through the namespace, since access by attribute would bind.
        found = found.getattr("__dict__").ok()?.get_item(mangle(part, Some(class))).ok()?;
        class = part;
    }
    for _ in 0..8 {
        if found.is_exact_instance_of::<PyFunction>() {
            let code = found.getattr("__code__").ok()?;
            let text = |name: &str| code.getattr(name).and_then(|text| text.extract::<String>());
            let own = text("co_filename").ok()? == FILE_NAME && qualname.ends_with(&text("co_name").ok()?);
            if own {
                return Some(found);
            }
        }
        let inner = ["__wrapped__", "__func__", "fget", "func"].iter().find_map(|name| {
            found.getattr(*name).ok().filter(|inner| !inner.is_none() && !inner.is_instance_of::<MockObject>())
        });
        found = inner?;
    }
    None
}

/// Applies decorators, innermost last in the list. Those that are missing, or that fail here, leave their function
/// unchanged.
pub(crate) fn decorate<'py>(
    globals: &Bound<'py, PyDict>,
    decorators: &[String],
    function: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = globals.py();
    let eval = py.import("builtins")?.getattr("eval")?;
    let mut decorated = function;
    let before = state::with(|execution| std::mem::replace(&mut execution.loading, true));
    for text in decorators.iter().rev() {
        let Ok(decorator) = eval.call1((text, globals)) else { continue };
        if decorator.is_instance_of::<MockObject>() {
            continue;
        }
        if let Ok(result) = decorator.call1((&decorated,))
            && !result.is_instance_of::<MockObject>()
        {
            decorated = result;
        }
    }
    state::with(|execution| execution.loading = before.unwrap_or(false));
    Ok(decorated)
}

/// Evaluates a module in `globals`. Returns the parts that could not be evaluated.
pub(crate) fn evaluate(globals: &Bound<'_, PyDict>, source: &str) -> Vec<Unevaluated> {
    let py = globals.py();
    match compile_module(py, source) {
        Ok(statements) => evaluate_compiled(globals, &statements),
        Err(error) => vec![Unevaluated::Module { error: describe(py, &error) }],
    }
}

/// The statements of a module, ready to be evaluated one by one.
pub(crate) fn compile_module<'py>(py: Python<'py>, source: &str) -> PyResult<Bound<'py, PyTuple>> {
    Ok(helpers(py)?.getattr("statements")?.call1((source,))?.cast_into()?)
}

/// Evaluates what [`compile_module`] gave.
pub(crate) fn evaluate_compiled(globals: &Bound<'_, PyDict>, statements: &Bound<'_, PyTuple>) -> Vec<Unevaluated> {
    let py = globals.py();
    let mut unevaluated = Vec::new();
    let outcome = (|| -> PyResult<()> {
        let evaluate = helpers(py)?.getattr("evaluate")?;
        for statement in statements.iter() {
            let statement = statement.cast_into::<PyTuple>()?;
            let line: u32 = statement.get_item(0)?.extract()?;
            let falls_back = statement.get_item(2)?.is_truthy()?;
            // An import may evaluate another module meanwhile.
            let may_fail = |may| state::with(|execution| std::mem::replace(&mut execution.imports_may_fail, may));
            let outer = may_fail(falls_back).unwrap_or(false);
            let done = evaluate.call1((statement.get_item(1)?, globals));
            may_fail(outer);
            if let Err(error) = done
                && unevaluated.len() < MAX_UNEVALUATED
            {
                unevaluated.push(Unevaluated::Statement { line, error: describe(py, &error) });
            }
        }
        Ok(())
    })();
    if let Err(error) = outcome {
        unevaluated.push(Unevaluated::Module { error: describe(py, &error) });
    }
    unevaluated
}

/// The text of an exception, bounded.
pub(crate) fn message(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    observe::without_addresses(text).chars().take(300).collect()
}

/// `ValueError: text` of an exception, bounded.
pub(crate) fn describe(py: Python<'_>, error: &PyErr) -> String {
    let class = error.get_type(py).name().map_or_else(|_| "Exception".into(), |name| name.to_string());
    let text = message(py, error);
    if text.is_empty() { class } else { format!("{class}: {text}") }
}

/// The class that holds a method, by qualified name, if the module has it.
pub(crate) fn enclosing_class<'py>(globals: &Bound<'py, PyDict>, qualname: &str) -> Option<Bound<'py, PyAny>> {
    let (owner, _) = qualname.rsplit_once('.')?;
    let mut parts = owner.split('.');
    let mut found = globals.get_item(parts.next()?).ok()??;
    for part in parts {
        let namespaces = namespaces::namespaces(found.cast::<PyType>().ok()?).ok()?;
        found = namespaces.into_iter().find_map(|namespace| namespace.get_item(part).ok())?;
    }
    found.is_instance_of::<PyType>().then_some(found)
}
