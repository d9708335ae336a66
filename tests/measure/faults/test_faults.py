"""Faults on sample lines: which mutations there are, how patches and switches look, what a gate's output says."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.measure.faults import attribution, choose, gate, patches, stages, switch
from tests.measure.faults.mutations import candidates, mutated
from tests.measure.faults.rust import Source

#: The commit that the patches were renewed for. Later ones may have other lines.
RENEWED_FOR = "22cdf1b6"


def function(*lines: str) -> str:
    return "\n".join(["fn f() {", *(f"    {line}" for line in lines), "}", ""])


def mutants(line: str, *more: str) -> set[str]:
    """What becomes of a line in a function."""
    text = function(line, *more)
    return {mutated(text, one).split("\n")[1].strip() for one in candidates(text).get(1, [])}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("if a < b + c {}", {"if a <= b + c {}", "if !(a < b + c) {}"}),
        ("let x = p(a) == *q.r;", {"let x = p(a) != *q.r;"}),
        ("let x = all(|a| a.len() >= b);", {"let x = all(|a| a.len() > b);"}),
        ("if ready(x) {}", {"if !ready(x) {}"}),
        ("while !ready(x) {}", {"while ready(x) {}"}),
        ("A(x) if good(x) => b(),", {"A(x) if !good(x) => b(),"}),
        ("let x = a && b(c);", {"let x = a || b(c);"}),
        ("let x = a[i + 1];", {"let x = a[i];", "let x = a[i + 2];"}),
        ("g(a, true, 1_000u64);", {"g(a, false, 1_000u64);", "g(a, true, 1001u64);", "// end"}),
        ("return Some(a.b(c));", {"return None;"}),
        ("A => Some(b(c)),", {"A => None,"}),
        ("let x = a.b(c)?.min(d);", {"let x = a.b(c)?.max(d);"}),
        ("let x = E::f(a).is_some();", {"let x = E::f(a).is_none();"}),
        ("self.x = y;", {"// end"}),
        ("a.b.push(c)?;", {"// end"}),
    ],
)
def test_a_line_has_these_mutations(line, expected):
    assert mutants(line, "// end") == expected


@pytest.mark.parametrize(
    "line",
    [
        "if let Some(x) = y && a && b {}",
        "let x: Vec<u8> = a;",
        "Some(true) => a,",
        "1 | 2 => a,",
        "let x = a.0;",
        "let x = [a; 4];",
        'let x = "a < b && true";',
        "// if a < b {}",
        "/* if a /* < */ b {} */",
        "#[allow(true)]",
        "debug_assert!(a < b);",
        "const N: usize = 3;",
        "println!();",
        "g(|| {",
    ],
)
def test_a_line_without_behavior_or_certainty_has_none(line):
    closed = "});" if line.endswith("{") else ""
    assert mutants(line, closed) == set()


def test_tests_constants_and_debug_are_left_out():
    text = """
const fn small() -> bool { 1 < 2 }
static LIMITS: [u32; 2] = [1, 2];
impl std::fmt::Debug for Seal {
    fn fmt(&self) -> bool { self.0 < self.1 }
}
#[cfg(not(target_os = "linux"))]
fn other() -> bool { a < b }
#[cfg(test)]
mod tests {
    fn check() { assert(a < b); }
}
fn kept() -> bool { a < b }
"""
    assert [text.split("\n")[line] for line in candidates(text)] == ["fn kept() -> bool { a < b }"]


def test_files_that_only_tests_compile_are_left_out(tmp_path):
    for name, text in {
        "lib.rs": "mod a;\n#[cfg(test)]\nmod cases;\n",
        "a.rs": "",
        "cases.rs": "",
        "tests.rs": "",
    }.items():
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    assert [file.name for file in choose.sources(tmp_path)] == ["a.rs", "lib.rs"]


def test_lifetimes_characters_and_raw_texts_are_told_apart():
    source = Source("""fn f<'a>(x: &'a str) { g('"', b'\\'', r#"a " b"#, 1.5, 2..3) }""")
    kinds = [(token.kind, token.text) for token in source.tokens]
    assert [text for kind, text in kinds if kind == "text"] == ["""'"'""", r"""b'\''""", """r#"a " b"#"""]
    assert [text for kind, text in kinds if kind in ("float", "number")] == ["1.5", "2", "3"]
    assert ("lifetime", "'a") in kinds


def one_fault(line: str, operator: str) -> patches.Fault:
    text = function("// before", line, "// after")
    mutation = next(one for one in candidates(text)[2] if one.operator == operator)
    return patches.fault(7, "engine", "src/lib.rs", text, mutation)


@pytest.mark.parametrize(
    ("line", "operator", "switched"),
    [
        ("let x = a < b;", "comparison", "let x = (if ::twincell_syntax::fault(7) { a <= b } else { a < b });"),
        ("if ready(x) {}", "condition", "if (if ::twincell_syntax::fault(7) { !ready(x) } else { ready(x) }) {}"),
        ("a.push(b); // why", "statement", "if !::twincell_syntax::fault(7) { a.push(b); } // why"),
    ],
)
def test_a_switched_line_has_both_forms(line, operator, switched):
    assert switch.switched_line(one_fault(line, operator)).strip() == switched


@pytest.mark.parametrize(("line", "operator"), [("let x = a < b;", "comparison"), ("a.push(b);", "statement")])
def test_a_patch_says_all_and_git_applies_it(line, operator, tmp_path):
    more = ["// more"] * 3
    text = function(*more, line, *more)
    mutation = next(one for one in candidates(text)[4] if one.operator == operator)
    fault = patches.fault(7, "engine", "src/lib.rs", text, mutation)
    assert patches.read(patches.written(fault)) == fault
    file = tmp_path / fault.file
    file.parent.mkdir()
    file.write_text("// moved\n" * 9 + text)
    (tmp_path / fault.name).write_text(patches.written(fault))
    subprocess.run(["git", "apply", fault.name], cwd=tmp_path, check=True)
    assert file.read_text() == "// moved\n" * 9 + mutated(text, mutation)


def test_a_moved_fault_is_found_and_a_changed_one_is_not(tmp_path):
    fault = one_fault("let x = a < b;", "comparison")
    library = tmp_path / switch.LIBRARY
    library.parent.mkdir(parents=True)
    library.write_text("mod a;\n")
    file = tmp_path / fault.file
    file.parent.mkdir()
    file.write_text("\n\n" + function("// before", "let x = a < b;", "// after"))
    assert switch.switch(tmp_path, [fault]) == []
    assert file.read_text().split("\n")[4].strip() == switch.switched_line(fault).strip()
    assert library.read_text().startswith("mod a;\n") and "pub use fault::fault;" in library.read_text()
    library.write_text("mod a;\n")
    assert switch.switch(tmp_path, [fault]) == [fault]


def test_the_marks_of_a_tree_are_forgotten_with_the_next_fault(tmp_path):
    switch.activate(tmp_path, 3)
    marks = switch.folder(tmp_path) / "reached"
    with marks.open("r+b") as file:
        file.seek(5)
        file.write(b"\1")
    assert switch.reached(tmp_path) == {5}
    switch.activate(tmp_path)
    assert switch.reached(tmp_path) == set()
    assert marks.stat().st_size == switch.SWITCHES


def test_the_seed_decides_the_choice(tmp_path):
    for crate in ("search", "cli"):
        source = tmp_path / choose.CRATES[crate] / "src"
        source.mkdir(parents=True)
        (source / "lib.rs").write_text(function(*(f"if a{number} < b {{}}" for number in range(50))))
    lines = {
        seed: [one.line for one in choose.Choice(tmp_path, seed, ["search", "cli"]).faults.values()] for seed in (1, 2)
    }
    again = choose.Choice(tmp_path, 1, ["search", "cli"])
    assert lines[1] == [one.line for one in again.faults.values()] != lines[2]
    assert len(lines[1]) == 10
    again.replace(3)
    assert [one.number for one in again.faults.values()] == list(range(1, 11))
    assert again.faults[3].line not in lines[1][:5]


def test_the_patches_are_five_for_each_crate():
    found = patches.all_faults()
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert [one.crate for one in found] == [crate for crate in choose.CRATES for _ in range(choose.EACH)]
    assert len({(one.file, one.line) for one in found}) == len(found)
    for one in found:
        assert (patches.FOLDER / one.name).read_text() == patches.written(one)


def test_the_patches_apply_to_the_commit_that_they_were_renewed_for():
    shown = ["git", "-C", str(patches.FOLDER), "show"]
    if subprocess.run([*shown, "--no-patch", RENEWED_FOR], capture_output=True).returncode:
        pytest.skip("this clone has no history")
    for one in patches.all_faults():
        text = subprocess.run([*shown, f"{RENEWED_FOR}:{one.file}"], capture_output=True, text=True, check=True).stdout
        assert patches.place(one, patches.lines_of(text)) == one.line - 1


RUST, DOCUMENTS, PYTHON, SANDBOX = stages.stages(patches.FOLDER / "make_test.json", "all")


@pytest.mark.parametrize(
    ("stage", "output", "test"),
    [
        (
            RUST,
            "        FAIL [   0.011s] (1/9) twincell-cli::git reads\n",
            "(binary_id(=twincell-cli::git) & test(=reads))",
        ),
        (DOCUMENTS, "test core/a.rs - f (line 3) ... FAILED\n", "core/a.rs - f (line 3)"),
        (PYTHON, "FAILED tests/a/test_b.py::test_c[d - e] - assert [1] == [2]\n", "tests/a/test_b.py::test_c[d - e]"),
        (PYTHON, "FAILED tests/a/test_b.py::test_c - assert [1] == 'x'\n", "tests/a/test_b.py::test_c"),
        (PYTHON, "ERROR tests/a/test_b.py\n", "tests/a/test_b.py"),
    ],
)
def test_a_failed_test_is_read_from_the_output(stage, output, test):
    assert stage.failed("before\n" + output + output) == [test]


def test_a_command_names_the_tests_to_run():
    assert RUST.arguments()[-2:] == ["all()", "--no-fail-fast"]
    assert RUST.arguments(["(a)", "(b)"], stops=True)[-3:] == ["(a) + (b)", "--max-fail", "1:immediate"]
    assert PYTHON.arguments()[-1] == "worksteal"
    assert PYTHON.arguments(["tests/a.py::b", "tests/a.py::c"], stops=True)[-3:] == [
        "tests/a.py::b",
        "tests/a.py::c",
        "-x",
    ]


class Gate:
    """A tree whose tests are a shell command that looks at the faults that are on."""

    def __init__(self, tree, script: str, crates: Sequence[str] = ()):
        self.tree = tree
        self.stage = stages.Stage(
            name="shell",
            kind="python",
            command=["sh", "-c", f"{MARKS}\n{script}", "sh", "{tests}"],
            test={"pattern": r"^FAILED (\S+)$", "unit": "{0}"},
            crates=crates,
        )
        one = one_fault("let x = a < b;", "comparison")
        self.faults = [one, dataclasses.replace(one, number=8)]

    def rows(self) -> dict:
        out = self.tree / "table.json"
        gate.run(self.tree, self.faults, [self.stage], out, log=lambda _: None)
        return json.loads(out.read_text())


#: Meets both switches; `is 7` says whether a fault is on, `fails a` lets a test fail if it is asked for.
MARKS = """
printf '\\1\\1' | dd of=target/faults/reached bs=1 seek=7 conv=notrunc 2>/dev/null
is() { grep -qx $1 target/faults/active; }
asked="$*"
fails() { case "${asked:-$1}" in *$1*) echo FAILED $1; exit 1;; esac; }
"""


def test_a_fault_is_caught_by_a_test_that_fails_with_it_only(tmp_path):
    rows = Gate(tmp_path, "is 7 && fails a").rows()
    assert rows["7"] == {"caught": True, "by": "a", "stage": "shell", "reached": True}
    assert (rows["8"]["caught"], rows["8"]["reached"]) == (False, True)
    assert (switch.folder(tmp_path) / "active").read_text() == ""


def test_a_test_that_fails_anyway_catches_nothing(tmp_path):
    rows = Gate(tmp_path, "fails b").rows()
    assert [row["caught"] for row in rows.values()] == [False, False]


def test_a_fault_that_nothing_reaches_is_not_tried_alone(tmp_path):
    one = Gate(tmp_path, "is 9 && fails a")
    one.faults = [dataclasses.replace(one.faults[0], number=9)]
    assert (one.rows()["9"]["caught"], one.rows()["9"]["reached"]) == (False, False)


def test_a_stage_runs_only_for_faults_of_its_crates(tmp_path):
    rows = Gate(tmp_path, "fails a", crates=["another"]).rows()
    assert rows == {}
    assert SANDBOX.crates == ["engine", "runtime"]


#: Tests of a sample, which meet switches and look at the faults that are on as a switched program does.
SAMPLE = """
import time
from pathlib import Path

import pytest

FAULTS = Path("target/faults")


def fault(number):
    with (FAULTS / "reached").open("r+b") as file:
        file.seek(number)
        file.write(b"\\1")
    return str(number) in (FAULTS / "active").read_text().split()


@pytest.fixture(scope="module")
def shared():
    return fault(8)


def test_meets_two(shared):
    fault(7)


def test_meets_one(shared):
    assert not shared


def test_looks_at_seven():
    assert not fault(7) and not fault(9)


def test_hangs_with_nine():
    while fault(9):
        time.sleep(0.1)


def test_fails_anyway():
    assert fault(9)
"""


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A gate of pytest in a tree of its own, which runs faults 7 to 10 and returns the rows."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sample.py").write_text(SAMPLE)
    monkeypatch.setattr(attribution, "START", 5.0)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "{tests}"]
    serial = ["-n", "0"]
    stage = stages.Stage("sample", "python", command, PYTHON.test, {"all": "tests"}, stop=["-x"], serial=serial)
    one = one_fault("let x = a < b;", "comparison")
    faults = [dataclasses.replace(one, number=number) for number in (7, 8, 9, 10)]

    def rows(chosen: slice = slice(4), seconds: float = 60) -> dict:
        out = tmp_path / "table.json"
        gate.run(tmp_path, faults[chosen], [stage], out, log=lambda _: None, seconds=seconds)
        return json.loads(out.read_text())

    return rows


def test_a_fault_runs_with_the_tests_that_reach_it(sample, tmp_path):
    rows = sample()
    caught = {number: row["by"] and row["by"].partition("::")[2] for number, row in rows.items()}
    assert caught == {"7": "test_looks_at_seven", "8": "test_meets_one", "9": "test_hangs_with_nine", "10": None}
    assert [row["reached"] for row in rows.values()] == [True, True, True, False]
    reach = json.loads((tmp_path / "table-reach-sample.json").read_text())
    met = {test["name"].partition("::")[2]: (test["met"], test["passes"]) for test in reach}
    assert met == {
        "test_meets_two": ([7, 8], True),
        "test_meets_one": ([8], True),
        "test_looks_at_seven": ([7, 9], True),
        "test_hangs_with_nine": ([9], True),
        "test_fails_anyway": ([9], False),
    }


def test_a_test_of_nextest_is_noted_with_what_it_met(tmp_path):
    switch.activate(tmp_path)
    marks = switch.folder(tmp_path) / "reached"
    meet = f"printf '\\1' | dd of='{marks}' bs=1 seek=5 conv=notrunc 2>/dev/null"
    command = [sys.executable, str(stages.RUNNER), str(tmp_path / "notes"), str(marks), "sh", "-c", f"{meet}; exit 3"]
    names = {"NEXTEST_BINARY_ID": "a::b", "NEXTEST_TEST_NAME": "c"}
    assert subprocess.run(command, env=os.environ | names).returncode == 3
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    assert [(note["what"], note.get("switches"), note.get("failed")) for note in notes] == [
        ("begun", None, None),
        ("met", [5], None),
        ("ended", None, True),
    ]
    assert {note["test"] for note in notes} == {"(binary_id(=a::b) & test(=c))"}


def test_a_fault_whose_tests_did_not_all_run_is_not_decided(sample):
    row = sample(slice(1), seconds=0)["7"]
    assert (row["caught"], row["reached"], row["ran"], row["of"]) == (False, True, {"sample": 0}, {"sample": 4})
    assert "not decided" in gate.said(row)
    assert sample(slice(1))["7"]["by"].endswith("test_looks_at_seven")


def test_tests_that_reach_few_faults_come_first_in_runs_that_become_longer():
    tests = [attribution.Test(str(number), 10.0, True, [1] * (9 - number)) for number in range(9)]
    found = attribution.reaching([*tests, attribution.Test("other", 1.0, True, [2])], 1)
    chunks = [[test.name for test in chunk] for chunk in attribution.chunks(found)]
    assert chunks == [["8", "7"], ["6", "5", "4"], ["3", "2", "1", "0"]]


def test_other_tests_of_a_file_come_last_where_few_met_the_fault():
    names = {"a.py::x": [1], "a.py::y": [], "a.py::z": [], "b.py::x": [1, 2], "b.py::y": [2], "c.py::x": [2]}
    tests = [attribution.Test(name, 1.0, True, met) for name, met in names.items()]
    found = [test.name for test in attribution.reaching(tests, 1)]
    assert found == ["a.py::x", "b.py::x", "a.py::y", "a.py::z", "b.py::y"]


def test_the_table_has_both_gates():
    fault = one_fault("let x = small || big;", "logical")
    caught = {"7": {"caught": True, "by": "a.py::b", "reached": True}}
    table = gate.report([fault], {"old": caught, "new": {}}).splitlines()
    assert table[:3] == [
        "| | fault | mutation | old | new |",
        "|---|---|---|---|---|",
        "| 7 | `src/lib.rs:3` | `small \\|\\| big` -> `small && big` | caught by `a.py::b` | not measured |",
    ]
    assert table[-3:] == ["Of 1 faults old catches 1.", "", "Of 1 faults new catches 0."]
