"""The whole proof of the sandbox is due where one of its own files changed, too."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_of_the_proof_is_one_that_it_rests_on():
    spec = importlib.util.spec_from_file_location("proven", ROOT / ".ci" / "proven.py")
    proven = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(proven)
    files = [file for file in (ROOT / "tests").rglob("*.py") if file != Path(__file__)]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    marked = {file for file, text in texts.items() if "SANDBOX" in text or "mark.sandbox" in text}
    assert {str(file.relative_to(ROOT)) for file in marked} <= set(proven.PARTS["sandbox"])
