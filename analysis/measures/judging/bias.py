"""Directional bias: which label a judge's errors take away from, and which they give to.

Errors in opposite directions cancel out in how often each label is used; a judge that is merely noisy is not biased.
All figures are over the items with an answer and a gold label; how often items of each gold label are left without an
answer is said apart.
"""

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.scores import NEVER_GOLD, NOTHING_ANSWERED
from misstep.analysis.measures.judging.units import BoolArray, JudgedUnits
from misstep.analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.multiplicity import holm
from misstep.analysis.stats.raters.equal_shares import clustered_shares, pearson_shares
from misstep.analysis.stats.raters.marginal_homogeneity import stuart_maxwell, zero_mean
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.analysis.stats.significance import Significance

NOTHING_UNANSWERED = "every item with a gold label was answered"


class JudgeLabelUse(Struct, frozen=True):
    """How often the judge says a label, how often people do, and the difference; `unanswered` is of its gold items."""

    label: str
    judge: Estimate
    gold: Estimate
    difference: Estimate
    unanswered: Estimate


class Flow(Struct, frozen=True):
    """The errors between two labels: `forth` items go from gold `first` to answer `second`, `back` the other way.

    `difference` is (forth - back) as a share of the items; `p_adjusted` is Holm's over all pairs with an error;
    `reason` says what is to be kept in mind about the test.
    """

    first: str
    second: str
    forth: int
    back: int
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    reason: str = ""


class Bias(Struct, frozen=True):
    """Where errors flow.

    - `n`: The items with an answer and a gold label.
    - `outside`: How many of the answers are none of the labels; they count as use of no label.
    - `homogeneity`: The one test over all labels that the judge uses them as often as people do.
    - `labels`, `flows`: Each label's use, and each pair of labels with an error, most one-sided first.
    - `unanswered`: The test that items of every gold label are as likely to be answered.
    """

    n: int
    outside: int
    homogeneity: Significance
    labels: tuple[JudgeLabelUse, ...]
    flows: tuple[Flow, ...]
    unanswered: Significance


def bias(sample: JudgedSample, seed: int = 0) -> Bias:
    """Return which label errors flow to which; `seed` is of the draws of small tables.

    Where items come in clusters, the tests are over these: Hotelling's on the clusters' differences of margins in place
    of Stuart's and Maxwell's, and McNemar's with clusters that go either way as a whole.
    """
    both = sample.answered & sample.known
    gold, answers, units = sample.gold[both], sample.answers[both], sample.units.only(both)
    named = answers < sample.codes.unknown
    return Bias(
        n=len(gold),
        outside=int(np.count_nonzero(~named)),
        homogeneity=_homogeneity(gold[named], answers[named], units.only(named), len(sample.labels)),
        labels=tuple(_use(sample, place, gold, answers, units) for place in range(len(sample.labels))),
        flows=_flows(sample.labels, gold, answers, units),
        unanswered=_unanswered(sample, np.random.default_rng(seed)),
    )


def _homogeneity(gold: IntArray, answers: IntArray, units: JudgedUnits, n_labels: int) -> Significance:
    if not len(gold):
        return Significance(None, None, 0, reason=NOTHING_ANSWERED)
    if units.clustered:
        one_hot = np.eye(n_labels)
        return zero_mean(units.totals(one_hot[answers] - one_hot[gold]))
    table = np.zeros((n_labels, n_labels), dtype=np.int64)
    np.add.at(table, (gold, answers), 1)
    return stuart_maxwell(table)


def _use(sample: JudgedSample, place: int, gold: IntArray, answers: IntArray, units: JudgedUnits) -> JudgeLabelUse:
    everything = np.ones(len(gold), dtype=np.bool_)
    said, meant = answers == place, gold == place
    return JudgeLabelUse(
        sample.labels[place],
        units.share(said, everything, NOTHING_ANSWERED),
        units.share(meant, everything, NOTHING_ANSWERED),
        _difference(said & ~meant, meant & ~said, units),
        sample.units.share(~sample.answered, sample.gold == place, NEVER_GOLD),
    )


def _flows(labels: tuple[str, ...], gold: IntArray, answers: IntArray, units: JudgedUnits) -> tuple[Flow, ...]:
    wrong = (gold != answers) & (answers < len(labels))
    met = zip(gold[wrong].tolist(), answers[wrong].tolist(), strict=True)
    pairs = sorted({(min(pair), max(pair)) for pair in met})
    forth = [(gold == first) & (answers == second) for first, second in pairs]
    back = [(gold == second) & (answers == first) for first, second in pairs]
    tests = [_one_way(*flow, units) for flow in zip(forth, back, strict=True)]
    adjusted = holm([test.p_value for test in tests]).p_values
    flows = [
        Flow(
            labels[first],
            labels[second],
            int(np.count_nonzero(there)),
            int(np.count_nonzero(here)),
            _difference(there, here, units),
            test.p_value,
            p_adjusted,
            test.test,
            test.reason,
        )
        for (first, second), there, here, test, p_adjusted in zip(pairs, forth, back, tests, adjusted, strict=True)
    ]
    return tuple(sorted(flows, key=lambda flow: -abs(flow.forth - flow.back)))


def _one_way(forth: BoolArray, back: BoolArray, units: JudgedUnits) -> Significance:
    if units.clustered:
        return sign_flip_mcnemar(_by_cluster(forth, back, units))
    return mcnemar_mid_p(_paired(forth, back))


def _difference(more: BoolArray, less: BoolArray, units: JudgedUnits) -> Estimate:
    if not len(more):
        return Estimate(None, n=0, reason=NOTHING_ANSWERED)
    if units.clustered:
        return clustered_paired_difference(_by_cluster(more, less, units), units.totals(np.ones(len(more))))
    return paired_score_interval(_paired(more, less))


def _by_cluster(more: BoolArray, less: BoolArray, units: JudgedUnits) -> IntArray:
    return units.totals(more.astype(np.float64) - less).astype(np.int64)


def _paired(more: BoolArray, less: BoolArray) -> PairedTable:
    first, second = int(np.count_nonzero(more)), int(np.count_nonzero(less))
    return PairedTable(0, first, second, len(more) - first - second)


def _unanswered(sample: JudgedSample, rng: np.random.Generator) -> Significance:
    known = sample.known
    gold, missing = sample.gold[known], ~sample.answered[known]
    if not missing.any():
        return Significance(None, None, len(gold), reason=NOTHING_UNANSWERED if len(gold) else NEVER_GOLD)
    if sample.units.clustered:
        return clustered_shares(gold, missing, sample.units.only(known).of_item)
    totals = np.bincount(gold, minlength=len(sample.labels))
    return pearson_shares(np.bincount(gold[missing], minlength=len(sample.labels)), totals, rng)
