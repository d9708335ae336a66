"""`twincell compare --git`: the other modules of the repository are there, each version's own."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_compare import git, twincell

from ..command import run_here

Files = dict[str, str]

PACKAGE = {
    "src/shop/__init__.py": "from .cart import gross\n",
    "src/shop/tax.py": (
        "RATES = {'food': 0.5, 'other': 1}\n\n\ndef rate(kind):\n    return RATES.get(kind, RATES['other'])\n"
    ),
    "src/shop/models.py": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    name: 'str'\n    price: float = 4.0\n"
    ),
}


def repository(folder: Path, *commits: Files) -> Path:
    git(folder, "init", "-q")
    for number, files in enumerate(commits):
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"commit {number}")
    return folder


def pairs(folder: Path, *arguments: str, path: str = "src/shop/cart.py") -> dict[str, Any]:
    done = twincell("compare", "--git", *(arguments or ("HEAD~1..HEAD",)), "--json", cwd=folder)
    report = json.loads(done.stdout)
    (file,) = [file for file in report["files"] if file["path"] == path]
    return {pair["new"]["qualname"]: pair for pair in file["comparison"]["pairs"]}


CART = """from .tax import rate
from . import models


def gross(kind: str, price: int):
    return price + price * rate(kind)


def named(name: str):
    return models.Item(name)
"""


def test_helpers_of_other_modules_are_real(tmp_path: Path) -> None:
    old = CART
    new = old.replace("price + price * rate(kind)", "price * (1 + rate(kind))").replace("(name)\n", "(name, 4.0)\n")
    found = pairs(repository(tmp_path, {**PACKAGE, "src/shop/cart.py": old}, {"src/shop/cart.py": new}))
    assert {name: pair["verdict"] for name, pair in found.items()} == {
        "gross": "likely_preserving",
        "named": "likely_preserving",
    }
    assert found["named"]["executions"][0]["old"].startswith("returned Item(name=")


def test_each_version_imports_its_own_modules(tmp_path: Path) -> None:
    after = (
        PACKAGE["src/shop/tax.py"].replace("def rate(kind)", "def rate_of(kind)").replace("'other': 1", "'other': 2")
    )
    folder = repository(
        tmp_path,
        {**PACKAGE, "src/shop/cart.py": CART},
        {
            "src/shop/tax.py": after,
            "src/shop/cart.py": CART.replace("tax import rate", "tax import rate_of").replace(
                "rate(kind)", "rate_of(kind)"
            ),
        },
    )
    pair = pairs(folder)["gross"]
    assert pair["verdict"] == "changing"


def test_a_function_that_did_not_change_is_not_accused_of_a_change_in_another_module(tmp_path: Path) -> None:
    after = PACKAGE["src/shop/tax.py"].replace("'other': 1", "'other': 2")
    new = CART.replace("models.Item(name)", "models.Item(name=name)")
    folder = repository(
        tmp_path,
        {**PACKAGE, "src/shop/cart.py": CART},
        {"src/shop/tax.py": after, "src/shop/cart.py": new},
    )
    verdicts = {name: pair["verdict"] for name, pair in pairs(folder).items()}
    assert verdicts == {"gross": "identical", "named": "likely_preserving"}


def test_a_difference_that_comes_from_another_module_is_judged_there(tmp_path: Path) -> None:
    after = PACKAGE["src/shop/tax.py"].replace("'other': 1", "'other': 2")
    new = CART.replace("price + price * rate(kind)", "price * rate(kind) + price")
    folder = repository(
        tmp_path,
        {**PACKAGE, "src/shop/cart.py": CART},
        {"src/shop/tax.py": after, "src/shop/cart.py": new},
        {"src/shop/cart.py": new.replace("+ price", "- price")},
    )
    pair = pairs(folder, "HEAD~2..HEAD~1")["gross"]
    assert pair["decided_by"] == ["RATES (src/shop/tax.py)"], pair["sentence"]
    assert "is covered by RATES (src/shop/tax.py)" in pair["sentence"]
    own = pairs(folder, "HEAD~2..HEAD")["gross"]
    assert (own["verdict"], own["decided_by"]) == ("changing", []), own["sentence"]
    assert any("RATES (src/shop/tax.py)" in note for note in own["notes"])
    # Nothing judges a file that is not compared.
    alone = pairs(folder, "HEAD~2..HEAD~1", "src/shop/cart.py")["gross"]
    assert (alone["verdict"], alone["decided_by"]) == ("changing", []), alone["sentence"]
    assert any("RATES (src/shop/tax.py)" in note for note in alone["notes"])


def test_a_function_that_follows_a_change_of_another_module_behaves_as_before(tmp_path: Path) -> None:
    after = PACKAGE["src/shop/tax.py"].replace(
        "return RATES.get(kind, RATES['other'])", "return kind, RATES.get(kind, RATES['other'])"
    )
    folder = repository(
        tmp_path,
        {**PACKAGE, "src/shop/cart.py": CART},
        {"src/shop/tax.py": after, "src/shop/cart.py": CART.replace("rate(kind)", "rate(kind)[1]")},
    )
    pair = pairs(folder)["gross"]
    assert pair["verdict"] == "likely_preserving", pair["sentence"]
    assert any("rate (src/shop/tax.py)" in note for note in pair["notes"])


@pytest.mark.parametrize("staged", [False, True])
def test_what_is_not_committed_has_its_own_modules(tmp_path: Path, staged: bool) -> None:
    folder = repository(tmp_path, {**PACKAGE, "src/shop/cart.py": CART})
    (folder / "src/shop/rates.py").write_text("def rate_of(kind):\n    return 0.5 if kind == 'food' else 1\n")
    new = CART.replace("from .tax import rate", "from shop.rates import rate_of").replace("rate(kind)", "rate_of(kind)")
    (folder / "src/shop/cart.py").write_text(new)
    if staged:
        git(folder, "add", "-A")
        (folder / "src/shop/rates.py").write_text("def rate_of(kind):\n    return 7\n")
    pair = pairs(folder, "HEAD", *(["--staged"] if staged else []))["gross"]
    assert pair["verdict"] == "likely_preserving"


def test_the_repository_comes_before_an_installed_package_of_its_name(tmp_path: Path) -> None:
    pytest.importorskip("attr")
    old = "import attr\nfrom attr.mark import MARK\n\n\ndef marked(text: str):\n    return attr.START + text + MARK\n"
    new = old.replace("attr.START + text + MARK", "f'{attr.START}{text}{MARK}'")
    own = {"attr/__init__.py": "START = 'start'\n", "attr/mark.py": "MARK = 'end'\n"}
    pair = pairs(repository(tmp_path, {**own, "attr/use.py": old}, {"attr/use.py": new}), path="attr/use.py")["marked"]
    assert pair["verdict"] == "likely_preserving"
    seen = pair["executions"][0]["old"]
    assert seen.startswith("returned 'start") and seen.endswith("end'")


def test_no_file_takes_the_place_of_a_module_that_is_built_into_python(tmp_path: Path) -> None:
    old = "import errno\nimport own\n\n\ndef code(text: str):\n    return [errno.ENOENT, own.NAME, text]\n"
    new = old.replace("[errno.ENOENT, own.NAME, text]", "list((errno.ENOENT, own.NAME, text))")
    files = {"errno.py": "ENOENT = 'of a file'\n", "sys.py": "1 / 0\n", "own.py": "import sys\nNAME = sys.byteorder\n"}
    pair = pairs(repository(tmp_path, {**files, "use.py": old}, {"use.py": new}), path="use.py")["code"]
    assert pair["verdict"] == "likely_preserving"
    assert pair["executions"][0]["old"].startswith(f"returned [2, {sys.byteorder!r}, ")


def test_state_of_other_modules_is_put_back_and_observed(tmp_path: Path) -> None:
    registry = {"shop/__init__.py": "", "shop/registry.py": "SEEN = []\n\n\ndef see(name):\n    SEEN.append(name)\n"}
    old = "from shop import registry\n\n\ndef note(name: str):\n    registry.see(name)\n    return len(registry.SEEN)\n"
    same = old.replace("return len(registry.SEEN)", "count = len(registry.SEEN)\n    return count")
    folder = repository(tmp_path, {**registry, "shop/cart.py": old}, {"shop/cart.py": same})
    assert pairs(folder, path="shop/cart.py")["note"]["verdict"] == "likely_preserving"
    (folder / "shop/cart.py").write_text("def note(name: str):\n    return 1\n")
    pair = pairs(folder, "HEAD", path="shop/cart.py")["note"]
    assert pair["verdict"] == "changing"
    assert "shop.registry.SEEN" in json.dumps(pair["evidence"])


def test_files_of_the_repository_can_be_read_and_not_written(tmp_path: Path) -> None:
    reading = """from pathlib import Path

HERE = Path(__file__).parent


def first(count: int):
    return (HERE / 'names.txt').read_text()[:count]


def leave(text: str):
    try:
        (HERE / 'names.txt').write_text(text)
    except OSError:
        return 'refused'
    return 'written'


def secret():
    return (HERE / '.env').exists()
"""
    changed = (
        reading.replace("[:count]", "[0:count]")
        .replace("'refused'", "str('refused')")
        .replace("return (HERE", "return True and (HERE")
    )
    folder = repository(
        tmp_path,
        {"shop/__init__.py": "", "shop/names.txt": "abcdef", "shop/.env": "secret", "shop/cart.py": reading},
        {"shop/cart.py": changed},
    )
    found = pairs(folder, path="shop/cart.py")
    assert [pair["verdict"] for pair in found.values()] == ["likely_preserving"] * 3
    assert found["secret"]["executions"][0]["old"] == "returned False"
    assert {execution["old"] for execution in found["first"]["executions"]} & {"returned 'a'", "returned 'abcdef'"}
    assert (folder / "shop/names.txt").read_text() == "abcdef"
    assert str(tmp_path) not in json.dumps(found)


def test_a_reproducer_imports_the_project_by_its_name(tmp_path: Path) -> None:
    new = CART.replace("price + price * rate(kind)", "price - price * rate(kind)")
    folder = repository(tmp_path, {**PACKAGE, "src/shop/cart.py": CART}, {"src/shop/cart.py": new})
    path = tmp_path / "test_gross.py"
    twincell("compare", "--git", "HEAD~1..HEAD", "--function", "gross", "--reproducer", str(path), cwd=folder)
    assert "from shop.tax import rate" in path.read_text()
    for subject, status in (("old", 0), ("new", 1)):
        environment = {**os.environ, "TWINCELL_SUBJECT": subject, "PYTHONPATH": str(folder / "src")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
        done = run_here(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout


def test_a_reproducer_runs_on_a_file_of_the_project(tmp_path: Path) -> None:
    module = "from .tax import RATE\n\n\ndef or_rate(rate):\n    return RATE if rate is None else rate\n"
    tax = {"shop/__init__.py": "", "shop/tax.py": "RATE = 3\n"}
    new = module.replace("RATE if rate is None else rate", "rate or RATE")
    folder = repository(tmp_path, {**tax, "shop/cart.py": module}, {"shop/cart.py": new})
    path = tmp_path / "test_or_rate.py"
    twincell("compare", "--git", "HEAD~1..HEAD", "--reproducer", str(path), cwd=folder)
    assert "def load()" not in path.read_text()
    for text, status in ((module, 0), (new, 1)):
        (folder / "shop/cart.py").write_text(text)
        environment = {**os.environ, "TWINCELL_SUBJECT": str(folder / "shop/cart.py")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
        done = run_here(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout
        assert ("AssertionError" in done.stdout) == bool(status), done.stdout


def test_modules_that_cannot_be_evaluated_whole_serve_with_the_rest(tmp_path: Path) -> None:
    broken = {
        "shop/__init__.py": "import a_package_that_is_not_installed\nfrom .tax import rate\nraise RuntimeError\n",
        "shop/tax.py": "from missing_too import base\n\nLIMIT = 1 / 0\n\n\ndef rate(kind):\n    return len(kind)\n",
        "shop/odd.py": "def broken(:\n",
    }
    old = "from shop import rate\nfrom .odd import broken\n\n\ndef twice(kind: str):\n    return rate(kind) * 2\n"
    new = old.replace("rate(kind) * 2", "2 * rate(kind)")
    folder = repository(tmp_path, {**broken, "shop/cart.py": old}, {"shop/cart.py": new})
    assert pairs(folder, path="shop/cart.py")["twice"]["verdict"] == "likely_preserving"


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    pass\n",
        "import os\nos._exit(3)\n",
        "x = " + "(" * 150 + "1" + ")" * 150 + "\n",
        "x = '\udc80'\n",
    ],
    ids=["no end", "exit", "depth", "no text"],
)
def test_no_module_of_the_project_keeps_a_function_from_being_compared(tmp_path: Path, text: str) -> None:
    old = "from .bad import *\nfrom . import bad\n\n\ndef double(a: int):\n    return a * 2 + 1\n"
    folder = repository(tmp_path, {"p/__init__.py": "", "p/good.py": old})
    (folder / "p/bad.py").write_bytes(text.encode(errors="surrogateescape"))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "add a bad module")
    (folder / "p/good.py").write_text(old.replace("a * 2 + 1", "1 + a + a"))
    assert pairs(folder, "HEAD", path="p/good.py")["double"]["verdict"] == "likely_preserving"


STOCK = {
    "src/shop/__init__.py": "",
    "src/shop/levels.py": "from enum import Enum\n\n\nclass Level(Enum):\n    LOW = 1\n    HIGH = 2\n",
    "src/shop/stock.py": (
        "from dataclasses import dataclass, field\n\nfrom .levels import Level\n\nLIMIT = 37\n\n\n"
        "@dataclass\nclass Part:\n    weight: int\n    level: Level = Level.LOW\n\n\n"
        "@dataclass\nclass Bin:\n    sku: str\n    parts: list[Part] = field(default_factory=list)\n\n\n"
        "class Shelf:\n    def __init__(self, bins: list[Bin]):\n        self.bins = bins\n\n"
        "    def weight(self):\n        return sum(part.weight for one in self.bins for part in one.parts)\n"
    ),
}
# name: (the import, the parameter, old's expression, new's, and one that differs).
IMPORTED = {
    "a dataclass": (
        "from .stock import Bin",
        "x: Bin",
        "sum(p.weight for p in x.parts)",
        "sum([part.weight for part in x.parts])",
        "len(x.parts)",
    ),
    "one with fields of further modules": (
        "from .stock import Bin\nfrom .levels import Level",
        "x: Bin",
        "[p.weight for p in x.parts if p.level is Level.HIGH]",
        "[p.weight for p in x.parts if p.level == Level.HIGH]",
        "[p.weight for p in x.parts if p.level is Level.LOW]",
    ),
    "a class with a constructor": (
        "from .stock import Shelf",
        "x: Shelf",
        "x.weight() * 2",
        "2 * x.weight()",
        "x.weight() + 1",
    ),
    "one for type checkers": (
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from .stock import Bin",
        "x: Bin",
        "(x.sku, len(x.parts))",
        "(x.sku, sum(1 for _ in x.parts))",
        "(x.sku, 1)",
    ),
    "by its module": (
        "from . import stock",
        "x: stock.Part",
        "x.weight > stock.LIMIT",
        "stock.LIMIT < x.weight",
        "x.weight >= stock.LIMIT",
    ),
}


@pytest.mark.parametrize("imported, parameter, old, new, other", IMPORTED.values(), ids=IMPORTED)
def test_objects_of_imported_classes_are_real(
    tmp_path: Path, imported: str, parameter: str, old: str, new: str, other: str
) -> None:
    def text(expression: str) -> str:
        return f"{imported}\n\n\ndef f({parameter}):\n    return {expression}\n"

    path = "src/shop/report.py"
    folder = repository(tmp_path, {**STOCK, path: text(old)}, {path: text(new)}, {path: text(other)})
    assert pairs(folder, "HEAD~2..HEAD~1", path=path)["f"]["verdict"] == "likely_preserving"
    pair = pairs(folder, "HEAD~1..HEAD", path=path)["f"]
    assert pair["verdict"] == "changing"
    assert pair["reproducer"]["holds"], pair["reproducer"]


def test_functions_of_other_modules_are_never_replaced(tmp_path: Path) -> None:
    folded = "import unicodedata\n\n\ndef fold(text: str):\n    return unicodedata.normalize('NFKD', text).lower()\n"
    old = (
        "from .fold import fold\n\n\ndef slug(title: str):\n    words = []\n    for word in fold(title).split():\n"
        "        if word in {'a', 'the'}:\n            continue\n        words.append(word)\n"
        "    return '-'.join(words) or 'untitled'\n"
    )
    new = (
        "from .fold import fold\n\n\ndef slug(title: str):\n"
        "    words = [word for word in fold(title).split() if word not in ('a', 'the')]\n"
        "    return '-'.join(words) or 'untitled'\n"
    )
    path = "src/shop/slugs.py"
    folder = repository(tmp_path, {"src/shop/__init__.py": "", "src/shop/fold.py": folded, path: old}, {path: new})
    pair = pairs(folder, path=path)["slug"]
    assert pair["verdict"] == "likely_preserving"


INVENTORY = """from .errors import NotEnough, UnknownItem
from .items import ITEMS


class Inventory:
    def __init__(self, amounts=None):
        self.amounts = dict(amounts or {})

    def amount(self, item):
        return self.amounts.get(item, 0)

    def transfer(self, other: "Inventory", item: str, count: int = 1) -> None:
        if item not in ITEMS:
            raise UnknownItem(item)
"""
TRANSFERS = (
    "        if item in self.amounts:\n            available = self.amounts[item]\n        else:\n"
    "            available = 0\n        if available < count:\n            raise NotEnough(item)\n"
    "        self.amounts[item] = available - count\n        if self.amounts[item] == 0:\n"
    "            del self.amounts[item]\n        if item in other.amounts:\n"
    "            other.amounts[item] += count\n        else:\n            other.amounts[item] = count\n",
    "        available = self.amount(item)\n        if count > available:\n            raise NotEnough(item)\n"
    "        self.amounts[item] = available - count\n        if not self.amounts[item]:\n"
    "            del self.amounts[item]\n        other.amounts[item] = other.amount(item) + count\n",
)


def test_a_method_of_another_object_is_real_without_the_module(tmp_path: Path) -> None:
    files = {
        "src/shop/__init__.py": "",
        "src/shop/errors.py": "class UnknownItem(KeyError):\n    pass\n\n\nclass NotEnough(ValueError):\n    pass\n",
        "src/shop/items.py": "ITEMS = frozenset({'rope', 'torch', 'coin'})\n",
    }
    old, new = (INVENTORY + text for text in TRANSFERS)
    path = "src/shop/inventory.py"
    folder = repository(
        tmp_path, {**files, path: old}, {path: new}, {path: new.replace("+ count", "+ count + (count > 2)")}
    )
    found = pairs(folder, "HEAD~2..HEAD~1", path=path)["Inventory.transfer"]
    assert found["verdict"] == "likely_preserving", found["sentence"]
    found = pairs(folder, "HEAD~2..HEAD", path=path)["Inventory.transfer"]
    assert found["verdict"] == "changing", found["sentence"]


FOLD = """def fold(text):
    return text.casefold().strip()


class Named:
    def label(self):
        return self.name.casefold().strip()
"""
# name: (the module's beginning, old's function, new's, its name); one version alone uses what other modules have.
IMPORTED_BY_ONE = {
    "a function": (
        "from .fold import fold\n",
        "def f(name, most):\n    if len(name) > most + 70000:\n        return None\n"
        "    return name.casefold().strip()\n",
        "def f(name, most):\n    return None if len(name) > most + 70000 else fold(name)\n",
        "f",
    ),
    "a function behind a helper": (
        "from .fold import fold\n\n\ndef _short(name):\n    return fold(name)[:3]\n\n\n",
        "def f(name, most):\n    if len(name) > most + 70000:\n        return None\n"
        "    return name.casefold().strip()[:3]\n",
        "def f(name, most):\n    return None if len(name) > most + 70000 else _short(name)\n",
        "f",
    ),
    "an inherited method": (
        "from .fold import Named\n\n\nclass Person(Named):\n    def __init__(self, name: str):\n"
        "        self.name = name\n\n",
        "    def f(self, most: int):\n        if most > 70000:\n            return None\n"
        "        return [self.name.casefold().strip(), most]\n",
        "    def f(self, most: int):\n        return None if most > 70000 else [self.label(), most]\n",
        "Person.f",
    ),
}


@pytest.mark.parametrize("module, old, new, name", IMPORTED_BY_ONE.values(), ids=IMPORTED_BY_ONE)
def test_what_one_version_alone_imports_or_inherits_is_real(
    tmp_path: Path, module: str, old: str, new: str, name: str
) -> None:
    path = "src/shop/people.py"
    files = {"src/shop/__init__.py": "", "src/shop/fold.py": FOLD, path: module + old}
    folder = repository(tmp_path, files, {path: module + new})
    found = pairs(folder, path=path)[name]
    assert found["verdict"] == "likely_preserving", found["sentence"]


def test_the_project_is_real_in_executions_without_the_module(tmp_path: Path) -> None:
    words = "def trim(text):\n    return text.strip()\n"
    # No text has blanks at its ends after `trim`, so that no execution with the real one runs the line that goes.
    gone = "    if trim(name) != name:\n        return 'untitled'\n"
    old = f"from .words import trim\n\n\ndef slug(title):\n    name = trim(str(title))\n{gone}    return name[:6]\n"
    path = "src/shop/slugs.py"
    files = {"src/shop/__init__.py": "", "src/shop/words.py": words, path: old}
    folder = repository(tmp_path, files, {path: old.replace(gone, "")})
    pair = pairs(folder, path=path)["slug"]
    assert pair["verdict"] == "likely_preserving", pair["reason"]
    assert any("function alone" in note for note in pair["notes"]), "a case for what this tests"


MONEY = """EUR = 'EUR'


class Money:
    def __init__(self, cents, currency):
        if currency not in ('EUR', 'USD') or not isinstance(cents, int):
            raise ValueError(f'no money: {cents} {currency}')
        self.cents, self.currency = cents, currency
"""

FEE = "from . import Money\n\n\ndef fee(m: Money):\n    return m.cents > 500 and m.currency == 'EUR'\n"


def test_values_that_the_project_declares_are_made_in_the_modules_of_their_classes(tmp_path: Path) -> None:
    values = (
        '[tool.twincell.values]\n"shop.money.Money" = ["Money(1, EUR)", "Money(700, EUR)", "Money(950, \'USD\')"]\n'
    )
    files = {"pyproject.toml": values, "src/shop/__init__.py": "from .money import Money\n", "src/shop/money.py": MONEY}
    old = {**files, "src/shop/cart.py": FEE}
    folder = repository(tmp_path, old, {"src/shop/cart.py": FEE.replace("> 500", ">= 501")})
    found = pairs(folder)["fee"]
    assert found["verdict"] == "likely_preserving", found["reason"]
    shown = {value["value"] for path in found["paths"] if path["path"] == "m" for value in path["injected"]}
    assert shown == {"Money(1, EUR)", "Money(700, EUR)", "Money(950, 'USD')"}
    (folder / "src/shop/cart.py").write_text(FEE.replace("> 500", "> 900"))
    changed = pairs(folder, "HEAD~1")["fee"]
    assert changed["verdict"] == "changing"
    assert "eval('Money(700, EUR)', vars(" in changed["reproducer"]["source"]


def test_a_function_of_the_tests_makes_values(tmp_path: Path) -> None:
    files = {
        "twincell.toml": '[values]\nshop.money.Money = "tests.factories:make_money"\n',
        "src/shop/__init__.py": "from .money import Money\n",
        "src/shop/money.py": MONEY,
        "src/shop/cart.py": FEE,
        "tests/__init__.py": "",
        "tests/factories.py": "from shop.money import *\n\n\ndef make_money(random):\n"
        "    return Money(random.randrange(2000), random.choice([EUR, 'USD']))\n",
    }
    folder = repository(tmp_path, files, {"src/shop/cart.py": FEE.replace("> 500", ">= 501")})
    found = pairs(folder)["fee"]
    assert (found["verdict"], found["notes"]) == ("likely_preserving", ["real, from the repository: shop"])
    (folder / "src/shop/cart.py").write_text(FEE.replace("> 500", "> 1900"))
    changed = pairs(folder, "HEAD~1")["fee"]
    assert changed["verdict"] == "changing"
    assert "import_module('tests.factories').make_money(" in changed["reproducer"]["source"]


def test_a_value_that_only_one_version_can_make_is_left_out_of_both(tmp_path: Path) -> None:
    values = '[values]\nshop.money.Money = ["Money(1, EUR)", "Money(700, EUR)"]\n'
    files = {"twincell.toml": values, "src/shop/__init__.py": "from .money import Money\n", "src/shop/money.py": MONEY}
    after = MONEY.replace(
        "        self.cents", "        if cents < 5:\n            raise ValueError('small')\n        self.cents"
    )
    folder = repository(
        tmp_path,
        {**files, "src/shop/cart.py": FEE},
        {"src/shop/cart.py": FEE.replace("> 500", ">= 501"), "src/shop/money.py": after},
    )
    found = pairs(folder)["fee"]
    shown = {value["value"] for path in found["paths"] if path["path"] == "m" for value in path["injected"]}
    assert shown == {"Money(700, EUR)"}
    (note,) = [note for note in found["notes"] if "declared" in note]
    assert note.endswith("so it is left out: Money(1, EUR): ValueError: small")


def test_a_method_that_moves_between_modules_asks_the_same_questions(tmp_path: Path) -> None:
    method = """    def ensure(self, func):
        if iscoroutinefunction(func) or isinstance(func, Handler):
            return ["wrapped", func]
        return func
"""
    handler = "class Handler:\n    pass\n"
    base = f"from inspect import iscoroutinefunction\nfrom .handler import Handler\n\n\nclass Base:\n{method}"
    add = "    def add(self, func):\n        self.all.append(self.ensure(func))\n"
    app = f"from .base import Base\n\n\nclass App(Base):\n{add}"
    moved = "from inspect import iscoroutinefunction\nfrom .handler import Handler\n" + app + "\n" + method
    empty = "class Base:\n    def ensure(self, func):\n        raise NotImplementedError\n"
    folder = repository(
        tmp_path,
        {"src/shop/__init__.py": "", "src/shop/handler.py": handler, "src/shop/base.py": base, "src/shop/app.py": app},
        {"src/shop/base.py": empty, "src/shop/app.py": moved},
        {"src/shop/app.py": moved.replace('["wrapped", func]', '["other", func]')},
    )
    found = pairs(folder, "HEAD~2..HEAD~1", path="src/shop/app.py")
    assert found["App.add"]["verdict"] == "likely_preserving", found["App.add"]["sentence"]
    found = pairs(folder, "HEAD~2..HEAD", path="src/shop/app.py")
    assert found["App.add"]["verdict"] == "changing", found["App.add"]["sentence"]


def test_an_attribute_behind_a_property_of_another_module_is_the_same_value(tmp_path: Path) -> None:
    state = "class State:\n    def __init__(self, session):\n        self.session = session\n"
    behind = state.replace("self.session", "self._session")
    behind += "\n    @property\n    def session(self):\n        return self._session\n"
    app = "from .state import State\n\n\ndef save(state, out):\n    out.write(state.session)\n"
    folder = repository(
        tmp_path,
        {"src/shop/__init__.py": "", "src/shop/state.py": state, "src/shop/app.py": app},
        {"src/shop/state.py": behind, "src/shop/app.py": app.replace("state.session", "state._session")},
        {"src/shop/app.py": app.replace("state.session", "state._session or 1")},
    )
    found = pairs(folder, "HEAD~2..HEAD~1", path="src/shop/app.py")
    assert found["save"]["verdict"] == "likely_preserving", found["save"]["sentence"]
    found = pairs(folder, "HEAD~2..HEAD", path="src/shop/app.py")
    assert found["save"]["verdict"] == "changing", found["save"]["sentence"]


def test_what_another_module_raises_is_raised(tmp_path: Path) -> None:
    context = """def current(name):
    if name not in ("a", "b"):
        raise RuntimeError("outside")
    return name
"""
    app = "from .context import current\n\n\ndef age(name):\n    return [current(name)]\n"
    folder = repository(
        tmp_path,
        {"src/shop/__init__.py": "", "src/shop/context.py": context, "src/shop/app.py": app},
        {"src/shop/app.py": app.replace("return [current(name)]", "found = current(name)\n    return [found]")},
        {"src/shop/app.py": app.replace("    return [", "    return 'b' if name == 'c' else [")},
    )
    found = pairs(folder, "HEAD~2..HEAD~1", path="src/shop/app.py")
    assert found["age"]["verdict"] == "likely_preserving", found["age"]["sentence"]
    found = pairs(folder, "HEAD~2..HEAD", path="src/shop/app.py")
    assert found["age"]["verdict"] == "changing", found["age"]["sentence"]


@pytest.mark.parametrize("is_new", [True, False])
def test_code_that_moved_into_a_helper_of_another_module_calls_as_before(tmp_path: Path, is_new: bool) -> None:
    helper = "def ensure(context):\n    if not context.get_certs():\n        context.load_default_certs()\n"
    old = """from .tax import rate


def made(verify, factory):
    context = factory(verify)
    if not context.get_certs():
        context.load_default_certs()
    return context
"""
    new = """from .tax import ensure


def made(verify, factory):
    context = factory(verify)
    ensure(context)
    return context
"""
    tax = PACKAGE["src/shop/tax.py"]
    before = {**PACKAGE, "src/shop/cart.py": old}
    if not is_new:
        before["src/shop/tax.py"] = f"{tax}\n\n{helper}"
    folder = repository(
        tmp_path,
        before,
        {"src/shop/tax.py": f"{tax}\n\n{helper}", "src/shop/cart.py": new},
        {"src/shop/tax.py": f"{tax}\n\n{helper.replace('if not', 'if')}"},
    )
    kept = pairs(folder, "HEAD~2..HEAD~1")["made"]
    assert kept["verdict"] == "likely_preserving", kept["sentence"]
    other = pairs(folder, "HEAD~2..HEAD")["made"]
    assert other["verdict"] == "changing", other["sentence"]


PRICES = "def gross(kind, price):\n    return price * {}\n"
TESTS = "def test_gross():\n    assert 2 * 2 == {}\n"


def test_tests_beside_changed_code_are_named_and_not_run(tmp_path: Path) -> None:
    first = {"prices.py": PRICES.format(2), "tests/test_prices.py": TESTS.format(4)}
    repository(tmp_path, first, {"prices.py": PRICES.format(3), "tests/test_prices.py": TESTS.format(5)})
    shown = twincell("compare", "--git", "HEAD~1..HEAD", cwd=tmp_path).stdout
    assert "prices.py:2  ≠ changing" in shown and "not compared" in shown and "tests/test_prices.py" in shown, shown
    assert "in 1 function in prices.py" in shown or "1 of 1 function in prices.py" in shown, shown
    report = json.loads(twincell("compare", "--git", "HEAD~1..HEAD", "--json", cwd=tmp_path).stdout)
    assert [file["path"] for file in report["files"]] == ["prices.py"]
    # Who names them wants them.
    for arguments in (["tests"], ["--verbose"]):
        shown = twincell("compare", "--git", "HEAD~1..HEAD", *arguments, cwd=tmp_path).stdout
        assert "test_gross" in shown, shown


def test_tests_that_change_alone_are_compared(tmp_path: Path) -> None:
    repository(tmp_path, {"tests/test_prices.py": TESTS.format(4)}, {"tests/test_prices.py": TESTS.format(5)})
    shown = twincell("compare", "--git", "HEAD~1..HEAD", cwd=tmp_path).stdout
    assert "tests/test_prices.py:2  ≠ changing  test_gross()" in shown, shown


CLAMP = """class Meter:
    def _bounded(self, value: int):
        return value if value {} 10 else 10

    def read(self, value: int):
        return self._bounded(value) + 1
"""


def test_what_changed_in_a_function_is_not_told_once_more_of_those_that_use_it(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(CLAMP.format("<"))
    (tmp_path / "new.py").write_text(CLAMP.format(">"))
    shown = twincell("compare", "old.py", "new.py", cwd=tmp_path).stdout
    assert "and 1 function that uses what changed differs, too: Meter.read" in shown, shown
    assert shown.count("≠ changing") == 1, shown


LOANS = {
    "src/shop/__init__.py": "",
    "src/shop/models.py": """from dataclasses import dataclass
from datetime import date, timedelta


@dataclass
class Loan:
    title: str
    out: date
    days: int = 21

    def overdue(self, today: date) -> int:
        return max((today - self.out - timedelta(days=self.days)).days, 0)
""",
}
DESK = """from datetime import date

from .models import Loan


class Desk:
    def __init__(self):
        self.open: list[Loan] = []

    def reminders(self, today: date) -> list[str]:
        late = []
        for loan in self.open:
            if loan.overdue(today) > 0:
                late.append(loan.title)
        return late
"""
RANKED = """from collections import Counter

from .models import Loan


def popular(history: list[Loan]) -> list[tuple[str, int]]:
    counts = Counter(loan.title for loan in history)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
"""


def test_what_a_real_method_cannot_give_is_no_difference(tmp_path: Path) -> None:
    desk = "src/shop/desk.py"
    files = [LOANS | {desk: text} for text in (DESK, DESK.replace("overdue(today) > 0", "overdue(today)"))]
    repository(tmp_path, *files)
    for seed in range(4):
        pair = pairs(tmp_path, "HEAD~1..HEAD", "--seed", str(seed), path=desk)["Desk.reminders"]
        assert pair["verdict"] == "likely_preserving", (seed, pair["sentence"])


def test_classes_of_another_module_hold_dates_that_this_one_does_not_import(tmp_path: Path) -> None:
    ranked = "src/shop/ranked.py"
    counted = RANKED.replace("sorted(counts.items(), key=lambda item: (-item[1], item[0]))", "counts.most_common()")
    repository(tmp_path, *(LOANS | {ranked: text} for text in (RANKED, counted)))
    pair = pairs(tmp_path, path=ranked)["popular"]
    assert pair["verdict"] == "changing"
    assert "popular(history=[Loan(title=" in pair["sentence"], pair["sentence"]
