"""Whether a judge says the same again: over votes within a run, and over repeated runs on the same items."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import (
    JudgedUnits,
    Statistic,
    drawn_sets,
    judging_table,
    resampled_estimate,
    resamples_within,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.coefficients import NO_DISAGREEMENT, ONE_CATEGORY, chance_corrected, ratio
from misstep_analysis.stats.raters.patterns import MISSING, FloatArray, IntArray, distinct_rows
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import counted_text, points_text, with_interval
from misstep_harness.errors import UsageError

ONE_VOTE = "no score is a share of several votes"
NO_SHARES = "the scores are not shares of votes"
NOTHING_ANSWERED = "no item was answered"
NOT_TWICE = "no item was answered in two runs"

_NEAR = 1e-6

_FIELDS: Fields = (
    ("Items whose label changes", "changed", "share"),
    ("Items whose outcome changes, no answer being one", "changed_all", "share"),
    ("Agreement of two runs", "agreement", "share"),
    ("Fleiss' kappa of the runs", "fleiss_kappa", "coefficient"),
    ("Krippendorff's alpha of the runs", "krippendorff_alpha", "coefficient"),
)


class VoteCount(Struct, frozen=True):
    """The answers that had so many votes: how many have a gold label, and how many of those are right."""

    votes: int
    n: int
    accuracy: Estimate


class Votes(Struct, frozen=True):
    """The votes within a run.

    - `unanimous`: The share of answered items on which all votes gave the label.
    """

    votes: int
    unanimous: Estimate
    by_votes: tuple[VoteCount, ...]
    reason: str = ""


class Stability(Struct, frozen=True):
    """Repeated runs of one judge.

    - `agreement`, `fleiss_kappa`, `krippendorff_alpha`: Over runs as raters; unanswered items have no label.
    - `changed`: The share of items answered in two runs or more whose label is not the same in all of those.
    - `changed_all`: The share of all items whose outcome is not the same in all runs, no answer being an outcome.
    - `cached`: How many of the answers came from a cache: they say nothing new.
    """

    runs: int
    n: int
    agreement: Estimate
    fleiss_kappa: Estimate
    krippendorff_alpha: Estimate
    changed: Estimate
    changed_all: Estimate
    accuracies: tuple[Estimate, ...]
    spread: float | None
    deviation: float | None
    cached: int


def votes_within(sample: JudgedSample, votes: int) -> Votes:
    """Return how the votes of a run fell; `votes` is how often each item was asked about."""
    share = sample.units.share
    if votes < 2:
        return Votes(votes, Estimate(None, n=0, reason=ONE_VOTE), (), ONE_VOTE)
    counts = np.array([np.nan if one.score is None else one.score * votes for one in sample.verdicts])
    countable = sample.answered & ~np.isnan(counts)
    whole = np.rint(np.where(countable, counts, 0)).astype(np.int64)
    if (
        not countable.any()
        or (np.abs(counts[countable] - whole[countable]) > _NEAR).any()
        or whole[countable].max() > votes
    ):
        reason = NO_SHARES if sample.answered.any() else NOTHING_ANSWERED
        return Votes(votes, Estimate(None, n=0, reason=reason), (), reason)
    by_votes = []
    for count in sorted(set(whole[countable].tolist()), reverse=True):
        here = countable & (whole == count) & sample.known
        accuracy = share(sample.right, here, "no item with so many votes has a gold label")
        by_votes.append(VoteCount(count, int(np.count_nonzero(here)), accuracy))
    return Votes(votes, share(whole == votes, countable, NOTHING_ANSWERED), tuple(by_votes))


def stability(runs: Sequence[JudgedSample], resamples: int = 10_000, seed: int = 0) -> Stability:
    """Return how far repeated runs of a judge on one benchmark say the same."""
    if len(runs) < 2:
        raise UsageError("stability needs two runs", "Name two or more runs of one judge.")
    if len({run.codes for run in runs}) > 1:
        raise UsageError("the runs have different labels", "Name runs on one benchmark.")
    first = runs[0]
    rows = [{verdict.item: row for row, verdict in enumerate(run.verdicts)} for run in runs]
    items = [verdict.item for verdict in first.verdicts if all(verdict.item in places for places in rows)]
    if not items:
        raise UsageError("the runs have no item in common", "Name runs on one benchmark.")
    places = [[row[item] for item in items] for row in rows]
    answers = np.column_stack([run.answers[place] for run, place in zip(runs, places, strict=True)])
    shared = np.zeros(len(first.verdicts), dtype=np.bool_)
    shared[places[0]] = True
    units, codes, gold = first.units.only(shared), first.codes, first.gold[places[0]]
    answered = answers < codes.unanswered
    twice = np.count_nonzero(answered, axis=1) >= 2
    reasons = [NOT_TWICE, ONE_CATEGORY, NO_DISAGREEMENT] if twice.any() else [NOT_TWICE] * 3
    agreement, kappa, alpha = _resampled(np.where(answered, answers, MISSING), units, reasons, resamples, seed)
    lowest = np.where(answered, answers, codes.unanswered).min(axis=1, keepdims=True)
    changes = (answered & (answers != lowest)).any(axis=1)
    accuracies = tuple(units.share(column == gold, gold >= 0, "no item asked has a gold label") for column in answers.T)
    known = np.array([one.value for one in accuracies if one.value is not None])
    return Stability(
        runs=len(runs),
        n=len(items),
        agreement=agreement,
        fleiss_kappa=kappa,
        krippendorff_alpha=alpha,
        changed=units.share(changes, twice, NOT_TWICE),
        changed_all=units.share((answers != answers[:, :1]).any(axis=1), None, NOT_TWICE),
        accuracies=accuracies,
        spread=float(np.ptp(known)) if len(known) > 1 else None,
        deviation=float(known.std(ddof=1)) if len(known) > 1 else None,
        cached=sum(run.verdicts[row].cached for run, place in zip(runs, places, strict=True) for row in place),
    )


def _resampled(
    answers: IntArray, units: JudgedUnits, reasons: Sequence[str], resamples: int, seed: int
) -> list[Estimate]:
    """Agreement, Fleiss' kappa and Krippendorff's alpha of runs as raters, with intervals over resampled units.

    An item counts with the labels it got, of which it has no more than runs, however many labels there are: tables of
    items x labels are sparse.
    """
    # Items that stand for themselves are alike where they got the same labels in whatever order; clusters hardly are.
    patterns = distinct_rows(np.sort(answers, axis=1))
    if units.clustered:
        rows, unit_of, repeats = answers, units.of_item, np.ones(units.count, dtype=np.int64)
    else:
        rows, unit_of, repeats = patterns.rows, np.arange(len(patterns.rows)), patterns.items
    statistic = _of_sets(rows, unit_of, len(repeats))
    n = len(answers)
    values = statistic(repeats[None, :].astype(np.float64))[0]
    times = resamples_within(resamples, len(repeats))
    drawn = drawn_sets(statistic, repeats, times, np.random.default_rng(seed))
    return [
        resampled_estimate(float(value), column, n, units.name, reason)
        for value, column, reason in zip(values, drawn.T, reasons, strict=True)
    ]


def _of_sets(answers: IntArray, unit_of: IntArray, units: int) -> Statistic:
    """The three figures of each set of units: sets x units → sets x figures (`analysis.stats.raters.coefficients`)."""
    from scipy.sparse import csr_array

    item, run = np.nonzero(answers != MISSING)
    used, label = np.unique(answers[item, run], return_inverse=True)
    answers_of_item = np.bincount(item, minlength=len(answers))
    # How often each item got each label that it got.
    pairs = distinct_rows(np.column_stack([item, label]))
    of_pair, times = pairs.rows[:, 0], pairs.items.astype(np.float64)
    same = np.bincount(of_pair, times * (times - 1), minlength=len(answers))
    several = answers_of_item >= 2
    sums = np.column_stack(
        [
            np.where(several, same / np.maximum(answers_of_item * (answers_of_item - 1), 1), 0.0),
            several,
            answers_of_item >= 1,
            np.where(
                several, (answers_of_item * (answers_of_item - 1) - same) / np.maximum(answers_of_item - 1, 1), 0.0
            ),
        ]
    )
    by_unit = np.column_stack([np.bincount(unit_of, column, minlength=units) for column in sums.T])
    places = (pairs.rows[:, 1], unit_of[of_pair])
    shape = (len(used), units)
    shares = csr_array((times / answers_of_item[of_pair], places), shape=shape)
    pairable = csr_array((np.where(several[of_pair], times, 0.0), places), shape=shape)

    def figures(sets: FloatArray) -> FloatArray:
        agreeing, twice, rated, disagreeing = (sets @ by_unit).T
        agreement = ratio(agreeing, twice)
        chance = ratio(((shares @ sets.T) ** 2).sum(axis=0), rated**2)
        uses = pairable @ sets.T
        total = uses.sum(axis=0)
        expected = np.where(np.count_nonzero(uses, axis=0) >= 2, total**2 - (uses**2).sum(axis=0), 0.0)
        alpha = 1 - ratio(disagreeing * (total - 1), expected)
        return np.column_stack([agreement, chance_corrected(agreement, chance), alpha])

    return figures


@made_by_this
def votes_table(votes: Votes, source: str) -> Table:
    """Return how often all votes agree, and how often an answer with so many votes is right."""
    accuracies = {f"Accuracy with {one.votes} of {votes.votes} votes": one.accuracy for one in votes.by_votes}
    figures = {"Answers with all votes": votes.unanimous} | accuracies
    rows = [estimate_row(name, one, "share", f"{votes.votes} votes an item", source) for name, one in figures.items()]
    finding = f"All {votes.votes} votes give the answer on {with_interval(votes.unanimous, 'share')} of the items."
    return judging_table("votes", "Votes within the run", finding, rows)


@made_by_this
def stability_table(stability: Stability, names: Sequence[str], source: str) -> Table:
    """Return how far repeated runs of a judge say the same."""
    runs, answers = f"{stability.runs} runs", counted_text(stability.cached, "answer")
    spreads = {
        "Accuracy, greatest less least": stability.spread,
        "Accuracy, standard deviation over runs": stability.deviation,
    }
    each = zip(names, stability.accuracies, strict=True)
    rows = [
        *rows_from(stability, _FIELDS, runs, source),
        *(
            Row(name, value, n=stability.runs, unit="share", group=runs, source=source)
            for name, value in spreads.items()
        ),
        *(estimate_row("Accuracy, unanswered counted as wrong", one, "share", name, source) for name, one in each),
    ]
    notes = (
        f"Over what all runs were asked about: {counted_text(stability.n, 'item')}.",
        f"From a cache, which repeats itself: {answers}." if stability.cached else "",
    )
    return judging_table("stability", "Repeated runs of one judge", _stability_finding(stability), rows, notes)


def _stability_finding(stability: Stability) -> str:
    changed = stability.changed
    if changed.value is None:
        return f"Whether labels change from run to run cannot be told: {changed.reason}."
    changes = f"The label changes between {stability.runs} runs on {with_interval(changed, 'share')}"
    spread = "" if stability.spread is None else f"; the accuracy varies by {points_text(stability.spread)}"
    return f"{changes} of {counted_text(changed.n or 0, 'item')}{spread}."
