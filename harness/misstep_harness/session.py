"""A session: one recorded run as a list of runs shows it, with the facts by which people sort and count runs."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from misstep_harness.escaping import one_line
from misstep_harness.trajectory import Evidence, Step, Tokens, ToolCall, Trajectory


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


TITLE_CHARACTERS = 100
"""The most characters of a title."""

_FOLDERS = ("cwd", "workspace", "project")
"""The names in `extra` under which formats keep the folder that the agent worked in."""


class Session(Struct, frozen=True, gc=False, omit_defaults=True):
    """One recorded run, or the run of a sub-agent that its `parent` started.

    - `item`: The id that verdicts name it by.
    - `file`, `line`: The file that it was read from, and the line in a file of many.
    - `title`: The first words of its task.
    - `project`: The folder that the agent worked in; where the format does not say, the data set, else the file's
      folder.
    - `agent`, `model`: The program and the model, where the format says.
    - `started`: The time of the first step that has one, in ISO 8601 as printed.
    - `n_steps`: The number of steps.
    - `parent`: The id of the run that started a sub-agent; a session that continues another has none.
    - `evidence`: `generated` if a program made it.
    - `shown`: The run as a page opens it, if it is to be shown.
    - `usage`: What each step cost.
    """

    item: str
    file: str
    line: int | None = None
    title: str = ""
    project: str = ""
    agent: str | None = None
    model: str | None = None
    started: str | None = None
    n_steps: int = 0
    parent: str | None = None
    evidence: Evidence = "real"
    shown: str = ""
    usage: tuple[StepUsage, ...] = ()

    @property
    def week(self) -> str | None:
        """Return the ISO week in which it started, such as `2026-W07`; `None` where no time is known."""
        try:
            started = datetime.fromisoformat(self.started or "")
        except ValueError:
            return None
        year, week, _ = started.isocalendar()
        return f"{year}-W{week:02}"


def session_of(trajectory: Trajectory, file: str, line: int | None = None, shown: str = "") -> Session:
    """Return the session of a trajectory that was read from a file."""
    return Session(
        item=trajectory.id,
        file=file,
        line=line,
        title=title_of(trajectory),
        project=_project(trajectory, file),
        agent=trajectory.agent,
        model=trajectory.model,
        started=next((step.timestamp for step in trajectory.steps if step.timestamp), None),
        n_steps=len(trajectory.steps),
        parent=trajectory.parent if is_sub_agent(trajectory) else None,
        evidence=trajectory.source.evidence,
        shown=shown,
        usage=usage_of(trajectory),
    )


def is_sub_agent(trajectory: Trajectory) -> bool:
    """Return whether another run started this one for a part of its work; a session taken up again is none."""
    return trajectory.parent is not None and "replayed_lines" not in trajectory.extra


def title_of(trajectory: Trajectory) -> str:
    """Return the first words of the task, else of the user, in one line."""
    texts = (trajectory.task, *(step.text for step in trajectory.steps if step.role == "user"))
    start = one_line(next((text.strip() for text in texts if text.strip()), "")[: 4 * TITLE_CHARACTERS])
    return start if len(start) <= TITLE_CHARACTERS else f"{start[: TITLE_CHARACTERS - 1].rstrip()}…"


def _project(trajectory: Trajectory, file: str) -> str:
    return folder_of_work(trajectory) or trajectory.source.dataset or str(PurePath(file).parent)


def folder_of_work(trajectory: Trajectory) -> str:
    """Return the folder that the agent worked in; empty where the format does not say."""
    tables = [value for value in trajectory.extra.values() if isinstance(value, dict)]  # as formats describe a session
    return next(filter(None, map(_folder_in, [trajectory.extra, *tables])), "")


def _folder_in(described: dict[str, Any]) -> str:
    return next((value for name in _FOLDERS if isinstance(value := described.get(name), str) and value), "")
