"""Cut files and folders into batches of about equal length, which depend on nothing but the files."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from misstep_harness.places import last_changes_of
from misstep_harness.readers import FoundFile, Part, find_files, read_placed, reader_for
from misstep_harness.runs.inputs import EVER, Changed, parts_of
from misstep_harness.trajectory import Placed, Skipped, Unreadable

Batch = tuple[FoundFile | Part | Unreadable | Skipped, ...]

BATCH_BYTES = 4 << 20
"""About how many bytes a batch has: enough that handing it over costs nothing, few enough to hold several."""

BATCH_FILES = 256

_UNPACKED = {".parquet": 8}
"""About how many times as long agent runs are unpacked, by how the name of a file ends: a footer takes long to read."""


def found_files(paths: Sequence[Path], left_out: Path | None = None) -> Iterator[FoundFile]:
    """Return the files in `paths`, but for those in the folder `left_out` (a run does not read itself)."""
    if left_out is None:
        return find_files(paths)
    place = left_out.resolve()
    if not any(place.is_relative_to(path.resolve()) for path in paths):
        return find_files(paths)
    inside = cache(lambda folder: folder.resolve().is_relative_to(place))
    return (file for file in find_files(paths) if not inside(file.path.parent))


def files_changed(files: Iterable[FoundFile], changed: Changed) -> Iterator[FoundFile]:
    """Return the files that were last changed at such a time."""
    return (file for file in files if changed == EVER or _is_of(file.path, changed))


def _is_of(path: Path, changed: Changed) -> bool:
    try:
        beside = last_changes_of(path)
        return max(one.stat().st_mtime for one in (path, beside) if one is not None) in changed
    except OSError:  # gone since it was listed: whoever reads it says so
        return True


def check_named(paths: Iterable[Path]) -> None:
    """Look into the files that the user named, before any work is done."""
    for file in find_files(path for path in paths if not path.is_dir()):
        next(parts_of(file), None)


def batches(files: Iterable[FoundFile], batch_bytes: int = BATCH_BYTES) -> Iterator[Batch]:
    """Return the files as batches, in order."""
    small: list[FoundFile] = []
    size = 0
    for file in files:
        own = _size(file.path)
        if small and (size + own > batch_bytes or len(small) == BATCH_FILES):
            yield tuple(small)
            small, size = [], 0
        if own > batch_bytes:
            for part in parts_of(file, batch_bytes):
                yield (part,)
        else:
            small.append(file)
            size += own
    if small:
        yield tuple(small)


def total_bytes(files: Iterable[FoundFile]) -> int:
    """About how many bytes there are to read; Parquet files as long as unpacked, other compressed ones as they are."""
    return sum(_size(file.path) * _UNPACKED.get(file.path.suffix, 1) for file in files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone since it was listed: whoever reads it says so
        return 0


def placed_in(batch: Batch) -> Iterator[Placed | Unreadable | Skipped]:
    """Everything in a batch, in order, with the places where it was read."""
    return (one for _, one in read_in(batch))


def read_in(batch: Batch) -> Iterator[tuple[str, Placed | Unreadable | Skipped]]:
    """As `placed_in`, each with the name of the reader that read it; empty where none has."""
    for piece in batch:
        for part in parts_of(piece) if isinstance(piece, FoundFile) else (piece,):
            if isinstance(part, Part):
                for placed in read_placed(part, reader_for(part.format)):
                    yield part.format, placed
            else:
                yield "", part


def describe(batch: Batch) -> str:
    """Return the name of a batch in an error: its first file, and the line where it starts."""
    first = batch[0]
    if isinstance(first, Part):
        return f"{first.path}:{first.first_line}"
    name = str(first.path) if isinstance(first, FoundFile) else first.file
    return f"one of {len(batch)} files from {name}" if len(batch) > 1 else name
