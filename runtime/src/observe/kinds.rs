//! The kinds of builtin classes, by the class itself and never by its name: code may call its own class `deque`.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use rustc_hash::FxHashMap;
use twincell_values::value::library;

/// How a value of a builtin class is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Function,
    /// By its members, without an order.
    Members,
    /// By its items, in order.
    Items,
    /// By its `repr`: classes in C whose attributes cannot be read one by one.
    Written,
    /// A match of a regular expression, by the positions of its groups.
    Match,
    /// By its function and arguments.
    Partial,
    /// Nothing about it can be compared.
    Opaque,
    /// An iterator, which gives its items once.
    Iterator,
    Generator,
    AsyncGenerator,
    Coroutine,
    /// Tables and arrays of libraries, by their content.
    Frame,
    Series,
    Index,
    Array,
    Values,
    /// A response of a server, by its status, headers and content.
    Answer,
    /// A statement or an expression of SQL, by its text and parameters.
    Statement,
    /// A number of numpy, by the value that Python has for it.
    Scalar,
}

/// Python expressions for the classes of each kind.
const CLASSES: [(Kind, &str); 11] = [
    (
        Kind::Function,
        "[types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType, \
         types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType]",
    ),
    (
        Kind::Members,
        "[type({}.keys()), type({}.items()), type(collections.OrderedDict().keys()), \
         type(collections.OrderedDict().items())]",
    ),
    (Kind::Items, "[type({}.values()), type(collections.OrderedDict().values()), collections.deque, range]"),
    (
        Kind::Written,
        "[decimal.Decimal, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone, \
         re.Pattern, array.array, pathlib.PurePosixPath, pathlib.PosixPath, pathlib.PureWindowsPath, operator.itemgetter, operator.attrgetter, operator.methodcaller]",
    ),
    (Kind::Match, "[re.Match]"),
    (Kind::Partial, "[functools.partial]"),
    (Kind::Opaque, "[types.CodeType, types.FrameType, types.TracebackType]"),
    (
        Kind::Iterator,
        "[map, filter, zip, enumerate, reversed] + [type(iter(x)) for x in ([], (), {}, {}.values(), {}.items(), \
         set(), '', '\\xe9', b'', bytearray(), range(0), range(1 << 70), collections.deque(), collections.OrderedDict())] + \
         [type(reversed(x)) for x in ([], {}, {}.values(), {}.items(), collections.deque())] + [type(iter(int, 1))] + \
         [x for x in vars(itertools).values() if isinstance(x, type) and hasattr(x, '__next__')]",
    ),
    (Kind::Generator, "[types.GeneratorType]"),
    (Kind::AsyncGenerator, "[types.AsyncGeneratorType]"),
    (Kind::Coroutine, "[types.CoroutineType]"),
];

/// The class of dictionaries that keep an order of their own.
static ORDERED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static KINDS: PyOnceLock<FxHashMap<usize, Kind>> = PyOnceLock::new();
/// The classes of libraries.
static ADDED: Mutex<Vec<(usize, Kind)>> = Mutex::new(Vec::new());

/// Looks up the classes, once for each process and before foreign code runs. They live as long as the interpreter.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    ORDERED.import(py, "collections", "OrderedDict")?;
    KINDS
        .get_or_try_init(py, || {
            let globals = PyDict::new(py);
            let modules = "types collections itertools decimal datetime re array pathlib operator functools";
            for name in modules.split(' ') {
                globals.set_item(name, py.import(name)?)?;
            }
            let mut kinds = FxHashMap::default();
            for (kind, expression) in CLASSES {
                let text = std::ffi::CString::new(expression)?;
                for class in py.eval(&text, Some(&globals), None)?.cast_into::<PyList>()? {
                    let class = class.cast_into::<PyType>()?;
                    kinds.insert(class.as_ptr() as usize, kind);
                    // They are kept for good, so that no other class takes their address.
                    std::mem::forget(class.unbind());
                }
            }
            Ok::<_, PyErr>(kinds)
        })
        .map(|_| ())
}

/// The entries of an `OrderedDict` as it orders them, which `move_to_end` changes and the dictionary below does not know. `None`
/// for other dictionaries, for more than `most` entries, and where finding a key would run foreign code.
pub(super) fn own_order<'py>(
    most: usize,
    dict: &Bound<'py, PyDict>,
) -> Option<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let class = ORDERED.get(dict.py())?.bind(dict.py());
    if dict.is_exact_instance_of::<PyDict>() || dict.len() > most || !dict.get_type().is_subclass(class).ok()? {
        return None;
    }
    let is_plain = |key: &Bound<'_, PyAny>| {
        key.is_none()
            || key.is_exact_instance_of::<PyString>()
            || key.is_exact_instance_of::<PyInt>()
            || key.is_exact_instance_of::<PyBool>()
            || key.is_exact_instance_of::<PyFloat>()
            || key.is_exact_instance_of::<PyBytes>()
    };
    if !dict.iter().all(|(key, _)| is_plain(&key)) {
        return None;
    }
    let keys = class.getattr("__iter__").ok()?.call1((dict,)).ok()?;
    let entry = |key: PyResult<Bound<'py, PyAny>>| {
        let key = key.ok()?;
        let value = dict.get_item(&key).ok()??;
        Some((key, value))
    };
    let entries: Vec<_> = keys.try_iter().ok()?.map(entry).collect::<Option<_>>()?;
    // `dict.__setitem__` passes the order by.
    (entries.len() == dict.len()).then_some(entries)
}

/// Adds classes of a library. They live as long as the interpreter.
pub(super) fn add(kind: Kind, classes: &Bound<'_, PyList>) -> PyResult<()> {
    let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    for class in classes {
        let class = class.cast_into::<PyType>()?;
        let address = class.as_ptr() as usize;
        if let Err(at) = added.binary_search_by_key(&address, |(known, _)| *known) {
            added.insert(at, (address, kind));
            std::mem::forget(class.unbind());
        }
    }
    Ok(())
}

/// Whether a value is a table, an array, or a part of one.
pub(crate) fn is_of_tables(value: &Bound<'_, PyAny>) -> bool {
    matches!(of(value), Some(Kind::Frame | Kind::Series | Kind::Index | Kind::Array | Kind::Values | Kind::Scalar))
}

/// Whether a value is that, or an object by which such a value is used: `df.loc`, `df.groupby('a')`.
pub(crate) fn is_around_tables(value: &Bound<'_, PyAny>) -> bool {
    is_of_tables(value) || value.get_type().module().is_ok_and(|name| is_module_of_tables(&name.to_string_lossy()))
}

/// Whether a value is one of polars, by the module of its class.
pub(super) fn is_of_polars(value: &Bound<'_, PyAny>) -> bool {
    value.get_type().module().is_ok_and(|name| name.to_string_lossy().starts_with("polars."))
}

/// Whether a module is one of a library of tables or arrays.
pub(crate) fn is_module_of_tables(name: &str) -> bool {
    library::is_of_tables(name)
}

/// The kind of a value of a builtin class, or of one of a library.
pub(crate) fn of(value: &Bound<'_, PyAny>) -> Option<Kind> {
    let class = value.get_type().as_ptr() as usize;
    KINDS.get(value.py())?.get(&class).copied().or_else(|| {
        let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
        added.binary_search_by_key(&class, |(known, _)| *known).ok().map(|at| added[at].1)
    })
}
