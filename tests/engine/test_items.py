"""What is in a real container and what a text file holds is known: no operation invents another story."""

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING

# name: (old, new)
PRESERVED = {
    "a missing key by a test of its own": (
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES[kind]
        """,
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            if kind not in RATES:
                raise KeyError(kind)
            return RATES[kind]
        """,
    ),
    "a constant within another": (
        """
        TABLE = {"de": {"std": 19}, "fr": {"std": 20}}

        def f(country: str):
            return TABLE[country]["std"]
        """,
        """
        TABLE = {"de": {"std": 19}, "fr": {"std": 20}}

        def f(country: str):
            of_country = TABLE[country]
            if "std" not in of_country:
                return None
            return of_country["std"]
        """,
    ),
    "a position within a list of the module": (
        """
        NAMES = ["low", "mid", "high"]

        def f(level: int):
            return NAMES[level]
        """,
        """
        NAMES = ["low", "mid", "high"]

        def f(level: int):
            if level >= len(NAMES) or level < -len(NAMES):
                raise IndexError("list index out of range")
            return NAMES[level]
        """,
    ),
    "an empty line is one with nothing but blanks": (
        """
        def f(path):
            with open(path) as file:
                return [int(line) for line in file if line.strip()]
        """,
        """
        def f(path):
            with open(path) as file:
                return [int(line) for line in file if not line.isspace()]
        """,
    ),
    "a table of the function becomes one of the module": (
        """
        def f(kind: str):
            rates = {"std": 19, "reduced": 7}
            return rates[kind]
        """,
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES[kind]
        """,
    ),
    "a file is read to its end": (
        """
        def f(path):
            found = []
            with open(path) as file:
                line = file.readline()
                while line != "":
                    found.append(line.strip())
                    line = file.readline()
            return found
        """,
        """
        def f(path):
            found = []
            with open(path) as file:
                while line := file.readline():
                    found.append(line.strip())
            return found
        """,
    ),
}
DIFFERENT = {
    "a default for a missing key": (
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES[kind]
        """,
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES.get(kind)
        """,
    ),
    "what is under a key that is there": (
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES[kind]
        """,
        """
        RATES = {"std": 19, "reduced": 7}

        def f(kind: str):
            return RATES[kind] * 2
        """,
    ),
    "the end of a line stays": (
        """
        def f(path):
            with open(path) as file:
                return [line.strip() for line in file]
        """,
        """
        def f(path):
            with open(path) as file:
                return [line for line in file]
        """,
    ),
}


@over(PRESERVED, seed=range(2))
def test_versions_that_agree_on_real_content_agree(name, runs):
    expect_in(runs, PRESERVING, *PRESERVED[name], context="module", function="f")


@over(DIFFERENT, seed=range(2))
def test_a_difference_on_real_content_is_found(name, runs):
    expect_in(runs, CHANGING, *DIFFERENT[name], context="module", function="f")
