"""Differences that only values of one kind tell, and code with a private name, which Python stores under another."""

from .layers import expect_in, over
from .snippets import CHANGING, compare

SEEDS = range(3)

# name: (old, new, options)
TELLING = {
    "bytes that are no text": (
        "from shop import to_text\ndef f(order):\n    return [to_text(one) for one in order.names]\n",
        "from shop import to_text\ndef f(order):\n    return [to_text(one, errors='replace') for one in order.names]\n",
        {"function": "f"},
    ),
    "keys that two mappings share": (
        """
        class Settings(dict):
            def update(self, **kwargs):
                merged = dict(self)
                merged.update(kwargs)
                return Settings(merged)
        """,
        """
        class Settings(dict):
            def update(self, **kwargs):
                merged = dict(kwargs)
                merged.update(self)
                return Settings(merged)
        """,
        {"function": "Settings.update"},
    ),
    "a text without a separator": (
        """
        def f(lines):
            found = {}
            for line in lines.read().split('\\n'):
                name, value = line.split('=', 1)
                found[name] = value
            return found
        """,
        """
        def f(lines):
            found = {}
            for line in lines.read().split('\\n'):
                parts = line.split('=', 1)
                if len(parts) == 2:
                    found[parts[0]] = parts[1]
            return found
        """,
        {"function": "f"},
    ),
    "a host that an encoding refuses": (
        "def f(url):\n    return url.host.encode('idna')\n",
        """
        def f(url):
            try:
                return url.host.encode('idna')
            except UnicodeError:
                return url.host
        """,
        {"function": "f"},
    ),
    "a private method": (
        """
        class Register(type):
            @classmethod
            def __classes(cls):
                return [one for one in cls._known if one.name != '']
        """,
        """
        class Register(type):
            @classmethod
            def __classes(cls):
                return [one for one in cls._known]
        """,
        {"function": "Register.__classes"},
    ),
}


@over(TELLING, seed=SEEDS)
def test_a_difference_is_found_behind_values_of_one_kind(name, runs):
    old, new, options = TELLING[name]
    expect_in(runs, CHANGING, old, new, **options)


def test_a_wrong_number_of_items_does_not_count_where_no_text_was_split():
    old = "def f(pair):\n    first, second = pair\n    return first\n"
    comparison = compare(old, "def f(pair):\n    first = pair[0]\n    return first\n")
    assert all(evidence["channel"] != "exception" for evidence in comparison.evidence)
