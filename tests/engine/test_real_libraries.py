"""Nothing is made up of libraries that are installed: values that declare nothing, files that are not there and what a
library draws are real."""

import json

import pytest
import twincell

from .layers import sample
from .snippets import CHANGING, INCONCLUSIVE, PRESERVING
from .snippets import expect as expect_often

pytest.importorskip("pandas")


def expect(verdict, old, new, **options):
    """The comparison, which has this verdict: tables take their time, and a few of them show what they hold."""
    return expect_often(verdict, old, new, **({"budget": 40} if verdict == PRESERVING else {}) | options)


PANDAS = "import numpy as np\nimport pandas as pd\n\n"

# name: (what stands before the function, parameters, old's body, new's, and one that differs).
PAIRS = {
    "columns that are added up": (
        PANDAS,
        "df, limit",
        "return (df['size'] * (1 - df['white'])).sum() / df['size'].sum() > limit",
        "part = df['size'] * (1 - df['white'])\n    return part.sum() / df['size'].sum() > limit",
        "return (df['size'] * (1 - df['white'])).sum() / df['size'].sum() >= limit",
    ),
    "a group by its methods": (
        PANDAS,
        "group",
        "return group.rank(ascending=False)",
        "return group.rank(0, ascending=False)",
        "return group.rank()",
    ),
    "a frame by its name": (
        PANDAS,
        "df",
        "print(df.shape)\n    return df",
        "print(f'{df.shape}')\n    return df",
        "return df",
    ),
    "attributes as columns": (
        PANDAS,
        "x, part",
        "return x[(x.tries <= x.tries.quantile(part)) & (x.rate <= x.rate.quantile(part))]",
        "return x[(x.rate <= x.rate.quantile(part)) & (x.tries <= x.tries.quantile(part))]",
        "return x[(x.tries < x.tries.quantile(part)) & (x.rate <= x.rate.quantile(part))]",
    ),
    "a series by what only series have": (
        "import pandas as pd\n\n",
        "s",
        "return ((s - s.mean()) / s.std()).abs().max()",
        "score = (s - s.mean()) / s.std()\n    return score.abs().max()",
        "return ((s + s.mean()) / s.std()).abs().max()",
    ),
    "limits": (
        PANDAS,
        "s, low, high",
        "return s.between(low, high).mean()",
        "inside = s.between(low, high)\n    return inside.mean()",
        "return s.between(high, low).mean()",
    ),
    "an array that a call gives": (
        PANDAS,
        "kde",
        "sample = kde.resample(kde.n)\n    return np.percentile(sample, 10)",
        "return np.percentile(kde.resample(kde.n), 10)",
        "sample = kde.resample(kde.n)\n    return np.percentile(sample, 11)",
    ),
    "a file": (
        PANDAS,
        "path",
        "sales = pd.read_csv(path)\n    return sales['units'].sum() + 1",
        "return 1 + pd.read_csv(path)['units'].sum()",
        "sales = pd.read_csv(path)\n    return sales['units'].max() + 1",
    ),
    "a file with options": (
        PANDAS,
        "path",
        "return pd.read_csv(path, index_col='day')['units'].cumsum()",
        "sales = pd.read_csv(path, index_col='day')\n    return sales['units'].cumsum()",
        "return pd.read_csv(path)['units'].cumsum()",
    ),
    "a table of the module whose file is not there": (
        PANDAS + "sales = pd.read_csv('missing.csv')\nsales['total'] = sales['units'] * sales['price']\n\n",
        "",
        "return sales.groupby('year')['total'].sum()",
        "return sales.groupby('year').agg(total=('total', 'sum'))['total']",
        "return sales.groupby('year')['total'].max()",
    ),
    "what is calculated from such a table": (
        PANDAS + "sales = pd.read_csv('missing.csv')\nby_year = sales.groupby('year')['units'].mean()\n\n",
        "",
        "return by_year.max() - by_year.min()",
        "return -by_year.min() + by_year.max()",
        "return by_year.max() + by_year.min()",
    ),
}


def made_up(comparison: "twincell.Comparison") -> list[str]:
    """The parts of libraries and of tables for which objects stand in, in the execution that shows the difference."""
    [pair] = comparison.to_dict()["pairs"]
    parts = [one for one in pair["witness"]["injections"] if "versatile" in json.dumps(one["value"])]
    return [one["path"] for one in parts if not one["path"].startswith("kde")]


# A frame by its columns, an array, and files within and outside of functions.
QUICK = [
    "columns that are added up",
    "an array that a call gives",
    "a file",
    "what is calculated from such a table",
]


@sample(PAIRS, QUICK)
def test_tables_that_nothing_declares_are_real(name):
    before, parameters, old, new, other = PAIRS[name]

    def text(body):
        return f"{before}def f({parameters}):\n    {body}\n"

    options = {"context": "module", "function": "f", "seed": 0}
    expect(PRESERVING, text(old), text(new), **options)
    assert made_up(expect(CHANGING, text(old), text(other), **options)) == []


def test_what_an_installed_library_lacks_is_said_and_not_made_up():
    old = "import numpy as np\n\ndef f(x: int):\n    return np.no_such_number + x\n"
    comparison = expect(INCONCLUSIVE, old, old.replace("+ x", "- x"), context="module", function="f")
    [pair] = comparison.to_dict()["pairs"]
    assert [note for note in pair["notes"] if "no_such_number" in note], pair["notes"]


# name: (parameters, old's body, new's), where nothing differs.
SAME_FILE = {
    "an option that says what is so anyway": (
        "path",
        "sales = pd.read_csv(path)\n    return sales.groupby('kind')['units'].sum(), sales['day'].max()",
        "sales = pd.read_csv(path, sep=',')\n    return sales.groupby('kind')['units'].sum(), sales['day'].max()",
    ),
    "another read that is changed": (
        "",
        "other = pd.read_csv('a.csv')\n    other['units'] = 0\n    return pd.read_csv('a.csv')['units'].sum()",
        "other = pd.read_csv('a.csv')\n    del other\n    return pd.read_csv('a.csv')['units'].sum()",
    ),
    "another read of what is no text": (
        "",
        "other = pd.read_json('a.json')\n    other['units'] = 0\n    return pd.read_json('a.json')['units'].sum()",
        "other = pd.read_json('a.json')\n    del other\n    return pd.read_json('a.json')['units'].sum()",
    ),
    "options about its bytes": (
        "path",
        "return pd.read_csv(path, compression='gzip', memory_map=True)['units'].sum()",
        "sales = pd.read_csv(path, compression='gzip', memory_map=True)\n    return sales['units'].sum()",
    ),
}


@sample(SAME_FILE, ["another read that is changed"])
def test_a_file_is_read_anew_each_time_and_always_in_the_same_way(name):
    parameters, old, new = SAME_FILE[name]
    old, new = (f"{PANDAS}def f({parameters}):\n    {body}\n" for body in (old, new))
    expect(PRESERVING, old, new, context="module", function="f", seed=0)
    other = new.replace(".sum()", ".max()")
    expect(CHANGING, old, other, context="module", function="f", seed=0)


@pytest.mark.parametrize("options", ["sepp=','", pytest.param("usecols=['no' + '_such']", marks=pytest.mark.long)])
def test_options_that_a_reader_refuses_are_refused(options):
    old = f"{PANDAS}def f(path):\n    return pd.read_csv(path, {options})['units'].sum()\n"
    expect(INCONCLUSIVE, old, old.replace("sum", "max"), context="module", function="f", seed=0)


def test_a_missing_file_for_which_one_version_is_prepared_is_behavior():
    body = "return pd.read_csv(path)['units'].sum()"
    old = f"{PANDAS}def f(path: str):\n    try:\n        {body}\n    except OSError:\n        return 0\n"
    expect(CHANGING, old, f"{PANDAS}def f(path: str):\n    {body}\n", context="module", function="f", seed=0)


def test_only_functions_of_pandas_give_its_tables():
    old = f"{PANDAS}def f(client):\n    return 1 if type(client.read_json('a')).__name__ == 'DataFrame' else 2\n"
    expect(CHANGING, old, old.replace("else 2", "else 3"), context="module", function="f", seed=0)


@pytest.mark.parametrize(
    "head", ["def f(np, x: int):", "def f(x: int):\n    import math as np", "def f(x: int):\n    np = x.parts"]
)
def test_a_name_of_the_code_itself_is_no_library(head):
    old = f"import numpy as np\n\n{head}\n    return np.comb(x, 1) + 1\n"
    [pair] = twincell.compare(old, old.replace("+ 1", "+ 2"), context="module", function="f").to_dict()["pairs"]
    assert not [note for note in pair["notes"] if "numpy" in note], pair["notes"]


@pytest.mark.long
def test_what_is_drawn_is_behavior():
    pytest.importorskip("matplotlib")
    old = (
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\n\n"
        "def f(x: int):\n    axes = plt.gca()\n    axes.set_title('one')\n    plt.legend(loc='best')\n"
    )
    options = {"context": "module", "function": "f", "seed": 0}
    expect(PRESERVING, old, old.replace("axes = plt.gca()\n    axes.", "plt.gca()."), **options)
    expect(CHANGING, old, old.replace("'one'", "'two'"), **options)
    expect(CHANGING, old, old.replace("loc='best'", ""), **options)


DRAWN = "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\n\ndef f(x: int):\n    {}\n"

# What is drawn, where nothing differs, and where something does.
DRAWINGS = {
    "a value that is not used": (
        "axes = plt.gca()\n    axes.plot([1, 2])",
        "axes = plt.gca()\n    lines = axes.plot([1, 2])",
        "axes = plt.gca()\n    lines = axes.plot([1, 3])",
    ),
    "a value that is used": (
        "axes = plt.gca()\n    _, _, bars = axes.hist([1, 2, 3], bins=10)",
        "axes = plt.gca()\n    bars = axes.hist([1, 2, 3], bins=10)[2]",
        "axes = plt.gca()\n    _, _, bars = axes.hist([1, 2, 3], bins=20)",
    ),
    "the one of several": (
        "_, axes = plt.subplots(1, 2)\n    axes[1].set_title('one')",
        "_, (left, right) = plt.subplots(1, 2)\n    right.set_title('one')",
        "_, axes = plt.subplots(1, 2)\n    axes[0].set_title('one')",
    ),
    "an argument by its name": (
        "axes = plt.gca()\n    axes.set_title('one')",
        "axes = plt.gca()\n    axes.set_title(label='one')",
        "axes = plt.gca()\n    axes.set_title(label='two')",
    ),
    "what only calculates": (
        "colour = matplotlib.colors.to_rgb('red')\n    plt.gca().set_title(str(colour))",
        "plt.gca().set_title(str(matplotlib.colors.to_rgb('red')))",
        "plt.gca().set_title(str(matplotlib.colors.to_rgb('blue')))",
    ),
}


@sample(DRAWINGS, ["an argument by its name"])
def test_drawings_are_compared_by_what_is_drawn_where(name):
    old, same, other = DRAWINGS[name]
    pytest.importorskip("matplotlib")
    options = {"context": "module", "function": "f", "seed": 0}
    expect(PRESERVING, DRAWN.format(old), DRAWN.format(same), **options)
    expect(CHANGING, DRAWN.format(old), DRAWN.format(other), **options)


def test_a_replaced_helper_gives_what_it_declares():
    old = (
        "def total(values: list[int]) -> int:\n    raise OSError('offline')\n\n"
        "def f(values: list[int]):\n    return f'{total(values)}'\n"
    )
    new = old.replace("f'{total(values)}'", "'%d' % total(values)")
    expect(PRESERVING, old, new, context="module", function="f")


def test_a_table_that_is_read_outside_functions_has_the_columns_that_the_code_names():
    old = "import pandas as pd\n\nsales = pd.read_csv('sales.csv')\ntotal = sales.groupby('region')['amount'].sum()\n"
    expect(CHANGING, old, old.replace("sum()", "mean()"))
    expect(PRESERVING, old, old.replace("['amount'].sum()", "['amount'].agg('sum')"))


def test_the_text_of_a_query_reads_parameters_and_names_of_the_module():
    head = "import pandas as pd\n\nLOW = 3\n\ndef f(df: pd.DataFrame, limit: int):\n    return "
    old = f"{head}df[(df['a'] > limit) & (df['b'] > LOW)]\n"
    new = f"{head}df.query('a > @limit and b > @LOW')\n"
    expect(PRESERVING, old, new, context="module", function="f")
    expect(CHANGING, old, new.replace("b > @LOW", "b >= @LOW"), context="module", function="f")
