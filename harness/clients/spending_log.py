"""A file of the amounts that a run has spent: the cost limit counts every attempt, however it ended.

Each line is an amount in US dollars: first the highest possible cost of an attempt, before it is sent, then the
difference to its actual cost. A request that a killed process had sent keeps its reservation, since it may be charged.
"""

from pathlib import Path

from misstep.harness.errors import InputError, opening, write_all, writing


class SpendingLog:
    """The open file; `total_usd` is the sum of its lines. Without a file the sum is in memory alone."""

    def __init__(self, file: Path | None) -> None:
        self.total_usd = 0.0
        self._file, self._stream = file, None
        if file is not None:
            with opening(file, "Check the folder's permissions.", "cannot be written"):
                self.total_usd = _total(file)
                with writing(file):
                    self._stream = file.open("ab", buffering=0)
                self._stream.truncate(file.read_bytes().rfind(b"\n") + 1)

    def add(self, usd: float) -> None:
        """Add an amount that is reserved; a negative amount releases a reservation."""
        self.total_usd += usd
        if self._file is not None and self._stream is not None:
            write_all(self._stream, b"%b\n" % repr(usd).encode(), self._file)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()


def _total(file: Path) -> float:
    if not file.exists():
        return 0.0
    total = 0.0
    # A full disk may cut the last number short; its request was never sent.
    *lines, _ = file.read_text().split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            total += float(line)
        except ValueError as error:
            advice = "Delete it to count from the run's verdicts."
            raise InputError(f"not a number: {line[:40]!r}", advice, file=file, line=number) from error
    return total
