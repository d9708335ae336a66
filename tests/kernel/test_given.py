"""The notebook's own values in `%%compare`, under twincell's kernel and as a guest in ipykernel."""

import pytest

from .test_magics import comparisons

CELLS = [
    "class Cart:\n    def __init__(self, prices):\n        self.prices = prices\n",
    "carts = [Cart([3, 4]), Cart([5])]\nrate = 0.375",
    "def total(cart):\n    return sum(cart.prices)",
]
OLD = "def f(carts):\n    return [total(cart) * rate for cart in carts]\n"
SAME = "def f(carts):\n    return [rate * total(cart) for cart in carts]\n"
OTHER = "def f(carts):\n    return [rate * total(cart) for cart in carts[1:]]\n"


@pytest.mark.parametrize("kind", ["kernel", "guest"])
@pytest.mark.parametrize("line", ["--with carts,rate", "--with-globals"])
def test_values_and_helpers_of_the_notebook_are_used(request, kind, line):
    client = request.getfixturevalue(kind)
    for cell in CELLS:
        assert client.run(cell).reply["status"] == "ok"
    for new, expected in [(SAME, "likely_preserving"), (OTHER, "changing")]:
        (comparison,) = comparisons(client.run(f"%%compare --budget 60 {line}\n{OLD}# ---\n{new}"))
        assert comparison["verdict"] == expected
        (given,) = [path for path in comparison["pairs"][0]["paths"] if path["path"] == "carts"]
        assert all(value["value"].startswith("<carts, a list of 2") for value in given["injected"])
    assert client.run("[cart.prices for cart in carts], rate").value == "([[3, 4], [5]], 0.375)"
