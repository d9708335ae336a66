"""The policy of a project, as the library and the magics read it."""

from pathlib import Path

import pytest
import twincell
from twincell import _twincell

OLD = "import logging\ndef f(x):\n    logging.info('a')\n    return x\n"
NEW = "import logging\ndef f(x):\n    logging.info('b')\n    return x\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.twincell]\nignore = ["log"]\nbudget = 30\npredictor = "frequency"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_library_reads_it(project: Path):
    comparison = twincell.compare(OLD, NEW)
    assert comparison.verdict == "likely_preserving"
    assert comparison.to_dict()["budget"] == 30
    assert comparison.pairs[0]["set_aside"][0]["rule"] == {"kind": "ignore", "what": "log"}
    assert twincell.compare(OLD, NEW, ignore="output").verdict == "changing"
    assert twincell.compare(OLD, NEW, policy="none", predictor="frequency").verdict == "changing"


def test_the_magics_read_it(project: Path):
    cell = f"{OLD}# ---\n{NEW}"
    assert _twincell.compare_cell("", cell).comparison.verdict == "likely_preserving"
    assert _twincell.compare_cell("--ignore calls", cell).comparison.verdict == "changing"


def test_a_study_reads_it(project: Path):
    (row,) = twincell.study([{"old": OLD, "new": NEW}], progress=False)
    assert row["verdict"] == "likely_preserving"


def test_a_wrong_policy_is_one_line(project: Path):
    (project / "pyproject.toml").write_text("[tool.twincell]\nbuget = 3\n")
    with pytest.raises(
        twincell.TwincellError, match=r"^pyproject.toml:2: there is no setting buget: did you mean budget\?$"
    ):
        twincell.compare(OLD, NEW)
