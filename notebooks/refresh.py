"""Runs every notebook under twincell's own kernel and stores it with its outputs, to be read without a kernel.

Called by `make notebooks`. Of an output it stores one kind: SVG, or else Markdown, or else plain text, which look
the same on every code host and in a diff. It removes what differs from run to run, so that running it again
changes nothing.
"""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from pathlib import Path

import nbformat
from run_quickstart import run

NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))
# The first kind that an output has is stored.
KINDS = ("image/svg+xml", "text/markdown", "text/plain", "text/html")
# Ten seconds and more have the unit and one decimal.
TIME = re.compile(r"\b(?:\d+(?:\.\d+)? ms|\d+\.\d s)\b")
# A paragraph of a comparison as text. A time in it changes where its lines end.
PARAGRAPH = re.compile(r"(?:^  \S.*\n)+", re.MULTILINE)
UNSTABLE = (
    (TIME, "… ms"),
    (re.compile(r"neural \([^)]*\)"), "neural"),
    (re.compile(re.escape(tempfile.gettempdir()) + r"/[\w./-]+"), "/tmp/folder"),
    (re.compile(r"\b0x[0-9a-f]{6,}"), "0x…"),
)


def normalized(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A copy of an executed notebook without what differs from run to run."""
    copy = nbformat.from_dict(notebook)
    copy.metadata = {key: copy.metadata[key] for key in ("kernelspec", "language_info")}
    for cell in copy.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            shown = [output for output in joined_streams(cell.outputs) if shows_something(output)]
            cell.outputs = [stable_output(output) for output in shown]
    return copy


def joined_streams(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The outputs with one stream where a run may have several, depending on when they were flushed."""
    found: list[nbformat.NotebookNode] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream" and output.name == found[-1].name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def shows_something(output: nbformat.NotebookNode) -> bool:
    """Whether an output is more than the place of a progress bar, which some runs are too short to show."""
    return output.output_type != "display_data" or any(output.data.values())


def stable_output(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    if output.output_type == "stream":
        output.text = stable(output.text)
    elif output.output_type == "error":
        output.traceback = [stable(line) for line in output.traceback]
    else:
        kind = next(kind for kind in KINDS if kind in output.data)
        output.data = {kind: stable(output.data[kind])}
        output.metadata = {}
    return output


def stable(text: str) -> str:
    text = PARAGRAPH.sub(refilled, text)
    for pattern, instead in UNSTABLE:
        text = pattern.sub(instead, text)
    return text


def refilled(paragraph: re.Match[str]) -> str:
    """A paragraph that names a time, without the time and with lines that do not depend on its length."""
    whole = " ".join(line.strip() for line in paragraph[0].splitlines())
    if not TIME.search(whole):
        return paragraph[0]
    parts = TIME.sub("… ms", whole).replace(" executions: ", "\nexecutions: ").splitlines()
    return "".join(textwrap.indent(textwrap.fill(part, 98), "  ") + "\n" for part in parts)


def main() -> int:
    # Those in `long/` need further programs, and are run when they are named.
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else NOTEBOOKS:
        nbformat.write(normalized(run(path)), path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
