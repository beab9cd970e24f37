"""The project's own ablation is made anew by one command, and what the recording says is what runs say."""

from pathlib import Path

from msgspec import structs

from misstep_analysis.reflexive.runs import About
from misstep_analysis.reproduction.reflexive.ablation import (
    HARDENING,
    ablation_of,
    made_again,
    not_as_recorded,
    record_anew,
    recorded_ablation,
    recorded_runs,
)
from misstep_harness.reflexive.records import MECHANISMS
from misstep_harness.reflexive.runs.running import AblationPlan
from misstep_harness.reflexive.runs.skills import SkillOptions
from misstep_harness.workspace import Sandbox
from tests.harness.repair.conftest import sandbox as sandbox

PLAN = AblationPlan((0, 1), options=SkillOptions(n=4), mechanisms=("typed_evaluation", "memory"))


def test_an_ablation_is_recorded_whole_in_the_order_of_the_mechanisms(tmp_path: Path) -> None:
    recorded = record_anew(PLAN, tmp_path / "ablation", About("Four items", "python -m studies.reflexive.ablation"))
    assert len(recorded.runs) == 2 * (2 + len(PLAN.mechanisms))
    result = ablation_of(recorded.runs)
    assert [one.name for one in result.others] == ["memory", "typed_evaluation", "all off"]
    assert recorded_runs(tmp_path) == recorded.runs


def test_a_recorded_run_that_comes_out_otherwise_is_found(tmp_path: Path) -> None:
    recorded = record_anew(PLAN, tmp_path / "ablation", About("Four items", "python -m studies.reflexive.ablation"))
    first, *others = recorded.runs
    assert not_as_recorded(recorded.runs, recorded.runs) == []
    assert not_as_recorded(recorded.runs, [structs.replace(first, attempts=99), *others]) == [first]
    assert not_as_recorded(recorded.runs, ()) == []


def test_without_a_recording_there_are_no_runs(tmp_path: Path) -> None:
    assert recorded_ablation(tmp_path) is None
    assert recorded_runs(tmp_path) == ()


def test_what_is_recorded_is_what_the_loop_has_today() -> None:
    recorded = recorded_runs()
    assert {name for run in recorded for name in run.without} in (set(MECHANISMS), set())
    assert all(run.finished for run in recorded)


def test_the_runs_on_configuration_files_come_out_as_recorded(sandbox: Sandbox) -> None:  # noqa: ARG001
    again = made_again(3, HARDENING)
    assert [len(run.without) for run in again] == [0, 1, len(MECHANISMS)]
    assert not_as_recorded(again, recorded_runs(name=HARDENING)) == []
