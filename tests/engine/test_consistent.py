"""What is injected says one thing: a key that is found is there, and a copy is a copy of what is copied."""

import twincell

from .layers import expect_in, over, repeated
from .snippets import CHANGING, PRESERVING, expect

LONG = "place.joined(" + ", ".join(f"place.part_number_{number}_of_the_whole_path" for number in range(5)) + ")"
# Name -> old, new: the same behavior, if answers agree.
SAME = {
    "a_key_is_there_when_its_item_is": (
        "def f(m):\n    if 'a' in m:\n        return m['a']\n    return None\n",
        "def f(m):\n    try:\n        return m['a']\n    except KeyError:\n        return None\n",
    ),
    "an_item_is_there_when_its_key_is": (
        "def f(m):\n    try:\n        return m['a']\n    except KeyError:\n        return None\n",
        "def f(m):\n    return m['a'] if 'a' in m else None\n",
    ),
    "a_number_is_a_key_like_any_other": (
        "def f(m, code: int):\n    if code in m:\n        return m[code]\n    return None\n",
        "def f(m, code: int):\n    try:\n        return m[code]\n    except KeyError:\n        return None\n",
    ),
    "a_copy_has_what_is_copied": (
        "def f(m):\n    d = m.copy()\n    d['x'] = 1\n    return d\n",
        "def f(m):\n    d = dict(m)\n    d['x'] = 1\n    return d\n",
    ),
    # What is invented for a value that has no such attribute goes by the value, however its expression is written.
    "a_repaired_value_goes_by_no_comma": (
        "def f(t):\n    a = t.expect('IDENTIFIER', expected='name')\n    t.consume('WS')\n    name = a.text\n"
        "    return (name, t.pos)\n",
        "def f(t):\n    a = t.expect(\n        'IDENTIFIER', expected='name',\n    )\n    t.consume('WS')\n"
        "    return (a.text, t.pos)\n",
    ),
    "a_repaired_value_goes_by_no_keyword": (
        "def f(t):\n    a = t.expect(kind='NAME', text='a')\n    return a.text, t.pos\n",
        "def f(t):\n    return t.expect(text='a', kind='NAME').text, t.pos\n",
    ),
    "what_is_opened_by_long_arguments_is_closed_either_way": (
        f"def f(store, place):\n    with store.open({LONG}) as h:\n        return h.read()\n",
        f"def f(store, place):\n    h = store.open({LONG})\n    try:\n        return h.read()\n    finally:\n"
        "        h.close()\n",
    ),
    "a_repaired_value_goes_by_no_brackets": (
        "async def f(s):\n    r = await s.get()\n    return r.json()\n",
        "async def f(s):\n    return (await s.get()).json()\n",
    ),
}


@over(SAME, seed=range(2))
def test_answers_agree(name, runs):
    expect_in(runs, PRESERVING, *SAME[name])


NEAREST = """
    def f(rows: list):
        best = None
        for row in rows:
            if row.free and (best is None or row.size < best.size):
                best = row
        return best.size if best is not None else 'none'
"""
NEAREST_BY_KEY = """
    def f(rows: list):
        free = [row for row in rows if row.free]
        return min(free, key=lambda row: row.size).size if free else 'none'
"""


@repeated(seed=range(4))
def test_no_item_that_has_attributes_is_none(runs):
    expect_in(runs, PRESERVING, NEAREST, NEAREST_BY_KEY)


def test_none_in_a_list_has_no_attributes():
    old = "def f(rows: list):\n    return [row.size for row in rows]\n"
    comparison = expect(CHANGING, old, old.replace("rows]", "rows if row is not None]"))
    assert [found["channel"] for found in comparison.evidence] == ["exception"]
    raised = comparison.to_dict()["pairs"][0]["witness"]["old"]["outcome"]["raised"]
    assert raised["exception"]["exception"]["class"] == "AttributeError", raised


def test_answers_agree_where_each_version_has_its_own_process():
    expect(PRESERVING, *SAME["a_key_is_there_when_its_item_is"], isolation="process", budget=20)


@repeated(seed=range(4))
def test_a_text_is_shown_where_a_table_that_holds_it_is_less_likely(runs):
    old = "def f(space, name):\n    text = str(name)\n    space.x = text[text.find('$') + 1:]\n"
    new = "def f(space, name):\n    text = str(name)\n    space.x = text[1:] if text.startswith('$') else text\n"
    for run in runs:
        pair = twincell.compare(old, new, **run).to_dict()["pairs"][0]
        chosen = {choice["path"]: choice["decision"] for choice in pair["witness"]["choices"]}
        assert not isinstance(chosen["name"].get("value", {}).get("dict"), list), chosen["name"]


def test_a_constant_of_elsewhere_is_seldom_none():
    old = "def f(env):\n    name = env.get(NAME_OF_SETTING)\n    return 'none' if NAME_OF_SETTING == None else name\n"
    new = "def f(env):\n    return env.get(NAME_OF_SETTING)\n"
    pair = twincell.compare(old, new).to_dict()["pairs"][0]
    assert pair["executions"]


# name: (old, new, one that differs); a keyword that a version takes as a parameter is the one that the other looks up.
KEYWORDS = {
    "popped": (
        "def f(text: str, **options):\n    end = options.pop('end', '!')\n    return [text, end, sorted(options)]\n",
        "def f(text: str, end='!', **options):\n    return [text, end, sorted(options)]\n",
        "def f(text: str, end='?', **options):\n    return [text, end, sorted(options)]\n",
    ),
    "looked up, and a keyword only": (
        "def f(text: str, **options):\n    end = options.get('end')\n"
        "    return [text] if end is None else [text, end]\n",
        "def f(text: str, *, end=None, **options):\n    return [text] if end is None else [text, end]\n",
        "def f(text: str, *, end=None, **options):\n    return [text] if end is None else [end, text]\n",
    ),
}


@over(KEYWORDS, seed=range(3))
def test_a_keyword_that_one_version_collects_reaches_the_parameter_of_the_other(name, runs):
    old, new, other = KEYWORDS[name]
    expect_in(runs, PRESERVING, old, new)
    expect_in(runs, CHANGING, old, other)
