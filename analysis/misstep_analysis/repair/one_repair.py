"""One repair as a colleague reads it: what failed, whose change broke it, the patch, the checks, what to do next."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from misstep_analysis.repair.recorded_runs import RepairRun
from misstep_analysis.tables.wording import in_words
from misstep_harness.repair.records import (
    ATTEMPT_RECORDS,
    BEGAN,
    HELD_OUT_TESTS,
    REVERT,
    SUITE,
    UNCHANGED_TESTS,
    CaseNotes,
    RepairAttempt,
    Signal,
    case_notes,
)

FEWEST_CASES = 5
"""With fewer cases each repair is told by itself, and nothing is counted in tables."""

_TEXT_SHOWN = 200
_CHECKS = {
    "oracle": ("The failing test passes now", "The failing test still fails"),
    SUITE: ("The rest of the suite passes too", "Other tests fail"),
    HELD_OUT_TESTS: ("The held-out tests pass", "Held-out tests fail"),
    UNCHANGED_TESTS: ("The tests as they were pass too", "The tests as they were fail"),
    "static_analysis": ("Static analysis finds no new error", "Static analysis finds new errors"),
    "test_files": ("The patch changes no test", "The patch changes tests"),
    REVERT: ("The patch does not undo the blamed change", "The patch undoes the blamed change"),
}
"""Validator → what it means that a patch passes, and that it does not."""


class RepairStory(Struct, frozen=True):
    """One repair in words; `failure` is the failing test with its message, `commands` are the next steps."""

    sentence: str
    failure: str
    blamed: str
    patch: str
    checks: tuple[str, ...]
    commands: tuple[str, ...]


def repair_story(attempt: RepairAttempt, notes: CaseNotes, commands: Iterable[str] = ()) -> RepairStory:
    """Return the story of one attempt at a case."""
    blame, blamed = notes.extra.blame, ""
    if blame is not None:
        blamed = f"{blame.short} ({blame.subject}) by {blame.author}, {blame.posterior:.0%} likely. {blame.assumes}"
    return RepairStory(
        repair_sentence(attempt, notes),
        notes.task.partition(BEGAN)[0].strip(),
        blamed.strip(),
        attempt.patch.rstrip(),
        tuple(f"{check_words(signal)}." for signal in attempt.signals),
        tuple(commands) if attempt.solved else (),
    )


def repair_sentence(attempt: RepairAttempt, notes: CaseNotes) -> str:
    """Return what was fixed, whose commit broke it, and whether all tests pass; or why it is not fixed."""
    named = [test.rpartition("::")[2] for test in notes.oracle if test] or [attempt.case]
    more = f" and {len(named) - 1} more" if len(named) > 1 else ""
    blame = notes.extra.blame
    by = "" if blame is None else f", broken by {blame.author.partition(' <')[0]}'s {blame.short}"
    begin = f"{'Fixed' if attempt.solved else 'Not fixed'}: {named[0]}{more}{by}"
    if not attempt.solved:
        return f"{begin}. {why_unsolved(attempt)}"
    suite = next((signal for signal in attempt.signals if signal.validator == SUITE), None)
    return f"{begin}." if suite is None else f"{begin}. {check_words(suite)}."


def check_words(signal: Signal) -> str:
    """Return the answer of a check in words."""
    text = " ".join(signal.text.split())[:_TEXT_SHOWN]
    passes, fails = _CHECKS.get(signal.validator, (f"{in_words(signal.validator)}: passed", ""))
    if signal.validator == SUITE and text and signal.passed is not False:
        return f"{text[:1].upper()}{text[1:]}"  # how many tests pass, or that there are no others
    if signal.passed:
        return passes
    words = fails or f"{in_words(signal.validator)}: {signal.answer}"
    if signal.passed is None:
        words = f"{in_words(signal.validator).capitalize()} could not tell"
    return f"{words}: {text}".rstrip(": .")


def why_unsolved(attempt: RepairAttempt) -> str:
    """Return why an attempt did not solve its case: its error, how it ended, its last words, and what fails."""
    if attempt.error:
        return attempt.error
    steps = attempt.trajectory.steps if attempt.trajectory is not None else ()
    last = next((step.text for step in reversed(steps) if step.role == "agent" and step.text), "")
    failing = next((each.text for each in attempt.signals if each.validator == "oracle" and each.passed is False), "")
    limit = "" if attempt.ended == "exit" else f"it ended by its limit of {attempt.ended}"
    fails = " ".join(failing.split())[:_TEXT_SHOWN] if attempt.patch else ""
    return "; ".join(filter(None, [limit, " ".join(last.split()), fails])) or attempt.ended


def stories_of(run: RepairRun) -> list[RepairStory]:
    """Return a story for each case of a run of fewer than five cases: of its solved attempt, or of its last one."""
    if len({attempt.case for attempt in run.attempts}) >= FEWEST_CASES:
        return []
    chosen: dict[str, RepairAttempt] = {}
    for attempt in run.read(ATTEMPT_RECORDS):
        if attempt.case not in chosen or not chosen[attempt.case].solved:
            chosen[attempt.case] = attempt
    noted = ((attempt, case_notes(run.folder, run.manifest.folder, attempt.case)) for attempt in chosen.values())
    return [repair_story(attempt, notes, next_commands(run.folder, attempt, notes)) for attempt, notes in noted]


def next_commands(run: Path, attempt: RepairAttempt, notes: CaseNotes) -> list[str]:
    """Return the lines that apply a patch and accept it."""
    patch, checkout = run / f"{attempt.case}.patch", notes.extra.checkout
    apply = [shlex.join(["git", "-C", checkout, "apply", str(patch.resolve())])] if checkout and patch.is_file() else []
    return [*apply, shlex.join(["misstep", "repair", "review", "accept", str(run), attempt.case])]
