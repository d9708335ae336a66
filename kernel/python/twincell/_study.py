"""Data frames of a study's rows, made by packages that twincell itself does not need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._twincell import PrefixStudy, Study, TwincellError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: The columns of a frame: the fields of the results.
COLUMNS = (
    "id verdict reason evidence executions coverage changed_lines_reached milliseconds reproducer label project commit "
    "date file function kind first_difference complexity sandbox_lacks key"
).split()

#: Those of a study of prefixes.
PREFIX_COLUMNS = (
    "id folder lines as_is error_before by_step coverage best best_step tried chosen milliseconds stopped reason "
    "problem libraries key"
).split()

#: Optional numbers, which pandas would otherwise turn into floats.
WHOLE = ["first_difference", "complexity"]


def needed(package: str, method: str) -> Any:
    """Imports a package, or says how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise TwincellError(
            f"{method}() needs the package {package}, which cannot be imported here ({error}): install it with "
            f"`pip install {package}`"
        ) from None


def to_pandas(study: Study | PrefixStudy) -> pandas.DataFrame:
    """Needs pandas alone; evidence is a list of dictionaries."""
    pandas = needed("pandas", "to_pandas")
    if isinstance(study, PrefixStudy):
        return pandas.DataFrame(study.rows, columns=PREFIX_COLUMNS)
    frame = pandas.DataFrame(study.rows, columns=COLUMNS)
    # Without rows pandas cannot infer the types.
    return frame.astype({name: "Int64" for name in WHOLE})


def to_polars(study: Study | PrefixStudy) -> polars.DataFrame:
    """Evidence is a list of structures."""
    frame: polars.DataFrame = needed("polars", "to_polars").DataFrame(study)
    return frame


def to_arrow(study: Study | PrefixStudy) -> pyarrow.Table:
    """Evidence is a list of structures."""
    return needed("pyarrow", "to_arrow").table(study)
