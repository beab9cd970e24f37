"""The pace that a limit on requests a second allows, found by its refusals.

Such a limit fills a bucket evenly, and a refusal says that it is empty. Between two refusals it has let through what it
allows, `through`, unless the bucket ran over while the server asked to wait. Which of the two holds is not said: the
pauses are made up for at once where `through` is the same however long the run went on between two pauses, and cost
what they last where it grows with that. A pause that is made up for may come often; one that costs must come seldom,
so that the pace is then probed the more seldom, the longer the limit has held.
"""

import math

_BEYOND = 2.0
"""How many times as fast it rises beyond its plateau as it came there."""


class ProbedLevel:
    """A level that grows with the answers that it holds up, and falls when the server asks for less.

    Until the first fall it grows by one an answer, so that a number in flight doubles in a round trip. After a fall it
    follows the curve of CUBIC (RFC 9438, equation 1) in the number of answers: it comes back soon to the neighbourhood
    of its plateau, stays near it for long, and rises ever faster beyond it, since the limit may have moved.
    """

    def __init__(self, value: float, lowest: float, highest: float) -> None:
        self.value = value
        self._lowest, self._highest = lowest, highest
        self.plateau = math.inf
        self._below = self._above = 0.0
        self._reach = 1.0
        self._answers = 0

    @property
    def has_fallen(self) -> bool:
        """Return whether there was a fall."""
        return self.plateau < math.inf

    def grow(self) -> None:
        """Count one more answer to a request that the level held up."""
        if not self.has_fallen:
            self._set(self.value + 1)
            return
        self._answers += 1
        way = (self._answers - self._reach) / self._reach
        self._set(self.plateau + (self._below if way < 0 else self._above) * way**3)

    def fall(self, to: float, plateau: float, reach: float) -> None:
        """Fall to a level; after `reach` answers it is at its plateau, around which it grows most slowly."""
        self._set(to)
        self.plateau, self._reach, self._answers = max(plateau, self.value), max(reach, 1.0), 0
        self._below = self.plateau - self.value
        # Without any height it would never leave its plateau.
        self._above = _BEYOND * max(self._below, 0.05 * self.plateau)

    def forget(self) -> None:
        """Grow by one an answer again, as before the first fall."""
        self.plateau = math.inf

    def _set(self, value: float) -> None:
        self.value = min(max(value, self._lowest), self._highest)


LATE = 0.02
"""How many seconds late a request may be sent and the next ones still be in time, where the machine is busy."""

_SLOWEST = 1 / 60
_FREE, _FIRST_SPAN, _LONGEST_SPAN = 2.0, 8.0, 40.0
"""After how many times the pause the pace is probed again: where a pause is made up for, at first, and at most."""

_FEWEST, _FEWEST_FREE = 120.0, 60.0
"""After how many answers at least, for each request that a probe costs; fewer where pauses are made up for."""

_UNNAMED = 0.25
"""What a refusal costs at least, in seconds, where no time to wait is named."""

_AGAIN = 2
"""How often `through` has to be the same before pauses are made up for."""


class FoundPace:
    """The pace in requests a second, unlimited until a refusal says otherwise; `due` is the next start."""

    def __init__(self) -> None:
        self.due = -math.inf
        self._level = ProbedLevel(math.inf, _SLOWEST, math.inf)
        self._held = False
        self._refused_at: float | None = None
        self._begun: float | None = None
        self._sent = 0
        self._span = _FIRST_SPAN
        self._makes_up, self._has_made_up, self._to_make_up = False, False, 0.0
        self._made_up: set[int] = set()
        self._through = self._share = 0.0
        self._same, self._doubts = 0, _AGAIN
        self._without = (math.inf, math.inf)

    @property
    def is_known(self) -> bool:
        """Return whether a limit on rates was met."""
        return self._level.has_fallen

    def hold(self) -> None:
        """The pace alone holds the next request up: its answer makes the pace grow."""
        self._held = True

    def started(self, number: int, at: float) -> None:
        """A request was sent."""
        self._begun = at if self._begun is None else self._begun
        self._sent += 1
        if at - self.due <= LATE and self._to_make_up:
            self._to_make_up, self._has_made_up = 0.0, True
        if self._to_make_up:
            self._made_up.add(number)
        self.due = max(self.due, at - max(self._to_make_up, LATE)) + 1 / self._level.value

    def answered(self) -> None:
        """A request was answered."""
        if self._held:
            self._held = False
            if self.is_known:
                self._level.grow()

    def turned_away(self) -> None:
        """A request was refused, and so does not count as let through."""
        self._sent -= 1

    def refused(self, number: int, at: float, pause: float, lately: float, cost: float) -> None:
        """Lower the pace: the server is at its limit."""
        begun = at if self._begun is None else self._begun
        since = begun if self._refused_at is None else self._refused_at
        active = max(at - begun, 0.02)
        whole = max(at - since, active)
        through = max(self._sent, 1) / whole
        if number in self._made_up and self.is_known:
            self._refused_while_making_up(through, pause, cost)
        else:
            self._lower(through, min(self._level.value, max(lately, through)), active, whole, pause, cost)
        self.paused(at, pause)

    def paused(self, at: float, pause: float) -> None:
        """The server refuses, and a new count begins."""
        self._refused_at, self._begun, self._sent = at, None, 0
        self._to_make_up = pause if self._makes_up and self.is_known else 0.0
        self._made_up.clear()

    def _refused_while_making_up(self, through: float, pause: float, cost: float) -> None:
        """Take it that the pace is too high, or else that this server lets nobody make up for a pause."""
        self._share = 0.0
        if self._has_made_up or 0.8 * self._through <= through < self._level.value / 1.05:
            plateau = 1.03 * through if through < 1.15 * self._through else max(through, self._level.value)
            self._through, self._has_made_up = through, False
            self._level.fall(0.97 * through, plateau, self._reach(through, pause, cost))
            return
        self._makes_up, self._same, self._doubts = False, 0, self._doubts + 1
        self._span = max(self._span, _FIRST_SPAN)
        to, plateau = (min(level, self._level.value) for level in self._without)
        self._level.fall(to, plateau, self._reach(to, pause, cost, soon=True))

    def _lower(self, through: float, pace: float, active: float, whole: float, pause: float, cost: float) -> None:
        lost = max(pause, _UNNAMED)
        has_stood = self._share > 0.85
        if active >= lost / 2 and self.is_known:
            stands = abs(pace / self._level.plateau - 1) < 0.15
            self._span = min(max(self._span, _FIRST_SPAN) * 1.5, _LONGEST_SPAN) if stands else _FIRST_SPAN
        factor = 0.95 if active >= 4 * lost else 0.9
        if active < lost / 2 and not has_stood:
            factor = math.sqrt(max(through / pace, 0.25))  # a full bucket says little of how fast it is filled
        to, plateau = max(0.97 * through, factor * pace), math.sqrt(factor) * pace
        if pause and pace > 1.1 * through and self._is_same(through, active / whole):
            if not self._makes_up:
                self._without = (to, max(to, plateau))
            self._makes_up = True
            to, plateau = 0.97 * through, 1.03 * through
        self._through, self._share = through, active / whole
        self._level.fall(to, max(to, plateau), self._reach(to, pause, cost, soon=factor < 0.9))

    def _is_same(self, through: float, share: float) -> bool:
        """Whether as much was let through as between the two refusals before, however long the pause was beside it."""
        if not self._through:
            return False
        ratio = through / self._through
        costly = share / self._share if self._share else 1.0  # what the ratio would be if pauses cost what they last
        near = abs(ratio - 1)
        is_same = near < 0.15 if self._makes_up else abs(costly - 1) > 0.1 and near < abs(ratio - costly) / 2
        self._same = self._same + 1 if is_same else 0
        return is_same and (self._makes_up or self._same >= self._doubts)

    def _reach(self, pace: float, pause: float, cost: float, *, soon: bool = False) -> float:
        if self._makes_up:
            return max(_FEWEST_FREE * cost, _FREE * pause * pace)
        fewest = _FEWEST_FREE if soon and pause >= _UNNAMED else _FEWEST
        return max(fewest * cost, (_FREE * 2 if soon else self._span) * pause * pace)
