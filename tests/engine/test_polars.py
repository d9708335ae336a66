"""Frames and series of polars are real ones, with the columns that the code reads, compared by content and type."""

import pytest
import twincell

from .layers import sample
from .snippets import CHANGING, PRESERVING, expect

pytest.importorskip("polars")

POLARS = "import polars as pl\n\n"

# name: (parameters, old's body, new's, and one that differs).
PAIRS = {
    "a new column": (
        "df: pl.DataFrame",
        "return df.with_columns(margin=pl.col('price') - pl.col('cost'))",
        "return df.with_columns((pl.col('price') - pl.col('cost')).alias('margin'))",
        "return df.with_columns(margin=pl.col('cost') - pl.col('price'))",
    ),
    "rows": (
        "df: pl.DataFrame",
        "return df.filter(pl.col('price') > 3)['name']",
        "return df.filter(~(pl.col('price') <= 3)).get_column('name')",
        "return df.filter(pl.col('price') >= 3)['name']",
    ),
    "groups": (
        "df: pl.DataFrame",
        "return df.group_by('region').agg(pl.col('sales').sum())",
        "return df.group_by(pl.col('region')).agg(pl.sum('sales'))",
        "return df.drop_nulls('region').group_by('region').agg(pl.col('sales').sum())",
    ),
    "joined tables": (
        "a: pl.DataFrame, b: pl.DataFrame",
        "return a.join(b, on='id', how='left')",
        "return a.join(b, 'id', 'left')",
        "return a.join(b, on='id')",
    ),
    "dates": (
        "df: pl.DataFrame",
        "return df.select(pl.col('at').dt.month() * 100 + pl.col('at').dt.day())",
        "return df.select((100 * pl.col('at').dt.month() + pl.col('at').dt.day()).alias('at'))",
        "return df.select(pl.col('at').dt.month() * 100 + pl.col('at').dt.year())",
    ),
    "texts": (
        "names: pl.Series",
        "return names.str.strip_chars().str.to_uppercase()",
        "return names.str.to_uppercase().str.strip_chars()",
        "return names.str.to_uppercase()",
    ),
    "missing values": (
        "df: pl.DataFrame",
        "return df.select(pl.col('price').fill_null(0).sum())",
        "return df.select(pl.col('price').sum())",
        "return df.select(pl.col('price').fill_null(1).sum())",
    ),
    "the type of a column": (
        "df: pl.DataFrame",
        "return df.select(pl.col('n') * 2)",
        "return df.select((2 * pl.col('n')).alias('n'))",
        "return df.select((pl.col('n') * 2).cast(pl.Float64))",
    ),
    "a plan": (
        "lf: pl.LazyFrame",
        "return lf.filter(pl.col('price') > 3).select('price')",
        "return lf.select('price').filter(pl.col('price') > 3)",
        "return lf.filter(pl.col('price') > 4).select('price')",
    ),
    "a frame by its uses": (
        "orders",
        "return orders.with_columns(total=pl.col('price') * pl.col('count')).sort('total')['total'].to_list()",
        "return orders.select(total=pl.col('count') * pl.col('price')).get_column('total').sort().to_list()",
        "return orders.with_columns(total=pl.col('price') * pl.col('count'))['total'].to_list()",
    ),
    "a file that is not there": (
        "path: str",
        "return pl.read_csv(path).filter(pl.col('units') > 2)['units'].sum()",
        "sales = pl.read_csv(path)\n    return sales.filter(pl.col('units') > 2).get_column('units').sum()",
        "return pl.read_csv(path).filter(pl.col('units') > 3)['units'].sum()",
    ),
}


# Series, frames that nothing declares, and files; frames are below.
@sample(PAIRS, ["texts", "a frame by its uses", "a file that is not there"])
def test_real_frames_tell_refactorings_from_changes(name):
    parameters, old, new, other = PAIRS[name]

    def text(body):
        return f"{POLARS}def f({parameters}):\n    {body}\n"

    expect(PRESERVING, text(old), text(new), context="module", function="f", budget=40)
    expect(CHANGING, text(old), text(other), context="module", function="f")


OLD = POLARS + "def f(df: pl.DataFrame):\n    return df.with_columns(margin=pl.col('price') - pl.col('cost'))\n"
NEW = OLD.replace("pl.col('cost')", "2 * pl.col('cost')")


def test_a_difference_is_shown_as_a_small_table_and_reproduced_by_literals():
    pair = expect(CHANGING, OLD, NEW, context="module", function="f").to_dict()["pairs"][0]
    assert pair["evidence"][0]["old"].startswith("polars.DataFrame(price=")
    reproducer = pair["reproducer"]
    assert reproducer["holds"], reproducer
    for part in ["import polars as pl", "assert_frame_equal(", "pl.DataFrame({'price': ["]:
        assert part in reproducer["source"], reproducer["source"]


@pytest.mark.long
def test_the_same_seed_draws_the_same_frames():
    one, other = (twincell.compare(OLD, NEW, context="module", seed=4).to_dict() for _ in range(2))
    assert [pair["evidence"] for pair in one["pairs"]] == [pair["evidence"] for pair in other["pairs"]]


def test_an_expression_that_a_function_gives_is_compared():
    old = POLARS + "def f(limit: int):\n    return (pl.col('a') > limit).alias('big')\n"
    expect(PRESERVING, old, old.replace("    return ", "    made = ") + "    return made\n", context="module")
    expect(CHANGING, old, old.replace("> limit", ">= limit"), context="module")


@pytest.mark.parametrize(
    "call", ["value_counts()", pytest.param("unique(maintain_order=False).to_frame()", marks=pytest.mark.long)]
)
def test_rows_without_an_order_come_in_one(call):
    old = POLARS + f"def f(names: pl.Series):\n    return names.{call}.rows()\n"
    new = POLARS + f"def f(names: pl.Series):\n    found = names.{call}\n    return found.rows()\n"
    expect(PRESERVING, old, new, context="module", function="f")
    expect(CHANGING, old, old.replace(".rows()", ".rows()[1:]"), context="module", function="f")


def test_options_of_an_expression_are_part_of_it():
    old = POLARS + "def f(limit: int):\n    return (pl.col('a') + limit).rank('dense')\n"
    expect(CHANGING, old, old.replace("'dense'", "'min'"), context="module", function="f")


@pytest.mark.long
def test_a_plan_is_read_whatever_its_columns_are_called():
    old = (
        POLARS + "def f(lf: pl.LazyFrame):\n"
        "    return lf.filter(pl.col('price') > 3).select('price').rename({'price': 'PYTHON udf('})\n"
    )
    expect(CHANGING, old, old.replace("> 3", "> 4"), context="module", function="f")


@pytest.mark.long
def test_a_frame_is_that_of_the_library_which_its_annotation_names():
    pytest.importorskip("pandas")
    old = (
        "import pandas as pd\nimport polars as pl\n\n"
        "def f(one: pl.DataFrame, other: pd.DataFrame):\n"
        "    return one.filter(pl.col('a') > 2).height, len(other[other['b'] > 2])\n"
    )
    new = old.replace("one.filter(pl.col('a') > 2).height", "len(one.filter(pl.col('a') > 2))")
    expect(PRESERVING, old, new, context="module", function="f")
    expect(CHANGING, old, old.replace("pl.col('a') > 2", "pl.col('a') > 3"), context="module", function="f")
    expect(CHANGING, old, old.replace("other['b'] > 2", "other['b'] > 3"), context="module", function="f")
