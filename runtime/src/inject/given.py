"""Objects that somebody gave: loaded from their file, made again for each version, and varied.

Loading runs what the file says, so all of this runs in a worker only. A variation is a function of the object and of
its number.
"""

import copy
import datetime
import decimal
import io
import mmap
import pickle
import struct
import sys
from collections import namedtuple
from random import Random

# How many tables of the same object are kept, and how many cells and items of a value may be written.
KEPT = 8
WRITTEN_CELLS = 200
WRITTEN_ITEMS = 200
# How many rows or items a part of an object has.
COUNTS = (0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 20)
# What the code's own classes have as their module.
OWN_MODULES = ("twincell_module", "__main__")
# How deep values within values change.
DEPTH = 4

IMMUTABLE = {
    'string', 'bytes', 'floating', 'integer', 'mixed-integer-float', 'decimal', 'complex', 'boolean', 'datetime',
    'datetime64', 'date', 'timedelta', 'timedelta64', 'time', 'period', 'empty', 'categorical',
}  # fmt: skip


class Unpickler(pickle.Unpickler):
    """Finds what the notebook defines among the names of one version."""

    def __init__(self, parts, namespace):
        super().__init__(io.BytesIO(parts[0]), buffers=parts[1:])
        self.namespace = namespace
        self.is_own = False

    def find_class(self, module, name):
        if module != "__main__":
            return super().find_class(module, name)
        self.is_own = True
        first, *rest = name.split(".")
        if not dict.__contains__(self.namespace, first):
            raise pickle.UnpicklingError(f"the code does not define {name}")
        found = dict.__getitem__(self.namespace, first)
        for part in rest:
            found = getattr(found, part)
        return found


def parts_of(path, access):
    with open(path, "rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=access))
    (count,) = struct.unpack_from("<Q", view)
    parts, at = [], 8 * (1 + count)
    for size in struct.unpack_from(f"<{count}Q", view, 8):
        at = -(-at // 64) * 64
        parts.append(view[at : at + size])
        at += size
    return parts


class Object:
    """One given object as one version sees it."""

    def __init__(self, path, namespace):
        self.path, self.namespace = path, namespace
        unpickler = Unpickler(parts_of(path, mmap.ACCESS_READ), namespace)
        # What it holds is never handed out.
        self.value = unpickler.load()
        self.is_own = unpickler.is_own
        self.is_table = is_copied(self.value)
        self.tables = {}

    def table(self, number, rows):
        if number == 0 and rows is None:
            return self.value
        if (number, rows) not in self.tables:
            if len(self.tables) >= KEPT:
                del self.tables[next(iter(self.tables))]
            try:
                made = varied(self.value, Random(number)) if rows is None else part_of(self.value, *rows).copy()
            except Exception:
                # Cells of some types cannot be changed.
                made = part_of(self.value, 0, number % COUNTS[-1]).copy()
            self.tables[number, rows] = made
        return self.tables[number, rows]

    def make(self, number, rows):
        """The object with this number, or some of its rows, which nobody else has."""
        if self.is_table:
            return self.table(number, rows).copy()
        if rows is not None:
            return separate(part_of(self.value, *rows))
        if number == 0:
            return self.again()
        try:
            if has_attributes(self.value):
                return with_other_attributes(self.again(), Random(number))
            return varied(self.value, Random(number))
        except Exception:
            return self.again()

    def again(self):
        return Unpickler(parts_of(self.path, mmap.ACCESS_COPY), self.namespace).load()

    def is_as_made(self, value, number, rows):
        """Whether it certainly is as it was made. A table is compared faster than read."""
        return self.is_table and are_same(value, self.table(number, rows))


def part_of(value, start, stop):
    """Some rows or items of a table, an array, a list or a tuple."""
    return value.iloc[start:stop] if table_kind(value) in ("frame", "series") else value[start:stop]


def table_kind(value):
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    kind = type(value)
    if pandas is not None and kind in (pandas.DataFrame, pandas.Series):
        return "frame" if kind is pandas.DataFrame else "series"
    return "array" if numpy is not None and kind is numpy.ndarray else None


def is_copied(value):
    """Whether a copy of the table shares nothing that code could change."""
    kind = table_kind(value)
    if kind == "array":
        return not value.dtype.hasobject
    if kind == "series":
        return has_plain_cells(value)
    return kind == "frame" and all(has_plain_cells(value.iloc[:, at]) for at in range(value.shape[1]))


def has_plain_cells(column):
    infer = sys.modules["pandas"].api.types.infer_dtype
    return column.dtype != object or infer(column, skipna=True) in IMMUTABLE


def are_same(one, other):
    kind = table_kind(one)
    if kind is None or type(one) is not type(other) or one.shape != other.shape:
        return False
    if kind == "array":
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if one.index.names != other.index.names or type(one.index) is not type(other.index):
        return False
    if kind == "series":
        return one.name == other.name and one.dtype == other.dtype and one.equals(other)
    return one.columns.equals(other.columns) and list(one.dtypes) == list(other.dtypes) and one.equals(other)


def varied(value, random, depth=0):
    """A separate value like this one."""
    kind = type(value)
    if depth > DEPTH:
        return copy.deepcopy(value)
    of_table = table_kind(value)
    if of_table is not None:
        return {"frame": varied_frame, "series": varied_series, "array": varied_array}[of_table](value, random)
    if kind is bool:
        return value ^ (random.random() < 0.5)
    if kind in (int, float, decimal.Decimal):
        return other_number(value, random)
    if kind is str:
        return other_text(value, random)
    if kind is bytes:
        return value[: random.randint(0, len(value))]
    if kind in (datetime.date, datetime.datetime):
        try:
            return value + datetime.timedelta(days=random.choice((-365, -31, -1, 0, 1, 28, 31, 365)))
        except OverflowError:
            return value
    if kind is datetime.timedelta:
        return random.choice((-value, value / 2, value, datetime.timedelta(0)))
    if kind in (list, set, frozenset):
        items = value if kind is list else sorted(value, key=repr)
        return kind([now_and_then(items[at], random, depth) for at in positions(len(items), random)])
    if kind is tuple:
        return tuple(now_and_then(item, random, depth) for item in value)
    if kind is dict:
        keys = list(value)
        kept = range(len(keys)) if len(keys) <= 20 and random.random() < 0.6 else positions(len(keys), random)
        return {keys[at]: now_and_then(value[keys[at]], random, depth) for at in kept}
    if has_attributes(value):
        return with_other_attributes(copy.deepcopy(value), random, depth)
    return copy.deepcopy(value)


def now_and_then(value, random, depth):
    return varied(value, random, depth + 1) if random.random() < 0.35 else copy.deepcopy(value)


def has_attributes(value):
    """Whether it is an object of a class of the code, whose attributes may be anything."""
    kind = type(value)
    if issubclass(kind, type) or kind.__module__ not in OWN_MODULES:
        return False
    try:
        return type(object.__getattribute__(value, "__dict__")) is dict
    except AttributeError:
        return False


def with_other_attributes(value, random, depth=0):
    attributes = object.__getattribute__(value, "__dict__")
    names = sorted(name for name in attributes if type(name) is str)
    for name in random.sample(names, min(len(names), random.choice((1, 1, 2, 3)))):
        attributes[name] = varied(attributes[name], random, depth + 1)
    return value


def other_number(value, random):
    other = random.choice((0, -value, value * 2, value + 1, value - 1, value, value + 7))
    return type(value)(other)


def other_text(value, random):
    start = value[: random.randint(0, min(len(value), 40))]
    return random.choice(("", start, value.upper(), value.lower(), f" {value} ", value + value, value))


def positions(count, random):
    """Which of so many rows or items a part has, in order. Some of them may be there twice."""
    many = min(count, random.choice(COUNTS))
    if count <= COUNTS[-1] and random.random() < 0.3:
        many = count
    if random.random() < 0.3:
        start = random.randint(0, count - many)
        found = list(range(start, start + many))
    else:
        found = sorted(random.sample(range(count), many))
    if found and random.random() < 0.2:
        found.append(random.choice(found))
    if random.random() < 0.15:
        random.shuffle(found)
    return found


def separate(value):
    """A copy that shares nothing that code could change."""
    kind = table_kind(value)
    if kind == "series":
        copied = separate(value.to_frame("value")).iloc[:, 0]
        copied.name = value.name
        return copied
    if kind != "frame":
        return copy.deepcopy(value)
    copied = value.copy()
    for at in range(copied.shape[1]):
        if not has_plain_cells(copied.iloc[:, at]):
            cells = [copy.deepcopy(cell) for cell in copied.iloc[:, at]]
            copied.isetitem(at, sys.modules["pandas"].Series(cells, index=copied.index, dtype=object))
    return copied


def varied_frame(frame, random):
    count, width = frame.shape
    part = separate(frame.iloc[positions(count, random)])
    other = part.copy()
    if len(part):
        for _ in range(random.choice((0, 0, 1, 2, 4))):
            at, row = random.randrange(width) if width else None, random.randrange(len(part))
            if at is not None:
                change(other, at, row, frame, random)
    return other if list(other.dtypes) == list(part.dtypes) else part


def change(part, at, row, frame, random):
    """Changes one cell. The type of its column stays."""
    cells = part.iloc[:, at].array.copy()
    now = cells[row]
    choices = [None, frame.iat[random.randrange(len(frame)), at]]
    if cells.dtype.kind in "iuf" and not sys.modules["pandas"].isna(now):
        # As a number of Python's, which does not overflow by itself.
        now = getattr(now, "item", lambda: now)()
        choices += [0, -now, now + 1, now * 2]
    elif type(now) is str:
        choices.append(other_text(now, random))
    elif type(now) is bool or cells.dtype.kind == "b":
        choices.append(not now)
    try:
        cells[row] = random.choice(choices)
        part.isetitem(at, cells)
    except (TypeError, ValueError, OverflowError):
        pass


def varied_series(series, random):
    part = varied_frame(series.to_frame("value"), random).iloc[:, 0]
    part.name = series.name
    return part


def varied_array(array, random):
    if array.ndim == 0:
        return array.copy()
    part = array[positions(len(array), random)].copy()
    if part.size and part.dtype.kind in "iufb":
        for _ in range(random.choice((0, 1, 2))):
            at = random.randrange(part.size)
            choices = [0, 1, array.flat[random.randrange(array.size)]]
            if part.dtype.kind in "if":
                choices.append(-part.flat[at].item())
            if part.dtype.kind == "f":
                choices.append(float("nan"))
            try:
                part.flat[at] = random.choice(choices)
            except OverflowError:
                pass
    return part


# What a recipe calls: a dotted name, positional and named arguments.
Call = namedtuple("Call", "name arguments keywords")


class NotWritten(Exception):
    pass


def written(value):
    """The value as plain data and calls that make it again, or `None` if it is large or cannot be written."""
    try:
        return as_data(value, [WRITTEN_ITEMS])
    except Exception:
        return None


def as_data(value, left):
    left[0] -= 1
    if left[0] < 0:
        raise NotWritten
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return value
    if kind in (list, tuple, set):
        return kind(as_data(item, left) for item in (value if kind is not set else sorted(value, key=repr)))
    if kind is dict:
        return {as_data(key, left): as_data(item, left) for key, item in value.items()}
    if kind is datetime.date:
        return Call("datetime.date", [value.year, value.month, value.day], {})
    if kind is datetime.datetime and value.tzinfo is None:
        time = [value.hour, value.minute, value.second, value.microsecond]
        while time and not time[-1]:
            time.pop()
        return Call("datetime.datetime", [value.year, value.month, value.day, *time], {})
    if kind is datetime.timedelta:
        return Call("datetime.timedelta", [value.days, value.seconds, value.microseconds], {})
    if kind is decimal.Decimal:
        return Call("decimal.Decimal", [str(value)], {})
    of_table = table_kind(value)
    if of_table is None or value.size > WRITTEN_CELLS:
        raise NotWritten
    if of_table == "array":
        return Call("numpy.array", [as_data(value.tolist(), left)], {"dtype": str(value.dtype)})
    labels = {} if has_plain_labels(value) else {"index": as_labels(value.index, left)}
    if of_table == "series":
        name = {} if value.name is None else {"name": as_data(value.name, left)}
        return Call("pandas.Series", [as_column(value, left)], labels | name)
    columns = {as_data(value.columns[at], left): as_column(value.iloc[:, at], left) for at in range(value.shape[1])}
    if len(columns) < value.shape[1] or value.columns.nlevels > 1:
        raise NotWritten
    return Call("pandas.DataFrame", [columns], labels)


def has_plain_labels(table):
    index = table.index
    pandas = sys.modules["pandas"]
    return list(index.names) == [None] and (not len(index) or index.equals(pandas.RangeIndex(len(index))))


def as_labels(index, left):
    if index.nlevels > 1:
        raise NotWritten
    labels = as_column(index, left)
    return labels if index.name is None else Call("pandas.Index", [labels], {"name": as_data(index.name, left)})


def as_column(values, left):
    kind = str(values.dtype)
    pandas = sys.modules["pandas"]
    if not len(values):
        return Call("pandas.Series", [[]], {"dtype": kind})
    if kind.startswith("datetime64[") and getattr(values.dtype, "tz", None) is None:
        texts = [None if pandas.isna(cell) else str(cell) for cell in values]
        return Call("pandas.to_datetime", [texts], {"format": "ISO8601"})
    cells = values.tolist()
    if kind == "float64" and any(cell == cell for cell in cells):
        cells = [None if cell != cell else cell for cell in cells]
    elif kind not in ("object", "float64"):
        cells = [None if pandas.isna(cell) else cell for cell in cells]
    cells = [as_data(cell, left) for cell in cells]
    if kind == "category":
        categories = list(values.dtype.categories)
        if not values.dtype.ordered and categories == sorted({cell for cell in cells if cell is not None}):
            return Call("pandas.Categorical", [cells], {})
        return Call("pandas.Categorical", [cells], {"categories": categories, "ordered": values.dtype.ordered})
    if kind in ("int64", "float64", "bool", "object", "str"):
        return cells
    maker = "numpy.array" if type(values.dtype).__module__.startswith("numpy") else "pandas.array"
    return Call(maker, [cells], {"dtype": kind})
