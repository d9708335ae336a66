"""How a construct is written down."""

import textwrap


def triple(old, same, changed):
    """Code, an equivalent refactoring, and a real change in the construct."""
    return tuple(textwrap.dedent(text).strip() + "\n" for text in (old, same, changed))
