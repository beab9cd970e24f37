"""TRAIL: the folder holds the printed numbers of traces and errors, placed at the steps of the runs available."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.datasets.judged import trail_judges as loader
from misstep_harness.trajectory import Source, Step, Trajectory
from tests.harness.datasets.loaded import Loaded, public, write

trail = public("trail")


@pytest.fixture(scope="module")
def errors(trail: Loaded) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (trail.folder / "gold_errors.jsonl").read_text().splitlines()]


def source_of(trail: Loaded) -> dict[str, str]:
    return {item.extra["trace"]: item.extra["source"] for item in trail.items.values()}


@pytest.mark.data
def test_there_are_148_traces_and_841_errors_as_printed(trail: Loaded, errors: list[dict[str, Any]]) -> None:
    sources = source_of(trail)
    assert Counter(sources.values()) == {"gaia": 117, "swe_bench": 31}
    assert Counter(sources[error["trajectory"]] for error in errors) == {"gaia": 585, "swe_bench": 256}


@pytest.mark.data
def test_a_category_is_present_exactly_where_an_error_of_it_was_marked(trail, errors) -> None:
    present = {item for (item, _), label in trail.gold.items() if label == "present"}
    assert present == {f"{error['trajectory']}/{error['label']}" for error in errors}
    assert len(trail.gold) == len(trail.items) == 148 * 19


@pytest.mark.data
def test_an_error_of_a_run_at_hand_is_placed_at_a_step_of_the_agent_and_any_other_has_no_step(trail, errors) -> None:
    here = [error for error in errors if error["trajectory"] in trail.trajectories]
    assert len(trail.trajectories) == 5
    assert len(here) == 32
    assert {trail.trajectories[error["trajectory"]].steps[error["step"]].role for error in here} == {"agent"}
    elsewhere = [error for error in errors if error["trajectory"] not in trail.trajectories]
    assert len(elsewhere) == 809
    assert not [error for error in elsewhere if "step" in error]


@pytest.mark.data
def test_only_the_five_traces_at_hand_can_be_asked_about_each_with_its_category(trail: Loaded) -> None:
    asked = [item for item in trail.items.values() if not item.skip_reason]
    assert len(asked) == 5 * 19
    assert {item.extra["trace"] for item in asked} == trail.trajectories.keys()
    assert trail.benchmark.shown == ("category",)


def annotation(*errors: dict[str, str]) -> str:
    return json.dumps({"errors": errors, "scores": []})


def made_up_error(category: str, location: str) -> dict[str, str]:
    return {"category": category, "location": location, "evidence": "e", "description": "d", "impact": "LOW"}


def test_a_location_becomes_the_step_that_the_reader_made_of_the_span(tmp_path: Path) -> None:
    upstream = write(
        tmp_path / "trail",
        {
            "annotations_gaia/aa.json": annotation(),
            "annotations_swe_bench/bb.json": annotation(made_up_error("Loops", "span-2"), made_up_error("Loops", "?")),
            "traces_swe_bench/bb.json.gz": "{}",
        },
    )
    run = Trajectory(
        id="another",
        source=Source("spans"),
        steps=(Step(role="user"), Step(role="agent")),
        extra={"step_of_span": {"span-1": 0, "span-2": 1}},
    )
    loader.load(upstream, tmp_path / "out" / "trail", lambda _: iter([run]))
    rows = [json.loads(line) for line in (tmp_path / "out" / "trail" / "gold_errors.jsonl").read_text().splitlines()]
    assert [(row["trajectory"], row["location"], row.get("step")) for row in rows] == [
        ("bb", "span-2", 1),
        ("bb", "?", None),
    ]
    loaded = Loaded(tmp_path / "out" / "trail")
    assert loaded.gold == {("aa/Loops", "annotators"): "absent", ("bb/Loops", "annotators"): "present"}
    assert loaded.trajectories["bb"].source.dataset == "trail"
