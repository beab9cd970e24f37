"""How often the positive label holds over all items asked, put right for the judge's errors.

The judge's share of positive answers is not prevalence. Where only some items have a gold label, the errors measured on
these are carried over to all others, in two ways: by sensitivity and specificity (Rogan and Gladen), and by adding the
judge's mean error on the labelled items to its share of all: the difference estimator of survey sampling (Cochran 1977,
Sampling Techniques, section 7.3), to which prediction-powered inference comes where the labelled are some of all. Both
suppose that the labelled items are like a random sample of all. Where every item has a gold label there is nothing to
carry over: people's own share is the answer, and what a correction by the same items would give.
"""

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.units import BoolArray
from misstep.analysis.stats.correction import rogan_gladen, rogan_gladen_clustered
from misstep.analysis.stats.estimate import Estimate, told
from misstep.analysis.stats.prediction_powered import powered_share
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import UsageError

NO_POSITIVE = "the benchmark names no positive label"
NEVER_POSITIVE = "the positive label is none of those that people gave"
NOTHING_ANSWERED = "no item was answered"
NO_GOLD = "no item answered has a gold label: the judge's errors are unknown"
ALL_GOLD = "every item answered has a gold label: nothing is left to carry the judge's errors over to"
NO_POSITIVE_ITEM = "no labelled item is positive: sensitivity is 0/0"
NO_NEGATIVE_ITEM = "no labelled item is negative: specificity is 0/0"


class JudgedPrevalence(Struct, frozen=True):
    """How often the positive label holds.

    - `positive`: The label; empty if there is none.
    - `answered`, `unanswered`, `labelled`: Items with an answer, without, and with both an answer and a gold label.
    - `judge`: The share of answers that are the label, over all answered.
    - `lowest`, `highest`: That share if the unanswered were all no, and all yes; `None` where nothing was asked.
    - `people`: The share of gold labels that are the label, over the answered items that have one.
    - `corrected`: The judge's share put right by its sensitivity and specificity on the labelled items.
    - `prediction_powered`: The judge's share put right by its mean error on the labelled items.
    - `sensitivity`, `specificity`: The judge's, on the labelled items.
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


def judged_prevalence(sample: JudgedSample) -> JudgedPrevalence:
    """Return the prevalence of the positive label."""
    answered = sample.answered
    n_answered, n = int(np.count_nonzero(answered)), len(answered)
    labelled = answered & sample.known
    if sample.positive not in sample.labels:
        nothing = Estimate(None, n=0, reason=NEVER_POSITIVE if sample.positive else NO_POSITIVE)
        counts = n_answered, n - n_answered, int(np.count_nonzero(labelled))
        return JudgedPrevalence("", *counts, nothing, None, None, *[nothing] * 5)
    place = sample.codes.places[sample.positive]
    said, holds = sample.answers == place, sample.gold == place
    flagged = int(np.count_nonzero(said))
    corrected, powered = _corrections(sample, said, holds)
    share = sample.units.share
    return JudgedPrevalence(
        positive=sample.positive,
        answered=n_answered,
        unanswered=n - n_answered,
        labelled=int(np.count_nonzero(labelled)),
        judge=share(said, answered, NOTHING_ANSWERED),
        lowest=flagged / n if n else None,
        highest=(flagged + n - n_answered) / n if n else None,
        people=share(holds, labelled, NO_GOLD),
        corrected=corrected,
        prediction_powered=powered,
        sensitivity=share(said, labelled & holds, NO_POSITIVE_ITEM),
        specificity=share(~said, labelled & ~holds, NO_NEGATIVE_ITEM),
    )


def _corrections(sample: JudgedSample, said: BoolArray, holds: BoolArray) -> tuple[Estimate, Estimate]:
    answered = sample.answered
    labelled, others = answered & sample.known, answered & ~sample.known
    n = int(np.count_nonzero(answered))
    for missing, reason in ((answered, NOTHING_ANSWERED), (labelled, NO_GOLD), (others, ALL_GOLD)):
        if not missing.any():
            nothing = Estimate(None, n=n, reason=reason)
            return nothing, nothing

    def counted(part: BoolArray, whole: BoolArray) -> IntArray:
        return sample.units.totals(np.column_stack([part & whole, whole])).astype(np.int64)

    flagged = counted(said, answered)
    powered = powered_share(flagged, counted(holds & ~said, labelled), counted(said & ~holds, labelled))
    powered = structs.replace(powered, n=n)
    for part, reason in ((holds, NO_POSITIVE_ITEM), (~holds, NO_NEGATIVE_ITEM)):
        if not (part & labelled).any():
            return Estimate(None, n=n, reason=reason), powered
    found, left_alone = counted(said, labelled & holds), counted(~said, labelled & ~holds)
    return _by_rates(flagged, found, left_alone, sample.units.clustered), powered


def _by_rates(flagged: IntArray, found: IntArray, left_alone: IntArray, clustered: bool) -> Estimate:
    """Rogan's and Gladen's correction.

    The interval takes the labelled items for others than those judged; as they are some of them, it is on the safe
    side, and wide where they are many.
    """
    try:
        if clustered:
            return told(rogan_gladen_clustered(flagged, found, left_alone).estimate)
        sums = [(int(right), int(n)) for right, n in (counts.sum(axis=0) for counts in (flagged, found, left_alone))]
        return told(rogan_gladen(sums[0], sums[1], sums[2]).estimate)
    except UsageError as error:
        return Estimate(None, n=int(flagged[:, 1].sum()), reason=error.found)
