"""How many have recovered by when, where others end without recovering: the Aalen-Johansen estimate.

A trajectory recovers, or ends without (a competing event), or is still going when the record stops (censored).
1 - Kaplan-Meier, which takes ended trajectories as still able to recover, overstates recovery, and is given only to
show by how much (Satagopan and others 2004, British Journal of Cancer 91:1229-1235).
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.checked import counts, finite
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.harness.errors import UsageError

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
