"""Plan an annotation study and tell its state, which follows from settings and answers, so that a study goes on."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct

from misstep_analysis.labels import Labels
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_harness.annotation import Phase, RaterAnswer
from misstep_harness.errors import UsageError

How = Literal["unanimous", "majority", "reconciled", "tied", "open"]
"""How a case came to its label: all raters gave it blind; most did; all did after reconciliation; or none, as several
labels share the lead, or as raters are missing."""

Rating = tuple[str, str]


class Consensus(Struct, frozen=True):
    """The label that raters came to on a case, with the subcategory that most of them give; `None` without one."""

    item: str
    label: str | None
    subcategory: str
    how: How
    candidates: tuple[str, ...] = ()


class AnnotatedStudy(Struct, frozen=True):
    """The answers of a study, in the order in which they were given, and who was to give them on what."""

    items: tuple[str, ...]
    raters: tuple[str, ...]
    answers: tuple[RaterAnswer, ...]
    labels: tuple[str, ...] = ()

    def blind(self) -> dict[Rating, RaterAnswer]:
        """Return the blind answer of each rater to each item that has one."""
        return {(one.item, one.rater): one for one in self.answers if one.phase != "reconciliation"}

    def reconciled(self) -> dict[Rating, RaterAnswer]:
        """Return the last answer of each rater in reconciliation."""
        return {(one.item, one.rater): one for one in self.answers if one.phase == "reconciliation"}

    def standing(self) -> dict[Rating, RaterAnswer]:
        """Return what each rater says in the end: the answer in reconciliation, or the blind one if there is none."""
        return self.blind() | self.reconciled()


def disputed(study: AnnotatedStudy) -> tuple[str, ...]:
    """Return the items that all raters answered and that do not have one blind label from all of them.

    Nothing is in dispute if there is one rater alone.
    """
    if len(study.raters) < 2:
        return ()
    blind = study.blind()
    disputes = []
    for item in study.items:
        labels = [blind[item, rater].label for rater in study.raters if (item, rater) in blind]
        if len(labels) == len(study.raters) and (None in labels or len(set(labels)) > 1):
            disputes.append(item)
    return tuple(disputes)


def consensus(study: AnnotatedStudy) -> tuple[Consensus, ...]:
    """Return what the raters came to, by item."""
    standing, talked_over = study.standing(), {item for item, _ in study.reconciled()}
    answers = {
        item: [standing[item, rater] for rater in study.raters if (item, rater) in standing] for item in study.items
    }
    return tuple(_consensus(item, own, study, talked_over) for item, own in answers.items())


def _consensus(item: str, answers: Sequence[RaterAnswer], study: AnnotatedStudy, talked_over: set[str]) -> Consensus:
    counts = Counter(one.label for one in answers if one.label is not None)
    leading = _leading(counts)
    if not leading or len(answers) < len(study.raters):
        return Consensus(item, None, "", "open", leading)
    if len(leading) > 1:
        return Consensus(item, None, "", "tied", leading)
    (label,) = leading
    all_alike = counts[label] == len(study.raters)
    how: How = "majority" if not all_alike else "reconciled" if item in talked_over else "unanimous"
    finer = _leading(Counter(one.subcategory for one in answers if one.label == label and one.subcategory))
    return Consensus(item, label, finer[0] if len(finer) == 1 else "", how)


def _leading(counts: Mapping[str, int]) -> tuple[str, ...]:
    most = max(counts.values(), default=0)
    return tuple(sorted(name for name, count in counts.items() if count == most))


def coded_labels(
    labels: Mapping[Rating, str], items: Iterable[str], raters: Sequence[str], categories: Sequence[str]
) -> Labels:
    """Labels as `analysis.agreement` takes them, of those items that have one."""
    rated = {item for item, _ in labels}
    shown = [item for item in items if item in rated]
    used = set(labels.values())
    known = [label for label in categories if label in used] + sorted(used - set(categories))
    code = {label: number for number, label in enumerate(known)}
    codes = [[code.get(labels.get((item, rater), ""), MISSING) for rater in raters] for item in shown]
    matrix = np.array(codes, dtype=np.int64).reshape(len(shown), len(raters))
    return Labels("answers.jsonl", shown, list(raters), known, [], matrix, [])


_LONGEST_NAME = 60
_CALIBRATION = 5


class AnnotationPlan(Struct, frozen=True, dict=True):
    """Cases of each rater; all raters label those of `calibration` first, in one order."""

    items: tuple[str, ...]
    raters: tuple[str, ...]
    calibration: tuple[str, ...]
    seed: int
    labels: tuple[str, ...] = ()

    @cached_property
    def independent(self) -> tuple[str, ...]:
        """Return the cases that each rater labels alone."""
        together = set(self.calibration)
        return tuple(item for item in self.items if item not in together)

    def order(self, rater: str) -> tuple[str, ...]:
        """Return the independent cases in the order of a rater, drawn by name and seed."""
        return tuple(_shuffled(self.independent, f"{self.seed}:{rater}"))


class State(Struct, frozen=True, dict=True):
    """State of a study."""

    plan: AnnotationPlan
    answers: tuple[RaterAnswer, ...]

    @cached_property
    def study(self) -> AnnotatedStudy:
        """Return the answers as they are measured."""
        return AnnotatedStudy(self.plan.items, self.plan.raters, self.answers, self.plan.labels)

    @cached_property
    def by_rater(self) -> Mapping[tuple[Phase, str, str], tuple[RaterAnswer, ...]]:
        """Return (phase, item, rater) → the answers of the rater, the last one last."""
        answers: dict[tuple[Phase, str, str], tuple[RaterAnswer, ...]] = {}
        for one in self.answers:
            key = (one.phase, one.item, one.rater)
            answers[key] = (*answers.get(key, ()), one)
        return answers

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """Return the cases without one blind label of all raters."""
        return disputed(self.study)

    @cached_property
    def phase(self) -> Phase:
        """Return the phase; each begins for all raters at once, when the last has done the one before it."""
        for phase in ("calibration", "independent"):
            if any(self.left(rater, phase) for rater in self.plan.raters):
                return phase
        return "reconciliation"

    @cached_property
    def finished(self) -> bool:
        """Return whether nothing is left to anybody."""
        return self.phase == "reconciliation" and not any(self.left(rater) for rater in self.plan.raters)

    @property
    def unfinished(self) -> str:
        """Return which cases are left to whom, as a sentence."""
        left = ", ".join(f"{rater} {len(self.left(rater)):,}" for rater in self.plan.raters if self.left(rater))
        return f"The study is not finished, and its figures may change; cases left in the phase {self.phase}: {left}."

    def order(self, rater: str, phase: Phase | None = None) -> tuple[str, ...]:
        """Return the cases that a rater labels in a phase, by default in that of the study, in the rater's order."""
        phase = phase or self.phase
        if phase == "calibration":
            return self.plan.calibration
        return self.plan.order(rater) if phase == "independent" else self.disputed

    def left(self, rater: str, phase: Phase | None = None) -> tuple[str, ...]:
        """Return the cases of a phase that a rater has not answered, in the rater's order."""
        phase = phase or self.phase
        return tuple(item for item in self.order(rater, phase) if (phase, item, rater) not in self.by_rater)

    def last(self, rater: str, item: str, phase: Phase | None = None) -> RaterAnswer | None:
        """Return the last answer of a rater to a case in a phase."""
        answers = self.by_rater.get((phase or self.phase, item, rater))
        return answers[-1] if answers else None

    def next_after(self, rater: str, item: str) -> str | None:
        """Return the next case that is left to a rater after one, around the end; `None` where none is."""
        left, order = set(self.left(rater)), self.order(rater)
        place = order.index(item) + 1 if item in order else 0
        return next((one for one in (*order[place:], *order[:place]) if one in left), None)


def drawn(items: Sequence[str], n: int | None, seed: int) -> tuple[str, ...]:
    """Return a simple random sample of cases, the same for the same seed; all of them without a number."""
    if n is None or n >= len(items):
        return tuple(items)
    return tuple(random.Random(seed).sample(sorted(items), n))  # noqa: S311 (no secret)


def planned(
    items: Sequence[str], raters: Sequence[str], calibration: int | None, seed: int, labels: Sequence[str]
) -> AnnotationPlan:
    """Return the plan of a study."""
    if not items:
        raise UsageError("no case to label", "Name a folder of triage cases or a benchmark.")
    names = tuple(name.strip() for name in raters)
    if not all(name and len(name) <= _LONGEST_NAME and name.isprintable() for name in names):
        raise UsageError(f"a rater's name is empty or longer than {_LONGEST_NAME} characters", "Name each rater.")
    if not names or len({name.casefold() for name in names}) < len(names):
        raise UsageError("a rater is named twice, or none is", "Name each rater once with --raters A,B,C.")
    default = min(_CALIBRATION, len(items) // 4) if len(names) > 1 else 0
    count = default if calibration is None else calibration
    if count > len(items):
        raise UsageError(f"--calibration {count} is more than the {len(items):,} cases", "Give a smaller number.")
    first = tuple(_shuffled(items, f"{seed}:calibration")[:count])
    return AnnotationPlan(tuple(items), names, first, seed, tuple(labels))


def _shuffled(items: Sequence[str], seed: str) -> list[str]:
    return random.Random(seed).sample(sorted(items), len(items))  # noqa: S311 (no secret)
