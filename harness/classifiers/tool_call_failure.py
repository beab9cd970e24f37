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

from harness.classifiers.corrections import Corrections, subject_of
from harness.classifiers.effects import CHANGES_FILES, effects
from harness.classifiers.failures import Failure, own_failure
from harness.classifiers.history import Act, History, once
from harness.classifiers.identity import call_key
from harness.classifiers.tools import bare_name, path_of
from harness.classifiers.verdicts import absent, counted, found, nothing_to_judge, quoted
from harness.trajectory import Trajectory
from harness.verdict import Verdict

CATEGORY = "tool_call_failure"

ERRORS = 3
"""Errors of one sort before a success that make a failure: one is a slip, two are a slip and a try at correcting it."""

SAME_AGAIN = 2
"""Times in a row that the very same failing call makes one, where it is never put right."""

_PARTICULAR = re.compile(r"(?<!\S)\S*[\d_/.=<>'\"`]\S*|\b[a-z]+[A-Z]\w*")
"""Words of a complaint that name what the call was about: figures, paths, names, what stands in quotes."""

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
    subject: Hashable


class _Run(Struct, frozen=True):
    history: History
    acts: list[Act]
    corrections: Corrections


def classify(trajectory: Trajectory) -> Verdict:
    """Whether a run shows tool call failures."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """The verdict on a run whose view is already made."""
    if not history.agent_steps:
        return nothing_to_judge(history, CATEGORY)
    acts = history.acts
    errors = [
        _Error(place, failure, subject_of(act, failure))
        for place, act in enumerate(acts)
        if (failure := own_failure(act)) is not None
    ]
    if not errors:
        return absent(history, CATEGORY, "No call fails by the agent's own error.")
    run = _Run(history, acts, Corrections(acts))
    ways = (_before_success, _same_mistake, _left_undone, _passed_over)
    shown = next((seen for way in ways if (seen := way(run, errors)) is not None), None)
    if shown is None:
        return absent(history, CATEGORY, f"The agent's own errors ({len(errors)}) are single or put right.")
    steps, rationale = shown
    return found(history, CATEGORY, steps, rationale)


def _before_success(run: _Run, errors: list[_Error]) -> tuple[list[int], str] | None:
    """Errors about one thing before it once works."""
    by_subject: dict[Hashable, list[_Error]] = defaultdict(list)
    for error in errors:
        alike = by_subject[error.subject]
        if alike and run.corrections.put_right(error.subject, alike[-1].place, error.place):
            alike.clear()
        _add(run.acts, alike, error)
        if len(alike) == ERRORS:
            later = [other for other in errors if other.place > error.place and other.subject == error.subject]
            return _shown(run, alike + later)
    for subject, alike in by_subject.items():
        if len(alike) >= SAME_AGAIN and not run.corrections.put_right(subject, alike[-1].place, len(run.acts)):
            for one, other in pairwise(alike):
                if other.place == one.place + 1 and call_key(run.acts[one.place]) == call_key(run.acts[other.place]):
                    return _shown(run, [one, other])
    return None


def _same_mistake(run: _Run, errors: list[_Error]) -> tuple[list[int], str] | None:
    """One complaint about how a tool or a program is called, again and again whatever went right meanwhile."""
    by_complaint: dict[Hashable, list[_Error]] = defaultdict(list)
    for error in errors:
        if error.failure.fault in ("invalid arguments", "wrong usage"):
            alike = by_complaint[error.subject, _PARTICULAR.sub("", error.failure.words).lower()]
            _add(run.acts, alike, error)
    return next((_shown(run, alike) for alike in by_complaint.values() if len(alike) >= ERRORS), None)


def _left_undone(run: _Run, errors: list[_Error]) -> tuple[list[int], str] | None:
    """Failed edits, of whatever files, that are never made."""
    undone: list[_Error] = []
    for error in errors:
        if error.failure.fault == "failed edit" and not run.corrections.put_right(
            error.subject, error.place, len(run.acts)
        ):
            _add(run.acts, undone, error)
    return _shown(run, undone) if len(undone) >= ERRORS else None


def _add(acts: list[Act], alike: list[_Error], error: _Error) -> None:
    """Count an error, but not twice in one turn."""
    if not alike or acts[alike[-1].place].step != acts[error.place].step:
        alike.append(error)


def _shown(run: _Run, errors: list[_Error]) -> tuple[list[int], str]:
    first, last = errors[0], errors[-1]
    act = run.acts[first.place]
    steps = [run.acts[error.place].step for error in errors]
    name = quoted(bare_name(act.call.name), 40).strip('"')
    fails = (
        f"{name} fails {len(errors)} times by the agent's own error, "
        f"{first.failure.fault} ({quoted(first.failure.words)})"
    )
    works = run.corrections.works(run.acts[last.place], last.failure, last.place)
    if works is None:
        works = run.corrections.works(act, first.failure, first.place)
    if works is None:
        return steps, f"{fails}, and is not put right ({counted(steps)})."
    what = "it" if isinstance(first.subject, tuple) else "a call"
    return steps, f"{fails} ({counted(steps)}); {what} works in step {run.acts[works].step}."


def _passed_over(run: _Run, errors: list[_Error]) -> tuple[list[int], str] | None:
    """A failed edit after which its file is never changed, and which the agent claims to have made."""
    acts, end = run.acts, len(run.acts)
    if _last_claim(run.history) is None:
        return None
    last_change = next((place for place in range(end - 1, -1, -1) if _changes_files(acts[place])), -1)
    for error in errors:
        act = acts[error.place]
        path = path_of(act.call)
        if error.failure.fault != "failed edit" or not path:
            continue
        if run.corrections.changed(path, error.place, end) is not None:
            continue
        name = path.rsplit("/", 1)[-1]
        claim = _claimed(run.history, act.step, name, named=last_change > error.place)
        if claim is not None:
            sentence = (
                f"The edit of {quoted(name)} fails ({quoted(error.failure.words)}), is never made, "
                f"and is claimed all the same ({counted([act.step, claim])})."
            )
            return [act.step, claim], sentence
    return None


def _changes_files(act: Act) -> bool:
    return any(effect.verb in CHANGES_FILES for effect in effects(act))


def _claimed(history: History, after: int, name: str, named: bool) -> int | None:
    """The last step that says something, where it is after `after`, claims an edit and admits no failure.

    The claim has to name the file where `named` says that other files were changed instead.
    """
    claim = _last_claim(history)
    if claim is None or claim <= after:
        return None
    return claim if not named or name in history.trajectory.steps[claim].text else None


@once
def _last_claim(history: History) -> int | None:
    """The last step in which the agent says something, where that claims an edit and admits no failure."""
    steps = history.trajectory.steps
    last = next((index for index in reversed(history.agent_steps) if steps[index].text), None)
    if last is None or not _CLAIM.search(steps[last].text) or _ADMISSION.search(steps[last].text):
        return None
    return last
