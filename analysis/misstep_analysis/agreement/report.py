"""How far raters agree: everything that `misstep agreement` says about a file of labels."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from msgspec import Struct, to_builtins

from misstep_analysis.agreement.intervals import (
    BOOTSTRAP,
    COHEN,
    GWET,
    JACKKNIFE,
    TOO_MANY,
    Cells,
    Ratings,
    WidthGoal,
    may_resample,
    weightings,
    width_goal,
)
from misstep_analysis.labels import Labels, ScaleLevel
from misstep_analysis.stats.clusters.paired_means import paired_means
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.agreement import NO_PAIRS
from misstep_analysis.stats.raters.coefficients import Weighting
from misstep_analysis.stats.raters.patterns import (
    MISSING,
    IntArray,
    Patterns,
    category_counts,
    contingency_table,
    distinct_rows,
)
from misstep_harness.errors import InputError

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


MOST_COUNTS = 20_000_000

MOST_CONFUSION_CELLS = 2_000_000


_NO_ITEM = Estimate(None, n=0, reason="the two raters share no item")


class Weighted(Struct, frozen=True):
    """A coefficient in which near misses count in part, with linear and with quadratic weights."""

    linear: Estimate
    quadratic: Estimate


class Pair(Struct, frozen=True, omit_defaults=True):
    """Two raters over the `n` items that both labelled; `agreement` is the share of these that they label alike.

    `weighted_kappa` is there at the ordinal level only.
    """

    raters: tuple[str, str]
    n: int
    agreement: float | None
    cohen_kappa: float | None
    cohen_kappa_interval: Estimate
    weighted_kappa: Weighted | None = None


class CategoryAgreement(Struct, frozen=True):
    """One label against all others: `n` ratings of it, and Fleiss' kappa of whether a rating is of it."""

    category: str
    n: int
    kappa: float | None
    kappa_interval: Estimate


class RaterDisagreement(Struct, frozen=True, gc=False):
    """An item that its raters did not all label alike."""

    item: str
    labels: dict[str, str]


class _Consensus(Struct, frozen=True, gc=False):
    """The label that most raters gave an item; where several share the lead, `label` is `None` and these are named."""

    item: str
    label: str | None
    tied: bool
    candidates: tuple[str, ...] = ()


class LabelConfusion(Struct, frozen=True):
    """How often each label of the first rater (rows) met each of the second (columns)."""

    raters: tuple[str, str]
    labels: list[str]
    matrix: list[list[int]]


class AgreementReport(Struct, frozen=True, omit_defaults=True):
    """The agreement of all raters, of each pair, by label and by item.

    `percent_agreement` is the share of agreeing pairs of ratings, averaged over items with two or more; `confusion` is
    empty where it would be too long to read.
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
    by_category: list[CategoryAgreement]
    disagreements: list[RaterDisagreement]
    consensus: list[_Consensus]
    confusion: list[LabelConfusion]
    items_under_two_ratings: list[str]
    level: ScaleLevel
    resamples: int
    seed: int
    interval_methods: list[str]
    too_many_to_resample: bool
    notes: list[str]
    by_rater: list[RaterReport]
    gwet_ac2: Weighted | None = None
    items_for_width: WidthGoal | None = None
    """Whether items are known one by one; where they are only counted, no list of items says anything."""


class RaterDissent(Struct, frozen=True):
    """An item that a rater labelled otherwise than the majority of the others, and how often these gave each label."""

    item: str
    label: str
    others: str


class QuestionReports(Struct, frozen=True):
    """The agreement on each of several questions, by its name; `notes` say how the file was read."""

    reports: dict[str, AgreementReport]
    notes: list[str]

    def document(self) -> object:
        """Return the JSON: the report itself where a file has one question, else a list with the name of each first."""
        if list(self.reports) == [""]:
            return self.reports[""]
        listed = [{"question": name, **to_builtins(report)} for name, report in self.reports.items()]
        return {"questions": listed, "notes": self.notes}

    def coefficients(self) -> dict[str, Estimate]:
        """The coefficients that limits are set for: `alpha`, `kappa`, `ac1`; of several questions `QUESTION.alpha`."""
        return {
            f"{question}.{name}" if question else name: estimate
            for question, report in self.reports.items()
            for name, estimate in (
                ("alpha", report.krippendorff_alpha),
                ("kappa", report.fleiss_kappa),
                ("ac1", report.gwet_ac1),
            )
        }


class _Items(Struct, frozen=True):
    """Items by how their raters labelled them, and by how often each category was given, whoever gave it."""

    by_rater: Patterns
    by_count: Patterns
    counts: IntArray
    """Count patterns x categories."""
    items: IntArray
    """Count patterns: the items of each."""


def agreement_report(
    labels: Labels,
    level: ScaleLevel = "nominal",
    resamples: int = 10_000,
    seed: int = 0,
    width: float | None = None,
) -> AgreementReport:
    """Return all figures on the agreement of the raters of some items."""
    items = _grouped(labels)
    ratings = items.counts.sum(axis=1)
    rng = np.random.default_rng(seed)
    pairs, confusion, pair_method = _pairs(labels, items, level, resamples, rng)
    overall, methods = _coefficients(labels, items, level, resamples, seed, rng)
    used = [way for way, one in zip(methods, overall, strict=False) if one.method]
    used += [pair_method for pair in pairs if pair.cohen_kappa_interval.method]
    sets = items.items[None, :].astype(np.float64)
    agreement = float(coefficients.observed_agreement(sets, items.counts)[0])
    of_item = items.by_count.of_item[items.by_rater.of_item]
    few = np.flatnonzero(ratings[of_item] < 2).tolist()
    weighted = Weighted(*more) if (more := overall[3 + len(labels.categories) :]) else None
    totals = (items.items @ items.counts).tolist()
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
        by_category=[
            CategoryAgreement(category, total, estimate.value, estimate)
            for category, total, estimate in zip(
                labels.categories, totals, overall[3 : 3 + len(labels.categories)], strict=True
            )
        ],
        disagreements=_disagreements(labels, items),
        consensus=_consensus(labels, items, of_item),
        confusion=confusion,
        items_under_two_ratings=[labels.items[position] for position in few],
        level=level,
        resamples=resamples,
        seed=seed,
        interval_methods=list(dict.fromkeys(used)),
        too_many_to_resample=resamples > 0 and any(way != BOOTSTRAP for way in used),
        notes=labels.remarks,
        by_rater=rater_reports(labels.raters, labels.categories, items.by_rater),
        gwet_ac2=weighted,
        items_for_width=None if width is None else width_goal(_by_name(overall, weighted), width),
    )


def dissents(report: AgreementReport, rater: str) -> list[RaterDissent]:
    """Return the items on which one label leads among the others, and a rater gave another one."""
    rows = []
    for item in report.disagreements:
        others = Counter(label for who, label in item.labels.items() if who != rater).most_common()
        leads = len(others) == 1 or others[0][1] > others[1][1]
        if leads and item.labels.get(rater, others[0][0]) != others[0][0]:
            tally = ", ".join(f"{label} {count}" for label, count in others)
            rows.append(RaterDissent(item.item, item.labels[rater], tally))
    return rows


def _by_name(overall: list[Estimate], weighted: Weighted | None) -> dict[str, Estimate]:
    named = dict(zip(("fleiss_kappa", "krippendorff_alpha", "gwet_ac1"), overall, strict=False))
    if weighted is not None:
        named |= {"gwet_ac2_linear": weighted.linear, "gwet_ac2_quadratic": weighted.quadratic}
    return named


def _grouped(labels: Labels) -> _Items:
    by_rater = distinct_rows(labels.codes)
    by_count = distinct_rows(np.sort(by_rater.rows, axis=1))
    if len(by_count.rows) * len(labels.categories) > MOST_COUNTS:
        message = f"{len(by_count.rows):,} rating patterns of {len(labels.categories):,} labels are too many to compare"
        raise InputError(message, "Leave columns of free text out with --raters, and round scores.", file=labels.file)
    repeats = np.bincount(by_count.of_item, weights=by_rater.items).astype(np.int64)
    return _Items(by_rater, by_count, category_counts(by_count.rows, len(labels.categories)), repeats)


def _coefficients(
    labels: Labels, items: _Items, level: ScaleLevel, resamples: int, seed: int, rng: np.random.Generator
) -> tuple[list[Estimate], tuple[str, str, str]]:
    values = np.array(labels.values or range(len(labels.categories)), dtype=np.float64)
    rated = items.counts.sum(axis=1) >= 1
    place = np.cumsum(rated) - 1
    of_item = items.by_count.of_item[items.by_rater.of_item]
    of_item = place[of_item[rated[of_item]]]
    ratings = Ratings(items.counts[rated], items.items[rated], of_item, level, values)
    if not ratings.pairable:
        figures = 3 + len(labels.categories) + len(ratings.weightings)
        undefined = [Estimate(None, n=ratings.n, reason=NO_PAIRS) for _ in range(figures)]
        return undefined, (GWET, JACKKNIFE, GWET)
    if may_resample(len(ratings.items) + len(labels.categories) ** 2, resamples):
        return ratings.by_bootstrap(resamples, rng), (BOOTSTRAP, BOOTSTRAP, BOOTSTRAP)
    return ratings.by_formula(seed, TOO_MANY if resamples else ""), (GWET, JACKKNIFE, GWET)


def _pairs(
    labels: Labels, items: _Items, level: ScaleLevel, resamples: int, rng: np.random.Generator
) -> tuple[list[Pair], list[LabelConfusion], str]:
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
            confusion.append(LabelConfusion(names, labels.categories, table.tolist()))
    resample = may_resample(sum(len(first) + categories for first, _, _ in cells), resamples)
    kinds: list[Weighting] = ["unweighted", *weightings(level)]
    why = TOO_MANY if resamples else ""
    pairs = []
    for (one, other), counts in zip(raters, cells, strict=True):
        names, both = (labels.raters[one], labels.raters[other]), Cells(*counts, categories)
        estimates = [_NO_ITEM] * len(kinds)
        if both.n:
            estimates = both.by_bootstrap(kinds, resamples, rng) if resample else both.by_formula(kinds, why)
        kappa, *weighted = [_with_constant(estimate, names, both) for estimate in estimates]
        agreement = both.agreement if both.n else None
        pairs.append(Pair(names, both.n, agreement, kappa.value, kappa, Weighted(*weighted) if weighted else None))
    return pairs, confusion, BOOTSTRAP if resample else COHEN


def _with_constant(estimate: Estimate, raters: tuple[str, str], cells: Cells) -> Estimate:
    """Return the estimate, with a word on a rater whose one label makes kappa 0 whatever the other does."""
    constant = [
        name for name, codes in zip(raters, (cells.first, cells.second), strict=True) if len(np.unique(codes)) == 1
    ]
    if estimate.value is None or not constant:
        return estimate
    reason = f"{constant[0]} used one label only, which makes kappa 0 however many items agree"
    return Estimate(estimate.value, estimate.low, estimate.high, estimate.n, estimate.method, reason)


def _disagreements(labels: Labels, items: _Items) -> list[RaterDisagreement]:
    rows = items.by_rater.rows
    highest = rows.max(axis=1, keepdims=True)
    split = np.any((rows != MISSING) & (rows != highest), axis=1)
    by_pattern: dict[int, dict[str, str]] = {
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
        RaterDisagreement(labels.items[position], by_pattern[pattern])
        for position, pattern in zip(at.tolist(), of_item[at].tolist(), strict=True)
    ]


def _consensus(labels: Labels, items: _Items, of_item: IntArray) -> list[_Consensus]:
    most = items.counts.max(axis=1, initial=0)
    leads: list[tuple[str, ...]] = [
        tuple(labels.categories[code] for code in np.flatnonzero(row == lead).tolist())
        for row, lead in zip(items.counts, most.tolist(), strict=True)
    ]
    answers = [(lead[0], False, ()) if len(lead) == 1 else (None, True, lead) for lead in leads]
    rated = np.flatnonzero(most[of_item] > 0)
    return [
        _Consensus(labels.items[position], *answers[pattern])
        for position, pattern in zip(rated.tolist(), of_item[rated].tolist(), strict=True)
    ]
