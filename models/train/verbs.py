"""Learns what the first word of a called name says: how often the value of such calls is thrown away, and is None.

    python verbs.py traces.jsonl.gz > core/behavior/src/verbs.tsv

A line of the traces is one function: its `text`, and its `sites` with `start`, `end` (characters), `kind` and `counts`
(how often each class of value was seen, by the number of the class; 0 is None). Each call site counts once, however
often it ran. One in three of the packages is left out and used to measure the table: its figures go to standard
error.
"""

import ast
import gzip
import json
import re
import sys
from collections import defaultdict
from itertools import accumulate

FEWEST_SITES = 15
FEWEST_PACKAGES = 4
NONE = "0"


def first_word(name: str) -> str:
    """`inc` for `_inc_value`, `set` for `setHeader`, `http` for `HTTPServer`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return words[0].lower() if words else ""


def calls(text: str):
    """The start and the end of each call, the name that is called, and whether the call is a statement."""
    tree = ast.parse(text)
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def place(line: int, column: int) -> int:
        # Columns of `ast` count bytes.
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    alone = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            value = node.value.value if isinstance(node.value, ast.Await) else node.value
            alone.add(id(value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            yield (
                (place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)),
                name,
                id(node) in alone,
            )


def read(path: str):
    """(package, word, is a class, value thrown away, value is None) of each call site."""
    with gzip.open(path, "rt") as file:
        for line in file:
            function = json.loads(line)
            text = function["text"]
            seen = {
                (site["start"], site["end"]): site["counts"] for site in function["sites"] if site["kind"] == "call"
            }
            if not seen:
                continue
            try:
                found = list(calls(text))
            except SyntaxError:
                continue
            for place, name, alone in found:
                counts = seen.get(place)
                if counts and name:
                    none = 2 * counts.get(NONE, 0) > sum(counts.values())
                    yield function["package"], first_word(name), alone, none


def main() -> None:
    table = defaultdict(lambda: [0, 0, 0, set()])
    held = []
    for package, word, alone, none in read(sys.argv[1]):
        if sum(package.encode()) % 3 == 0:
            held.append((word, alone))
            continue
        row = table[word]
        row[0] += 1
        row[1] += alone
        row[2] += none
        row[3].add(package)
    kept = {
        word: row
        for word, row in table.items()
        if row[0] >= FEWEST_SITES and len(row[3]) >= FEWEST_PACKAGES and len(word) > 1
    }
    for word in sorted(kept):
        sites, alone, none, _ = kept[word]
        print(f"{word}\t{sites}\t{alone / sites:.2f}\t{none / sites:.2f}")
    known = [(kept[word], alone) for word, alone in held if word in kept]
    right = sum((row[1] / row[0] >= 0.5) == alone for row, alone in known)
    base = sum(not alone for _, alone in known)
    print(
        f"{len(kept)} words; of {len(held)} sites of other packages {len(known)} have a word of the table; "
        f"whether the value is thrown away is right for {right / len(known):.3f} "
        f"('never' is for {base / len(known):.3f})",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
