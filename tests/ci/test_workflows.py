"""The workflows are thin: each step is an action with a fixed commit or a target of the Makefile."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEFINITIONS = [*WORKFLOWS, ROOT / "action.yml", *(ROOT / ".github" / "actions").glob("*/action.yml")]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def jobs(workflow: Path) -> dict[str, dict]:
    return yaml.safe_load(workflow.read_text())["jobs"]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=names(DEFINITIONS))
def test_actions_of_others_have_a_fixed_commit_and_its_version_beside_it(definition):
    for used in re.findall(r"uses: (.+)", definition.read_text()):
        assert used.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", used), used


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=names(WORKFLOWS))
def test_each_step_of_a_workflow_makes_a_target(workflow):
    for job in jobs(workflow).values():
        parts = job.get("strategy", {}).get("matrix", {}).get("part", [""])
        runs = [step["run"] for step in job["steps"] if "run" in step]
        for run in {run.replace("${{ matrix.part }}", part) for run in runs for part in parts}:
            command, target, *_ = run.split()
            assert command == "make" and target in TARGETS, run


def test_the_night_runs_every_part_of_the_long_tests():
    parts = {target.removeprefix("test-long-") for target in TARGETS if target.startswith("test-long-")}
    assert set(jobs(ROOT / ".github" / "workflows" / "nightly.yml")["long"]["strategy"]["matrix"]["part"]) == parts


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=names(WORKFLOWS))
def test_each_job_ends_and_may_only_read(workflow):
    assert yaml.safe_load(workflow.read_text())["permissions"] == {"contents": "read"}
    for name, job in jobs(workflow).items():
        assert job["timeout-minutes"] <= 180, name


def test_every_python_and_platform_that_the_package_names_is_tested():
    matrix = jobs(ROOT / ".github" / "workflows" / "tests.yml")["test"]["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix["python"] == named
    systems = {*matrix["os"], *(one["os"] for one in matrix["include"])}
    assert {re.sub(r"-[\d.]+", "", system) for system in systems} == {"ubuntu", "ubuntu-arm", "macos"}


def test_workflows_use_the_rust_that_the_workspace_asks_for():
    setup = (ROOT / ".github" / "actions" / "setup" / "action.yml").read_text()
    asked = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert set(re.findall(r"rustup (?:toolchain install|default) (\S+)", setup)) == {f"{asked.group(1)}.0"}
