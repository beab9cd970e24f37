"""A page put where the user wants it."""

from pathlib import Path

from misstep.harness.errors import UsageError, writing
from misstep.harness.journal.records import replace_file


def write_page(option: str, file: Path, page: str) -> None:
    """Write a page into a file, its folder made if there is none."""
    try:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, page.encode())
    except OSError as error:
        raise UsageError(f"{option} {file}: {error.strerror}", "Name a file that can be written.") from error
