"""Values that a project declares for its classes: in the policy, by `twincell.register`, and by libraries."""

import subprocess
import sys
from pathlib import Path

import pytest
import twincell
from twincell import _providers

#: Its constructor takes only what no drawn value is.
MONEY = """
EUR = 'EUR'


class Money:
    def __init__(self, cents, currency):
        if currency not in ('EUR', 'USD') or not isinstance(cents, int) or not 0 <= cents < 100_000:
            raise ValueError(f'no money: {cents} {currency}')
        self.cents, self.currency = cents, currency

    def __eq__(self, other):
        return (self.cents, self.currency) == (other.cents, other.currency)
"""
OLD = f"{MONEY}\n\ndef fee(m: Money):\n    return m.cents > 500 and m.currency == 'EUR'\n"
SAME = OLD.replace("m.cents > 500 and m.currency == 'EUR'", "m.currency == 'EUR' and m.cents >= 501")
OTHER = OLD.replace("> 500", "> 900")
VALUES = ["Money(0, EUR)", "Money(700, EUR)", "Money(995, 'USD')", "Money(99_999, EUR)"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def declare(folder: Path, **values: object) -> None:
    lines = [f'"{name.replace("_", ".")}" = {value!r}' for name, value in values.items()]
    (folder / "twincell.toml").write_text('predictor = "frequency"\nbudget = 60\n[values]\n' + "\n".join(lines) + "\n")


def compare(old: str, new: str, **options: object) -> twincell.Comparison:
    return twincell.compare(old, new, **{"function": "fee", **options})


def injected(comparison: twincell.Comparison, path: str = "m") -> list[str]:
    """The texts of the values that entered under a path."""
    found = [report for report in comparison.pairs[0]["paths"] if report["path"] == path]
    return [value["value"] for report in found for value in report["injected"]]


def test_declared_values_are_injected_and_shown_as_they_are_written(folder: Path):
    declare(folder, shop_Money=VALUES)
    comparison = compare(OLD, SAME)
    assert comparison.verdict == "likely_preserving"
    assert sorted(injected(comparison)) == sorted(VALUES)
    assert not [note for note in comparison.pairs[0]["notes"] if "declared" in note]


def test_the_simplest_value_that_shows_the_difference_is_the_witness_and_stands_in_the_reproducer(folder: Path):
    declare(folder, shop_Money=["Money(0, EUR)", "Money(501, EUR)", "Money(700, EUR)", "Money(800, EUR)"])
    comparison = compare(OLD, OTHER)
    assert comparison.verdict == "changing"
    assert "Money(501, EUR)" in comparison.sentence, comparison.sentence
    assert "Money(501, EUR)" in comparison.reproducer and "EUR = 'EUR'" in comparison.reproducer
    test = folder / "test_change.py"
    test.write_text(comparison.reproducer)
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", str(test)], capture_output=True, text=True)
    assert "1 failed" in run.stdout, run.stdout
    again = compare(OLD, OTHER)
    assert (again.pairs[0]["witness"], again.reproducer) == (comparison.pairs[0]["witness"], comparison.reproducer)


def test_both_versions_get_equal_and_separate_objects(folder: Path):
    declare(folder, shop_Money=VALUES)
    old = f"{MONEY}\n\ndef fee(m: Money):\n    m.cents += 1\n    return m\n"
    assert compare(old, old.replace("m.cents += 1", "m.cents = 1 + m.cents")).verdict == "likely_preserving"
    assert compare(old, old.replace("+= 1", "+= 2")).verdict == "changing"


def test_a_field_and_an_item_of_the_class_get_them_as_well(folder: Path):
    declare(folder, shop_Money=VALUES)
    fields = "@dataclass\nclass Cart:\n    total: Money\n    parts: list[Money]\n"
    cart = f"from dataclasses import dataclass\n{MONEY}\n\n{fields}"
    old = (
        f"{cart}\n\ndef fee(cart: Cart):\n    return cart.total.cents > 600 or any(p.cents > 600 for p in cart.parts)\n"
    )
    new = old.replace("p.cents > 600 for", "p.cents >= 601 for")
    assert compare(old, new).verdict == "likely_preserving"
    comparison = compare(old, old.replace("cart.total.cents > 600", "cart.total.cents > 800"))
    assert comparison.verdict == "changing"
    assert "Money(700, EUR)" in comparison.reproducer


def test_a_class_that_the_code_tests_for_has_them(folder: Path):
    declare(folder, shop_Money=VALUES)
    old = OLD.replace("def fee(m: Money):\n", "def fee(m):\n    if not isinstance(m, Money):\n        return None\n")
    assert set(injected(compare(old, old.replace("> 500", ">= 501")))) >= set(VALUES)


def test_a_function_makes_values_from_a_seeded_generator(folder: Path):
    old = OLD + "\n\ndef make(random):\n    return Money(random.randrange(100_000), random.choice(['EUR', 'USD']))\n"
    twincell.register("__main__.Money", "__main__:make")
    try:
        comparison = compare(old, old.replace("> 500", ">= 501"), predictor="frequency", budget=60)
        assert comparison.verdict == "likely_preserving"
        assert all(value.startswith("make(random.Random(") for value in injected(comparison))
        assert len(injected(comparison)) > 20
        assert compare(old, old.replace("> 500", "> 90_000"), predictor="frequency", budget=60).verdict == "changing"
    finally:
        twincell.register("__main__.Money", None)


def test_what_fails_is_said_once_and_left_out(folder: Path):
    declare(folder, shop_Money=["Money(0, EUR)", "Money(-1, EUR)", "Money(1, 'YEN')", "Money(99, EUR)"])
    comparison = compare(OLD, SAME)
    notes = [note for note in comparison.pairs[0]["notes"] if "declared" in note]
    assert notes == [
        "a value that is declared for Money cannot be made, so it is left out: Money(-1, EUR): "
        "ValueError: no money: -1 EUR"
    ]
    assert set(injected(comparison)) == {"Money(0, EUR)", "Money(99, EUR)"}


def test_objects_stand_in_where_all_of_it_fails(folder: Path):
    declare(folder, shop_Money=["Money(0, YEN)"])
    comparison = compare(OLD, SAME)
    (note,) = [note for note in comparison.pairs[0]["notes"] if "declared" in note]
    assert note.startswith("a value that is declared for Money cannot be made, so no declared value of it is used: ")
    assert "NameError" in note and "\n" not in note
    assert "Money(0, YEN)" not in injected(comparison)


def test_values_run_only_in_the_sandbox(folder: Path):
    mark = folder / "mark"
    declare(folder, shop_Money=[f"open({str(mark)!r}, 'w').close() or Money(0, EUR)"])
    comparison = compare(OLD, SAME)
    assert not mark.exists()
    assert [note for note in comparison.pairs[0]["notes"] if "declared for Money" in note]


def test_a_program_registers_values_and_takes_them_back():
    class_ = type("Money", (), {"__module__": "__main__", "__qualname__": "Money"})
    twincell.register(class_, VALUES)
    try:
        assert set(injected(compare(OLD, SAME, predictor="frequency", budget=60))) == set(VALUES)
    finally:
        twincell.register(class_, None)
    assert not set(injected(compare(OLD, SAME, predictor="frequency", budget=60))) & set(VALUES)


@pytest.mark.parametrize(
    "cls, values, expected",
    [
        (3, ["1"], "cls must be a class or its dotted name"),
        ("no class", ["1"], "'no class' is no class: write its dotted name"),
        ("shop.Money", 3, "values must be a list of expressions in quotes"),
        ("shop.Money", [3], "values must be a list of expressions in quotes"),
        ("shop.Money", ["Money("], r"'Money\(', a value of shop.Money, is no Python expression"),
        ("shop.Money", [], "shop.Money has 0 values: write 1 to 64 expressions"),
        ("shop.Money", "make", "'make' makes no values of shop.Money"),
        ("shop.Money", lambda random: 1, "has no name in its module: define it at the top level"),
        ("shop.Other", None, "nothing is registered for shop.Other: give values"),
    ],
)
def test_what_is_malformed_is_refused_in_one_line(cls, values, expected):
    with pytest.raises(twincell.TwincellError, match=expected) as caught:
        twincell.register(cls, values)
    assert "\n" not in str(caught.value)


def test_a_library_brings_a_table_that_is_read_and_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "shoplib").mkdir()
    (folder / "shoplib" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "shoplib" / "values.py").write_text(
        "raise RuntimeError('imported')\nTABLE = {'shoplib.Money': ['Money(0)'], 'shoplib.Bag': 'shoplib.make:bag'}\n"
    )
    (folder / "shoplib" / "wrong.py").write_text("TABLE = {'shoplib.Money': [str(0)]}\n")
    about = folder / "shoplib-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shoplib\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[twincell.values]\na = shoplib.values:TABLE\nb = shoplib.wrong:TABLE\nc = shoplib.none:TABLE\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    found, problems = _providers.of_libraries()
    assert found == [("shoplib.Money", ["Money(0)"]), ("shoplib.Bag", "shoplib.make:bag")]
    assert [problem.split(" are not used: ")[0] for problem in problems] == [
        "the values of b (shoplib.wrong:TABLE)",
        "the values of c (shoplib.none:TABLE)",
    ]


def test_the_values_of_a_library_are_used(folder: Path):
    (folder / "shoplib").mkdir()
    (folder / "shoplib" / "__init__.py").write_text(MONEY)
    (folder / "shoplib" / "values.py").write_text(f"TABLE = {{'shoplib.Money': {VALUES}}}\n")
    about = folder / "shoplib-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shoplib\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[twincell.values]\nshoplib = shoplib.values:TABLE\n")
    code = "from shoplib import Money\n\ndef fee(m: Money):\n    return m.cents > 500 and m.currency == 'EUR'\n"
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\nimport twincell\n"
        f"found = twincell.compare({code!r}, {code.replace('> 500', '> 900')!r}, predictor='frequency', budget=60)\n"
        "print(found.sentence, found.pairs[0]['notes'])\nprint(found.reproducer)\n"
    )
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert "Money(700, EUR)" in run.stdout, run.stdout + run.stderr
