"""`twincell compare` as a user runs it: a process with files, output and an exit status."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ..command import run_here

ORIGINAL = """\
def retries(settings, key):
    value = settings.get(key)
    if value is None:
        return 3
    return value
"""
# A default that swallows 0.
CHANGED = """\
def retries(settings, key):
    return settings.get(key) or 3
"""
RENAMED = ORIGINAL.replace("settings", "options")


def twincell(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twincell", *map(str, arguments)]
    return run_here(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"old.py": ORIGINAL, "changed.py": CHANGED, "renamed.py": RENAMED}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def read_until_seen(terminal: int, expected: bytes, is_there: threading.Event) -> None:
    """Reads all that comes from a terminal, and tells when the expected text has come."""
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
            if expected in text:
                is_there.set()
    except OSError:
        pass  # its last program has gone


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three commits: a change in `a.py`, then a refactoring in `deep/b.py`."""
    git(tmp_path, "init", "-q")
    (tmp_path / "deep").mkdir()
    for path, text in [("a.py", ORIGINAL), ("deep/b.py", ORIGINAL), ("a.py", CHANGED), ("deep/b.py", RENAMED)]:
        (tmp_path / path).write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"write {path}")
    return tmp_path


def test_a_swallowed_zero_is_a_change_and_ends_with_1(files):
    done = twincell("compare", files / "old.py", files / "changed.py")
    assert done.returncode == 1, done.stderr
    assert "changing" in done.stdout and "\x1b" not in done.stdout


def test_a_renamed_parameter_is_no_change_and_ends_with_0(files):
    done = twincell("compare", files / "old.py", files / "renamed.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_function_that_differs_by_a_constant_has_a_line_of_its_own(tmp_path):
    code = "LIMIT = {}\n\n\ndef f(x):\n    return x > LIMIT\n"
    (tmp_path / "old.py").write_text(code.format(10))
    (tmp_path / "new.py").write_text(code.format(11))
    shown = twincell("compare", "old.py", "new.py", cwd=tmp_path).stdout
    assert "changing through LIMIT  f(x=11): True -> False" in shown
    assert "no difference was found" not in shown


def test_json_is_the_whole_report(files):
    done = twincell("compare", files / "old.py", files / "changed.py", "--json", "--seed", "5")
    report = json.loads(done.stdout)
    assert (report["verdict"], report["seed"], report["format"]) == ("changing", 5, 5)
    assert report["pairs"][0]["evidence"]


def test_html_is_written_beside_the_text(files):
    done = twincell("compare", files / "old.py", files / "changed.py", "--html", files / "page.html")
    assert done.returncode == 1
    assert "<html" in (files / "page.html").read_text()


def test_the_same_seed_gives_the_same_report(files):
    def report() -> dict:
        done = twincell("compare", files / "old.py", files / "changed.py", "--json", "--seed", "11")
        return without_times(json.loads(done.stdout))

    assert report() == report()


def without_times(value):
    # The sentence says how long it took.
    timed = ("milliseconds", "microseconds", "sentence")
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in timed}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def test_only_the_named_function_is_compared(files):
    both = files / "both.py"
    both.write_text(CHANGED + "\n\ndef other(x):\n    return x + 1\n")
    before = files / "before.py"
    before.write_text(ORIGINAL + "\n\ndef other(x):\n    return x + 1\n")
    assert twincell("compare", before, both, "--function", "other").returncode == 0
    missing = twincell("compare", before, both, "--function", "nobody")
    assert missing.returncode == 3
    assert "nobody" in missing.stderr and "retries" in missing.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [("def f(:\n", "not valid Python"), ("x = 1\n", "no function"), (None, "cannot read")],
)
def test_bad_input_is_one_line_and_ends_with_3(files, text, expected):
    bad = files / "bad.py"
    if text is not None:
        bad.write_text(text)
    done = twincell("compare", files / "old.py", bad)
    assert done.returncode == 3
    assert expected in done.stderr and "bad.py" in done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_a_reader_that_stops_early_is_no_crash(files):
    command = [sys.executable, "-m", "twincell", "compare", files / "old.py", files / "changed.py", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert process.stderr.read() == ""


#: No value tells these apart, and there is much to try.
SUMS = ("def g(x, y):\n    return x + y\n", "def g(x, y):\n    both = x + y\n    return both\n")


def test_an_interrupt_prints_what_was_found_and_what_was_not_compared(tmp_path):
    git(tmp_path, "init", "-q")
    for number in (1, 2):
        (tmp_path / "a.py").write_text(f"def f(x):\n    return x + {number}\n")
        for name in ("b.py", "c.py"):
            (tmp_path / name).write_text(SUMS[number - 1])
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", str(number))
    command = [sys.executable, "-m", "twincell", "compare", "--git", "HEAD~1..HEAD", "--budget", "1000000"]
    terminal, its_end = os.openpty()
    command += ["--accept", "as it is"]
    begun = threading.Event()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=its_end, text=True) as running:
        os.close(its_end)
        reading = threading.Thread(target=read_until_seen, args=(terminal, b"file 2 of 3, b.py: pair 1 of 1", begun))
        reading.start()
        is_begun = begun.wait(timeout=120)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=120)
    reading.join()
    os.close(terminal)
    assert is_begun and running.returncode == 130, out
    assert "a.py:2  ≠ changing  f(" in out
    assert "stopped, so these files were not compared: c.py" in out
    # What is not whole is no baseline.
    assert not (tmp_path / "twincell-accepted.json").exists()


def test_a_terminal_shows_executions_out_of_the_budget(tmp_path):
    for name, text in zip(("old.py", "new.py"), SUMS, strict=True):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "twincell", "compare", "old.py", "new.py", "--budget", "41"]
    terminal, its_end = os.openpty()
    seen = threading.Event()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=its_end):
        os.close(its_end)
        read_until_seen(terminal, b" 0/41 ", seen)
    os.close(terminal)
    assert seen.is_set()


def test_a_range_of_revisions_is_compared_file_by_file(repository):
    done = twincell("compare", "--git", "HEAD~2..HEAD", "--json", cwd=repository)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    verdicts = {file["path"]: file["comparison"]["verdict"] for file in report["files"]}
    assert verdicts["a.py"] == "changing"
    assert verdicts["deep/b.py"] in ("identical", "likely_preserving")


def test_a_change_is_told_in_few_lines_and_more_on_request(repository):
    done = twincell("compare", "--git", "HEAD~2..HEAD", cwd=repository)
    lines = done.stdout.splitlines()
    assert re.match(r"a\.py:2  ≠ changing  retries\(.*\).*: .* -> 3$", lines[0]), done.stdout
    assert lines[1] == "" and lines[2].startswith("Behavior changed in 1 of 2 functions in 2 files"), done.stdout
    assert len(lines) == 5 and "--verbose" in lines[3], done.stdout
    assert lines[4].startswith("twincell amplify HEAD~2..HEAD says whether tests show this"), done.stdout
    for option in (["--verbose"], ["--function", "retries"]):
        done = twincell("compare", "--git", "HEAD~2..HEAD", *option, cwd=repository)
        assert "Evidence" in done.stdout and "Old and new" in done.stdout, done.stdout


def test_what_the_old_version_accepts_does_not_count(repository):
    done = twincell("compare", "--git", "HEAD~2..HEAD", "--accept", "zero means three", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "twincell: accepted 1 new difference in twincell-accepted.json\n"
    assert "1 accepted" in done.stdout and "≠" not in done.stdout, done.stdout
    [entry] = json.loads((repository / "twincell-accepted.json").read_text())["accepted"]
    assert (entry["file"], entry["function"], entry["reason"]) == ("a.py", "retries", "zero means three")
    assert twincell("compare", "--git", "HEAD~2..HEAD", cwd=repository).returncode == 1

    # The list goes to the version that changes are compared with.
    accepted = (repository / "twincell-accepted.json").read_text()
    git(repository, "checkout", "-q", "-b", "main2", "HEAD~2")
    (repository / "twincell-accepted.json").write_text(accepted)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "accept")
    (repository / "a.py").write_text(CHANGED)
    done = twincell("compare", "--git", "HEAD", "--markdown", "found.md", "-v", cwd=repository)
    assert done.returncode == 0 and "Accepted: zero means three" in done.stdout, done.stdout
    found = (repository / "found.md").read_text()
    assert "No difference" in found and "retries: the difference is accepted: zero means three" in found
    (repository / "a.py").write_text(CHANGED.replace("or 3", "or 4"))
    assert twincell("compare", "--git", "HEAD", "a.py", cwd=repository).returncode == 1
    (repository / "twincell-accepted.json").write_text("{")
    done = twincell("compare", "--git", "HEAD", "--accept", "again", cwd=repository)
    assert done.returncode == 3 and "mend or remove it" in done.stderr
    git(repository, "commit", "-q", "-a", "-m", "broken")
    done = twincell("compare", "--git", "HEAD", cwd=repository)
    assert done.returncode == 3 and "mend or remove it" in done.stderr


def test_two_files_in_which_several_functions_changed_are_told_in_few_lines(tmp_path):
    for name, text in {"old.py": ORIGINAL, "new.py": CHANGED}.items():
        (tmp_path / name).write_text(text + text.replace("retries", "again"))
    done = twincell("compare", "old.py", "new.py", cwd=tmp_path)
    assert [line.split("  ")[:2] for line in done.stdout.splitlines()[:2]] == [
        ["new.py:2", "≠ changing"],
        ["new.py:4", "≠ changing"],
    ], done.stdout
    assert "Evidence" not in done.stdout
    assert "Evidence" in twincell("compare", "old.py", "new.py", "-v", cwd=tmp_path).stdout


def test_a_path_limits_the_range(repository):
    done = twincell("compare", "--git", "HEAD~2..HEAD", "b.py", cwd=repository / "deep")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deep/b.py" in done.stdout and "a.py" not in done.stdout


def test_a_range_without_changed_functions_says_so(repository):
    done = twincell("compare", "--git", "HEAD..HEAD", cwd=repository)
    assert (done.returncode, done.stdout) == (0, "No function of a Python file changed in HEAD..HEAD.\n")


def test_what_is_not_compared_is_named(repository):
    (repository / "data.csv").write_text("1")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "add data")
    (repository / "data.csv").write_text("2")
    nothing = "No function of a Python file changed since HEAD.\n"
    assert twincell("compare", "--git", "HEAD", cwd=repository).stdout == f"{nothing}changed, and no Python: data.csv\n"
    (repository / "fresh.py").write_text(ORIGINAL)
    done = twincell("compare", "--git", "HEAD", cwd=repository)
    assert done.stdout == f"{nothing}not compared, since git does not track it: fresh.py\n"


def test_a_repository_without_commits_has_nothing_to_compare_with(tmp_path):
    git(tmp_path, "init", "-q")
    done = twincell("compare", "--git", "HEAD", cwd=tmp_path)
    assert done.returncode == 3 and "has no commit yet" in done.stderr
    assert twincell("compare", "--git", "HEAD", "--staged", cwd=tmp_path).returncode == 0


def test_lines_have_the_numbers_of_the_file(tmp_path):
    for name, text in {"old.py": ORIGINAL, "new.py": CHANGED}.items():
        (tmp_path / name).write_text("# a comment\n" * 40 + text)
    done = twincell("compare", "old.py", "new.py", cwd=tmp_path)
    assert re.search(r"^ +42 .*settings.get\(key\) or 3", done.stdout, re.MULTILINE), done.stdout


def test_a_file_that_cannot_be_written_costs_nobody_the_report(files):
    done = twincell("compare", files / "old.py", files / "changed.py", "--html", files / "no" / "report.html")
    assert done.returncode == 3 and "cannot write " in done.stderr
    assert "≠ changing" in done.stdout


def test_the_checkout_is_not_touched(repository):
    (repository / "a.py").write_text("not even Python")
    assert twincell("compare", "--git", "HEAD~2..HEAD", cwd=repository).returncode == 1
    assert (repository / "a.py").read_text() == "not even Python"


def test_the_doctor_says_what_is_here():
    done = twincell("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["works"] and report["python"]["executable"] == sys.executable
    predictor = report["predictor"]
    assert predictor["in_use"].startswith("neural") and predictor["precision"] and predictor["model_bytes"] > 0
    in_use = predictor["in_use"].removeprefix("neural (").removesuffix(")")
    better = ["ONNX Runtime, CUDA", "ONNX Runtime, CPU", "rten, CPU"]
    assert [one["backend"] for one in predictor["not_used"]] == better[: better.index(in_use)]
    assert all(one["reason"] for one in predictor["not_used"])
    assert predictor["cache"]["answers"] is not None and predictor["cache"]["problem"] is None
    assert json.loads(twincell("doctor", "--json", "--cache", "memory").stdout)["predictor"]["cache"] is None
    text = twincell("doctor").stdout
    assert all(word in text for word in ("Python", "predictor", "sandbox", "GPU", predictor["cache"]["file"]))


def test_the_doctor_names_a_python_that_does_not_work():
    done = twincell("doctor", "--python", "/no/such/python")
    assert done.returncode == 3
    assert "/no/such/python" in done.stdout


def test_a_path_that_is_nowhere_in_the_repository_is_an_error(repository):
    done = twincell("compare", "--git", "HEAD~2..HEAD", "missing.py", cwd=repository)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("twincell: missing.py is in neither version of HEAD~2..HEAD")


def test_files_are_decoded_as_python_does(tmp_path):
    text = "# -*- coding: latin-1 -*-\ndef f(x):\n    return 'é'\n"
    (tmp_path / "old.py").write_bytes(text.encode("latin-1"))
    (tmp_path / "new.py").write_text(text.replace("latin-1", "utf-8"))
    done = twincell("compare", "old.py", "new.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "new.py").write_bytes("def f(x):\n    return 'é'\n".encode("latin-1"))
    done = twincell("compare", "old.py", "new.py", cwd=tmp_path)
    assert done.returncode == 3
    assert "new.py is not UTF-8: byte 0xe9 in line 2, column 13; save it as UTF-8, or say" in done.stderr


def test_usage_names_the_program():
    for command in (["compare"], ["study"], ["doctor"], []):
        assert f"Usage: {' '.join(['twincell', *command])}" in twincell(*command, "--help").stdout


def test_every_listed_line_has_the_number_of_its_file(tmp_path: Path) -> None:
    old = "def limit(x: int):\n    return x > 10\n\n\nLAST = 3\n\n\ndef f(x: int):\n    return limit(x)\n"
    (tmp_path / "old.py").write_text(old)
    (tmp_path / "new.py").write_text("# What is allowed.\n" + old.replace("> 10", ">= 10"))
    done = twincell("compare", "old.py", "new.py", "--function", "f", cwd=tmp_path)
    listed = [re.split(r"│", line) for line in done.stdout.splitlines() if "│" in line][1:]
    numbers = [(gutter[:4].strip(), gutter[4:9].strip(), code.strip()) for gutter, code in listed]
    assert numbers == [
        ("8", "9", "def f(x: int):"),
        ("9", "10", "return limit(x)"),
        ("1", "2", "def limit(x: int):"),
        ("2", "", "-     return x > 10"),
        ("", "3", "+     return x >= 10"),
    ], done.stdout
