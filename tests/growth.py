"""How work grows with its size, as a ratio within one process, whatever the machine's speed."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMES_LARGER = 4
QUADRATIC = 11
"""Between the 4 of what is linear and the 16 of what is quadratic, nearer to neither."""

_ROUNDS = 3
_ENOUGH = 0.02
"""Seconds that the smaller work takes at least before the two are compared."""

_DOUBLINGS = 12


def growth(made: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    """How many times longer `work` takes on what is `made` four times larger; the quickest of three rounds counts.

    Work that takes next to nothing on thousands of times `size` does not grow: 1.
    """
    for _ in range(_DOUBLINGS):
        smaller = _quickest(made, work, size)
        if smaller >= _ENOUGH:
            return _quickest(made, work, TIMES_LARGER * size) / smaller
        size *= 2
    return 1.0


def _quickest(made: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    taken = []
    for _ in range(_ROUNDS):
        given = made(size)
        gc.collect()
        start = time.process_time()
        work(given)
        taken.append(time.process_time() - start)
    return min(taken)
