"""Where a harness records that nothing may be changed: a plan mode, a read-only sandbox.

    step.extra["permissionMode"] = "plan"                                  → from that step to the next recorded mode
    trajectory.extra["turn_contexts"][i]["sandbox_policy"]["mode"] = "read-only"   in all contexts → the whole run
    a system step that opens with "# Plan Mode" or "sandbox_mode: read-only"       → until the next mode or turn

Only what programs write is read, so that it does not matter how anybody words anything.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.classifiers.history import History, once
from harness.classifiers.programs import words
from harness.classifiers.tools import squeezed
from harness.trajectory import Step

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
"""Words around the name of a mode: "You are now in Default mode", "<sandbox_mode>read-only</sandbox_mode>"."""
_LONGEST_NAME = 2


@once
def unchanging_steps(history: History) -> list[tuple[int, int]]:
    """The stretches of steps, first and first no longer, in which a recorded mode rules out every change."""
    trajectory = history.trajectory
    stretches = []
    start, in_force = 0, _recorded(trajectory.extra) is True
    passing = worked = False  # whether a message alone tells the mode, and whether the agent has worked since
    for index, step in enumerate(trajectory.steps):
        told = _told(step)
        if step.role == "system" and told is False and not passing:
            told = None  # a mode of an unknown name ends none that is recorded
        elif step.role == "user" and told is None and passing and worked:
            told = False
        worked = step.role == "agent" or (worked and told is None)
        if told is None or told == in_force:
            continue
        passing = step.role == "system" and told
        if in_force:
            stretches.append((start, index))
        in_force, start = told, index
    return [*stretches, (start, len(trajectory.steps))] if in_force else stretches


def _told(step: Step) -> bool | None:
    """Whether a step begins or ends a mode without changes; `None` where it says nothing of modes."""
    if step.role == "system" and (stated := _stated(step.text[:_OPENING].lower())) is not None:
        return stated
    if any(squeezed(call.name) == "exitplanmode" for call in step.calls) and any(
        result.is_error is not True and "reject" not in result.text.lower() for result in step.results
    ):
        return False  # the plan is approved, whatever else the step records
    return _recorded(step.extra) if step.extra else None


def _stated(text: str) -> bool | None:
    """What the first piece of a program's message says that names a mode and nothing else."""
    for piece in _PIECE.split(text) if "mode" in text else ():
        said = _WORD.findall(piece)
        name = [word for word in said if word not in _FRAME]
        if "mode" in said and 0 < len(name) <= _LONGEST_NAME:
            return "".join(name) in _UNCHANGING
    return None


def _recorded(extra: Mapping[str, Any]) -> bool | None:
    """Whether fields of a record rule changes out; `None` where they tell no mode. Of several, all have to."""
    told = list(_modes(extra))
    return all(told) if told else None


def _modes(extra: Mapping[str, Any]) -> Iterator[bool]:
    for name, value in extra.items():
        if name in _INSIDE:
            for inner in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
                if isinstance(inner, Mapping):
                    ruled_out = [*_modes(inner)]
                    if ruled_out:  # one stricter field of one record is enough: a plan mode inside a writable sandbox
                        yield any(ruled_out)
        elif squeezed(name) in _FIELDS:
            word = value.get("mode", value.get("type")) if isinstance(value, Mapping) else value
            if isinstance(word, str):
                yield squeezed(word) in _UNCHANGING
