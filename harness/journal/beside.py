"""A second file of records in a run's folder, which grows with the first and is cut back with it after a kill."""

import os
from pathlib import Path
from types import TracebackType

from misstep.harness.errors import InputError, write_all, writing


class RecordsBeside:
    """An open file beside the records of a run in progress; use it with `with`.

    Append to it before the run's own records, and keep `length` in the entry of the same stretch.

    - `file`: The file; it is made if it does not exist.
    - `length`: Its length after the last stretch that is finished; what is behind that is cut off.
    """

    def __init__(self, file: Path, length: int) -> None:
        self.file, self.length = file, length
        try:
            with writing(file):
                self._stream = file.open("a+b", buffering=0)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", "Check the folder's permissions.", file=file) from error
        found = self._stream.seek(0, os.SEEK_END)
        if found < length:
            self._stream.close()
            raise InputError(
                f"the file has {found:,} bytes of {length:,}", "Delete the run's folder to begin it anew.", file=file
            )
        self._stream.truncate(length)

    def append(self, lines: bytes) -> None:
        """Add records that are JSON lines already."""
        write_all(self._stream, lines, self.file)
        self.length += len(lines)

    def __enter__(self) -> "RecordsBeside":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
