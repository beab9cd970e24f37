"""Trajectories of any known format written as ATIF, one file each."""

import re
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct, field

from misstep_harness.errors import InputError, opening, writing
from misstep_harness.journal.records import replace_file
from misstep_harness.places import path_text
from misstep_harness.progress import Progress
from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.readers.interchange.atif_document import folded
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Skipped, Trajectory, Unreadable

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_LIMIT = 120


class Converted(Struct):
    """The result of a conversion: files written, trajectories and steps by the format they were read in, the rest."""

    written: list[str] = field(default_factory=list)
    by_format: dict[str, tuple[int, int]] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class FileNames:
    """File names for ids: safe in any folder, of bounded length, none given twice, the same in every run."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def name(self, trajectory: Trajectory) -> str:
        """Return the name of a trajectory's file; a taken one gets a digest of where the trajectory comes from."""
        stem = _UNSAFE.sub("_", trajectory.id).strip("._")[:_NAME_LIMIT] or "trajectory"
        chosen, count = stem, 1
        while chosen.lower() in self._given:
            origin = (trajectory.id, trajectory.source.file, trajectory.source.line, count)
            chosen = f"{stem}~{sha256(msgspec.json.encode(origin)).hexdigest()[:8]}"
            count += 1
        self._given.add(chosen.lower())
        return f"{chosen}.json"


def convert_all(paths: list[Path], out: Path) -> Converted:
    """Write every trajectory in `paths` to the folder `out`."""
    converted = Converted()
    names = FileNames()
    with Progress("trajectories") as progress:
        for session in trajectories(paths):
            if isinstance(session, Unreadable):
                converted.unreadable.append(session)
            elif isinstance(session, Skipped):
                converted.skipped.append(session)
            else:
                converted.written.append(_write(session, out / names.name(session)))
                count, steps = converted.by_format.get(session.source.format, (0, 0))
                converted.by_format[session.source.format] = (count + 1, steps + len(session.steps))
                progress.advance(note=session.id)
    if not (converted.written or converted.unreadable):
        raise InputError(
            f"no trajectory in {len(converted.skipped):,} file{'' if len(converted.skipped) == 1 else 's'}",
            "Give one file alone to see why it is not recognised.",
            file=" ".join(map(path_text, paths)),
        )
    return converted


def _write(trajectory: Trajectory, path: Path) -> str:
    with opening(path, "Choose another folder with --out.", "cannot be written"):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(folded(to_atif(trajectory))) + b"\n")
    return str(path)
