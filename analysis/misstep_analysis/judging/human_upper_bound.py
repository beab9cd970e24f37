"""The human ceiling: whether a judge agrees with people as well as people agree with each other.

The alternative annotator test: whether the judge could stand in for one of the raters.

Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, arXiv:2501.10970. Each rater is
left out in turn: on each item, is the judge or the one left out nearer to the others? The judge wins if it is shown to
be nearer as often, less a penalty epsilon for what a rater costs, and may replace a rater if it wins against half.

Epsilon is the authors' 0.2 for trained experts, 0.15 for skilled raters and 0.1 for crowd workers, less where raters
hardly agree with each other.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import BoolArray, judging_table
from misstep_analysis.stats.clusters.clustered import NO_SPREAD, ONE_CLUSTER, linearised_variance, small_sample
from misstep_analysis.stats.estimate import NO_WIDTH, Estimate
from misstep_analysis.stats.raters.coefficients import ONE_CATEGORY, chance_corrected, item_agreement, ratio
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.significance import benjamini_yekutieli
from misstep_analysis.tables import Fields, Row, Table, Unit, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

EPSILON = 0.2

FEWEST_RATERS = 3
FEWEST_ITEMS = 30
"""As the authors advise: fewer raters are not a group, and fewer items not a sample for a t-test."""

_FALSE_DISCOVERY = 0.05
_REPLACES = 0.5

_OF_RATER: tuple[tuple[str, str, Unit], ...] = (
    ("Judge at least as near", "judge", "share"),
    ("Rater at least as near", "human", "share"),
    ("p", "p_value", "p"),
    ("p, adjusted after Benjamini and Yekutieli", "p_adjusted", "p"),
)


class AgainstOneRater(Struct, frozen=True):
    """One rater left out; `judge` and `human` are how often each is at least as near to the others."""

    rater: str
    n: int
    judge: float
    human: float
    p_value: float
    p_adjusted: float | None
    wins: bool


class AlternativeAnnotator(Struct, frozen=True):
    """Whether the judge could replace a rater; rates are `None` where it cannot be told.

    - `alignment`: What nearness is: `accuracy`, or `-RMSE` for labels on a scale.
    - `winning_rate_all`, `replaces_all`: The same with items that the judge left unanswered counted as lost.
    - `units`: What the tests take as independent: items, or so many clusters.
    """

    epsilon: float
    alignment: str
    winning_rate: float | None
    replaces: bool | None
    advantage: Estimate
    winning_rate_all: float | None
    replaces_all: bool | None
    raters: tuple[AgainstOneRater, ...]
    left_out: int
    units: str
    reason: str = ""


def alternative_annotator(sample: JudgedSample, epsilon: float = EPSILON) -> AlternativeAnnotator:
    """Return the alternative annotator test of a run."""
    values = _values_of(sample)
    answers = np.where(sample.answers < len(sample.labels), sample.answers, -1)
    advantages, advantages_all = (_advantages(sample, values, answers, unanswered_lose=lose) for lose in (False, True))
    tested, tested_all = (_tested(sample, one, epsilon) for one in (advantages, advantages_all))
    reason = ""
    if len(tested) < FEWEST_RATERS:
        reason = (
            f"{len(tested)} of {len(sample.raters)} raters share {FEWEST_ITEMS} items with another rater and the "
            f"judge: the test needs {FEWEST_RATERS}"
        )
    rate, rate_all = (None if reason else sum(one.wins for one in tests) / len(tests) for tests in (tested, tested_all))
    replaces, replaces_all = (None if one is None else one >= _REPLACES for one in (rate, rate_all))
    return AlternativeAnnotator(
        epsilon=epsilon,
        alignment="accuracy" if values is None else "-RMSE",
        winning_rate=rate,
        replaces=replaces,
        advantage=Estimate(None, n=len(tested), reason=reason) if reason else _advantage(advantages, tested, sample),
        winning_rate_all=rate_all,
        replaces_all=replaces_all,
        raters=tested,
        left_out=len(sample.raters) - len(tested),
        units=sample.units.name,
        reason=reason,
    )


class _Advantages(Struct, frozen=True):
    """For each rating of an item that others rated, too: whether the judge, and the rater, is at least as near."""

    item: IntArray
    rater: IntArray
    judge: FloatArray
    human: FloatArray


def _values_of(sample: JudgedSample) -> FloatArray | None:
    """The labels as numbers, where they are on a scale: their own, or for an order without numbers their places."""
    if sample.level == "nominal":
        return None
    places = np.arange(len(sample.labels), dtype=np.float64)
    try:
        numbers = np.array([float(label) for label in sample.labels])
    except ValueError:
        return places
    return numbers if np.isfinite(numbers).all() else places


def _advantages(
    sample: JudgedSample, values: FloatArray | None, answers: IntArray, *, unanswered_lose: bool
) -> _Advantages:
    counts = sample.label_counts()
    item, rater, label = sample.ratings.T
    has_others = counts[item].sum(axis=1) >= 2
    # An answer that is none of the labels is an answer and loses; one that is missing only loses where that is asked.
    included = np.ones(len(item), dtype=np.bool_) if unanswered_lose else sample.answered[item]
    item, rater, label = (column[has_others & included] for column in (item, rater, label))
    answer = answers[item]
    others = counts[item]
    others[np.arange(len(item)), label] -= 1
    human, judge = _alignment(others, label, values), _alignment(others, np.maximum(answer, 0), values)
    judge = np.where(answer < 0, -np.inf, judge)
    return _Advantages(item, rater, (judge >= human).astype(np.float64), (human >= judge).astype(np.float64))


def _alignment(others: IntArray, labels: IntArray, values: FloatArray | None) -> FloatArray:
    """How near each label is to those of the others: the share of equal ones, or minus the root mean squared error."""
    total = others.sum(axis=1)
    if values is None:
        return np.asarray(others[np.arange(len(labels)), labels] / total)
    squares = (values[labels][:, None] - values[None, :]) ** 2
    # Rounded, so that two labels equally far away are equally near whichever is computed first.
    return np.asarray(-np.sqrt((others * squares).sum(axis=1) / total).round(12))


def _tested(sample: JudgedSample, advantages: _Advantages, epsilon: float) -> tuple[AgainstOneRater, ...]:
    tests = []
    for rater, name in enumerate(sample.raters):
        own = advantages.rater == rater
        if np.count_nonzero(own) < FEWEST_ITEMS:
            continue
        judge, human = advantages.judge[own], advantages.human[own]
        p_value = _p_value(human - judge, sample.units.of_item[advantages.item[own]], epsilon)
        tests.append((name, len(judge), float(judge.mean()), float(human.mean()), p_value))
    adjusted = benjamini_yekutieli([p_value for *_, p_value in tests]).p_values
    return tuple(
        AgainstOneRater(*one, p_adjusted=p, wins=p is not None and p <= _FALSE_DISCOVERY)
        for one, p in zip(tests, adjusted, strict=True)
    )


def _p_value(differences: FloatArray, of_item: IntArray, epsilon: float) -> float:
    """Return the one-sided p-value of Student's t that the mean difference, human less judge, is below epsilon.

    Over clusters the error is that of a ratio of sums. If all units are alike, the error is 0, and p is the
    greatest chance of that under a mean of epsilon: no unit's is above 1, so that with the chance c of this one, m, the
    mean is at most c m + (1 - c); an m below 0 is taken as 0.
    """
    from scipy.special import stdtr

    _, units = np.unique(of_item, return_inverse=True)
    sizes = np.bincount(units).astype(np.float64)
    count, mean = len(sizes), float(differences.mean())
    if count < 2:
        return 1.0
    factor, degrees = small_sample(sizes)
    error = float(np.sqrt(linearised_variance(np.bincount(units, differences), sizes) * factor))
    if error == 0:
        return 1.0 if mean >= epsilon else float(((1 - epsilon) / (1 - max(mean, 0.0))) ** count)
    return float(stdtr(degrees, (mean - epsilon) / error))


def _advantage(advantages: _Advantages, tested: Sequence[AgainstOneRater], sample: JudgedSample) -> Estimate:
    """Return the mean over raters of the judge's advantage probability, with an interval by Student's t over the units.

    The raters are who they are and the items are the sample: an item's part in the error is the sum over its ratings of
    the difference from the rater's own probability, over that rater's items.
    """
    from scipy.special import stdtrit

    places = {name: place for place, name in enumerate(sample.raters)}
    own, count = np.zeros(len(places)), np.ones(len(places))
    for one in tested:
        own[places[one.rater]], count[places[one.rater]] = one.judge, one.n
    of_tested = np.isin(advantages.rater, [places[one.rater] for one in tested])
    rater = advantages.rater[of_tested]
    _, unit = np.unique(sample.units.of_item[advantages.item[of_tested]], return_inverse=True)
    parts = np.bincount(unit, (advantages.judge[of_tested] - own[rater]) / count[rater]) / len(tested)
    units, value = len(parts), float(own.sum() / len(tested))
    n = len(np.unique(advantages.item[of_tested]))
    if units < 2 or np.abs(parts).max() < NO_WIDTH:
        return Estimate(value, n=n, reason=ONE_CLUSTER if units < 2 else NO_SPREAD)
    half = float(stdtrit(units - 1, 0.975) * np.sqrt((parts**2).sum() * units / (units - 1)))
    method = f"linearised, t over {sample.units.name}, 95%"
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), n, method)


@made_by_this
def alternative_annotator_table(test: AlternativeAnnotator, source: str) -> Table:
    """Whether the judge is as near to the other raters as each rater in turn; `source` is what it was measured on."""
    rates = {
        "Winning rate": test.winning_rate,
        "Winning rate, unanswered counted as lost": test.winning_rate_all,
    }
    rows = [
        Row(name, rate, n=len(test.raters), unit="share", group=ALL_RATERS, source=source, reason=test.reason)
        for name, rate in rates.items()
    ]
    rows.append(estimate_row("Mean advantage probability", test.advantage, "share", ALL_RATERS, source))
    left_out = f"Sharing too few items with the others: {counted_text(test.left_out, 'rater')}."
    return judging_table(
        "alternative_annotator",
        "Whether the judge could stand in for a rater",
        _finding(test),
        rows,
        (
            f"The alternative annotator test of Calderon, Reichart and Dror (2025) with epsilon {test.epsilon:g}; "
            f"nearness is {test.alignment}; t-tests over {test.units}.",
            "Epsilon is 0.2 for trained experts, 0.15 for skilled raters and 0.1 for crowd workers: a judge that "
            "passes at 0.2 need not be as good as a rater.",
            left_out if test.left_out else "",
        ),
    )


def _finding(test: AlternativeAnnotator) -> str:
    if test.winning_rate is None:
        return f"Whether the judge could replace a rater cannot be told: {test.reason}."
    could = "passes" if test.replaces else "does not pass"
    worse = ""
    if test.winning_rate_all != test.winning_rate:
        worse = f" ({number_text(test.winning_rate_all, 'share')} with the unanswered counted as lost)"
    return (
        f"The judge {could} the alternative annotator test at epsilon {test.epsilon:g}, which asks whether it comes "
        f"as near to the other raters as the one it would replace: it wins against "
        f"{number_text(test.winning_rate, 'share')} of {len(test.raters):,} raters{worse}; mean advantage probability "
        f"{with_interval(test.advantage, 'share')}."
    )


@made_by_this
def stand_in_by_rater_table(test: AlternativeAnnotator, source: str) -> Table:
    """Return the alternative annotator test against each rater; `source` is what it was measured on."""
    rows = [
        Row(name, getattr(one, field), n=one.n, unit=unit, group=one.rater, source=source)
        for one in test.raters[:MOST_RATERS]
        for name, field, unit in _OF_RATER
    ]
    wins, raters = sum(one.wins for one in test.raters), counted_text(len(test.raters), "rater")
    return judging_table(
        "alternative_annotator_by_rater",
        "The judge against each rater left out",
        f"The judge wins against {wins:,} of {raters} at epsilon {test.epsilon:g}.",
        rows,
        ("Near to the raters that remain; where both are equally near, both are.", shown_note(len(test.raters))),
    )


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
_OF_BOUND: Fields = (
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
    return judging_table("ceiling", title, _bound_finding(ceiling), rows, _NOTES)


def _bound_finding(ceiling: Ceiling) -> str:
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
    rows = [row for one in ceiling.raters[:MOST_RATERS] for row in rows_from(one, _OF_BOUND, one.rater, source)]
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
