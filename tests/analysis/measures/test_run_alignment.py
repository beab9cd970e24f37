"""Two runs aligned by what their steps do: nothing is lost, order is kept, and neither run is favoured."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.measures import run_alignment
from misstep.analysis.measures.run_alignment import AlignedStep, RunAlignment, align_runs
from misstep.harness.trajectory import Role, Source, Step, ToolCall, ToolResult, Trajectory


def _call(command: str, text: str = "", result: str = "", name: str = "bash", role: Role = "agent") -> Step:
    return Step(role, text, calls=(ToolCall(name, {"command": command}),), results=(ToolResult(result),))


def _run(*steps: Step) -> Trajectory:
    return Trajectory("run", Source("made up"), steps=steps)


commands = st.sampled_from(["ls", "cat a.py", "cat b.py", "pytest tests/a.py -x", "pytest tests/b.py -x", "git diff"])
steps = st.one_of(
    st.builds(_call, commands, st.sampled_from(["", "I look."]), st.sampled_from(["", "ok"])),
    st.builds(Step, st.sampled_from(["user", "agent"]), st.sampled_from(["Mend it.", "It is mended now.", "Done."])),
)
runs = st.lists(steps, max_size=9).map(lambda some: _run(*some))


def _pairs(message: RunAlignment) -> set[tuple[int, int]]:
    return {(line.a, line.b) for line in message.lines if line.a is not None and line.b is not None}


@given(runs, runs)
def test_every_step_stands_in_one_line_and_both_runs_keep_their_order(a: Trajectory, b: Trajectory) -> None:
    result = align_runs(a, b)
    assert [line.a for line in result.lines if line.a is not None] == list(range(len(a.steps)))
    assert [line.b for line in result.lines if line.b is not None] == list(range(len(b.steps)))
    assert all((line.change == "only_a") == (line.b is None) for line in result.lines)
    assert all((line.change == "only_b") == (line.a is None) for line in result.lines)


def _most_same(a: Trajectory, b: Trajectory) -> int:
    """The length of the longest common subsequence, by its definition."""
    best = {(row, column): 0 for row in range(len(a.steps) + 1) for column in range(len(b.steps) + 1)}
    for row, column in product(reversed(range(len(a.steps))), reversed(range(len(b.steps)))):
        same = best[row + 1, column + 1] + 1 if a.steps[row] == b.steps[column] else 0
        best[row, column] = max(best[row + 1, column], best[row, column + 1], same)
    return best[0, 0]


@given(st.lists(st.sampled_from("abcd"), max_size=7), st.lists(st.sampled_from("abcd"), max_size=7))
def test_of_steps_that_are_equal_or_unlike_as_many_as_can_be_are_paired(a: list[str], b: list[str]) -> None:
    one, other = (_run(*(_call("ls", name=name) for name in names)) for names in (a, b))
    assert len(_pairs(align_runs(one, other))) == _most_same(one, other)


def test_a_step_that_one_run_does_besides_stands_alone_and_the_rest_is_the_same() -> None:
    a = _run(_call("ls"), _call("cat a.py"), _call("pytest"))
    b = _run(_call("ls"), _call("git status"), _call("cat a.py"), _call("pytest"))
    assert [line.change for line in align_runs(a, b).lines] == ["same", "only_b", "same", "same"]
    assert align_runs(a, b).divergence == 1


def test_calls_of_one_tool_with_like_arguments_are_changed_and_with_unlike_ones_not_paired() -> None:
    a = _run(_call("pytest tests/test_a.py -x"), _call("rm -r build"))
    b = _run(_call("pytest tests/test_a.py"), _call("git log"))
    assert align_runs(a, b).lines == (
        AlignedStep(0, 0, "changed", ("calls",)),
        AlignedStep(1, None, "only_a"),
        AlignedStep(None, 1, "only_b"),
    )


def test_other_words_or_another_result_of_the_same_call_are_told_and_are_no_divergence() -> None:
    a, b = _run(_call("ls", "I look.", "a.py")), _run(_call("ls", "I list.", "b.py"))
    result = align_runs(a, b)
    assert result.lines == (AlignedStep(0, 0, "same", ("words", "results")),)
    assert (result.divergence, result.other_result) == (None, 0)


def test_steps_beyond_the_bound_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_alignment, "STEPS_ALIGNED", 2)
    result = align_runs(_run(*[_call("ls")] * 5), _run(_call("ls")))
    assert (len(result.lines), result.left_out) == (2, (3, 0))
