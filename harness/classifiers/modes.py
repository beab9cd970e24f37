"""Where a harness records that nothing may be changed: a plan mode, a read-only sandbox.

    step.extra["permissionMode"] = "plan"                                  → from that step to the next recorded mode
    trajectory.extra["turn_contexts"][i]["sandbox_policy"]["mode"] = "read-only"   in all contexts → the whole run

Only fields that programs write are read, so that it does not matter how anybody words anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.classifiers.history import History, once
from harness.trajectory import Step

_FIELDS = frozenset(
    (
        "permissionmode",
        "approvalmode",
        "sandboxmode",
        "sandboxpolicy",
        "sandbox",
        "collaborationmode",
        "agentmode",
        "mode",
    )
)
_UNCHANGING = frozenset(("plan", "planmode", "planning", "readonly", "readonlymode"))
_INSIDE = ("session", "turn_contexts", "context", "config", "settings", "metadata")
"""Where readers keep what a format says of the whole session."""


@once
def unchanging_steps(history: History) -> list[tuple[int, int]]:
    """The stretches of steps, first and first no longer, in which a recorded mode rules out every change."""
    trajectory = history.trajectory
    end = len(trajectory.steps)
    in_force = _mode(trajectory.extra)
    stretches = []
    start = 0
    for index, step in enumerate(trajectory.steps):
        told = _told(step)
        if told is None or told == in_force:
            continue
        if in_force:
            stretches.append((start, index))
        in_force, start = told, index
    return [*stretches, (start, end)] if in_force else stretches


def _told(step: Step) -> bool | None:
    if any(_squeezed(call.name) == "exitplanmode" for call in step.calls) and any(
        result.is_error is not True and "reject" not in result.text.lower() for result in step.results
    ):
        return False  # the plan is approved, whatever else the step records
    return _mode(step.extra) if step.extra else None


def _mode(extra: Mapping[str, Any]) -> bool | None:
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
        elif _squeezed(name) in _FIELDS:
            word = value.get("mode", value.get("type")) if isinstance(value, Mapping) else value
            if isinstance(word, str):
                yield _squeezed(word) in _UNCHANGING


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
