"""Tell which misbehaviours are one problem, which of them were spoken of, and which are over.

An episode is one problem of one run: findings of one category that have evidence in common or are about the same call,
tool or constraint.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.classifiers.effects import effects, nature_of
from misstep_harness.classifiers.failures import environment_failure, failed, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.identity import call_key, same_text
from misstep_harness.classifiers.overstepping import undoes
from misstep_harness.classifiers.tools import bare_name
from misstep_harness.intervention import Misbehaviour, Withheld
from misstep_harness.observer.evidence import call_text
from misstep_harness.trajectory import Source, Step, ToolCall, Trajectory

_COMPARED = 50
"""Steps before that a call is compared with: what was done earlier is new again."""

_NEVER = frozenset(("note", "wait"))
"""Kinds of calls that are new each time and show nothing."""


class ObservedProgress(Struct, frozen=True):
    """A step of it; `changed` says that something is otherwise now: a file, an answer, or a test that passes."""

    step: int
    changed: bool


def progress(steps: Sequence[Step], evidence: Collection[int], after: int) -> list[ObservedProgress]:
    """Return the progress behind step `after`, in order, in steps that are not evidence of the misbehaviour."""
    if not any(step.calls for step in steps[after + 1 :]):
        return []
    answers: dict[Hashable, str] = {}
    restless: set[Hashable] = set()
    steps_on: list[ObservedProgress] = []
    for act in _acts_behind(steps, after - _COMPARED):
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
                    steps_on.append(ObservedProgress(act.step, otherwise))
            elif before is None or otherwise:
                steps_on.append(ObservedProgress(act.step, otherwise or bool(effects(act)) or nature_of(act) == "test"))
        answers[key] = text
    return steps_on


def is_like_an_earlier(step: Step, steps: Sequence[Step]) -> bool:
    """Return whether a step with a call makes one that the last steps before it make too."""
    *earlier, last = (call_key(act) for act in _acts_behind((*steps, step), len(steps) - 1 - _COMPARED))
    return last in earlier


def _acts_behind(steps: Sequence[Step], after: int) -> list[Act]:
    start = max(0, after + 1)
    shown = (*(Step("system"),) * start, *steps[start:])
    return History(Trajectory("", Source(""), steps=shown)).acts


LEVELS = 3
"""A word, a firmer word, and the call for a new plan or for the user."""

LONGEST_PAUSE = 4
"""Steps of the agent without the misbehaviour, at most, before it counts as over: as long as the longest cycle of calls
that the rule of infinite loops knows."""

LASTING = frozenset({"did_not_follow_instructions", "unrequested_changes", "specification_drift"})
"""Categories whose harm stays when the agent goes on to something else: a change that was ruled out is still made."""

_SUBJECTS = {"tool_call_failure": ("tool", "call")} | dict.fromkeys(LASTING, ("constraint", "changed", "call"))
"""What of the evidence tells a problem of a category from another, the best first; else the call."""


class OpenEpisode(Struct, frozen=True):
    """One problem that was spoken of: what it is about, its evidence, how firmly it was, and the last step then."""

    category: str
    subject: str
    steps: frozenset[int]
    level: int
    spoken_at: int


class EpisodeDecision(Struct, frozen=True):
    """What is to be said on a misbehaviour: at which level, or why nothing."""

    level: int
    withheld: Withheld = ""


def merged(faults: Iterable[Misbehaviour]) -> tuple[Misbehaviour, ...]:
    """The misbehaviours with those about one thing made one, which has all their steps and the newest evidence."""
    known: dict[tuple[str, str] | int, Misbehaviour] = {}
    for place, one in enumerate(faults):
        key = (one.category, subject) if (subject := subject_of(one)) else place
        before = known.get(key)
        steps = one.steps if before is None else tuple(sorted({*before.steps, *one.steps}))
        known[key] = replace(one, steps=steps)
    return tuple(known.values())


def decide(fault: Misbehaviour, spoken: Sequence[OpenEpisode], steps: Sequence[Step]) -> EpisodeDecision:
    """Return whether a misbehaviour is spoken of now, and how firmly.

    A firmer word is for an agent that goes on as before. If the misbehaviour is there again after a change, it is a
    first word once more.
    """
    episode = episode_of(fault, spoken)
    if episode is None:
        return EpisodeDecision(1, "stale" if is_over(fault, steps) else "")
    later = sorted(step for step in fault.steps if step > episode.spoken_at)
    changed = fault.evidence.get("changed", "")
    if later and changed and fault.category in LASTING:
        # The agent was asked to undo the change: its next change of the same file is taken for that.
        first = steps[later[0]].calls if later[0] < len(steps) else ()
        later = later[1:] if any(changed in call_text(call) for call in first) else later
    if not later:
        return EpisodeDecision(episode.level, "repeated")
    since: list[ObservedProgress] = []
    if fault.category not in LASTING:
        since = progress(steps, episode.steps.union(fault.steps), min(episode.spoken_at, max(fault.steps)))
    last = _last_shown(fault, steps, since)
    if any(one.changed and episode.spoken_at < one.step < last for one in since):
        level, has_tried = 1, any(one.changed and one.step > last for one in since)
    else:
        level, has_tried = episode.level + 1, any(one.step > last for one in since)
    if level > LEVELS:
        return EpisodeDecision(episode.level, "repeated")
    return EpisodeDecision(level, "stale" if has_tried or is_over(fault, steps, since) else "")


def episode_of(fault: Misbehaviour, spoken: Sequence[OpenEpisode]) -> OpenEpisode | None:
    """Return the problem that a misbehaviour belongs to, if it was spoken of; the last one if there are several."""
    subject = subject_of(fault)
    alike = (
        one
        for one in reversed(spoken)
        if one.category == fault.category
        and ((subject and subject == one.subject) or not fault.steps or not one.steps.isdisjoint(fault.steps))
    )
    return next(alike, None)


def noted(spoken: Sequence[OpenEpisode], fault: Misbehaviour, level: int, at: int) -> tuple[OpenEpisode, ...]:
    """Return the problems that were spoken of, when this one now is."""
    known = episode_of(fault, spoken)
    if known is None:
        return (*spoken, OpenEpisode(fault.category, subject_of(fault), frozenset(fault.steps), level, at))
    now = replace(known, steps=known.steps | frozenset(fault.steps), level=level, spoken_at=at)
    return (*(one for one in spoken if one is not known), now)


def subject_of(fault: Misbehaviour) -> str:
    """What a misbehaviour is about: the tool that fails, the constraint that is broken, the call that is repeated."""
    names = _SUBJECTS.get(fault.category, ("call",))
    return next(filter(None, (fault.evidence.get(name) for name in names)), "")


def is_over(fault: Misbehaviour, steps: Sequence[Step], since: Sequence[ObservedProgress] | None = None) -> bool:
    """Return whether a misbehaviour has ended in the steps behind its evidence, or the user has spoken since.

    A loop or a failing tool is over when something has changed since, or when the agent has worked longer without it
    than it ever did within it. A change that was ruled out is over only when the agent has taken it back.
    """
    if not fault.steps:
        return False
    later = steps[max(fault.steps) + 1 :]
    if any(step.role == "user" and step.text for step in later):
        return True
    if fault.category in LASTING:
        changed, acts = fault.evidence.get("changed", ""), _acts_behind(steps, min(fault.steps) - 1)
        edits = [act for act in acts if act.step in fault.steps]
        after = (act for act in acts if act.step > max(fault.steps) and not failed(act))
        return bool(changed) and any(undoes(act, edits, changed) for act in after)
    since = progress(steps, fault.steps, max(fault.steps)) if since is None else since
    last = _last_shown(fault, steps, since)
    if any(one.changed and one.step > last for one in since):
        return True
    gaps = [later - earlier for earlier, later in pairwise(sorted(fault.steps))]
    if fault.category == "tool_call_failure" and any(
        not failed(act)
        for act in _acts_behind(steps, max(fault.steps))
        if act.result is not None and _of_tool(fault, act.call)
    ):
        return True
    pause, longest = 0, min(max(gaps, default=1), LONGEST_PAUSE)
    for step in (one for one in later if one.role == "agent"):
        pause = 0 if _shows(fault, step) else pause + 1
    return pause > longest


def _last_shown(fault: Misbehaviour, steps: Sequence[Step], since: Iterable[ObservedProgress]) -> int:
    """Return the last step that shows a misbehaviour: of its evidence, or of the same in the steps that came then."""
    last = max(fault.steps)
    came_out_anew = {one.step for one in since}
    later = (n for n in range(last + 1, len(steps)) if n not in came_out_anew and _shows(fault, steps[n]))
    return max(later, default=last)


def _shows(fault: Misbehaviour, step: Step) -> bool:
    if fault.category == "tool_call_failure":
        return any(_of_tool(fault, call) for call in step.calls)
    return any(call_text(call) == fault.evidence.get("call") for call in step.calls)


def _of_tool(fault: Misbehaviour, call: ToolCall) -> bool:
    return bare_name(call.name) == fault.evidence.get("tool")
