"""Errors of the system on a file, as one line that names the file and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from misstep.harness.errors import InputError


@contextmanager
def file_errors(file: Path, message: str, advice: str) -> Iterator[None]:
    """Turn an `OSError` of the block into an `InputError` with this message and the system's own words."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{message}: {error.strerror}", advice, file=file) from error
