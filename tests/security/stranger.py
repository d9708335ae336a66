"""A person's machine in small, and a stranger's change that the person looks at with twincell."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What no attack may bring to light. Each file of the person's that twincell closes holds it.
SECRET = "S3CRET-5b1f0c-of-the-person"

#: The identity of every commit.
AUTHOR = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")


@dataclass
class Machine:
    """A home folder with secrets, and a repository in it that gets changes from strangers."""

    home: Path
    #: What attacks leave to say that they ran where they should not.
    proof: Path = field(init=False)
    repository: Path = field(init=False)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.proof = self.home / "proof"
        self.repository = self.home / "code" / "project"
        self.repository.mkdir(parents=True)
        for name in (".ssh/id_rsa", ".netrc", ".config/service/token"):
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SECRET)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.repository), *AUTHOR, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=self.environ()).stdout

    def commit(self, files: Mapping[str, str | None], subject: str = "Change") -> str:
        """Writes files, or removes those without content, and commits them."""
        for name, text in files.items():
            file = self.repository / name
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD").strip()

    def environ(self) -> dict[str, str]:
        """The person's environment: a home of their own and nothing else that is special."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTEST_", "TWINCELL_"))
        }
        return own | {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"} | self.environment

    def run(
        self, *arguments: str, cwd: Path | None = None, program: Sequence[str] = (), timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """twincell, or another program of the environment, as the person starts it in the repository."""
        command = [*(program or (sys.executable, "-m", "twincell")), *arguments]
        return subprocess.run(
            command,
            cwd=cwd or self.repository,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )

    def run_watching(
        self, name: str, *arguments: str, **options: Any
    ) -> tuple[subprocess.CompletedProcess[str], dict[Path, str]]:
        """Like `run`. Also what files with this name hold meanwhile in the cache, from where all goes at the end."""
        found: dict[Path, str] = {}
        ended = threading.Event()

        def watch() -> None:
            while not ended.is_set():
                # Folders go while they are listed.
                with contextlib.suppress(OSError):
                    for file in (self.home / ".cache").rglob(name):
                        found[file] = file.read_text()
                time.sleep(0.01)

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            done = self.run(*arguments, **options)
        finally:
            ended.set()
            watching.join()
        return done, found

    def is_out(self, *outputs: str) -> list[str]:
        """Where the secret came to light: outputs, and files other than those that hold it on purpose."""
        found = [f"output {number}" for number, text in enumerate(outputs) if SECRET in text]
        own = {self.home / name for name in (".ssh/id_rsa", ".netrc", ".config/service/token")}
        for file in self.home.rglob("*"):
            if file not in own and file.is_file() and not file.is_symlink() and SECRET.encode() in file.read_bytes():
                found.append(str(file.relative_to(self.home)))
        return found


def machine(folder: Path) -> Machine:
    """A new machine in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Machine(folder)
