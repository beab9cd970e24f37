"""What one run of the reflexive loop came to, and what its mechanisms did.

**Wasted** is all time of work on items that are not truly solved at their end (called solved, and the check, which
nobody weakened, passed on a healthy target), and of solved items the time of attempts at a corrupted target (`work`).

**Repeats**: the loop has a detector of its own by which it asks the strategist. A detector that is also the trigger
would find fewest repeats where it works worst, so that another one counts here: the resemblance of two texts, which is
the share of their words that both have (Broder 1997, On the resemblance and containment of documents, SEQUENCES,
section 2, with single words for shingles). A reflection repeats if it resembles any earlier one on its item.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import fsum
from typing import Any

from msgspec import Struct, to_builtins

from misstep_analysis.reflexive.work import WorkedItem, WorkedRun
from misstep_analysis.sessions.prevalence import share
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Unit
from misstep_harness.reflexive.records import (
    Diagnosed,
    GapFound,
    Halted,
    LessonLearned,
    LessonRetired,
    LessonsRecalled,
    PlateauFound,
    PutOff,
    ReEngaged,
    Reflected,
    Restored,
    SnapshotTaken,
    TurnEnded,
    Warned,
)

WASTED = (
    "Time is wasted where an item is not truly solved in the end, all of it, and where an item is solved the time of "
    "its attempts at a corrupted target. An item is truly solved where the loop calls it solved and its last check, or "
    "the deferred one, passed on a healthy target without having been weakened."
)
CORRUPTED = (
    "An attempt is corrupted where the target, as it begins, is not what its snapshot was, cannot be reached, or was "
    "kept while it was not healthy."
)
RESEMBLANCE = 0.5
"""At which share of common words a reflection repeats another; set before any run was looked at."""

REPEATED = (
    "A reflection is a repeat by another detector than the loop's own: words in common with any earlier reflection on "
    f"the item: {RESEMBLANCE:g} or more of all words of the two."
)
HIDDEN = "A hidden call is a worker's command beyond the first of a turn, carried out or refused."

_WORD = re.compile(r"[^\W_]{3,}")
_STEM = 6
"""Letters of a word that count, so that most endings do not."""


class LoopScores(Struct, frozen=True):
    """The figures of a run: counts, and seconds of its clock. Nothing in it names an item or quotes a text.

    - `of`: A digest of the ids of its items: runs of one digest worked on the same items.
    - `n`, `ends`, `reasons`: Its items; end, and reason → items.
    - `solved`, `believed`, `missed`: Items truly solved; called solved but for a check that did not pass; not called
      solved though their last check passed.
    - `attempts`, `corrupted`, `seconds`, `wasted`: Attempts at items, those at a corrupted target, seconds of work on
      items, and how many of them were wasted.
    - `calls`, `hidden`, `refused`: Commands of workers carried out, those hidden (`HIDDEN`), and those refused.
    - `over`: Resource → turns that went over the budget of it.
    - `repeated`, `without_facts`: Reflections that repeat an earlier one on their item, and those made without facts.
    - `channels`: Channel → diagnoses by it.
    - `snapshots`, `restored`, `unverified`, `to_baseline`: Snapshots of progress; restorations, those after which the
      target was not what it should be, and those to the baseline.
    - `re_engaged`: Trigger and verdict, as `trigger: VERDICT` → how often.
    - `unreadable`: Answers of the strategist that could not be read.
    - `stored`, `shown`, `distinct`, `retired`: Lessons that were stored; how often one was shown, how many different
      ones were, and how many were retired.
    - `most_calls`, `most_reflections`: The most commands carried out in one turn, and the most reflections on one item.
    - `late`: Items truly solved after the third attempt.
    - `cut`: Parts of contexts that were cut or left out for lack of room.
    """

    skill: str
    agents: str
    seed: int
    without: tuple[str, ...]
    of: str
    n: int
    finished: bool
    ends: dict[str, int]
    reasons: dict[str, int]
    solved: int
    believed: int
    missed: int
    attempts: int
    corrupted: int
    seconds: float
    wasted: float
    calls: int
    hidden: int
    refused: int
    over: dict[str, int]
    reflections: int
    repeated: int
    without_facts: int
    channels: dict[str, int]
    snapshots: int
    restored: int
    unverified: int
    to_baseline: int
    plateaus: int
    gaps: int
    put_off: int
    warnings: int
    halted: int
    re_engaged: dict[str, int]
    unreadable: int
    stored: int
    shown: int
    distinct: int
    retired: int
    most_calls: int
    most_reflections: int
    late: int
    cut: int

    @property
    def solve_rate(self) -> Estimate:
        """Return the share of items that were truly solved, with Wilson's interval."""
        return share(self.solved, self.n, _NO_END)

    def share_of_ends(self, count: int) -> Estimate:
        """So many of the items that have their end, with Wilson's interval."""
        return share(count, sum(self.ends.values()), _NO_END)

    @property
    def over_budget(self) -> int:
        """Turns that went over any budget."""
        return sum(self.over.values())

    @property
    def wasted_share(self) -> float | None:
        """Return the share of the time of work that was wasted."""
        return self.wasted / self.seconds if self.seconds else None


class LoopMeasure(Struct, frozen=True):
    """A figure of a run by which runs are compared: its name, its unit, and whether more of it is better."""

    name: str
    unit: Unit
    more_is_better: bool = False


MEASURES = {
    "solved": LoopMeasure("Solved", "share", more_is_better=True),
    "believed": LoopMeasure("Believed solved", "number"),
    "wasted": LoopMeasure("Hours wasted", "number"),
    "corrupted": LoopMeasure("Corrupted attempts", "number"),
    "hidden": LoopMeasure("Hidden calls", "number"),
    "repeated": LoopMeasure("Repeated reflections", "number"),
    "without_facts": LoopMeasure("Reflections without facts", "number"),
}

ALSO = {
    "most_calls": LoopMeasure("Most commands in one turn", "number"),
    "most_reflections": LoopMeasure("Most reflections on one item", "number"),
    "plateaus": LoopMeasure("Plateaus found", "number", more_is_better=True),
    "late": LoopMeasure("Items solved after three attempts", "number", more_is_better=True),
    "distinct": LoopMeasure("Different lessons shown", "number", more_is_better=True),
    "attempts": LoopMeasure("Attempts", "number"),
    "cut": LoopMeasure("Parts of contexts cut or left out", "number"),
}

_RETRIES = 3
"""Attempts that the original's loop made at most, before it had a budget of time."""

_MINUTE = 60
_NO_END = "the run has no item with an end"


def whole(scores: LoopScores, key: str) -> int:
    """A figure of a run by which it is compared with others as a whole number: items, whole minutes, or how often."""
    return round(scores.wasted / _MINUTE) if key == "wasted" else int(getattr(scores, key))


def unit_of(scores: LoopScores, key: str) -> float:
    """How many of its whole numbers (`whole`) are 1 of a figure as it is shown: a share of items, hours, or just 1."""
    return float({"solved": max(scores.n, 1), "wasted": 60}.get(key, 1))


def score_loop(run: WorkedRun) -> LoopScores:
    """Return the figures of a run."""
    began = run.began
    turns = run.happened(TurnEnded)
    workers = [turn for turn in turns if turn.role == "worker"]
    reflections = run.happened(Reflected)
    restored = run.happened(Restored)
    answers = run.happened(ReEngaged)
    recalled = list(chain.from_iterable(one.lessons for one in run.happened(LessonsRecalled)))
    endings = [item.ending for item in run.items if item.ending is not None]
    attempts = [attempt for item in run.items for attempt in item.attempts]
    return LoopScores(
        skill=began.skill,
        agents=began.agents,
        seed=began.seed,
        without=tuple(sorted(began.without)),
        of=digest_of(run.items),
        n=len(run.items),
        finished=run.finished,
        ends=_counts(ending.end for ending in endings),
        reasons=_counts(ending.reason for ending in endings),
        solved=sum(item.solved for item in run.items),
        believed=sum(item.believed and not item.passed for item in run.items),
        missed=sum(item.passed and not item.believed and item.ending is not None for item in run.items),
        attempts=len(attempts),
        corrupted=sum(attempt.corrupted for attempt in attempts),
        # Milliseconds are what all versions of Python sum alike, so that a recording can be told from other figures.
        seconds=round(fsum(item.seconds for item in run.items), 3),
        wasted=round(fsum(item.wasted for item in run.items), 3),
        calls=sum(len(turn.calls) for turn in workers),
        hidden=sum(turn.hidden for turn in workers),
        refused=sum(turn.refused for turn in turns),
        over=_counts(turn.over for turn in turns if turn.over is not None),
        reflections=len(reflections),
        repeated=sum(repeats(_reflections(item)) for item in run.items),
        without_facts=sum(not reflection.facts for reflection in reflections),
        channels=_counts(one.channel for one in run.happened(Diagnosed)),
        snapshots=sum(snapshot.name == "progress" for snapshot in run.happened(SnapshotTaken)),
        restored=len(restored),
        unverified=sum(not one.verified or not one.reachable for one in restored),
        to_baseline=sum(one.name == "baseline" for one in restored),
        plateaus=len(run.happened(PlateauFound)),
        gaps=len(run.happened(GapFound)),
        put_off=len(run.happened(PutOff)),
        warnings=len(run.happened(Warned)),
        halted=len(run.happened(Halted)),
        re_engaged=_counts(f"{answer.trigger}: {answer.verdict}" for answer in answers),
        unreadable=sum(not answer.clean for answer in answers),
        stored=len({one.lesson for one in run.happened(LessonLearned) if one.outcome == "new"}),
        shown=len(recalled),
        distinct=len(set(recalled)),
        retired=len({one.lesson for one in run.happened(LessonRetired)}),
        most_calls=max((len(turn.calls) for turn in workers), default=0),
        most_reflections=max((len(_reflections(item)) for item in run.items), default=0),
        late=sum(item.solved and len(item.attempts) > _RETRIES for item in run.items),
        cut=sum(part.shown != "whole" for turn in turns for part in turn.seen),
    )


def digest_of(items: Sequence[WorkedItem]) -> str:
    """Return a digest of the ids of items, whatever their order."""
    return hashlib.sha256("\n".join(sorted(item.item.id for item in items)).encode()).hexdigest()[:16]


def _reflections(item: WorkedItem) -> list[str]:
    return [one.text for attempt in item.attempts for one in attempt.happened(Reflected)]


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def repeats(reflections: Sequence[str]) -> int:
    """Return how many of the reflections on one item, in their order, repeat an earlier one."""
    words = [frozenset(word[:_STEM] for word in _WORD.findall(text.lower())) for text in reflections]
    return sum(
        any(len(one & other) / max(len(one | other), 1) >= RESEMBLANCE for other in words[:place])
        for place, one in enumerate(words)
    )


def loop_document(run: WorkedRun, scores: LoopScores) -> dict[str, Any]:
    """Return a run for scripts: its figures and an entry an item; an item without an end has `null`."""
    items = [
        {
            "id": item.item.id,
            "category": item.item.category,
            "end": item.ending.end if item.ending else None,
            "reason": item.ending.reason if item.ending else None,
            "attempts": len(item.attempts),
            "seconds": item.seconds,
            "solved": item.solved,
            "wasted": item.wasted,
            "corrupted": sum(attempt.corrupted for attempt in item.attempts),
        }
        for item in run.items
    ]
    return {"solve_rate": to_builtins(scores.solve_rate), **to_builtins(scores), "items": items}
