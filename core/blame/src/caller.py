"""Makes the call, unless code that it may reach names a stand-in for something missing.

What the call gives then tells nothing. Which code it may reach is told by names: functions of the project by their
globals, and members of its classes and modules that reached code names anywhere. Nothing here calls what it looks at,
nor asks it for an attribute of its own making.
"""


class _tc_StandIns(Exception):
    pass


def _tc_stand_ins(start, own, folder):
    import sys

    function, code = type(start), type(start.__code__)
    descriptors = {staticmethod: ("__func__",), classmethod: ("__func__",), property: ("fget", "fset")}
    of_project = {own.get("__name__")}
    for name, module in list(sys.modules.items()):
        file = vars(module).get("__file__") if type(module) is type(sys) else None
        if type(file) is str and file.startswith(folder):
            of_project.add(name)

    names, found, seen, holders, waiting = set(), set(), set(), [], [start]

    def look(value, name):
        kind = type(value)
        if kind.__name__ == "Mock" and kind.__module__ == "twincell":
            found.add(name)
        elif id(value) in seen:
            return
        elif kind is function:
            if value.__globals__.get("__name__") in of_project:
                seen.add(id(value))
                waiting.append(value)
                look(vars(value).get("__wrapped__"), name)
                for cell in value.__closure__ or ():
                    try:
                        look(cell.cell_contents, name)
                    except ValueError:
                        pass
        elif kind in descriptors:
            for part in descriptors[kind]:
                look(getattr(value, part), name)
        elif issubclass(kind, type):
            if type.__getattribute__(value, "__module__") in of_project:
                seen.add(id(value))
                holders.append(type.__getattribute__(value, "__dict__"))
                for base in type.mro(value)[1:]:
                    look(base, name)
                for base in type.__getattribute__(value, "__dict__").get("__orig_bases__", ()):
                    look(base, name)
        elif kind.__name__ == "cached_property":
            look(vars(value).get("func"), name)
        elif kind is type(sys) and vars(value).get("__name__") in of_project:
            seen.add(id(value))
            holders.append(vars(value))

    while waiting:
        while waiting:
            one = waiting.pop()
            codes = [one.__code__]
            while codes:
                inner = codes.pop()
                codes += [constant for constant in inner.co_consts if type(constant) is code]
                for name in inner.co_names:
                    names.add(name)
                    if name in one.__globals__:
                        look(one.__globals__[name], name)
        for held in list(holders):
            for name, value in list(held.items()):
                if name in names or name in ("__init__", "__new__", "__call__", "__get__", "__set__"):
                    look(value, name)
    return sorted(found)


def _tc_blamed_call():
    call = lambda: (  # noqa: E731
        _TC_CALL  # noqa: F821
    )
    try:
        missing = _tc_stand_ins(call, globals(), "_TC_FOLDER")
    except Exception:
        missing = None
    if missing:
        raise _tc_StandIns(*missing)
    return call()
