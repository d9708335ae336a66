"""What a notebook brings into `%%compare`: copies of its values, and what earlier cells define."""

import pytest

OPTIONS = "--predictor frequency --budget 60"


def run(shell, code):
    result = shell.run_cell(code, store_history=True)
    return result


def compared(shell, line, old, new):
    result = run(shell, f"%%compare {OPTIONS} {line}\n{old}# ---\n{new}")
    assert result.success, result.error_in_exec
    return result.result


def injected(comparison, path):
    found = [report for report in comparison.pairs[0]["paths"] if report["path"] == path]
    return [value["value"] for report in found for value in report["injected"]]


def test_values_are_bound_to_parameters_and_to_names(shell):
    run(shell, "sales = {'north': 120, 'south': 75}\nrate = 0.375")
    old = "def f(totals):\n    return sum(totals.values()) * rate\n"
    new = "def f(totals):\n    return rate * sum(totals.values())\n"
    comparison = compared(shell, "--with totals=sales,rate", old, new)
    assert comparison.verdict == "likely_preserving"
    assert "{'north': 120, 'south': 75}" in injected(comparison, "totals")
    assert "0.375" in injected(comparison, "rate")


def test_with_globals_brings_what_the_code_names(shell):
    run(shell, "table = {'a': 90001}\nother = [1]\ndef helper(key):\n    return table[key]")
    old = "def f(other):\n    return helper('a') + len(other)\n"
    new = "def f(other):\n    return len(other) + helper('a')\n"
    comparison = compared(shell, "--with-globals", old, new)
    assert comparison.verdict == "likely_preserving"
    assert "[1]" in injected(comparison, "other")
    assert "{'a': 90001}" in injected(comparison, "table")
    assert injected(comparison, "helper") == []


def test_helpers_imports_and_constants_of_earlier_cells_are_real(shell):
    run(shell, "import math\nLIMIT = 2 + 5")
    run(shell, "def clipped(x):\n    return min(math.floor(x), LIMIT)")
    old = "def f(x: float):\n    return clipped(x) + 1\n"
    same = "def f(x: float):\n    return 1 + min(LIMIT, math.floor(x))\n"
    assert compared(shell, "", old, same).verdict == "likely_preserving"
    other = same.replace("LIMIT", "8")
    changing = compared(shell, "", old, other)
    assert changing.verdict == "changing"
    assert "def clipped" in changing.reproducer and "LIMIT = 7" in changing.reproducer


def test_the_notebooks_state_counts_and_not_what_cells_once_said(shell):
    run(shell, "LIMIT = 1")
    run(shell, "LIMIT = LIMIT + 40")
    run(shell, "def helper(x):\n    return 1 / 0")
    run(shell, "def helper(x):\n    return x + LIMIT")
    old, new = "def f(x: int):\n    return helper(x)\n", "def f(x: int):\n    return x + 41\n"
    assert compared(shell, "", old, new).verdict == "likely_preserving"


def test_autocompare_knows_earlier_cells_and_takes_values(shell, capsys, monkeypatch):
    run(shell, "def helper(x):\n    return x + 1\nstart = 777")
    run(shell, f"%autocompare on {OPTIONS} --with x=start")
    monkeypatch.setattr(shell, "get_parent", lambda: {"metadata": {"cellId": "one"}}, raising=False)
    run(shell, "def f(x):\n    return helper(x)\n")
    capsys.readouterr()
    run(shell, "def f(x):\n    return x + 1\n")
    assert capsys.readouterr().out.startswith("autocompare: ")
    run(shell, "%autocompare off")


def test_objects_of_the_notebooks_classes_are_loaded_with_each_versions_own(shell):
    run(shell, "class Cart:\n    def __init__(self, prices):\n        self.prices = prices\n")
    run(shell, "cart = Cart([30, 40, 50])")
    old = "def f(cart):\n    return sum(cart.prices)\n"
    new = "def f(cart):\n    return sum(cart.prices[1:])\n"
    comparison = compared(shell, "--with cart", old, new)
    assert comparison.verdict == "changing"
    assert injected(comparison, "cart")[0].startswith("<cart, a Cart")
    assert not any("cannot be" in note for note in comparison.pairs[0]["notes"])


def test_nothing_of_the_notebook_changes(shell):
    run(shell, "data = {'a': [1, 2]}\nkept = data['a']\ndef helper(d):\n    d['a'].append(3)\n    return d")
    before = dict(shell.user_ns)
    old = "def f(data):\n    return helper(data)\n"
    compared(shell, "--with data", old, old.replace("helper(data)", "helper(data) or 1"))
    assert shell.user_ns["data"] == {"a": [1, 2]} and shell.user_ns["kept"] is shell.user_ns["data"]["a"]
    assert set(shell.user_ns) - set(before) <= {"_", "__", "___", "_i", "_ii", "_iii"} | {
        name for name in shell.user_ns if name.startswith(("_i", "_"))
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--with nothing", "the notebook has no nothing: run the cell that binds it first, or leave it out of --with"),
        ("--with df=", '--with cannot be "df=": give names of the notebook, or PARAMETER=NAME'),
    ],
)
def test_mistakes_are_answered_in_one_line(shell, capsys, line, expected):
    capsys.readouterr()
    assert not run(shell, f"%%compare {line}\ndef f(x):\n    return 1\n# ---\ndef f(x):\n    return 2\n").success
    shown = capsys.readouterr()
    assert expected in shown.err and shown.err.count("\n") == 1 and "Traceback" not in shown.out + shown.err


def test_a_value_that_nothing_uses_is_said(shell):
    run(shell, "unused = 3")
    comparison = compared(shell, "--with unused", "def f(x):\n    return x\n", "def f(x):\n    return +x\n")
    assert "unused was not copied: no parameter and no global of the code has this name" in comparison.pairs[0]["notes"]


def test_values_of_the_notebooks_own_classes_are_registered(shell):
    run(shell, "EUR = 'EUR'\nclass Money:\n    def __init__(self, cents, currency):\n        self.cents = cents + 0\n")
    run(shell, "def make(random):\n    return Money(random.randrange(2000), EUR)\nimport twincell")
    old = "def fee(m: Money):\n    return m.cents > 500\n"
    new = "def fee(m: Money):\n    return m.cents >= 501\n"
    try:
        run(shell, "twincell.register(Money, ['Money(0, EUR)', 'Money(900, EUR)'])")
        comparison = compared(shell, "", old, new)
        assert comparison.verdict == "likely_preserving"
        assert set(injected(comparison, "m")) == {"Money(0, EUR)", "Money(900, EUR)"}
        run(shell, "twincell.register(Money, make)")
        comparison = compared(shell, "", old, new)
        assert comparison.verdict == "likely_preserving"
        assert all(value.startswith("make(random.Random(") for value in injected(comparison, "m"))
    finally:
        run(shell, "twincell.register(Money, None)")
