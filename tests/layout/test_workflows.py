"""The workflows do what the checkout has: `.ci/run`, targets of the Makefile, the Pythons that the package names."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in (ROOT / ".github/workflows").glob("*.yml")}
STEPS = [step for workflow in WORKFLOWS.values() for job in workflow["jobs"].values() for step in job["steps"]]
LINES = "\n".join(step["run"] for step in STEPS if "run" in step)
CHECK = (ROOT / ".ci/run").read_text("utf-8")
PAGES = [file.read_text("utf-8") for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))]
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
NAMED = re.compile(r"^(?:\$ )?make (?:-j\d+ )?([a-z-]+(?: [a-z-]+)*)", re.MULTILINE)


def _targets(lines: str) -> set[str]:
    return {target for named in NAMED.findall(lines) for target in named.split()}


def _code(page: str) -> str:
    return "\n".join(re.findall(r"`+([^`]+)`+", page))


@pytest.mark.parametrize("lines", [LINES, CHECK, "\n".join(map(_code, PAGES))])
def test_every_target_that_a_workflow_or_a_page_names_is_one_of_the_makefile(lines: str) -> None:
    assert _targets(lines)
    assert _targets(lines) <= TARGETS


def test_a_change_passes_the_whole_check_on_every_python_that_the_package_names() -> None:
    job = WORKFLOWS["checks"]["jobs"]["all"]
    assert any(step.get("run", "").endswith(".ci/run") for step in job["steps"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [name.rsplit(" ", 1)[-1] for name in project["classifiers"] if " :: 3." in name]
    assert job["strategy"]["matrix"]["python"] == versions
    assert project["requires-python"] == f">={versions[0]}"


def test_the_whole_check_makes_lint_tests_and_every_page() -> None:
    assert _targets(CHECK) >= {"lint", "test", "reproduce"}


@pytest.mark.parametrize("name", ["classify", "view", "agreement", "judge check", "audit"])
def test_the_wheel_alone_runs_what_the_guarantees_say(name: str) -> None:
    promised = (ROOT / "docs/guarantees.md").read_text("utf-8")
    assert f"`{name}`" in re.search(r"^The wheel alone runs .*$", promised, re.MULTILINE)[0]
    assert f"\nmisstep {name} " in WORKFLOWS["checks"]["jobs"]["wheel"]["steps"][3]["run"]


def test_a_stranger_finds_how_to_report_and_to_help() -> None:
    wanted = ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "LICENSE", ".github/PULL_REQUEST_TEMPLATE.md")
    assert [name for name in wanted if not (ROOT / name).read_text("utf-8").strip()] == []
    templates = [yaml.safe_load(file.read_text("utf-8")) for file in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")]
    assert sum("body" in template for template in templates) == 2
    assert (ROOT / "CONTRIBUTING.md").read_text("utf-8").count("\n") <= 120


def test_an_action_and_a_package_of_npm_have_a_version() -> None:
    assert [step["uses"] for step in STEPS if not re.search(r"@v\d", step.get("uses", "@v1"))] == []
    assert re.findall(r"(?:npm install|npx) .*", LINES)
    assert [
        line for line in re.findall(r"(?:npm install|npx) .*", LINES) if not re.search(r"@\d+\.\d+\.\d+", line)
    ] == []
