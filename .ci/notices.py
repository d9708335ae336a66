"""Writes THIRD-PARTY-NOTICES.txt: the licences of all crates that are linked into a wheel, and of the C code in them.
With --check it only says whether the file is up to date. The widget's packages have a file of their own, which its
build writes.

    python .ci/notices.py [--check] [FOLDER]

FOLDER is that of the wheel's workspace: the root, or kernel/rust-cells. The crates come from `cargo metadata`, the
texts from the crates themselves. Cargo.lock fixes both.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: The crate of each wheel, by the folder of its workspace.
WHEELS = {ROOT: "twincell", ROOT / "kernel" / "rust-cells": "twincell-rust"}

#: The platforms that wheels are built for, as in deny.toml.
PLATFORMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"]

#: The files with the licences of the C code in crates that link some; none where a crate builds no C code.
C_CODE = {
    "libgit2-sys": ["libgit2/COPYING", "libgit2/deps/llhttp/LICENSE-MIT", "libgit2/deps/pcre2/LICENCE.md"],
    # SQLite is in the public domain, which the notice of this crate says below.
    "libsqlite3-sys": [],
    "libz-sys": ["src/zlib/LICENSE"],
    "zstd-sys": ["zstd/LICENSE"],
    "ort-sys": [],
    "pyo3": [],
    "pyo3-ffi": [],
    "rayon-core": [],
    "ring": ["LICENSE-BoringSSL", "LICENSE-other-bits"],
}
WITHOUT_LICENCE = {"libsqlite3-sys": "The crate contains SQLite, which its authors have put into the public domain."}

LICENCE_FILE = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)")

HEAD = """\
{crate} contains the following third-party code. A licence stands once, below the names of all that are under it.
{also}Rust's standard library, which is linked as
well, is under MIT OR Apache-2.0 (https://github.com/rust-lang/rust).
"""
ALSO = {"twincell": "The packages of the interactive view are in widgets/dist/THIRD_PARTY.txt. "}

BSD = """\
Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions
   and the following disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions
   and the following disclaimer in the documentation and/or other materials provided with the
   distribution.
3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse
   or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF
THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""


def linked(workspace: Path, platform: str) -> list[dict]:
    """The crates that are linked into what a wheel contains: not those that only build or test it."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", platform]
    metadata = json.loads(subprocess.run(command, cwd=workspace, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    own = WHEELS[workspace]
    waiting = [name for name, package in packages.items() if package["name"] == own and not package["source"]]
    found: dict[str, dict] = {}
    while waiting:
        name = waiting.pop()
        package = packages[name]
        if name in found or any("proc-macro" in target["kind"] for target in package["targets"]):
            continue
        found[name] = package
        waiting += [one["pkg"] for one in nodes[name] if any(kind["kind"] is None for kind in one["dep_kinds"])]
    return [package for package in found.values() if package["source"]]


def texts_of(package: dict) -> list[str]:
    """The licences of a crate and of the C code in it."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
    if package["links"]:
        if package["name"] not in C_CODE:
            raise SystemExit(f"the crate {package['name']} links C code: say in .ci/notices.py where its licence is")
        files += [folder / name for name in C_CODE[package["name"]]]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    if package["name"] in WITHOUT_LICENCE:
        texts.append(WITHOUT_LICENCE[package["name"]])
    return texts or [standard(package)]


def standard(package: dict) -> str:
    """The text of a licence that a crate names and does not contain."""
    holders = ", ".join(package["authors"]) or f"the authors of {package['name']}"
    licence = package["license"] or ""
    if "MIT" in licence:
        permission = (ROOT / "LICENSE-MIT").read_text().partition("Permission is hereby granted")
        return f"Copyright (c) {holders}\n\n{permission[1]}{permission[2]}"
    if "Apache-2.0" in licence:
        return (ROOT / "LICENSE-APACHE").read_text()
    if "BSD-3-Clause" in licence:
        return f"Copyright (c) {holders}\n\n{BSD}"
    raise SystemExit(f"the crate {package['name']} ({licence}) has no licence file: say in .ci/notices.py what it is")


def notices(workspace: Path) -> str:
    crates = [one for platform in PLATFORMS for one in linked(workspace, platform)]
    packages = {f"{one['name']} {one['version']}": one for one in crates}
    names_of: dict[str, list[str]] = defaultdict(list)
    text_of: dict[str, str] = {}
    for name in sorted(packages):
        for text in texts_of(packages[name]):
            # Copies of one licence differ in their line breaks.
            same = " ".join(text.split())
            names_of[same].append(name)
            text_of.setdefault(same, "\n".join(line.rstrip() for line in text.strip("\n").splitlines()))
    listed = [
        f"- {name} ({one['license']}) {one['repository'] or ''}".rstrip() for name, one in sorted(packages.items())
    ]
    head = HEAD.format(crate=WHEELS[workspace], also=ALSO.get(WHEELS[workspace], ""))
    parts = [head + "\n" + "\n".join(listed)]
    for same, names in sorted(names_of.items(), key=lambda item: (item[1], item[0])):
        parts.append(f"{', '.join(dict.fromkeys(names))}\n\n{text_of[same]}")
    return f"\n\n{'-' * 78}\n\n".join(parts) + "\n"


def main() -> int:
    folders = [one for one in sys.argv[1:] if one != "--check"] or ["."]
    workspace = (ROOT / folders[0]).resolve()
    path = workspace / "THIRD-PARTY-NOTICES.txt"
    made = notices(workspace)
    if "--check" not in sys.argv[1:]:
        path.write_text(made, encoding="utf-8")
        return 0
    if not path.exists() or path.read_text(encoding="utf-8") != made:
        print(f"{path.relative_to(ROOT)} is out of date: run `make notices`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
