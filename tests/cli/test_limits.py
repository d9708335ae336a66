"""Sources and repositories that are too large, too deep or oddly named: each gets an answer of one line."""

import json
import os

import pytest

from .test_compare import CHANGED, ORIGINAL, git, twincell

LIMITS = ["--predictor", "frequency", "--budget", "20", "--jobs", "1"]


def texts(tmp_path, body):
    """Two versions of a function; `{k}` in its body is another number in each."""
    names = [tmp_path / "old.py", tmp_path / "new.py"]
    for number, name in enumerate(names):
        name.write_text("def f(x):\n" + body.replace("{k}", str(number)))
    return names


DEEP = {
    "blocks": "".join(" " * level + "if x:\n" for level in range(1, 150)) + " " * 150 + "return {k}\n",
    "brackets": f"    return {'(' * 5000}x{')' * 5000}\n",
    "signs": f"    return {'-' * 50_000}x\n",
    "attributes": f"    return x{'.a' * 50_000}\n",
    "calls": f"    return x{'()' * 50_000}\n",
    "operators": f"    return x{'+1' * 50_000}\n",
    "lambdas": f"    return {'lambda: ' * 50_000}x\n",
    "conditions": f"    return {'x if x else ' * 50_000}x\n",
    "brackets that are never closed": "    return " + ("(" * 150 + "def ") * 5000 + "\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_a_source_that_nests_too_deep_is_refused_in_one_line(tmp_path, name):
    done = twincell("compare", *texts(tmp_path, DEEP[name]), *LIMITS)
    assert done.returncode == 3, done.stdout
    assert len(done.stderr.strip().splitlines()) == 1 and "panic" not in done.stderr, done.stderr
    done = twincell("predict", tmp_path / "old.py")
    assert done.returncode == 3 and "panic" not in done.stderr, done.stderr


def test_a_function_that_is_too_large_is_inconclusive_and_its_neighbour_is_compared(tmp_path):
    body = (
        "".join(f"    a{number} = x\n" for number in range(20)) + "    return {k}\n\n\ndef g(x):\n    return x + {k}\n"
    )
    old, new = texts(tmp_path, body)
    done = twincell("compare", old, new, *LIMITS, "--max-function", "50", "--json")
    assert done.returncode == 1, done.stderr
    pairs = {pair["new"]["qualname"]: pair for pair in json.loads(done.stdout)["pairs"]}
    assert pairs["g"]["verdict"] == "changing" and pairs["g"]["bound"] is None
    assert pairs["f"]["verdict"] == "inconclusive"
    assert pairs["f"]["bound"] == {"size": {"side": "old", "size": 63, "most": 50}}
    assert "too large: the old version has 63 statements and expressions" in pairs["f"]["reason"]
    done = twincell("compare", old, new, *LIMITS, "--max-function", "63", "--function", "f")
    assert done.returncode == 1, done.stdout


def test_a_pair_ends_at_its_deadline(tmp_path):
    old, new = texts(tmp_path, "    return sum(range(10**12)) + {k}\n")
    done = twincell("compare", old, new, *LIMITS, "--timeout", "300", "--deadline", "2", "--json")
    assert done.returncode == 2, done.stderr
    [pair] = json.loads(done.stdout)["pairs"]
    assert pair["bound"] == {"deadline": {"seconds": 2.0}}
    assert "its time of 2 s was over" in pair["reason"]


def test_a_row_that_the_clock_cut_is_done_again(tmp_path):
    change = {"id": "a", "old": "def f(x):\n    while x:\n        pass\n    return 1\n"}
    change["new"] = change["old"].replace("pass", "continue")
    (tmp_path / "changes.jsonl").write_text(json.dumps(change) + "\n")
    out = tmp_path / "out.jsonl"
    done = twincell("study", tmp_path / "changes.jsonl", "--out", out, *LIMITS, "--deadline", "0.01")
    assert done.returncode == 0, done.stderr
    [row] = map(json.loads, out.read_text().splitlines())
    assert row["verdict"] == "inconclusive" and "its time of 0.01 s was over" in row["reason"]
    assert row["key"] is None


def test_large_objects_of_a_repository_are_not_read(tmp_path):
    git(tmp_path, "init", "-q")
    large = b"#" * (3 << 20)
    for number in (1, 2):
        (tmp_path / "large.py").write_bytes(large + b"%d\n" % number)
        (tmp_path / f"moved{number}.py").write_bytes(large + b"moved\n")
        (tmp_path / f"moved{3 - number}.py").unlink(missing_ok=True)
        (tmp_path / "small.py").write_text([ORIGINAL, CHANGED][number - 1])
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", str(number))
    done = twincell("compare", "--git", "HEAD~1..HEAD", *LIMITS, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    shown = done.stdout + done.stderr
    assert "large.py at HEAD~1 has more than 2 MiB" in shown
    # They were not taken for one file.
    assert "moved2.py: only in the new revision" in shown and "moved1.py: only in the old revision" in shown


def test_a_submodule_a_folder_and_links_named_as_python_files(tmp_path):
    git(tmp_path, "init", "-q")
    for number, commit in enumerate(("1" * 40, "2" * 40)):
        (tmp_path / "folder.py").mkdir(exist_ok=True)
        (tmp_path / "folder.py" / "a.py").write_text([ORIGINAL, CHANGED][number])
        deep = tmp_path.joinpath(*["d"] * 100)
        deep.mkdir(parents=True, exist_ok=True)
        (deep / "b.py").write_text([ORIGINAL, CHANGED][number])
        if not number:
            (tmp_path / "loop.py").symlink_to("loop.py")
        git(tmp_path, "add", "-A")
        git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{commit},module.py")
        git(tmp_path, "commit", "-q", "-m", str(number))
    done = twincell("compare", "--git", "HEAD~1..HEAD", *LIMITS, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    shown = done.stdout + done.stderr
    assert "folder.py/a.py" in shown and "d/b.py" in shown
    # The submodule is named, and nothing of it compared.
    assert "and not compared: module.py" in " ".join(shown.split()) and "loop.py" not in shown
    done = twincell("mine", ".", "--out", "mined.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = {json.loads(line)["file"] for line in (tmp_path / "mined.jsonl").read_text().splitlines()}
    assert "folder.py/a.py" in files and "module.py" not in files


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_names_that_are_not_utf8_are_compared(tmp_path):
    git(tmp_path, "init", "-q")
    folder = os.fsencode(tmp_path)
    try:
        with open(folder + b"/a\xff.py", "w") as file:
            file.write(ORIGINAL)
    except OSError:
        pytest.skip("this file system has no such names")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    for name in (b"a\xff.py", b"a\xfe.py"):
        with open(folder + b"/" + name, "w") as file:
            file.write(CHANGED if name == b"a\xff.py" else ORIGINAL)
    for arguments in (["--git", "HEAD"], ["--git", "HEAD", "--markdown", "a.md", "--sarif", "a.sarif"]):
        done = twincell("compare", *arguments, *LIMITS, cwd=tmp_path)
        assert done.returncode == 1 and "panic" not in done.stderr, done.stderr
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "two")
    done = twincell("compare", "--git", "HEAD~1..HEAD", *LIMITS, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    done = twincell("mine", ".", "--out", "mined.jsonl", cwd=tmp_path)
    assert done.returncode == 0 and len((tmp_path / "mined.jsonl").read_text().splitlines()) == 1, done.stderr


def test_no_revision_begins_with_a_dash(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text(ORIGINAL)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    for arguments in (["compare", "--git=--output=x"], ["compare", "--git=HEAD..-x"], ["mine", ".", "--from=-x"]):
        done = twincell(*arguments, cwd=tmp_path)
        assert done.returncode != 0 and "it begins with -" in done.stderr, (arguments, done.stderr)


def test_the_transform_of_study_refuses_names_within_a_script(tmp_path):
    (tmp_path / "a.py").write_text(ORIGINAL)
    done = twincell("study", tmp_path, "--transform", "sh -c 'cat {}'", "--out", tmp_path / "out.jsonl")
    assert done.returncode == 3 and '"$@"' in done.stderr, done.stderr
