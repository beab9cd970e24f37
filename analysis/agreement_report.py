"""How far raters agree: everything that `misstep agreement` says about a file of labels.

The fields and their order are the JSON that scripts may rely on. Every interval comes from resampling items, or from
standard errors where resampling is not asked for or would take too long; `method` says which.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
from msgspec import Struct

from analysis.labels import Labels, ScaleLevel
from analysis.stats import coefficients
from analysis.stats.agreement import NO_PAIRS, ONE_CATEGORY, Coefficient, cohen_kappa, fleiss_kappa, gwet_ac
from analysis.stats.estimate import Estimate
from analysis.stats.kappa_errors import jackknife_error
from analysis.stats.patterns import (
    MISSING,
    FloatArray,
    IntArray,
    Patterns,
    category_counts,
    contingency_table,
    distinct_rows,
)
from analysis.stats.resampling import bootstrap, bootstrapped
from harness.errors import InputError

MOST_DRAWS = 20_000_000
"""Cells drawn for a bootstrap: about two seconds; beyond that, standard errors."""

MOST_COUNTS = 20_000_000
"""Cells of rating patterns x labels: 160 MB."""

MOST_CONFUSION_CELLS = 2_000_000
"""Cells of the confusion matrices of all pairs together."""

GWET = "standard error of Gwet (2014), t interval"
COHEN = "standard error of Fleiss, Cohen and Everitt (1969), normal interval"
JACKKNIFE = "jackknife over groups of items, normal interval"


class Pair(Struct, frozen=True):
    """Two raters over the `n` items that both labelled; `agreement` is the share of these that they label alike."""

    raters: tuple[str, str]
    n: int
    agreement: float | None
    cohen_kappa: float | None
    cohen_kappa_interval: Estimate


class Category(Struct, frozen=True):
    """One label against all others: `n` ratings of it, and Fleiss' kappa of whether a rating is of it."""

    category: str
    n: int
    kappa: float | None
    kappa_interval: Estimate


class Disagreement(Struct, frozen=True, gc=False):
    """An item that its raters did not all label alike."""

    item: str
    labels: dict[str, str]


class Consensus(Struct, frozen=True, gc=False):
    """The label that most raters gave an item; where several share the lead, `label` is `None` and these are named."""

    item: str
    label: str | None
    tied: bool
    candidates: tuple[str, ...] = ()


class Confusion(Struct, frozen=True):
    """How often each label of the first rater (rows) met each of the second (columns)."""

    raters: tuple[str, str]
    labels: list[str]
    matrix: list[list[int]]


class AgreementReport(Struct, frozen=True):
    """The agreement of all raters, of each pair, by label and by item.

    `n_items` counts items with a rating; `percent_agreement` is the share, from 0 to 1, of agreeing pairs of ratings,
    averaged over items with two ratings or more; `confusion` is empty where it would be too long to read.
    """

    n_items: int
    n_raters: int
    raters: list[str]
    categories: list[str]
    percent_agreement: float | None
    fleiss_kappa: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    pairs: list[Pair]
    by_category: list[Category]
    disagreements: list[Disagreement]
    consensus: list[Consensus]
    confusion: list[Confusion]
    items_under_two_ratings: list[str]
    level: ScaleLevel
    resamples: int
    seed: int


class _Items(Struct, frozen=True):
    """Items by how their raters labelled them, and by how often each category was given, whoever gave it."""

    by_rater: Patterns
    by_count: Patterns
    counts: IntArray
    """Count patterns x categories."""
    items: IntArray
    """Count patterns: the items of each."""


def agreement_report(
    labels: Labels, level: ScaleLevel = "nominal", resamples: int = 10_000, seed: int = 0
) -> AgreementReport:
    """All figures on the agreement of the raters of some items.

    Parameters
    ----------
    labels
        Who gave what to which item.
    level
        What Krippendorff's alpha takes the labels for; the kappas and AC1 take them as names.
    resamples
        Of the bootstrap; with 0, intervals come from standard errors.
    seed
        Of the resampling: the same seed gives the same figures.

    Raises
    ------
    InputError
        There are too many distinct labels for so many distinct items.
    """
    items = _grouped(labels)
    ratings = items.counts.sum(axis=1)
    rng = np.random.default_rng(seed)
    pairs, confusion = _pairs(labels, items, resamples, rng)
    overall = _coefficients(labels, items, level, resamples, seed, rng)
    sets = items.items[None, :].astype(np.float64)
    agreement = float(coefficients.observed_agreement(sets, items.counts)[0])
    of_item = items.by_count.of_item[items.by_rater.of_item]
    few = np.flatnonzero(ratings[of_item] < 2).tolist()
    return AgreementReport(
        n_items=int(items.items[ratings >= 1].sum()),
        n_raters=len(labels.raters),
        raters=labels.raters,
        categories=labels.categories,
        percent_agreement=None if np.isnan(agreement) else agreement,
        fleiss_kappa=overall[0],
        krippendorff_alpha=overall[1],
        gwet_ac1=overall[2],
        pairs=pairs,
        by_category=_by_category(labels, items, overall[3:]),
        disagreements=_disagreements(labels, items),
        consensus=_consensus(labels, items, of_item),
        confusion=confusion,
        items_under_two_ratings=[labels.items[position] for position in few],
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _grouped(labels: Labels) -> _Items:
    by_rater = distinct_rows(labels.codes)
    by_count = distinct_rows(np.sort(by_rater.rows, axis=1))
    if len(by_count.rows) * len(labels.categories) > MOST_COUNTS:
        found = f"{len(by_count.rows):,} rating patterns of {len(labels.categories):,} labels are too many to compare"
        raise InputError(found, "Leave columns of free text out with --raters, and round scores.", file=labels.file)
    repeats = np.bincount(by_count.of_item, weights=by_rater.items).astype(np.int64)
    return _Items(by_rater, by_count, category_counts(by_count.rows, len(labels.categories)), repeats)


def _coefficients(
    labels: Labels, items: _Items, level: ScaleLevel, resamples: int, seed: int, rng: np.random.Generator
) -> list[Estimate]:
    """Fleiss' kappa, Krippendorff's alpha, AC1, then the kappa of each category."""
    ratings = items.counts.sum(axis=1)
    rated = ratings >= 1
    counts, repeats = items.counts[rated], items.items[rated]
    n, pairable = int(repeats.sum()), int(items.items[ratings >= 2].sum())
    if not pairable:
        return [Estimate(None, n=n, reason=NO_PAIRS) for _ in range(3 + len(labels.categories))]
    values = np.array(labels.values or range(len(labels.categories)), dtype=np.float64)

    def figures(sets: FloatArray) -> FloatArray:
        return np.column_stack(
            [
                coefficients.fleiss(sets, counts),
                coefficients.alpha(sets, counts, level, values),
                coefficients.gwet(sets, counts),
                coefficients.fleiss_by_category(sets, counts),
            ]
        )

    categories = counts.shape[1]
    if resamples > 0 and resamples * (len(repeats) + categories**2) <= MOST_DRAWS:
        found = figures(repeats[None, :].astype(np.float64))[0]
        drawn = bootstrap(figures, repeats, resamples, rng)
        units = [n, pairable, n] + [n] * categories
        reasons = [ONE_CATEGORY, ONE_CATEGORY, "the scale has one category: nothing could differ"]
        reasons += ["nobody used this label, or everybody no other"] * categories
        return [
            bootstrapped(float(value), values, units, reason)
            for value, values, units, reason in zip(found, drawn.T, units, reasons, strict=True)
        ]
    of_item = items.by_count.of_item[items.by_rater.of_item]
    new_place = np.cumsum(rated) - 1
    statistic = partial(coefficients.alpha, counts=counts, level=level, values=values)
    alpha = _alpha_with_error(statistic, repeats, new_place[of_item[rated[of_item]]], pairable, seed)
    fleiss, gwet = fleiss_kappa(counts, repeats).overall, gwet_ac(counts, items=repeats)
    estimates = [_by_t(fleiss), alpha.estimate(alpha.z_interval(), JACKKNIFE), _by_t(gwet)]
    given = counts.sum(axis=1)
    for category in range(categories):
        against = distinct_rows(np.column_stack([counts[:, category], given - counts[:, category]]))
        of_each = np.bincount(against.of_item, weights=repeats).astype(np.int64)
        estimates.append(_by_t(fleiss_kappa(against.rows, of_each).overall))
    return estimates


def _by_t(coefficient: Coefficient) -> Estimate:
    return coefficient.estimate(coefficient.t_interval(), GWET)


def _alpha_with_error(
    statistic: Callable[[FloatArray], FloatArray], repeats: IntArray, of_item: IntArray, pairable: int, seed: int
) -> Coefficient:
    value = float(statistic(repeats[None, :].astype(np.float64))[0])
    if np.isnan(value):
        return Coefficient(None, n=pairable, reason=ONE_CATEGORY)
    error = jackknife_error(statistic, repeats, of_item, seed)
    return Coefficient(value, se=None if np.isnan(error) else error, n=pairable)


def _pairs(
    labels: Labels, items: _Items, resamples: int, rng: np.random.Generator
) -> tuple[list[Pair], list[Confusion]]:
    """Each pair of raters, and its confusion matrix where all of them together are short enough to read."""
    categories = len(labels.categories)
    raters = list(combinations(range(len(labels.raters)), 2))
    shown = len(raters) * categories**2 <= MOST_CONFUSION_CELLS
    columns, repeats = np.ascontiguousarray(items.by_rater.rows.T), items.by_rater.items
    tables = (contingency_table(columns[one], columns[other], categories, repeats) for one, other in raters)
    cells, confusion = [], []
    for (one, other), table in zip(raters, tables, strict=True):
        first, second = np.nonzero(table)
        cells.append((first, second, table[first, second]))
        if shown:
            names = (labels.raters[one], labels.raters[other])
            confusion.append(Confusion(names, labels.categories, table.tolist()))
    draws = sum(len(first) + categories for first, _, _ in cells) * resamples
    resample = 0 < draws <= MOST_DRAWS
    pairs = [
        _pair((labels.raters[one], labels.raters[other]), *found, categories, resamples if resample else 0, rng)
        for (one, other), found in zip(raters, cells, strict=True)
    ]
    return pairs, confusion


def _pair(
    raters: tuple[str, str],
    first: IntArray,
    second: IntArray,
    repeats: IntArray,
    categories: int,
    resamples: int,
    rng: np.random.Generator,
) -> Pair:
    n = int(repeats.sum())
    if not n:
        return Pair(raters, 0, None, None, Estimate(None, n=0, reason="the two raters share no item"))
    agreement = float(repeats[first == second].sum() / n)
    if resamples:
        kappas = partial(coefficients.cohen, rows=first, columns=second, categories=categories)
        value = float(kappas(repeats[None, :].astype(np.float64))[0])
        estimate = bootstrapped(value, bootstrap(kappas, repeats, resamples, rng), n, ONE_CATEGORY)
    else:
        table = np.zeros((categories, categories), dtype=np.int64)
        table[first, second] = repeats
        kappa = cohen_kappa(table)
        estimate = kappa.estimate(kappa.z_interval(), COHEN)
    return Pair(raters, n, agreement, estimate.value, _with_constant(estimate, raters, first, second))


def _with_constant(estimate: Estimate, raters: tuple[str, str], first: IntArray, second: IntArray) -> Estimate:
    """The estimate, with a word on a rater whose one label makes kappa 0 whatever the other does."""
    constant = [name for name, codes in zip(raters, (first, second), strict=True) if len(np.unique(codes)) == 1]
    if estimate.value is None or not constant:
        return estimate
    reason = f"{constant[0]} used one label only, which makes kappa 0 however many items agree"
    return Estimate(estimate.value, estimate.low, estimate.high, estimate.n, estimate.method, reason)


def _by_category(labels: Labels, items: _Items, estimates: list[Estimate]) -> list[Category]:
    totals = (items.items @ items.counts).tolist()
    return [
        Category(category, total, estimate.value, estimate)
        for category, total, estimate in zip(labels.categories, totals, estimates, strict=True)
    ]


def _disagreements(labels: Labels, items: _Items) -> list[Disagreement]:
    rows = items.by_rater.rows
    highest = rows.max(axis=1, keepdims=True)
    split = np.any((rows != MISSING) & (rows != highest), axis=1)
    given: dict[int, dict[str, str]] = {
        pattern: {
            rater: labels.categories[code]
            for rater, code in zip(labels.raters, rows[pattern].tolist(), strict=True)
            if code != MISSING
        }
        for pattern in np.flatnonzero(split).tolist()
    }
    of_item = items.by_rater.of_item
    at = np.flatnonzero(split[of_item])
    return [
        Disagreement(labels.items[position], given[pattern])
        for position, pattern in zip(at.tolist(), of_item[at].tolist(), strict=True)
    ]


def _consensus(labels: Labels, items: _Items, of_item: IntArray) -> list[Consensus]:
    most = items.counts.max(axis=1)
    leads: list[tuple[str, ...]] = [
        tuple(labels.categories[code] for code in np.flatnonzero(row == lead).tolist())
        for row, lead in zip(items.counts, most.tolist(), strict=True)
    ]
    answers = [(lead[0], False, ()) if len(lead) == 1 else (None, True, lead) for lead in leads]
    rated = np.flatnonzero(most[of_item] > 0)
    return [
        Consensus(labels.items[position], *answers[pattern])
        for position, pattern in zip(rated.tolist(), of_item[rated].tolist(), strict=True)
    ]
