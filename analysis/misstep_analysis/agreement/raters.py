"""A rater at a time: how often with the majority of the others, and which labels more or less often than they."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from misstep_analysis.stats.clusters.paired_means import paired_means
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import MISSING, IntArray, Patterns, category_counts

MOST_CELLS = 100_000_000
"""Cells of rating patterns x labels x raters: about two seconds; of more, no rater is looked at."""


class LabelUse(Struct, frozen=True):
    """How often a rater gave a label, how often the others did on the same items, and the difference."""

    category: str
    share: float
    others: float
    difference: Estimate


class RaterReport(Struct, frozen=True):
    """One rater: `n` items labelled, `shared` of them with somebody else.

    `with_majority` is the share that has the label that leads among the others, of the items where one does.
    """

    rater: str
    n: int
    shared: int
    with_majority: Estimate
    labels: list[LabelUse]


def rater_reports(raters: list[str], categories: list[str], patterns: Patterns) -> list[RaterReport]:
    """Return each rater beside the others; none if that is too much to count."""
    if len(patterns.rows) * len(categories) * len(raters) > MOST_CELLS:
        return []
    counts = category_counts(patterns.rows, len(categories))
    return [
        _report(rater, patterns.rows[:, place], counts, patterns.items, categories)
        for place, rater in enumerate(raters)
    ]


def _report(rater: str, codes: IntArray, counts: IntArray, items: IntArray, categories: list[str]) -> RaterReport:
    rated = codes != MISSING
    own = category_counts(codes[:, None], len(categories))
    others = counts - own
    shared = rated & (others.sum(axis=1) > 0)
    own, others, weights = own[shared], others[shared], items[shared]
    n = int(weights.sum())
    lead = others.max(axis=1, initial=0)
    decided = (others == lead[:, None]).sum(axis=1) == 1
    alike = decided & ((own * others).sum(axis=1) == lead)
    majority = int(weights[decided].sum())
    share = wilson(int(weights[alike].sum()), majority) if majority else Estimate(None, n=0, reason=_NO_MAJORITY)
    labels = []
    if n:
        means = paired_means(own.astype(np.float64), others / others.sum(axis=1, keepdims=True), weights)
        labels = [
            LabelUse(category, mean.first, mean.second, mean.difference)
            for category, mean in zip(categories, means, strict=True)
        ]
    return RaterReport(rater, int(items[rated].sum()), n, share, labels)


_NO_MAJORITY = "on no item does one label lead among the others"


def told_apart(report: RaterReport) -> Iterator[LabelUse]:
    """The labels that a rater uses more or less often than the others, the interval of the difference being off 0."""
    for use in report.labels:
        low, high = use.difference.low, use.difference.high
        if low is not None and high is not None and (low > 0 or high < 0):
            yield use
