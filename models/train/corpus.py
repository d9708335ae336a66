"""Source text of packages, and what mypy knows of it: what the network is pretrained on.

python -m models.train.corpus OUT [--packages FILE] [--wheels FOLDER] [--jobs N] [--only NAME]

Each package of the list (default: packages.txt beside this file) is downloaded as a wheel, never installed and never
run. OUT gets one file a package; what is there already is not made again. manifest.json says what came of each.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from . import command, functions

#: Some packages are larger than all others together.
MOST_FUNCTIONS = 6000
LARGEST_FILE = 400_000
LONGEST_FUNCTION = 12_000
#: The time limit of mypy for a package, in seconds.
DEADLINE = 400


def packages(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [name for line in lines for name in line.split() if functions.usable(name) and not functions.held_out(name)]


def wheel_of(name: str, folder: Path) -> Path | None:
    """The wheel of a package, downloaded if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)

    def here() -> Path | None:
        return next(
            (
                path
                for path in sorted(folder.glob("*.whl"))
                if functions.canonical(path.name.split("-")[0]) == functions.canonical(name)
            ),
            None,
        )

    if not here():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]
        subprocess.run([*command, str(folder), name], check=False, stdin=subprocess.DEVNULL)
    return here()


def unpack(wheel: Path, folder: Path) -> int:
    """Writes the Python files of a wheel and returns their number. Names that lead out of the folder are skipped."""
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            target = (folder / entry.filename).resolve()
            wanted = entry.filename.endswith((".py", ".pyi", "py.typed")) and entry.file_size <= LARGEST_FILE
            # Vendored code of other projects is in their own packages.
            if not wanted or "_vendor" in entry.filename or not target.is_relative_to(folder.resolve()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
            count += 1
    return count


def gather(name: str, folder: Path) -> list[dict]:
    """The functions below a folder, each text once, up to a maximum, spread over its files."""
    from . import static_types

    texts = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            texts[path] = path.read_text(encoding="utf-8").replace("\r\n", "\n")
            ast.parse(texts[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # If one file is not Python, mypy reads none of the others.
            texts.pop(path, None)
            path.unlink()
    try:
        known = static_types.types_of(folder)
    except ValueError as error:
        print(f"{name}: mypy reads nothing of it: {error}", file=sys.stderr)
        known = {}
    found, seen = [], set()
    for path, text in texts.items():
        for function in static_types.functions_of(text, known.get(str(path), static_types.nothing)):
            if function["text"] in seen or len(function["text"]) > LONGEST_FUNCTION:
                continue
            seen.add(function["text"])
            found.append({"package": name, "file": str(path.relative_to(folder)), **function})
    found.sort(key=lambda function: functions.chance("corpus", name, function["file"], function["qualname"]))
    return found[:MOST_FUNCTIONS]


def one(name: str, wheels: Path, out: Path) -> dict:
    wheel = wheel_of(name, wheels)
    if wheel is None:
        return {"failed": "it has no wheel"}
    with tempfile.TemporaryDirectory() as folder:
        if not unpack(wheel, Path(folder)):
            return {"failed": "its wheel holds no Python"}
        found = gather(name, Path(folder))
    functions.write(out / f"{name}.jsonl.gz", found)
    return {
        "version": wheel.name.split("-")[1],
        "functions": len(found),
        "typed": sum(bool(function["sites"]) for function in found),
        "sites": sum(len(function["sites"]) for function in found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, default=Path(__file__).with_name("packages.txt"))
    parser.add_argument("--wheels", type=Path, help="keep downloads here (default: OUT/wheels)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="packages at a time (default: 2)")
    parser.add_argument("--only", metavar="NAME", help="one package, in this process")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    wheels = given.wheels or given.out / "wheels"
    if given.only:
        print(json.dumps(one(given.only, wheels, given.out)))
        return
    path = given.out / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {}

    def apart(name: str) -> dict:
        # In its own process, since mypy may need much memory or crash.
        command = [sys.executable, "-m", "models.train.corpus", str(given.out), "--wheels", str(wheels), "--only", name]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {DEADLINE} seconds"}
        line = ran.stdout.strip().rpartition("\n")[2]
        return json.loads(line) if ran.returncode == 0 else {"failed": ran.stderr.strip()[-300:]}

    left = [name for name in packages(given.packages) if name not in manifest]
    with ThreadPoolExecutor(given.jobs) as pool:
        made = {pool.submit(apart, name): name for name in left}
        for future in as_completed(made):
            name = made[future]
            manifest[name] = future.result()
            print(name, manifest[name], flush=True)
            path.write_text(json.dumps(dict(sorted(manifest.items())), indent=1) + "\n")


if __name__ == "__main__":
    command.run(main)
