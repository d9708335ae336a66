//! Tables and arrays -> plain data: the columns with their types and values, and the labels of the rows.
//!
//! Only objects of the real classes are read, with the real methods: [`kinds`](super::kinds) knows the classes from
//! before foreign code ran.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple};

use super::kinds::{self, Kind};

/// What makes lists of the parts, with the classes that are read in this way.
struct Reader {
    read: Py<PyAny>,
}

static READER: PyOnceLock<Reader> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = cr#"
import sys
import zlib

MOST_ROWS = 40
MOST_CELLS = 300


def label(dtype):
    text = str(dtype)
    if text == 'category':
        return f'category of {list(dtype.categories)}' + (' in order' if dtype.ordered else '')
    # The unit is no content.
    if text.startswith('datetime64['):
        zone = getattr(dtype, 'tz', None)
        return 'datetime64' if zone is None else f'datetime64[{zone}]'
    return 'timedelta64' if text.startswith('timedelta64[') else text


def column(values, is_cut):
    shown = values[:MOST_ROWS] if is_cut else values
    return (label(values.dtype) if len(values) else 'empty', shown.tolist())


def index(labels, is_cut):
    names = list(labels.names)
    if labels.nlevels == 1:
        kind, shown = column(labels, is_cut)
        is_plain = names == [None] and (not len(labels) or kind == 'int64' and labels.equals(Counted(len(labels))))
    else:
        kind, shown, is_plain = 'levels', (labels[:MOST_ROWS] if is_cut else labels).tolist(), False
    return None if is_plain else (kind, shown, None if names == [None] else names)


def digest(value):
    try:
        return zlib.crc32(hash_object(value).values.tobytes())
    except Exception:
        return None


def Counted(count):
    return sys.modules['pandas'].RangeIndex(count)


def hash_object(value):
    return sys.modules['pandas'].util.hash_pandas_object(value)


def of_frame(value):
    rows, count = value.shape
    is_cut = rows * count > MOST_CELLS
    columns = [(name, *column(values, is_cut)) for name, values in value.items()]
    return columns, index(value.index, is_cut), digest(value) if is_cut else None


def of_series(value):
    is_cut = len(value) > MOST_CELLS
    return [(value.name, *column(value, is_cut))], index(value.index, is_cut), digest(value) if is_cut else None


def of_index(value):
    is_cut = len(value) > MOST_CELLS
    if value.nlevels > 1:
        values = ('levels', (value[:MOST_ROWS] if is_cut else value).tolist())
    else:
        values = column(value, is_cut)
    names = list(value.names)
    return [(None if names == [None] else names, *values)], None, digest(value) if is_cut else None


def of_array(value):
    is_cut = value.size > MOST_CELLS
    kind = label(value.dtype)
    shape = value.shape if not value.size or not value.ndim else None
    if not is_cut:
        return [(shape, kind, value.tolist())], None, None
    rest = zlib.crc32(value.tobytes()) if not value.dtype.hasobject else None
    return [(value.shape, kind, value.ravel()[:MOST_ROWS].tolist())], None, rest


def classes():
    """The classes of what is imported so far, by how they are read."""
    found = {}
    numpy, pandas = sys.modules.get('numpy'), sys.modules.get('pandas')
    if numpy is not None:
        found['array'] = [numpy.ndarray]
        scalars = {kind for kind in numpy.sctypeDict.values() if isinstance(kind, type)}
        timely = {numpy.datetime64, numpy.timedelta64}
        found['scalar'] = list(scalars - timely - {numpy.void, numpy.object_})
        found['written'] = list(timely)
    if pandas is not None:
        found['frame'] = [pandas.DataFrame]
        found['series'] = [pandas.Series]
        found['index'] = [
            pandas.Index, pandas.RangeIndex, pandas.DatetimeIndex, pandas.TimedeltaIndex, pandas.MultiIndex,
            pandas.CategoricalIndex, pandas.PeriodIndex, pandas.IntervalIndex,
        ]
        written = [pandas.Timestamp, pandas.Timedelta, pandas.Period, pandas.Interval, type(pandas.NaT), type(pandas.NA)]
        found['written'] = found.get('written', []) + written
        found['values'] = [pandas.Categorical]
    return found


def settle():
    """Calculations that have no result say so by their result alone."""
    sys.modules['numpy'].seterr(all='ignore')


def of_values(value):
    is_cut = len(value) > MOST_CELLS
    return [(None, *column(value, is_cut))], None, None


def read(kind, value):
    return {'frame': of_frame, 'series': of_series, 'index': of_index, 'array': of_array, 'values': of_values}[kind](value)
"#;

/// Notes the classes of the libraries that are imported by now. Foreign code must not have run since.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    let modules = py.import("sys")?.getattr("modules")?;
    if !modules.contains("numpy")? {
        return Ok(());
    }
    let helpers = PyModule::from_code(py, SOURCE, c"twincell_tables.py", c"twincell_tables")?;
    for (name, kind) in [
        ("frame", Kind::Frame),
        ("series", Kind::Series),
        ("index", Kind::Index),
        ("array", Kind::Array),
        ("values", Kind::Values),
        ("scalar", Kind::Scalar),
        ("written", Kind::Written),
    ] {
        let found = helpers.getattr("classes")?.call0()?.cast_into::<PyDict>()?.get_item(name)?;
        if let Some(classes) = found {
            kinds::add(kind, &classes.cast_into::<PyList>()?)?;
        }
    }
    // Only once, since executions must find what they left.
    if READER.get(py).is_none() {
        helpers.getattr("settle")?.call0()?;
    }
    READER.get_or_init(py, || Reader { read: helpers.getattr("read").map_or_else(|_| py.None(), Bound::unbind) });
    Ok(())
}

/// The parts of a table or an array.
pub(super) struct Parts<'py> {
    /// Name, type and values of each column. Of an array, its shape is the name.
    pub columns: Vec<(Bound<'py, PyAny>, String, Bound<'py, PyAny>)>,
    /// Type, values and names of the labels of rows, unless these are their numbers.
    pub index: Option<(String, Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// What stands for all values, if they are not all shown.
    pub digest: Option<Bound<'py, PyAny>>,
}

/// Reads a value of one of these kinds. `None` if it cannot be read.
pub(super) fn parts<'py>(kind: Kind, value: &Bound<'py, PyAny>) -> Option<Parts<'py>> {
    let name = match kind {
        Kind::Frame => "frame",
        Kind::Series => "series",
        Kind::Index => "index",
        Kind::Array => "array",
        Kind::Values => "values",
        _ => return None,
    };
    let read = &READER.get(value.py())?.read;
    let found = read.bind(value.py()).call1((name, value)).ok()?.cast_into::<PyTuple>().ok()?;
    let of_column = |column: Bound<'py, PyAny>| {
        let (name, kind, values): (Bound<'py, PyAny>, String, Bound<'py, PyAny>) = column.extract().ok()?;
        Some((name, kind, values))
    };
    let columns = found.get_item(0).ok()?.cast_into::<PyList>().ok()?.iter().map(of_column).collect::<Option<_>>()?;
    Some(Parts {
        columns,
        index: found.get_item(1).ok()?.extract().ok()?,
        digest: Some(found.get_item(2).ok()?).filter(|digest| !digest.is_none()),
    })
}
