"""How often a judge gives each label, and how often the positive one holds, put right for the judge's errors.

Errors on items with a gold label are carried over to all others: by sensitivity and specificity (Rogan and Gladen), and
as a mean error added to the judge's share (the difference estimator, Cochran 1977, Sampling Techniques, section 7.3).
Both suppose that the labelled items are like a random sample of all.
"""

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import BoolArray
from misstep_analysis.stats.correction import powered_share, rogan_gladen, rogan_gladen_clustered
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.stats.raters.patterns import IntArray
from misstep_analysis.tables import Table, estimate_row, made_by_this
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

NO_POSITIVE = "the benchmark names no positive label"
NEVER_POSITIVE = "the positive label is none of those that people gave"
NOTHING_ANSWERED = "no item was answered"
NO_GOLD = "no item answered has a gold label: the judge's errors are unknown"
ALL_GOLD = "every item answered has a gold label: nothing is left to carry the judge's errors over to"
NO_POSITIVE_ITEM = "no labelled item is positive: sensitivity is 0/0"
NO_NEGATIVE_ITEM = "no labelled item is negative: specificity is 0/0"


class JudgedPrevalence(Struct, frozen=True):
    """How often the positive label holds; `lowest` and `highest` are its share with all unanswered no or yes.

    `specificity` is the share of the other items that were given their own label, a third answer being wrong;
    `left_alone` the share that was not given the positive one, which is what the correction takes.
    """

    positive: str
    answered: int
    unanswered: int
    labelled: int
    judge: Estimate
    lowest: float | None
    highest: float | None
    people: Estimate
    corrected: Estimate
    prediction_powered: Estimate
    sensitivity: Estimate
    specificity: Estimate
    left_alone: Estimate


def judged_prevalence(sample: JudgedSample) -> JudgedPrevalence:
    """Return the prevalence of the positive label."""
    answered = sample.answered
    n_answered, n = int(np.count_nonzero(answered)), len(answered)
    labelled = answered & sample.known
    if sample.positive not in sample.labels:
        nothing = Estimate(None, n=0, reason=NEVER_POSITIVE if sample.positive else NO_POSITIVE)
        counts = n_answered, n - n_answered, int(np.count_nonzero(labelled))
        return JudgedPrevalence("", *counts, nothing, None, None, *[nothing] * 6)
    place = sample.codes.places[sample.positive]
    flags, holds = sample.answers == place, sample.gold == place
    flagged = int(np.count_nonzero(flags))
    corrected, powered = _corrections(sample, flags, holds)
    share = sample.units.share
    return JudgedPrevalence(
        positive=sample.positive,
        answered=n_answered,
        unanswered=n - n_answered,
        labelled=int(np.count_nonzero(labelled)),
        judge=share(flags, answered, NOTHING_ANSWERED),
        lowest=flagged / n if n else None,
        highest=(flagged + n - n_answered) / n if n else None,
        people=share(holds, labelled, NO_GOLD),
        corrected=corrected,
        prediction_powered=powered,
        sensitivity=share(flags, labelled & holds, NO_POSITIVE_ITEM),
        specificity=share(sample.right, labelled & ~holds, NO_NEGATIVE_ITEM),
        left_alone=share(~flags, labelled & ~holds, NO_NEGATIVE_ITEM),
    )


def _corrections(sample: JudgedSample, flags: BoolArray, holds: BoolArray) -> tuple[Estimate, Estimate]:
    answered = sample.answered
    labelled, others = answered & sample.known, answered & ~sample.known
    n = int(np.count_nonzero(answered))
    for missing, reason in ((answered, NOTHING_ANSWERED), (labelled, NO_GOLD), (others, ALL_GOLD)):
        if not missing.any():
            nothing = Estimate(None, n=n, reason=reason)
            return nothing, nothing

    def counted(part: BoolArray, whole: BoolArray) -> IntArray:
        return sample.units.totals(np.column_stack([part & whole, whole])).astype(np.int64)

    flagged = counted(flags, answered)
    powered = powered_share(flagged, counted(holds & ~flags, labelled), counted(flags & ~holds, labelled))
    powered = structs.replace(powered, n=n)
    for part, reason in ((holds, NO_POSITIVE_ITEM), (~holds, NO_NEGATIVE_ITEM)):
        if not (part & labelled).any():
            return Estimate(None, n=n, reason=reason), powered
    detected, left_alone = counted(flags, labelled & holds), counted(~flags, labelled & ~holds)
    return _by_rates(flagged, detected, left_alone, sample.units.clustered), powered


def _by_rates(flagged: IntArray, hits: IntArray, left_alone: IntArray, clustered: bool) -> Estimate:
    """Rogan's and Gladen's correction.

    The interval takes the labelled items for others than those judged; as they are some of them, it is on the safe
    side, and wide where they are many.
    """
    if clustered:
        return informative(rogan_gladen_clustered(flagged, hits, left_alone).estimate)
    sums = [(int(right), int(n)) for right, n in (counts.sum(axis=0) for counts in (flagged, hits, left_alone))]
    return informative(rogan_gladen(sums[0], sums[1], sums[2]).estimate)


@made_by_this
def prevalence_table(prevalence: JudgedPrevalence, source: str) -> Table:
    """Return how often the positive label holds: by the judge, by people, and put right for the judge's errors."""
    positive = f"“{prevalence.positive}”"
    figures = {
        "As the judge says": prevalence.judge,
        "As people say, where they do": prevalence.people,
        "Sensitivity": prevalence.sensitivity,
        "Specificity": prevalence.specificity,
    }
    if prevalence.left_alone.value != prevalence.specificity.value:
        figures[f"Not called {positive}, where people say otherwise"] = prevalence.left_alone
    note = "Every item answered has a gold label: nothing is left to carry the judge's errors over to."
    if prevalence.labelled < prevalence.answered:
        figures["Corrected by sensitivity and specificity"] = prevalence.corrected
        figures["Prediction-powered"] = prevalence.prediction_powered
        note = (
            "The corrections suppose that the items with a gold label are like a random sample of all, and that the "
            "judge errs as often on the others; items on whose label raters tie count as without one."
        )
    lowest, highest = (number_text(end, "share") for end in (prevalence.lowest, prevalence.highest))
    unanswered = (
        f"Not answered: {counted_text(prevalence.unanswered, 'item')}; were none or all of them positive, the judge's "
        f"share would be {lowest} or {highest}."
    )
    return judging_table(
        "prevalence",
        f"How often {positive} holds",
        _prevalence_finding(prevalence),
        (estimate_row(name, estimate, "share", positive, source) for name, estimate in figures.items()),
        (note, unanswered if prevalence.unanswered else ""),
    )


def _prevalence_finding(prevalence: JudgedPrevalence) -> str:
    if prevalence.judge.value is None:
        return f"How often “{prevalence.positive}” holds is not known: {prevalence.judge.reason}."
    items = counted_text(prevalence.answered, "item")
    says = f"The judge says “{prevalence.positive}” of {with_interval(prevalence.judge, 'share')} of {items}"
    if prevalence.corrected.value is not None:
        return f"{says}; corrected for its errors it holds for {with_interval(prevalence.corrected, 'share')}."
    if prevalence.labelled == prevalence.answered:
        return f"{says}, people of {with_interval(prevalence.people, 'share')}."
    return f"{says}; it cannot be corrected: {prevalence.corrected.reason}."


class LabelShares(Struct, frozen=True):
    """The share of each label among the answers: the one that counts as found first, then the most frequent."""

    answered: int
    unanswered: int
    labelled: int
    shares: dict[str, Estimate]


def label_shares(sample: JudgedSample) -> LabelShares:
    """Return the share of each label among the answers; items of one cluster count as one unit."""
    answered = sample.answered
    n = int(np.count_nonzero(answered))
    shares = {
        label: sample.units.share(sample.answers == place, answered, NOTHING_ANSWERED)
        for label, place in sample.codes.places.items()
    }
    ranked = dict(sorted(shares.items(), key=lambda one: (one[0] != sample.positive, -(one[1].value or 0))))
    return LabelShares(n, len(answered) - n, int(np.count_nonzero(sample.known)), ranked)


def shares_finding(shares: LabelShares, judge: str, benchmark: str) -> str:
    """Return how often the judge says what is looked for, and that how often it is right is not known."""
    label, share = next(iter(shares.shares.items()), ("", Estimate(None)))
    items = counted_text(shares.answered + shares.unanswered, "item")
    if share.value is None:
        return f"{judge} answered none of the {items} of {benchmark}."
    unanswered = f"; {shares.unanswered:,} have no answer" if shares.unanswered else ""
    return (
        f"{judge} says “{label}” of {round(share.value * shares.answered):,} of the {shares.answered:,} answered items "
        f"of {benchmark}, {with_interval(share, 'share')}{unanswered}. Nobody has labelled them, so how often it is "
        "right is not known."
    )


@made_by_this
def label_shares_table(shares: LabelShares, judge: str, benchmark: str) -> Table:
    """Return how often the judge gives each label."""
    rows = [estimate_row(name, one, "share", "Share of the answered", benchmark) for name, one in shares.shares.items()]
    note = "A judge errs: its share of a label is not how often the label holds."
    finding = shares_finding(shares, judge, benchmark)
    return judging_table("label_shares", f"{judge} on {benchmark}", finding, rows, (note,))
