//! Statements and expressions of SQLAlchemy -> plain data: the SQL, the values of its parameters, and the options that no
//! SQL shows. What their objects hold besides goes deep and is the same for different statements up to there.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule};

use super::kinds::{self, Kind};

static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = cr#"
import sys

# The classes whose SQL the library itself writes.
KNOWN = set()
# What stands for a statement: it has one.
QUERIES = set()
# What is read by its definition, since its SQL is only its name.
DEFINED = 'Table', 'Column', 'ColumnClause', 'TableClause'
OPTIONS = '_for_update_arg', '_with_options', '_execution_options'
# The last statements that were read: they are observed more than once.
KEPT = {}
MOST_KEPT = 32


def classes():
    global iterate, BindParameter
    from sqlalchemy.sql.elements import BindParameter, ClauseElement
    from sqlalchemy.sql.visitors import iterate
    waiting = [ClauseElement]
    while waiting:
        one = waiting.pop()
        if one not in KNOWN and one.__module__.startswith('sqlalchemy.'):
            KNOWN.add(one)
            waiting.extend(type.__subclasses__(one))
    orm = sys.modules.get('sqlalchemy.orm')
    QUERIES.update(getattr(orm, name) for name in ('Query', 'InstrumentedAttribute') if hasattr(orm, name))
    return [one for one in KNOWN if one.__name__ not in DEFINED] + list(QUERIES)


def forget():
    KEPT.clear()


def is_known(part):
    """Whether the library alone writes this part of a statement."""
    if type(part) not in KNOWN:
        return False
    kind = getattr(part, 'type', None)
    is_plain = kind is None or type(kind).__module__.startswith('sqlalchemy.')
    return is_plain and (type(part) is not BindParameter or part.callable is None)


def read(value):
    known = KEPT.get(id(value))
    if known is None or known[0] is not value:
        if len(KEPT) >= MOST_KEPT:
            KEPT.clear()
        known = KEPT[id(value)] = (value, written(value))
    return known[1]


def written(value):
    """The SQL, and the other parts by name. None if code of somebody else would write it."""
    statement = value.__clause_element__() if type(value) in QUERIES else value
    if not all(map(is_known, iterate(statement))):
        return None
    compiled = statement.compile()
    # The library breaks lines between clauses.
    sql = compiled.string.replace(' \n', ' ').replace('\n ', ' ')
    options = {name.strip('_'): getattr(statement, name, None) for name in OPTIONS}
    return sql, {'parameters': dict(compiled.params), **{name: part for name, part in options.items() if is_set(part)}}


def is_set(option):
    return option is not None and (type(option) is not tuple and not isinstance(option, dict) or len(option) > 0)
"#;

/// Notes the classes of SQLAlchemy, if it is imported by now. Foreign code must not have run since.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    if !py.import("sys")?.getattr("modules")?.contains("sqlalchemy.sql.elements")? {
        return Ok(());
    }
    let reader = READER.get_or_try_init(py, || {
        PyModule::from_code(py, SOURCE, c"twincell_statements.py", c"twincell_statements").map(Bound::unbind)
    })?;
    let found = reader.bind(py).getattr("classes")?.call0()?.cast_into::<PyList>()?;
    kinds::add(Kind::Statement, &found)
}

/// Forgets what was read, since another run begins.
pub(crate) fn forget(py: Python<'_>) {
    if let Some(reader) = READER.get(py) {
        let _ = reader.bind(py).getattr("forget").and_then(|forget| forget.call0());
    }
}

/// The SQL of a statement or expression, and its other parts by name. `None` if no SQL is written for it, or not by the
/// library alone.
pub(super) fn parts<'py>(value: &Bound<'py, PyAny>) -> Option<(String, Bound<'py, PyDict>)> {
    let reader = READER.get(value.py())?.bind(value.py());
    reader.getattr("read").and_then(|read| read.call1((value,))).ok()?.extract().ok()
}
