//! Statements and expressions of SQLAlchemy -> plain data: the SQL, and the values of its parameters. What their objects hold
//! besides goes deep and is the same for different statements up to there.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyModule};

use super::kinds::{self, Kind};

static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = cr#"
import sys

# The last statements that were read. They are observed more than once, and change only by becoming others.
KEPT = {}
MOST_KEPT = 32


def classes():
    sql = sys.modules['sqlalchemy.sql.elements'].ClauseElement
    found, waiting = [], [sql]
    while waiting:
        one = waiting.pop()
        if one not in found and one.__module__.startswith('sqlalchemy.'):
            found.append(one)
            waiting.extend(type.__subclasses__(one))
    orm = sys.modules.get('sqlalchemy.orm')
    return found + [getattr(orm, name) for name in ('Query', 'InstrumentedAttribute') if hasattr(orm, name)]


def read(value):
    known = KEPT.get(id(value))
    if known is None or known[0] is not value:
        if len(KEPT) >= MOST_KEPT:
            KEPT.clear()
        known = KEPT[id(value)] = (value, *written(value))
    return known[1], known[2]


def written(value):
    sqlalchemy = sys.modules['sqlalchemy']
    if isinstance(value, sqlalchemy.Table):
        return value.fullname, {}
    statement = getattr(value, 'statement', value)
    statement = statement if hasattr(statement, 'compile') else statement.__clause_element__()
    compiled = statement.compile()
    return ' '.join(compiled.string.split()), dict(compiled.params)
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

/// The SQL of a statement or expression, and its parameters by name. `None` if no SQL can be written for it.
pub(super) fn parts<'py>(value: &Bound<'py, PyAny>) -> Option<(String, Bound<'py, PyAny>)> {
    let reader = READER.get(value.py())?.bind(value.py());
    reader.getattr("read").and_then(|read| read.call1((value,))).ok()?.extract().ok()
}
