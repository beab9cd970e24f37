"""Our own runs are a format like any other: as data sets, generators and people who write by hand hold them."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.items import Item
from misstep_harness.journal.records import encode
from misstep_harness.protocols import Sample
from misstep_harness.readers import read_file, reader_for
from misstep_harness.readers.misstep import read, refuse
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Skipped, Source, Step, Trajectory, Unreadable
from tests.families.recordings import recording_of
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs

HERE = Source("misstep", "runs.jsonl", 3)
STEPS = [{"role": "user", "text": "Mend it."}, {"role": "agent", "text": "Done."}]


def reads(value: Any) -> list[Trajectory]:
    return list(read(json.dumps(value).encode(), HERE))


def refused(value: Any) -> str | None:
    return refuse(Sample(Path("x"), "lines", value, ""))


def test_a_run_keeps_the_source_that_it_states_and_is_placed_where_it_stands(tmp_path: Path) -> None:
    folder = benchmark_of_runs(tmp_path / "gates", 3)
    assert list(read_file(folder / "runs" / "all.jsonl")) == [agents_run(number) for number in range(3)]


def test_a_run_without_steps_is_one_and_a_step_is_whole_whatever_is_left_out() -> None:
    run = Trajectory("a", Source("atif", "a.json"))
    value = json.loads(encode(run))
    assert refused(value) is None
    assert reads(value) == [run]
    (run,) = reads({"id": "a", "source": {"format": "x"}, "steps": [{"role": "agent"}]})
    assert run.steps == (Step("agent"),)
    assert reader_for("misstep").UNIT == "value"


def test_one_who_writes_a_run_by_hand_may_leave_out_its_id_and_source() -> None:
    assert refused({"steps": STEPS}) is None
    (run,) = reads({"steps": STEPS})
    assert (run.id, run.source, [step.text for step in run.steps]) == ("runs-3", HERE, ["Mend it.", "Done."])


def test_what_stands_beside_the_fields_is_kept_at_its_level() -> None:
    call = {"name": "read", "cost": 3, "extra": {"attempt": 1}}
    steps = [{"role": "agent", "mood": "good", "calls": [call], "results": [{"text": "x", "bytes": 1}]}]
    (run,) = reads({"id": "a", "source": {"format": "atif"}, "steps": steps, "site": "north"})
    assert run.extra == {"site": "north"}
    (step,) = run.steps
    assert (step.extra, step.calls[0].extra, step.results[0].extra) == (
        {"mood": "good"},
        {"attempt": 1, "cost": 3},
        {"bytes": 1},
    )


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"id": "a"},
        {"id": "a", "source": "web", "steps": STEPS},
        {"source": {"format": "atif"}, "steps": 3},
        {"steps": [{"role": "user", "content": "Mend it."}, {"role": "agent", "content": "Done."}]},
        {"steps": [{"step_id": 1, "source": "user", "message": "Mend it."}]},
        {"steps": [{"role": ["agent"]}]},
        {"id": "a", "kind": "chat", "trajectory": {}},
        {"id": "a", "kind": [], "text": ""},
    ],
)
def test_what_is_no_run_of_ours_is_refused_with_a_reason(value: Any) -> None:
    assert refused(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"source": {"format": "x"}, "steps": [{"role": "ghost"}]}, r"'ghost' - at `\$\.steps\[0\]\.role`"),
        ({"source": {"format": "x"}, "extra": 3, "more": 1}, "extra"),
        ([1], "no JSON object"),
        ({"id": "i", "kind": "triage", "trajectory": {"foo": 1}}, "item 'i': trajectory: not a run of a known format"),
    ],
)
def test_a_broken_run_is_said_with_its_line(value: Any, message: str) -> None:
    with pytest.raises(UnreadableTrajectory, match=rf"runs\.jsonl:3: .*{message}"):
        reads(value)


def test_the_runs_in_a_benchmarks_items_are_read_in_whatever_format_and_its_other_items_hold_none(tmp_path) -> None:
    folder = benchmark_of_runs(tmp_path / "gates", 3)
    items = [
        Item("by path", "misbehaviour", "runs/all.jsonl", "run-1"),
        Item("inline", "misbehaviour", {"steps": STEPS}),
        Item("text", "text", text="A."),
        Item("atif", "misbehaviour", json.loads(recording_of("atif"))),
        Item("broken", "misbehaviour", {"steps": 3}),
    ]
    (folder / "items.jsonl").write_bytes(b"".join(encode(item) + b"\n" for item in items))
    results = list(trajectories([folder]))
    ids = [one.id for one in results if isinstance(one, Trajectory)]
    assert ids == ["inline", "run-0", "run-1", "run-2"]
    broken = [(one.line, one.error) for one in results if isinstance(one, Unreadable)]
    assert [line for line, _ in broken] == [4, 5]
    assert "2 runs were found where one is expected" in broken[0][1]
    assert {Path(one.file).name for one in results if isinstance(one, Skipped)} == {"benchmark.toml", "gold.csv"}
