"""Secrets of the person's: in files and folders, in the environment, and from other users of the machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from .conftest import PLACE
from .stranger import SECRET, machine
from .test_paths import AMPLIFY, CHANGED, NEW, OLD, QUICK, SHOP, TESTS, night

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
#: A user that the machine does not know, so that it has no home either.
STRANGER = 54321


def open_to_others(folder):
    """What others may read or write, below a folder and itself."""
    paths = [folder, *folder.rglob("*")]
    about = {path: path.lstat().st_mode for path in paths if not path.is_symlink()}
    return {str(path.relative_to(folder)): oct(mode) for path, mode in about.items() if stat.S_IMODE(mode) & 0o077}


# What tests under amplify get. One run tries it all.

#: Variables with secrets, as services and tools name them.
SECRETS = [
    *("DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "DB_PASS", "MYSQL_PWD", "REDIS_URL", "AMQP_DSN", "SENTRY_DSN"),
    *("GITHUB_TOKEN", "GH_PAT", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"),
    *("AZURE_CREDENTIALS", "SLACK_WEBHOOK", "NPM_AUTH", "TWINE_PASSWORD", "PIP_INDEX_URL", "UV_INDEX_URL"),
    *("HTTP_PROXY", "https_proxy", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "KUBECONFIG", "VAULT_ADDR", "secret", "MY_CREDS"),
    *("TWINCELL_LLM_URL", "PRIVATE", "passphrase", "OPENAI_ORG", "XDG_CONFIG_HOME", "DOCKER_CONFIG", "NETRC"),
]
#: Files of the person's, from the home folder.
CLOSED = [
    *(".ssh/id_rsa", ".netrc", ".config/service/token", "notes.txt", "Documents/taxes.txt"),
    *("code/.env", "code/other/a.py", "code/project/.env", "code/project/deploy/.env", "code/project/.secrets/key"),
    *("code/project/deploy/.aws/credentials", "code/project/credentials.json", "code/project/deploy/server.key"),
    *("code/project/a/b/c/d/.netrc", "code/project/deploy/api-token.txt", "code/project/secrets.toml"),
]
#: Files of the checkout under test that are untracked in the person's.
LEFT_OUT = [
    *(".env", "deploy/.env", ".secrets/key", "credentials.json", "deploy/server.key", "secrets.toml"),
]

SPY = """\
import json, os

def attempt(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""

def test_spy():
    found = {{"environ": dict(os.environ), "read": {{path: attempt(path) for path in {paths!r}}}}}
    # Several processes run it.
    with open("leaked.json." + str(os.getpid()), "w") as file:
        json.dump(found, file)
    os.rename("leaked.json." + str(os.getpid()), "leaked.json")
"""


@pytest.fixture(scope="module")
def spied():
    """A machine after amplify looked at a change whose tests look for secrets, and what they found."""
    person = machine(PLACE / f"spied-{os.getpid()}")
    work = person.repository
    person.environment |= {name: SECRET for name in SECRETS}
    person.environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "WANTED": "wanted", "OTHER": "wanted", "TZ": "UTC"}
    paths = [str(person.home / path) for path in CLOSED] + LEFT_OUT
    person.commit({"shop.py": SHOP, "test_shop.py": TESTS, "test_spy.py": SPY.format(paths=paths)}, "Old")
    (work / "shop.py").write_text(CHANGED)
    for path in CLOSED:
        file = person.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SECRET)
    (work / "plain.txt").write_text("plain")
    before = os.umask(0o022)
    command = [*AMPLIFY[:1], *AMPLIFY[2:], "--python", sys.executable, "--json", "--pass-env", "WANTED, OTHER"]
    done, leaked = person.run_watching("leaked.json", *command)
    os.umask(before)
    found = {"environ": {}, "read": {}}
    for text in leaked.values():
        one = json.loads(text)
        found = {kind: {**found[kind], **one[kind]} for kind in found}
    yield person, done, found
    shutil.rmtree(person.home, ignore_errors=True)


@pytest.mark.parametrize("name", SECRETS)
def test_tests_get_no_variable_that_may_be_a_secret(spied, name):
    _, done, found = spied
    assert found["environ"], done.stderr
    assert name not in found["environ"] or found["environ"][name] != SECRET


def test_tests_get_what_programs_need_and_what_the_person_passes_on(spied):
    person, _, found = spied
    assert found["environ"]["WANTED"] == found["environ"]["OTHER"] == "wanted" and found["environ"]["TZ"] == "UTC"
    assert "PATH" in found["environ"] and not found["environ"]["HOME"] == str(person.home)


@pytest.mark.parametrize("path", CLOSED)
def test_tests_read_nothing_of_the_home_folder_and_nothing_hidden_of_the_repository(spied, path):
    person, done, found = spied
    assert found["read"], done.stderr
    assert found["read"][str(person.home / path)] == ""


@pytest.mark.parametrize("path", LEFT_OUT)
def test_a_checkout_has_no_hidden_file_that_git_does_not_track(spied, path):
    _, done, found = spied
    assert found["read"], done.stderr
    assert found["read"][path] == ""


def test_caches_and_checkouts_are_for_nobody_else(spied):
    person, _, found = spied
    # What tests make is in a folder that is closed.
    others = open_to_others(person.home / ".cache" / "twincell")
    assert found["read"] and {path for path in others if not path.endswith("leaked.json")} == set()


def test_no_secret_is_left_anywhere(spied):
    person, done, _ = spied
    own = {str(Path(path)) for path in CLOSED}
    assert [path for path in person.is_out(done.stdout, done.stderr) if path not in own] == []


# Workers.


@pytest.fixture
def temporary(person):
    """The person's folder for temporary files, which others can list."""
    folder = Path(tempfile.mkdtemp(prefix="security-"))
    folder.chmod(0o755)
    person.environment["TMPDIR"] = str(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def watched(person, temporary, *arguments):
    """What others could read in temporary folders while a command ran."""
    command = [sys.executable, "-m", "twincell", *arguments]
    running = subprocess.Popen(
        command, cwd=person.repository, env=person.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    seen, found = 0, {}
    while running.poll() is None:
        for folder in temporary.iterdir():
            # Whatever lies in a closed folder is closed, and much of it is gone at once.
            with contextlib.suppress(OSError):
                seen += 1
                mode = stat.S_IMODE(folder.lstat().st_mode)
                if mode & 0o077:
                    found[folder.name] = oct(mode)
                for inner in folder.iterdir():
                    mode = stat.S_IMODE(inner.lstat().st_mode)
                    if mode & 0o077:
                        found[f"{folder.name}/{inner.name}"] = oct(mode)
    assert seen
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "old.py", "new.py", *QUICK],
        ["compare", "--git", "HEAD~1..HEAD", "--predictor", "frequency", "--budget", "5"],
        ["prefix", "snippet.py", "--predictor", "frequency"],
        ["record", "--", sys.executable, "-c", "import new; new.f(1)"],
    ],
    ids=lambda arguments: arguments[0] + ("-git" if "--git" in arguments else ""),
)
def test_the_folders_of_workers_are_for_nobody_else(person, temporary, arguments):
    person.commit({"old.py": OLD, "new.py": OLD, "snippet.py": "import new\nprint(new.f(1))\n"})
    person.commit({"new.py": NEW})
    assert watched(person, temporary, *arguments) == {}


def test_given_values_are_for_nobody_else(person, temporary):
    program = (
        "import os, pathlib, sys\n"
        "from twincell import _given\n"
        "os.umask(0)\n"
        "_given.pickled({'a': [1, 2]}, pathlib.Path(sys.argv[1]), 1 << 20)\n"
        "print(oct(os.stat(sys.argv[1]).st_mode & 0o777))\n"
    )
    done = person.run("-c", program, str(temporary / "value"), program=[sys.executable])
    assert done.stdout == "0o600\n", done.stderr


@pytest.mark.parametrize("kind", ["predict", "prefix"])
def test_the_cache_of_predictions_is_for_nobody_else(person, kind):
    person.commit({"a.py": "def f(order):\n    return order.price\nprint(f(a))\n"})
    before = os.umask(0)
    try:
        person.run(kind, "a.py")
    finally:
        os.umask(before)
    folder = person.home / ".cache" / "twincell"
    assert any(folder.rglob("*.sqlite")) and open_to_others(folder) == {}


# `twincell record`.

NAMED_SECRETS = [
    *("password", "token", "key", "secret", "api_key", "apiKey", "APIKEY", "password_hash", "secret_name", "token2"),
    *("dbPassword", "db_passwd", "userPwd", "private_key_text", "auth", "authorization", "credentials", "cookie"),
    *("dsn", "x_api_key_v2", "passphrase", "authtoken", "dbpassword", "pw", "pin", "client_secret_value"),
]
RECORDED = """\
from dataclasses import dataclass

@dataclass
class User:
    name: str
    password: str

def f({name}, plain):
    return plain

def g(*{name}):
    return 1

def h(**options):
    return 1

def i(config):
    return config

f({secret!r}, "seen")
f({name}={secret!r}, plain="seen")
g({secret!r})
h({name}={secret!r})
i({{{name!r}: {secret!r}}})
i([{{"deep": [{{{name!r}: {secret!r}}}]}}])
i(User("a", {secret!r}))
i("postgres://somebody:{secret}@host/base")
i("seen")
"""


@pytest.mark.parametrize("name", night(NAMED_SECRETS, 5))
def test_what_is_named_as_a_secret_is_not_recorded(person, name):
    person.commit({"shop.py": RECORDED.format(name=name, secret=SECRET)})
    person.run("record", "--", sys.executable, "-c", "import shop")
    recorded = (person.repository / "recorded.jsonl").read_text()
    assert SECRET not in recorded and "seen" in recorded


@pytest.mark.parametrize("before", [None, 0o644, 0o666])
def test_recorded_inputs_are_for_nobody_else(person, before):
    file = person.repository / "recorded.jsonl"
    if before is not None:
        file.write_text("before")
        file.chmod(before)
    person.commit({"shop.py": "def f(x):\n    return x\n"})
    person.run("record", "--", sys.executable, "-c", "import shop; shop.f(1)")
    assert '"f"' in file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600


# Several users on one machine, and none with a home.


@pytest.mark.parametrize("mode", night([0o777, 0o775, 0o757, 0o1777], 2))
def test_a_cache_that_others_can_write_to_is_not_used(person, mode):
    cache = person.home / ".cache" / "twincell"
    cache.mkdir(parents=True)
    cache.chmod(mode)
    person.commit({"old.py": OLD, "new.py": NEW})
    done = person.run("compare", "old.py", "new.py", "--budget", "5", "--context", "function")
    assert done.returncode == 1 and not any(cache.iterdir())
    assert "other users can write to it" in person.run("doctor").stdout


@AS_ROOT
@pytest.mark.parametrize("whose", ["cache", "above"])
def test_a_cache_of_another_user_is_not_used(person, whose):
    cache = person.home / ".cache" / "twincell"
    cache.mkdir(parents=True)
    os.chown(cache if whose == "cache" else cache.parent, STRANGER, STRANGER)
    person.commit({"old.py": OLD, "new.py": NEW})
    done = person.run("compare", "old.py", "new.py", "--budget", "5", "--context", "function")
    assert done.returncode == 1 and not any(cache.iterdir())


@pytest.mark.long
@AS_ROOT
def test_a_cache_that_is_a_link_of_another_user_is_not_used(person):
    elsewhere = person.home / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (person.home / ".cache").mkdir()
    (person.home / ".cache" / "twincell").symlink_to(elsewhere)
    os.lchown(person.home / ".cache" / "twincell", STRANGER, STRANGER)
    person.commit({"old.py": OLD, "new.py": NEW})
    done = person.run("compare", "old.py", "new.py", "--budget", "5", "--context", "function")
    assert done.returncode == 1 and not any(elsewhere.iterdir())


def without_home(person, temporary, *arguments):
    """Runs a command as a user without a home folder, who can write to temporary folders alone."""
    own = {"HOME": "/proc/none", "TMPDIR": str(temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    person.environment |= own
    return person.run(*arguments)


def test_without_a_home_folder_a_comparison_runs(person, temporary):
    person.commit({"old.py": OLD, "new.py": NEW})
    done = without_home(person, temporary, "compare", "old.py", "new.py", "--budget", "5", "--context", "function")
    assert done.returncode == 1, done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("planted", night(["folder", "link"], 1))
def test_without_a_cache_folder_nothing_has_a_name_that_others_know_before(person, temporary, planted):
    theirs = temporary / "twincell"
    if planted == "folder":
        (theirs / "projects").mkdir(parents=True)
        for folder in (theirs, theirs / "projects"):
            folder.chmod(0o777)
    else:
        elsewhere = person.home / "theirs"
        elsewhere.mkdir(mode=0o777)
        theirs.symlink_to(elsewhere)
    person.commit({"shop.py": SHOP, "test_shop.py": TESTS})
    person.commit({"shop.py": CHANGED})
    person.environment |= {"HOME": "/proc/none", "TMPDIR": str(temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = person.run(*AMPLIFY, "--python", sys.executable)
    assert done.returncode in (0, 1), done.stderr
    assert [path for path in theirs.rglob("*") if path.name != "projects"] == []
    assert [path.name for path in temporary.iterdir()] == ["twincell"]


def test_doctor_says_why_a_cache_is_not_used_and_cleans_nothing_of_others(person):
    cache = person.home / ".cache" / "twincell" / "projects"
    (cache / "w").mkdir(parents=True)
    (cache / "w" / "theirs").write_text("theirs")
    cache.chmod(0o777)
    person.run("doctor", "--clean")
    assert (cache / "w" / "theirs").exists()


# Libraries that `prefix --install` gets.


@pytest.fixture
def index(person):
    """Wheels as an index has them."""
    folder = person.home / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        person.environment[name] = ""
    person.environment |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PATH": "",
    }
    return folder


def installing(person, text):
    (person.repository / "snippet.py").write_text(text)
    done = person.run("prefix", "snippet.py", "--predictor", "frequency", "--install", "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


EVIL = "def which():\n    raise SystemExit('of alpha')\n"
GOOD = "def which():\n    return 'of beta'\n"


def test_a_wheel_brings_no_package_along_for_other_snippets(person, index):
    from ..cli.test_prefix_install import wheel

    wheel(index, "surely_alpha", {"surely_alpha.py": "x = 1\n", "surely_beta/__init__.py": EVIL})
    wheel(index, "surely_beta", {"surely_beta/__init__.py": GOOD})
    assert installing(person, "import surely_alpha\nprint(surely_alpha.x)\n")["covered"] == [1, 2]
    found = installing(person, "import surely_beta\nname = surely_beta.which()\nprint(name[3:7])\n")
    assert [one["problem"] for one in found["libraries"]] == [None]
    assert found["covered"] == [1, 2, 3] and found["nodes"][found["best"]]["text"] == ""


@pytest.mark.long
def test_a_wheel_stands_for_no_other_that_the_same_snippet_imports(person, index):
    from ..cli.test_prefix_install import wheel

    wheel(index, "surely_alpha", {"surely_alpha.py": "x = 1\n", "surely_beta/__init__.py": EVIL})
    wheel(index, "surely_beta", {"surely_beta/__init__.py": GOOD})
    found = installing(person, "import surely_alpha\nimport surely_beta\nname = surely_beta.which()\nprint(name)\n")
    assert found["covered"] == [1, 2, 3, 4] and found["nodes"][found["best"]]["text"] == ""


@pytest.mark.long
def test_installed_libraries_are_in_folders_of_their_own_for_nobody_else(person, index):
    from ..cli.test_prefix_install import wheel

    wheel(index, "surely_alpha")
    wheel(index, "surely_beta")
    installing(person, "import surely_alpha\nimport surely_beta\n")
    libraries = person.home / ".cache" / "twincell" / "libraries"
    folders = sorted(path.parent.name for path in libraries.rglob("site-packages"))
    assert folders == ["surely-alpha", "surely-beta"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in (libraries, *libraries.glob("*/*/")))


@pytest.mark.parametrize("mode", night([0o777, 0o775], 1))
def test_libraries_that_others_can_write_to_are_not_used(person, index, mode):
    from ..cli.test_prefix_install import wheel

    wheel(index, "surely_alpha")
    installing(person, "import surely_alpha\n")
    [folder] = (person.home / ".cache" / "twincell" / "libraries").iterdir()
    folder.chmod(mode)
    done = person.run("prefix", "snippet.py", "--predictor", "frequency", "--install")
    assert done.returncode not in (0, 1) and "other users can write to it" in done.stderr


@pytest.mark.long
@AS_ROOT
def test_libraries_of_another_user_are_not_used(person, index):
    from ..cli.test_prefix_install import wheel

    wheel(index, "surely_alpha")
    installing(person, "import surely_alpha\n")
    [folder] = (person.home / ".cache" / "twincell" / "libraries").iterdir()
    os.chown(folder, STRANGER, STRANGER)
    done = person.run("prefix", "snippet.py", "--predictor", "frequency", "--install")
    assert done.returncode not in (0, 1) and "belongs to another user" in done.stderr
