"""What an agent did beside a misbehaviour that shows progress: a new call that worked, or one that came out anew.

read a.py, read a.py, read a.py, list src            → step 3: `list src` is new
read a.py, read a.py, edit a.py, read a.py           → steps 2 and 3: the edit changes a file, and then the answer
test (2 failed), read a.py, test (2 failed)          → nothing behind the first two
"""

from collections.abc import Collection, Hashable, Sequence

from msgspec import Struct

from misstep.harness.classifiers.calls.effects import effects
from misstep.harness.classifiers.calls.failures import environment_failure, failed, own_failure
from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.classifiers.calls.identity import call_key, same_text
from misstep.harness.classifiers.calls.natures import nature_of
from misstep.harness.trajectory import Source, Step, Trajectory

_COMPARED = 50
"""Steps before that a call is compared with: what was done earlier is new again."""

_NEVER = frozenset(("note", "wait"))
"""Kinds of calls that are new each time and show nothing."""


class ObservedProgress(Struct, frozen=True):
    """A step of it; `changed` says that something is otherwise now: a file, an answer, or a test that passes."""

    step: int
    changed: bool


def progress(steps: Sequence[Step], evidence: Collection[int], after: int) -> list[ObservedProgress]:
    """Return the progress behind step `after`, in order, in steps that are not evidence of the misbehaviour themselves.

    An answer that differs from one piece of evidence to the next, as by a counter, shows nothing when it differs again.
    """
    if not any(step.calls for step in steps[after + 1 :]):
        return []
    answers: dict[Hashable, str] = {}
    restless: set[Hashable] = set()
    made: list[ObservedProgress] = []
    for act in acts_behind(steps, after - _COMPARED):
        key, text = call_key(act), act.result.text if act.result is not None else None
        if text is None or act.kind in _NEVER:
            continue
        before = answers.get(key)
        otherwise = before is not None and key not in restless and not same_text(before, text)
        if act.step in evidence:
            restless |= {key} if otherwise else set()
        elif act.step > after and own_failure(act) is None and not environment_failure(act):
            if failed(act):  # as a test does, which may fail in a new way
                if otherwise or (before is None and not any(same_text(one, text) for one in answers.values())):
                    made.append(ObservedProgress(act.step, otherwise))
            elif before is None or otherwise:
                made.append(ObservedProgress(act.step, otherwise or bool(effects(act)) or nature_of(act) == "test"))
        answers[key] = text
    return made


def is_like_an_earlier(step: Step, steps: Sequence[Step]) -> bool:
    """Return whether a step with a call makes one that the last steps before it make too."""
    *earlier, last = (call_key(act) for act in acts_behind((*steps, step), len(steps) - 1 - _COMPARED))
    return last in earlier


def acts_behind(steps: Sequence[Step], after: int) -> list[Act]:
    """Return the agent's calls behind a step."""
    start = max(0, after + 1)
    shown = (*(Step("system"),) * start, *steps[start:])
    return History(Trajectory("", Source(""), steps=shown)).acts
