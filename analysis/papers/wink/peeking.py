"""The effect of daily looks on the error of an experiment as long as Wink's: a simulation.

Sessions of skewed size, such as tokens, come in day by day in both arms. Three rules are tried: to stop at the first
look with p below 0.05, to look at the fixed end alone, and to stop at the first look at which the always-valid p is
below 0.05. Without a difference each stop is an error.
"""

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.papers.wink.live import LEVEL
from misstep.analysis.published import load_paper
from misstep.analysis.stats.decisions.power import smallest_change
from misstep.analysis.stats.decisions.sequential import always_valid
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.analysis.tables import Table, made_by_this, rows_in
from misstep.analysis.tables.wording import number_text, with_interval

PEEKING, FIXED, ALWAYS = (
    "p below 0.05 at any daily look",
    "p below 0.05 at the fixed end",
    "always-valid p below 0.05 at any look",
)

SESSIONS_A_DAY = 200
"""Sessions a day in either arm; Wink prints none."""

SIGMA = 1.0
"""Sigma of the logarithm of a session's size: the mean is 1.6 times the median."""

NO_CHANGE, CHANGE = "Without a difference", "With the difference planned for"


class Stops(Struct, frozen=True):
    """How often each rule stopped, and the median day of its stops."""

    shares: dict[str, Estimate]
    days: dict[str, float | None]


def days() -> int:
    """Return how long the live experiment of the paper ran."""
    return int(load_paper("wink")["experiment.days"].number)


def planned_change() -> float:
    """Return the relative decrease that sessions of this spread find at the end with a chance of 80%."""
    variation = float(np.sqrt(np.exp(SIGMA**2) - 1))  # of a lognormal distribution
    units = days() * SESSIONS_A_DAY
    return smallest_change((variation, variation), (units, units), 0.8, LEVEL)


def looks(change: float, rng: np.random.Generator, samples: int) -> tuple[FloatArray, FloatArray]:
    """Return experiments x days: the difference of means at each day's end, treatment less control, and its error."""
    counts = SESSIONS_A_DAY * np.arange(1, days() + 1)
    means, variances = [], []
    for factor in (1 + change, 1.0):
        sizes = factor * rng.lognormal(0, SIGMA, (samples, days(), SESSIONS_A_DAY))
        sums, squares = sizes.sum(axis=2).cumsum(axis=1), (sizes**2).sum(axis=2).cumsum(axis=1)
        mean = sums / counts
        means.append(mean)
        variances.append((squares / counts - mean**2) / (counts - 1))
    return means[0] - means[1], np.sqrt(variances[0] + variances[1])


def stopped(differences: FloatArray, errors: FloatArray) -> dict[str, FloatArray]:
    """Return rule → experiments: the day at whose end it stops, from 1; infinite if it does not."""
    from scipy.special import ndtri

    significant = np.abs(differences / errors) > float(ndtri(1 - LEVEL / 2))
    # Planned before the first look: from the spread that sessions have, which an earlier month tells.
    planned = float(np.median(errors[:, -1]))
    held = np.array(
        [
            [(always_valid(d, se, planned).test.p_value or 0.0) < LEVEL for d, se in zip(*one, strict=True)]
            for one in zip(differences.tolist(), errors.tolist(), strict=True)
        ]
    )
    at_end = np.zeros_like(significant)
    at_end[:, -1] = significant[:, -1]
    return {PEEKING: _first_day(significant), FIXED: _first_day(at_end), ALWAYS: _first_day(held)}


def _first_day(stops: np.typing.NDArray[np.bool_]) -> FloatArray:
    return np.where(stops.any(axis=1), stops.argmax(axis=1) + 1.0, np.inf)


def stops(change: float, seed: int, samples: int) -> Stops:
    """Return how often and when each rule stops."""
    stop_days = stopped(*looks(change, np.random.default_rng(seed), samples))
    ends = {rule: day[np.isfinite(day)] for rule, day in stop_days.items()}
    shares = {rule: wilson(len(day), samples) for rule, day in ends.items()}
    return Stops(
        {rule: structs.replace(one, method=f"{one.method}, of the simulation") for rule, one in shares.items()},
        {rule: float(np.median(day)) if len(day) else None for rule, day in ends.items()},
    )


@made_by_this
def peeking_table(seed: int, samples: int = 1_000) -> Table:
    """Return how often each rule stops without a difference, and with the one that the experiment was planned for."""
    change = planned_change()
    by_truth = {NO_CHANGE: stops(0.0, seed, samples), CHANGE: stops(change, seed, samples)}
    source = f"generated, seed {seed}, n {samples}"
    rows = [
        row for heading, one in by_truth.items() for row in rows_in("share", one.shares, heading, source, "generated")
    ]
    rows += rows_in("number", by_truth[CHANGE].days, f"{CHANGE}: median day of the stop", source, "generated")
    null, real = (by_truth[heading].shares for heading in (NO_CHANGE, CHANGE))
    return Table(
        name="peeking",
        paper="wink",
        title=f"Looking every day for {days()} days: errors and power of three rules",
        finding=(
            f"Who stops at the first daily look with p below 0.05 is wrong in {with_interval(null[PEEKING], 'share')} "
            f"of experiments without a difference; the always-valid p is in {with_interval(null[ALWAYS], 'share')}, "
            f"and finds a change of {number_text(change, 'share')} in {with_interval(real[ALWAYS], 'share')} where the "
            f"fixed end finds it in {with_interval(real[FIXED], 'share')}."
        ),
        rows=tuple(rows),
        notes=(
            f"Generated: {days()} days with {SESSIONS_A_DAY} sessions a day in either arm, sizes lognormal with sigma "
            f"{SIGMA:g}; Wink prints how many days, and neither sessions nor whether anybody looked before the end.",
            f"The difference planned for, {number_text(change, 'share')}, is the smallest that the fixed end finds "
            "with a chance of 80% by formula.",
        ),
    )
