"""What a run has spent, on file: a limit holds for all its attempts together, however each of them ended.

A file of numbers, one a line, in US dollars: the most that an attempt can cost before it is sent, then the difference
to what it did cost. What a killed process had sent and got no answer to stays set aside, as it may have been charged.
"""

from pathlib import Path

from harness.errors import InputError, write_all


class Ledger:
    """The open file; `total_usd` is what it comes to.

    Raises
    ------
    InputError
        The file cannot be opened, or a line is no number.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._file = file
            self.total_usd = _total(file)
            self._stream = file.open("ab", buffering=0)
            self._stream.truncate(file.read_bytes().rfind(b"\n") + 1)
        except OSError as error:
            raise InputError(
                f"cannot be kept: {error.strerror}", "Check the folder's permissions.", file=file
            ) from error

    def add(self, usd: float) -> None:
        """Add what is set aside; less than 0 for what is free again."""
        self.total_usd += usd
        write_all(self._stream, b"%b\n" % repr(usd).encode(), self._file)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _total(file: Path) -> float:
    if not file.exists():
        return 0.0
    total = 0.0
    # Half of a number is what a full disk left of it: nothing was sent for it.
    *lines, _ = file.read_text().split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            total += float(line)
        except ValueError as error:
            advice = "Delete it to count from the run's verdicts."
            raise InputError(f"no number: {line[:40]!r}", advice, file=file, line=number) from error
    return total
