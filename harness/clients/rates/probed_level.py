"""A level that is probed for the highest that a server takes."""

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
