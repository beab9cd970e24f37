"""What a test that takes clustered items as independent does at the sizes of Wink's shadow mode: a simulation.

Trajectories have their own chance of misbehaviour, drawn from a beta distribution, so that their invocations hang
together by a known intraclass correlation; both arms have the same mean chance (a null difference), or the two that the
paper prints. How the invocations spread over trajectories is not printed: once all have as many as can be, once the
remainder falls by weights drawn from an exponential distribution, so that a few trajectories are long.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from analysis.published import load_paper
from analysis.stats.clustered import clustered_difference
from analysis.stats.design_effect import design_effect
from analysis.stats.patterns import IntArray
from analysis.stats.proportions import wilson
from analysis.stats.two_by_two import pooled_p_values
from analysis.tables import Row, Table, made_by_this
from analysis.tables.wording import number_text

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


def shadow_arms() -> tuple[Arm, Arm]:
    """The arms of Wink's shadow mode as printed: detection alone, and with course-correction."""
    paper = load_paper("wink")
    first, second = (
        Arm(
            int(paper[f"shadow.{key}.invocations"].number),
            int(paper[f"shadow.{key}.trajectories"].number),
            paper[f"shadow.{key}.rate"].number,
        )
        for key in ("detection", "correction")
    )
    return first, second


def places() -> dict[str, float]:
    """Quantity of a row → the intraclass correlation that it is at, for a drawing."""
    return {_quantity(correlation): correlation for correlation in CORRELATIONS}


@made_by_this
def false_alarm_table(seed: int, samples: int = 1_000) -> Table:
    """How often either test calls a null difference significant, by intraclass correlation.

    Parameters
    ----------
    seed
        Of the draws.
    samples
        Experiments a setting.
    """
    arms = shadow_arms()
    chance = sum(arm.chance * arm.items for arm in arms) / sum(arm.items for arm in arms)
    null = tuple(Arm(arm.items, arm.clusters, chance) for arm in arms)
    rows = _rows(null, ("equal", "unequal"), seed, samples)
    worst = max((row for row in rows if NAIVE in row.group), key=lambda row: float(row.value or 0))
    clustered = [row for row in rows if CLUSTERED in row.group]
    lowest, highest = (pick(clustered, key=lambda row: float(row.value or 0)) for pick in (min, max))
    return Table(
        name="false_alarms",
        paper="wink",
        title="Null differences that are called significant, at the sizes of Wink's shadow mode",
        finding=(
            f"With an {worst.quantity} and trajectories of {_heading(worst)}, the test that ignores clusters calls "
            f"{_share(worst)} of null differences significant at the 5% level; the clustered test stays between "
            f"{_share(lowest)} and {_share(highest)} throughout."
        ),
        rows=tuple(rows),
        notes=(*_notes(arms, seed, samples), f"Both arms have a misbehaviour rate of {number_text(chance, 'share')}."),
    )


@made_by_this
def power_table(seed: int, samples: int = 500) -> Table:
    """How often the clustered test finds the difference that Wink prints, by intraclass correlation; as the other."""
    arms = shadow_arms()
    rows = [row for row in _rows(arms, ("unequal",), seed, samples) if CLUSTERED in row.group]
    return Table(
        name="power",
        paper="wink",
        title="The printed difference, found by the clustered test, at the sizes of Wink's shadow mode",
        finding=(
            f"A difference as large as the printed one, {number_text(arms[0].chance - arms[1].chance, 'difference')}, "
            f"is found by the clustered test in {_share(rows[0])} of experiments with an {rows[0].quantity} and in "
            f"{_share(rows[-1])} with an {rows[-1].quantity}."
        ),
        rows=tuple(rows),
        notes=_notes(arms, seed, samples),
    )


def rejections(
    arms: Sequence[Arm], correlation: float, spread: Spread, rng: np.random.Generator, samples: int
) -> dict[str, int]:
    """In how many of some experiments either test has p below 0.05.

    Parameters
    ----------
    arms
        The two arms.
    correlation
        Of items within a cluster, from 0 to below 1.
    spread
        How the items spread over the clusters.
    rng
        The source of chance.
    samples
        How many experiments.
    """
    drawn = [draw_arm(arm, correlation, spread, rng, samples) for arm in arms]
    (x1, n1), (x2, n2) = (arm.sum(axis=1).T for arm in drawn)
    naive = int((pooled_p_values(x1, n1, x2, n2) < _LEVEL).sum())
    tests = [clustered_difference(first, second).small_sample_test for first, second in zip(*drawn, strict=True)]
    return {NAIVE: naive, CLUSTERED: sum(test.p_value is not None and test.p_value < _LEVEL for test in tests)}


def draw_arm(arm: Arm, correlation: float, spread: Spread, rng: np.random.Generator, samples: int) -> IntArray:
    """Experiments x clusters x (events, items); every cluster has an item, and all together the arm's."""
    further = arm.items - arm.clusters
    if spread == "equal":
        sizes = 1 + further // arm.clusters + (np.arange(arm.clusters) < further % arm.clusters)
        sizes = np.broadcast_to(sizes, (samples, arm.clusters))
    else:
        weights = rng.exponential(size=(samples, arm.clusters))
        sizes = 1 + rng.multinomial(further, weights / weights.sum(axis=1, keepdims=True))
    strength = np.inf if correlation == 0 else 1 / correlation - 1
    chances = (
        np.full(sizes.shape, arm.chance)
        if np.isinf(strength)
        else rng.beta(arm.chance * strength, (1 - arm.chance) * strength, size=sizes.shape)
    )
    return np.stack([rng.binomial(sizes, chances), sizes], axis=-1)


def _rows(arms: Sequence[Arm], spreads: Sequence[Spread], seed: int, samples: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    found = {
        (spread, correlation): rejections(arms, correlation, spread, rng, samples)
        for spread in spreads
        for correlation in CORRELATIONS
    }
    return [
        _row(f"{test}, {_HEADINGS[spread]}", correlation, found[spread, correlation][test], seed, samples)
        for test in (NAIVE, CLUSTERED)
        for spread in spreads
        for correlation in CORRELATIONS
    ]


def _row(group: str, correlation: float, rejected: int, seed: int, samples: int) -> Row:
    estimate = wilson(rejected, samples)
    return Row(
        quantity=_quantity(correlation),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=samples,
        evidence="generated",
        source=f"generated, seed {seed}, n {samples}",
        unit="share",
        method=f"{estimate.method}, of the simulation",
        group=group,
    )


def _quantity(correlation: float) -> str:
    return f"intraclass correlation of {correlation:g}"


def _heading(row: Row) -> str:
    return next(heading for heading in _HEADINGS.values() if row.group.endswith(f", {heading}"))


def _share(row: Row) -> str:
    return (
        f"{number_text(row.value, 'share')} (95% interval {number_text(row.low, 'share')} to "
        f"{number_text(row.high, 'share')})"
    )


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
