"""Functions of the code under test that it stored in stand-ins, where other code finds them."""

import types

from .answers import answer
from .call_back import called_back
from .recorded import SUBJECT


def call_stored(*places):
    """Calls the functions that are in these places now, on recorded values: what each returns or raises."""
    results = {}
    for path, holder, step in places:
        function = eval(f"holder{step}", {"holder": answer(holder)})
        if type(function) is types.FunctionType and function.__code__.co_filename == SUBJECT:
            results[path] = called_back(function, path, 1)
    return results
