"""How many have recovered by when, where others end without recovering, and whether more do in one arm than another.

A trajectory recovers, or ends without (a competing event), or is still going when the record stops (censored).
1 - Kaplan-Meier, which takes ended trajectories as still able to recover, overstates recovery, and is given only to
show by how much (Satagopan and others 2004, British Journal of Cancer 91:1229-1235).

Arms are compared at one time fixed beforehand, over resampled units such as sessions or engineers: Gray's test weighs
all times and says of none how far the arms are apart.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import counts, finite
from misstep_analysis.stats.clusters.clustered import cluster_bootstrap
from misstep_analysis.stats.estimate import NO_WIDTH, Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.resampling import bootstrapped
from misstep_analysis.stats.significance import Significance, normal_p_value
from misstep_harness.errors import UsageError

NO_EVENTS = "no events: the curve is 0 up to the last follow-up time"
CENSORED = 0

_MOST_CAUSES = 100


class CumulativeIncidence(Struct, frozen=True):
    """Curves at the times of events, of any cause; all are flat between them.

    `incidence` and `errors` are causes x times, cause 1 first; at each time the incidences and the `event_free` share
    sum to 1. `one_minus_kaplan_meier` is cause 1 with the other causes taken as censored: too high. Nothing is known
    after `last_seen`, unless nobody is left.
    """

    times: FloatArray
    at_risk: IntArray
    incidence: FloatArray
    errors: FloatArray
    event_free: FloatArray
    one_minus_kaplan_meier: FloatArray
    n: int
    last_seen: float
    reason: str = ""

    def at(self, time: float, cause: int = 1, confidence: float = 0.95) -> Estimate:
        """Return the share that had this event by a time, with the interval on the log(-log) scale.

        Kalbfleisch and Prentice (2002), The Statistical Analysis of Failure Time Data, section 8.2: the interval stays
        within 0 and 1.
        """
        from scipy.special import ndtri

        if not 1 <= cause <= len(self.incidence):
            raise UsageError(f"no cause {cause}: there are {len(self.incidence)}")
        place = int(np.searchsorted(self.times, time, side="right")) - 1
        method = f"Aalen-Johansen, log(-log), {100 * confidence:g}%"
        if time > self.last_seen and not (len(self.event_free) and self.event_free[-1] == 0):
            return Estimate(None, n=self.n, method=method, reason=f"nobody was followed beyond {self.last_seen:g}")
        value = float(self.incidence[cause - 1, place]) if place >= 0 else 0.0
        if not 0 < value < 1:
            return Estimate(
                value, n=self.n, method=method, reason=f"all or none by {time:g}: no interval by this formula"
            )
        spread = float(self.errors[cause - 1, place]) / (value * abs(np.log(value)))
        if not np.isfinite(spread) or spread == 0:
            return Estimate(value, n=self.n, method=method, reason="the standard error is undefined at this time")
        z = float(ndtri((1 + confidence) / 2))
        return Estimate(value, value ** float(np.exp(z * spread)), value ** float(np.exp(-z * spread)), self.n, method)


def cumulative_incidence(times: npt.ArrayLike, events: npt.ArrayLike, causes: int | None = None) -> CumulativeIncidence:
    """Return the cumulative incidence of each cause.

    Parameters
    ----------
    times
        Subjects: when each had its event or was last seen, in any unit, not negative. At equal times events come
        before censorings.
    events
        Subjects: 0 censored, 1 the event of interest (recovery), 2 and above competing events.
    causes
        How many causes there are; the largest that occurs if not given.

    Raises
    ------
    UsageError
        There are no subjects, a time is negative or missing, an event is none of the codes, or lengths differ.
    """
    when, codes = finite(times, "a time"), counts(events, "an event")
    if not len(when):
        raise UsageError("no subjects")
    if when.shape != codes.shape:
        raise UsageError(f"{when.size} times but {codes.size} events")
    if (when < 0).any():
        raise UsageError(f"a time of {when.min():g}", "Times are not negative.")
    kinds = _causes(codes, causes)
    at, ordered = np.unique(when[codes != CENSORED]), np.sort(when)
    at_risk = len(when) - np.searchsorted(ordered, at)
    if not len(at):
        empty = np.zeros((kinds, 0))
        return CumulativeIncidence(
            at, at_risk, empty, empty, np.zeros(0), np.zeros(0), len(when), float(when.max()), NO_EVENTS
        )
    incidence, errors = _aalen_johansen(when, codes, at, kinds)
    recovered, ended = (
        np.bincount(np.searchsorted(at, when[kind]), minlength=len(at)) for kind in (codes == 1, codes != CENSORED)
    )
    return CumulativeIncidence(
        at,
        at_risk,
        incidence,
        errors,
        _staying(ended, at_risk),
        1 - _staying(recovered, at_risk),
        len(when),
        float(when.max()),
    )


def _causes(codes: IntArray, causes: int | None) -> int:
    """Return how many causes there are; a code that is none of them is refused, not followed as a cause of its own."""
    last, most = int(codes.max()), _MOST_CAUSES if causes is None else causes
    if last > most:
        raise UsageError(
            f"an event of {last} if there are {most} causes",
            f"{CENSORED} is censored, 1 the event, 2 and above compete.",
        )
    return max(1, last if causes is None else causes)


def _staying(events: IntArray, at_risk: IntArray) -> FloatArray:
    """Kaplan and Meier's product: the share without any of these events."""
    return np.asarray(np.cumprod(1 - events / at_risk), dtype=np.float64)


def _aalen_johansen(when: FloatArray, codes: IntArray, at: FloatArray, kinds: int) -> tuple[FloatArray, FloatArray]:
    """Incidence and standard error, causes x event times; a cause that never occurs has 0 and no error."""
    from statsmodels.duration.survfunc import CumIncidenceRight

    used = np.unique(codes[codes != CENSORED])
    dense = np.where(codes == CENSORED, 0, np.searchsorted(used, codes) + 1)
    # Where the last subject has an event the library's variance divides by no one left at risk: no error there.
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = CumIncidenceRight(when, dense)
    places = np.searchsorted(fit.times, at)
    incidence, errors = np.zeros((kinds, len(at))), np.full((kinds, len(at)), np.nan)
    for cause, values, error in zip(used, fit.cinc, fit.cinc_se, strict=True):
        incidence[cause - 1], errors[cause - 1] = values[places], error[places]
    return incidence, errors


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
    (share, value, drawn, units), (other, other_value, other_drawn, other_units) = (
        _resampled_arm(arm, at, cause, rng, resamples) for arm in (first, second)
    )
    n, difference, apart = len(first.times) + len(second.times), value - other_value, drawn - other_drawn
    test, se = f"Aalen-Johansen by {at:g}, z over resampled units", float(np.std(apart, ddof=1))
    reason = ONE_UNIT if min(units, other_units) < 2 else ALL_ALIKE if se < NO_WIDTH else ""
    if reason:
        unknown = Estimate(difference, n=n, reason=reason)
        return IncidenceComparison((share, other), unknown, Significance(None, None, n, test, reason))
    z, estimate = difference / se, bootstrapped(difference, apart, n, units="units")
    return IncidenceComparison((share, other), estimate, Significance(z, normal_p_value(z), n, test))


def _resampled_arm(
    arm: Followed, at: float, cause: int, rng: np.random.Generator, resamples: int
) -> tuple[Estimate, float, FloatArray, int]:
    """The share of an arm with its interval and as a number, its resamples, and how many units it has."""
    cells, statistic = _by_unit(arm, at, cause)
    n, value = len(arm.times), float(statistic(cells.sum(axis=0, keepdims=True).astype(np.float64))[0])
    drawn = cluster_bootstrap(statistic, cells, resamples, rng)
    share = bootstrapped(value, drawn, n, units="units") if len(cells) > 1 else Estimate(value, n=n, reason=ONE_UNIT)
    return share, value, drawn, len(cells)


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
    in_time = when <= at
    moments, places = np.unique(when[in_time], return_inverse=True)
    cell = np.full(len(when), 3 * len(moments), dtype=np.int64)  # the last cell: seen beyond the time
    cell[in_time] = 3 * places + kinds[in_time]
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
