"""Functions of the code under test that it handed to missing code, which may call them."""

import asyncio
import inspect
import itertools

from .answers import answer
from .recorded import RENAMED, SUBJECT
from .state import handed_over


def call_back():
    """Calls the first functions that missing code was given, on recorded values: what each returns or raises."""
    results = {}
    for number, function in enumerate(handed_over[:3]):
        if function.__code__.co_filename == SUBJECT:
            results[number] = called_back(function, f"callback{number}", 1)
    return results


def called_back(function, path, depth):
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    values = {name: answer(f"{path}({RENAMED.get(name, name)})") for name in code.co_varnames[:count]}
    positional = [values.pop(name) for name in code.co_varnames[: code.co_argcount]]
    try:
        result = function(*positional, **values)
        if inspect.iscoroutine(result):
            return asyncio.run(result)
        if inspect.isgenerator(result):
            return list(itertools.islice(result, 20))
        is_own = inspect.isfunction(result) and result.__code__.co_filename == SUBJECT
        return called_back(result, "result", depth + 1) if is_own and depth < 2 else result
    except Exception as error:
        return error
