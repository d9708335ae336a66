"""Compares our call graphs with those of PyCG's micro-benchmark, which its authors wrote by hand.

    python -m tests.measure.pycg FOLDER [--build PROFILE] [--misses]

FOLDER is `micro-benchmark/snippets` of a checkout of vitsalis/PyCG. A snippet is sound if no expected call is missing,
and complete if there is no other call (Salis et al., ICSE 2021, section 5.1).
"""

import argparse
import json
import subprocess
from collections import defaultdict
from pathlib import Path

# Published: Table 3 of the artifact of the paper, for the 112 snippets of that time.
PUBLISHED = {"sound": (103, 112), "complete": (111, 112)}
CONTAINERS = {"str": "PyStr", "dict": "PyDict", "list": "PyList", "tuple": "PyTuple", "set": "PySet"}


def pycg_name(name: str) -> str:
    """Our dotted name as the benchmark writes it."""
    name = name.replace(".<locals>", "")
    if name.startswith("builtins."):
        first, _, rest = name.removeprefix("builtins.").partition(".")
        return f"<**{CONTAINERS[first]}**>.{rest}" if rest and first in CONTAINERS else f"<builtin>.{first}"
    return name


def edges(graph: dict[str, list[str]]) -> set[tuple[str, str]]:
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", default="release", help="Cargo's profile")
    parser.add_argument("--misses", action="store_true", help="also print what is missing and what is too much")
    options = parser.parse_args()
    snippets = sorted(path.parent for path in options.folder.glob("*/*/callgraph.json"))
    command = ["cargo", "run", "--quiet", "--profile", options.build, "--package", "twincell-semantic"]
    command += ["--example", "call_graph", "--", *map(str, snippets)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = {Path(entry["folder"]): entry["calls"] for entry in map(json.loads, lines)}

    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for snippet in snippets:
        expected = edges(json.loads((snippet / "callgraph.json").read_text()))
        own = {(pycg_name(caller), pycg_name(callee)) for caller, callee in edges(found[snippet])}
        category = counts[snippet.parent.name]
        category[0] += 1
        category[1] += not expected - own
        category[2] += not own - expected
        if options.misses:
            name = f"{snippet.parent.name}/{snippet.name}"
            for kind, calls in [("missing", expected - own), ("too much", own - expected)]:
                for caller, callee in sorted(calls):
                    print(f"{name}: {kind}: {caller} -> {callee}")

    print(f"{'category':<14} {'snippets':>8} {'sound':>8} {'complete':>8}")
    for category, (number, sound, complete) in sorted(counts.items()):
        print(f"{category:<14} {number:>8} {sound:>8} {complete:>8}")
    number, sound, complete = (sum(column) for column in zip(*counts.values(), strict=True))
    print(f"{'all':<14} {number:>8} {sound:>8} {complete:>8}")
    published = ", ".join(f"{kind} {count} of {of}" for kind, (count, of) in PUBLISHED.items())
    print(f"PyCG, as published: {published}")


if __name__ == "__main__":
    main()
