"""The runs that the items of a benchmark are about, read from its files as a stream: one run in memory at a time."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.errors import InputError
from harness.items import Item
from harness.readers import read_file
from harness.trajectory import Trajectory, Unreadable

_own_line = msgspec.json.Decoder(Trajectory)


class FoundRun(Struct, frozen=True):
    """A run with the items that are about it, or these items and why there is no run for them."""

    items: tuple[str, ...]
    run: Trajectory | None
    reason: str = ""


def read_runs(file: Path) -> Iterator[Trajectory | Unreadable]:
    """The runs of a file: as Misstep writes them into a benchmark, or of any known format."""
    if not is_own(file):
        yield from read_file(file)
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield _own_line.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                yield Unreadable(str(file), number, str(error))


def runs_in(folder: Path, path: str, wanted: Sequence[tuple[str, str | None]]) -> Iterator[FoundRun]:
    """The runs in a file of a benchmark that items are about, each once, and then the items without one.

    Parameters
    ----------
    folder
        The benchmark's folder; no path leads out of it.
    path
        The file, below it.
    wanted
        Item and the id of its run; without an id it is the one run of the file, else the run of the item's own id.
    """
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        reason = f"{path} is no file of the benchmark's folder"
        yield FoundRun(tuple(item for item, _ in wanted), None, reason)
        return
    items_of: dict[str, list[str]] = {}
    try:
        for run, is_only in _with_whether_only(read_runs(file)):
            if not items_of:
                items_of = _by_run(wanted, run.id if is_only else None)
            about = items_of.pop(run.id, None)
            if about is not None:
                yield FoundRun(tuple(about), run)
            if not items_of:
                return
    except InputError as error:
        left = items_of or _by_run(wanted, None)
        yield FoundRun(tuple(item for about in left.values() for item in about), None, error.line())
        return
    for id_, about in (items_of or _by_run(wanted, None)).items():
        yield FoundRun(tuple(about), None, f"{path} holds no run {id_!r} that can be read")


def inline_run(item: Item) -> FoundRun:
    """The run that stands in the item itself."""
    given = {"id": item.id, "source": {"format": "inline"}} | dict(item.trajectory or {})  # type: ignore[arg-type]
    try:
        return FoundRun((item.id,), msgspec.convert(given, Trajectory))
    except msgspec.ValidationError as error:
        return FoundRun((item.id,), None, f"the run in the item is no trajectory: {error}")


def _with_whether_only(runs: Iterator[Trajectory | Unreadable]) -> Iterator[tuple[Trajectory, bool]]:
    readable = (run for run in runs if isinstance(run, Trajectory))
    first = list(islice(readable, 2))
    for run in chain(first, readable):
        yield run, len(first) == 1


def _by_run(wanted: Sequence[tuple[str, str | None]], only: str | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item, run in wanted:
        found.setdefault(run if run is not None else only if only is not None else item, []).append(item)
    return found


def is_own(file: Path) -> bool:
    """Whether a file holds runs as Misstep writes them into a benchmark: its first line is one."""
    if file.suffix != ".jsonl":
        return False
    with file.open("rb") as stream:
        try:
            return bool(_own_line.decode(stream.readline()).source.format)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
