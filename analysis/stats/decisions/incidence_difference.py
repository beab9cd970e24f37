"""Whether more recover by a given time in one arm than in another, where others end without recovering.

Each arm's incidence is Aalen and Johansen's (`incidence`). What is followed comes in units, such as the
misbehaviours of one session or the sessions of one engineer, which are resampled whole. A difference at one time fixed
beforehand is what a reader asks for; Gray's test weighs all times and says of none how far the arms are apart.
"""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.checked import counts, finite
from misstep.analysis.stats.clusters.clustered import cluster_bootstrap
from misstep.analysis.stats.decisions.incidence import CENSORED
from misstep.analysis.stats.estimate import NO_WIDTH, Estimate
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.analysis.stats.resampling import bootstrapped
from misstep.analysis.stats.significance import Significance, normal_p_value
from misstep.harness.errors import UsageError

ONE_UNIT = "an arm with fewer than two units has no spread"
ALL_ALIKE = "all resamples give the same difference: standard error 0"

_OTHER = 2


class Followed(Struct, frozen=True):
    """What was followed in one arm: when each had its event or was last seen, which event, and whose it is.

    `events` are coded as for `incidence.cumulative_incidence`; `units` are any names.
    """

    times: Sequence[float]
    events: Sequence[int]
    units: Sequence[str]


class IncidenceComparison(Struct, frozen=True):
    """The share of either arm that had the event by a time, and the first less the second."""

    shares: tuple[Estimate, Estimate]
    difference: Estimate
    test: Significance


def incidence_difference(
    first: Followed, second: Followed, at: float, rng: np.random.Generator, cause: int = 1, resamples: int = 2_000
) -> IncidenceComparison:
    """Cumulative incidences of one cause by a time, with percentile intervals and a z test over resampled units.

    Parameters
    ----------
    first, second
        The arms.
    at
        The time, in the unit of the arms' times.
    rng, resamples
        The source of chance, and how many resamples are drawn.
    cause
        The event of interest; all others compete.

    Raises
    ------
    UsageError
        Nothing was followed in an arm, lengths differ, or a time is negative or missing.

    Examples
    --------
    >>> arm, other = Followed([1, 2, 3], [1, 1, 2], "abc"), Followed([1, 2, 3], [2, 2, 1], "def")
    >>> found = incidence_difference(arm, other, 2, np.random.default_rng(0))
    >>> round(found.shares[0].value, 3), found.shares[1].value
    (0.667, 0.0)
    """
    shares: list[Estimate] = []
    values, drawn, units = [], [], []
    for arm in (first, second):
        cells, statistic = _by_unit(arm, at, cause)
        value = float(statistic(cells.sum(axis=0, keepdims=True).astype(np.float64))[0])
        resampled = cluster_bootstrap(statistic, cells, resamples, rng)
        enough = len(cells) > 1
        shares.append(
            bootstrapped(value, resampled, len(arm.times), units="units")
            if enough
            else Estimate(value, n=len(arm.times), reason=ONE_UNIT)
        )
        values.append(value)
        drawn.append(resampled)
        units.append(len(cells))
    n, difference = len(first.times) + len(second.times), values[0] - values[1]
    test = f"Aalen-Johansen by {at:g}, z over resampled units"
    if min(units) < 2:
        unknown = Estimate(difference, n=n, reason=ONE_UNIT)
        return IncidenceComparison((shares[0], shares[1]), unknown, Significance(None, None, n, test, ONE_UNIT))
    apart = drawn[0] - drawn[1]
    estimate, se = bootstrapped(difference, apart, n, units="units"), float(np.std(apart, ddof=1))
    if se < NO_WIDTH:
        return IncidenceComparison(
            (shares[0], shares[1]),
            Estimate(difference, n=n, reason=ALL_ALIKE),
            Significance(None, None, n, test, ALL_ALIKE),
        )
    z = difference / se
    return IncidenceComparison((shares[0], shares[1]), estimate, Significance(z, normal_p_value(z), n, test))


def _by_unit(arm: Followed, at: float, cause: int) -> tuple[IntArray, Callable[[FloatArray], FloatArray]]:
    """Units x cells (a time and what happened then), and the incidence of sets of such cells."""
    when, codes = finite(list(arm.times), "a time"), counts(list(arm.events), "an event")
    if not len(when):
        raise UsageError("nothing was followed in an arm")
    if not len(when) == len(codes) == len(arm.units):
        raise UsageError(f"{len(when)} times, {len(codes)} events and {len(arm.units)} units")
    if (when < 0).any():
        raise UsageError(f"a time of {when.min():g}", "Times are not negative.")
    kinds = np.where(codes == CENSORED, 0, np.where(codes == cause, 1, _OTHER))
    seen = when <= at
    moments, places = np.unique(when[seen], return_inverse=True)
    cell = np.full(len(when), 3 * len(moments), dtype=np.int64)  # the last cell: seen beyond the time
    cell[seen] = 3 * places + kinds[seen]
    _, unit = np.unique(np.asarray(arm.units, dtype=np.str_), return_inverse=True)
    cells = np.zeros((int(unit.max()) + 1, 3 * len(moments) + 1), dtype=np.int64)
    np.add.at(cells, (unit, cell), 1)
    return cells, lambda sets: _incidence(sets, len(moments))


def _incidence(sets: FloatArray, moments: int) -> FloatArray:
    """Aalen and Johansen's incidence of each set: the share still free of events times the hazard, summed."""
    at_risk = sets.sum(axis=1)
    free, incidence = np.ones(len(sets)), np.zeros(len(sets))
    for place in range(moments):
        censored, events, others = sets[:, 3 * place : 3 * place + 3].T
        share = np.divide(1.0, at_risk, out=np.zeros(len(sets)), where=at_risk > 0)
        incidence += free * events * share
        free *= 1 - (events + others) * share
        at_risk = at_risk - events - others - censored
    return incidence
