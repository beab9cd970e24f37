"""What the raters of an annotation study said: their blind labels, the cases in dispute, the consensus."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from misstep_analysis.labels import Labels
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_harness.annotation import RaterAnswer

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
