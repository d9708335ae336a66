"""Interpreters that start before anything is locked in, and folders that are no code."""

import json
import socket
import subprocess
import sys
import sysconfig
import textwrap
import threading
from pathlib import Path

import pytest
import twincell
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from .stranger import SECRET

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def some(values, *quick):
    """All of them, of which all but these are long."""
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]


#: What the change brings beside the code: it tries what only a process that is not locked in can do.
EVIL = """
import os
HOME = {home!r}
def tell(text):
    for name in ({proof!r}, HOME + "/code/project/proof", HOME + "/code/project/proof.md"):
        try:
            with open(name, "a") as file:
                file.write(text)
        except OSError:
            pass
tell("ran\\n")
for name in (".ssh/id_rsa", ".netrc", ".config/service/token"):
    try:
        with open(os.path.join(HOME, name)) as file:
            text = file.read()
    except OSError:
        continue
    tell(text)
    os.write(2, text.encode())
"""

OLD, NEW = "def f(a):\n    return a > 1\n", "def f(a):\n    return a >= 1\n"
TEST = "from shop import f\n\n\ndef test_f():\n    assert f(2)\n"


def evil(person, more=""):
    return EVIL.format(home=str(person.home), proof=str(person.proof)) + textwrap.dedent(more)


def environment(person, *options, twincell_too=True):
    """An environment of the person's, in which the project is installed so that it can be edited. Its packages."""
    folder = person.home / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, folder], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "__editable__.shop-1.pth").write_text(f"{person.repository / 'src'}\n")
    here = [sysconfig.get_path("purelib")]
    if twincell_too:
        here.insert(0, str(Path(twincell.__file__).parents[1]))
    (packages / "zz_others.pth").write_text("\n".join(here) + "\n")
    return packages


def python(person):
    return str(person.home / "environment/bin/python")


def project(person, **files):
    """A project whose last commit is a stranger's."""
    person.commit({"src/shop.py": OLD, "tests/test_shop.py": TEST, "code.py": "import shop\nprint(shop.f(2))\n"})
    own = {f"src/{name.replace('__', '/')}.py": text for name, text in files.items()}
    person.commit({"src/shop.py": NEW, **own})


def held(person, *done):
    texts = [text for each in done for text in (each.stdout, each.stderr)]
    assert not person.proof.exists(), person.proof.read_text()
    assert not list(person.repository.glob("proof*"))
    assert not person.is_out(*texts), texts


#: Commands that start a Python that the person names.
COMMANDS = {
    "compare": ["compare", "--git", "HEAD~1", "--budget", "5", "--predictor", "uniform"],
    "doctor": ["doctor"],
    "study": ["study", "mined.jsonl", "--budget", "5", "--predictor", "uniform", "--out", "rows.jsonl"],
    "prefix": ["prefix", "code.py"],
    "install": ["prefix", "code.py", "--install"],
    "amplify": ["amplify", "HEAD~1..HEAD", "--deadline", "20", "--fail-on", "never"],
}


def attack(person, command):
    if command == "study":
        change = {"id": "one", "old": OLD, "new": NEW}
        (person.repository / "mined.jsonl").write_text(json.dumps(change) + "\n")
    person.environment |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return person.run(*COMMANDS[command], "--python", python(person))


def answers(command, done):
    """That the command did its work all the same."""
    assert "Traceback" not in done.stderr, done.stderr
    if command == "amplify" and done.returncode == 3:
        # What Python's start has imported from the checkout is not of the version under test.
        assert "leads there in a way that is not known" in done.stderr, done
        return
    assert done.returncode in {"compare": (1,), "amplify": (0,), "doctor": (0,)}.get(command, (0, 1, 2)), done


@pytest.mark.parametrize("command", COMMANDS)
def test_sitecustomize_of_an_editable_install(person, command):
    environment(person)
    project(person, sitecustomize=evil(person))
    done = attack(person, command)
    held(person, done)
    answers(command, done)


@pytest.mark.parametrize("command", some(COMMANDS, "compare"))
def test_usercustomize_of_an_editable_install(person, command):
    environment(person, "--system-site-packages")
    project(person, usercustomize=evil(person))
    done = attack(person, command)
    held(person, done)
    answers(command, done)


@pytest.mark.parametrize("command", some(COMMANDS, "compare"))
def test_a_line_of_a_pth_file_that_imports_the_project(person, command):
    packages = environment(person)
    (packages / "zzz_hooks.pth").write_text("import shop_hooks\n")
    project(person, shop_hooks=evil(person))
    done = attack(person, command)
    held(person, done)
    answers(command, done)


@pytest.mark.parametrize("command", some(COMMANDS, "compare"))
def test_a_finder_of_an_editable_install_that_imports_the_project(person, command):
    packages = environment(person)
    (packages / "__editable__.hooks-1.pth").write_text("import __editable___hooks_finder\n")
    table = f"MAPPING: dict[str, str] = {{'hooks': {str(person.repository / 'src/hooks')!r}}}\n"
    (packages / "__editable___hooks_finder.py").write_text(f"{table}import shop_hooks\n")
    project(person, shop_hooks=evil(person), hooks____init__=evil(person))
    done = attack(person, command)
    held(person, done)
    answers(command, done)


@pytest.mark.parametrize("name", ["twincell", "twincell____init__", "twincell__worker", "twincell___twincell"])
@pytest.mark.parametrize("command", ["compare", "doctor"])
def test_a_twincell_of_the_projects_own(person, command, name):
    """The environment has none, so that the project's would be the first."""
    environment(person, twincell_too=False)
    files = {name: evil(person)}
    if name.startswith("twincell__") and name != "twincell____init__":
        files["twincell____init__"] = evil(person)
    project(person, **files)
    done = attack(person, command)
    held(person, done)


@pytest.mark.parametrize(
    "name", some(["pytest", "pytest____init__", "_pytest____init__", "conftest", "json", "sysconfig"])
)
def test_amplify_meets_modules_of_the_projects_own_when_it_asks(person, name):
    environment(person)
    project(person, **{name: evil(person)})
    held(person, attack(person, "amplify"))


@pytest.mark.parametrize("how", some(["active", ".venv", "venv"], "active"))
def test_amplify_finds_the_environment_itself(person, how):
    environment(person)
    project(person, sitecustomize=evil(person))
    if how == "active":
        person.environment["VIRTUAL_ENV"] = str(person.home / "environment")
    else:
        (person.home / "environment").rename(person.repository / how)
        (person.repository / how / ".gitignore").write_text("*\n")
    done = person.run(*COMMANDS["amplify"])
    held(person, done)
    answers("amplify", done)


#: What a sitecustomize can say of its Python to whoever believes it.
LIES = {
    "the program": "sys.executable = HOME + '/code/project/tools/python'",
    "the environment": "sys.prefix = sys.exec_prefix = sys.base_prefix = HOME",
    "where imports look": "sys.path[:0] = [HOME + '/' + name for name in ('.ssh', '.config/service', '.netrc')]",
    "a secret as a module": "sys.path.append(HOME + '/.ssh/id_rsa')",
    "folders of packages": "site.getsitepackages = lambda *_: [HOME, HOME + '/.ssh', HOME + '/.config']",
    "the user's packages": "site.getuserbase = lambda: HOME + '/.ssh'; site.ENABLE_USER_SITE = True",
    "what is editable": "sys.modules['__editable___a_finder'] = type(sys)('a'); "
    "sys.modules['__editable___a_finder'].MAPPING = {'a': HOME + '/.ssh'}",
    "the paths of its scheme": "sysconfig.get_paths = lambda *_, **__: {'purelib': HOME + '/.ssh', 'stdlib': HOME}",
    "its answer": "json.dumps = lambda *_, **__: json.JSONEncoder().encode({'paths': [HOME], 'executable': '/bin/sh'})",
    "the home folder": "os.environ['HOME'] = os.environ['TWINCELL_WORKER_HOME'] = '/nowhere'",
}


@pytest.mark.parametrize("lie", some(LIES, "a secret as a module"))
@pytest.mark.parametrize("command", some(["compare", "amplify"], "compare"))
def test_what_a_sitecustomize_says_of_its_python_opens_nothing(person, command, lie):
    environment(person)
    forged = f'#!/bin/sh\ncat {person.home}/.ssh/id_rsa >{person.proof}\nexec {python(person)} "$@"\n'
    person.commit({"tools/python": forged})
    (person.repository / "tools/python").chmod(0o755)
    lies = f"\nimport json, os, site, sys, sysconfig\n{LIES[lie]}\n"
    project(person, sitecustomize=evil(person, lies))
    # The code itself looks whether something is open now.
    secrets = [str(person.home / name) for name in (".ssh/id_rsa", ".netrc", ".config/service/token")]
    told = textwrap.dedent(f"""
        def f(a):
            texts = ""
            for name in {secrets!r}:
                try:
                    texts += open(name).read()
                except OSError:
                    pass
            return texts, a >= 1
        """)
    person.commit({"src/shop.py": told, "tests/test_shop.py": TEST + "    print(f(1))\n    assert f(1)[0] == ''\n"})
    held(person, attack(person, command))


def test_what_is_installed_still_starts_for_the_code(person):
    packages = environment(person)
    (packages / "zzz_hooks.pth").write_text("import builtins; builtins.from_pth = 1\n")
    project(person, sitecustomize="import builtins\nbuiltins.from_sitecustomize = 1\n")
    told = "import builtins\ndef f(a):\n    return [name for name in vars(builtins) if name.startswith('from_')], {}\n"
    for number, name in enumerate(("old", "new")):
        (person.home / f"{name}.py").write_text(told.format(number))
    compared = [str(person.home / f"{name}.py") for name in ("old", "new")]
    done = person.run("compare", *compared, "--python", python(person), "--json", "--budget", "3")
    assert "['from_pth', 'from_sitecustomize']" in done.stdout, done


def test_a_thread_that_a_sitecustomize_leaves_behind_stays_locked_in(person):
    environment(person)
    later = """
        import threading, time
        source = open(__file__).read().partition("import threading")[0]
        def again():
            for _ in range(50):
                time.sleep(0.05)
                exec(source, {})
        threading.Thread(target=again, daemon=True).start()
        """
    project(person, sitecustomize=evil(person, later))
    held(person, attack(person, "compare"))


@pytest.mark.parametrize("way", ["os.fork()", "subprocess.Popen(['/bin/sh', '-c', 'cat {secret} > {proof}'])"])
def test_a_process_that_a_sitecustomize_starts_stays_locked_in(person, way):
    environment(person)
    start = way.format(secret=person.home / ".ssh/id_rsa", proof=person.proof)
    project(person, sitecustomize=evil(person, f"\nimport os, subprocess\ntry:\n    {start}\nexcept Exception: pass\n"))
    held(person, attack(person, "compare"))


def test_the_projects_pip_installs_nothing(person):
    """The environment has no pip, and the project has one."""
    environment(person)
    project(person, pip____init__=evil(person), pip____main__=evil(person))
    person.commit({"code.py": "import surely_not_installed_anywhere\nprint(1)\n"})
    held(person, attack(person, "install"))


@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize", "shop_hooks"])
def test_an_installer_starts_a_python_without_the_projects_start(person, name):
    """uv asks the Python that it is given."""
    packages = environment(person, "--system-site-packages")
    line = "import importlib.util as u; u.find_spec('shop_hooks') and __import__('shop_hooks')\n"
    (packages / "zzz_hooks.pth").write_text(line)
    uv = person.home / "bin/uv"
    uv.parent.mkdir()
    uv.write_text(
        f"#!{sys.executable}\nimport subprocess, sys\n"
        "python = sys.argv[sys.argv.index('--python') + 1]\n"
        "ran = subprocess.run([python, '-I', '-B', '-c', 'import sys; print(sys.version)'])\n"
        "sys.exit(ran.returncode or 'nothing found')\n"
    )
    uv.chmod(0o755)
    person.environment["PATH"] = f"{uv.parent}:/usr/bin:/bin"
    project(person, **{name: evil(person)})
    person.commit({"code.py": "import requests_of_nobody, requests\nprint(1)\n"})
    done = attack(person, "install")
    held(person, done)


# The folder in which somebody starts twincell

#: What Python itself imports for `-m`, from the current folder if it is there. No program can keep it from that.
OF_PYTHON = set(
    subprocess.run(
        [sys.executable, "-S", "-c", "import runpy, sys; print(*{name.partition('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
)
NAMES = ["__future__", "typing", "re", "random", "json", "enum", "copyreg", "site", "IPython", "numpy"]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_in_the_folder_in_which_the_command_starts(person, name):
    person.commit({"shop.py": OLD})
    person.commit({"shop.py": NEW, f"{name}.py": evil(person)})
    done = person.run(*COMMANDS["compare"], "--", "shop.py")
    held(person, done)
    assert done.returncode == 1, done


def everything(person, folder, but):
    """A file for each module that Python or a package here has but some, which would show that it was imported."""
    names = {name for name in sys.stdlib_module_names if name not in sys.builtin_module_names}
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        name = entry.name.partition(".")[0]
        if name.isidentifier() and (entry.is_dir() or entry.suffix in (".py", ".so")):
            names.add(name)
    folder.mkdir(exist_ok=True)
    for name in names - set(but):
        (folder / f"{name}.py").write_text(f"NAME = {name!r}\n" + evil(person))
    return folder


@pytest.mark.parametrize("command", ["doctor", "compare", "predict", "--version"])
def test_a_folder_with_a_module_of_every_name(person, command):
    # The command names the package itself.
    folder = everything(person, person.repository / "folder", OF_PYTHON | {"twincell"})
    (folder / "old_shop.py").write_text(OLD)
    (folder / "new_shop.py").write_text(NEW)
    more = {"compare": ["old_shop.py", "new_shop.py", "--budget", "5"], "predict": ["new_shop.py"]}.get(command, [])
    done = person.run(command, *more, cwd=folder)
    held(person, done)
    assert done.returncode in (0, 1) and not done.stderr, done


STARTS = {
    "Jupyter": None,
    "by hand": ["-m", "twincell.kernel", "-f", "{connection_file}"],
    "by hand in one word": ["-mtwincell.kernel", "-f", "{connection_file}"],
    "unbuffered": ["-u", "-m", "twincell.kernel", "-f", "{connection_file}"],
}


class Kernel:
    """A kernel that a person starts in a folder."""

    def __init__(self, person, folder, argv=None):
        self.manager = KernelManager(kernel_name="twincell", kernel_spec_manager=KernelSpecManager())
        if argv is not None:
            self.manager.kernel_spec.argv = [sys.executable, *argv]
        self.manager.start_kernel(cwd=str(folder), env=person.environ())
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code):
        return self.client.execute_interactive(code, timeout=120, output_hook=lambda _: None)["content"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("start", some(STARTS, "Jupyter"))
def test_a_notebooks_folder_is_no_code(person, start):
    folder = everything(person, person.home / "notebooks", OF_PYTHON | {"twincell"} if STARTS[start] else ())
    with Kernel(person, folder, STARTS[start]) as kernel:
        for ask in (kernel.client.kernel_info, kernel.client.comm_info, kernel.client.history):
            ask()
            assert kernel.client.get_shell_msg(timeout=60)["content"]["status"] == "ok"
        assert not person.proof.exists(), person.proof.read_text()
        # Modules of Python come first in cells, too.
        assert kernel.run("import random, json; random.random(), json.dumps(1)")["status"] == "ok"
        assert not person.proof.exists(), person.proof.read_text()


@pytest.mark.parametrize("start", some(STARTS, "Jupyter"))
def test_cells_import_what_lies_beside_the_notebook(person, start):
    folder = person.home / "notebooks"
    folder.mkdir()
    (folder / "beside_it.py").write_text("VALUE = 7\n")
    with Kernel(person, folder, STARTS[start]) as kernel:
        assert kernel.run("import beside_it, sys; assert beside_it.VALUE == 7 and '' in sys.path")["status"] == "ok"


@pytest.mark.parametrize(
    "name", some(["random", "typing", "IPython", "traitlets", "comm", "asyncio", "jedi", "zmq"], "random")
)
def test_a_package_beside_a_notebook(person, name):
    folder = person.home / "notebooks"
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(evil(person))
    with Kernel(person, folder):
        assert not person.proof.exists()


# Tests that decide what tests say

STEERING = {
    "conftest.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    "tests/conftest.py": "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n",
    "pytest.ini": "[pytest]\naddopts = -p no:python\n",
    ".pytest.ini": "[pytest]\naddopts = --co\n",
    "tox.ini": "[pytest]\naddopts = --maxfail=1000\n",
    "setup.cfg": "[tool:pytest]\naddopts = --deselect tests/test_shop.py\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--deselect tests/test_shop.py'\n",
    "src/shop_plugin.py": "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n",
    "src/sitecustomize.py": "import builtins\nbuiltins.forged = True\n",
}


def amplified(person, *options):
    return person.run("amplify", "HEAD~1..HEAD", "--python", sys.executable, "--deadline", "30", *options)


# Its sisters in the gate are tests of `core/amplify/src/steering.rs` and `widgets/src/amplified/mod.rs`.
@pytest.mark.long
@pytest.mark.parametrize("name", STEERING)
def test_a_change_that_brings_what_decides_for_tests_is_told_in_every_form(person, name):
    project(person)
    person.commit({"src/shop.py": OLD, name: STEERING[name]})
    files = {ending: person.home / f"out.{ending}" for ending in ("markdown", "html", "junit")}
    done = amplified(person, *(f"--{ending}={file}" for ending, file in files.items()))
    texts = [done.stdout, *(file.read_text() for file in files.values() if file.exists())]
    if done.returncode == 3:
        # pytest has collected nothing, which is said and nothing else.
        assert "Traceback" not in done.stderr and done.stderr, done
        return
    assert len(texts) == 4
    for text in texts:
        assert name in text and "it can make any test pass or fail" in text, text
    [steering] = json.loads(amplified(person, "--json").stdout)["steering"]
    assert steering["path"] == name


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--network"]])
def test_nothing_is_said_of_a_change_that_brings_none(person, options):
    project(person)
    done = amplified(person, *options)
    assert done.returncode == 1 and "any test" not in done.stdout, done


# Tests that reach the network

TRIES = {
    "a file in the home folder": "text = open({home!r} + '/letters/notes.txt').read()",
    "a hidden file in the home folder": "text = open({home!r} + '/.netrc').read()",
    "a hidden file in a deeper folder": "text = open({home!r} + '/letters/.env').read()",
    "another repository": "text = open({home!r} + '/code/other/notes.txt').read()",
    "the memory of twincell": "text = open(f'/proc/{{os.getppid()}}/environ').read()",
    "a link that leads there": "os.symlink({home!r} + '/letters', 'link'); text = open('link/notes.txt').read()",
    "a program that reads it": "text = subprocess.getoutput('cat ' + {home!r} + '/letters/notes.txt')",
    "a folder's descriptor": "at = os.open({home!r}, os.O_RDONLY | os.O_DIRECTORY); "
    "text = os.read(os.open('letters/notes.txt', os.O_RDONLY, dir_fd=at), 99).decode()",
}
SEND = """
import os, socket, subprocess
from shop import f

def test_f():
    assert f(2)
    try:
        {attempt}
    except OSError as error:
        text = str(error)
    with socket.create_connection(("127.0.0.1", {port})) as line:
        line.sendall(text.encode() + b"!")
"""


@pytest.mark.parametrize("attempt", some(TRIES, "a file in the home folder"))
def test_tests_with_the_network_have_nothing_of_the_persons_to_send(person, attempt):
    for name in ("letters/notes.txt", "letters/.env", "code/other/notes.txt"):
        (person.home / name).parent.mkdir(parents=True, exist_ok=True)
        (person.home / name).write_text(SECRET)
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hear():
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line:
                    heard.append(line.recv(1 << 16).decode())

        threading.Thread(target=hear, daemon=True).start()
        text = SEND.format(attempt=TRIES[attempt].format(home=str(person.home)), port=server.getsockname()[1])
        person.commit({"src/shop.py": OLD, "tests/test_shop.py": text})
        person.commit({"src/shop.py": NEW})
        done = amplified(person, "--network")
        server.shutdown(socket.SHUT_RDWR)
    assert done.returncode in (0, 1, 2), done
    assert heard, done
    assert not any(SECRET in text for text in heard), heard


@pytest.mark.long
@pytest.mark.parametrize("kind", ["abstract", "a file"])
def test_tests_with_the_network_reach_no_local_socket_of_the_persons(person, kind):
    name = "\0of-the-person" if kind == "abstract" else str(person.home / ".agent" / "socket")
    (person.home / ".agent").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        server.settimeout(0)
        test = f"""
            import socket
            from shop import f

            def test_f():
                assert f(2)
                try:
                    with socket.socket(socket.AF_UNIX) as line:
                        line.connect({name!r})
                except OSError:
                    pass
            """
        person.commit({"src/shop.py": OLD, "tests/test_shop.py": textwrap.dedent(test)})
        person.commit({"src/shop.py": NEW})
        done = amplified(person, "--network")
        assert done.returncode in (0, 1, 2), done
        with pytest.raises(BlockingIOError):
            server.accept()
