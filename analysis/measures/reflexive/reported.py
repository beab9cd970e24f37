"""What breakers did with runs that were made up after reports, against what they should have done."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson

Outcome = Literal["stopped rightly", "stopped late", "missed", "left alone rightly", "stopped wrongly"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

RIGHT: frozenset[Outcome] = frozenset({"stopped rightly", "left alone rightly"})

_OF_THOSE_TO_STOP: frozenset[Outcome] = frozenset({"stopped rightly", "stopped late", "missed"})


class BreakerDescription(Struct, frozen=True):
    """A breaker: its name, what it stops at, where that is documented, and whether it is one of this project."""

    name: str
    says: str
    documented: str
    ours: bool


class Trial(Struct, frozen=True):
    """One breaker on one case; a stop is right from round `first` to `last`, which are none if the run should go on."""

    breaker: BreakerDescription
    case: str
    source: str
    first: int | None
    last: int | None
    stopped: int | None
    reason: str = ""
    reported: str = ""
    why: str = ""

    @property
    def outcome(self) -> Outcome:
        """What became of the case; a stop before its first right round cuts off work, so that it is a wrong one."""
        if self.first is None or self.last is None:
            return "left alone rightly" if self.stopped is None else "stopped wrongly"
        if self.stopped is None:
            return "missed"
        if self.stopped < self.first:
            return "stopped wrongly"
        return "stopped rightly" if self.stopped <= self.last else "stopped late"


class BreakerScore(Struct, frozen=True):
    """What one breaker did with all cases.

    - `shares`: Outcome → its share with Wilson's interval: of the runs to be stopped where they are rightly or late
      stopped or missed, of those to go on where they are left alone, of all where they are wrongly stopped.
    """

    breaker: BreakerDescription
    trials: tuple[Trial, ...]
    shares: dict[Outcome, Estimate]
    right: Estimate

    def having(self, outcome: Outcome) -> list[Trial]:
        """Return the trials with an outcome."""
        return [trial for trial in self.trials if trial.outcome == outcome]


def scores_of_breakers(trials: Iterable[Trial]) -> list[BreakerScore]:
    """Return the score of each breaker, in the order in which they come."""
    by_breaker: dict[BreakerDescription, list[Trial]] = {}
    for trial in trials:
        by_breaker.setdefault(trial.breaker, []).append(trial)
    return [_score(own) for own in by_breaker.values()]


def _score(trials: Sequence[Trial]) -> BreakerScore:
    outcomes = [trial.outcome for trial in trials]
    to_stop = sum(trial.first is not None for trial in trials)
    bases = {"left alone rightly": len(trials) - to_stop, "stopped wrongly": len(trials)}
    return BreakerScore(
        breaker=trials[0].breaker,
        trials=tuple(trials),
        shares={
            name: wilson(outcomes.count(name), to_stop if name in _OF_THOSE_TO_STOP else bases[name])
            for name in OUTCOMES
        },
        right=wilson(sum(name in RIGHT for name in outcomes), len(trials)),
    )
