"""The start of a Python without the code that it runs: `python -S -c THIS answer`, `python -S -c THIS serve ...`.

`site` adds folders to the module search path, and runs what it finds there: lines of `.pth` files, sitecustomize and
usercustomize. An editable installation leads it into a project. Here it adds its folders and runs nothing.
`Start.finish` runs the rest, in a process that is locked in by then.

Before Python 3.11 the current folder is on the search path. Nobody else writes to it.
"""

import importlib.util
import os
import site
import sys

#: What `site` runs or says where it is.
REPLACED = ("addsitedir", "addpackage", "execsitecustomize", "execusercustomize")


class Start:
    """What `site` has added, and what it would run."""

    def __init__(self):
        #: Where packages are installed.
        self.folders = []
        self._files = []
        own = {name: getattr(site, name) for name in REPLACED}

        def add_folder(folder, *rest, **named):
            self.folders.append(os.path.abspath(folder))
            return own["addsitedir"](folder, *rest, **named)

        def add_file(folder, name, *rest, **named):
            self._files.append((folder, name))
            return own["addpackage"](folder, name, *rest, **named)

        def nothing(*_, **__):
            pass

        site.addsitedir, site.addpackage = add_folder, add_file
        site.execsitecustomize = site.execusercustomize = nothing
        # It stands before the built-in one, which runs the lines of `.pth` files.
        site.exec = nothing
        try:
            site.main()
        finally:
            vars(site).update(own)
            del site.exec

    def tables(self):
        """Where packages and modules lie that finders of setuptools know from a table, which is read and not run."""
        found = {}
        for folder in self.folders:
            try:
                names = sorted(name for name in os.listdir(folder) if name.startswith("__editable__"))
            except OSError:
                continue
            for name in names:
                if name.endswith("_finder.py"):
                    found.update(_table(os.path.join(folder, name)))
        return found

    def finish(self):
        """Runs what was left out."""
        for folder, name in self._files:
            site.addpackage(folder, name, None)
        site.execsitecustomize()
        if site.ENABLE_USER_SITE:
            site.execusercustomize()


def _table(path):
    import ast

    try:
        with open(path, "rb") as file:
            statements = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for statement in statements:
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
        if any(isinstance(target, ast.Name) and target.id == "MAPPING" for target in targets):
            try:
                table = ast.literal_eval(statement.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return {}
            pairs = table.items() if isinstance(table, dict) else ()
            return {name: place for name, place in pairs if isinstance(name, str) and isinstance(place, str)}
    return {}


def answer():
    """Prints what this Python is and where it looks for packages."""
    import json
    import sysconfig

    # Whoever reads the answer looks which of them are there. Here some folders have others in their place.
    exists, os.path.exists = os.path.exists, lambda path: True
    start = Start()
    os.path.exists = exists
    found = {
        "executable": sys.executable,
        "implementation": sys.implementation.name,
        "version": list(sys.version_info[:3]),
        "build": sys.version,
        "platform": sys.platform,
        "tag": sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag,
        "programs": os.path.dirname(os.path.realpath(sys.executable)),
        "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
        "search": sys.path,
        "packages": start.folders,
        "tables": start.tables(),
        "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
    }
    print(json.dumps(found))


def serve(own, is_own, incomplete):
    """Becomes a zygote, with the twincell that is installed here, and nothing else from beside it. `own`: the folder of
    the package that starts this Python. `is_own`: whether it is installed in this one."""
    start = Start()
    folder = _package(start, own, is_own)
    if folder is None:
        sys.exit("No module named twincell")
    file = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("twincell", file, submodule_search_locations=[folder])
    package = sys.modules["twincell"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    from twincell import worker

    sys.argv[:] = [worker.__file__]
    worker.run(start, bool(incomplete))


def _package(start, own, is_own):
    """The folder of twincell. A project that `.pth` files lead to has none, unless it is the one that starts this."""
    parents = list(start.folders)
    if own and (is_own or os.path.realpath(os.path.dirname(own)) in map(os.path.realpath, sys.path)):
        parents.insert(0, os.path.dirname(own))
    found = (os.path.join(parent, "twincell") for parent in parents)
    return next((folder for folder in found if os.path.isfile(os.path.join(folder, "__init__.py"))), None)


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path]
    {"answer": answer, "serve": serve}[sys.argv[1]](*sys.argv[2:])
