"""A session file that an agent is still writing, read as far as it is whole."""

from pathlib import Path

from msgspec import structs

from misstep.harness.errors import InputError
from misstep.harness.places import path_text
from misstep.harness.readers import all_readers
from misstep.harness.readers.checking import read_value
from misstep.harness.readers.files import DOCUMENT_LIMIT, recognise, sample_file
from misstep.harness.trajectory import Source, Step, Trajectory

FileMark = tuple[int, int, int]
"""What changes when a file does: its inode, its size and the time of its last change."""


def mark_of(path: Path) -> FileMark | None:
    """Return the mark of a file as it is now; `None` where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def growing_runs(path: Path, most_bytes: int = DOCUMENT_LIMIT) -> list[Trajectory]:
    """Return the runs in a file, each up to the last step whose calls are answered.

    A last line without its end is still being written and is left out. So is a document that is no whole one yet:
    then there is nothing to read.
    """
    sample = sample_file(path)
    reader = recognise(sample, all_readers())
    with path.open("rb") as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"the file has more than {most_bytes >> 20} MiB", file=path)
    if sample.shape == "lines":
        data = data[: data.rfind(b"\n") + 1]
    whole = [data] if reader.UNIT == "file" or sample.shape != "lines" else data.splitlines()
    source = Source(reader.FORMAT, path_text(path))
    return [answered(run) for one in whole if one.strip() for run in read_value(one, reader, source)]


def answered(run: Trajectory) -> Trajectory:
    """Return the run without a last step of the agent whose calls still wait for their answers."""
    return structs.replace(run, steps=run.steps[:-1]) if run.steps and _waits(run.steps[-1]) else run


def _waits(step: Step) -> bool:
    return step.role == "agent" and len(step.results) < len(step.calls)
