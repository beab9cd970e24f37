"""Find the change after which a test fails, by running the test in the sandbox on commits of the history.

The history is that of first parents: a merge landed as a whole and is blamed as a whole.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from misstep.harness.repair.failure_bot.change_point import ChangePoint, Outcome, Prior
from misstep.harness.repair.failure_bot.repository import Commit

CONFIDENCE = 0.95
"""The posterior at which a search ends: that share of its answers should be right."""

MOST_RUNS = 150

Run = Callable[[str], Outcome]
"""Runs the test once at a commit, given by its id."""


class Bisection(Struct, frozen=True):
    """Where a test began to fail.

    - `changes`: The blamed change; several, oldest first, where the commits before the last of them cannot be run; none
      where the test fails at the oldest commit already, or where no change reaches the confidence.
    - `posterior`: The probability of that answer.
    - `runs`: How often the test was run for it.
    """

    changes: tuple[Commit, ...]
    posterior: float
    decided: bool
    runs: int

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
    on_run: Callable[[Commit, Outcome, float], None] = lambda *_: None,
) -> Bisection:
    """Search for the change after which a test fails more often than before."""
    names = suspected or {}
    point = ChangePoint(len(history), weights=[names.get(commit.id, 1.0) for commit in history], prior=prior)
    for outcome in at_newest:
        if outcome in ("failed", "passed"):
            point.record(len(history) - 1, outcome)
    already = point.runs
    best, posterior = point.best()
    while posterior < CONFIDENCE and point.runs - already < MOST_RUNS:
        place = point.next()
        if place is None:
            break
        outcome = run(history[place].id)
        if outcome == "absent" and place == len(history) - 1:
            outcome = "passed"  # it was seen to fail here
        point.record(place, outcome)
        best, posterior = point.best()
        on_run(history[place], outcome, posterior)
    decided = posterior >= CONFIDENCE
    changes = tuple(history[place] for place in best) if decided and 0 not in best else ()
    if decided and best == range(1) and not history[0].parents and not history[0].is_cut:
        changes = (history[0],)  # the first commit of all
    return Bisection(changes, posterior, decided, point.runs - already)
