"""Where a harness records that nothing may be changed: a plan mode, a read-only sandbox.

    step.extra["permissionMode"] = "plan"                                  → from that step to the next recorded mode
    trajectory.extra["turn_contexts"][i]["sandbox_policy"]["mode"] = "read-only"   in all contexts → the whole run
    a system step that opens with "# Plan Mode" or "sandbox_mode: read-only"       → until the next mode or turn

Only what programs write is read, so that it does not matter how anybody words anything.
"""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from misstep.harness.classifiers.calls.history import History, once
from misstep.harness.classifiers.calls.programs import words
from misstep.harness.classifiers.calls.tools import squeezed
from misstep.harness.trajectory import Step

_FIELDS = words("permissionmode approvalmode sandboxmode sandboxpolicy sandbox collaborationmode agentmode mode")
_UNCHANGING = words("plan planmode planning readonly readonlymode")
_INSIDE = ("session", "turn_contexts", "context", "config", "settings", "metadata")
"""Where readers keep what a format says of the whole session."""

_OPENING = 400
"""Characters of a program's message in which it says what mode it is about."""
_PIECE = re.compile(r"[\n.;()]+")
_WORD = re.compile(r"[a-z]+")
_FRAME = words(
    "active agent approval are collaboration current is mode now on permission reminder sandbox system the you in"
)
"""Words around the name of a mode, which has one or two: "You are now in Default mode"."""


@once
def unchanging_steps(history: History) -> list[tuple[int, int]]:
    """Return the stretches of steps, first and first no longer, in which a recorded mode rules out every change."""
    steps = history.trajectory.steps
    stretches = []
    start, in_force = 0, _recorded(history.trajectory.extra) is True
    passing = worked = False  # whether a message alone tells the mode, and whether the agent has worked since
    for index, step in enumerate(steps):
        mode = _told(step)
        if step.role == "system" and mode is False and not passing:
            mode = None  # a mode of an unknown name ends none that is recorded
        elif step.role == "user" and mode is None and passing and worked:
            mode = False
        worked = step.role == "agent" or (worked and mode is None)
        if mode is None or mode == in_force:
            continue
        passing = step.role == "system" and mode
        if in_force:
            stretches.append((start, index))
        in_force, start = mode, index
    return [*stretches, (start, len(steps))] if in_force else stretches


def _told(step: Step) -> bool | None:
    """Return whether a step begins or ends a mode without changes; `None` where it says nothing of modes."""
    for piece in _PIECE.split(step.text[:_OPENING].lower()) if step.role == "system" else ():
        words = _WORD.findall(piece)
        name = [word for word in words if word not in _FRAME]
        if "mode" in words and len(name) in (1, 2):
            return "".join(name) in _UNCHANGING
    leaves = any(squeezed(call.name) == "exitplanmode" for call in step.calls)
    if leaves and any(answer.is_error is not True and "reject" not in answer.text.lower() for answer in step.results):
        return False  # the plan is approved, whatever else the step records
    return _recorded(step.extra) if step.extra else None


def _recorded(extra: Mapping[str, Any]) -> bool | None:
    """Return whether every record that tells a mode rules changes out; `None` where none tells one."""
    inside = (value if isinstance(value, list) else [value] for name, value in extra.items() if name in _INSIDE)
    mode = [modes for record in chain([extra], *inside) if (modes := _modes(record))]
    return all(map(any, mode)) if mode else None


def _modes(record: object) -> list[bool]:
    """Of each mode in a record whether it rules changes out: one is enough, as a plan mode in a writable sandbox is."""
    fields = record.items() if isinstance(record, Mapping) else ()
    values = [value for name, value in fields if squeezed(name) in _FIELDS]
    recorded = [value.get("mode", value.get("type")) if isinstance(value, Mapping) else value for value in values]
    return [squeezed(mode) in _UNCHANGING for mode in recorded if isinstance(mode, str)]
