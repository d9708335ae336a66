"""Where nothing differs, a comparison asks for a proof, which holds only if what the function uses is the same."""

import pytest
import twincell

OLD = "def f(x):\n    if x is None:\n        return 0\n    return x.size\n"
NEW = "def f(x):\n    return 0 if x is None else x.size\n"


def support(old, new, name="f", **options):
    pairs = twincell.compare(old, new, **options).pairs
    [pair] = [pair for pair in pairs if pair["new"]["qualname"] == name]
    assert pair["verdict"] == "likely_preserving", pair["reason"]
    return pair["support"], pair["reason"]


def test_a_proof_names_what_it_holds_for():
    found, reason = support(OLD, NEW)
    assert found["proved"]["arguments"] == []
    assert reason.endswith(", and proved for all arguments")
    found, reason = support("def f(n: int):\n    return n + 0\n", "def f(n: int):\n    return n\n")
    assert found["proved"]["arguments"] == [{"parameter": "n", "class": "int"}]
    assert reason.endswith(", and proved for n of type int")


def test_a_proof_can_be_left_out():
    assert support(OLD, NEW, disable=["proof"])[0] == "sampled"


METHOD = "class Cart:\n    {rate}\n\n    def total(self, n):\n{total}"
TOTAL = [
    "        if n:\n            return self.rate\n        return None\n",
    "        return self.rate if n else None\n",
]

# The function is the same, but something that it uses has another text.
USES = {
    "helper": ("def g(x):\n    return {}\n\n\n", "x", "locals()['x']", "g(x)"),
    "constant": ("LIMIT = {}\n\n\n", "2", "1 + 1", "x if x else LIMIT"),
}


@pytest.mark.parametrize("name", USES)
def test_what_a_function_names_has_to_be_the_same(name):
    before, old, new, value = USES[name]
    function = f"def f(x):\n    y = {value}\n    return y\n"
    other = f"def f(x):\n    return {value}\n"
    assert "proved" in support(before.format(old) + function, before.format(old) + other)[0]
    assert support(before.format(old) + function, before.format(new) + other)[0] == "sampled"


EXTRACTED = "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return 0 if x is None else x.size\n"


def test_an_extracted_function_is_looked_into():
    found, _ = support(OLD, EXTRACTED)
    assert found["proved"]["arguments"] == []
    assert found["proved"]["looked_into"] == ["g"]


def test_attributes_of_what_is_looked_into_have_to_be_the_same():
    before = "class Box:\n    size = {}\n\n\n"
    assert "proved" in support(before.format(2) + OLD, before.format(2) + EXTRACTED)[0]
    assert (
        support(before.format(2) + EXTRACTED.replace("0 if", "1 - 1 if"), before.format("1 + 1") + EXTRACTED)[0]
        == "sampled"
    )


def test_attributes_of_the_class_have_to_be_the_same():
    old = METHOD.format(rate="rate = 2", total=TOTAL[0])
    assert "proved" in support(old, METHOD.format(rate="rate = 2", total=TOTAL[1]), "Cart.total")[0]
    assert support(old, METHOD.format(rate="rate = 1 + 1", total=TOTAL[1]), "Cart.total")[0] == "sampled"


def test_decorators_have_to_be_the_same():
    before = "def same(f):\n    return f\n\n\n"
    assert support(before + OLD, before + "@same\n" + NEW)[0] == "sampled"
