"""Two users on one machine, neither of whom may reach into what the other has."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from .test_trust import QUICK

#: Nobody's numbers.
USERS = (64_201, 64_202)
OLD = "def price(n):\n    return n * 2\n"
#: Python may lie in a folder of root's. A file system of the command's own shows it, without the rest of the folder.
SHOW = """set -e
mkdir -p "$3" && mount --bind "$2" "$3"
mount -t tmpfs -o mode=755 none "$1"
mkdir -p "$2" && mount --bind "$3" "$2"
shift 3
exec "$@"
"""


def closed_folder() -> Path | None:
    """The outermost folder around Python that is closed to other users."""
    outermost_first = reversed(Path(sys.base_prefix).parents)
    return next((folder for folder in outermost_first if not folder.stat().st_mode & stat.S_IXOTH), None)


def as_user(user: int, *command: str, folder: Path, home: str | None = None) -> subprocess.CompletedProcess[str]:
    """A command of another user, with the temporary folder of all and perhaps without a home."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "VIRTUAL_ENV")}
    environment = kept | ({"HOME": home} if home else {})
    started = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    with tempfile.TemporaryDirectory() as own:
        if closed := closed_folder():
            show = ["sh", "-c", SHOW, "sh", str(closed), sys.base_prefix, f"{own}/shown"]
            started = ["unshare", "--mount", *show, *started]
        return subprocess.run(started, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def can_run(user: int) -> bool:
    if os.geteuid() != 0 or not (shutil.which("setpriv") and shutil.which("unshare")):
        return False
    return as_user(user, sys.executable, "-c", "import twincell", folder=Path("/")).returncode == 0


pytestmark = pytest.mark.skipif(not can_run(USERS[0]), reason="it takes root to be several users")


@pytest.fixture
def shared():
    """A folder that all users reach."""
    folder = Path(tempfile.mkdtemp(prefix="users-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def files_of(user: int, folder: Path) -> Path:
    own = folder / str(user)
    own.mkdir()
    (own / "old.py").write_text(OLD)
    (own / "new.py").write_text(OLD.replace("2", "3"))
    for path in (own, *own.iterdir()):
        os.chown(path, user, user)
    return own


def belonging_to(user: int, folder: Path) -> dict[Path, int]:
    """What a user has below a folder, with its mode; without links and without folders of these tests."""
    found = {}
    # What others have there goes meanwhile.
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith("users-")]
        for path in (Path(place, name) for name in (*folders, *files)):
            with contextlib.suppress(FileNotFoundError):
                about = path.lstat()
                if about.st_uid == user and not stat.S_ISLNK(about.st_mode):
                    found[path] = stat.S_IMODE(about.st_mode)
    return found


def test_two_users_without_a_home_each_get_their_result_and_leave_nothing_open(shared):
    for user in USERS:
        folder = files_of(user, shared)
        done = as_user(user, sys.executable, "-m", "twincell", "compare", "old.py", "new.py", *QUICK, folder=folder)
        assert done.returncode == 1 and "price" in done.stdout, done.stderr
        left = belonging_to(user, Path(tempfile.gettempdir()))
        assert not {path: oct(mode) for path, mode in left.items() if mode & 0o077}


@pytest.mark.long
def test_a_cache_of_another_user_is_not_used(shared):
    first, second = USERS
    home = shared / "home"
    home.mkdir()
    os.chown(home, first, first)
    home.chmod(0o755)
    for user in (first, second):
        folder = files_of(user, shared)
        command = (sys.executable, "-m", "twincell", "compare", "old.py", "new.py", *QUICK)
        done = as_user(user, *command, folder=folder, home=str(home))
        assert done.returncode == 1, done.stderr
    assert not belonging_to(second, home)
    left = belonging_to(first, home)
    assert not {path: oct(mode) for path, mode in left.items() if mode & 0o077}


def git(folder: Path, user: int, *arguments: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(
        ["git", "-C", str(folder), *author, *arguments], check=True, capture_output=True, user=user, group=user
    )


@pytest.mark.parametrize("command", ["compare", pytest.param("mine", marks=pytest.mark.long)])
def test_a_repository_of_another_user_is_not_read_and_it_is_said_what_to_do(shared, command):
    first, second = USERS
    folder = files_of(first, shared)
    git(folder, first, "init", "--quiet")
    git(folder, first, "add", "--all")
    git(folder, first, "commit", "--quiet", "--message", "a")
    (folder / "old.py").write_text(OLD.replace("2", "4"))
    arguments = {"compare": ("--git", "HEAD"), "mine": (str(folder),)}[command]
    home = shared / "home"
    home.mkdir()
    os.chown(home, second, second)
    run = (sys.executable, "-m", "twincell", command, *arguments)
    done = as_user(second, *run, folder=folder, home=str(home))
    assert (done.returncode, done.stdout) == (3, ""), done.stdout
    assert "belongs to another user" in done.stderr and f"safe.directory {folder}" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
    # Whoever trusts it says so to git.
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {folder}\n")
    done = as_user(second, *run, folder=folder, home=str(home))
    assert "belongs to another user" not in done.stderr, done.stderr
