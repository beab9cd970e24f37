"""AgentRx: failures, categories and root causes are as recounted; message numbers from 1 become steps from 0."""

import json
from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.datasets.judged import agentrx as loader
from misstep_harness.errors import InputError
from misstep_harness.trajectory import Source, Step, Trajectory
from tests.harness.datasets.loaded import Loaded, public, write

rx = public("agentrx")

TAU = {
    "Underspecified User Intent": 10,
    "Misinterpretation of Tool Output": 8,
    "Intent Plan Misalignment": 8,
    "Instruction Adherence Failure": 6,
    "Invalid Invocation": 4,
    "Intent Not Supported": 2,
    "System Failure": 1,
}
MAGENTIC = {
    "Instruction/Plan Adherence Failure": 197,
    "Guardrails Triggered": 24,
    "Misinterpretation of Tool Output": 23,
    "Intent not supported": 22,
    "Intent Plan Misalignment": 19,
    "Invention of new information": 8,
    "Invalid Invocation": 1,
    "System Failure": 1,
}


def errors_of(loaded: Loaded, domain: str) -> dict[str, list[dict[str, Any]]]:
    """Run → its failures in upstream order, of one domain."""
    lines = map(json.loads, (loaded.folder / "gold_errors.jsonl").read_text().splitlines())
    own = groupby((line for line in lines if line["trajectory"].startswith(domain)), key=itemgetter("trajectory"))
    return {run: list(errors) for run, errors in own}


@pytest.mark.data
@pytest.mark.parametrize(
    ("domain", "runs", "most", "by_category", "by_root_cause"),
    [("tau", 29, 4, TAU, [8, 7, 7, 3, 1, 2, 1]), ("magentic", 44, 55, MAGENTIC, [8, 9, 15, 3, 4, 4, 0, 1])],
)
def test_failures_and_root_causes_by_category_are_as_recounted(rx, domain, runs, most, by_category, by_root_cause):
    errors = errors_of(rx, domain)
    assert len(errors) == runs
    assert max(map(len, errors.values())) == most
    assert Counter(error["label"] for run in errors.values() for error in run) == by_category
    roots = Counter(label for (item, _), label in rx.gold.items() if item.startswith(domain))
    assert [roots[category] for category in by_category] == by_root_cause


@pytest.mark.data
def test_all_39_tau_labels_fall_on_the_agent_or_the_user(rx: Loaded) -> None:
    roles = Counter(
        rx.trajectories[name].steps[error["step"]].role for name, run in errors_of(rx, "tau").items() for error in run
    )
    assert roles == {"agent": 28, "user": 11}


@pytest.mark.data
def test_labels_without_a_transcript_have_no_step_and_keep_upstreams_number(rx: Loaded) -> None:
    errors = [error for run in errors_of(rx, "magentic").values() for error in run]
    assert len(errors) == 295
    assert not [error for error in errors if "step" in error]
    assert all(int(error["location"]) > 0 for error in errors)


@pytest.mark.data
def test_of_100_tau_runs_73_succeed_and_two_labelled_ones_stand_beside_them(rx: Loaded) -> None:
    outcomes = {name: run.outcome.status for name, run in rx.trajectories.items()}
    assert Counter(outcomes.values()) == {"passed": 73, "failed": 29}
    assert {outcomes[item] for item in rx.items if item.startswith("tau")} == {"failed"}


def made_up(step_number: int = 3, root: int | str = 1, trajectory_id: int = 7) -> dict[str, str]:
    """A tau run of four messages, one of them a tool's answer, with one failure."""
    failure = {
        "failure_id": 1,
        "step_number": step_number,
        "step_reason": "It asked for no proof.",
        "failure_category": "Invalid Invocation",
        "category_reason": "The argument was missing.",
        "failed_agent": "Assistant",
    }
    labelled = {
        "trajectory_id": trajectory_id,
        "failures": [failure],
        "root_cause": {"failure_id": root, "reason_for_root_cause": "Nothing came after."},
        "failure_summary": "It failed.",
    }
    record = {"task_id": 7, "trial": 7, "reward": 0.0, "info": {}, "traj": [{}, {}, {}, {}], "records": {}}
    return {
        "ground_truth/tau_ground_truth.json": json.dumps([labelled]),
        "ground_truth/magentic_one_ground_truth.json": "[]",
        "magentic_steps_by_id.json": "{}",
        "tau_retail/tau_dataset_full.json.gz": json.dumps([record]),
        "tau_retail/tau_dataset_failed.json.gz": json.dumps([record]),
    }


def load_made_up(tmp_path: Path, files: dict[str, str]) -> Loaded:
    run = Trajectory(
        id="any",
        source=Source("tau"),
        steps=(Step(role="user"), Step(role="agent"), Step(role="agent")),
        extra={"step_of_message": [0, 1, 1, 2], "info": {"actions": ["the solution"]}},
    )
    out = tmp_path / "out" / "agentrx"
    loader.load(write(tmp_path / "agentrx", files), out, lambda _: iter([run]))
    return Loaded(out)


@pytest.mark.parametrize(("number", "step"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_a_message_counted_from_1_becomes_the_step_that_holds_it(tmp_path: Path, number: int, step: int) -> None:
    made = load_made_up(tmp_path, made_up(step_number=number))
    assert [error["step"] for error in errors_of(made, "tau")["tau-7"]] == [step]


@pytest.mark.data
def test_a_run_may_get_the_labels_of_its_own_domain_only(rx: Loaded) -> None:
    by_domain = {item.extra["domain"]: set(item.labels) for item in rx.items.values()}
    assert by_domain["tau"] - by_domain["magentic"] == {"Instruction Adherence Failure", "Intent Not Supported"}
    assert by_domain["magentic"] - by_domain["tau"] == {"Instruction/Plan Adherence Failure", "Intent not supported"}
    assert all(len(labels) == 9 for labels in by_domain.values())


@pytest.mark.data
def test_the_44_runs_without_a_transcript_are_not_asked_about(rx: Loaded) -> None:
    assert Counter(item.skip_reason for item in rx.items.values()) == {
        "": 29,
        "its transcript is not in the public files": 44,
    }


def test_a_root_cause_may_be_a_string_and_the_reference_solution_is_in_no_trajectory(tmp_path: Path) -> None:
    made = load_made_up(tmp_path, made_up(root="1"))
    assert made.gold == {("tau-7", "annotators"): "Invalid Invocation"}
    assert "info" not in made.trajectories["tau-7"].extra


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"step_number": 5}, r"message 4 does not exist: tau-7 has 4"),
        ({"step_number": 0}, r"message -1 does not exist: tau-7"),
        ({"root": 9}, r"run 7 has no failure 9"),
        ({"trajectory_id": 8}, r"run 8 has labels, but no transcript"),
    ],
)
def test_a_label_for_what_is_not_there_is_an_error(tmp_path: Path, changed: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_made_up(tmp_path, made_up(**changed))
