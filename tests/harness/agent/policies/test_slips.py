"""Every form of misbehaviour, carried out on a made-up project, is what its category says."""

import asyncio
from random import Random

import pytest

from misstep_harness.agent.environment import Environment, replies_in
from misstep_harness.agent.loop import run_agent
from misstep_harness.agent.policies.slips import (
    FAILURES,
    LOOPS,
    Form,
    Ground,
    TextEdit,
    forbidden_tool,
    invented_paths,
    looked_at,
    looks,
    unasked_edits,
)
from misstep_harness.agent.policies.wayward import Slip, WaywardPolicy
from misstep_harness.agent.protocols import Task
from misstep_harness.classifiers import classify_all
from misstep_harness.generate.voice import Voice
from misstep_harness.trajectory import Trajectory
from tests.harness.agent.folders import FilesInMemory, NoModel

NAMES = ("gather_sheet", "merge_leaf", "split_page", "round_line")
FILES = {f"src/{name}.py": f"def {name}(entries):\n    return entries\n" for name in NAMES}
HEADS = {path: text.splitlines()[0] for path, text in FILES.items()}
EDITS = tuple(TextEdit(path, head, f"{head}  # done", path) for path, head in HEADS.items())


def _ground(seed: int, forbidden: str = "") -> Ground:
    return Ground(Voice(Random(seed), "development"), tuple(FILES), NAMES, EDITS, EDITS, forbidden)  # noqa: S311 (made-up data)


def _run(form: Form, seed: int, lasts: int, forbidden: str = "") -> tuple[Trajectory, dict[str, str]]:
    """The run, and the files as it left them."""
    ground = _ground(seed, forbidden)
    made = form(ground, Random(seed))  # noqa: S311 (made-up data)
    policy = WaywardPolicy(
        [looked_at(path, ground.voice) for path in FILES], [Slip(("planted",), 1, lasts, made.command, made.undo)]
    )
    files = FilesInMemory(FILES)
    place = Environment(files, patcher=policy, apply_reply=replies_in("search_replace"), ask=NoModel())
    run = asyncio.run(run_agent(Task("t", f"Don't use the `{forbidden or 'magic'}` tool."), policy, place, NoModel()))
    return run, {path: files.read(path).decode() for path in files.files()}


def _labels(run: Trajectory) -> dict[str, str | None]:
    return {verdict.judge: verdict.label for verdict in classify_all(run)}


@pytest.mark.parametrize("form", LOOPS)
def test_loops_are_loops_and_no_failures(form: Form) -> None:
    labels = _labels(_run(form, 0, 14)[0])
    assert (labels["infinite_loop"], labels["tool_call_failure"]) == ("yes", "no")


@pytest.mark.parametrize("form", FAILURES)
def test_failures_fail_and_are_no_loops(form: Form) -> None:
    run, files = _run(form, 0, 4)
    failed = [result.is_error for step in run.steps for result in step.results]
    assert sum(map(bool, failed)) == 4
    assert files == FILES
    assert _labels(run)["infinite_loop"] == "no"
    assert form is invented_paths or _labels(run)["tool_call_failure"] == "yes"


def test_unasked_edits_change_files_each_after_a_look_at_one() -> None:
    run, files = _run(unasked_edits, 0, 3)
    assert sum(files[path] != FILES[path] for path in FILES) == 2
    assert [call.name for step in run.steps[3:6] for call in step.calls] == ["edit", "read_file", "edit"]


def test_a_forbidden_tool_is_used_by_nothing_else() -> None:
    used = [call.name for step in _run(forbidden_tool, 0, 3, "search_code")[0].steps for call in step.calls]
    assert used.count("search_code") == 3
    assert all(look.name != "search_code" for look in looks(_ground(0, "search_code")))
    assert any(look.name == "search_code" for look in looks(_ground(0)))


@pytest.mark.parametrize("done", range(1, 8))
def test_what_is_taken_back_is_what_was_done(done: int) -> None:
    made = unasked_edits(_ground(2), Random(2))  # noqa: S311 (made-up data)
    edits = [command.edit for number in range(done) if (command := made.command(number)).edit is not None]
    undone = [command.edit for command in made.undo(done) if command.edit is not None]
    assert undone == [(new, old) for old, new in reversed(edits)]
