"""One triple for each construct of the language, by its name; a file for each kind of construct.

Names are made up; what a snippet does not define is injected. Nothing here runs by itself.
"""

from . import classes, comprehensions, exceptions, expressions, functions, generators, statements
from .exceptions import NEWER_CONSTRUCTS

__all__ = ["CONSTRUCTS", "NEWER_CONSTRUCTS"]

_KINDS = [comprehensions, expressions, statements, exceptions, generators, functions, classes]
CONSTRUCTS = {name: texts for kind in _KINDS for name, texts in kind.CONSTRUCTS.items()}
