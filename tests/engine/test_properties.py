"""An attribute that moves behind a property with its name is the same value: `self.session` in one version, and
`self._session` with a property `session` in the other."""

from .layers import over, sample
from .snippets import CHANGING, FEW, IDENTICAL, PRESERVING, code, compare, reason

PLAIN = code("""
    class Context:
        def __init__(self, app, session):
            self.app = app
            self.session = session

        def copy(self):
            return self.__class__(self.app, self.session)

        def open(self):
            if self.session is None:
                self.session = self.app.open_session()

        def name(self):
            return [self.session, self.app]


    def save(context, out):
        out.write(context.session)
    """)
BEHIND = code("""
    class Context:
        def __init__(self, app, session):
            self.app = app
            self._session = session

        @property
        def session(self):
            return self._session

        def copy(self):
            return self.__class__(self.app, self._session)

        def open(self):
            if self._session is None:
                self._session = self.app.open_session()

        def name(self):
            return [self.session, self.app]


    def save(context, out):
        out.write(context._session)
    """)
FUNCTIONS = ["Context.__init__", "Context.copy", "Context.open", "Context.name", "Context", "save"]


def verdict(old, new, function):
    comparison = compare(old, new, context="module", function=function, budget=FEW)
    return comparison.verdict, reason(comparison)


@over(FUNCTIONS, back=[False, True])
def test_an_attribute_behind_a_property_is_the_same_value(name, runs):
    for run in runs:
        found, why = verdict(*((BEHIND, PLAIN) if run["back"] else (PLAIN, BEHIND)), name)
        assert found in (IDENTICAL, PRESERVING), why


CHANGES = {
    "Context.copy": ("(self.app, self._session)", "(self._session, self.app)"),
    "Context.open": ("self._session is None", "not self._session"),
    "Context.name": ("return [self.session, self.app]", "return [self.app, self.session]"),
    "Context": ("            self._session = self.app", "            self._session = not self.app"),
    "save": ("context._session)", "context._session or 1)"),
}


@sample(CHANGES, ["Context.copy", "Context.name", "Context", "save"])
def test_a_change_beside_it_is_found(name):
    before, after = CHANGES[name]
    assert before in BEHIND
    found, why = verdict(PLAIN, BEHIND.replace(before, after), name)
    assert found == CHANGING, why


def test_another_attribute_with_a_private_name_is_another_value():
    new = BEHIND.replace("return self._session\n", "return str(self._session)\n")
    found, why = verdict(PLAIN, new, "Context.__init__")
    assert found == CHANGING, why
