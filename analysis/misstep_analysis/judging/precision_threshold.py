"""A threshold on a judge's score, or on its votes, that keeps its precision for a label above a floor.

The label alone, which no item has to choose, is tested first and on all items. Where it fails, the calibration half
says which threshold has the best chance to be shown to keep the floor. On the held-out half thresholds are tested from
that one on, from strict to lenient, until one fails; the last that passes is given out. Both tests share the error:
each has half of 1 - confidence, and the label alone has all of it where there is no other threshold. So one whose
precision is below the floor is given out with a chance of at most 1 - confidence, however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import majority
from misstep_analysis.judging.units import BoolArray, cluster_names, held_out_items, judging_table, units_of
from misstep_analysis.stats.clusters.clustered_bounds import effective_clusters, effective_items
from misstep_analysis.stats.decisions.thresholds import (
    NOTHING_FLAGGED,
    ThresholdStep,
    chance_of_floor,
    flagged_for_power,
    flagged_precision,
    precision_floor,
    smallest_flagged,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.tables import Row, Table, estimate_row, made_by_this
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.errors import UsageError
from misstep_harness.verdict import Verdict

LABEL_ALONE = 0.0
CONFIDENCE = 0.95

POWER = 0.8
"""The chance with which the held-out half is to show the floor, if that many more labels are had."""

NEVER_GIVEN = "the judge never gives the label"
NO_NUMBER = "more labels will not help, because the precision itself is not above the floor at any threshold"
NO_GOLD = "no held-out item has the label as its gold label"

_MOST_THRESHOLDS = 20

_PRIOR_ITEMS = 4
"""How many flagged items at the floor are added to those seen before anything is planned by their precision.

That many Agresti and Coull add (1998, American Statistician 52:119-126), theirs at one half: without them a few items
that are all right promise that hardly more are needed.
"""

_AS_GOOD = 0.05
"""How near to the best chance another is as good: of these the most lenient threshold is tested first."""


class MoreLabels(Struct, frozen=True):
    """How many more labels show the floor, `None` where no number will; the rest is of the cheapest threshold."""

    labels: int | None
    precision: float | None = None
    right: int = 0
    flagged: int = 0


class PrecisionThreshold(Struct, frozen=True):
    """The threshold that was found, or why none was.

    - `tried`: The threshold, or the first that was tested where none passed; `None` where the label is never given.
    - `chance`: The chance, by the calibration half, that the first threshold tested would be shown to keep the floor.
    - `votes`, `votes_of`: The threshold `tried` as a number of votes, of how many, where scores are shares of votes.
    - `precision`, `recall`, `flagged`: Of `tried`, on the items that tested it: all where it is the label alone that
      passed, else the held-out half; unanswered items count as missed.
    - `first`: The label alone on all items, which is tested first.
    - `each_confidence`: Of the bounds that were tested; above `confidence` where two tests share its error.
    """

    label: str
    floor: float
    confidence: float
    threshold: float | None
    tried: float | None
    chance: float
    votes: int | None
    votes_of: int | None
    precision: Estimate
    recall: Estimate
    flagged: int
    calibration: int
    held_out: int
    unanswered: int
    more_labels: int | None
    reason: str
    steps: tuple[ThresholdStep, ...]
    first: ThresholdStep
    each_confidence: float


class _Items(Struct, frozen=True):
    """Items: the judge's score for the label (-inf where it gives another or none), the gold label, the cluster."""

    scores: FloatArray
    positives: BoolArray
    clusters: npt.NDArray[np.str_]

    def part(self, places: BoolArray) -> "_Items":
        return _Items(self.scores[places], self.positives[places], self.clusters[places])

    @property
    def n(self) -> int:
        return len(self.scores)


def precision_threshold(
    verdicts: Iterable[Verdict],
    gold: Iterable[GoldLabel],
    label: str,
    floor: float,
    *,
    votes: int = 1,
    clusters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> PrecisionThreshold:
    """The most lenient threshold for a label that is shown to keep a precision: the label alone, or a stricter one."""
    label_of = majority(gold).label_of
    with_gold = [one for one in verdicts if one.item in label_of]
    if not with_gold:
        raise UsageError("no item with a verdict has a gold label", "A precision needs gold labels.")
    items = _Items(
        _scores(with_gold, label),
        np.array([label_of[one.item] == label for one in with_gold]),
        np.array(cluster_names((one.item for one in with_gold), clusters)),
    )
    votes_of = votes if votes > 1 and _are_votes(items.scores, votes) else None
    if votes_of is not None:
        # A third, written down with a few digits, still is one vote of three.
        items = structs.replace(items, scores=(items.scores * votes_of).round() / votes_of)
    later = held_out_items(items.clusters, seed)
    half, other = items.part(~later), items.part(later)
    # Which thresholds there are follows from the scores alone, so that the lowest needs no items to choose it.
    every = _thresholds(items.scores, votes_of)
    each = CONFIDENCE if len(every) == 1 else (1 + CONFIDENCE) / 2
    (label_alone,) = precision_floor(items.scores, items.positives, every[-1:], floor, each, items.clusters).steps
    thresholds = _thresholds(half.scores, votes_of)
    chances = [_chance(half, threshold, other.n / half.n, floor, each) for threshold in thresholds]
    first = max(place for place, chance in enumerate(chances) if chance >= max(chances) - _AS_GOOD)
    never = not np.isfinite(items.scores).any()
    steps: tuple[ThresholdStep, ...] = ()
    selected = every[-1] if label_alone.passes else None
    if selected is None and len(every) > 1:
        search = precision_floor(other.scores, other.positives, thresholds[first:], floor, each, other.clusters)
        steps, selected = search.steps, search.selected
    tried = None if never else selected if selected is not None else thresholds[first] if steps else every[-1]
    precision, recall, flagged = _tested(other if steps else items, tried, each)
    more, reason = None, ""
    if selected is None:
        more = _more_labels(items, every, floor, each)
        few = flagged < smallest_flagged(floor, 0, each)
        reason = f"{NEVER_GIVEN}: {NOTHING_FLAGGED}" if never else _why_none(few, more, bool(steps))
    return PrecisionThreshold(
        label=label,
        floor=floor,
        confidence=CONFIDENCE,
        threshold=selected,
        tried=tried,
        chance=chances[first],
        votes=None if votes_of is None or tried is None else round(tried * votes_of),
        votes_of=votes_of,
        precision=precision,
        recall=recall,
        flagged=flagged,
        calibration=half.n,
        held_out=other.n,
        unanswered=sum(one.label is None for one in with_gold),
        more_labels=None if more is None else more.labels,
        reason=reason,
        steps=steps,
        first=label_alone,
        each_confidence=each,
    )


def _scores(verdicts: Sequence[Verdict], label: str) -> FloatArray:
    """The score of each verdict for the label; a verdict without one is below every other that gives the label."""
    scores = [one.score for one in verdicts if one.label == label and one.score is not None]
    lowest = min([LABEL_ALONE, *scores])
    return np.array(
        [-inf if one.label != label else lowest if one.score is None else one.score for one in verdicts],
        dtype=np.float64,
    )


def _are_votes(scores: FloatArray, votes: int) -> bool:
    counted = scores[np.isfinite(scores)] * votes
    return bool(np.allclose(counted, counted.round(), rtol=0, atol=1e-6))


def _thresholds(scores: FloatArray, votes_of: int | None) -> list[float]:
    """Return the thresholds from strict to lenient: distinct scores, or quantiles of many, and last the label alone.

    They follow from the scores alone, not from the gold labels.
    """
    present = scores[np.isfinite(scores)]
    if votes_of is not None:
        # Numbers of votes that no answer has would be thresholds with other names: a majority of 5 has no fewer than 3.
        counts = np.unique((present * votes_of).round())
        return [float(count) / votes_of for count in counts[::-1] if count > 0] or [1 / votes_of]
    distinct = np.unique(present)
    if len(distinct) > _MOST_THRESHOLDS:
        distinct = np.unique(np.quantile(present, np.arange(_MOST_THRESHOLDS) / _MOST_THRESHOLDS, method="lower"))
    stricter = [float(score) for score in distinct[:0:-1]]
    return [*stricter, min([LABEL_ALONE, *distinct.tolist()])]


def _chance(half: _Items, threshold: float, ratio: float, floor: float, confidence: float) -> float:
    """Return the chance that a threshold is shown to keep the floor on another part, by what it flags on this one."""
    flagged = half.scores >= threshold
    n = int(flagged.sum())
    like = _effective(half.part(flagged)) / n if n else 0.0
    right = like * int((flagged & half.positives).sum())
    known = _PRIOR_ITEMS * floor, _PRIOR_ITEMS * (1 - floor)
    return chance_of_floor(right + known[0], like * n - right + known[1], round(like * n * ratio), floor, confidence)


def _tested(half: _Items, threshold: float | None, confidence: float) -> tuple[Estimate, Estimate, int]:
    if threshold is None:
        none = Estimate(None, n=0, reason="no threshold to test on the held-out half")
        return none, none, 0
    flagged = half.scores >= threshold
    precision = flagged_precision(half.positives[flagged], half.clusters[flagged], confidence)
    recall = units_of(half.clusters.tolist()).share(flagged, half.positives, NO_GOLD)
    return precision, recall, int(flagged.sum())


def _more_labels(items: _Items, thresholds: Sequence[float], floor: float, confidence: float) -> MoreLabels:
    """Return how many more labels would show the floor at the threshold that takes the fewest.

    Taken for granted is that precision (with `_PRIOR_ITEMS`), share flagged and likeness within a run stay as they are
    over all items. The held-out half has to show the floor, or all items that of the label alone; and at least a new
    one is needed, since these items cannot test a threshold that was chosen by them.
    """
    needed = []
    for threshold in thresholds:
        flagged = items.scores >= threshold
        n, right = int(flagged.sum()), int((flagged & items.positives).sum())
        if n == 0 or right / n <= floor:
            continue
        precision = (right + _PRIOR_ITEMS * floor) / (n + _PRIOR_ITEMS)
        part = items.part(flagged)
        # The bound of clusters is at most that of clusters without any failure.
        flagged_needed = max(
            flagged_for_power(floor, precision, confidence, POWER) * n / _effective(part),
            smallest_flagged(floor, 0, confidence) * n / effective_clusters(_sizes(part)),
        )
        fresh = flagged_needed / (n / items.n)
        more = fresh if threshold == thresholds[-1] else max(fresh, 2 * fresh - items.n)
        needed.append(MoreLabels(ceil(more), precision, right, n))
    return min(needed, key=lambda one: one.labels or inf, default=MoreLabels(None))


def _effective(flagged: _Items) -> float:
    _, places, sizes = np.unique(flagged.clusters, return_inverse=True, return_counts=True)
    right = np.bincount(places, weights=flagged.positives.astype(np.float64)).astype(np.int64)
    return effective_items(np.column_stack([right, sizes]))


def _sizes(flagged: _Items) -> IntArray:
    return np.unique(flagged.clusters, return_counts=True)[1]


def _why_none(few: bool, more: MoreLabels, split: bool) -> str:
    which, where = ("the one with the best chance", "the held-out half") if split else ("the label alone", "all items")
    short = f"{which} {'flags too few items' if few else 'falls short'} on {where}"
    if more.labels is None or more.precision is None:
        return f"{short}; {NO_NUMBER}"
    flagged = f"{counted_text(more.flagged, 'flagged item')} {'is' if more.flagged == 1 else 'are'}"
    reckoned = f"precision is {more.precision:.1%} ({more.right:,} of {flagged} right so far)"
    return (
        f"{short}; about {more.labels:,} more labels are needed, if {reckoned}, the share flagged stays as it is, and "
        f"they are to show it with a chance of {POWER:.0%}"
    )


def threshold_text(result: PrecisionThreshold, threshold: float) -> str:
    """Return a threshold in words: so many votes, the label alone, or a score."""
    if result.votes_of is not None:
        return f"at least {round(threshold * result.votes_of)} of {result.votes_of} votes"
    if threshold <= LABEL_ALONE:
        return "the label alone"
    return f"a score of at least {number_text(threshold)}"


def threshold_sentence(result: PrecisionThreshold, judge: str) -> str:
    """Return what was found, in one sentence: the threshold with the bound of its precision, or why there is none."""
    floor, sure = number_text(result.floor, "share"), f"with {100 * result.confidence:g}% confidence"
    if result.threshold is None:
        if result.more_labels is None or result.precision.value is None:
            return f"Not proven: a precision of {floor} for {judge}'s “{result.label}”. The reason: {result.reason}."
        right = round(result.precision.value * result.flagged)
        seen = f"{right:,} of {result.flagged:,} “{result.label}” verdicts of {judge} are right"
        return f"Not proven yet: {seen}. About {counted_text(result.more_labels, 'more label')} should show {floor}."
    precision, recall, held_out = result.precision, result.recall, "" if result.first.passes else " held out"
    keeps = (
        f"{judge}'s “{result.label}” keeps a precision of {floor} by {threshold_text(result, result.threshold)}: "
        f"{number_text(precision.value, 'share')} of {result.flagged:,} flagged items{held_out} are right, at least "
        f"{number_text(precision.low, 'share')} {sure}"
    )
    if recall.value is None:
        return f"{keeps}."
    return f"{keeps}; {with_interval(recall, 'share')} of the items with that label are found."


@made_by_this
def threshold_table(result: PrecisionThreshold, judge: str, source: str) -> Table:
    """Return the threshold on the held-out half, and the thresholds that were tested there."""
    rows = [] if result.tried is None else _held_out_rows(result, result.tried, source)
    return judging_table(
        "precision_threshold",
        f"A threshold for “{result.label}” of {judge}",
        threshold_sentence(result, judge),
        [*rows, *(_step_row(result, step, source) for step in (result.first, *result.steps))],
        _notes(result),
    )


def _notes(result: PrecisionThreshold) -> list[str]:
    share = "" if result.each_confidence == result.confidence else ", each with half of the error"
    notes = [] if result.more_labels is None else [f"How many labels it takes: {result.reason}."]
    notes += [
        "The label alone is tested first, on all items. A threshold is shown to keep the floor if the one-sided lower "
        f"bound of its precision ({100 * result.each_confidence:g}%) reaches it. Items without an answer are never "
        f"flagged and count as missed: {result.unanswered:,}.",
    ]
    if result.steps:
        notes.append(
            f"{counted_text(result.calibration, 'item')} choose the threshold to begin with, the most lenient of "
            f"those with about the best chance to be shown to keep the floor ({result.chance:.0%} by these items), and "
            f"{counted_text(result.held_out, 'item')} of other runs test it{share}. From the first one on, more "
            "lenient ones are tested in turn, up to the first that fails; what comes after it is not tested."
        )
    return notes


def _held_out_rows(result: PrecisionThreshold, tried: float, source: str) -> list[Row]:
    group = f"{'Held-out half' if result.steps else 'All items'}: {threshold_text(result, tried)}"
    n = result.held_out if result.steps else result.calibration + result.held_out
    return [
        estimate_row("Precision", _one_sided(result.precision), "share", group, source),
        estimate_row("Recall", result.recall, "share", group, source),
        estimate_row("Items flagged", Estimate(result.flagged, n=n), "count", group, source),
    ]


def _step_row(result: PrecisionThreshold, step: ThresholdStep, source: str) -> Row:
    verdict = "shown to keep the floor" if step.passes else "not shown to keep the floor"
    outcome = verdict if step.tested else "after the first failure: not tested"
    name = threshold_text(result, step.threshold)
    reason = "; ".join(filter(None, (step.precision.reason, outcome)))
    group = "All items, tested first" if step is result.first else "Held-out half, in the order tested"
    bounded = _one_sided(step.precision) if step.tested else structs.replace(step.precision, low=None, high=None)
    precision = structs.replace(bounded, reason=reason)
    return estimate_row(f"{name[0].upper()}{name[1:]}", precision, "share", group, source)


def _one_sided(precision: Estimate) -> Estimate:
    """Return a precision with its lower bound alone, which is what was tested: the upper end is that of all shares."""
    return structs.replace(precision, high=None)
