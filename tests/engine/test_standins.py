"""An injected object and the stand-in of a reproducer promise the same: each operation, on the same decisions, in both.

Each function does something with an object that is not there (`self` always is one), and its other version does
something else, so that every execution differs. A worker runs the function with injected objects. The reproducer of
that execution runs it with stand-ins that answer as recorded, and holds only if it ends in the same way.
"""

import twincell

from .layers import sample

# The class of injected objects, as a function sees it.
NAMES = "def f(self):\n    return ' '.join(sorted(vars(type(self))))\n"
# What every class has, and no operation on an object reaches.
OF_CLASSES = {"__class__", "__doc__", "__module__"}
# Whatever `except` clauses name, an operation may raise.
CAUGHT = "KeyError, ValueError, TypeError, AttributeError, StopIteration"

SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"},
    **{"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"},
}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def arithmetic(sign):
    """Statements with one operator, by the method that it calls."""
    return (
        f"return self {sign} 2, self {sign} 'a', self {sign} 1.5, self {sign} None",
        f"return self {sign} -self, -self {sign} self",
        f"self {sign}= 2\n    return self",
    )


def reflected(sign):
    return f"return 2 {sign} self, 'a' {sign} self, 1.5 {sign} self, [1] {sign} self, -self {sign} (+self)"


def comparison(sign):
    return (
        f"return self {sign} 1, 0 {sign} self, self {sign} 1.5, 1 {sign} self",
        f"return self {sign} -self, -self {sign} self, self {sign} self, self {sign} +self",
        f"return self {sign} '', self {sign} 'a', self {sign} None, self {sign} [], [] {sign} self",
        f"return bool(self), self {sign} 0, 0 {sign} self, self {sign} False, self {sign} 0.0",
        f"return self {sign} 0, bool(self), int(self)",
        f"return int(self), self {sign} 1, self {sign} 2",
    )


# Statements by the methods of an injected object that they call.
OPERATIONS = {
    **{(f"__{name}__",): arithmetic(sign) for name, sign in SIGNS.items()},
    **{(f"__r{name}__",): (reflected(sign),) for name, sign in SIGNS.items()},
    **{(f"__{name}__",): comparison(sign) for name, sign in COMPARISONS.items()},
    ("__neg__", "__pos__", "__invert__", "__abs__"): (
        "return -self, +self, ~self, abs(self), -(self + 1)",
        "return abs(self)",
        "return sum([self, self])",
        "import operator\n    return operator.add(self, 1), operator.neg(self)",
        "return pow(self, 2), pow(2, self)",
    ),
    ("__bool__",): (
        "return bool(self), 1 if self else 2, not self, self and 1, self or 2",
        "return len(self), bool(self)",
        "return bool(self), len(self), int(self)",
        "return int(self), bool(self)",
    ),
    ("__len__",): ("return len(self), bool(self), list(self)", "return len(-self), len(self)"),
    ("__iter__",): (
        "return list(self), tuple(self), [*self]",
        "first, second = self\n    return first, second",
        "first, *rest = self\n    return first, rest",
        "for key, value in self:\n        return key, value\n    return 3",
        "return [item.name for item in self]",
        "return ', '.join(str(item) for item in self)",
        "return any(self), all(self)",
        "return list(zip(self, -self)), list(enumerate(self))",
        "return sum(self)",
        "return set(self) == set(self), len(set(self))",
        "print(*self)",
        "yield from self",
        "return iter(self) is self",
        "return dict(self)",
        "return {**self}",
    ),
    ("__reversed__",): ("return list(reversed(self))",),
    ("__next__",): (
        "return next(self), next(self)",
        "return next(self, 1), next(self, 2), next(self, 3), next(self, 4), next(self, 5)",
        "return next(iter(self), None)",
    ),
    ("__contains__",): (
        "return 'a' in self, 1 in self, -self in self, None not in self",
        "return 'a' in self, self['a']",
        "return self['a'], 'a' in self",
        "self['a'] = 1\n    return 'a' in self, 'b' in self",
        "self['a'] = 1\n    del self['a']\n    return 'a' in self",
        "return self.get('a', 3), 'a' in self",
        "return 'a' in self, self.get('a'), self['b']",
    ),
    ("__getitem__",): (
        "return self['a'], self[0], self[0], self[-1], self[-self], self['a']['b']",
        "return self[1:2], self[:3], self[1:], self[::2], self[:], self[-self:]",
        "return self[1, 2], self[None], self[True], self[1.5], self[b'x'], self[()]",
        "return self['x' * 200], self[(1, 'a')], self['it\\'s']",
    ),
    ("__setitem__", "__delitem__"): (
        "self['a'] = 1\n    self['a'] = 2\n    self['b'] = self\n    return self['a']",
        "self['a'] += 1\n    return self['a']",
        "self[1:2] = [3]\n    return self[1:2]",
        "del self['a']",
        "self['a'] = 1\n    del self['a']\n    return self['a']",
        "del self['a']\n    return 'a' in self",
        "del self[0]\n    self[0] = 1",
        "del self[0]\n    return self[0]",
    ),
    ("__getattribute__",): (
        "return self.name, self.a.b.c, getattr(self, 'name')",
        "return self.__name__, self.__qualname__, self.client.__name__, self.get('a').__name__",
        "return self.été.__name__, self.नमस्ते.__name__",
        "return self.__class__",
        "return self.__doc__, self.__module__",
        "return self.__version__, self.__author__, self.__file__",
        "return self.__missing__",
        "return getattr(self, '__missing__', 3), hasattr(self, '__missing__')",
        "return getattr(self, 'name', 3)",
        "return hasattr(self, 'name'), getattr(self, 'name', None)",
        "return hasattr(self, '__len__'), callable(self)",
        "return self.name, hasattr(self, 'name')",
    ),
    ("__setattr__", "__delattr__"): (
        "self.name = 1\n    return self.name, hasattr(self, 'name'), getattr(self, 'name', 2)",
        "self.count += 1\n    return self.count",
        "setattr(self, 'name', self)",
        "self.a.b = 1\n    return self.a.b",
        "del self.name",
        "self.name = 1\n    del self.name\n    return hasattr(self, 'name')",
        "self.name = 1\n    del self.name\n    self.name = 2",
    ),
    ("__call__",): (
        "return self(), self(1, 'a', key=2), self.method(1), self.method(*[1, 2], **{'b': 3})",
        "return self.method(-self), self.method(x=self), self.method([self, 1]), self.method('x' * 300)",
        "return self.method({1: 2}, (1,), {1}, None, 1.5, b'a', ...)",
        "return self.method(len), self.method(print, 1), self.method(ValueError)",
        "return self(x for x in [1, 2]), self(iter([1, 2]))",
        "def inner(): return 1\n    return self(inner) is inner, self.method(1, inner)",
        "return self.read(), self.read(), self.read()",
        "return [self.pop() for _ in range(14)]",
        "return self.get('a'), self.get('a'), self.get('b', 1)",
        "return self['b'], self.get('a'), self.get('b')",
        "return self.items(), list(self)",
        "return list(self.items()), self['a']",
        "return self.keys(), self.values(), self['a']",
        "return self.copy(), list(self)",
        "return self.find('a') > 0, 'a' in self",
        "return self.rfind('a') + 1",
        "return id(self) == id(self), id(self) == id(-self)",
        "return open(self), input('a')",
    ),
    ("__str__",): (
        "return str(self), f'{self}', '%s' % self, '{}'.format(self), str(self.name)",
        "return str(self) == 'a', str(self).upper(), str(self)[:3]",
        "return str(self) == str(-self)",
        "return f'{self!s:>10}', f'{self!a}'",
        "return str(self).startswith('ab'), '' + str(self)",
    ),
    ("__repr__",): (
        "return repr(self), f'{self!r}', '%r' % self, repr([self]), str({'a': self})",
        "return repr(self) == 'a'",
        "return repr(self).startswith('<'), str(self)",
    ),
    ("__format__",): (
        "return f'{self:.2f}', f'{self:d}', f'{self:x}', f'{self:e}', f'{self:%}'",
        "return format(self), format(self, '50'), format(self, '<50s'), f'{self:^30}'",
        "return f'{self:,}'",
        "return '%d %.2f %5s' % (self, self, self)",
    ),
    ("__int__", "__float__"): (
        "return int(self), float(self), self > 1, bool(self)",
        "return float(self) > 1, int(self)",
        "return complex(self)",
    ),
    ("__index__",): (
        "return [10, 20, 30, 40, 50][self], list(range(self)), hex(self), bin(self), 'a' * 2",
        "return 'abc'[self:], bytes(self)",
        "import operator\n    return operator.index(self)",
    ),
    ("__hash__",): (
        "return {self: 1}[self], len({self, -self, self}), self in {self}, self in [-self]",
        "return {self: 1}",
    ),
    ("__fspath__",): ("import os.path\n    return os.fspath(self), os.path.join(self, 'a'), os.path.basename(self)",),
    ("__copy__", "__deepcopy__"): (
        "import copy\n    return copy.copy(self) is self, copy.deepcopy(self) is self, copy.deepcopy([self])",
    ),
    ("__enter__", "__exit__"): (
        "with self as value:\n        return value",
        "with self:\n        raise ValueError('a')",
        "with self.open() as one, self.lock:\n        return one",
        "from contextlib import ExitStack\n    stack = ExitStack()\n    return stack.enter_context(self)",
    ),
    ("__instancecheck__", "__subclasscheck__"): (
        "return isinstance(1, self), isinstance(self, -self), isinstance(-self, self)",
        "return isinstance(self, Thing), isinstance(self, Thing), isinstance(self, Other)",
        "return isinstance(self, thing.Kind), isinstance(self, (int, Thing))",
        "return isinstance(self, (str, Thing)), isinstance(self, int), isinstance(self, object)",
        "return isinstance(self, ValueError)",
        "return issubclass(self, Thing)",
        "return issubclass(int, self)",
        "from collections import OrderedDict\n    return isinstance(self, OrderedDict)",
        "import inspect\n    return inspect.isfunction(self), inspect.iscoroutinefunction(self)",
    ),
    ("__mro_entries__",): (
        "class C(self):\n        x = 1\n    return C.x, [base.__name__ for base in C.__mro__]",
        "class C(self.Base):\n        def m(self):\n            return 3\n    return C().m()",
    ),
    ("__await__",): (
        "return await self",
        "return (await self.get('a')).status, await self.get('a')",
        "return await self, await self",
    ),
    ("__aiter__",): ("return [item async for item in self]",),
    ("__anext__",): ("return await anext(self)",),
    ("__aenter__", "__aexit__"): (
        "async with self as value:\n        return value",
        "async with self.get('a') as one, self.lock:\n        return await one.text()",
        "async with self:\n        raise ValueError('a')",
    ),
}


METHODS = {names[0].strip("_"): names for names in OPERATIONS}
# One of each family: an operator, a reflected one, an order, equality, and what is no operator.
QUICK = [
    "add",
    "rsub",
    "eq",
    "iter",
    "next",
    "contains",
    "setitem",
    "getattribute",
    "call",
    "format",
    "enter",
    "instancecheck",
    "await",
]
RAISING = ["add", "lt", "contains", "getitem", "str", "repr", "next", "iter"]


def function(number, body, *, guarded=False, other=False):
    """One version: the operation, alone or in a `try` body, or something else."""
    is_async = "await " in body or "async " in body
    if other:
        body = "return 'another'"
    elif guarded:
        inner = body.replace("\n", "\n    ")
        body = f"try:\n        {inner}\n    except ({CAUGHT}) as error:\n        return 'caught', type(error).__name__"
    # People's form of a reproducer has no stand-ins, and refuses a parameter of this name.
    return f"{'async ' * is_async}def f{number}(self, subject=None):\n    {body}\n\n\n"


def compared(bodies, guarded):
    old = "".join(function(number, body, guarded=guarded) for number, body in enumerate(bodies))
    new = "".join(function(number, body, other=True) for number, body in enumerate(bodies))
    raising = 1.0 if guarded else 0.0
    found = twincell.compare(old, new, context="function", predictor="frequency", budget=2, raise_probability=raising)
    return {bodies[int(pair["old"]["qualname"][1:])]: pair["reproducer"] for pair in found.pairs}


def test_every_method_of_injected_objects_is_compared():
    pair = twincell.compare(NAMES, "def f(self):\n    return ''\n", context="function", predictor="frequency").pairs[0]
    names = pair["witness"]["old"]["outcome"]["returned"]["str"].split()
    assert set(names) - OF_CLASSES == {name for names in OPERATIONS for name in names}


@sample(METHODS, QUICK)
def test_a_stand_in_does_what_the_injected_object_did(name):
    reproducers = compared(OPERATIONS[METHODS[name]], guarded=False)
    parted = {body: made and made["why_not"] for body, made in reproducers.items() if not (made and made["holds"])}
    assert not parted
    assert all("ANSWERS = " in made["source"] for made in reproducers.values())


@sample(RAISING, ["add", "getitem"])
def test_a_stand_in_raises_what_the_injected_object_raised(name):
    reproducers = compared(OPERATIONS[METHODS[name]], guarded=True)
    parted = {body: made and made["why_not"] for body, made in reproducers.items() if not (made and made["holds"])}
    assert not parted
