"""twincell: did this change alter behavior?

`compare(old, new)` runs two versions of Python code side by side and returns a `Comparison`. `study(changes)` compares
many changes and returns a `Study`; `load_study(results)` reads the results of an earlier one. `mine(repository)` yields
the changes in a git history, and `transform(folder, command)` those that a tool makes. `register(cls, values)` declares
values of a class for comparisons. `prefix(code)` makes incomplete code run, and `prefix_study(inputs)` many snippets.
`slice(repository, range, tests)` finds the commits that carry a feature, and `blame(place, call)` the one since which a
call gives its value. `impact(old, new)` finds the statements that a change may reach, and
`select_tests(range)` the tests. In a notebook,
`%load_ext twincell` loads `%%compare`, `%compare`, `%%version`, `%predict`, `%prefix`, `%study`, `%slice`, `%blame` and
`%impact`.
"""

# Before any other import: `python -m twincell` and `python -m twincell.kernel` put the current folder in front, and
# what lies there, in a checkout or beside a notebook, is not ours. Python has loaded these two by then.
import os
import sys

if (
    sys.argv[:1] == ["-m"]
    and any(word.split(".")[0] in ("twincell", "-mtwincell") for word in sys.orig_argv)
    and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
    and sys.path[:1] in ([""], [os.getcwd()])
):
    del sys.path[0]

from typing import TYPE_CHECKING

from ._twincell import (
    Amplification,
    Blame,
    Comparison,
    Impact,
    Mine,
    Predictions,
    Prefixes,
    PrefixStudy,
    Slice,
    Study,
    Transform,
    TwincellError,
    __version__,
    amplify,
    blame,
    compare,
    impact,
    load_prefix_study,
    load_study,
    mine,
    predict,
    prefix,
    prefix_study,
    register,
    select_tests,
    slice,
    study,
    transform,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = [
    "Amplification",
    "Blame",
    "Comparison",
    "Impact",
    "Mine",
    "Predictions",
    "PrefixStudy",
    "Prefixes",
    "Slice",
    "Study",
    "Transform",
    "TwincellError",
    "__version__",
    "amplify",
    "blame",
    "compare",
    "impact",
    "load_ipython_extension",
    "load_prefix_study",
    "load_study",
    "mine",
    "predict",
    "prefix",
    "prefix_study",
    "register",
    "select_tests",
    "slice",
    "study",
    "transform",
]


def load_ipython_extension(ipython: "InteractiveShell") -> None:
    """Adds the magics. `%load_ext twincell` calls this."""
    from .magics import load_ipython_extension as load

    load(ipython)
