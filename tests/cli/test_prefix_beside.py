"""`prefix` uses the real modules and files that lie beside the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import twincell as library

from ..command import run_here
from .test_compare import twincell

CODE = """\
import helpers
rows = helpers.load('rows.csv')
for row in rows:
    if row['city'] == 'Berlin':
        print(greet(row['name']))
with open('notes.txt', 'a') as notes:
    notes.write('done')
"""
HELPERS = "import csv\ndef load(path):\n    with open(path) as file:\n        return list(csv.DictReader(file))\n"


@pytest.fixture
def place(tmp_path):
    """A folder that is no repository, with a snippet, a module and a table."""
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "snippet.py").write_text(CODE)
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "rows.csv").write_text("city,name\nBerlin,Ada\n")
    (folder / "notes.txt").write_text("mine")
    (folder / "private.txt").write_text("secret")
    return folder


def search(folder, *arguments, file="snippet.py"):
    done = twincell("prefix", "--predictor", "frequency", "--json", *arguments, file, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_modules_and_files_beside_the_code_are_real_and_stay_as_they_are(place):
    before = contents(place)
    tree = search(place)
    best = tree["nodes"][tree["best"]]
    assert tree["covered"] == tree["lines"], best
    assert tree["undefined"] == ["greet"] and "helpers" not in best["text"] and "rows" not in best["text"]
    used = tree["beside"]
    assert (used["modules"], used["data"]) == (["helpers.py"], ["notes.txt", "rows.csv"])
    assert used["folder"] == str(place) and used["search"] == [str(place)]
    assert contents(place) == before


def test_the_text_and_the_page_say_what_is_used(place):
    done = twincell("prefix", "--predictor", "frequency", "--html", "page.html", "snippet.py", cwd=place)
    said = f"used from {place}: helpers.py, notes.txt, rows.csv"
    assert f"# {said}\n" in done.stdout and said in (place / "page.html").read_text()


def test_programs_and_tests_find_them_wherever_they_run(place, tmp_path):
    search(place, "--out", str(tmp_path / "out"), "--pytest", str(tmp_path / "test_it.py"))
    before = contents(place)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    tested = run_here(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    assert {name: text for name, text in contents(place).items() if "__pycache__" not in name} == before
    for program in (tmp_path / "out").glob("*.py"):
        done = subprocess.run([sys.executable, program], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_code_of_a_package_imports_its_neighbours(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "tax.py").write_text("from . import rates\ndef gross(net):\n    return net * rates.RATE\n")
    (tmp_path / "shop" / "rates.py").write_text("RATE = 2\n")
    (tmp_path / "shop" / "cart.py").write_text("from .tax import gross\nif gross(3) == 6:\n    print(total)\n")
    tree = search(tmp_path / "shop", file="cart.py")
    best = tree["nodes"][tree["best"]]["text"]
    assert tree["covered"] == [1, 2, 3] and "__package__ = 'shop'" in best and "Mock" not in best, best


def test_a_module_that_does_not_start_gets_a_stand_in(place):
    (place / "helpers.py").write_text("raise RuntimeError('not here')\n")
    tree = search(place)
    assert 1 in tree["covered"] and 2 in tree["covered"]
    assert "helpers" in tree["nodes"][tree["best"]]["text"]


def test_a_module_may_need_what_is_not_installed(place):
    (place / "helpers.py").write_text(f"import surely_not_installed\nsurely_not_installed.start()\n{HELPERS}")
    tree = search(place)
    assert tree["covered"] == tree["lines"], tree["nodes"][tree["best"]]


def test_hidden_files_links_and_folders_above_are_not_read(place, tmp_path):
    (tmp_path / "above.txt").write_text("secret")
    (place / ".env").write_text("secret")
    (place / "link.txt").symlink_to(tmp_path / "above.txt")
    names = ["../above.txt", ".env", "link.txt", str(tmp_path / "above.txt")]
    (place / "snippet.py").write_text(f"for name in {names!r}:\n    print(open(name).read())\n")
    assert search(place)["beside"] is None


def test_the_library_takes_the_folder(place, monkeypatch, tmp_path):
    options = {"predictor": "frequency"}
    assert library.prefix(CODE, **options).to_dict()["beside"] is None
    assert library.prefix(CODE, folder=place, **options).to_dict()["beside"]["modules"] == ["helpers.py"]
    assert library.prefix(place / "snippet.py", **options).to_dict()["beside"]["modules"] == ["helpers.py"]
    monkeypatch.chdir(place)
    assert library.prefix(CODE, **options).to_dict()["beside"]["modules"] == ["helpers.py"]


def test_a_search_with_files_is_the_same_each_time(place):
    assert search(place) == search(place)
