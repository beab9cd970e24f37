"""A classifier from another package that breaks costs its own category: the others are judged, and it is named."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from misstep import classify
from misstep_harness.errors import UsageError
from tests.misstep.installed import installed
from tests.misstep.made_up import atif_lines

RULES = """
import sys
from misstep_harness.verdict import Verdict


class Odd:
    CATEGORY = "odd"

    def classify(self, trajectory):
        {body}


odd = Odd()
"""

BODIES = {
    "raises": 'raise ValueError("no\\nrule")',
    "ends the process": "sys.exit(3)",
    "calls itself for ever": "return self.classify(trajectory)",
    "gives nothing": "return None",
    "gives another's verdict": 'return Verdict(trajectory.id, "infinite_loop", "no")',
    "gives the verdict on another run": 'return Verdict("other", "odd", "no")',
    "gives another label": 'return Verdict(trajectory.id, "odd", "maybe")',
    "gives steps that are not numbers": 'return Verdict(trajectory.id, "odd", "yes", steps=("first",))',
    "gives what no file can hold": 'return Verdict(trajectory.id, "odd", "yes", rationale=object())',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a package with a classifier named `odd` is installed, its module still to be written."""
    atif_lines(tmp_path / "runs.jsonl", (f"r{number}" for number in range(5)))
    with installed(tmp_path, {"misstep.classifiers": {"odd": "odd_rules:odd"}}, monkeypatch, "odd-rules"):
        yield tmp_path


def _classified(folder: Path, *more: str) -> Result:
    return CliRunner().invoke(classify.app, [str(folder / "runs.jsonl"), *more])


@pytest.mark.parametrize("name", BODIES)
def test_what_a_plug_in_does_costs_its_own_category_alone(folder: Path, name: str) -> None:
    (folder / "odd_rules.py").write_text(RULES.format(body=BODIES[name]))
    result = _classified(folder, "--json")
    outcome = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(one["category"], one["count"]) for one in outcome["failed"]] == [("odd", 5)]
    assert "the classifier 'odd' (odd_rules:odd of the package odd-rules) failed: " in result.stderr
    assert outcome["categories"]["infinite_loop"]["abstained"] == 0
    assert (outcome["categories"]["odd"]["abstained"], outcome["categories"]["odd"]["share"]) == (5, None)


def test_a_run_keeps_the_verdicts_of_the_others_and_the_error_of_the_plug_in(folder: Path) -> None:
    (folder / "odd_rules.py").write_text(RULES.format(body=BODIES["raises"]))
    for _ in range(2):
        assert _classified(folder, "--out", str(folder / "run")).exit_code == 1
    verdicts = [json.loads(line) for line in (folder / "run" / "verdicts.jsonl").read_text().splitlines()]
    of_plugin = [one for one in verdicts if one["judge"] == "odd"]
    assert {(one["label"], one["status"]) for one in of_plugin} == {(None, "failed")}
    assert all(one["error"].endswith("failed: ValueError: no rule") for one in of_plugin)
    assert {one["status"] for one in verdicts if one["judge"] in ("infinite_loop", "tool_call_failure")} == {"answered"}


@pytest.mark.parametrize("module", ["raise RuntimeError('no licence')", "def (", "", "odd = 1", "raise SystemExit(4)"])
def test_a_plug_in_that_cannot_be_loaded_costs_its_own_category_unless_it_is_asked_for(folder, module) -> None:
    (folder / "odd_rules.py").write_text(module)
    result = _classified(folder, "--json")
    assert (result.exit_code, json.loads(result.stdout)["failed"][0]["count"]) == (1, 5)
    if module != "odd = 1":
        assert isinstance(_classified(folder, "--categories", "odd").exception, UsageError)


def test_a_changed_rule_reads_everything_again_also_where_only_its_helper_changed(folder: Path) -> None:
    (folder / "odd_rules.py").unlink(missing_ok=True)
    package = folder / "odd_rules"
    package.mkdir()
    (package / "__init__.py").write_text(RULES.format(body="return Verdict(trajectory.id, 'odd', LABEL)"))
    with (package / "__init__.py").open("a") as module:
        module.write("from odd_rules.labels import LABEL\n")

    def classified(label: str) -> tuple[int, str]:
        (package / "labels.py").write_text(f"LABEL = {label!r}\n")
        line = [sys.executable, "-m", "misstep", "classify", "runs.jsonl", "--out", "run", "--json"]
        path = {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
        done = subprocess.run(line, cwd=folder, env=os.environ | path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["categories"]["odd"]["count"], done.stderr

    assert classified("no") == (0, "")
    count, printed = classified("yes")
    assert count == 5
    assert printed.startswith("misstep: run was made by other rules (classifier odd): all is read again.\n")
    count, printed = classified("yes")
    assert count == 5
    assert printed.startswith("misstep: nothing new since ")
