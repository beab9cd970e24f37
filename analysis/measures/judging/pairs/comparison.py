"""Judges compared in pairs on the same items: who gives the gold label more often, and is that more than chance.

Only items count that both judges were asked about and that have a gold label.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import Literal, get_args

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.reference import majority
from misstep.analysis.stats.checked import known
from misstep.analysis.stats.clusters.clustered_pairs import (
    clustered_paired_difference,
    paired_design_effect,
    resampled_pairs,
    sign_flip_mcnemar,
)
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.analysis.stats.decisions.power import sample_size_paired
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.analysis.stats.significance import Significance, holm
from misstep.harness.verdict import Verdict

Test = Literal["mcnemar", "bootstrap"]

NONE_SHARED = "no item with a gold label was asked of both"
NONE_ANSWERED = "no item with a gold label was answered by both"
NO_DIFFERENCE = "no difference: no number of items tells them apart"

LEVEL = 0.05
"""Of an adjusted p-value: at or below it two judges are told apart."""

_FEWEST_DISCORDANT = 5
"""With fewer the mid-p test is above 0.05 even where all of them go one way, which the formula does not know."""


class AnsweredPair(Struct, frozen=True):
    """The difference over the items that both judges answered."""

    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    reason: str = ""


class PairedJudges(Struct, frozen=True):
    """Two judges on the same items.

    - `n`: The items asked of both that have a gold label.
    - `difference`, `low`, `high`: The share of them on which `a` gives the gold label less that of `b`, unanswered ones
      counted as wrong, with its 95% interval.
    - `p_value`, `p_adjusted`, `test`: Of the hypothesis that there is no difference; adjusted after Holm for all pairs
      compared.
    - `n_needed`: How many items tell the two apart with a chance of 80% at the level 0.05, if they go on to disagree as
      they do.
    """

    a: str
    b: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    test: str
    method: str
    both: int
    only_a: int
    only_b: int
    neither: int
    n_needed: int | None
    answered: AnsweredPair
    reason: str

    @property
    def estimate(self) -> Estimate:
        """Return the difference with its interval, unanswered items counted as wrong."""
        return Estimate(self.difference, self.low, self.high, self.n, self.method, self.reason)

    @property
    def apart(self) -> bool:
        """Return whether the two are told apart, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL

    @property
    def where_answered(self) -> Estimate:
        """Return the same over the items that both answered."""
        answered = self.answered
        return Estimate(answered.difference, answered.low, answered.high, answered.n, self.method, answered.reason)

    def leader(self) -> tuple[str, str, bool]:
        """The judge that gives the gold label more often and the other one, and whether the first named leads."""
        leads = (self.difference or 0) >= 0
        return (self.a, self.b, True) if leads else (self.b, self.a, False)


class _Paired(Struct, frozen=True):
    """Paired counts, and the same by cluster where any two items are of one.

    `differences` and `sizes` are clusters: the items on which only the first is right less those on which only the
    second is, and all items.
    """

    table: PairedTable
    differences: IntArray
    sizes: IntArray

    @property
    def clustered(self) -> bool:
        return len(self.sizes) < self.table.n


def compare_judges(
    runs: Mapping[str, Iterable[Verdict]],
    gold: Iterable[GoldLabel],
    *,
    clusters: Mapping[str, str] | None = None,
    test: Test = "mcnemar",
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[PairedJudges, ...]:
    """Return every two of some runs of judges on one benchmark, in the order of the runs."""
    known(test, get_args(Test), "test")
    label_of = majority(gold).label_of
    answers = {
        name: {verdict.item: verdict.label for verdict in verdicts if verdict.item in label_of}
        for name, verdicts in runs.items()
    }

    def paired(a: str, b: str) -> PairedJudges:
        shared = [item for item in answers[a] if item in answers[b]]
        answered = [item for item in shared if answers[a][item] is not None and answers[b][item] is not None]

        def over(items: Sequence[str]) -> _Paired | None:
            first, second = ([answers[name][item] == label_of[item] for item in items] for name in (a, b))
            return _paired(first, second, [(clusters or {}).get(item, f"item {item}") for item in items])

        return _compared(a, b, over(shared), over(answered), test, resamples, seed)

    pairs = [paired(a, b) for a, b in combinations(runs, 2)]
    adjusted = holm([pair.p_value for pair in pairs]).p_values
    return tuple(structs.replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _paired(first: Sequence[bool], second: Sequence[bool], clusters: Sequence[str]) -> _Paired | None:
    if not clusters:
        return None
    right, other = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    both, only_first, only_second = (
        int(part.sum()) for part in (right * other, right * (1 - other), other * (1 - right))
    )
    table = PairedTable(both, only_first, only_second, len(clusters) - both - only_first - only_second)
    _, places = np.unique(np.array(clusters), return_inverse=True)
    sizes = np.bincount(places)
    differences = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(differences, places, right - other)
    return _Paired(table, differences, sizes)


def _compared(
    a: str, b: str, shared: _Paired | None, answered: _Paired | None, test: Test, resamples: int, seed: int
) -> PairedJudges:
    difference, outcome = _tested(shared, NONE_SHARED, test, resamples, seed)
    over_answered, found_answered = _tested(answered, NONE_ANSWERED, test, resamples, seed)
    n_needed, why_not = _needed(shared)
    both, only_a, only_b, neither = (0, 0, 0, 0) if shared is None else structs.astuple(shared.table)
    return PairedJudges(
        a=a,
        b=b,
        n=difference.n or 0,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        p_value=outcome.p_value,
        p_adjusted=None,
        test=outcome.test,
        method=difference.method,
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=neither,
        n_needed=n_needed,
        answered=AnsweredPair(
            over_answered.n or 0,
            over_answered.value,
            over_answered.low,
            over_answered.high,
            found_answered.p_value,
            _joined(over_answered.reason, found_answered.reason),
        ),
        reason=_joined(difference.reason, outcome.reason, why_not),
    )


def _tested(
    paired: _Paired | None, nothing: str, test: Test, resamples: int, seed: int
) -> tuple[Estimate, Significance]:
    if paired is None:
        return Estimate(None, n=0, reason=nothing), Significance(None, None, 0, reason=nothing)
    if test == "bootstrap":
        resampled = resampled_pairs(paired.differences, paired.sizes, np.random.default_rng(seed), resamples)
        return resampled.difference, resampled.test
    if not paired.clustered:
        return paired_score_interval(paired.table), mcnemar_mid_p(paired.table)
    return clustered_paired_difference(paired.differences, paired.sizes), sign_flip_mcnemar(paired.differences)


def _needed(paired: _Paired | None) -> tuple[int | None, str]:
    """The items that tell two judges apart, widened by what clusters cost; clusters that help are not counted on."""
    if paired is None:
        return None, ""
    table = paired.table
    if table.first_only == table.second_only:
        return None, NO_DIFFERENCE
    discordant = table.discordant / table.n
    size = sample_size_paired(discordant, (table.first_only - table.second_only) / table.n)
    effect = paired_design_effect(paired.differences, paired.sizes, table.discordant) if paired.clustered else None
    return ceil(max(size, _FEWEST_DISCORDANT / discordant) * max(1.0, effect or 1.0)), ""


def _joined(*reasons: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))
