"""`twincell compare OLD NEW` for files that lie in a repository: its other modules are real."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import twincell as library

from tests.cli.test_compare import git, twincell
from tests.cli.test_repository import CART, PACKAGE, repository

PRESERVING = CART.replace("price + price * rate(kind)", "price * (1 + rate(kind))")
CHANGING = CART.replace("price + price * rate(kind)", "price - price * rate(kind)")
REAL = "real, from the repository: shop, shop.models, shop.tax"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return repository(folder, {**PACKAGE, "src/shop/cart.py": CART})


def compared(old: Path, new: Path, *arguments: str) -> dict[str, Any]:
    report = json.loads(twincell("compare", old, new, "--json", *arguments).stdout)
    return {pair["new"]["qualname"]: pair for pair in report["pairs"]}


def notes(pairs: dict[str, Any]) -> list[str]:
    return [note for pair in pairs.values() for note in pair["notes"]]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_copy_outside_belongs_to_the_place_of_the_file_inside(shop: Path, tmp_path: Path, is_new: bool) -> None:
    inside, outside = shop / "src/shop/cart.py", tmp_path / "copy.py"
    (inside if is_new else outside).write_text(PRESERVING)
    (outside if is_new else inside).write_text(CART)
    pair = compared(outside, inside) if is_new else compared(inside, outside)
    assert pair["gross"]["verdict"] == "likely_preserving"
    assert REAL in notes(pair)
    (inside if is_new else outside).write_text(CHANGING)
    pair = compared(outside, inside) if is_new else compared(inside, outside)
    assert pair["gross"]["verdict"] == "changing"
    assert pair["gross"]["reproducer"]["holds"]


@pytest.mark.parametrize("copy", ["src/shop/cart_before.py", "before.py", "notes/before.py"])
def test_a_copy_inside_is_a_version_of_the_same_module(shop: Path, copy: str) -> None:
    (shop / copy).parent.mkdir(exist_ok=True)
    shutil.copy(shop / "src/shop/cart.py", shop / copy)
    (shop / "src/shop/cart.py").write_text(PRESERVING)
    pair = compared(shop / copy, shop / "src/shop/cart.py")
    assert pair["gross"]["verdict"] == "likely_preserving"
    assert REAL in notes(pair)


def test_files_of_two_packages_have_their_own_neighbours(tmp_path: Path) -> None:
    text = "from tax import rate\n\n\ndef gross(price: int):\n    return price * rate()\n"
    rates = {f"{folder}/tax.py": f"def rate():\n    return {rate}\n" for folder, rate in (("one", 2), ("two", 3))}
    written = text.replace("price * rate()", "rate() * price")
    folder = repository(tmp_path, {**rates, "one/cart.py": text, "two/cart.py": written})
    assert compared(folder / "one/cart.py", folder / "two/cart.py")["gross"]["verdict"] == "changing"


def test_other_modules_see_each_version_of_the_module(tmp_path: Path) -> None:
    old = "LIMIT = 2\n\nfrom shop.rules import allowed\n\n\ndef check(count: int):\n    return allowed(count)\n"
    rules = "from shop import cart\n\n\ndef allowed(count):\n    return count < cart.LIMIT\n"
    (tmp_path / "shop").mkdir()
    folder = repository(tmp_path / "shop", {"shop/__init__.py": "", "shop/rules.py": rules, "shop/cart.py": old})
    outside = tmp_path / "old.py"
    outside.write_text(old)
    (folder / "shop/cart.py").write_text(old.replace("return allowed", "return True and allowed"))
    assert compared(outside, folder / "shop/cart.py")["check"]["verdict"] == "likely_preserving"
    (folder / "shop/cart.py").write_text(old.replace("LIMIT = 2", "LIMIT = 3").replace("return al", "return 1 and al"))
    assert compared(outside, folder / "shop/cart.py")["check"]["verdict"] == "changing"


def test_outside_a_repository_nothing_is_imported_from_beside_a_file(tmp_path: Path) -> None:
    (tmp_path / "helper_beside.py").write_text("def double(x):\n    return x + x\n")
    text = "from helper_beside import double\n\n\ndef f(x: int):\n    return double(x)\n"
    (tmp_path / "old.py").write_text(text)
    (tmp_path / "new.py").write_text(text.replace("double(x)", "x * 2"))
    pair = compared(tmp_path / "old.py", tmp_path / "new.py")
    assert not any("real, from" in note for note in notes(pair))
    # In a repository, the same files find it.
    git(tmp_path, "init", "-q")
    pair = compared(tmp_path / "old.py", tmp_path / "new.py")
    assert pair["f"]["verdict"] == "likely_preserving"
    assert "real, from the repository: helper_beside" in notes(pair)


def test_what_is_hidden_or_ignored_is_not_there(tmp_path: Path) -> None:
    text = "from pathlib import Path\nimport kept\n\nHERE = Path(__file__).parent\n\n\ndef seen(x: int):\n"
    text += "    return [name for name in ('.env', 'key.txt', 'kept.py') if (HERE / name).exists()]\n"
    files = {".env": "secret", ".gitignore": "key.txt\n", "key.txt": "secret", "kept.py": "", "old.py": text}
    folder = repository(tmp_path, files)
    (folder / "new.py").write_text(text.replace("[name for", "[str(name) for"))
    pair = compared(folder / "old.py", folder / "new.py")["seen"]
    assert pair["executions"][0]["old"] == "returned ['kept.py']"
    assert pair["verdict"] == "likely_preserving"
    # Neither is a file under comparison that git ignores: it takes the place of the other one.
    (folder / "key.txt").write_text(text)
    shutil.move(folder / "key.txt", folder / "ignored.py")
    (folder / ".gitignore").write_text("ignored.py\n")
    assert compared(folder / "ignored.py", folder / "new.py")["seen"]["verdict"] == "likely_preserving"


def test_the_library_finds_the_repository_of_a_path(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(CART)
    path = shop / "src/shop/cart.py"
    path.write_text(CHANGING)
    comparison = library.compare(tmp_path / "old.py", path, function="gross")
    assert comparison.verdict == "changing"
    again = comparison.replay()
    assert again["differs"]
    assert again["old"]["outcome"] == comparison.replay()["old"]["outcome"]
    path.write_text(PRESERVING)
    assert library.compare(tmp_path / "old.py", path, function="gross").verdict == "likely_preserving"
    # A text has no place.
    told = library.compare(CART, PRESERVING, function="gross")
    assert not any("real, from" in note for pair in told.pairs for note in pair["notes"])


def test_context_function_injects_what_the_repository_gives(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(CART)
    (shop / "src/shop/cart.py").write_text(PRESERVING)
    pair = compared(tmp_path / "old.py", shop / "src/shop/cart.py", "--context", "function")
    assert not any("real, from" in note for note in notes(pair))


def test_a_repository_that_is_too_large_is_said(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(CART)
    (shop / "src/shop/cart.py").write_text(PRESERVING)
    for number in range(20_001):
        (shop / "src" / f"{number}.txt").touch()
    pair = compared(tmp_path / "old.py", shop / "src/shop/cart.py")
    assert any(note.startswith("the repository was not copied") for note in notes(pair))
