"""Every step from packages to weights, at toy size, and the weights in twincell.

TWINCELL_TRAINING_PYTHON names the environment of tests/requirements-train.txt. `make test-long-training` makes it.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOY = ROOT / "models" / "train" / "configs" / "toy.toml"
PYTHON = os.environ.get("TWINCELL_TRAINING_PYTHON")

pytestmark = pytest.mark.skipif(not PYTHON, reason="TWINCELL_TRAINING_PYTHON names no environment for training")

MODULE = '''
import collections
from typing import Optional


class Account:
    def __init__(self, owner: str, balance: int = 0) -> None:
        self.owner = owner
        self.balance = balance

    def deposit(self, amount: int) -> int:
        self.balance = self.balance + amount
        return self.balance

    @property
    def label(self) -> str:
        """A name to show."""
        return self.owner.title()


class Items(dict):
    pass


def find(accounts: list[Account], owner: Optional[str]):
    for account in accounts:
        if account.owner == owner:
            return account
    return Items()


def count(words):
    counts = collections.Counter()
    for word in words:
        counts[word.lower()] += len("größe")
    return [
        "größe", len(words)
    ], len(words)
'''


def step(name: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess:
    command = [PYTHON, "-m", f"models.train.{name}", *map(str, arguments)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert not check or ran.returncode == 0, ran.stderr
    return ran


def same_networks(one: Path, other: Path) -> bool:
    """Whether two runs ended with the same weights."""
    compare = "import sys, torch; a, b = (torch.load(p, weights_only=True) for p in sys.argv[1:]); "
    compare += "sys.exit(not all(torch.equal(a[n], b[n]) for n in a))"
    return subprocess.run([PYTHON, "-c", compare, one / "network.pt", other / "network.pt"]).returncode == 0


def held_out(package: str) -> bool:
    return int.from_bytes(hashlib.sha1(f"held {package}".encode()).digest(), "big") % 8 == 0


def traced() -> list[dict]:
    """Functions whose values follow from names, in packages, some of which are held out."""
    classes = {"count": 2, "name": 4, "items": 5, "options": 7, "callback": 9, "ready": 1}
    found = []
    for number in range(160):
        package = f"package{number % 32}"
        first, second = (list(classes)[(number + shift) % len(classes)] for shift in (0, 1 + number % 3))
        text = f"def f{number}({first}, {second}):\n    é = {first}\n    return {second}, {number}\n"
        sites = []
        for name in (first, second):
            start = text.rindex(name)
            counts = {str(classes[name]): 3}
            sites.append({"start": start, "end": start + len(name), "kind": "name", "counts": counts})
        found.append({"package": package, "file": "f.py", "qualname": f"f{number}", "text": text, "sites": sites})
    return found


def write(path: Path, functions: list[dict]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(function) + "\n" for function in functions)
    return path


def read(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    wheels = folder / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "bank-1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("bank/__init__.py", MODULE)
        wheel.writestr("bank/py.typed", "")
        wheel.writestr("bank/broken.py", "def f(:\n")
        wheel.writestr("../outside.py", "def outside(): return 1\n")
    (folder / "packages.txt").write_text("bank  # a wheel that is there\nflask\n")
    step("corpus", folder / "out", "--packages", folder / "packages.txt", "--wheels", wheels)
    return folder / "out"


@pytest.fixture(scope="module")
def data(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    traces = write(folder / "traces.jsonl.gz", traced())
    step("tokenizer", folder / "tokenizer.json", "--settings", TOY, "--from", corpus, traces)
    for name, source, more in (("traces", traces, ()), ("corpus", corpus, ("--apart", traces))):
        step("encode", folder / f"{name}.npz", "--tokenizer", folder / "tokenizer.json", "--from", source, *more)
    return folder


@pytest.fixture(scope="module")
def model(data):
    step("pretrain", data / "pretrained", "--settings", TOY, "--data", data / "corpus.npz")
    after = data / "pretrained" / "network.pt"
    step("finetune", data / "finetuned", "--settings", TOY, "--data", data / "traces.npz", "--after", after)
    network = data / "finetuned" / "network.pt"
    step("evaluate", data / "figures.json", "--settings", TOY, "--data", data / "traces.npz", "--network", network)
    tokenizer = data / "tokenizer.json"
    more = ("--tokenizer", tokenizer, "--data", data / "traces.npz")
    step("export", data / "model", "--settings", TOY, "--network", network, *more)
    return data / "model"


def test_the_corpus_has_each_function_with_the_classes_that_its_types_say(corpus):
    functions = {function["qualname"]: function for function in read(corpus / "bank.jsonl.gz")}
    assert set(functions) == {"Account.__init__", "Account.deposit", "Account.label", "find", "count"}
    assert functions["Account.label"]["text"].startswith("def label(self) -> str:\n    ")

    def classes(function: str) -> dict[str, list[str]]:
        text, found = functions[function]["text"], functions[function]["sites"]
        return {text[site["start"] : site["end"]]: sorted(site["counts"]) for site in found}

    assert classes("Account.deposit") == {"self": ["11"], "self.balance": ["2"], "amount": ["2"]}
    assert classes("find")["owner"] == ["0", "4"]
    # A subclass of dict is an object.
    assert classes("find")["Items()"] == ["11"]
    # Where a line is not ASCII, nothing is said; and what is not annotated is not known.
    assert classes("count")["len(words)"] == ["2"]
    assert 'len("größe")' not in classes("count")
    assert "word.lower()" not in classes("count")


def test_the_corpus_takes_nothing_that_the_papers_evaluate_on_and_goes_on_where_it_was(corpus):
    manifest = json.loads((corpus / "manifest.json").read_text())
    assert set(manifest) == {"bank"}
    assert manifest["bank"]["version"] == "1.2"
    before = (corpus / "bank.jsonl.gz").stat().st_mtime_ns
    step("corpus", corpus, "--packages", corpus.parent / "packages.txt", "--wheels", corpus.parent / "wheels")
    assert (corpus / "bank.jsonl.gz").stat().st_mtime_ns == before


def test_what_is_held_out_is_measured_and_beats_counting(model, data):
    figures = json.loads((data / "figures.json").read_text())
    splits = figures["splits"]
    assert set(splits) == {"sample", "function", "package"}
    held = {f"package{number}" for number in range(32) if held_out(f"package{number}")}
    assert splits["package"]["network"]["sites"] == 10 * len(held) > 0
    for split in splits.values():
        assert split["network"]["top1"] > 0.9 > split["majority"]["top1"]
        assert split["network"]["top5"] >= split["network"]["top3"] >= split["network"]["top1"]
        assert 0 <= split["network"]["ece"] <= 1
    assert figures["temperature"] > 0


def test_the_weights_are_a_model_that_twincell_predicts_with(model, tmp_path):
    file = tmp_path / "new.py"
    file.write_text("def g(options, name):\n    return name, options\n")
    command = [sys.executable, "-m", "twincell", "predict", str(file), "--json", "--model", str(model)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    text = file.read_text()
    likeliest = {}
    for site in json.loads(ran.stdout):
        likeliest[text[site["start"] : site["end"]]] = max(range(12), key=site["probabilities"].__getitem__)
    assert likeliest == {"name": 4, "options": 7}
    frequency = json.loads((model / "frequency.json").read_text())
    assert max(range(12), key=frequency["name"]["options"].__getitem__) == 7


def killed_with_a_checkpoint(out: Path, data: Path, *more: object) -> None:
    """Begins to pretrain from nothing, with a checkpoint after each step, and is killed after one."""
    out.mkdir()
    settings = out / "settings.toml"
    settings.write_text(TOY.read_text().replace("checkpoint = 1", "checkpoint = 0"))
    arguments = (out, "--settings", settings, "--data", data / "corpus.npz", *more)
    command = [PYTHON, "-m", "models.train.pretrain", *map(str, arguments)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not (out / "checkpoint.pt").exists() and running.poll() is None:
        time.sleep(0.005)
    running.kill()
    running.wait()


def test_a_run_that_was_killed_ends_as_one_that_was_not(data):
    """The weights are those of the run of the other tests, byte for byte."""
    out = data / "killed"
    killed_with_a_checkpoint(out, data)
    assert (out / "checkpoint.pt").exists()
    step("pretrain", out, "--settings", TOY, "--data", data / "corpus.npz")
    if not (data / "pretrained" / "network.pt").exists():
        step("pretrain", data / "pretrained", "--settings", TOY, "--data", data / "corpus.npz")
    assert same_networks(out, data / "pretrained")


def test_a_pretrained_network_is_pretrained_further(data, tmp_path):
    pretrained = data / "pretrained"
    corpus = ("--settings", TOY, "--data", data / "corpus.npz")
    if not (pretrained / "network.pt").exists():
        step("pretrain", pretrained, *corpus)
    after = ("--after", pretrained / "network.pt", "--seed", 2)
    step("pretrain", tmp_path / "same", *corpus, *after, "--tokens", 0)
    assert same_networks(tmp_path / "same", pretrained)
    step("pretrain", tmp_path / "more", *corpus, *after, "--tokens", 4096)
    assert not same_networks(tmp_path / "more", pretrained)
    # A checkpoint of a run from nothing does not start a run from a network.
    out, tokens = tmp_path / "killed", ("--tokens", 10**9)
    killed_with_a_checkpoint(out, data, *tokens)
    refused = step("pretrain", out, *corpus, *tokens, "--after", pretrained / "network.pt", check=False)
    assert refused.returncode == 1 and "another network to begin with" in refused.stderr


def test_what_cannot_be_read_is_one_line(tmp_path, data):
    other = tmp_path / "other.toml"
    other.write_text(TOY.read_text().replace("width = 32", "width = 16"))
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"package": "p", "text": "def f(): 0", "sites": []}\n{"package": "p"}\n'))
    text = tmp_path / "text"
    text.write_text("nothing of it")
    pretrained, network = data / "pretrained", data / "pretrained" / "network.pt"
    if not network.exists():
        step("pretrain", pretrained, "--settings", TOY, "--data", data / "corpus.npz")
    tokens = ("--tokenizer", data / "tokenizer.json")
    wrong = [
        (("encode", tmp_path / "o.npz", *tokens, "--from", broken), "broken.jsonl.gz, line 2: `sites` is missing"),
        (("encode", tmp_path / "o.npz", *tokens, "--from", tmp_path), "`sites` is missing"),
        (("encode", tmp_path / "o.npz", "--tokenizer", text, "--from", broken), "text is not a tokenizer"),
        (("encode", tmp_path / "o.npz", *tokens, "--from", tmp_path / "no"), "No such file"),
        (("pretrain", tmp_path / "out", "--settings", TOY, "--data", text), "text was not written by `encode`"),
        (
            ("finetune", tmp_path / "out", "--settings", other, "--data", data / "traces.npz", "--after", network),
            "holds no network of this shape",
        ),
    ]
    for (name, *arguments), said in wrong:
        ran = step(name, *arguments, check=False)
        assert ran.returncode == 1
        assert said in ran.stderr
        assert "Traceback" not in ran.stderr


def test_settings_that_are_wrong_say_where(tmp_path, data):
    file = tmp_path / "size.toml"
    file.write_text(TOY.read_text().replace("layers = 2", "layer = 2"))
    ran = step("pretrain", tmp_path / "out", "--settings", file, "--data", data / "corpus.npz", check=False)
    assert ran.returncode != 0
    assert "[shape]: `layers` is missing" in ran.stderr
    assert "Traceback" not in ran.stderr
