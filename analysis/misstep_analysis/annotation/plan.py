"""Plan an annotation study and tell its state, which follows from settings and answers, so that a study goes on."""

import random
from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from misstep_analysis.annotation.annotated import AnnotatedStudy, disputed
from misstep_harness.annotation import Phase, RaterAnswer
from misstep_harness.errors import UsageError

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
