"""A run of repairs: every attempt once, kept as it ends, gone on with by the same call."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from misstep_analysis.repair.recorded_runs import open_repair_run
from misstep_analysis.repair.report import observed_attempts
from misstep_harness.agent.loop import AgentLimits
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.intervention import INTERVENTION
from misstep_harness.items import read_items
from misstep_harness.journal.records import read_manifest
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.repair.attempt import SETTINGS
from misstep_harness.repair.case import CaseFolder, RepairCase
from misstep_harness.repair.patch_judge import fitted_to_patches
from misstep_harness.repair.records import Signal
from misstep_harness.repair.runs.patches import write_patches
from misstep_harness.repair.runs.repair import RepairPlan, Repairs
from misstep_harness.repair.scoring import Affirmed
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.runs.run import carry_out
from misstep_harness.runs.spread import Spread, open_workers
from misstep_harness.workspace import Sandbox
from misstep_harness.workspace.suite.report import SuiteReport
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import oracle_once as oracle_once
from tests.harness.repair.conftest import sandbox as sandbox
from tests.harness.repair.judging import LooksForTheLoop
from tests.harness.repair.scripted import ATTEMPTED, FAILING
from tests.harness.runs.repairs import opened, recorded_attempts, run_repairs

SCRIPTED = "tests.harness.repair.scripted:scripted"
CLIENT = ClientSettings()


def _plan(**fields: object) -> RepairPlan:
    values = {"policy": SCRIPTED, "setting": SETTINGS["react+tests"], "limits": AgentLimits(6, 60.0), **fields}
    return RepairPlan(**values)  # type: ignore[arg-type]


@pytest.fixture
def cases(tmp_path: Path) -> list[CaseFolder]:
    ATTEMPTED.clear()
    FAILING.clear()
    return [price_case(tmp_path / "cases" / name, id=name) for name in ("a", "b")]


@pytest.fixture(autouse=True)
def affirmed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that hold are not run six times to see it, nor patches three times."""
    if "does_not_hold" not in request.node.name:
        monkeypatch.setattr("misstep_harness.repair.runs.repair.affirm", lambda *_: Affirmed(True))
    if "denies_once" not in request.node.name:
        request.getfixturevalue("oracle_once")


def _settings(run: Path) -> dict[str, Any]:
    manifest = read_manifest(run)
    assert manifest.finished
    return manifest.settings


def test_every_case_is_attempted_as_often_as_asked_and_kept(cases, tmp_path, sandbox) -> None:
    ended = run_repairs(cases[:1], tmp_path / "run", _plan(attempts=2), CLIENT, sandbox)
    assert (ended.done, ended.wanted, ended.stopped) == (2, 2, "")
    made = list(recorded_attempts(tmp_path / "run"))
    assert sorted((each.case, each.sample, each.solved) for each in made) == [("a", 0, True), ("a", 1, True)]
    assert _settings(tmp_path / "run")["setting"] == "react+tests"
    with pytest.raises(UsageError, match="another run"):
        run_repairs(cases[:1], tmp_path / "run", _plan(setting=SETTINGS["react"], attempts=2), CLIENT, sandbox)
    (cases[0].before / "label.py").write_text("changed = 1\n")
    with pytest.raises(UsageError, match="label"):
        run_repairs(cases[:1], tmp_path / "run", _plan(attempts=2), CLIENT, sandbox)


def test_a_stopped_run_is_gone_on_with_and_makes_no_attempt_twice(cases, tmp_path, sandbox) -> None:
    FAILING.add("b")
    solved: list[str] = []
    plan = _plan(solved=lambda case, patch: solved.append(f"{case.id} {'+++ ' in patch}"))
    with pytest.raises(KeyboardInterrupt):
        run_repairs(cases, tmp_path / "run", plan, CLIENT, sandbox, workers=1)
    assert solved == ["a True"]  # a patch is handed out before the run ends
    assert [each.case for each in recorded_attempts(tmp_path / "run")] == ["a"]
    FAILING.clear()
    ended = run_repairs(cases, tmp_path / "run", _plan(), CLIENT, sandbox, workers=1)
    assert ended.done == 2
    assert ATTEMPTED.count("a") == 1


def test_attempts_by_several_processes_are_those_of_one(cases, tmp_path, sandbox) -> None:
    run_repairs(cases, tmp_path / "here", _plan(), CLIENT, sandbox)
    with open_workers(Spread(2)) as workers:
        carry_out(Repairs(cases, _plan(), CLIENT, sandbox), tmp_path / "spread", workers=workers)
    here, spread = (
        {each.case: (each.solved, each.patch, each.iterations, each.error) for each in recorded_attempts(run)}
        for run in (tmp_path / "here", tmp_path / "spread")
    )
    assert here == spread
    assert all(solved for solved, *_ in spread.values())


def test_a_case_that_does_not_hold_does_not_count(tmp_path: Path, sandbox: Sandbox) -> None:
    cases = [price_case(tmp_path / "cases" / "a", id="a", oracle=("tests/test_label.py",))]
    run_repairs(cases, tmp_path / "run", _plan(), CLIENT, sandbox)
    made = next(recorded_attempts(tmp_path / "run"))
    assert (made.solved, made.ended) == (None, "not_affirmed")
    assert "passes on the broken tree" in made.error


def test_a_case_that_a_rule_speaks_against_gets_no_agent(cases, tmp_path, sandbox) -> None:
    run_repairs(cases[:1], tmp_path / "run", _plan(objections=lambda case: f"fix_landed: {case.id}"), CLIENT, sandbox)
    made = next(recorded_attempts(tmp_path / "run"))
    assert (made.solved, made.ended, made.error, ATTEMPTED) == (None, "not_affirmed", "fix_landed: a", [])


def test_a_solve_that_the_oracle_claims_once_and_denies_once_is_none(cases, tmp_path, sandbox, monkeypatch) -> None:
    answers = {"a": iter([True, True, False]), "b": iter([True, True, True])}

    def oracle(_: object, case: RepairCase) -> SuiteReport:
        return SuiteReport(next(answers[case.id]))

    monkeypatch.setattr("misstep_harness.repair.scoring.oracle_report", oracle)
    run_repairs(cases, tmp_path / "run", _plan(), CLIENT, sandbox)
    made = {each.case: each for each in recorded_attempts(tmp_path / "run")}
    assert [(made[name].solved, made[name].ended) for name in "ab"] == [(None, "flaky"), (True, "exit")]
    assert "with the patch it passes 2 times, then fails" in made["a"].error
    assert write_patches([opened(tmp_path / "run")], tmp_path / "patches").counts["items"] == 1


def test_what_a_policy_raises_costs_its_attempt_alone(cases, tmp_path, sandbox) -> None:
    FAILING.add("a raises")
    ended = run_repairs(cases, tmp_path / "run", _plan(), CLIENT, sandbox)
    assert ended.done == 2
    errors = {each.case: each.error for each in recorded_attempts(tmp_path / "run")}
    assert errors == {"a": "ZeroDivisionError: a policy may raise anything", "b": ""}


def _judged_by(name: str) -> RunnableJudge:
    return fitted_to_patches(known_judge(name, model="small-1"))


def _client(reply: str) -> ClientSettings:
    return ClientSettings(client="scripted", script=f"tests.harness.repair.judging:{reply}")


def test_a_judge_of_patches_is_asked_of_each_and_its_settings_are_the_runs(cases, tmp_path, sandbox) -> None:
    plan = _plan(patch_judge=_judged_by("patch_judge"))
    run_repairs(cases[:1], tmp_path / "run", plan, _client("rejects"), sandbox)
    for made in recorded_attempts(tmp_path / "run"):
        assert made.signals[-1] == Signal("patch_judge", False, "It silences the symptom.", 0.8)
        assert made.solved
        assert made.trajectory.extra["patch_judge"][-1]["model"] == "small-1"
    assert _settings(tmp_path / "run")["patch_judge"]["prompt"].startswith("patch_judge@")


def test_an_attempt_whose_judge_met_the_cost_limit_is_made_again(cases, tmp_path, sandbox) -> None:
    plan = _plan(patch_judge=_judged_by("patch_judge"))
    prices = tmp_path / "prices.toml"
    price = 'models = ["small-1"]\ninput_usd = 1.0\noutput_usd = 1.0\n'
    prices.write_text(f'checked = "2026-01-31"\nsource = "made up"\n\n[[price]]\n{price}')
    limited = replace(_client("rejects"), prices=prices, max_cost_usd=1e-9)
    ended = run_repairs(cases[:1], tmp_path / "run", plan, limited, sandbox)
    assert (ended.done, ended.wanted) == (0, 1)
    assert ended.stopped
    assert run_repairs(cases[:1], tmp_path / "run", plan, _client("rejects"), sandbox).done == 1


def test_a_judge_is_shown_the_failure_also_where_the_agent_is_told_instructions(tmp_path, sandbox) -> None:
    texts = {"file": "price.py", "instructions": {"high_level": "Mend the sum.", "detailed": "Add in line 2."}}
    case, judge = price_case(tmp_path / "cases" / "a", id="a", extra=texts), LooksForTheLoop()
    plan = _plan(instructions="detailed", patch_judge=RunnableJudge(judge, {}), setting=SETTINGS["react"])
    run_repairs([case], tmp_path / "run", plan, CLIENT, sandbox)
    made = next(recorded_attempts(tmp_path / "run"))
    assert made.trajectory.task == "Change the file price.py as follows.\n\nAdd in line 2.\n"
    assert _settings(tmp_path / "run")["instructions"] == "detailed"
    (shown,) = judge.asked
    assert "Add in line 2." in shown.task
    assert "The failure:\n1 failure:\n1) tests/test_price.py::test_sum" in shown.task
    write_patches([opened(tmp_path / "run")], tmp_path / "patches")
    (item,) = read_items(tmp_path / "patches")
    assert (item.task, item.patch, item.text) == (shown.task, shown.patch, shown.text)


def test_a_case_without_instructions_is_refused_where_these_are_asked_for(cases, tmp_path, sandbox) -> None:
    with pytest.raises(UsageError, match="the case a has no high-level instructions"):
        run_repairs(cases, tmp_path / "run", _plan(instructions="high-level"), CLIENT, sandbox)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("arm", ["guide", "shadow"])
def test_an_observer_in_real_time_tells_an_agent_that_goes_round(cases, tmp_path, sandbox, arm) -> None:
    limits = AgentLimits(1_000 if arm == "guide" else 60, 60.0)
    observation = LiveObservation("rules", 1, arm)
    plan = _plan(policy="tests.harness.repair.scripted:goes_round", limits=limits, observation=observation)
    run_repairs(cases[:1], tmp_path / "run", plan, CLIENT, sandbox)
    (made,) = recorded_attempts(tmp_path / "run")
    assert made.observed.item == made.id
    assert any(INTERVENTION in step.extra for step in made.trajectory.steps) == (arm == "guide")
    assert made.ended == ("exit" if arm == "guide" else "iterations")
    seen = observed_attempts(open_repair_run(tmp_path / "run"))
    assert (seen.delivered > 0) == (arm == "guide")
    assert _settings(tmp_path / "run")["observe_mode"] == arm
