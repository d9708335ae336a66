"""The interactive view of a result in a notebook. Rust decides what it shows, and `widgets/js` how.

It needs the package `anywidget`. Without it, and where nobody looks at the output, there is only the static output.
"""

from __future__ import annotations

import functools
import itertools
import json
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from IPython import get_ipython
from IPython.display import display

from . import _debug_run
from ._twincell import (
    Amplification,
    Comparison,
    Impact,
    Prefixes,
    Slice,
    Start,
    Study,
    TwincellError,
    widget_loader,
    widget_module,
)

logger = logging.getLogger("twincell.kernel")

Result = Comparison | Study | Prefixes | Amplification | Slice | Impact

#: What a view calls its result. A comparison has no name.
KINDS = {Study: "study", Prefixes: "prefixes", Amplification: "amplification", Slice: "slice", Impact: "impact"}

#: Maximum number of replayed executions that a view can continue from.
KEPT = 50

#: Maximum number of changes that a front end can hold. A larger study has only its static output.
ROWS = 20_000


def is_live() -> bool:
    """Whether a person watches the running cell in a front end that can show widgets."""
    kernel = getattr(get_ipython(), "kernel", None)
    # A batch run of a notebook answers no questions. Both kernels know this, each in its own attribute.
    answers = getattr(getattr(kernel, "output", None), "allow_stdin", getattr(kernel, "_allow_stdin", False))
    return bool(answers) and find_spec("anywidget") is not None


@functools.cache
def view_class() -> type:
    """The widget's class. It is made on first use, since anywidget takes a while to import."""
    import anywidget
    import traitlets

    made = itertools.count()

    class View(anywidget.AnyWidget):
        """A result, or the progress of what still runs."""

        _esm = widget_loader()
        #: The widget's own module, for the loader. It goes with the first view, and to views that ask for it.
        module = traitlets.Unicode().tag(sync=True)
        kind = traitlets.Unicode("comparison").tag(sync=True)
        state = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        progress = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        pinned: traitlets.List[Any] = traitlets.List().tag(sync=True)
        #: Whether the kernel has a debugger.
        debugs = traitlets.Bool(False).tag(sync=True)

        def __init__(
            self,
            result: Result | None = None,
            **traits: Any,
        ) -> None:
            #: The comparison that answers requests; None while one runs, and before a change of a study is opened.
            self.comparison = result if isinstance(result, Comparison) else None
            self.study = result if isinstance(result, Study) else None
            self.amplification = result if isinstance(result, Amplification) else None
            #: The latest replayed executions, by the handles that the view has for them.
            self._replayed: dict[int, Start] = {}
            self._handles = itertools.count(1)
            #: Called when the stop button is pressed.
            self.on_stop: Callable[[], None] = lambda: None
            #: Called with the comparison that has another example now.
            self.on_example: Callable[[Comparison], None] = lambda comparison: None
            traits["debugs"] = _debug_run.is_possible()
            if result is not None:
                traits |= {"kind": KINDS.get(type(result), "comparison"), "state": json.loads(result._state())}
            if next(made) == 0:
                traits["module"] = widget_module()
            super().__init__(**traits)
            self.on_msg(self._answer)

        def __repr__(self) -> str:
            # Where a front end cannot show a view, the static output below it stands alone.
            return ""

        def _handle_msg(self, msg: dict[str, Any]) -> None:
            """Takes questions and what is pinned. A front end may send anything else, which is left out."""
            data = msg["content"].get("data")
            data = data if isinstance(data, dict) else {}
            method, state = data.get("method"), data.get("state")
            if method in ("custom", "request_state"):
                super()._handle_msg(msg)
            elif method == "update" and isinstance(state, dict) and isinstance(state.get("pinned", []), list):
                self.set_state({name: value for name, value in state.items() if name == "pinned"})
            else:
                logger.warning("a message for a view was ignored: it is no question and pins nothing")

        def _answer(self, _widget: Any, request: Any, _buffers: Any) -> None:
            if not isinstance(request, dict):
                return
            if request.get("do") == "stop":
                self.on_stop()
            elif request.get("do") == "module":
                self.send({"module": widget_module()})
            elif isinstance(request.get("id"), int):
                self.send({"id": request["id"], **self._carry_out(request)})

        def _carry_out(self, request: dict[str, Any]) -> dict[str, Any]:
            if request.get("do") in ("run_test", "write_test"):
                return with_test(self.amplification, request)
            if request.get("do") == "kept":
                return kept_row(self.study, request.get("row"))
            if request.get("do") == "open":
                reply, opened = open_row(self.study, request.get("row"))
                # The next requests are about this change.
                self.comparison = opened or self.comparison
                return reply
            handle = request.get("handle")
            # A list, for instance, cannot be looked up.
            if handle is not None and not (isinstance(handle, int) and handle in self._replayed):
                return {"ok": False, "error": "the kernel does not know this execution any more: run the cell again"}
            start = None
            if handle is not None:
                # It was used again, so it moves to the end.
                start = self._replayed[handle] = self._replayed.pop(handle)
            if request.get("do") == "headline" and self.study is None:
                reply, comparison = with_example(self.comparison, request, start)
                if comparison is not None:
                    # The new state makes a new view. Starts from earlier executions stay valid.
                    self.comparison = comparison
                    self.state = json.loads(comparison._state())
                    self.on_example(comparison)
                return reply
            if request.get("do") == "debug":
                return debugged(self.comparison, request, start)
            reply, start = answer(self.comparison, request, start)
            if start is not None and "detail" in reply:
                reply["detail"]["handle"] = handle = next(self._handles)
                self._replayed[handle] = start
                if len(self._replayed) > KEPT:
                    del self._replayed[next(iter(self._replayed))]
            return reply

    return View


def kept_row(study: Study | None, row: Any) -> dict[str, Any]:
    """The comparison that a study kept of one change, packed: the reply for the view."""
    try:
        packed = None if study is None else study._kept(row)
    except (TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}
    if packed is None:
        return {"ok": False, "error": "the study keeps no comparison of this change"}
    return {"ok": True, "packed": packed}


def open_row(study: Study | None, row: Any) -> tuple[dict[str, Any], Comparison | None]:
    """The comparison of one change of a study: the reply for the view, and the comparison for later requests."""
    try:
        if study is None:
            raise TwincellError("this view shows no study")
        comparison = study.comparison(row)
    except (TwincellError, IndexError, TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}, None
    except KeyboardInterrupt:
        return {"ok": False, "error": "interrupted"}, None
    return {"ok": True, "state": json.loads(comparison._state())}, comparison


def with_test(amplification: Amplification | None, request: dict[str, Any]) -> dict[str, Any]:
    """Runs an amplified test once more, or writes it to its file: the reply for the view."""
    try:
        if amplification is None:
            raise TwincellError("this view shows no tests")
        test, old = request.get("test"), request.get("form") == "old"
        if not isinstance(test, int):
            raise TwincellError("the view did not say which test")
        if request.get("do") == "run_test":
            return {"ok": True, "outcomes": amplification.run_test(test, old=old)}
        return {"ok": True, "file": amplification.write_test(test, old=old)}
    except (TwincellError, TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}
    except KeyboardInterrupt:
        return {"ok": False, "error": "interrupted"}


def with_example(
    comparison: Comparison | None, request: dict[str, Any], start: Start | None
) -> tuple[dict[str, Any], Comparison | None]:
    """The comparison with an execution as the example of its headline: the reply for the view, and the comparison."""
    execution, changes, pair = request.get("execution"), request.get("changes") or {}, request.get("pair", 0)
    try:
        if comparison is None:
            raise TwincellError("the comparison still runs")
        return {"ok": True}, comparison._with_example(execution, changes, pair, start)
    except (TwincellError, TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}, None
    except KeyboardInterrupt:
        return {"ok": False, "error": "interrupted"}, None


def debugged(comparison: Comparison | None, request: dict[str, Any], start: Start | None) -> dict[str, Any]:
    """Runs an execution in the debugger, which the person at the view asked for: the reply for the view."""
    execution, changes, pair = request.get("execution"), request.get("changes") or {}, request.get("pair", 0)
    try:
        if comparison is None:
            raise TwincellError("the comparison still runs")
        outcomes = _debug_run.run(comparison, execution, changes, pair, start, lambda notice: None)
    except (TwincellError, TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}
    except KeyboardInterrupt:
        return {"ok": False, "error": "interrupted"}
    return {"ok": True, "outcomes": outcomes}


def answer(
    comparison: Comparison | None, request: dict[str, Any], start: Start | None
) -> tuple[dict[str, Any], Start | None]:
    """The reply to a view (an execution in full, or the text of a test) and the start for a following request."""
    does = {"replay": "show", "shrink": "shrink", "reproducer": "reproduce"}
    do = request.get("do")
    try:
        if comparison is None:
            raise TwincellError("the comparison still runs")
        if not isinstance(do, str) or do not in does:
            raise TwincellError(f"the kernel does not know how to {ascii(do):.100}")
        then = does[do]
        execution, changes, pair = request.get("execution"), request.get("changes") or {}, request.get("pair", 0)
        detail, start = comparison._replay(execution, changes, pair, then, start)
    except (TwincellError, TypeError, ValueError, OverflowError) as error:
        return {"ok": False, "error": str(error)}, None
    except KeyboardInterrupt:
        return {"ok": False, "error": "interrupted"}, None
    source = detail.pop("reproducer")
    return ({"ok": True, "source": source} if then == "reproduce" else {"ok": True, "detail": detail}), start


def show(result: Result) -> bool:
    """Shows the interactive view, and behind it the static output. Returns False where only static output is possible.

    The static output is for opening the notebook later without a kernel. While the view lives, its style hides it.
    """
    if not is_live() or (isinstance(result, Study) and len(result) > ROWS):
        return False
    view = view_class()(result)
    display(view)
    static = display(saved(result), raw=True, display_id=True)
    if static is not None:
        view.on_example = lambda comparison: static.update(saved(comparison), raw=True)
    return True


def saved(result: Result) -> dict[str, Any]:
    """The static output. It stays small: the whole report as JSON is for programs that run notebooks."""
    return {kind: content for kind, content in result._repr_mimebundle_().items() if kind.startswith("text/")}
