"""A copy of the tree in which every fault is there behind a switch, so that one build serves all of them.

Where a line of the tree has `a < b`, the copy has `(if ::twincell_syntax::fault(7) { a <= b } else { a < b })`. Which
fault is on stands in a file of the copy, `target/faults/active`. Every process reads the file when it loads the
library. A worker loads it before it locks itself in, and processes with a bare environment need no variable. What a
process meets of the switches it marks in a second file, `target/faults/reached`, one byte for each number. Processes
map that file before they lock themselves in.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from .patches import Fault, lines_of, place

#: More numbers than there will be faults.
SWITCHES = 4096
LIBRARY = "core/syntax/src/lib.rs"
#: What a crate needs in its manifest to use it.
DEPENDENCY = "twincell-syntax.workspace = true"

FAULT = """
mod fault {
    //! Added to this copy of the tree by `python -m tests.measure.faults switch`. Not part of twincell.

    use std::ffi::{c_int, c_void};
    use std::os::fd::AsRawFd;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

    const ACTIVE: &str = "@active@";
    const REACHED: &str = "@reached@";
    const SWITCHES: usize = @switches@;

    static ON: [AtomicBool; SWITCHES] = [const { AtomicBool::new(false) }; SWITCHES];
    static MARKS: AtomicPtr<AtomicU8> = AtomicPtr::new(null_mut());

    unsafe extern "C" {
        fn mmap(at: *mut c_void, length: usize, access: c_int, flags: c_int, file: c_int, from: i64) -> *mut c_void;
    }

    /// Runs when a process loads the program or the library, before it can lock itself in.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOADED: extern "C" fn() = read;

    extern "C" fn read() {
        for number in std::fs::read_to_string(ACTIVE).unwrap_or_default().split_whitespace() {
            if let Some(switch) = number.parse().ok().and_then(|number: usize| ON.get(number)) {
                switch.store(true, Ordering::Relaxed);
            }
        }
        let Ok(file) = std::fs::OpenOptions::new().read(true).write(true).open(REACHED) else { return };
        if file.metadata().is_ok_and(|known| known.len() >= SWITCHES as u64) {
            // SAFETY: a new mapping of a file that has this length, and that nobody shortens. Read, write; shared.
            let marks = unsafe { mmap(null_mut(), SWITCHES, 3, 1, file.as_raw_fd(), 0) };
            if marks as isize != -1 {
                MARKS.store(marks.cast(), Ordering::Relaxed);
            }
        }
    }

    /// Whether a fault is on.
    #[must_use]
    pub fn fault(number: u32) -> bool {
        let marks = MARKS.load(Ordering::Relaxed);
        if !marks.is_null() {
            // SAFETY: the mapping has a byte for each number, and stays to the end of the process.
            let mark = unsafe { &*marks.add(number as usize) };
            if mark.load(Ordering::Relaxed) == 0 {
                mark.store(1, Ordering::Relaxed);
            }
        }
        ON[number as usize].load(Ordering::Relaxed)
    }
}

pub use fault::fault;
"""


def switched_line(one: Fault) -> str:
    """The line of the copy."""
    begin, end = one.columns
    is_on = f"::twincell_syntax::fault({one.number})"
    if one.mutant is None:
        return f"{one.old[:begin]}if !{is_on} {{ {one.original} }}{one.old[end:]}"
    choice = f"(if {is_on} {{ {one.mutant} }} else {{ {one.original} }})"
    return one.old[:begin] + choice + one.old[end:]


def folder(tree: Path) -> Path:
    """Where a switched tree has the number of the fault that is on, and the marks of what was reached."""
    return tree / "target" / "faults"


def activate(tree: Path, *numbers: int) -> None:
    """Turns these faults on and all others off, for processes that start from now on. Forgets what was reached."""
    home = folder(tree)
    home.mkdir(parents=True, exist_ok=True)
    (home / "active").write_text("".join(f"{number}\n" for number in numbers))
    marks = home / "reached"
    # Processes have the file mapped, so it is never shortened.
    with marks.open("r+b" if marks.exists() else "w+b") as file:
        file.write(bytes(SWITCHES))


def reached(tree: Path) -> set[int]:
    """The numbers of the switches that were met since the last `activate`."""
    marks = (folder(tree) / "reached").read_bytes()
    return {number for number, mark in enumerate(marks) if mark}


def switch(tree: Path, faults: Iterable[Fault]) -> list[Fault]:
    """Puts all faults that apply into a tree, behind switches. Returns those that do not apply."""
    library = tree / LIBRARY
    if "mod fault {" in library.read_text():
        raise SystemExit(f"{tree} has switches already")
    lines: dict[str, list[str]] = {}
    found: list[tuple[Fault, int]] = []
    lost = []
    for one in faults:
        path = tree / one.file
        if one.file not in lines:
            lines[one.file] = lines_of(path.read_text()) if path.exists() else []
        at = place(one, lines[one.file])
        if at is None:
            lost.append(one)
        else:
            found.append((one, at))
    for one, at in found:
        lines[one.file][at] = switched_line(one)
    for file in {one.file for one, _ in found}:
        (tree / file).write_text("\n".join(lines[file]) + "\n")
        depend(tree, file)
    own = FAULT.replace("@active@", str(folder(tree.resolve()) / "active"))
    own = own.replace("@reached@", str(folder(tree.resolve()) / "reached")).replace("@switches@", str(SWITCHES))
    library.write_text(library.read_text() + own)
    activate(tree, 0)
    return lost


def depend(tree: Path, file: str) -> None:
    """Lets the crate of a file use the switches. No crate lies below that of the switches, so nothing goes round."""
    manifests = (tree / parent / "Cargo.toml" for parent in Path(file).parents)
    manifest = next((one for one in manifests if one.exists()), None)
    if manifest is not None and DEPENDENCY not in (text := manifest.read_text()):
        manifest.write_text(text.replace("[dependencies]\n", f"[dependencies]\n{DEPENDENCY}\n", 1))


def copy(repository: Path, tree: Path, commit: str) -> None:
    """A work tree of a commit."""
    subprocess.run(
        ["git", "-C", str(repository), "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True
    )
