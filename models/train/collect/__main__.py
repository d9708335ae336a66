"""python -m models.train.collect OUT [--packages FILE] [--only NAME ...] [--jobs N] [--seconds S] [--retry]

Each package of the list (default: packages.txt beside this file) gives OUT/NAME.jsonl.gz and an entry in
OUT/manifest.json; what is in the manifest is not done again.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fcntl
import hashlib
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from ..functions import canonical, write
from . import fetch, listing, sandboxed, traces
from .manifest import Manifest

#: The folder below OUT in which packages are unpacked. Leftovers of an earlier run are removed.
WORK = "work"


def collect(package: listing.Package, out: Path, limits: sandboxed.Limits, keep: bool = False) -> dict:
    """Collects from one package. Returns its entry in the manifest."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"{package.name}-", dir=out / WORK)).resolve()
    entry = {"package": package.name, "version": package.version, "functions": 0, "sites": 0}
    try:
        ready = fetch.ready(package, folder)
        entry["version"] = ready.version
        entry |= gather(package.name, ready, folder, out, limits)
    except (fetch.Unready, traces.NoRecord) as error:
        entry["error"] = str(error)
    except (OSError, UnicodeError) as error:
        entry["error"] = f"{folder.name}: {fetch.plain(str(error))}"
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    entry["seconds"] = round(time.monotonic() - began, 1)
    return entry


def gather(name: str, ready: fetch.Ready, folder: Path, out: Path, limits: sandboxed.Limits) -> dict:
    """Runs the tests of a package that is ready and writes its traces."""
    outcome = sandboxed.run(name, ready, folder, limits)
    functions = traces.joined((folder / "seen").glob("*.jsonl"))
    sites = sum(len(function["sites"]) for function in functions)
    entry = {"functions": len(functions), "sites": sites, "tests": outcome.report}
    if functions:
        write(out / f"{canonical(name)}.jsonl.gz", functions)
    if outcome.ended:
        entry["ended"] = outcome.ended
    if not functions:
        entry["error"] = f"nothing was seen: {outcome.ended or outcome.said}"
    return entry


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m models.train.collect", description=__doc__.partition("\n\n")[2])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--packages", type=Path, default=Path(__file__).with_name("packages.txt"), metavar="FILE")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these packages of the list")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="packages at once (default: 1)")
    parser.add_argument(
        "--seconds", type=float, default=sandboxed.Limits.seconds, metavar="S", help="for the tests of a package"
    )
    parser.add_argument("--retry", action="store_true", help="packages that failed, too")
    parser.add_argument(
        "--pin", action="store_true", help="collect nothing; write the versions that gave traces into the list"
    )
    parser.add_argument("--keep", action="store_true", help="leave the folders of packages, to look what went wrong")
    return parser


def occupied(out: Path) -> IO[str] | None:
    """Takes the folder for this run and clears what a killed one left. `None` if another run has it."""
    out.mkdir(parents=True, exist_ok=True)
    lock = open(out / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    shutil.rmtree(out / WORK, ignore_errors=True)
    (out / WORK).mkdir(exist_ok=True)
    return lock


def wanted(arguments: argparse.Namespace, manifest: Manifest) -> list[listing.Package]:
    packages = listing.read(arguments.packages)
    only = {canonical(name) for name in arguments.only}
    unknown = only - {canonical(package.name) for package in packages}
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: not in {arguments.packages}")

    def is_open(package: listing.Package) -> bool:
        entry = manifest.entries.get(package.name)
        return entry is None or (arguments.retry and "error" in entry)

    chosen = [package for package in packages if not only or canonical(package.name) in only]
    # The list is sorted by subject. In this order, a run that is cut short has something of each.
    chosen.sort(key=lambda package: hashlib.sha1(package.name.encode()).hexdigest())
    return [package for package in chosen if is_open(package)]


def pin(arguments: argparse.Namespace) -> int:
    listing.read(arguments.packages)
    entries = Manifest(arguments.out).entries
    versions = {name: entry["version"] for name, entry in entries.items() if "error" not in entry}
    print(f"{listing.pin(arguments.packages, versions)} packages of {arguments.packages} have a version now")
    return 0


def main() -> int:
    arguments = parser().parse_args()
    try:
        if arguments.pin:
            return pin(arguments)
        lock = occupied(arguments.out)
        if lock is None:
            raise ValueError(f"another run works in {arguments.out}: wait for it, or give another folder")
        manifest = Manifest(arguments.out)
        packages = wanted(arguments, manifest)
    except (OSError, ValueError) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 2
    limits = sandboxed.Limits(seconds=arguments.seconds)
    print(f"{len(packages)} packages to do, {len(manifest.entries)} in the manifest", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max(arguments.jobs, 1)) as threads:
        work = {
            threads.submit(collect, package, arguments.out, limits, arguments.keep): package for package in packages
        }
        try:
            for done in concurrent.futures.as_completed(work):
                package, entry = work[done], done.result()
                manifest.add(package.name, entry)
                result = entry.get("error") or f"{entry['functions']} functions, {entry['sites']} sites"
                print(f"{package.name} {entry['version']}: {result} ({entry['seconds']} s)", flush=True)
        except KeyboardInterrupt:
            threads.shutdown(wait=False, cancel_futures=True)
            print(
                "collect: interrupted, packages that run are finished first; the same command goes on", file=sys.stderr
            )
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
