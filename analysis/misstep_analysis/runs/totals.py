"""What a run comes to: steps, tool calls, failed results, time, tokens and cost, as far as they were recorded."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from misstep_harness.trajectory import Step, ToolResult, Trajectory
from misstep_harness.values import known_sum


class RunTotals(Struct, frozen=True):
    """The totals of a run; `None` where the format does not say."""

    steps: int
    calls: int
    errors: int
    seconds: float | None = None
    elapsed: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def duration(self) -> float | None:
        """Return how long the run took in seconds: its steps together, else from the first to the last."""
        return self.elapsed if self.seconds is None else self.seconds

    @property
    def tokens(self) -> int | None:
        """Return the tokens in and out together."""
        return known_sum((self.prompt_tokens, self.completion_tokens))


def run_totals(run: Trajectory) -> RunTotals:
    """Return the totals of a run."""
    steps = run.steps
    tokens = [step.tokens for step in steps if step.tokens]
    return RunTotals(
        steps=len(steps),
        calls=sum(len(step.calls) for step in steps),
        errors=sum(has_failed(result) for step in steps for result in step.results),
        seconds=known_sum(step.seconds for step in steps),
        elapsed=_elapsed(steps),
        prompt_tokens=known_sum(one.prompt for one in tokens),
        completion_tokens=known_sum(one.completion for one in tokens),
        cost_usd=known_sum(one.cost_usd for one in tokens),
    )


def has_failed(result: ToolResult) -> bool:
    """Return whether a result says that its tool failed."""
    return bool(result.is_error) or (result.exit_code or 0) != 0


def _elapsed(steps: Iterable[Step]) -> float | None:
    times = [step.timestamp for step in steps if step.timestamp]
    try:
        return (datetime.fromisoformat(times[-1]) - datetime.fromisoformat(times[0])).total_seconds() or None
    except (IndexError, ValueError, TypeError):  # none, or none that can be read, or one with a zone and one without
        return None
