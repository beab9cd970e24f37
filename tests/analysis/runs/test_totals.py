"""The totals of a run: what was recorded is added up, and what was not stays unknown."""

from misstep_analysis.runs.totals import run_totals
from misstep_harness.trajectory import Source, Step, Tokens, ToolCall, ToolResult, Trajectory

CALL = ToolCall("bash", {"command": "ls"})


def _run(*steps: Step) -> Trajectory:
    return Trajectory("run", Source("made up"), steps=steps)


def test_steps_calls_failed_results_time_and_tokens_are_added_up() -> None:
    results = (ToolResult("", exit_code=2), ToolResult("", is_error=True), ToolResult("", exit_code=0))
    totals = run_totals(
        _run(
            Step("agent", calls=(CALL, CALL), results=results, seconds=1.5, tokens=Tokens(10, 2)),
            Step("agent", seconds=2.0, tokens=Tokens(completion=3, cost_usd=0.5)),
        )
    )
    assert (totals.steps, totals.calls, totals.errors, totals.duration) == (2, 2, 2, 3.5)
    assert (totals.prompt_tokens, totals.completion_tokens, totals.tokens, totals.cost_usd) == (10, 5, 15, 0.5)


def test_without_the_time_of_steps_a_run_takes_from_its_first_to_its_last() -> None:
    times = ("2026-03-02T10:00:00Z", "2026-03-02T10:01:30Z")
    assert run_totals(_run(*(Step("agent", timestamp=time) for time in times))).duration == 90
    assert run_totals(_run(Step("agent", timestamp="yesterday"))).duration is None
