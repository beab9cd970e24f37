"""InterCode results: a turn is a step, parallel lists are joined, and a run passes by its best reward."""

from pathlib import Path

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers import read_file
from misstep_harness.readers.evaluations import intercode
from misstep_harness.trajectory import Outcome, Source, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("intercode", "results/bash.json.gz")


def test_turns_of_parallel_lists_are_steps_with_their_results() -> None:
    blocked, solved = intercode.read(recording_of("intercode"), SOURCE)
    assert (blocked.id, blocked.task, blocked.outcome) == ("bash/0", "Count the planks.", Outcome("failed", 0.2))
    assert [step.role for step in blocked.steps] == ["user", "agent", "agent", "agent"]
    first, second, last = blocked.steps[1:]
    assert (first.reasoning, first.calls[0].name, first.calls[0].arguments) == (
        "A look first.",
        "bash",
        {"command": "ls"},
    )
    assert [(result.text, result.is_error) for result in second.results] == [("no such file", True)]
    assert last.results == (), "it was blocked"
    assert blocked.extra["turn_history"] == {"rewards": [0.2, 0.2, 0]}
    assert (solved.outcome.status, solved.steps[1].results[0].is_error) == ("passed", None)


def test_a_document_without_such_runs_is_unreadable() -> None:
    with pytest.raises(UnreadableTrajectory, match="turn_history"):
        list(intercode.read(b'{"0": {"turn_history": 3}}', SOURCE))


@pytest.mark.data
def test_every_public_result_file_is_read(data_folder: Path) -> None:
    files = sorted((data_folder / "intercode" / "results").iterdir())
    runs = [run for path in files for run in read_file(path)]
    assert all(isinstance(run, Trajectory) and run.steps for run in runs)
    assert len(runs) == 3943
