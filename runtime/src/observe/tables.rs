//! Tables and arrays -> plain data: the columns with their types and values, and the labels of the rows.
//!
//! Only objects of the real classes are read, with the real methods: [`kinds`](super::kinds) knows the classes from
//! before foreign code ran.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule};

use super::kinds::{self, Kind};

/// The module that makes lists of the parts, and knows the classes that are read in this way.
static READER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const SOURCE: &std::ffi::CStr = cr#"
import functools
import inspect
import sys
import zlib

MOST_ROWS = 40
MOST_CELLS = 150
MOST_COLUMNS = 100
MOST_READ = 20_000
ZONES = ('datetime', 'dateutil', 'pytz', 'zoneinfo')
# The types of columns that are written by the library itself.
WRITTEN = set()
# What writes functions and objects as bytes.
WRITERS = ('cloudpickle', 'pickle')


def label(dtype):
    numpy = sys.modules['numpy']
    if not isinstance(dtype, numpy.dtype) and type(dtype) not in WRITTEN:
        return 'other'
    # The unit is no content.
    if dtype.kind == 'M':
        zone = getattr(dtype, 'tz', None)
        if zone is None:
            return 'datetime64'
        is_known = type(zone).__module__.partition('.')[0] in ZONES
        return f'datetime64[{zone if is_known else type(zone).__name__}]'
    if dtype.kind == 'm':
        return 'timedelta64'
    name = type(dtype).__name__
    return {'CategoricalDtype': 'category', 'IntervalDtype': 'interval'}.get(name) or str(dtype)


def digest(values):
    """What stands for plain values of one type."""
    dtype = values.dtype
    if isinstance(dtype, sys.modules['numpy'].dtype) and dtype.kind in 'biufcmMSU':
        return zlib.crc32(getattr(values, 'values', values).tobytes())
    return None


def column(values, is_cut):
    """The type of values, those that are shown, how many all are with what stands for them, and the categories."""
    kind = label(values.dtype) if len(values) else 'empty'
    if kind == 'other':
        return kind, None, None, None
    categories = (list(values.dtype.categories), values.dtype.ordered) if kind == 'category' else None
    if not is_cut:
        return kind, values.tolist(), None, categories
    return kind, values[:MOST_ROWS].tolist(), (len(values), all_of(values)), categories


def all_of(values):
    """What stands for all values: a number, or many of them."""
    found = digest(values)
    return values[:MOST_READ].tolist() if found is None else found


def levels(labels, is_cut):
    if not is_cut:
        return 'levels', labels.tolist(), None, None
    return 'levels', labels[:MOST_ROWS].tolist(), (len(labels), labels[:MOST_READ].tolist()), None


def index(labels, is_cut):
    names = list(labels.names)
    if labels.nlevels == 1:
        found = column(labels, is_cut)
        is_number = found[0] == 'int64' and labels.equals(sys.modules['pandas'].RangeIndex(len(labels)))
        if names == [None] and (not len(labels) or is_number):
            return None
    else:
        found = levels(labels, is_cut)
    return (None if names == [None] else names, *found)


def of_frame(value):
    rows, count = value.shape
    is_cut = rows * count > MOST_CELLS
    shown = value if count <= MOST_COLUMNS else value.iloc[:, :MOST_COLUMNS]
    columns = [(name, *column(values, is_cut)) for name, values in shown.items()]
    names = list(value.columns.names)
    about = {} if names == [None] * len(names) else {'[column names]': names}
    if count > MOST_COLUMNS:
        further = value.iloc[:, MOST_COLUMNS:MOST_READ]
        about['[further columns]'] = (count, list(further.columns), [label(kind) for kind in further.dtypes])
        about['[further values]'] = [digest(values) or values[:MOST_ROWS].tolist() for _, values in further.items()]
    return columns, index(value.index, is_cut), about


def of_series(value):
    is_cut = len(value) > MOST_CELLS
    return [(value.name, *column(value, is_cut))], index(value.index, is_cut), {}


def of_index(value):
    is_cut = len(value) > MOST_CELLS
    names = list(value.names)
    found = column(value, is_cut) if value.nlevels == 1 else levels(value, is_cut)
    return [(None if names == [None] else names, *found)], None, {}


def of_array(value):
    is_cut = value.size > MOST_CELLS
    if is_cut:
        return [(value.shape, *column(value.ravel(), True))], None, {}
    shape = value.shape if not value.size or not value.ndim else None
    return [(shape, label(value.dtype), value.tolist(), None, None)], None, {}


def polars_column(values, is_cut):
    kind = str(values.dtype)
    if not is_cut:
        return kind, values.to_list(), None, None
    every = values.to_list()
    # Texts of plain values say all, and no code of others is asked for one.
    is_plain = not kind.startswith('Object')
    return kind, every[:MOST_ROWS], (len(every), zlib.crc32(repr(every).encode()) if is_plain else every[:MOST_READ]), None


def written(serialize):
    """A plan or an expression as bytes. None if it holds functions or objects of Python."""
    # What writes these runs their code.
    missing = object()
    kept = {name: sys.modules.get(name, missing) for name in WRITERS}
    sys.modules.update(dict.fromkeys(kept))
    try:
        return serialize()
    except Exception:
        return None
    finally:
        for name, module in kept.items():
            if module is missing:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def of_polars_frame(value):
    polars = sys.modules['polars']
    if type(value) is polars.LazyFrame:
        # A plan with functions of the code runs these.
        if written(value.serialize) is None:
            return None
        value = value.collect()
    rows, count = value.shape
    is_cut = rows * count > MOST_CELLS
    columns = [(values.name, *polars_column(values, is_cut)) for values in value.get_columns()[:MOST_COLUMNS]]
    about = {}
    if count > MOST_COLUMNS:
        further = value.get_columns()[MOST_COLUMNS:MOST_READ]
        about['[further columns]'] = (count, [(values.name, str(values.dtype)) for values in further])
        about['[further values]'] = [polars_column(values, True)[2] for values in further]
    return columns, None, about


def of_polars_series(value):
    return [(value.name or None, *polars_column(value, len(value) > MOST_CELLS))], None, {}


def of_expression(value):
    # Its text leaves out options.
    found = written(value.meta.serialize)
    if found is None:
        return None
    return [(None, 'expression', [str(value)], (1, zlib.crc32(found)), None)], None, {}


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
        known = [pandas.CategoricalDtype, pandas.DatetimeTZDtype, pandas.IntervalDtype, pandas.PeriodDtype]
        known += [pandas.StringDtype, pandas.BooleanDtype]
        known += [getattr(pandas, f'{sign}Int{bits}Dtype') for sign in ('', 'U') for bits in (8, 16, 32, 64)]
        WRITTEN.update(known, [pandas.Float32Dtype, pandas.Float64Dtype])
    polars = sys.modules.get('polars')
    if polars is not None and hasattr(polars, 'DataFrame'):
        READERS.update(
            {
                polars.DataFrame: of_polars_frame,
                polars.LazyFrame: of_polars_frame,
                polars.Series: of_polars_series,
                polars.Expr: of_expression,
            }
        )
        found['frame'] = [*found.get('frame', ()), polars.DataFrame, polars.LazyFrame]
        found['series'] = [*found.get('series', ()), polars.Series]
        found['values'] = [*found.get('values', ()), polars.Expr]
    return found


# What reads the values of a class that have no reader of their kind.
READERS = {}
# The libraries that are settled.
SETTLED = set()
# Methods of polars whose rows come in any order unless they are asked for the one in which they are found.
UNORDERED = {
    'DataFrame': ('group_by', 'unique'),
    'LazyFrame': ('group_by', 'pivot', 'unique'),
    'Series': ('unique', 'mode'),
    'Expr': ('unique', 'mode'),
}


def in_order(method):
    @functools.wraps(method)
    def ordered(*arguments, **named):
        return method(*arguments, **{**named, 'maintain_order': True})

    return ordered


def by_value(method):
    """Counts of values have no option for their order but that by count."""

    @functools.wraps(method)
    def ordered(self, *arguments, **named):
        polars = sys.modules['polars']
        found = method(self, *arguments, **named)
        if named.get('sort') is True:
            return found
        if type(found) is polars.DataFrame:
            return found if self.dtype == polars.Object else found.sort(polars.nth(0))
        return found.sort()

    return ordered


def settle():
    """Each library once, since executions must find what they left."""
    if 'numpy' in sys.modules and 'numpy' not in SETTLED:
        SETTLED.add('numpy')
        # Calculations that have no result say so by their result alone.
        sys.modules['numpy'].seterr(all='ignore')
    polars = sys.modules.get('polars')
    if hasattr(polars, 'DataFrame') and 'polars' not in SETTLED:
        SETTLED.add('polars')
        # An order that differs from call to call is replaced by the one that may also come out.
        for name, methods in UNORDERED.items():
            for method in methods:
                own = getattr(polars, name)
                found = getattr(own, method, None)
                # Older ones do not have the option for each of these.
                if found is not None and 'maintain_order' in inspect.signature(found).parameters:
                    setattr(own, method, in_order(found))
        for own in (polars.Series, polars.Expr):
            own.value_counts = by_value(own.value_counts)


def of_values(value):
    is_cut = len(value) > MOST_CELLS
    return [(None, *column(value, is_cut))], None, {}


def read(kind, value):
    if type(value) in READERS:
        return READERS[type(value)](value)
    return {'frame': of_frame, 'series': of_series, 'index': of_index, 'array': of_array, 'values': of_values}[kind](value)
"#;

/// Notes the classes of the libraries that are imported by now. Foreign code must not have run since.
pub(crate) fn note(py: Python<'_>) -> PyResult<()> {
    let modules = py.import("sys")?.getattr("modules")?;
    if !modules.contains("numpy")? && !modules.contains("polars")? {
        return Ok(());
    }
    let reader = READER.get_or_try_init(py, || {
        let reader = PyModule::from_code(py, SOURCE, c"twincell_tables.py", c"twincell_tables")?;
        Ok::<_, PyErr>(reader.unbind())
    })?;
    reader.bind(py).getattr("settle")?.call0()?;
    for (name, kind) in [
        ("frame", Kind::Frame),
        ("series", Kind::Series),
        ("index", Kind::Index),
        ("array", Kind::Array),
        ("values", Kind::Values),
        ("scalar", Kind::Scalar),
        ("written", Kind::Written),
    ] {
        let found = reader.bind(py).getattr("classes")?.call0()?.cast_into::<PyDict>()?.get_item(name)?;
        if let Some(classes) = found {
            kinds::add(kind, &classes.cast_into::<PyList>()?)?;
        }
    }
    Ok(())
}

/// Values of one type.
pub(super) struct Column<'py> {
    /// The name of a column. Of an array, its shape. `None` in Python if it has none.
    pub name: Bound<'py, PyAny>,
    pub class: String,
    /// `None` in Python if the library does not know their type.
    pub shown: Bound<'py, PyAny>,
    /// If not all are shown: how many there are, and what stands for them, a number or many of them.
    pub all: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// The categories from which they are, and whether these have an order. `None` in Python if they are not.
    pub categories: Bound<'py, PyAny>,
}

/// The parts of a table or an array.
pub(super) struct Parts<'py> {
    pub columns: Vec<Column<'py>>,
    /// The labels of rows, unless these are their numbers. Its name holds the names of its levels.
    pub index: Option<Column<'py>>,
    /// What is known of it beside its values, by name.
    pub about: Vec<(String, Bound<'py, PyAny>)>,
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
    let reader = READER.get(value.py())?.bind(value.py());
    let found = reader.getattr("read").and_then(|read| read.call1((name, value))).ok()?;
    let (columns, index, about): (Bound<'py, PyList>, Bound<'py, PyAny>, Bound<'py, PyDict>) = found.extract().ok()?;
    let of_column = |column: Bound<'py, PyAny>| {
        let (name, class, shown, all, categories) = column.extract().ok()?;
        Some(Column { name, class, shown, all, categories })
    };
    Some(Parts {
        columns: columns.iter().map(of_column).collect::<Option<_>>()?,
        index: if index.is_none() { None } else { Some(of_column(index)?) },
        about: about.iter().map(|(name, value)| Some((name.extract().ok()?, value))).collect::<Option<_>>()?,
    })
}
