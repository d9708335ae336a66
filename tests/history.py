"""Small histories for tests of `slice` and `blame`."""

from __future__ import annotations

import subprocess
from pathlib import Path

TEST = "from shop import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
#: Of the last five commits, the tests need the two that have to do with the tax.
COMMITS = [
    ("Begin", {"shop.py": "def price(n):\n    return n\n"}),
    ("Say what it is", {"README.md": "Shop\n"}),
    ("Add a tax", {"tax.py": "def tax(n):\n    return 2 * n\n"}),
    ("Do something else", {"other.py": "def other():\n    return 1\n"}),
    ("Use the tax", {"shop.py": "from tax import tax\n\n\ndef price(n):\n    return tax(n)\n"}),
    ("Test the tax", {"tests/test_shop.py": TEST}),
]


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@example.com", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(repository: Path, subject: str, files: dict[str, str]) -> str:
    """Commits files, and returns the hash."""
    for name, text in files.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", subject)
    return git(repository, "rev-parse", "HEAD").strip()


def shop(folder: Path) -> Path:
    """A repository with these commits."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for subject, files in COMMITS:
        commit(folder, subject, files)
    return folder
