"""What each step of a recorded run cost, as far as the format says."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from misstep_harness.trajectory import Step, Tokens, ToolCall, Trajectory


class StepUsage(Struct, frozen=True, gc=False, array_like=True):
    """What one step cost; `None` where the format does not say.

    `prompt` includes the tokens that were `cached`. `seconds` are those of an agent's step: as recorded, else since the
    step before it, so that the time in which a person thinks is nobody's. `began` is its time in seconds since 1970.
    `message` names the answer of the model where the format does: sessions that were copied have it in common.
    `written` and `written_1h` are the tokens of `prompt` that were written to a cache, and those of them that it keeps
    for an hour. `started` counts the sub-agents that the step started.
    """

    of_agent: bool
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    usd: float | None = None
    seconds: float | None = None
    began: float | None = None
    message: str | None = None
    written: int | None = None
    written_1h: int | None = None
    started: int = 0

    @property
    def tokens(self) -> Tokens:
        """Return the tokens as a reader gives them."""
        return Tokens(self.prompt, self.completion, self.cached, self.usd, self.written, self.written_1h)


def usage_of(run: Trajectory) -> tuple[StepUsage, ...]:
    """Return the usage of each step; none if the format says nothing of it."""
    known = tuple(_usages(run))
    return known if any(one != StepUsage(one.of_agent, started=one.started) for one in known) else ()


def _usages(run: Trajectory) -> Iterator[StepUsage]:
    before: float | None = None
    for step in run.steps:
        began = _moment(step.timestamp)
        message = step.extra.get("message_id")
        used = step.tokens or Tokens()
        yield StepUsage(
            step.role == "agent",
            used.prompt,
            used.cached,
            used.completion,
            used.cost_usd,
            _seconds(step, before, began),
            began,
            message if isinstance(message, str) else None,
            used.cache_written,
            used.cache_written_1h,
            sum(_starts_an_agent(call) for call in step.calls),
        )
        before = began


_STARTS_AN_AGENT = re.compile(
    r"task|agent|sub_?agent|(dispatch|spawn|delegate_to)_agent|(run|invoke)_subagent|use_subagents|new_task|delegate",
    re.IGNORECASE,
)


def _starts_an_agent(call: ToolCall) -> bool:
    named = _STARTS_AN_AGENT.fullmatch(call.name) is not None
    return named and isinstance(call.arguments, dict) and "command" not in call.arguments


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
