"""What a person sees while something runs: sentences and a moving line, both on stderr."""

import math
import os
import sys
import time
from datetime import timedelta

from misstep_harness.escaping import plain

_HONEST = 0.2
"""How far the time left may be from the truth where it is told."""

_FEWEST_STRETCHES = 30
"""Of fewer, the one in ten that takes long may still be missing."""


def say(sentence: str) -> None:
    """Print a line on stderr, where progress and errors go; results go to stdout."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


class Pace:
    """The seconds that pieces took, and how long others will take if their times are independent of each other."""

    def __init__(self) -> None:
        self.pieces = self._stretches = 0
        self.seconds = self._squares = 0.0

    def add(self, pieces: int, seconds: float) -> None:
        """Take up a stretch of pieces, at least one, that took so long together."""
        self.pieces += pieces
        self.seconds += seconds
        self._stretches += 1
        self._squares += seconds**2 / pieces

    def left(self, pieces: int) -> float | None:
        """Return the seconds that so many more take; `None` before a tenth is done, and if it may be a fifth off."""
        if pieces < 1 or self._stretches < _FEWEST_STRETCHES or 9 * self.pieces < pieces:
            return None
        mean = self.seconds / self.pieces
        # Regression through the origin, with a variance that grows with the pieces of a stretch (Cochran 1977, 6.6);
        # three standard errors of what is predicted: that of the mean, and that of the pieces to come.
        variance = max(0.0, self._squares - self.seconds * mean) / (self._stretches - 1)
        error = 3 * math.sqrt(variance * (1 / self.pieces + 1 / pieces))
        return mean * pieces if error <= _HONEST * mean else None


class Progress:
    """One line on stderr that moves while something is done; silent where stderr is not a terminal.

    `done` is what was done before: it counts in the whole, and says nothing about time.
    """

    def __init__(self, what: str, total: int | None = None, done: int = 0) -> None:
        self.what = what
        self.total = total
        self.done = done
        self._pace = Pace()
        self._moving = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._counted = time.monotonic()
        self._shown = self._counted

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._moving:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count further; the line is drawn at most ten times a second, and when all is done."""
        self.done += count
        if self.total:
            self.done = min(self.done, self.total)  # what was lost may be done again
        now = time.monotonic()
        if count:
            self._pace.add(count, now - self._counted)
            self._counted = now
        if self._moving and (now - self._shown >= 0.1 or self.done == self.total):
            self._shown = now
            sys.stderr.write(f"\r\x1b[K{self._line(note)[: _width() - 1]}")
            sys.stderr.flush()

    def _line(self, note: str) -> str:
        rate = self._pace.pieces / max(self._pace.seconds, 1e-9)
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        of = f" of {self.total:,}" if self.total else ""
        left = self._pace.left(self.total - self.done) if self.total else None
        until = "" if left is None else f", {timedelta(seconds=round(left))} left"
        return f"{self.done:,}{of} {self.what}, {speed}/s{until} {plain(note)}"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 80
