"""What a person sees while something runs: sentences and a moving line, both on stderr."""

import os
import sys
import time

from misstep.harness.escaping import plain


def say(sentence: str) -> None:
    """Print a line on stderr, where progress and errors go; results go to stdout."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


class Progress:
    """One line on stderr that moves while something is done; silent where stderr is not a terminal."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._moving = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._moving:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count further; the line is drawn at most ten times a second."""
        self.done += count
        now = time.monotonic()
        if self._moving and now - self._shown >= 0.1:
            self._shown = now
            rate = self.done / max(now - self._started, 1e-9)
            of = f" of {self.total:,}" if self.total else ""
            line = f"{self.done:,}{of} {self.what}, {rate:,.0f}/s {plain(note)}"
            sys.stderr.write(f"\r\x1b[K{line[: _width() - 1]}")
            sys.stderr.flush()


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 80
