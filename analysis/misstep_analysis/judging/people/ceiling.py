"""The human ceiling: whether a judge agrees with people as well as people agree with each other."""

from functools import partial

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import BoolArray
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.agreement import ONE_CATEGORY
from misstep_analysis.stats.raters.coefficients import chance_corrected, item_agreement, ratio
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.tables import Fields, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

ONE_RATER = "no item answered was labelled by two raters: people's agreement with each other is unknown"
NO_SHARED_ITEM = "no item asked was labelled by two raters"
ALONE = "no item answered was labelled by this rater and another one"

ALL_RATERS = "All raters"
MOST_RATERS = 20

_FIELDS: Fields = (
    ("Agreement of two raters", "people", "share"),
    ("Agreement of judge and rater", "judge", "share"),
    ("Judge less people", "difference", "difference"),
    ("Kappa of the raters", "people_kappa", "coefficient"),
    ("Kappa of judge and raters", "judge_kappa", "coefficient"),
    ("Kappa, judge less people", "kappa_difference", "coefficient"),
)
_OF_RATER: Fields = (
    ("Judge", "judge", "share"),
    ("Other raters", "others", "share"),
    ("Judge less others", "difference", "difference"),
)
_NOTES = (
    "Over the items answered that two raters or more labelled, each weighing the same; near misses on a scale count as "
    "disagreement.",
    "Kappa takes chance from how often all raters together, and the judge, use each label.",
)


class AgainstRater(Struct, frozen=True):
    """How often the judge, and how often the other raters on average, give one rater's label on the same items."""

    rater: str
    judge: Estimate
    others: Estimate
    difference: Estimate


class Ceiling(Struct, frozen=True):
    """The judge against people, people against people, on the items that several of them labelled.

    - `people`, `judge`, `difference`: Mean agreement of two raters, of judge and rater, and their difference.
    - `people_kappa`, `judge_kappa`, `kappa_difference`: The same as Fleiss' kappa, and as the kappa of the judge
      against all raters as a group.
    - `judge_all`: The judge's agreement with the unanswered items counted as agreeing with nobody.
    """

    n: int
    people: Estimate
    judge: Estimate
    difference: Estimate
    people_kappa: Estimate
    judge_kappa: Estimate
    kappa_difference: Estimate
    judge_all: Estimate
    raters: tuple[AgainstRater, ...]


def ceiling(sample: JudgedSample, resamples: int = 10_000, seed: int = 0) -> Ceiling:
    """Return the human ceiling of a run; `resamples` and `seed` are of the bootstrap.

    After the agreement of an isolated rater with a group (Schouten 1982, Statistica Neerlandica 36:45-61; Vanbelle and
    Albert 2009, Statistica Neerlandica 63:82-100).
    """
    counts = sample.label_counts()
    shared = counts.sum(axis=1) >= 2
    chosen = shared & sample.answered
    values = _values(counts[chosen], sample.answers[chosen])
    reasons = [ONE_RATER if not len(values) else ONE_CATEGORY] * 6
    statistic = partial(_figures, n_labels=len(sample.labels))
    people, judge, difference, *kappas = sample.units.only(chosen).resampled(
        statistic, values, reasons, resamples, seed
    )
    people_kappa, judge_kappa, kappa_difference = kappas
    agreeing = _values(counts[shared], sample.answers[shared])[:, 1]
    judge_all = sample.units.only(shared).mean(agreeing, NO_SHARED_ITEM)
    return Ceiling(
        len(values),
        people,
        judge,
        difference,
        people_kappa,
        judge_kappa,
        kappa_difference,
        judge_all,
        _against_raters(sample, counts, chosen),
    )


def _values(counts: IntArray, answers: IntArray) -> FloatArray:
    """Return what each item adds: people's agreement, the judge's, one, the shares of its labels, the judge's label."""
    n_labels = counts.shape[1]
    ratings = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / ratings
    # Answers that are none of the labels, and no answers, are of no label: they agree with nobody.
    votes = np.vstack([np.eye(n_labels), np.zeros((2, n_labels))])[answers]
    return np.column_stack([item_agreement(counts), (shares * votes).sum(axis=1), np.ones(len(counts)), shares, votes])


def _figures(sums: FloatArray, n_labels: int) -> FloatArray:
    """Agreement of people and of the judge and their difference, and the same of the kappas, for each set of sums."""
    people, judge = ratio(sums[:, 0], sums[:, 2]), ratio(sums[:, 1], sums[:, 2])
    shares, votes = (ratio(part, sums[:, 2:3]) for part in (sums[:, 3 : 3 + n_labels], sums[:, 3 + n_labels :]))
    people_kappa = chance_corrected(people, _unless_certain((shares**2).sum(axis=1)))
    judge_kappa = chance_corrected(judge, _unless_certain((shares * votes).sum(axis=1)))
    return np.column_stack([people, judge, judge - people, people_kappa, judge_kappa, judge_kappa - people_kappa])


def _unless_certain(expected: FloatArray) -> FloatArray:
    """Chance agreement, exactly 1 where rounding keeps a certain one just below it."""
    return np.where(expected > 1 - 1e-12, 1.0, expected)


def _against_raters(sample: JudgedSample, counts: IntArray, chosen: BoolArray) -> tuple[AgainstRater, ...]:
    held = sample.ratings[chosen[sample.ratings[:, 0]]]
    order = np.argsort(held[:, 1], kind="stable")
    bounds = np.searchsorted(held[order, 1], np.arange(len(sample.raters) + 1))
    differences = []
    for rater, name in enumerate(sample.raters):
        items, _, labels = held[order[bounds[rater] : bounds[rater + 1]]].T
        others = (counts[items, labels] - 1) / np.maximum(counts[items].sum(axis=1) - 1, 1)
        judge = (sample.answers[items] == labels).astype(np.float64)
        here = np.zeros(len(sample.answers), dtype=np.bool_)
        here[items] = True
        by_item = np.argsort(items)
        units = sample.units.only(here)
        means = (units.mean(values[by_item], ALONE) for values in (judge, others, judge - others))
        differences.append(AgainstRater(name, *means))
    return tuple(differences)


@made_by_this
def ceiling_table(ceiling: Ceiling, source: str) -> Table:
    """Return the judge's agreement with people beside people's with each other; `source` is what it was measured on."""
    rows = rows_from(ceiling, _FIELDS, ALL_RATERS, source)
    if ceiling.judge_all.n != ceiling.judge.n:
        name = "Agreement of judge and rater, unanswered counted as none"
        rows.append(estimate_row(name, ceiling.judge_all, "share", ALL_RATERS, source))
    title = "The judge against people, and people against people"
    return judging_table("ceiling", title, _finding(ceiling), rows, _NOTES)


def _finding(ceiling: Ceiling) -> str:
    if ceiling.difference.value is None:
        return f"There is no human ceiling to hold the judge against: {ceiling.difference.reason}."
    judge, people = (number_text(one.value, "share") for one in (ceiling.judge, ceiling.people))
    return (
        f"The judge agrees with a rater on {judge} of {counted_text(ceiling.n, 'item')} and two raters with each other "
        f"on {people}: a difference of {with_interval(ceiling.difference, 'difference')}."
    )


@made_by_this
def raters_table(ceiling: Ceiling, source: str) -> Table:
    """Return how often judge and other raters agree with each rater; `source` is what it was measured on."""
    rows = [row for one in ceiling.raters[:MOST_RATERS] for row in rows_from(one, _OF_RATER, one.rater, source)]
    differences = [one.difference.value for one in ceiling.raters if one.difference.value is not None]
    finding = f"Whether the judge agrees with a rater more often than other raters do cannot be told: {ALONE}."
    if differences:
        nearer, raters = sum(value > 0 for value in differences), counted_text(len(differences), "rater")
        finding = (
            f"On these items the judge agrees with {nearer:,} of {raters} more often than other raters do, untested."
        )
    note = "On the items that the rater, another one and the judge labelled."
    notes = (note, shown_note(len(ceiling.raters)))
    return judging_table("agreement_by_rater", "Agreement with each rater", finding, rows, notes)


def shown_note(raters: int) -> str:
    """Return the note of a table that does not show all raters; empty if it does."""
    return f"The first {MOST_RATERS} of {raters:,} raters are shown." if raters > MOST_RATERS else ""
