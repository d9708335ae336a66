"""Frames, series and arrays are real ones, with the columns that the code reads, and are compared by content."""

import os
import subprocess
import sys

import pytest
import twincell

from .layers import sample
from .snippets import CHANGING, PRESERVING
from .snippets import expect as expect_often

pytest.importorskip("pandas")


def expect(verdict, old, new, **options):
    """The comparison, which has this verdict: tables take their time, and a few of them show what they hold."""
    return expect_often(verdict, old, new, **({"budget": 40} if verdict == PRESERVING else {}) | options)


PANDAS = "import pandas as pd\n\n"
NUMPY = "import numpy as np\n\n"

# name: (the import, parameters, old's body, new's, and one that differs).
PAIRS = {
    "a new column": (
        PANDAS,
        "df: pd.DataFrame",
        "df = df.copy()\n    df['margin'] = df['price'] - df['cost']\n    return df",
        "return df.assign(margin=lambda d: d['price'] - d['cost'])",
        "return df.assign(margin=lambda d: d['cost'] - d['price'])",
    ),
    "rows by label": (
        PANDAS,
        "df: 'pd.DataFrame'",
        "return df[df['price'] > 3]['name']",
        "return df.loc[df['price'] > 3, 'name']",
        "return df.loc[df['price'] >= 3, 'name']",
    ),
    "groups": (
        PANDAS,
        "df: pd.DataFrame",
        "return df.groupby('region')['sales'].sum()",
        "return df.groupby('region').agg({'sales': 'sum'})['sales']",
        "return df.groupby('region', dropna=False)['sales'].sum()",
    ),
    "joined tables": (
        PANDAS,
        "a: pd.DataFrame, b: pd.DataFrame",
        "return a.merge(b, on='id', how='left')",
        "return pd.merge(a, b, how='left', on='id')",
        "return a.merge(b, on='id')",
    ),
    "dates": (
        PANDAS,
        "df: pd.DataFrame",
        "return df['at'].dt.month * 100 + df['at'].dt.day",
        "return 100 * df['at'].dt.month + df['at'].dt.day",
        "return df['at'].dt.month * 100 + df['at'].dt.hour",
    ),
    "texts": (
        PANDAS,
        "names: pd.Series",
        "return names.str.strip().str.upper()",
        "return names.str.upper().str.strip()",
        "return names.str.upper()",
    ),
    "a table without a type": (
        "",
        "rows",
        "return rows.sort_values('price').reset_index(drop=True)",
        "return rows.sort_values(by=['price'], ignore_index=True)",
        "return rows.sort_values('price')",
    ),
    "a column that a parameter names": (
        PANDAS,
        "df: pd.DataFrame, column: str",
        "return df[column].fillna(0).sum()",
        "return df.loc[:, column].fillna(0).sum()",
        "return df[column].fillna(1).sum()",
    ),
    "tables of a dictionary": (
        PANDAS,
        "frames: dict[str, pd.DataFrame]",
        "return {name: frame['x'].max() for name, frame in frames.items()}",
        "return {name: frames[name]['x'].max() for name in frames}",
        "return {name: frame['x'].min() for name, frame in frames.items()}",
    ),
    "an array": (
        NUMPY,
        "x: np.ndarray",
        "return np.clip(x, 0, 3)",
        "return np.minimum(np.maximum(x, 0), 3)",
        "return np.minimum(x, 3)",
    ),
    "rows of an array": (
        NUMPY,
        "x: np.ndarray, y: np.ndarray",
        "return x[:, 0] * 2 + x[:, 1]",
        "return x[:, 1] + 2 * x[:, 0]",
        "return x[:, 0] + 2 * x[:, 1]",
    ),
}


# The same, of a row of a frame: by its annotation and by its name.
ROWS = {
    "annotated": ("row: pd.Series", "return row['price'] * 2", "return 2 * row['price']", "return row['price'] * 3"),
    "named": ("row", "return pd.Series([row['x']])", "return pd.Series((row['x'],))", "return pd.Series([-row['x']])"),
    "by label": ("row", "return row.loc['x'] - row.y", "return row['x'] - row['y']", "return row['y'] - row['x']"),
    "texts": ("row", "return row['t'].strip()", "text = row['t']\n    return text.strip()", "return row['t'].lstrip()"),
    "set": (
        "row",
        "row['m'] = row['x'] * 2\n    return row['m'] + row['y']",
        "row['m'] = 2 * row['x']\n    return row['y'] + row['m']",
        "row['m'] = row['x'] * 2\n    return row['m'] - row['y']",
    ),
    "get": (
        "row: pd.Series",
        "return row.get('x') + row.y",
        "return row['x'] + row['y']",
        "return row['x'] - row['y']",
    ),
    "dates": ("row", "return row['day'].year", "return row['day'].date().year", "return row['day'].month"),
}


@sample(ROWS, ["annotated", "by label", "set"])
def test_rows_have_the_labels_that_are_looked_up(name):
    parameters, old, new, other = ROWS[name]

    def function(body):
        return f"{PANDAS}def f({parameters}):\n    {body}\n"

    expect(PRESERVING, function(old), function(new), context="module", function="f")
    expect(CHANGING, function(old), function(other), context="module", function="f")


# Frames by their annotation and by their uses, series, dictionaries of frames, and arrays.
QUICK = [
    "a new column",
    "texts",
    "a table without a type",
    "tables of a dictionary",
    "an array",
]


@sample(PAIRS, QUICK)
def test_real_tables_tell_refactorings_from_changes(name):
    imports, parameters, old, new, other = PAIRS[name]

    def text(body):
        return f"{imports}def f({parameters}):\n    {body}\n"

    expect(PRESERVING, text(old), text(new), context="module", function="f")
    expect(CHANGING, text(old), text(other), context="module", function="f")


OLD = PANDAS + "def f(df: pd.DataFrame):\n    return df.assign(margin=df['price'] - df['cost'])\n"
NEW = OLD.replace("df['price'] - df['cost']", "df['price'] - 2 * df['cost']")


def test_a_difference_is_shown_as_a_small_table_and_reproduced_by_literals():
    pair = expect(CHANGING, OLD, NEW, context="module", function="f").to_dict()["pairs"][0]
    assert pair["evidence"][0]["old"].startswith("DataFrame(price=")
    reproducer = pair["reproducer"]
    assert reproducer["holds"], reproducer
    for part in ["import pandas as pd", "pd.testing.assert_frame_equal(", "pd.DataFrame({'price': ["]:
        assert part in reproducer["source"], reproducer["source"]


def test_a_table_that_the_code_changes_is_a_changed_argument():
    old = PANDAS + "def f(df: pd.DataFrame):\n    df = df.copy()\n    df['a'] = df['b'] * 2\n    return len(df)\n"
    new = old.replace("    df = df.copy()\n", "")
    pair = expect(CHANGING, old, new, context="module", function="f").to_dict()["pairs"][0]
    assert pair["evidence"][0]["channel"] == "arguments"


def test_the_same_seed_draws_the_same_tables():
    one, other = (twincell.compare(OLD, NEW, context="module", seed=4).to_dict() for _ in range(2))
    assert [pair["evidence"] for pair in one["pairs"]] == [pair["evidence"] for pair in other["pairs"]]


def test_a_class_that_pretends_to_be_a_table_is_read_as_any_other():
    text = (
        "class DataFrame:\n"
        "    __module__ = 'pandas'\n"
        "    def __init__(self, value):\n        self.value = value\n"
        "    def items(self):\n        raise SystemExit(3)\n"
        "    shape = index = property(items)\n\n"
        "def f(x: int):\n    return DataFrame(EXPRESSION)\n"
    )
    expect(
        PRESERVING,
        text.replace("EXPRESSION", "x + 1"),
        text.replace("EXPRESSION", "1 + x"),
        context="module",
        function="f",
    )
    expect(
        CHANGING,
        text.replace("EXPRESSION", "x + 1"),
        text.replace("EXPRESSION", "x + 2"),
        context="module",
        function="f",
    )


def test_what_a_library_says_of_a_calculation_is_no_behavior():
    old = NUMPY + "def f(x: np.ndarray):\n    return np.log(x)\n"
    new = old.replace("    return np.log(x)", "    with np.errstate(all='ignore'):\n        return np.log(x)")
    expect(PRESERVING, old, new, context="module", function="f")


def test_what_the_code_itself_warns_of_is_behavior():
    old = PANDAS + "def f(df: pd.DataFrame):\n    return df['a'].sum()\n"
    warned = "    import warnings\n    warnings.warn('mind', FutureWarning)\n"
    new = old.replace("    return", warned + "    return")
    expect(CHANGING, old, new, context="module", function="f")


def test_a_library_that_is_not_installed_is_mocked_and_the_report_says_so(tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text(os.path.dirname(os.path.dirname(twincell.__file__)))
    options = {"context": "module", "python": str(environment / "bin/python")}
    [pair] = twincell.compare(OLD, NEW, **options).to_dict()["pairs"]
    assert any(note.startswith("mocked: pandas") for note in pair["notes"]), pair["notes"]
    assert pair["verdict"] == "changing"


def test_columns_that_a_helper_of_the_module_reads_are_there():
    helper = "def paid(orders):\n    return orders[orders['status'] == 'paid']\n\n"
    old = PANDAS + helper + "def f(df: pd.DataFrame):\n    return paid(df)['amount'].sum()\n"
    expect(PRESERVING, old, old.replace("paid(df)['amount']", "df.pipe(paid).amount"), context="module", function="f")
    expect(CHANGING, old, old.replace("paid(df)['amount']", "df['amount']"), context="module", function="f")


def test_a_parameter_that_a_column_is_compared_with_may_be_in_it():
    old = (
        "import pandas as pd\n\ndef f(df: pd.DataFrame, season: str):\n    df = df.copy()\n"
        "    df.loc[df['season'] == season, 'price'] *= 2\n    return df\n"
    )
    expect(CHANGING, old, old.replace("df = df.copy()", "df = df"), context="module", function="f")


def test_real_calculations_of_libraries_are_never_replaced():
    old = (
        "import pandas as pd\n\ndef f(df: pd.DataFrame):\n"
        "    return (df['delivered'] - df['promised']) > pd.Timedelta(0)\n"
    )
    new = old.replace("(df['delivered'] - df['promised']) > pd.Timedelta(0)", "df['delivered'] > df['promised']")
    expect(PRESERVING, old, new, context="module", function="f")


def test_an_axis_or_two_slices_say_that_an_array_has_two_dimensions():
    old = "import numpy as np\n\ndef f(x):\n    return x - x.min(axis=0)\n"
    expect(CHANGING, old, old.replace("axis=0", ""), context="module", function="f")
    old = "def f(x, n=1):\n    y = x.copy()\n    y[:n, :] = 0\n    return y\n"
    new = "import numpy as np\n\ndef f(x, n=1):\n    y = np.array(x)\n    y[0:n] = 0\n    return y\n"
    expect(PRESERVING, old, new, context="module", function="f")


def test_numbers_beside_arrays_are_no_sizes_beyond_memory():
    old = "import numpy as np\n\ndef f(x: np.ndarray, n: int):\n    return np.zeros(n)[: len(x)]\n"
    new = "import numpy as np\n\ndef f(x: np.ndarray, n: int):\n    return np.zeros(n, dtype=float)[0 : len(x)]\n"
    expect(PRESERVING, old, new, context="module", function="f")


# What tables and arrays have beside their first cells. Name: (old's body, new's).
UNSEEN = {
    "numbers and texts as names of columns": (
        "return pd.DataFrame({0: [1]})",
        "return pd.DataFrame({'0': [1]})",
    ),
    "the name of the columns": (
        "df = pd.DataFrame({'a': [1]})\n    df.columns.name = 'x'\n    return df",
        "df = pd.DataFrame({'a': [1]})\n    df.columns.name = 'y'\n    return df",
    ),
    "a later cell of a series of objects": (
        "return pd.Series([[number] for number in range(400)])",
        "return pd.Series([[number if number != 399 else 0] for number in range(400)])",
    ),
    "a later cell of a frame of numbers": (
        "return pd.DataFrame({'a': range(1000)})",
        "return pd.DataFrame({'a': [*range(999), 0]})",
    ),
    "a later column": (
        "return pd.DataFrame({f'c{n}': [n] for n in range(300)})",
        "return pd.DataFrame({f'c{n}': [n if n != 299 else 0] for n in range(300)})",
    ),
    "a category that no cell has": (
        "return pd.Series(['a']).astype(pd.CategoricalDtype(['a', 'b']))",
        "return pd.Series(['a']).astype(pd.CategoricalDtype(['a', 'c']))",
    ),
    "a later cell of an array of objects": (
        "return pd.Series([str(number) for number in range(400)]).to_numpy()",
        "return pd.Series([str(number % 399) for number in range(400)]).to_numpy()",
    ),
}


@sample(
    UNSEEN,
    ["numbers and texts as names of columns", "a later cell of a frame of numbers", "a category that no cell has"],
)
def test_nothing_of_a_table_is_overlooked(name):
    old, new = (f"{PANDAS}def f():\n    {body}\n" for body in UNSEEN[name])
    expect(CHANGING, old, new)
    expect(PRESERVING, old, old.replace("return ", "made = ") + "    return made\n")


def test_looking_at_a_table_runs_no_code_of_the_versions():
    cell = (
        "class Cell:\n    def __hash__(self):\n        print('asked')\n        return 1\n\n"
        "    __repr__ = __str__ = lambda self: print('asked') or ''\n\n\n"
    )
    old = f"{PANDAS}{cell}def f(n: int):\n    return pd.Series([Cell() for _ in range(400)])\n"
    new = old.replace("return pd", "made = pd") + "    return made\n"
    comparison = expect(PRESERVING, old, new)
    assert not any("asked" in str(execution) for execution in comparison.to_dict()["pairs"][0]["executions"])


def test_a_witness_has_as_few_rows_as_show_the_difference():
    old = (
        f"{PANDAS}def f(orders):\n    paid = orders[orders['paid']]\n"
        "    return paid.groupby('customer')['amount'].sum()\n"
    )
    new = old.replace("groupby('customer')", "groupby('customer', dropna=False)")
    [frame] = expect(CHANGING, old, new).to_dict()["pairs"][0]["witness"]["choices"]
    [columns] = frame["decision"]["value"]["made"]["arguments"]
    assert [len(cells["list"]) for _, cells in columns["dict"]] == [1, 1, 1], columns
