"""An experiment is one run: one seed gives the same bytes, whatever runs at once and however often it is killed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep.experiment.own_cases import OwnCases
from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.exchange import Failure, Request
from misstep_harness.intervention import INTERVENTION
from misstep_harness.journal.records import read_records
from misstep_harness.live_session import LiveSession
from misstep_harness.observer.experiment.observing import Beside
from misstep_harness.observer.experiment.running import ARMS, ExperimentPlan, ExperimentRun
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.observer.records import LIVE_RECORDS
from misstep_harness.runs.run import Asking, carry_out
from misstep_harness.trajectory import Source, Trajectory
from misstep_harness.workspace import Sandbox
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import sandbox as sandbox

PLAN = ExperimentPlan("shadow", n=6, seed=3, wordings="development")
EMPTY = Trajectory("", Source("misstep"))


def _sessions(folder: Path) -> list[LiveSession]:
    return list(read_records(folder, LIVE_RECORDS, unfinished=True))


def _run(folder: Path, plan: ExperimentPlan, sandbox: Sandbox, workers: int = 3) -> list[LiveSession]:
    carry_out(ExperimentRun(plan, sandbox), folder, Asking(at_once=workers))
    return _sessions(folder)


@pytest.fixture(scope="module")
def by_design(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> dict[str, list[LiveSession]]:
    folder = tmp_path_factory.mktemp("designs")
    return {
        design: _run(folder / design, replace(PLAN, design=design, n=12, name="first"), sandbox)
        for design in ("shadow", "ab")
    }


@pytest.mark.parametrize("design", ["shadow", "ab"])
def test_sessions_are_in_the_arms_of_their_design_and_guidance_is_said_in_one_of_them(design, by_design):
    sessions = by_design[design]
    assert {session.arm for session in sessions} == set(ARMS[design])
    assert all((session.observed is None) == (session.arm == "control") for session in sessions)
    arms = {one.arm for one in sessions for step in (one.trajectory or EMPTY).steps if INTERVENTION in step.extra}
    assert arms == {"guide"}


def test_a_session_up_to_the_first_guidance_is_the_same_in_every_arm(by_design: dict[str, list[LiveSession]]) -> None:
    for one, other in zip(by_design["shadow"], by_design["ab"], strict=True):
        spoken = [each.delivered_at for arm in (one, other) if arm.observed for each in arm.observed.interventions]
        heard = min((at for at in spoken if at is not None), default=None)
        end = None if heard is None else heard + 1
        assert one.trajectory.steps[:end] == other.trajectory.steps[:end]


def test_a_detector_that_does_not_exist_is_refused_before_anything_is_run(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError):
        carry_out(ExperimentRun(replace(PLAN, beside=Beside("oracle")), sandbox), tmp_path)
    assert not list(tmp_path.iterdir())


def exits_at_once(request: Request) -> str:  # noqa: ARG001
    """What a model says that gives up."""
    return "Thought: This is beyond me.\nCommand: exit summary='nothing'"


def nobody(request: Request) -> Failure:  # noqa: ARG001
    """A server that is gone."""
    return Failure("circuit_open", "nobody answers")


def test_a_model_works_in_place_of_the_script_and_nothing_is_planted(tmp_path: Path, sandbox: Sandbox) -> None:
    plan = replace(PLAN, n=6, design="ab", model=ModelSettings("made-up"))
    client = ClientSettings(client="scripted", script=f"{__name__}:exits_at_once")
    assert carry_out(ExperimentRun(plan, sandbox, client), tmp_path, Asking(client)).done == 6
    made = [(one.n_steps, one.solved, one.episodes, one.engineer_interventions) for one in _sessions(tmp_path)]
    assert made == [(1, False, (), 1)] * 6


def test_sessions_whose_server_went_away_are_run_again(tmp_path: Path, sandbox: Sandbox) -> None:
    plan = replace(PLAN, n=4, model=ModelSettings("made-up"))
    client = ClientSettings(client="scripted", script=f"{__name__}:nobody")
    with pytest.raises(MissingPrerequisite):
        carry_out(ExperimentRun(plan, sandbox, client), tmp_path, Asking(client))
    assert not _sessions(tmp_path)
    client = ClientSettings(client="scripted", script=f"{__name__}:exits_at_once")
    assert carry_out(ExperimentRun(plan, sandbox, client), tmp_path, Asking(client)).done == 4


@pytest.mark.parametrize("evidence", ["real", "generated"])
def test_own_cases_are_worked_on_in_real_time_and_a_stopped_run_goes_on(evidence, tmp_path, sandbox):
    case = price_case(tmp_path / "case", evidence=evidence)
    plan = ExperimentPlan("ab", n=2, seed=1, name="two", observation=LiveObservation("rules", 1), own=OwnCases((case,)))
    plan = replace(plan, model=ModelSettings("made-up"))
    client = ClientSettings(client="scripted", script=f"{__name__}:exits_at_once")
    carry_out(ExperimentRun(plan, sandbox, client), tmp_path / "run", Asking(client))
    sessions = _sessions(tmp_path / "run")
    assert [one.item for one in sessions] == [f"{case.case.id}-{number:03}" for number in range(2)]
    assert all((one.observed is None) == (one.arm == "control") for one in sessions)
    assert {one.trajectory.source.evidence for one in sessions} == {evidence}
    file = tmp_path / "run" / LIVE_RECORDS.file
    manifest = (tmp_path / "run" / "run.toml").read_text()
    assert 'policy = "model"' in manifest
    assert f'evidence = "{evidence}"' in manifest
    assert len(file.read_bytes().splitlines()) == 2


def test_an_observer_in_real_time_holds_no_session_up_and_speaks_in_one_arm_alone(tmp_path, sandbox):
    plan = replace(PLAN, n=4, observation=LiveObservation("rules", 1))
    sessions = _run(tmp_path / "run", plan, sandbox)
    assert {one.observed.arm for one in sessions} == {one.arm for one in sessions} == {"shadow", "guide"}
    arms = {one.arm for one in sessions for word in one.observed.interventions if word.delivered_at is not None}
    assert arms <= {"guide"}
    assert 'observe_detector = "rules"' in (tmp_path / "run" / "run.toml").read_text()
