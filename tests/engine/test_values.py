"""What the search tries: values that only a part of the code asks for, found within the default budget."""

from .layers import SEEDS, expect_in, over, repeated
from .snippets import CHANGING, PRESERVING

# name: (old, new); the two differ, and only an unusual value shows it.
FOUND = {
    "an operator in a try body fails": (
        """
        def f(x, y):
            try:
                found = y in x.options
            except TypeError:
                found = None
            return found
        """,
        """
        def f(x, y):
            found = y in x.options
            return found
        """,
    ),
    "iterating in a try body fails": (
        """
        def f(x):
            try:
                for item in x.things:
                    g(item)
            except LookupError:
                return 1
            return 0
        """,
        """
        def f(x):
            for item in x.things:
                g(item)
            return 0
        """,
    ),
    "an attribute in a try body raises": (
        """
        def f(x):
            try:
                name = x.name
            except OSError:
                name = None
            return name
        """,
        """
        def f(x):
            name = x.name
            return name
        """,
    ),
    "arithmetic in a try body fails": (
        """
        def f(x):
            try:
                total = x.size + x.rest
            except TypeError:
                total = 0
            return total
        """,
        """
        def f(x):
            total = x.size + x.rest
            return total
        """,
    ),
    "a keyword that the code does not know": (
        """
        def f(**kw):
            key = kw.pop('key', None)
            if kw:
                raise TypeError('unexpected')
            return key
        """,
        """
        def f(**kw):
            key = kw.pop('key', None)
            return key
        """,
    ),
    "three more arguments": (
        """
        def f(*args):
            return len(args) > 2
        """,
        """
        def f(*args):
            return False
        """,
    ),
    "the text of an object": (
        r"""
        def f(x):
            text = str(x.node)
            return text.endswith('\n') or text.endswith('\r')
        """,
        r"""
        def f(x):
            text = str(x.node)
            return text.endswith('\n') and text.endswith('\r')
        """,
    ),
    "the text of an object within another": (
        """
        def f(x):
            if str(x.kind).lower() == 'special-kind':
                return 1
            return 0
        """,
        """
        def f(x):
            return 0
        """,
    ),
    "bytes that are collected": (
        """
        def f(data):
            out = bytearray()
            out += data
            if len(out) > 3:
                return bytes(out[:2])
            return bytes(out)
        """,
        """
        def f(data):
            out = bytearray()
            out += data
            return bytes(out)
        """,
    ),
    "a part of bytes": (
        r"""
        def f(data):
            return data.startswith(b'\x89PNG')
        """,
        r"""
        def f(data):
            return data.startswith(b'\x89PNH')
        """,
    ),
    "a constant of the module by identity": (
        """
        MISSING = object()

        def f(x):
            if x is MISSING:
                return 1
            return 0
        """,
        """
        MISSING = object()

        def f(x):
            return 0
        """,
    ),
    "a constant among the items": (
        """
        END = object()

        def f(x):
            return [item for item in x if item is not END]
        """,
        """
        END = object()

        def f(x):
            return [item for item in x]
        """,
    ),
    "NotImplemented": (
        """
        def f(x):
            if x.value is NotImplemented:
                return NotImplemented
            return not x.value
        """,
        """
        def f(x):
            return not x.value
        """,
    ),
    "an ellipsis": (
        """
        def f(x):
            return 'rest' if x is ... else 'one'
        """,
        """
        def f(x):
            return 'one'
        """,
    ),
    "a member of an enum": (
        """
        import enum

        class Color(enum.Enum):
            RED = 1
            BLUE = 2

        def f(x):
            if x == Color.RED:
                return 'r'
            if x is Color.BLUE:
                return 'b'
            return ''
        """,
        """
        import enum

        class Color(enum.Enum):
            RED = 1
            BLUE = 2

        def f(x):
            if x == Color.RED:
                return 'r'
            return ''
        """,
    ),
    "one of two members of an enum": (
        """
        import enum

        class Color(enum.Enum):
            RED = 1
            BLUE = 2
            NONE = 3

        def f(x):
            return x in (Color.RED, Color.BLUE)
        """,
        """
        import enum

        class Color(enum.Enum):
            RED = 1
            BLUE = 2
            NONE = 3

        def f(x):
            return x in (Color.RED,)
        """,
    ),
    "a class": (
        """
        def f(x):
            if not isinstance(x, type):
                raise TypeError('a class, please')
            return x.__name__
        """,
        """
        def f(x):
            if not isinstance(x, type):
                raise TypeError('a class, please')
            return x.__name__ + '!'
        """,
    ),
    "a class of the module": (
        """
        class Base:
            pass

        def f(x):
            return isinstance(x, type) and issubclass(x, Base)
        """,
        """
        class Base:
            pass

        def f(x):
            return False
        """,
    ),
    "numbers of a version": (
        """
        def f(version):
            major, minor = map(int, version.split('.')[:2])
            return (major, minor) >= (1, 3)
        """,
        """
        def f(version):
            major, minor = map(int, version.split('.')[:2])
            return major >= 1
        """,
    ),
    "a number in a field": (
        """
        def f(line):
            key, value = line.strip().split('=')
            return key, int(value)
        """,
        """
        def f(line):
            key, value = line.strip().split('=')
            return key, int(value) + 1
        """,
    ),
    "letters in both cases": (
        """
        def f(text: str):
            return text == text[::-1]
        """,
        """
        def f(text: str):
            return text.lower() == text.lower()[::-1]
        """,
    ),
    "letters that have no upper case": (
        """
        def f(a: str, b: str):
            return a.lower() == b.lower()
        """,
        """
        def f(a: str, b: str):
            return a.casefold() == b.casefold()
        """,
    ),
    "how often letters come": (
        """
        def f(a: str, b: str):
            return sorted(a) == sorted(b)
        """,
        """
        def f(a: str, b: str):
            return len(a) == len(b) and set(a) == set(b)
        """,
    ),
    "digits that are not numbers": (
        """
        def f(text: str):
            return text.isdecimal()
        """,
        """
        def f(text: str):
            return text.isdigit()
        """,
    ),
    # What the code asks of values is observed, whatever it asks with.
    "a key is looked up": (
        """
        def f(x):
            if 'depth-limit' in x:
                return 1
            return 0
        """,
        """
        def f(x):
            return 0
        """,
    ),
    "a key is asked for": (
        """
        def f(x):
            return 'on' if x.get('mode') == 'strict-7' else 'off'
        """,
        """
        def f(x):
            return 'off'
        """,
    ),
    "an attribute that may be missing": (
        """
        def f(x):
            if hasattr(x, 'close'):
                return 1
            return getattr(x, 'limit', 7)
        """,
        """
        def f(x):
            if hasattr(x, 'close'):
                return 1
            return getattr(x, 'limit', 8)
        """,
    ),
    "an attribute by its name": (
        """
        def f(x):
            if getattr(x, 'level') == 'fine-9':
                return 1
            return 0
        """,
        """
        def f(x):
            return 0
        """,
    ),
    "a length": (
        """
        def f(x):
            if len(x.items) == 9:
                return 1
            return 0
        """,
        """
        def f(x):
            return 0
        """,
    ),
    "how many are unpacked": (
        """
        def f(x):
            first, *rest = x
            if len(rest) > 8:
                return first
            return None
        """,
        """
        def f(x):
            first, *rest = x
            return None
        """,
    ),
    "so many are unpacked": (
        """
        def f(x):
            try:
                a, b, c, d, e = x
            except ValueError:
                return None
            return a, e
        """,
        """
        def f(x):
            try:
                a, b, c, d, e = x
            except ValueError:
                return None
            return a, d
        """,
    ),
    "a pattern": (
        r"""
        import re

        def f(x):
            found = re.match(r'(\d{4})-(\d\d)$', x)
            return found and found.group(1)
        """,
        r"""
        import re

        def f(x):
            found = re.match(r'(\d{4})-(\d\d)$', x)
            return found and found.group(2)
        """,
    ),
    "a pattern of the module": (
        """
        import re

        HEX = re.compile(r'#[0-9a-f]{6}')

        def f(x):
            return 1 if HEX.fullmatch(x.strip()) else 0
        """,
        """
        import re

        HEX = re.compile(r'#[0-9a-f]{6}')

        def f(x):
            return 0
        """,
    ),
    "how a text starts and ends": (
        """
        def f(x):
            return x.startswith(('abc-', 'def-')) and x.endswith('.txt')
        """,
        """
        def f(x):
            return x.startswith('abc-') and x.endswith('.txt')
        """,
    ),
    "one of the shapes that patterns ask for": (
        """
        def f(shape):
            match shape:
                case {"kind": "circle", "r": r}:
                    return "round", r
                case ["line", start, end]:
                    return "straight", start, end
                case (0 | 1) as number:
                    return "few", number
                case _:
                    return None
        """,
        """
        def f(shape):
            match shape:
                case {"kind": "circle", "r": r}:
                    return "round", r
                case ["line", start, end]:
                    return "straight", end, start
                case (0 | 1) as number:
                    return "few", number
                case _:
                    return None
        """,
    ),
    "the value under a key that a pattern asks for": (
        """
        def f(event):
            match event:
                case {"type": "click" | "tap"}:
                    return 1
            return 0
        """,
        """
        def f(event):
            match event:
                case {"type": "click"}:
                    return 1
            return 0
        """,
    ),
}

# name: (old, new); the two do the same.
SAME = {
    "a place and a membership": (
        """
        def f(x):
            if x.host.find('.') == -1:
                return 1
            return 0
        """,
        """
        def f(x):
            if '.' not in x.host:
                return 1
            return 0
        """,
    ),
    "a tuple that a pattern takes": (
        """
        def f(pair: tuple[int, int]):
            match pair:
                case (first, _):
                    return pair + (first,)
        """,
        """
        def f(pair: tuple[int, int]):
            match pair:
                case (first, second):
                    return (first, second, first)
        """,
    ),
    "the text of an object in three ways": (
        """
        def f(x):
            text = str(x.kind)
            return text == 'a' or text.startswith('b')
        """,
        """
        def f(x):
            text = f'{x.kind}'
            return text == 'a' or ('%s' % (x.kind,)).startswith('b')
        """,
    ),
    "a constant under another name": (
        """
        _OLD = object()

        def f(x):
            return 1 if x is _OLD else 0
        """,
        """
        _NEW = object()

        def f(x):
            return 1 if x is _NEW else 0
        """,
    ),
    "a handler that is written otherwise": (
        """
        def f(x, y):
            try:
                return y in x.options
            except TypeError:
                return None
        """,
        """
        def f(x, y):
            try:
                return y in x.options
            except TypeError as error:
                return None
        """,
    ),
    "the exception in place of the test": (
        """
        def f(names: dict[int, str], number: int):
            if number in names:
                return names[number]
            return 'unknown'
        """,
        """
        def f(names: dict[int, str], number: int):
            try:
                return names[number]
            except KeyError:
                return 'unknown'
        """,
    ),
}


@over(FOUND, seed=SEEDS)
def test_a_difference_that_only_some_values_show_is_found(name, runs):
    expect_in(runs, CHANGING, *FOUND[name], function="f")


@over(SAME, seed=[0, 1])
def test_values_agree_however_the_code_asks_for_them(name, runs):
    expect_in(runs, PRESERVING, *SAME[name], function="f")


MEMBERS = """
import models

def f(env):
    status = models.Status.OK
    for one in env.all():
        if env.check:
            status = env.to_status(one.code)
            if status != models.Status.OK and not env.quiet:
                env.log(one)
    if status == models.Status.OK and env.quiet:
        return models.Status.ERROR
    return status
"""


@repeated(context=["function", "module"])
def test_a_member_of_what_is_missing_may_be_itself(runs):
    # What is compared with a member gets it as a value, and so does the member.
    imported = MEMBERS.replace("import models", "from models import Status").replace("models.Status", "Status")
    other = MEMBERS.replace("and env.quiet", "and not env.quiet")
    for new, verdict in [(imported, PRESERVING), (other, CHANGING)]:
        for comparison in expect_in(runs, verdict, MEMBERS, new):
            assert comparison.to_dict()["pairs"][0]["lost"] == 0
