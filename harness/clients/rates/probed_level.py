"""A level that is probed for the highest that a server takes."""

import math

_BEYOND = 2.0
"""How many times as fast it rises beyond its plateau as it came there."""


class ProbedLevel:
    """A level that grows with the answers that it holds up, and falls when the server asks for less.

    Until the first fall it grows by one an answer, so that a number in flight doubles in a round trip. After a fall it
    follows the curve of CUBIC (RFC 9438, equation 1) in the number of answers: it comes back soon to the neighbourhood
    of its plateau, stays near it for long, and rises ever faster beyond it, since the limit may have moved.

    Parameters
    ----------
    value
        The first level.
    lowest, highest
        The bounds of the level.
    """

    def __init__(self, value: float, lowest: float, highest: float) -> None:
        self.value = value
        self._lowest, self._highest = lowest, highest
        self._plateau: float | None = None
        self._depth = 0.0
        self._reach = 1.0
        self._answers = 0

    @property
    def has_fallen(self) -> bool:
        """Whether there was a fall."""
        return self._plateau is not None

    @property
    def plateau(self) -> float:
        """The level around which it grows most slowly; infinite before the first fall."""
        return math.inf if self._plateau is None else self._plateau

    def grow(self) -> None:
        """Count one more answer to a request that the level held up."""
        if self._plateau is None:
            self._set(self.value + 1)
            return
        self._answers += 1
        way = (self._answers - self._reach) / self._reach
        self._set(self._plateau + self._depth * way**3 * (_BEYOND if way > 0 else 1.0))

    def fall(self, to: float, plateau: float, reach: float) -> None:
        """Fall.

        Parameters
        ----------
        to
            The new level.
        plateau
            The level around which it then grows most slowly.
        reach
            The number of answers after which it is at its plateau again.
        """
        self._set(to)
        self._plateau, self._reach, self._answers = max(plateau, self.value), max(reach, 1.0), 0
        # Without any depth it would never leave its plateau.
        self._depth = max(self._plateau - self.value, 0.05 * self._plateau)

    def _set(self, value: float) -> None:
        self.value = min(max(value, self._lowest), self._highest)
