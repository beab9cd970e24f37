"""An agent that works, shows the injected faults, and complies with guidance as its seed says."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from misstep_harness.agent.actions import Action
from misstep_harness.agent.environment import Environment, replies_in
from misstep_harness.agent.loop import AgentStopped, run_agent
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.agent.scripted_policy import (
    FAILURES,
    LOOPS,
    Form,
    Ground,
    InjectedFault,
    ScriptedCommand,
    ScriptedPolicy,
    TextEdit,
    forbidden_tool,
    invented_paths,
    looked_at,
    looks,
    unasked_edits,
)
from misstep_harness.classifiers import classify_all
from misstep_harness.generate.voice import Voice
from misstep_harness.intervention import INTERVENTION
from misstep_harness.live_session import Heeds
from misstep_harness.trajectory import Step, Trajectory
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
    policy = ScriptedPolicy(
        [looked_at(path, ground.voice) for path in FILES],
        [InjectedFault(("planted",), 1, lasts, made.command, made.undo)],
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


OPENING = [Step("system", "You are an agent."), Step("user", "Mend it.")]
TASK = Task("t", "Mend it.")


def _command(name: str) -> ScriptedCommand:
    return ScriptedCommand(Action(name))


WORK = [_command(f"work {number}") for number in range(6)]


def _fault(category: str = "infinite_loop", onset: int = 2, lasts: int | None = None) -> InjectedFault:
    return InjectedFault(
        (category,), onset, lasts, lambda done: _command(f"{category} {done}"), lambda done: [_command(f"undo {done}")]
    )


def _guidance(category: str) -> Step:
    return Step("system", "…", extra={INTERVENTION: 1, "about": category})


def _run_with_faults(
    faults: Sequence[InjectedFault], said: Mapping[int, Step] = {}, heeds: Heeds = "follows", most: int = 30
) -> tuple[list[str], ScriptedPolicy]:
    """The names of the commands, `said` behind those of its numbers, and the policy."""
    policy = ScriptedPolicy(
        WORK,
        faults,
        heeds=heeds,
        understands=lambda step: [step.extra["about"]],
        relapse_after=2,
        look=_command("look"),
    )
    steps, names = list(OPENING), []
    for number in range(most):
        action = asyncio.run(policy.act(TASK, steps, NoModel()))
        names.append(action.name)
        steps.append(Step("agent", ""))
        if action.name == "exit":
            break
        if number in said:
            steps.append(said[number])
    return names, policy


def test_without_a_slip_the_work_is_done_in_order() -> None:
    names, policy = _run_with_faults([])
    assert names == [f"work {number}" for number in range(6)] + ["exit"]
    assert policy.episodes == ()


@pytest.mark.parametrize(
    ("lasts", "names", "episode"),
    [
        (3, [*(f"infinite_loop {n}" for n in range(3)), *(f"work {n}" for n in range(2, 6)), "exit"], (4, 6, "itself")),
        (None, [f"infinite_loop {n}" for n in range(10)], (4, 13, "session")),
    ],
)
def test_a_slip_lasts_from_its_onset_as_long_as_it_was_planted(lasts, names, episode) -> None:
    run, policy = _run_with_faults([_fault(lasts=lasts)], most=12)
    assert run == ["work 0", "work 1", *names]
    assert [(one.onset, one.last, one.ended, one.would_last) for one in policy.episodes] == [(*episode, lasts)]


def test_two_slips_at_once_take_turns() -> None:
    names, policy = _run_with_faults([_fault(lasts=2), _fault("tool_call_failure", lasts=2)])
    assert names[2:6] == ["infinite_loop 0", "tool_call_failure 0", "infinite_loop 1", "tool_call_failure 1"]
    assert [episode.category for episode in policy.episodes] == ["infinite_loop", "tool_call_failure"]


LOOP = _guidance("infinite_loop")


@pytest.mark.parametrize(
    ("lasts", "guidance", "heeds", "names", "ended"),
    [
        (None, {4: LOOP}, "follows", ["undo 3", "work 2", "work 3"], ["guidance"]),
        (5, {4: _guidance("other")}, "follows", ["look", "infinite_loop 3", "infinite_loop 4"], ["itself"]),
        (None, {4: LOOP, 7: LOOP, 10: LOOP}, "ignores", [*(f"infinite_loop {n}" for n in range(3, 9)), "exit"],
         ["session"]),
        (None, {4: LOOP, 9: LOOP}, "half", ["work 2", "work 3", *(f"infinite_loop {n}" for n in range(3, 6)), "undo 6"],
         ["guidance"] * 2),
        *((None, {4: Step("user", "Stop that.")}, heeds, [], ["engineer"]) for heeds in ("follows", "half", "ignores")),
    ],
)  # fmt: skip
def test_guidance_is_heeded_as_the_agent_is_made(lasts, guidance, heeds, names, ended) -> None:
    run, policy = _run_with_faults([_fault(lasts=lasts)], guidance, heeds)
    assert run[5 : 5 + len(names)] == names
    assert [(one.ended, one.relapse) for one in policy.episodes] == [(end, at == 1) for at, end in enumerate(ended)]


def test_a_relapse_has_only_the_rest_of_its_duration_left() -> None:
    _, policy = _run_with_faults([_fault(lasts=5)], {4: LOOP}, "half")
    assert [(one.would_last, one.ended) for one in policy.episodes] == [(5, "guidance"), (2, "itself")]


def test_an_edit_is_written_as_the_command_that_is_being_carried_out_means_it() -> None:
    edit = ScriptedCommand(Action("edit", {"file_path": "a.py", "instructions": "two"}), ("one = 1", "one = 2"))
    policy = ScriptedPolicy([edit])
    asyncio.run(policy.act(TASK, OPENING, NoModel()))
    text = asyncio.run(policy.patch(PatchRequest("a.py", "one = 1\n", "two"), NoModel()))
    assert text.splitlines() == ["a.py", "<<<<<<< SEARCH", "one = 1", "=======", "one = 2", ">>>>>>> REPLACE"]


def test_without_work_there_is_nothing_to_do() -> None:
    with pytest.raises(AgentStopped):
        ScriptedPolicy([])
