"""Witnesses that a person can read: concrete numbers and texts where a difference shows or tests a value."""

import pytest
import twincell

from .layers import expect_in, over
from .snippets import CHANGING

# Name -> old, new. Each can be shown on plain values, so that neither side of the difference holds an object.
READABLE = {
    "a_price_with_a_discount": (
        "def price(self, request, discount=None):\n"
        "    discount = discount if discount is not None else self.shop.discount\n"
        "    return request.item.price * (100 - discount) / 100\n",
        "def price(self, request, discount=None):\n"
        "    discount = discount or self.shop.discount\n"
        "    return request.item.price * (100 - discount) / 100\n",
    ),
    "a_share_of_a_total": (
        "def f(shop, total):\n    return total * (100 - shop.discount) / 99\n",
        "def f(shop, total):\n    return total * (100 - shop.discount) / 100\n",
    ),
    "operands": (
        "def f(order):\n    return order.count * order.price\n",
        "def f(order):\n    return order.count + order.price\n",
    ),
    "an_operand_of_a_difference_of_one": (
        "def f(page):\n    return page.number - 1\n",
        "def f(page):\n    return page.number + 1\n",
    ),
    "a_printed_item": (
        "def f(user):\n    print('name:', user.name)\n",
        "def f(user):\n    print('Name:', user.name)\n",
    ),
    "a_printed_item_of_a_list": (
        "def f(rows):\n    for row in rows:\n        print(row)\n",
        "def f(rows):\n    for row in rows[1:]:\n        print(row)\n",
    ),
    "a_returned_attribute": (
        "def f(user):\n    return user.first\n",
        "def f(user):\n    return user.last\n",
    ),
    "a_result_of_a_condition": (
        "def f(a, b):\n    return a and b\n",
        "def f(a, b):\n    return a or b\n",
    ),
    "the_greater_of_two": (
        "def f(left, right):\n    return left.size if left.size > right.size else right.size\n",
        "def f(left, right):\n    return left.size if left.size < right.size else right.size\n",
    ),
    "an_item_put_into_a_text": (
        "def f(user):\n    return f'Hello {user.name}'\n",
        "def f(user):\n    return f'Hello {user.name}!'\n",
    ),
    "an_item_that_is_kept": (
        "def f(rows):\n    return [row for row in rows]\n",
        "def f(rows):\n    return [row for row in rows][:-1]\n",
    ),
    "an_argument_of_a_call": (
        "def f(store, total):\n    store.save(total)\n",
        "def f(store, total):\n    store.save(total + 1)\n",
    ),
}

# Name -> old, new. The value must stay an object, since the code asks it for parts of its own.
OBJECTS = {
    "an_object_with_methods": (
        "def f(client):\n    client.open()\n    return client\n",
        "def f(client):\n    client.open()\n    return None\n",
    ),
}


@over(READABLE, seed=range(3))
def test_a_witness_shows_plain_values(name, runs):
    for comparison in expect_in(runs, CHANGING, *READABLE[name], context="function"):
        first = comparison.evidence[0]
        assert "<" not in first["old"] + first["new"], comparison.sentence


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_used_as_an_object_stays_one(name):
    old, new = OBJECTS[name]
    comparison = twincell.compare(old, new, context="function")
    assert comparison.verdict == "changing", comparison.sentence
    assert "<client>" in comparison.evidence[0]["old"], comparison.sentence


def test_the_sentence_names_the_values_that_changed_lines_read():
    old, new = READABLE["a_returned_attribute"]
    pair = twincell.compare(old, new, context="function").to_dict()["pairs"][0]
    assert [condition.split(" = ")[0] for condition in pair["headline"]["conditions"]] == ["user.first", "user.last"]


def test_the_same_comparison_has_the_same_witness():
    old, new = READABLE["a_price_with_a_discount"]
    sentences = {twincell.compare(old, new, context="function").pairs[0]["witness"]["choices"].__repr__() for _ in "ab"}
    assert len(sentences) == 1


def raised(outcome):
    return outcome.get("raised", {}).get("exception", {}).get("exception", {}).get("class")


# Name -> old, new, what holds for the witness: that it really happens, and on as little as shows it.
TOLD = {
    "an_attribute_of_none": (
        "def f(user):\n    return user.name\n",
        "def f(user):\n    if user is None:\n        return ''\n    return user.name\n",
        lambda chosen, witness: chosen["user"] == "none" and raised(witness["old"]["outcome"]) == "AttributeError",
    ),
    "a_missing_item": (
        "def f(order):\n    return order['lines'][0]['sku']\n",
        "def f(order):\n    lines = order.get('lines')\n    return lines[0]['sku'] if lines else None\n",
        lambda chosen, witness: raised(witness["old"]["outcome"]) == "IndexError",
    ),
    "items_that_were_read_one_by_one": (
        "def f(orders):\n    return [order['sku'] for order in orders if order['status'] == 'paid']\n",
        "def f(orders):\n    return [order['sku'] for order in orders if order['status'] == 'sent']\n",
        # One order with two items.
        lambda chosen, witness: [len(order["dict"]) for order in next(iter(chosen["orders"].values()))] == [2],
    ),
    "a_number_beyond_a_bound": (
        "def f(attempts: int):\n    return [min(2 ** n, 30) for n in range(attempts)]\n",
        "def f(attempts: int):\n    return [min(2 ** n, 60) for n in range(attempts)]\n",
        lambda chosen, witness: chosen["attempts"] == {"int": 6},
    ),
    "a_text_with_what_matters": (
        "import re\n\n\ndef f(text: str):\n    return re.findall(r'[\\w+]+@\\w+', text)\n",
        "import re\n\n\ndef f(text: str):\n    return re.findall(r'\\w+@\\w+', text)\n",
        lambda chosen, witness: len(chosen["text"]["str"]) <= 4,
    ),
    "as_few_uses_as_show_it": (
        "class Cache:\n"
        "    def __init__(self):\n        self._items = {}\n"
        "    def put(self, key):\n        self._items[key] = 1\n"
        "    def get(self, key):\n        return key in self._items\n"
        "    def __len__(self):\n        return len(self._items)\n",
        "class Cache:\n"
        "    def __init__(self):\n        self._data = []\n"
        "    def put(self, key):\n        self._data.append(key)\n"
        "    def get(self, key):\n        return key in self._data\n"
        "    def __len__(self):\n        return len(self._data)\n",
        lambda chosen, witness: len(witness["uses"]) == 3 and witness["uses"][0] == witness["uses"][1],
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_sentence_tells_what_really_happens_on_the_least_data(name):
    old, new, holds = TOLD[name]
    # The last pair is that of the class, where there is one.
    pair = twincell.compare(old, new, predictor="frequency").to_dict()["pairs"][-1]
    decisions = {choice["path"]: choice["decision"] for choice in pair["witness"]["choices"]}
    chosen = {path: one["value"] for path, one in decisions.items() if isinstance(one, dict) and "value" in one}
    assert holds(chosen, pair["witness"]), pair["sentence"]


def test_where_no_single_value_is_decisive_those_that_matter_are_named():
    old = "def f(box):\n    return min(int(box.a), int(box.b), int(box.c)) >= 3\n"
    for seed in range(4):
        pair = twincell.compare(old, old.replace(">= 3", "> 3"), seed=seed).to_dict()["pairs"][0]
        # With two values of 3, another value in place of one of them changes nothing.
        if not pair["witness"]["decisive"]:
            assert any(condition.startswith("box.") for condition in pair["headline"]["conditions"]), pair["headline"]
            break
    else:
        raise AssertionError("some value was decisive with each seed")
