"""Search a history for the change with which a test began to fail as it fails today.

The search starts at the parent and goes back, in steps that double, to the last commit known not to fail so. Between
that commit and the newest a noisy binary search (`change_point`) finds the change. Some of the later commits are run as
well, since a fault may have been mended and have returned. A commit at which the test fails with another message
(`other`) does not show today's failure; the change with which that one began is named beside.

The history is that of first parents. Where a merge is to blame, its side branch is searched too.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.repair.failure_bot.change_point import ChangePoint, Outcome, Prior
from misstep_harness.workspace.repository import Commit

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


def find_change(
    history: Sequence[Commit],
    run: Run,
    *,
    at_newest: Sequence[Outcome] = (),
    suspected: Mapping[str, float] | None = None,
    prior: Prior | None = None,
    on_run: Callable[[Commit, Sight, float | None], None] = lambda *_: None,
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
        on_run: Callable[[Commit, Sight, float | None], None],
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
            self._on_run(self.history[start + following], sight, posterior)
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
