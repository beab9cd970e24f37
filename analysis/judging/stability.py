"""Whether a judge says the same again: over votes within a run, and over repeated runs on the same items.

A judge that is asked several times about an item says so in its score, the share of votes that its label has. Repeated
runs are held against each other item by item; an item whose label changes between runs has, in at least one of them,
been judged by chance.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from analysis.judging.sample import JudgedSample
from analysis.stats import coefficients
from analysis.stats.agreement import NO_DISAGREEMENT, ONE_CATEGORY
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import FloatArray, IntArray, distinct_rows
from harness.errors import UsageError

ONE_VOTE = "no score is a share of several votes"
NO_SHARES = "the scores are no shares of votes"
NOTHING_ANSWERED = "no item was answered"
NOT_TWICE = "no item was answered in two runs"

_NEAR = 1e-6


class VoteCount(Struct, frozen=True):
    """The answers that had so many votes: how many have a gold label, and how many of those are right."""

    votes: int
    n: int
    accuracy: Estimate


class Votes(Struct, frozen=True):
    """The votes within a run.

    Parameters
    ----------
    votes
        How often each item was asked about.
    unanimous
        The share of answered items on which all votes gave the label.
    by_votes
        Accuracy by the number of votes that the answer had, most first.
    reason
        Why nothing can be said; empty where something can.
    """

    votes: int
    unanimous: Estimate
    by_votes: tuple[VoteCount, ...]
    reason: str = ""


class Stability(Struct, frozen=True):
    """Repeated runs of one judge.

    Parameters
    ----------
    runs, n
        How many runs, and how many items were asked about in all of them.
    agreement, fleiss_kappa, krippendorff_alpha
        Over runs as if they were raters; items not answered in a run have no label there.
    changed
        The share of items answered in two runs or more whose label is not the same in all of those.
    changed_all
        The share of all items whose outcome is not the same in all runs, no answer being an outcome.
    accuracies
        Each run's accuracy, unanswered counted as wrong.
    spread
        The greatest of these less the least; `None` without two.
    deviation
        The standard deviation of these; `None` without two.
    cached
        How many of the answers came from a cache: they say nothing new.
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
    """How the votes of a run fell; `votes` is how often each item was asked about."""
    share = sample.units.share
    if votes < 2:
        return Votes(votes, Estimate(None, n=0, reason=ONE_VOTE), (), ONE_VOTE)
    counts = np.array([np.nan if one.score is None else one.score * votes for one in sample.verdicts])
    told = sample.answered & ~np.isnan(counts)
    whole = np.rint(np.where(told, counts, 0)).astype(np.int64)
    if not told.any() or (np.abs(counts[told] - whole[told]) > _NEAR).any() or whole[told].max() > votes:
        reason = NO_SHARES if sample.answered.any() else NOTHING_ANSWERED
        return Votes(votes, Estimate(None, n=0, reason=reason), (), reason)
    by_votes = []
    for count in sorted(set(whole[told].tolist()), reverse=True):
        here = told & (whole == count) & sample.known
        accuracy = share(sample.right, here, "no item with so many votes has a gold label")
        by_votes.append(VoteCount(count, int(np.count_nonzero(here)), accuracy))
    return Votes(votes, share(whole == votes, told, NOTHING_ANSWERED), tuple(by_votes))


def stability(runs: Sequence[JudgedSample], resamples: int = 10_000, seed: int = 0) -> Stability:
    """How far repeated runs of a judge on one benchmark say the same.

    Parameters
    ----------
    runs
        Two runs or more, each with the same labels and gold.
    resamples, seed
        Of the bootstrap over items, or over the clusters by which they hang together.

    Raises
    ------
    UsageError
        There is one run, no item that all of them were asked about, or their labels differ.
    """
    if len(runs) < 2:
        raise UsageError("one run says nothing of stability", "Name two runs of the same judge or more.")
    if len({run.codes for run in runs}) > 1:
        raise UsageError("the runs have different labels", "Name runs on one benchmark.")
    first = runs[0]
    rows = [{verdict.item: row for row, verdict in enumerate(run.verdicts)} for run in runs]
    items = [verdict.item for verdict in first.verdicts if all(verdict.item in places for places in rows)]
    if not items:
        raise UsageError("no item was asked about in all runs", "Name runs on one benchmark.")
    places = [[row[item] for item in items] for row in rows]
    answers = np.column_stack([run.answers[place] for run, place in zip(runs, places, strict=True)])
    shared = np.zeros(len(first.verdicts), dtype=np.bool_)
    shared[places[0]] = True
    units, codes, gold = first.units.only(shared), first.codes, first.gold[places[0]]
    counts = np.stack([(answers == code).sum(axis=1) for code in range(codes.unanswered)], axis=1)
    patterns = distinct_rows(counts)
    twice = counts.sum(axis=1) >= 2
    reasons = [NOT_TWICE, ONE_CATEGORY, NO_DISAGREEMENT] if twice.any() else [NOT_TWICE] * 3
    agreement, kappa, alpha = units.resampled(
        partial(_figures, counts=patterns.rows), np.eye(len(patterns.items))[patterns.of_item], reasons, resamples, seed
    )
    everything = np.ones(len(items), dtype=np.bool_)
    accuracies = tuple(units.share(column == gold, gold >= 0, "no item asked has a gold label") for column in answers.T)
    known = np.array([one.value for one in accuracies if one.value is not None])
    return Stability(
        runs=len(runs),
        n=len(items),
        agreement=agreement,
        fleiss_kappa=kappa,
        krippendorff_alpha=alpha,
        changed=units.share((counts > 0).sum(axis=1) > 1, twice, NOT_TWICE),
        changed_all=units.share((answers != answers[:, :1]).any(axis=1), everything, NOT_TWICE),
        accuracies=accuracies,
        spread=float(np.ptp(known)) if len(known) > 1 else None,
        deviation=float(known.std(ddof=1)) if len(known) > 1 else None,
        cached=sum(run.verdicts[row].cached for run, place in zip(runs, places, strict=True) for row in place),
    )


def _figures(sets: FloatArray, counts: IntArray) -> FloatArray:
    """Agreement, Fleiss' kappa and Krippendorff's alpha of runs as raters, for each set of patterns of answers."""
    numbers = np.arange(counts.shape[1], dtype=np.float64)
    return np.column_stack(
        [
            coefficients.observed_agreement(sets, counts),
            coefficients.fleiss(sets, counts),
            coefficients.alpha(sets, counts, "nominal", numbers),
        ]
    )
