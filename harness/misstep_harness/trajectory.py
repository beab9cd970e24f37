"""Name the parts of a recorded run: trajectory, step, tool call, tool result (Wink, equation 1).

Steps count from 0, one a turn; what tools answered is in the step whose calls they answer. What a format says and these
types have no place for is kept in `extra`, never dropped.
"""

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

Evidence = Literal["generated", "real"]


def together(each: Iterable[Evidence]) -> Evidence:
    """Return the evidence of a figure over all of these: generated as soon as one of them is."""
    return "generated" if "generated" in set(each) else "real"


def noted(evidence: Evidence) -> dict[str, str]:
    """Return the field as tables have it; a table without it, as people write them, is of what is real."""
    return {"evidence": evidence}


Role = Literal["user", "agent", "system"]
OutcomeStatus = Literal["passed", "failed", "unknown"]


class Tokens(Struct, frozen=True, gc=False, omit_defaults=True):
    """What one turn cost, in tokens and US dollars; `None` where the format does not say.

    `prompt` includes the tokens that were `cached` and those that were written to the cache, `cache_written`; of these
    the server keeps `cache_written_1h` for an hour.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cost_usd: float | None = None
    cache_written: int | None = None
    cache_written_1h: int | None = None


class ToolCall(Struct, frozen=True, gc=False, omit_defaults=True):
    """One tool call: parsed arguments, or the raw string with the reason why it does not parse.

    `recorded` is false where the recording does not hold the arguments: they are then unknown, and not empty.
    """

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None
    parse_error: str | None = None
    extra: dict[str, Any] = {}
    recorded: bool = True


class ToolResult(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a tool answered; `is_error` and `exit_code` only where the format says so.

    `recorded` is false where the recording holds how a call ended but not the words of the answer: they are then
    unknown, and not empty. Of a call of which it holds neither there is no result.
    """

    text: str
    is_error: bool | None = None
    exit_code: int | None = None
    call_id: str | None = None
    extra: dict[str, Any] = {}
    recorded: bool = True

    @property
    def says_nothing(self) -> bool:
        """Return whether the recording holds neither the words of the answer nor that the call failed."""
        return not self.recorded and not self.is_error and self.exit_code is None


class Step(Struct, frozen=True, gc=False, omit_defaults=True):
    """One turn of the user, the agent or the system.

    `speaker` is who spoke where several agents do; `timestamp` is ISO 8601 as printed; `seconds` is how long the
    turn took.
    """

    role: Role
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    speaker: str | None = None
    timestamp: str | None = None
    seconds: float | None = None
    tokens: Tokens | None = None
    extra: dict[str, Any] = {}


class Outcome(Struct, frozen=True, gc=False, omit_defaults=True):
    """Whether the task was solved, and the reward where one was given."""

    status: OutcomeStatus = "unknown"
    reward: float | None = None


class Source(Struct, frozen=True, gc=False, omit_defaults=True):
    """Where a trajectory was read: format, file, line (from 1, in a file of many), data set, kind of evidence."""

    format: str
    file: str = ""
    line: int | None = None
    dataset: str | None = None
    evidence: Evidence = "real"


class Trajectory(Struct, frozen=True, gc=False, omit_defaults=True):
    """One recorded run of one agent; a sub-agent's run is a trajectory of its own with its `parent`'s id."""

    id: str
    source: Source
    task: str = ""
    steps: tuple[Step, ...] = ()
    outcome: Outcome = Outcome()
    agent: str | None = None
    model: str | None = None
    parent: str | None = None
    extra: dict[str, Any] = {}


class Unreadable(Struct, frozen=True, gc=False):
    """A trajectory that could not be read: where, and why; `line` counts from 1, `None` for a whole file."""

    file: str
    line: int | None
    error: str


class Skipped(Struct, frozen=True, gc=False):
    """A file in a folder that holds no trajectories: which, and why none was looked for in it."""

    file: str
    reason: str


class Placed(Struct, frozen=True, gc=False):
    """What was read, and the file and line where it was; its own `source` may be the place that it was made from."""

    found: Trajectory | Unreadable
    file: str
    line: int | None = None
