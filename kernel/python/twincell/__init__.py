"""twincell: did this change alter behavior?

`compare(old, new)` runs two versions of Python code side by side and returns a `Comparison`; `study(changes)` does so
for many and returns a `Study`; `load_study(results)` reads what a study found; `mine(repository)` gives the changes of
a git history, `transform(folder, command)` those that a tool makes. In a notebook, `%load_ext twincell` brings
`%%compare`, `%compare`, `%%version` and `%study`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._twincell import (
    Comparison,
    Mine,
    Predictions,
    Study,
    Transform,
    TwincellError,
    __version__,
    compare,
    load_study,
    mine,
    predict,
    study,
    transform,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = [
    "Comparison",
    "Mine",
    "Predictions",
    "Study",
    "Transform",
    "TwincellError",
    "__version__",
    "compare",
    "load_ipython_extension",
    "load_study",
    "mine",
    "predict",
    "study",
    "transform",
]


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Adds the magics: what `%load_ext twincell` calls."""
    from .magics import load_ipython_extension as load

    load(ipython)
