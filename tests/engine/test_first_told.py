"""Of several differences, the one that says most is told: values before types, what can happen before what cannot."""

import textwrap

import pytest
import twincell

from .layers import over, repeated


def compared(old: str, new: str, **options) -> twincell.Comparison:
    return twincell.compare(textwrap.dedent(old), textwrap.dedent(new), **options)


def witness(pair):
    """The values that show the difference, by their paths."""
    return {choice["path"]: choice["decision"] for choice in pair["witness"]["choices"]}


@repeated(seed=range(4))
def test_a_difference_of_values_is_told_before_one_of_types(runs):
    old = """
        def mean(values: list[int], default=0):
            total = 0.0
            for value in values:
                total += value
            return total if len(values) < 2 else total / len(values)
        """
    new = old.replace("0.0", "0").replace("/ len(values)", "// len(values)")
    for run in runs:
        evidence = compared(old, new, **run).evidence[0]
        assert float(evidence["old"]) != float(evidence["new"])


def test_a_difference_of_types_alone_is_a_change():
    comparison = compared("def f(x: int):\n    return x\n", "def f(x: int):\n    return float(x)\n")
    assert comparison.verdict == "changing"
    evidence = comparison.evidence[0]
    assert evidence["old"] != evidence["new"] and float(evidence["old"]) == float(evidence["new"])


def test_what_a_use_raises_is_told_as_raised():
    old = """
        class Book:
            def __init__(self):
                self.open = {}
            def close(self, code: str):
                del self.open[code]
        """
    new = old.replace("del self.open[code]", "raise LookupError(code + ' is not open')")
    comparison = compared(old, new, function="Book")
    (pair,) = (pair for pair in comparison.pairs if pair["new"]["qualname"] == "Book")
    headline = pair["headline"]
    assert headline["old"].startswith("raises KeyError") and headline["new"].startswith("raises LookupError"), headline


STOCK = """
    class Stock:
        def __init__(self, usual=5):
            self.usual = usual
            self.counts = {}
            self.least = {}

        def add(self, name, count, least=None):
            self.counts[name] = self.counts.get(name, 0) + count
            if least is not None:
                self.least[name] = least

        def missing(self):
            return sorted(name for name, count in self.counts.items() if count < self.least_of(name))

        def least_of(self, name):
            least = self.least.get(name)
            return self.usual if least is None else least
    """


def test_a_value_that_is_false_is_found_through_the_constructor():
    new = STOCK.replace("return self.usual if least is None else least", "return least or self.usual")
    pairs = compared(STOCK, new).pairs
    whole = next(pair for pair in pairs if pair["new"]["qualname"] == "Stock")
    assert whole["verdict"] == "changing", whole["sentence"]
    assert any("least=" in use for use in whole["witness"]["uses"]), whole["witness"]["uses"]


@over(["return given.get(key) or default", "return given[key] if given.get(key) else default"], seed=range(6))
def test_a_false_value_of_a_dictionary_is_found(name, runs):
    old = """
        def setting(given, key, default):
            if key in given:
                return given[key]
            return default
        """
    for run in runs:
        comparison = compared(old, f"def setting(given, key, default):\n    {name}\n", **run)
        assert comparison.verdict == "changing", comparison.sentence


DAYS = """
    from datetime import timedelta

    def workdays(start, end, free=()):
        count = 0
        day = start
        while day < end:
            if day.weekday() < 5 and day not in free:
                count += 1
            day += timedelta(days=1)
        return count
    """


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_what_is_calculated_with_like_a_date_is_one(seed):
    generator = """
        from datetime import timedelta

        def workdays(start, end, free=()):
            days = (start + timedelta(days=number) for number in range((end - start).days))
            return sum(day.weekday() < 5 and day not in free for day in days)
        """
    comparison = compared(DAYS, generator, seed=seed)
    assert comparison.verdict == "likely_preserving", comparison.sentence
    comparison = compared(DAYS, DAYS.replace("day < end", "day <= end"), seed=seed)
    assert comparison.verdict == "changing", comparison.sentence
    assert "datetime.date" in str(witness(comparison.pairs[0])["start"]), comparison.sentence
    comparison = compared(DAYS, DAYS.replace(" and day not in free", ""), seed=seed)
    assert comparison.verdict == "changing", comparison.sentence
    assert witness(comparison.pairs[0])["free"] != "default", comparison.sentence


def test_what_fails_by_itself_is_told_before_what_was_made_to_fail():
    old = """
        class Log:
            def __init__(self):
                self.numbers = []
                self.errors = []

            def read(self, text):
                self.errors = []
                for part in text.split():
                    try:
                        self.numbers.append(self._number(part))
                    except ValueError as error:
                        self.errors.append(str(error))

            def _number(self, text):
                return int(text)
        """
    new = old.replace("                self.errors = []\n                for", "                for")
    assert new != old
    pairs = compared(old, new).pairs
    shown = next(pair for pair in pairs if pair["new"]["qualname"] == "Log")
    assert shown["verdict"] == "changing", shown["sentence"]
    assert not any("raises" in shown["headline"][version] for version in ("old", "new")), shown["headline"]


CATALOG = """
class Catalog:
    def __init__(self):
        self._books: dict[str, str] = {}
        self._found: dict[str, list[str]] = {}

    def add(self, title: str) -> None:
        self._books[title] = title

    def remove(self, title: str) -> None:
        self._books.pop(title, None)

    def count(self) -> int:
        return len(self._books)

    def search(self, term: str) -> list[str]:
"""


@repeated(seed=range(6))
def test_what_was_kept_is_asked_for_once_more_after_a_change(runs):
    old = CATALOG + "        return [title for title in self._books if term in title]\n"
    new = CATALOG + (
        "        if term not in self._found:\n"
        "            self._found[term] = [title for title in self._books if term in title]\n"
        "        return self._found[term]\n"
    )
    for run in runs:
        pair = next(pair for pair in compared(old, new, **run).pairs if pair["new"]["qualname"] == "Catalog")
        assert pair["verdict"] == "changing", pair["sentence"]
        assert any("search" in use for use in pair["witness"]["uses"]), pair["witness"]["uses"]
