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
_MEASURED_AT_MOST = 3
"""Times that work which seems quadratic is measured: a busy machine slows one round, not every one."""


def growth(made: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    """How many times longer `work` takes on what is `made` four times larger.

    Work that takes next to nothing on thousands of times `size` does not grow: 1. What seems quadratic each time is
    given as `QUADRATIC`.
    """
    gc.collect()
    gc.freeze()  # what other tests left is not gone through again before each round
    try:
        for _ in range(_DOUBLINGS):
            if _seconds(made, work, size) >= _ENOUGH:
                ratios = (_ratio(made, work, size) for _ in range(_MEASURED_AT_MOST))
                return next((ratio for ratio in ratios if ratio < QUADRATIC), QUADRATIC)
            size *= 2
        return 1.0
    finally:
        gc.unfreeze()


def _ratio(made: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    smaller, larger = (min(_seconds(made, work, each) for _ in range(_ROUNDS)) for each in (size, TIMES_LARGER * size))
    return larger / smaller


def _seconds(made: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    given = made(size)
    gc.collect()
    start = time.process_time()
    work(given)
    return time.process_time() - start
