"""Search a history for the change with which a test began to fail as it fails today.

The search starts at the parent and goes back, in steps that double, to the last commit known not to fail so. Between
that commit and the newest a noisy binary search finds the change. Some of the later commits are run as well, since a
fault may have been mended and have returned. A commit at which the test fails with another message (`other`) does not
show today's failure; the change with which that one began is named as well.

The history is that of first parents. Where a merge is to blame, its side branch is searched too.

The binary search allows for flaky tests. Up to some commit the test fails with one unknown probability, from it on with
a clearly larger one. Both are integrated out, so that no flake rate has to be known. The next commit to run is the one
whose outcome says most about the change; the search ends by the posterior (Ben-Or and Hassidim 2008; the same family of
models as git-bayesect's, whose library needs numpy and scipy).
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter, mul
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.workspace.repository import Commit

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


Sight = Literal["failed", "other", "passed", "absent", "undecided"]
"""What one run shows of a failure: as `Outcome`, with `other` where the test fails with another message."""

CONFIDENCE = 0.95
"""The posterior at which a search ends: that share of its answers should be right."""

MOST_RUNS = 150
_MOST_LATER = 8
"""At how many commits after the change the test is run as well, to see a fault that was mended between."""

_AS_FAILED: Mapping[bool, Mapping[Sight, Outcome]] = {
    False: {"failed": "failed", "other": "passed", "passed": "passed"},
    True: {"failed": "failed", "other": "failed", "passed": "passed"},
}
"""What a run says to a search for today's failure, and to one for any failure of the test."""

Run = Callable[[str], Sight]
SideBranch = Callable[[Commit], Sequence[Commit]]
"""The commits of a merge's side branch, oldest first, after the commit at which it left; empty of a plain commit."""


class Bisection(Struct, frozen=True):
    """Where a test began to fail.

    - `changes`: The blamed change; several, oldest first, where the commits before the last of them cannot be run; none
      where the test passed at no commit, or where no change reaches the confidence.
    - `posterior`: The probability of that answer.
    - `runs`: How often the test was run for it.
    - `earlier`: The changes with which the test began to fail with another message, if that is not the blamed one.
    - `before`: The last commit that does not show the failure; `passes` says whether the test passed there.
    - `later`: How many commits came after the change, and how many of them were run.
    - `began`: The commit from which on the failure is seen, where the test passed at no commit.
    """

    changes: tuple[Commit, ...]
    posterior: float
    decided: bool
    runs: int
    earlier: tuple[Commit, ...] = ()
    before: Commit | None = None
    passes: bool = False
    later: tuple[int, int] = (0, 0)
    began: Commit | None = None

    @property
    def change(self) -> Commit | None:
        """Return the blamed change, where it is a single one."""
        return self.changes[0] if len(self.changes) == 1 else None


Likeliest = tuple[Commit, float]
"""The commit that most likely broke the test by what was seen so far, and how likely that is."""


def find_change(
    history: Sequence[Commit],
    run: Run,
    *,
    at_newest: Sequence[Outcome] = (),
    suspected: Mapping[str, float] | None = None,
    prior: Prior | None = None,
    on_run: Callable[[Commit, Sight, Likeliest | None], None] = lambda *_: None,
    side_branch: SideBranch = lambda _: (),
) -> Bisection:
    """Search for the change after which a test fails as it does at the newest commit."""
    search = _Search(history, run, suspected or {}, prior, on_run)
    search.sights[len(history) - 1] = [each for each in at_newest if each in ("failed", "passed")]
    answer = search.answer()
    merge = answer.change
    if merge is None or not (side := side_branch(merge)):
        return answer
    seen = [each for each in search.sights[history.index(merge)] if each in ("failed", "passed")]

    def deeper(commit: Commit) -> Sequence[Commit]:
        return () if commit == merge else side_branch(commit)

    within = find_change([*side, merge], run, at_newest=seen, prior=prior, on_run=on_run, side_branch=deeper)
    runs = answer.runs + within.runs
    if within.change is None or within.change == merge:
        return replace(answer, runs=runs)
    posterior, earlier = answer.posterior * within.posterior, answer.earlier or within.earlier
    return replace(within, posterior=posterior, runs=runs, earlier=earlier, later=answer.later)


def never_passed(answer: Bisection, history: Sequence[Commit]) -> bool:
    """Return whether the test passed at no commit, of a history that is there from the first commit of all."""
    oldest = history[0]
    is_whole = not oldest.parents and not oldest.is_cut
    return answer.began is not None and (is_whole or answer.began != oldest)


class _Found(Struct, frozen=True):
    """The places of a change, the place before which no failure is assumed, and the posterior."""

    places: range
    start: int
    posterior: float


class _Search:
    def __init__(
        self,
        history: Sequence[Commit],
        run: Run,
        suspected: Mapping[str, float],
        prior: Prior | None,
        on_run: Callable[[Commit, Sight, Likeliest | None], None],
    ) -> None:
        self.history, self._run, self._prior, self._on_run = history, run, prior, on_run
        self.weights = [suspected.get(commit.id, 1.0) for commit in history]
        self.suspects = [place for place, commit in enumerate(history) if suspected.get(commit.id, 1.0) > 1]
        self.sights: defaultdict[int, list[Sight]] = defaultdict(list)
        self.runs = 0

    def answer(self) -> Bisection:
        """Search for today's failure; then, if another one came before it, for where the test began to fail at all."""
        newest = len(self.history) - 1
        found = self._find(newest, any_failure=False)
        if found.posterior < CONFIDENCE:
            return Bisection((), found.posterior, False, self.runs)
        first, posterior, earlier = found.places, found.posterior, range(0)
        if first.start and "other" in self.sights[first.start - 1]:
            before = self._find(first.start - 1, any_failure=True)
            if before.posterior >= CONFIDENCE:
                earlier = before.places
            if len(earlier) == 1 and "failed" in self.sights[earlier.start]:
                first, earlier = earlier, range(0)  # it began as it fails today, and had another message between
        known = earlier or first
        passes = any("passed" in self.sights[place] for place in range(known.start))
        if known.start == 0 or not passes:
            return Bisection((), posterior, True, self.runs, began=self.history[first[-1]])
        later = range(first.stop, len(self.history))
        return Bisection(
            tuple(self.history[place] for place in first),
            posterior,
            True,
            self.runs,
            tuple(self.history[place] for place in earlier),
            self.history[first.start - 1],
            "passed" in self.sights[first.start - 1],
            (len(later), sum(bool(self.sights[place]) for place in later)),
        )

    def _find(self, newest: int, *, any_failure: bool) -> _Found:
        """Return where a failure that the newest of some commits shows began, as far as runs at single commits tell."""
        start = self._last_without(newest, any_failure=any_failure)
        while True:
            found = self._between(start, newest, any_failure=any_failure)
            if found.posterior < CONFIDENCE:
                return found
            if start and start in found.places:  # that it did not fail there was chance
                start = self._last_without(start, any_failure=any_failure)
                continue
            mended = self._mended_after(found.places, newest, any_failure=any_failure)
            if mended is None:
                return found
            start = mended

    def _last_without(self, newest: int, *, any_failure: bool) -> int:
        """Return the last commit before some place that does not show the failure, found in steps that double."""
        steps = [newest - 1, *(place - 1 for place in self.suspects), *(newest - 1 - (1 << n) for n in range(newest))]
        below = newest
        for place in (*(place for place in steps if place > 0), 0):
            if place >= below:
                continue
            below = place
            sights = self._look(place)
            if "absent" in sights or "passed" in map(_AS_FAILED[any_failure].get, sights):
                return place
        return 0

    def _between(self, start: int, newest: int, *, any_failure: bool) -> _Found:
        outcome_of, count = _AS_FAILED[any_failure], newest - start + 1
        weights = [sum(self.weights[: start + 1]), *self.weights[start + 1 : newest + 1]]
        point = ChangePoint(count, weights=weights, prior=self._prior)

        def record(place: int, sight: Sight) -> None:
            outcome = outcome_of.get(sight, sight)
            # The failure was seen at the newest commit, so that its test is there.
            point.record(place, "passed" if outcome == "absent" and place == count - 1 else outcome)  # type: ignore[arg-type]

        for place in range(start, newest + 1):
            for sight in self.sights[place]:
                record(place - start, sight)
        places, posterior = point.best()
        while posterior < CONFIDENCE and self.runs < MOST_RUNS:
            following = point.next()
            if following is None:
                break
            sight = self._look_again(start + following)
            record(following, sight)
            places, posterior = point.best()
            self._on_run(self.history[start + following], sight, (self.history[start + places.start], posterior))
        return _Found(range(start + places.start, start + places.stop), start, posterior)

    def _mended_after(self, places: range, newest: int, *, any_failure: bool) -> int | None:
        """Return a later commit that does not show the failure, of some that no run has seen yet."""
        if places[-1] in self.suspects:
            return None
        unseen = [place for place in range(places.stop, newest) if not self.sights[place]]
        count = min(_MOST_LATER, len(unseen))
        for number in reversed(range(count)):
            place = unseen[(2 * number + 1) * len(unseen) // (2 * count)]
            if "passed" in map(_AS_FAILED[any_failure].get, self._look(place)):
                return place
        return None

    def _look(self, place: int) -> list[Sight]:
        """Return what was seen at a commit, after a run if nothing was."""
        if not self.sights[place] and self.runs < MOST_RUNS:
            self._on_run(self.history[place], self._look_again(place), None)
        return self.sights[place]

    def _look_again(self, place: int) -> Sight:
        sight = self._run(self.history[place].id)
        self.runs += 1
        self.sights[place].append(sight)
        return sight
