"""What each step of a recorded run cost, as far as the format says."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from misstep.harness.trajectory import Step, Trajectory


class StepUsage(Struct, frozen=True, gc=False, array_like=True):
    """What one step cost; `None` where the format does not say.

    `prompt` includes the tokens that were `cached`. `seconds` are those of an agent's step: as recorded, else since the
    step before it, so that the time in which a person thinks is nobody's. `began` is its time in seconds since 1970.
    `message` names the answer of the model where the format does: sessions that were copied have it in common.
    """

    of_agent: bool
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    usd: float | None = None
    seconds: float | None = None
    began: float | None = None
    message: str | None = None


def usage_of(run: Trajectory) -> tuple[StepUsage, ...]:
    """Return the usage of each step; none if the format says nothing of it."""
    known = tuple(_usages(run))
    return known if any(one != StepUsage(one.of_agent) for one in known) else ()


def _usages(run: Trajectory) -> Iterator[StepUsage]:
    before: float | None = None
    for step in run.steps:
        began = _moment(step.timestamp)
        message = step.extra.get("message_id")
        yield StepUsage(
            step.role == "agent",
            *((used.prompt, used.cached, used.completion, used.cost_usd) if (used := step.tokens) else (None,) * 4),
            _seconds(step, before, began),
            began,
            message if isinstance(message, str) else None,
        )
        before = began


def _seconds(step: Step, before: float | None, began: float | None) -> float | None:
    if step.role != "agent" or step.seconds is not None:
        return step.seconds
    return began - before if began is not None and before is not None and began >= before else None


def _moment(timestamp: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
