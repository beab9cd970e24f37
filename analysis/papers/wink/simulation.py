"""The error of a test that takes clustered items as independent at the sizes of Wink's shadow mode: a simulation.

Trajectories have their own chance of misbehaviour, drawn from a beta distribution with a known intraclass correlation;
both arms have the same mean chance (a null difference), or the two printed ones. How the invocations spread over
trajectories is not printed: once all have as many as can be, once the remainder falls by weights drawn from an
exponential distribution, so that a few trajectories are long.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.published import load_paper
from misstep.analysis.stats.clusters.clustered import clustered_difference
from misstep.analysis.stats.decisions.power import design_effect
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.usual_tests import pooled_p_values
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep.analysis.tables.wording import number_text, with_interval

CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.4)
"""The intraclass correlations tried; Wink prints none."""

NAIVE, CLUSTERED = "Naive z test", "Clustered test"
"""The pooled two-proportion z test, which ignores the clusters, and the cluster sandwich with Student's t."""

Spread = Literal["equal", "unequal"]

_LEVEL = 0.05
_HEADINGS: dict[Spread, str] = {"equal": "equal lengths", "unequal": "unequal lengths"}


class Arm(Struct, frozen=True):
    """One arm of an experiment: its items, the clusters that they are of, and the chance of an event."""

    items: int
    clusters: int
    chance: float


class RejectionRate(Struct, frozen=True):
    """How often one test has p below 0.05 at one correlation, the items spread over clusters in one way."""

    test: str
    spread: Spread
    correlation: float
    share: Estimate


def shadow_arms() -> tuple[Arm, Arm]:
    """Return the arms of Wink's shadow mode as printed: detection alone, and with course-correction."""
    paper = load_paper("wink")
    numbers = (
        [paper[f"shadow.{key}.{part}"].number for part in ("invocations", "trajectories", "rate")]
        for key in ("detection", "correction")
    )
    first, second = (Arm(int(items), int(clusters), chance) for items, clusters, chance in numbers)
    return first, second


def places() -> dict[str, float]:
    """Return quantity of a row → its intraclass correlation, for a drawing."""
    return {_quantity(correlation): correlation for correlation in CORRELATIONS}


_FALSE_ALARMS = TableHead(
    "false_alarms", "wink", "Null differences that are called significant, at the sizes of Wink's shadow mode"
)


@made_by_this
def false_alarm_table(seed: int, samples: int = 1_000) -> Table:
    """Return how often either test calls a null difference significant, by intraclass correlation."""
    arms = shadow_arms()
    chance = sum(arm.chance * arm.items for arm in arms) / sum(arm.items for arm in arms)
    null = tuple(Arm(arm.items, arm.clusters, chance) for arm in arms)
    rates = rejection_rates(null, ("equal", "unequal"), seed, samples)
    naive, clustered = ([rate for rate in rates if rate.test == test] for test in (NAIVE, CLUSTERED))
    worst = max(naive, key=lambda rate: rate.share.value or 0)
    lowest, highest = (pick(clustered, key=lambda rate: rate.share.value or 0) for pick in (min, max))
    return _FALSE_ALARMS.table(
        (
            f"With an {_quantity(worst.correlation)} and trajectories of {_HEADINGS[worst.spread]}, the test that "
            f"ignores clusters calls {_text(worst)} of null differences significant at the 5% level; the clustered "
            f"test stays between {_text(lowest)} and {_text(highest)} throughout."
        ),
        _rows(rates, seed),
        (*_notes(arms, seed, samples), f"Both arms have a misbehaviour rate of {number_text(chance, 'share')}."),
    )


_POWER = TableHead(
    "power", "wink", "The printed difference, found by the clustered test, at the sizes of Wink's shadow mode"
)


@made_by_this
def power_table(seed: int, samples: int = 500) -> Table:
    """Return how often the clustered test finds the difference that Wink prints, by intraclass correlation."""
    arms = shadow_arms()
    rates = [rate for rate in rejection_rates(arms, ("unequal",), seed, samples) if rate.test == CLUSTERED]
    first, last = rates[0], rates[-1]
    return _POWER.table(
        (
            f"A difference as large as the printed one, {number_text(arms[0].chance - arms[1].chance, 'difference')}, "
            f"is found by the clustered test in {_text(first)} of experiments with an {_quantity(first.correlation)} "
            f"and in {_text(last)} with an {_quantity(last.correlation)}."
        ),
        _rows(rates, seed),
        _notes(arms, seed, samples),
    )


def rejections(
    arms: Sequence[Arm], correlation: float, spread: Spread, rng: np.random.Generator, samples: int
) -> dict[str, int]:
    """Return in how many of some experiments either test has p below 0.05."""
    drawn = [draw_arm(arm, correlation, spread, rng, samples) for arm in arms]
    (x1, n1), (x2, n2) = (arm.sum(axis=1).T for arm in drawn)
    naive = int((pooled_p_values(x1, n1, x2, n2) < _LEVEL).sum())
    tests = [clustered_difference(first, second).small_sample_test for first, second in zip(*drawn, strict=True)]
    return {NAIVE: naive, CLUSTERED: sum(test.p_value is not None and test.p_value < _LEVEL for test in tests)}


def draw_arm(arm: Arm, correlation: float, spread: Spread, rng: np.random.Generator, samples: int) -> IntArray:
    """Draw experiments x clusters x (events, items); every cluster has an item, and all together the arm's."""
    further = arm.items - arm.clusters
    if spread == "equal":
        sizes = 1 + further // arm.clusters + (np.arange(arm.clusters) < further % arm.clusters)
        sizes = np.broadcast_to(sizes, (samples, arm.clusters))
    else:
        weights = rng.exponential(size=(samples, arm.clusters))
        sizes = 1 + rng.multinomial(further, weights / weights.sum(axis=1, keepdims=True))
    chances = np.full(sizes.shape, arm.chance)
    if correlation:
        strength = 1 / correlation - 1
        chances = rng.beta(arm.chance * strength, (1 - arm.chance) * strength, size=sizes.shape)
    return np.stack([rng.binomial(sizes, chances), sizes], axis=-1)


def rejection_rates(arms: Sequence[Arm], spreads: Sequence[Spread], seed: int, samples: int) -> list[RejectionRate]:
    """Return the share of experiments in which either test has p below 0.05, at every spread and correlation."""
    rng = np.random.default_rng(seed)
    counts = {
        (spread, correlation): rejections(arms, correlation, spread, rng, samples)
        for spread in spreads
        for correlation in CORRELATIONS
    }
    return [
        RejectionRate(test, spread, correlation, wilson(counts[spread, correlation][test], samples))
        for test in (NAIVE, CLUSTERED)
        for spread in spreads
        for correlation in CORRELATIONS
    ]


def _rows(rates: Sequence[RejectionRate], seed: int) -> tuple[Row, ...]:
    return tuple(
        estimate_row(
            _quantity(rate.correlation),
            structs.replace(rate.share, method=f"{rate.share.method}, of the simulation"),
            "share",
            f"{rate.test}, {_HEADINGS[rate.spread]}",
            f"generated, seed {seed}, n {rate.share.n}",
            "generated",
        )
        for rate in rates
    )


def _quantity(correlation: float) -> str:
    return f"intraclass correlation of {correlation:g}"


def _text(rate: RejectionRate) -> str:
    return with_interval(rate.share, "share")


def _notes(arms: Sequence[Arm], seed: int, samples: int) -> tuple[str, ...]:
    sizes = " and ".join(f"{arm.items:,} invocations of {arm.clusters} trajectories" for arm in arms)
    mean = sum(arm.items for arm in arms) / sum(arm.clusters for arm in arms)
    effects = ", ".join(f"{design_effect(mean, icc):.2f} at {icc:g}" for icc in CORRELATIONS[1:])
    return (
        f"Generated: {sizes}, {samples:,} experiments a setting, seed {seed}; it says what the tests do, and nothing "
        "of how strongly Wink's invocations hang together.",
        f"Design effects by formula, trajectories of one length: {effects}.",
        "Equal lengths: every trajectory has as many invocations as any other, or one more; unequal: a few are long.",
        "Naive: the pooled two-proportion z test; clustered: the sandwich with Student's t, the clusters being "
        "trajectories. Users with several trajectories would be larger clusters, and fewer.",
    )
