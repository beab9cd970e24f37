"""Read a user's own sessions as an experiment: where misbehaviour was detected, what the agent was told, and its arm.

Named are transcripts of any known format and folders of them, runs of `misstep observe`, and the hook's log
`decisions.jsonl`, whose transcripts are read. What was detected is in the log or the run; in a transcript alone the
rules detect it again, in the same way in every arm. What an agent was told is in its transcript, whoever detected it.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError, NoTrajectory, UsageError
from misstep_harness.forms import json_form
from misstep_harness.intervention import ABOUT, INTERVENTION, Intervention, Misbehaviour, ObservedRun
from misstep_harness.items import Item
from misstep_harness.journal.opened import OpenRun, manifest_of
from misstep_harness.journal.records import MANIFEST, OBSERVED_RECORDS
from misstep_harness.observer.arms import EXPERIMENT, hears_guidance
from misstep_harness.observer.detectors import steps_between_questions
from misstep_harness.observer.records import DECISIONS, LIVE_RECORDS, HookDecision
from misstep_harness.observer.replay import ReplayOptions, replay
from misstep_harness.places import path_text
from misstep_harness.protocols import NO_MODEL
from misstep_harness.readers import read_file
from misstep_harness.runs.inputs import batches, check_named, found_files, placed_in
from misstep_harness.runs.judging.recovery_rule import RecoveryRule, outcome
from misstep_harness.session import is_sub_agent, session_of
from misstep_harness.trajectory import Placed, Step, Trajectory, Unreadable
from misstep_harness.verdict import Verdict

RUNS = "trajectories/sessions.jsonl"
HEARD = "heard"
"""The name in an item's and a step's `extra` that says whether the agent was told, or was only to be told."""

DETECTED = "detected"
"""The name in an item's `extra` that says whether the word is on what the log, the run or the rules detected."""

_NEAR = 10
"""Steps between a detection and a word on the same, at most: the detector may be asked only now and then."""

_AS_THE_HOOK = ReplayOptions(every=steps_between_questions("rules"))
_ADVICE = (
    "Name runs of `misstep experiment run` or `misstep observe`, the hook's log, or transcripts of formats that "
    "`misstep convert --help` lists."
)
_LOG_FORM = "The hook of `misstep observe` writes this log."
_decision = msgspec.json.Decoder(HookDecision)


class Assignment(Struct, frozen=True):
    """How the arms of sessions are drawn that no log has: as the hook drew them; without a share they are not known."""

    share: float | None = None
    by: Literal["session", "project"] = "session"
    experiment: str = EXPERIMENT


class GuidedRun(Struct, frozen=True):
    """One session: its run with each word in its place, an item on each word, and its assignment.

    - `arm`: `guide`, `shadow` for a control, or empty.
    - `items`: In their order; `extra` has `categories`, `evidence`, `heard` and `detected`.
    - `detector`: Who detected.
    """

    run: Trajectory
    arm: str
    unit: str
    project: str
    items: tuple[Item, ...]
    detector: str

    def recovered_by_rule(self) -> dict[str, bool | None]:
        """Return what `recovery@rule` says of each word: item → whether the agent recovered, `None` if open."""
        return {
            item.id: outcome(self.run, item.step or 0, item.extra["categories"], item.extra["evidence"]).recovered
            for item in self.items
        }


class _Read(Struct, frozen=True):
    run: Trajectory
    project: str
    words: tuple[tuple[int, Intervention], ...] | None = None
    arm: str = ""
    unit: str = ""
    detector: str = "rules"


class LeftOut(Struct):
    """What was named and could not be read."""

    unreadable: list[Unreadable] = []
    transcripts: list[str] = []


def guided_runs(paths: Sequence[Path], assignment: Assignment, left_out: LeftOut) -> Iterator[GuidedRun]:
    """Return the sessions in files, folders, runs and logs, each once, as a stream."""
    seen: set[str] = set()
    for path in paths:
        for read in _read(path, left_out):
            if read.run.id not in seen:
                seen.add(read.run.id)
                yield _guided(read, assignment)
    if not seen:
        named = ", ".join(map(path_text, paths))
        raise NoTrajectory("no session was read", _ADVICE, file=named)


def _read(path: Path, left_out: LeftOut) -> Iterator[_Read]:
    log = path / DECISIONS if path.is_dir() else path
    if log.name == DECISIONS and log.is_file():
        yield from _logged(log, left_out)
    elif (path / MANIFEST).is_file():
        run = OpenRun(path, manifest_of(path, ""))
        if (path / OBSERVED_RECORDS.file).is_file():
            yield from _observed(run, left_out)
        elif (path / LIVE_RECORDS.file).is_file():
            yield from _live(run)
        else:
            raise UsageError(f"{path} is a run of `misstep {run.manifest.command}`", _ADVICE)
    else:
        check_named([path])
        for batch in batches(found_files([path])):
            for placed in placed_in(batch):
                if isinstance(placed, Placed) and isinstance(placed.found, Trajectory):
                    if not is_sub_agent(placed.found):
                        yield _Read(placed.found, session_of(placed.found, placed.file, placed.line).project)
                elif isinstance(placed, Placed) and isinstance(placed.found, Unreadable):
                    left_out.unreadable.append(placed.found)


def _live(run: OpenRun) -> Iterator[_Read]:
    alike = run.requested("design") == "shadow"  # where one arm has no observer, the rules detect in both
    for one in run.read(LIVE_RECORDS):
        if one.trajectory is None:
            raise UsageError(f"the run of {one.item} is not kept", "Name the folder of the run, not its recording.")
        arm = "guide" if one.arm == "guide" else "shadow"
        words, detector = None, "rules"
        if alike and one.observed is not None:
            words, detector = heard_in(one.observed), one.observed.detector
        yield _Read(one.trajectory, "", words, arm, one.unit, detector)


def heard_in(observed: ObservedRun | None) -> tuple[tuple[int, Intervention], ...]:
    """Return the words of a record with the last step before each, also where nothing was said in its arm."""
    if observed is None:
        return ()
    at = {one.step: one.answered_at for one in observed.invocations if one.answered_at is not None}
    words = [word for word in observed.interventions if word.withheld in ("", "shadow")]
    return tuple(
        (at.get(word.detected_at, word.detected_at) if word.delivered_at is None else word.delivered_at, word)
        for word in words
    )


def _observed(run: OpenRun, left_out: LeftOut) -> Iterator[_Read]:
    for file, records in groupby(run.read(OBSERVED_RECORDS), attrgetter("file")):
        by_id = {one.item: one for one in records}
        for session in _transcript(file, left_out):
            if (record := by_id.get(session.id)) is not None and not is_sub_agent(session):
                project = session_of(session, file).project
                yield _Read(session, project, heard_in(record), detector=record.detector)


def _logged(log: Path, left_out: LeftOut) -> Iterator[_Read]:
    of_session: dict[str, list[HookDecision]] = {}
    with log.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):  # the last may be half-written
                one = json_form(line, _decision, log, number, _LOG_FORM)
                of_session.setdefault(one.session, []).append(one)
    for name, decisions in of_session.items():
        first = decisions[0]
        words = [
            (one.step, one.intervention)
            for one in decisions
            if one.step is not None and one.guidance and one.intervention is not None
        ]
        runs = [one for one in _transcript(first.transcript, left_out) if not is_sub_agent(one)]
        run = next((one for one in runs if one.id == name), runs[-1] if runs else None)
        if run is not None:
            yield _Read(
                replace(run, id=name), first.project, tuple(words), first.arm, first.unit, first.model or first.detector
            )


def _transcript(file: str, left_out: LeftOut) -> list[Trajectory]:
    if not Path(file).is_file():
        left_out.transcripts.append(file)
        return []
    try:
        read = list(read_file(Path(file)))
    except InputError as error:
        read = [Unreadable(file, None, error.line())]
    left_out.unreadable += [one for one in read if isinstance(one, Unreadable)]
    return [one for one in read if isinstance(one, Trajectory)]


def _guided(read: _Read, assignment: Assignment) -> GuidedRun:
    run, by_project = read.run, assignment.by == "project"
    arm, unit = read.arm, read.unit or (read.project if by_project else run.id)
    if not arm and assignment.share is not None:
        arm = "guide" if hears_guidance(unit, assignment.experiment, assignment.share) else "shadow"
    words = read.words
    if words is None:
        words = heard_in(replay(replace(run, steps=tuple(_untold(run.steps))), _AS_THE_HOOK))
    shown, items = with_words(run, words)
    if arm == "shadow" and any(item.extra[HEARD] for item in items):
        raise UsageError(
            f"the session {run.id} is drawn as a control, and its agent was told something",
            "Give --arm-share, --arm-by and --experiment as the hook had them, or name the hook's log.",
        )
    return GuidedRun(shown, arm, unit, read.project, items, read.detector)


def _untold(steps: Iterable[Step]) -> Iterator[Step]:
    """Return the steps with empty ones for words, so that the rules see the same in every arm."""
    return (Step("system") if INTERVENTION in step.extra else step for step in steps)


def with_words(run: Trajectory, placed: Sequence[tuple[int, Intervention]]) -> tuple[Trajectory, tuple[Item, ...]]:
    """Return a run with a step for each word, said or only due, and an item on each.

    A word that the agent heard is on the detection that has its text, whatever was detected since. Any other, right
    behind a detection of one of its categories, is on that, and takes its evidence.
    One that it heard later takes the evidence alone: a detection is followed from the same step in every arm.
    """
    left = list(placed)
    words: list[tuple[int, bool, bool, Intervention]] = []
    for place, step in enumerate(run.steps):
        if INTERVENTION in step.extra and step.extra.get(HEARD, True):
            about = step.extra.get(ABOUT, ())
            near = [
                (word.guidance != step.text, abs(at + 1 - place), number)
                for number, (at, word) in enumerate(left)
                if word.guidance == step.text or (abs(at + 1 - place) <= _NEAR and _shares(word, about))
            ]
            word, detected = Intervention(tuple(Misbehaviour(str(name)) for name in about), place - 1, place - 1), False
            if near:
                number = min(near)[2]
                at, word = left[number]
                between = sum(step.role == "agent" for step in run.steps[min(at + 1, place) : place])
                detected = word.guidance == step.text or between <= 1
                left = left[:number] + left[number + 1 :] if detected else left
            words.append((place, True, detected, word))
    words += [(at + 1, False, True, word) for at, word in left if 0 <= at < len(run.steps)]
    words.sort(key=lambda word: (word[0], not word[1]))
    steps = list(run.steps)
    moved: list[int] = []
    items = []
    for number, (place, heard, detected, word) in enumerate(words):
        at = place + len(moved)
        reasoning = " ".join(one.rationale for one in word.misbehaviours)
        if heard:
            steps[at] = replace(steps[at], reasoning=reasoning)
        else:
            due = Step("system", word.guidance, reasoning, extra={INTERVENTION: number, HEARD: False})
            steps.insert(at, due)
            moved.append(place)
        evidence = {step for one in word.misbehaviours for step in one.steps}
        shifted = sorted(step + sum(before <= step for before in moved) for step in evidence)
        extra = {"categories": list(word.categories), "evidence": shifted, HEARD: heard, DETECTED: detected}
        items.append(Item(f"{run.id}#{number}", "recovery", RUNS, run.id, at, extra=extra))
    return replace(run, steps=tuple(steps)), tuple(items)


def rule_verdicts(items: Iterable[tuple[Item, Trajectory | None]]) -> list[Verdict]:
    """Return the verdicts of `recovery@rule` on items, each with its run."""
    judge = RecoveryRule()

    async def judged() -> list[Verdict]:
        return [await judge.judge(item, run, NO_MODEL) for item, run in items]

    return asyncio.run(judged())


def _shares(word: Intervention, about: Sequence[str]) -> bool:
    return not about or bool(set(word.categories) & set(about))
