"""Tool call failures (Wink, 2.1.3): errors of the agent's own making, repeated and not corrected.

Four ways in which that shows:

- three or more errors of one sort about one thing (a tool, a program, a file to edit) before it once works;
- the same complaint about a tool or a program three times, or three edits that fail and are never made;
- the same failing call made again at once, although the answer said what was wrong, and never put right;
- a failed edit that the agent passes over and later claims to have made.

Not tool call failures: failing tests, a search that finds nothing, a compiler's complaint, a network that is down, a
call that the user declined, an error that the next attempt corrects.
"""

import re
from collections import defaultdict
from collections.abc import Hashable
from itertools import pairwise

from msgspec import Struct

from harness.classifiers.effects import CHANGES_FILES, effects
from harness.classifiers.failures import Failure, failed, own_failure
from harness.classifiers.history import Act, History
from harness.classifiers.identity import call_key, even_path
from harness.classifiers.shell import commands_of
from harness.classifiers.tools import bare_name, path_of
from harness.classifiers.verdicts import absent, counted, found, nothing_to_judge, quoted
from harness.trajectory import Trajectory
from harness.verdict import Verdict

CATEGORY = "tool_call_failure"

ERRORS = 3
"""Errors of one sort before a success that make a failure: one is a slip, two are a slip and a try at correcting it."""

SAME_AGAIN = 2
"""Times in a row that the very same failing call makes one, where it is never put right."""

_PARTICULAR = re.compile(r"\S*[\d_/.=<>'\"`]\S*|\b[a-z]+[A-Z]\w*")
"""Words of a complaint that name what the call was about: figures, paths, names, what stands in quotes."""

WINDOW = 10
"""Calls between two malformed calls, or two of tools that do not exist, from which they are slips of their own."""

_CLAIM = re.compile(
    r"\b(?:i(?:'ve| have)?|successfully|now|has been|have been|was|were|is|are)\s+(?:\w+\s+)?"
    r"(?:updated|changed|edited|modified|fixed|replaced|added|applied|made|implemented|corrected|renamed|removed)\b",
    re.IGNORECASE,
)

_ADMISSION = re.compile(
    r"\b(?:fail(?:ed|s|ure)?|could(?:n't| not)|was(?:n't| not)|unable|cannot|can't|did(?:n't| not)|"
    r"error|unfortunately)\b",
    re.IGNORECASE,
)


class _Error(Struct, frozen=True, gc=False):
    place: int
    failure: Failure


def classify(trajectory: Trajectory) -> Verdict:
    """Whether a run shows tool call failures."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """The verdict on a run whose view is already made."""
    if not history.agent_steps:
        return nothing_to_judge(history, CATEGORY)
    errors = [
        _Error(place, failure) for place, act in enumerate(history.acts) if (failure := own_failure(act)) is not None
    ]
    if not errors:
        return absent(history, CATEGORY, "No call fails by the agent's own error.")
    shown = _repeated(history.acts, errors) or _passed_over(history, errors)
    if shown is None:
        return absent(history, CATEGORY, f"The agent's own errors ({len(errors)}) are single or put right.")
    steps, rationale = shown
    return found(history, CATEGORY, steps, rationale)


def _subject(act: Act, failure: Failure) -> Hashable:
    """What an error is about: the file of an edit, the program of a command, the tool otherwise."""
    fault = failure.fault
    if fault in ("malformed call", "unknown tool"):
        return fault
    if fault in ("failed edit", "missing file"):
        return fault, even_path(path_of(act.call)) or bare_name(act.call.name)
    if fault == "wrong usage":
        return fault, _program_at_fault(act, failure)
    return fault, bare_name(act.call.name)


def _program_at_fault(act: Act, failure: Failure) -> str:
    """The program that complains, else the first of the command line."""
    programs = [program for program in _programs(act) if program != "cd"]
    return next(
        (program for program in programs if program and program in failure.words), programs[0] if programs else ""
    )


def _repeated(acts: list[Act], errors: list[_Error]) -> tuple[list[int], str] | None:
    return _before_success(acts, errors) or _same_mistake(acts, errors) or _left_undone(acts, errors)


def _before_success(acts: list[Act], errors: list[_Error]) -> tuple[list[int], str] | None:
    """Errors about one thing before it once works."""
    by_subject: dict[Hashable, list[_Error]] = defaultdict(list)
    for error in errors:
        subject = _subject(acts[error.place], error.failure)
        alike = by_subject[subject]
        if alike and _put_right(acts, subject, alike[-1].place, error.place):
            alike.clear()
        _add(acts, alike, error)
        if len(alike) == ERRORS:
            later = [other for other in errors if other.place > error.place]
            return _shown(acts, alike + [one for one in later if _subject(acts[one.place], one.failure) == subject])
    for subject, alike in by_subject.items():
        if len(alike) >= SAME_AGAIN and not _put_right(acts, subject, alike[-1].place, len(acts)):
            for one, other in pairwise(alike):
                if other.place == one.place + 1 and call_key(acts[one.place]) == call_key(acts[other.place]):
                    return _shown(acts, [one, other])
    return None


def _same_mistake(acts: list[Act], errors: list[_Error]) -> tuple[list[int], str] | None:
    """One complaint about how a tool or a program is called, again and again whatever went right meanwhile."""
    by_complaint: dict[Hashable, list[_Error]] = defaultdict(list)
    for error in errors:
        if error.failure.fault in ("invalid arguments", "wrong usage"):
            subject = _subject(acts[error.place], error.failure)
            alike = by_complaint[subject, _PARTICULAR.sub("", error.failure.words).lower()]
            _add(acts, alike, error)
    return next((_shown(acts, alike) for alike in by_complaint.values() if len(alike) >= ERRORS), None)


def _left_undone(acts: list[Act], errors: list[_Error]) -> tuple[list[int], str] | None:
    """Failed edits, of whatever files, that are never made."""
    undone: list[_Error] = []
    for error in errors:
        subject = _subject(acts[error.place], error.failure)
        if error.failure.fault == "failed edit" and not _put_right(acts, subject, error.place, len(acts)):
            _add(acts, undone, error)
    return _shown(acts, undone) if len(undone) >= ERRORS else None


def _add(acts: list[Act], alike: list[_Error], error: _Error) -> None:
    """Count an error, but not twice in one turn."""
    if not alike or acts[alike[-1].place].step != acts[error.place].step:
        alike.append(error)


def _put_right(acts: list[Act], subject: Hashable, start: int, end: int) -> bool:
    """Whether between two calls the thing that went wrong goes right, or the error is too long ago to be the same."""
    between = [act for act in acts[start + 1 : end] if not failed(act)]
    if not isinstance(subject, tuple):
        return end - start > WINDOW if end < len(acts) else bool(between)
    fault, about = subject
    if fault == "wrong usage":
        return any(about in _programs(act) for act in between)
    if fault == "invalid arguments":
        return any(bare_name(act.call.name) == about for act in between)
    if fault == "missing file":
        return any(even_path(path_of(act.call)) == about for act in between)
    return any(
        (even_path(path_of(act.call)) == about and act.kind != "read")
        or any(effect.verb in CHANGES_FILES and same_file(effect.target, about) for effect in effects(act))
        for act in between
    )


def _programs(act: Act) -> list[str]:
    return [command.program for command in commands_of(act)]


def same_file(one: str, other: str) -> bool:
    """Whether two paths can be one file: equal, or one the end of the other."""
    one, other = even_path(one), even_path(other)
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)


def _shown(acts: list[Act], errors: list[_Error]) -> tuple[list[int], str]:
    first = errors[0]
    steps = [acts[error.place].step for error in errors]
    name = quoted(bare_name(acts[first.place].call.name), 40).strip('"')
    sentence = (
        f"{name} fails {len(errors)} times by the agent's own error, {first.failure.fault} "
        f"({quoted(first.failure.words)}), and is not put right ({counted(steps)})."
    )
    return steps, sentence


def _passed_over(history: History, errors: list[_Error]) -> tuple[list[int], str] | None:
    """A failed edit after which its file is never changed, and which the agent claims to have made."""
    acts = history.acts
    for error in errors:
        act = acts[error.place]
        path = path_of(act.call)
        if error.failure.fault != "failed edit" or not path:
            continue
        later = [effect for following in acts[error.place + 1 :] for effect in effects(following)]
        if any(same_file(effect.target, path) for effect in later):
            continue
        name = path.rsplit("/", 1)[-1]
        elsewhere = any(effect.verb in CHANGES_FILES for effect in later)
        claim = _claimed(history, act.step, name, named=elsewhere)
        if claim is not None:
            sentence = (
                f"The edit of {quoted(name)} fails ({quoted(error.failure.words)}), is never made, "
                f"and is claimed all the same ({counted([act.step, claim])})."
            )
            return [act.step, claim], sentence
    return None


def _claimed(history: History, after: int, name: str, named: bool) -> int | None:
    """The last step after `after` in which the agent claims an edit and admits no failure.

    The claim has to name the file where `named` says that other files were changed instead.
    """
    for index in reversed(history.agent_steps):
        if index <= after:
            return None
        text = history.trajectory.steps[index].text
        if text:
            claims = _CLAIM.search(text) and not _ADMISSION.search(text) and (name in text or not named)
            return index if claims else None
    return None
