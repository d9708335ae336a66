"""Behavior-preserving changes that tools make, over five packages, and how many twincell calls changing.

    python -m tests.measure.toolmade make FILE.jsonl [--packages SET] [--seed N] [--count N] [--sources FOLDER]
    python -m tests.measure.toolmade judge FILE.jsonl [--context function|module] [--check] [OPTIONS OF study]

`make` fetches the packages with their tests, lets Ruff and rope change them, and keeps a change if it introduces no
undefined name and the package's tests pass as before. The same releases and seed give the same file. `judge` runs
`twincell study` over the changes and prints how many are called changing, and each of these with its diff and
evidence; `--check` ends with status 1 if more than one in a hundred is. Install requirements.txt beside twincell first.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from .packages import SETS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(dest="job", required=True)
    making = jobs.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("--packages", choices=SETS, default="studied")
    making.add_argument("--seed", type=int, default=0)
    making.add_argument("--count", type=int, default=300)
    making.add_argument("--sources", type=Path, help="folder that keeps the fetched sources")
    judging = jobs.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--context", choices=["function", "module"], action="append")
    judging.add_argument("--check", action="store_true")
    arguments, more = parser.parse_known_args()
    if arguments.job == "judge":
        from .judging import judge

        shares = [judge(arguments.file, context, more) for context in arguments.context or ["module", "function"]]
        return 1 if arguments.check and max(shares) > 0.01 else 0
    if more:
        parser.error(f"make does not know {' '.join(more)}")
    from .making import make

    with tempfile.TemporaryDirectory() as work:
        sources = arguments.sources or Path(work, "sources")
        sources.mkdir(parents=True, exist_ok=True)
        packages = SETS[arguments.packages]
        changes = make(packages, sources, Path(work), arguments.count, random.Random(arguments.seed))
    arguments.file.write_text("".join(json.dumps(change.as_row()) + "\n" for change in changes))
    for (kind, package), number in sorted(Counter((change.kind, change.package) for change in changes).items()):
        print(f"{kind:24} {package:12} {number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
