"""The rule judges of triage cases and the baseline are judges like any other."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.fault_mappings import FAULTS
from misstep_harness.items import Item, Question
from misstep_harness.judges.runnable import fitted
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.trajectory import Step
from misstep_harness.triage.records import TriageVerdict
from misstep_harness.triage.runs.judges import RULES
from tests.harness.triage.made_up_cases import a_run, shell, triage_case, written

QUESTION = Question("cases", "triage", dict.fromkeys(FAULTS, ""))
LOG = "FAIL: test_total\nAssertionError: 2 != 3\n\nFAILED (failures=1)\n"


def verdict_of(name: str, folder: Path) -> TriageVerdict:
    judge = fitted(known_judge(name), QUESTION, folder)
    item = Item("item-1", "triage", task="x", extra={"case": "one"})
    verdict = asyncio.run(judge.judge.judge(item, None, None))  # type: ignore[arg-type]
    assert isinstance(verdict, TriageVerdict)
    return verdict


@pytest.mark.parametrize("name", [*RULES])
def test_each_attributes_a_failed_run_under_its_own_name(tmp_path, name):
    run = written(a_run(shell("cat price.py"), Step("agent", "It is done.")))
    triage_case(tmp_path / "one", {"logs/tests.log": LOG, "trajectory.json": run})
    verdict = verdict_of(name, tmp_path)
    assert (verdict.judge, verdict.item, verdict.label) == (name, "item-1", "agent")
    assert verdict.rationale
    assert verdict.evidence
    assert verdict.score is None


def test_one_that_cannot_tell_abstains_and_says_why(tmp_path):
    case = triage_case(tmp_path / "one", {"case.toml": 'id = "one"\n'})
    (case.folder / "instruction.md").unlink()
    verdict = verdict_of("triage@rules-text", tmp_path)
    assert (verdict.label, verdict.status) == (None, "abstained")
    assert verdict.rationale
