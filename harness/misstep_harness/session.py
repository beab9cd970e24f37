"""A session: one recorded run as a list of runs shows it, with the facts by which people sort and count runs."""

from datetime import datetime
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from misstep_harness.escaping import one_line
from misstep_harness.trajectory import Evidence, Trajectory
from misstep_harness.usage import StepUsage, usage_of

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
