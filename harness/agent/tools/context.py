"""`get_diff_details`, `get_task_details`: what is known about the change that broke the test, and about the task."""

import re
from collections.abc import Mapping

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.environment import Environment
from misstep.harness.agent.tools import Tool
from misstep.harness.agent.tools.observing import PAGE, paged

_CHANGED = re.compile(r"^(?:\+\+\+ b/|--- a/)([^\t\n]+)", re.MULTILINE)


def _details(kind: str, number: str, known: Mapping[str, str], name: str, arguments: Mapping[str, str]) -> Observation:
    wanted = number.strip().lstrip("#")
    if wanted in known:
        return paged(known[wanted].splitlines(), name, arguments)
    there = f"Known: {', '.join(sorted(known))}." if known else f"No {kind} is known here."
    return Observation(f"There is no {kind} {number!r}. {there}", is_error=True)


async def _diff(arguments: Mapping[str, str], environment: Environment) -> Observation:
    known = {number: _titled(text) for number, text in environment.diffs.items()}
    return _details("diff", arguments["diff_number"], known, "get_diff_details", arguments)


def _titled(diff: str) -> str:
    """Return a diff with what it is about above it: a bare one has no title, and the files that it changes say most."""
    if not diff.lstrip().startswith(("diff ", "--- ", "Index: ")):
        return diff
    files = dict.fromkeys(_CHANGED.findall(diff))
    return f"Title: none is known; it changes {', '.join(files) or 'no file'}\n\n{diff}"


async def _task(arguments: Mapping[str, str], environment: Environment) -> Observation:
    return _details("task", arguments["task_num"], environment.tasks, "get_task_details", arguments)


GET_DIFF_DETAILS = Tool(
    "get_diff_details",
    "Show a change: its title, its summary and what it changed.",
    {"diff_number": "number of the diff"},
    _diff,
    PAGE,
)
GET_TASK_DETAILS = Tool(
    "get_task_details", "Show a task by its number.", {"task_num": "number of the task"}, _task, PAGE
)
