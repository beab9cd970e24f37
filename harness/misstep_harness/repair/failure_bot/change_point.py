"""Compute which commit made a test fail from runs at some commits: it may be flaky before, after, or both.

Up to some commit the test fails with one unknown probability, from it on with a clearly larger one. Both are
integrated out, so that no flake rate has to be known. The next commit to run is the one whose outcome tells most of
where the change is; the search ends by the posterior (Ben-Or and Hassidim 2008; the same family of models as
git-bayesect's, whose library needs numpy and scipy).
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter, mul
from typing import Literal

from msgspec import Struct

Outcome = Literal["failed", "passed", "absent", "undecided"]
"""What one run of a test at a commit says: `absent` where the commit has no such test, so that the change is later for
certain; `undecided` where the test could not be run."""

POINTS = 48
"""How many equally likely values stand for the Jeffreys prior of a probability."""

SMALLEST_CHANGE = 0.1
"""By how much the probability to fail has to rise for a commit to be the change: less cannot be told from nothing."""

# The Jeffreys prior is Beta(1/2, 1/2), the arcsine law: its quantiles are sin²(π q / 2),
# here at the middles of equal parts.
_GRID = tuple(math.sin(math.pi / 2 * (place + 0.5) / POINTS) ** 2 for place in range(POINTS))
_RATES = (0.0, *_GRID, 1.0)
_FAIL = tuple(math.log(rate) if rate else -math.inf for rate in _RATES)
_PASS = tuple(math.log(1 - rate) if rate < 1 else -math.inf for rate in _RATES)
_LOWER = tuple(bisect_right(_RATES, rate - SMALLEST_CHANGE) for rate in _RATES)
"""For each rate after the change, how many of the rates are low enough before it."""


class Prior(Struct, frozen=True):
    """How likely a test is not flaky at all before the change, and after it.

    The defaults keep the promise of the posterior at every flake rate; with larger ones, answers for a flaky test come
    too early.
    """

    never_fails_before: float = 0.05
    always_fails_after: float = 0.05


STEADY = Prior(1 - 1e-6, 1 - 1e-6)
"""For a test that is known not to be flaky: the search takes log2 n runs, and goes on where a run contradicts it."""


class ChangePoint:
    """The posterior over the first commit at which a test fails more often than before.

    - `count`: The number of commits, from the oldest; candidate 0 means a change at or before the oldest.
    - `weights`: How likely each is to be the change before any run, in any unit; by default all alike.
    """

    def __init__(self, count: int, *, weights: Sequence[float] = (), prior: Prior | None = None) -> None:
        if count < 1:
            raise ValueError("a history has at least one commit")
        prior = prior or Prior()
        self.count, self.runs = count, 0
        self._begins = 0  # older commits have no such test
        self._weights = list(weights) or [1.0] * count
        self._before = _mass(prior.never_fails_before, 0)
        self._after = _mass(prior.always_fails_after, -1)
        self._failed: dict[int, int] = {}
        self._passed: dict[int, int] = {}
        self._tried: list[int] = []
        self._undecided: list[int] = []
        self._update()

    def record(self, place: int, outcome: Outcome) -> None:
        """Take in one run at a commit."""
        self.runs += 1
        if outcome == "undecided":
            if place not in self._undecided:
                insort(self._undecided, place)
            return
        if outcome == "absent":
            self._begins = max(self._begins, place + 1)
            self.rule_out(place)
            return
        if place not in self._failed:
            self._failed[place] = self._passed[place] = 0
            insort(self._tried, place)
        (self._failed if outcome == "failed" else self._passed)[place] += 1
        self._update()

    def rule_out(self, place: int) -> None:
        """Take it for certain that the change is later than a commit."""
        if place + 1 >= self.count:
            raise ValueError("the change cannot be later than the newest commit")
        self._weights[: place + 1] = [0.0] * (place + 1)
        self._update()

    def best(self) -> tuple[range, float]:
        """Return the likeliest change and its posterior: several commits if those before the last could not be run."""
        masses = [(sum(self.posterior[group.start : group.stop]), group) for group in self._groups()]
        most, best = max(masses, key=itemgetter(0))  # the first of the likeliest
        possible = [place for place in best if self.posterior[place] > 0]
        return (range(possible[0], best.stop) if possible else best), min(most, 1.0)

    def next(self) -> int | None:
        """Return the commit whose run tells most; none where no run can tell anything more."""
        gains = self._gains()
        for place in (*range(self._begins), *self._undecided):
            gains[place] = 0.0
        most = max(gains)
        if most < 1e-12:
            return None
        if not self._undecided:
            return gains.index(most)
        # A commit beside one that cannot be run mostly cannot be run either.
        good = [place for place, gain in enumerate(gains) if gain >= most / 2]
        return max(good, key=lambda place: (min(abs(place - other) for other in self._undecided), gains[place]))

    def _groups(self) -> list[range]:
        undecided = set(self._undecided)
        ends = [place + 1 for place in range(self.count - 1) if place not in undecided]
        return [range(start, end) for start, end in pairwise([0, *ends, self.count])]

    def _update(self) -> None:
        """Work the posterior out; all candidates between two commits that were run share one likelihood."""
        failed, passed = sum(self._failed.values()), sum(self._passed.values())
        failed_before = passed_before = 0
        pieces = [_Piece(self, (0, 0), (failed, passed))]
        for place in self._tried:
            failed_before += self._failed[place]
            passed_before += self._passed[place]
            earlier = (failed_before, passed_before)
            pieces.append(_Piece(self, earlier, (failed - failed_before, passed - passed_before)))
        # Candidate b splits the runs into those at commits before b and those from b on.
        self._pieces = [pieces[bisect_left(self._tried, place)] for place in range(self.count)]
        weighted = list(zip(self._pieces, self._weights, strict=True))
        # Bayes: prior weight times likelihood, over the sum. Logs less their greatest keep it from underflowing.
        most = max((piece.log for piece, weight in weighted if weight), default=-math.inf)
        possible = ((weight if piece.log > -math.inf else 0.0, piece) for piece, weight in weighted)
        scaled = [weight * math.exp(piece.log - most) if weight else 0.0 for weight, piece in possible]
        total = sum(scaled)
        self.posterior = [value / total for value in scaled] if total else [1 / self.count] * self.count

    def _gains(self) -> list[float]:
        """Return the bits that the next run of each commit should tell: mutual information of outcome and place."""
        masses = list(zip(self.posterior, self._pieces, strict=True))
        fails = _split_sums(
            [mass * piece.rate_after for mass, piece in masses], [mass * piece.rate_before for mass, piece in masses]
        )
        noise = _split_sums(
            [mass * _bits(piece.rate_after) for mass, piece in masses],
            [mass * _bits(piece.rate_before) for mass, piece in masses],
        )
        return [max(0.0, _bits(min(one, 1.0)) - other) for one, other in zip(fails, noise, strict=True)]


class _Piece:
    """The likelihood of one way to split the runs, and the rates that it makes likely."""

    def __init__(self, point: ChangePoint, before: tuple[int, int], after: tuple[int, int]) -> None:
        # The rates are independent but for one condition, that the second is clearly larger. So the double integral is
        # a sum over the second rate of its mass times the mass of all rates below it.
        old = _likelihood(before, point._before)
        new = _likelihood(after, point._after)
        total = _dot(new.masses, old.masses_below)
        if total <= 0:
            self.log, self.rate_before, self.rate_after = -math.inf, 0.0, 1.0
            return
        self.log = math.log(total) + old.scale + new.scale
        self.rate_before = _dot(new.masses, old.rates_below) / total
        self.rate_after = _dot(new.masses_by_rate, old.masses_below) / total


class _Likelihood(Struct, frozen=True):
    """For each rate, its prior mass times its likelihood, scaled; and sums over the rates that are clearly lower."""

    masses: tuple[float, ...]
    masses_by_rate: tuple[float, ...]
    masses_below: tuple[float, ...]
    rates_below: tuple[float, ...]
    scale: float


@lru_cache(maxsize=20_000)
def _likelihood(counts: tuple[int, int], prior: tuple[float, ...]) -> _Likelihood:
    failed, passed = counts
    # log of rate^failed (1 - rate)^passed; 0 · (-inf) counts as 0
    logs = [(failed and failed * fail) + (passed and passed * ok) for fail, ok in zip(_FAIL, _PASS, strict=True)]
    scale = max(log for log, mass in zip(logs, prior, strict=True) if mass)
    masses = tuple(mass * math.exp(log - scale) if mass else 0.0 for log, mass in zip(logs, prior, strict=True))
    by_rate = tuple(map(mul, masses, _RATES))
    below, rates_below = [0.0, *accumulate(masses)], [0.0, *accumulate(by_rate)]
    return _Likelihood(
        masses, by_rate, tuple(below[at] for at in _LOWER), tuple(rates_below[at] for at in _LOWER), scale
    )


def _dot(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return math.fsum(map(mul, one, other))


def _mass(certain: float, end: Literal[0, -1]) -> tuple[float, ...]:
    masses = [0.0, *([(1 - certain) / POINTS] * POINTS), 0.0]
    masses[end] = certain
    return tuple(masses)


def _split_sums(upto: Sequence[float], beyond: Sequence[float]) -> list[float]:
    rest = sum(beyond)
    return [one + rest - other for one, other in zip(accumulate(upto), accumulate(beyond), strict=True)]


def _bits(rate: float) -> float:
    if rate <= 0 or rate >= 1:
        return 0.0
    return -(rate * math.log2(rate) + (1 - rate) * math.log2(1 - rate))
