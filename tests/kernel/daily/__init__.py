"""Things that people do in notebooks every day, each done under ipykernel and under twincell's kernel.

Each file of this folder is a group of things. A thing is a text with cells, parted by lines `# %%`, or a table:

- `cells`: the text with the cells; `requests`: requests that follow them, each with its `type`. A request with
  `comm = N` goes to the Nth comm that the thing opened; one that has `code` alone runs another cell.
- `command`: a program to run beside `notebook.ipynb`, which has the cells; `{kernel}` is the name of the kernel.
- `answers`: what the front end answers to `input`; `interrupt_at`: a text after which it interrupts the cell.
- `error`: the exception that a cell has to end with; `shows`: a text that has to be among what comes out.
- `kinds`: texts differ from run to run, so that only statuses and kinds of messages are compared.
- `wait`: seconds for which outputs that come after the cells belong to the thing.
- `differs`: why the outcomes are not the same. docs/kernel.md lists these things.
- `fresh`: the thing has kernels of its own; `needs`: modules without which it is skipped. Both may stand at the top of
  a file, for all of its things.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import tomllib

from ..client import TIMEOUT, Client

FOLDER = Path(__file__).parent
#: The names of the kernels: ipykernel's comes first.
KERNELS = ("python3", "twincell")

#: What differs from run to run, and what stands for it.
VARYING = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\x1b\[[0-9;]*[A-Za-z]", ""),
        (r"0x[0-9a-fA-F]{4,}", "0x…"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{24}_\d+_\d+\b", "<id>"),
        (r"[0-9a-f]{32}", "<id>"),
        (r"^[0-9a-f]{16}$", "<id>"),
        (r"(?<= at )[0-9a-f]{8,}", "0x…"),
        (r"/[^\s\"':]*/(ipykernel|twincell)[-_][^/\s\"':]*/[^/\s\"':]*\.py", "<cell>"),
        (r"<ipython-input-\d+-[0-9a-f]+>", "<cell>"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d([.,]\d+)?)?", "<time>"),
        (r"\b\d+(\.\d+)?(e[-+]?\d+)? ?(ns|us|[µμ]s|ms|s|min|h)\b", "<time>"),
        (r"\b\d+\.\d+ seconds", "<time>"),
        (r"\b[\d,]+ loops? each", "<count>"),
        (r"127\.0\.0\.1(:| port )\d+", "<address>"),
        (r"localhost:\d+", "<address>"),
    )
]


@dataclass
class Thing:
    group: str
    name: str
    cells: list[str]
    requests: list[dict[str, Any]] = field(default_factory=list)
    command: str = ""
    answers: list[str] = field(default_factory=list)
    interrupt_at: str = ""
    error: str = ""
    shows: str = ""
    kinds: bool = False
    wait: float = 0
    differs: str = ""
    fresh: bool = False
    needs: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def missing(self) -> list[str]:
        return [module for module in self.needs if importlib.util.find_spec(module) is None]


def things() -> list[Thing]:
    """All things of all groups."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        group = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, told in group.pop("things").items():
            own = told if isinstance(told, dict) else {"cells": told}
            table = {**group, **own, "needs": [*group.get("needs", []), *own.get("needs", [])]}
            cells = [cell.strip("\n") for cell in re.split(r"^# %%\n", table.pop("cells", ""), flags=re.MULTILINE)]
            found.append(Thing(path.stem, name, [cell for cell in cells if cell], **table))
    return found


@dataclass
class Step:
    """What came of a cell, a request or a program."""

    reply: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[dict[str, Any]] = field(default_factory=list)


class Running:
    """A kernel in a folder of its own."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        self.folder = folder

    @classmethod
    @contextmanager
    def start(cls, kernel: str, folder: Path) -> Iterator[Running]:
        folder.mkdir(parents=True)
        with Client.start(kernel, cwd=str(folder), env=environment(folder)) as client:
            yield cls(client, folder)

    def clean(self) -> None:
        """Takes away what the thing before has left in the namespace."""
        self.client.run("%reset -f", store_history=False)
        self.client.run(f"__import__('os').chdir({str(self.folder)!r})", store_history=False)

    def do(self, thing: Thing) -> list[Step]:
        answers = list(thing.answers)
        steps = [self._cell(thing, code, answers) for code in thing.cells]
        for request in thing.requests:
            content = dict(request)
            if list(content) == ["code"]:
                steps.append(self._cell(thing, content["code"], answers))
                continue
            if "comm" in content:
                opened = [m for step in steps for m in step.messages if m["msg_type"] == "comm_open"]
                content["comm_id"] = opened[content.pop("comm")]["content"]["comm_id"]
            steps.append(self._request(content.pop("type"), content))
        if thing.wait:
            steps.append(Step({"status": "ok"}, self._later(thing.wait)))
        return steps

    def _cell(self, thing: Thing, code: str, answers: list[str]) -> Step:
        step = Step({})

        def output(message: dict[str, Any]) -> None:
            step.messages.append(message)
            text = message["content"].get("text", "") if message["msg_type"] == "stream" else ""
            if thing.interrupt_at and thing.interrupt_at in text:
                self.client.manager.interrupt_kernel()

        def ask(message: dict[str, Any]) -> None:
            step.prompts.append(message["content"])
            self.client.channels.input(answers.pop(0) if answers else "")

        reply = self.client.channels.execute_interactive(
            code, allow_stdin=True, timeout=TIMEOUT, output_hook=output, stdin_hook=ask
        )
        step.reply = reply["content"]
        return step

    def _request(self, msg_type: str, content: dict[str, Any]) -> Step:
        msg_id = self.client.request(msg_type, content, metadata=content.pop("metadata", None))
        if not msg_type.startswith("comm_") or msg_type == "comm_info_request":
            outcome = self.client.wait(msg_id)
            return Step(outcome.reply, outcome.messages)
        messages: list[dict[str, Any]] = []
        while not messages or messages[-1]["content"].get("execution_state") != "idle":
            message = self.client.channels.get_iopub_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") == msg_id:
                messages.append(message)
        return Step({"status": "ok"}, messages)

    def _later(self, seconds: float) -> list[dict[str, Any]]:
        messages = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                messages.append(self.client.channels.get_iopub_msg(timeout=left))
            except Empty:
                break
        return messages


def environment(folder: Path) -> dict[str, str]:
    """The programs of this Python come first, whether its environment is active or not."""
    # ipykernel leaves the output of other programs alone where it finds that pytest runs it.
    own = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    path = os.pathsep.join([str(Path(sys.executable).parent), own["PATH"]])
    return {
        **own,
        "PATH": path,
        "IPYTHONDIR": str(folder / ".ipython"),
        # Both kernels compile the same Cython at once, which they must not do in one cache.
        "XDG_CACHE_HOME": str(folder / ".cache"),
        # Sets are shown in the same order.
        "PYTHONHASHSEED": "0",
    }


def run_program(thing: Thing, kernel: str, folder: Path) -> list[Step]:
    """Runs the command of a thing beside its notebook."""
    folder.mkdir(parents=True)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code, id=f"cell-{n}") for n, code in enumerate(thing.cells)],
        metadata={"kernelspec": {"name": kernel, "display_name": "Python", "language": "python"}},
    )
    nbformat.write(notebook, folder / "notebook.ipynb")
    done = subprocess.run(
        thing.command.replace("{kernel}", kernel),
        shell=True,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        input="\n".join(thing.answers),
        timeout=10 * TIMEOUT,
    )
    status = {"status": "ok"} if done.returncode == 0 else {"status": "error", "ename": done.stderr[-1000:]}
    text = done.stdout.replace(kernel, "<kernel>")
    return [Step(status, [{"msg_type": "stream", "content": {"name": "stdout", "text": text}}])]


class Kernels:
    """Both kernels, started when they are first needed and shared by things that do each other no harm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started = 0
        self._running: list[Running] = []
        self._stack = ExitStack()

    def both(self, thing: Thing) -> list[list[Step]]:
        """What came of a thing under ipykernel, and under twincell's kernel."""
        if thing.command:
            self._started += 1
            folders = [self.folder / kernel / str(self._started) for kernel in KERNELS]
            with ThreadPoolExecutor() as pool:
                return list(pool.map(run_program, [thing] * len(KERNELS), KERNELS, folders))
        if thing.fresh or not all(running.client.manager.is_alive() for running in self._running):
            self.close()
        try:
            with ThreadPoolExecutor() as pool:
                if not self._running:
                    self._started += 1
                    folders = [self.folder / kernel / str(self._started) for kernel in KERNELS]
                    starts = [Running.start(kernel, folder) for kernel, folder in zip(KERNELS, folders, strict=True)]
                    self._running = list(pool.map(self._stack.enter_context, starts))
                else:
                    list(pool.map(Running.clean, self._running))
                return list(pool.map(lambda running: running.do(thing), self._running))
        except BaseException:
            self.close()
            raise
        finally:
            if thing.fresh:
                self.close()

    def close(self) -> None:
        self._stack.close()
        self._running = []


def plain(value: Any) -> Any:
    """A value without what differs from run to run."""
    if isinstance(value, str):
        for pattern, replacement in VARYING:
            value = pattern.sub(replacement, value)
        return re.sub(r"(/\S*)?/(python3|twincell)/\d+(?=[/\s'\"\]]|$)", "<folder>", value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


#: What the reply to a cell says of the cell. The rest is of the kernel (`engine`, `started`).
REPLY = ("status", "ename", "evalue", "payload", "user_expressions")
#: Of bundles, these are compared by their kind alone: pictures and scripts differ with ids inside.
BY_KIND = re.compile(r"image/(?!svg)|application/pdf|video/")


def outcome(step: Step, kinds: bool) -> dict[str, Any]:
    """What a user can see of a step, in a form that can be compared."""
    outputs: list[Any] = []
    for message in step.messages:
        kind, content = message["msg_type"], message["content"]
        if kind in ("status", "execute_input"):
            continue
        if kind == "stream":
            # Of two streams between other messages, the order is left to chance.
            if not outputs or outputs[-1][0] != "streams":
                outputs.append(("streams", {}))
            texts = outputs[-1][1]
            texts[content["name"]] = texts.get(content["name"], "") + content["text"]
        elif kinds:
            outputs.append((kind, sorted(content.get("data", {}))))
        else:
            content = {key: value for key, value in content.items() if key not in ("execution_count", "comm_id")}
            if kind != "comm_msg" and isinstance(content.get("data"), dict):
                content["data"] = {key: "…" if BY_KIND.match(key) else value for key, value in content["data"].items()}
            outputs.append((kind, content))
    reply = dict(step.reply)
    if "execution_count" in reply:
        reply = {key: reply[key] for key in REPLY if key in reply}
    if kinds:
        outputs = [(kind, sorted(told) if kind == "streams" else told) for kind, told in outputs]
        reply = {key: reply[key] for key in ("status", "ename") if key in reply}
    prompts = [{"prompt": prompt["prompt"], "password": prompt["password"]} for prompt in step.prompts]
    return plain({"reply": reply, "outputs": [list(output) for output in outputs], "prompts": prompts})


def problems(thing: Thing, steps: list[Step]) -> list[str]:
    """Why a thing does not work."""
    ends = [step.reply.get("ename", "error") for step in steps if step.reply["status"] in ("error", "aborted")]
    found = []
    if ends != ([thing.error] if thing.error else []):
        found.append(
            f"ended with {[(e, s.reply.get('evalue')) for e in ends for s in steps if s.reply.get('ename') == e]}"
        )
    everything = json.dumps([outcome(step, False) for step in steps], ensure_ascii=False)
    if json.dumps(thing.shows, ensure_ascii=False)[1:-1] not in everything:
        found.append(f"does not show {thing.shows!r}")
    return found


@dataclass
class Compared:
    """What came of a thing under both kernels."""

    thing: Thing
    #: Why it does not work there, and here.
    theirs: list[str]
    ours: list[str]
    #: The outcomes under ipykernel and here.
    outcomes: list[list[dict[str, Any]]]

    @property
    def same(self) -> bool:
        return self.outcomes[0] == self.outcomes[1]


def compare(thing: Thing, kernels: Kernels) -> Compared:
    """Does a thing under both kernels."""
    theirs, ours = kernels.both(thing)
    outcomes = [[outcome(step, thing.kinds) for step in steps] for steps in (theirs, ours)]
    return Compared(thing, problems(thing, theirs), problems(thing, ours), outcomes)
