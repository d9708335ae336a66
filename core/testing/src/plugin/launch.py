"""Starts pytest with the plugin in `twincell_serve`, so that the files of a checkout are what tests import.

It runs in the project's own Python, before pytest is imported: `python launch.py CONTROL START`. CONTROL is the number
of a socket, START a file with what to collect.
"""

import json
import os
import socket
import sys

PLACE = os.path.dirname(os.path.abspath(__file__))
# Names at the top of a repository that other folders may have as well.
COMMON = {
    "conftest",
    "setup",
    "tests",
    "test",
    "testing",
    "docs",
    "doc",
    "examples",
    "noxfile",
    "tasks",
    "build",
    "bench",
}


def is_inside(path, folder):
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def holdings(folder):
    """The packages and modules in a folder, by name."""
    found = {}
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return found
    for entry in entries:
        path = os.path.join(folder, entry)
        if entry.isidentifier() and os.path.isfile(os.path.join(path, "__init__.py")):
            found[entry] = path
        elif entry.endswith(".py") and entry[:-3].isidentifier():
            found[entry[:-3]] = path
    return found


def holds_code(folder):
    """Whether a folder holds modules, packages or, one level down, those of a namespace."""
    if holdings(folder):
        return True
    try:
        return any(
            entry.name.isidentifier() and entry.is_dir() and holdings(entry.path) for entry in os.scandir(folder)
        )
    except OSError:
        return False


def import_roots(root):
    """The folders of a checkout where imports look first."""
    sources = [os.path.join(root, name) for name in ("src", "lib")]
    sources = [folder for folder in sources if holds_code(folder)]
    top = holdings(root)
    packages = [name for name, path in top.items() if not path.endswith(".py") and name not in COMMON]
    modules = [name for name, path in top.items() if path.endswith(".py") and name not in COMMON]
    return sources + ([root] if packages or modules or not sources else [])


def redirect(root, repository):
    """Turns an editable installation of the user's own checkout to this one."""

    def moved(path):
        path = os.path.abspath(path)
        is_own = is_inside(path, repository) and not is_inside(path, root) and not is_inside(path, sys.prefix)
        return os.path.join(root, os.path.relpath(path, repository)) if is_own else path

    sys.path[:] = [moved(path) if path and os.path.isabs(path) else path for path in sys.path]
    for finder in list(sys.meta_path):
        module = sys.modules.get(getattr(finder, "__module__", None) or "")
        if not getattr(module, "__name__", "").startswith("__editable__"):
            continue
        for table in (getattr(module, "MAPPING", None), getattr(module, "NAMESPACES", None)):
            for name, paths in list((table or {}).items()):
                table[name] = moved(paths) if isinstance(paths, str) else [moved(path) for path in paths]


def forget(roots, root):
    """Lets go of modules that the start of Python has imported from another copy."""
    names = {name for folder in roots for name in holdings(folder)}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.split(".")[0] in names and file and not is_inside(os.path.abspath(file), root):
            if "site-packages" in file or "dist-packages" in file:
                del sys.modules[name]


def elsewhere(roots, root, repository):
    """A module of the checkout that was imported from another place: its name and its file."""
    names = {name for folder in roots for name in holdings(folder)} - COMMON
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or is_inside(os.path.abspath(file), root):
            continue
        path = os.path.abspath(file)
        is_users = is_inside(path, repository) and not is_inside(path, sys.prefix)
        is_installed = "site-packages" in path or "dist-packages" in path
        if is_users or (name in names and is_installed):
            return {"module": name, "found": path}
    return None


def adapted(config_options):
    """Options that keep plugins from using other processes, another order, or a coverage of their own."""
    from importlib.util import find_spec

    # Without their plugin, pytest refuses the options.
    named = os.environ.get("PYTEST_PLUGINS", "").split(",")
    loads_all = not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")

    def is_loaded(package):
        return find_spec(package) and (loads_all or any(name.split(".")[0] == package for name in named))

    # Why pytest does not start is read from its output.
    options = ["--color=no"]
    if is_loaded("xdist"):
        options += ["-n0"]
    if is_loaded("pytest_cov"):
        options += ["--no-cov"]
    if is_loaded("pytest_randomly"):
        options += ["--randomly-seed=1", "--randomly-dont-reorganize"]
    return options + list(config_options)


def main():
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    with open(sys.argv[2], encoding="utf-8") as file:
        start = json.load(file)
    root, repository = start["root"], start["repository"]
    os.chdir(root)
    # Files of a request change within a second, which compiled files would not notice.
    sys.dont_write_bytecode = True
    import twincell_opened
    import twincell_serve

    opened = twincell_opened.Opened(root)
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != PLACE]
    redirect(root, repository)
    roots = import_roots(root)
    sys.path[:0] = roots
    inherited = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(roots + ([inherited] if inherited else []))
    forget(roots, root)
    sys.argv[:] = ["pytest", *start["arguments"]]
    import pytest

    serving = twincell_serve.Serving(control, start, lambda: elsewhere(roots, root, repository), opened)
    options = adapted(["--rootdir", root, "-o", "cache_dir=" + start["cache"], *start["arguments"]])
    try:
        status = int(pytest.main(options, plugins=[serving]))
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    serving.say({"ended": {"status": status, "error": serving.ending}})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


main()
