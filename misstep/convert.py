"""`misstep convert`: trajectories of any known format as ATIF, one file each."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from msgspec import Struct, field

from harness.errors import InputError, UsageError
from harness.escaping import plain
from harness.journal.records import replace_file
from harness.progress import Progress, say
from harness.readers import READERS
from harness.readers.atif import to_atif
from harness.runs.inputs import trajectories
from harness.trajectory import Skipped, Trajectory, Unreadable

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_LIMIT = 120
_SHOWN = 10

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Converted(Struct):
    """What a conversion did: files written, trajectories and steps by the format they were read in, the rest."""

    written: list[str] = field(default_factory=list)
    by_format: dict[str, tuple[int, int]] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class FileNames:
    """File names for ids: safe in any folder, of bounded length, none given twice, the same in every run."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def name(self, trajectory: Trajectory) -> str:
        """The name of a trajectory's file; a taken one gets a digest of where the trajectory comes from."""
        stem = _UNSAFE.sub("_", trajectory.id).strip("._")[:_NAME_LIMIT] or "trajectory"
        chosen, count = stem, 1
        while chosen.lower() in self._given:
            origin = (trajectory.id, trajectory.source.file, trajectory.source.line, count)
            chosen = f"{stem}~{sha256(msgspec.json.encode(origin)).hexdigest()[:8]}"
            count += 1
        self._given.add(chosen.lower())
        return f"{chosen}.json"


@app.command()
def convert(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help=f"Files and folders of trajectories: {', '.join(READERS)}.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go; made where it is missing.")],
    to: Annotated[str, typer.Option(metavar="FORMAT", help="The format to write: atif.")] = "atif",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write each trajectory as a file of its own in ATIF 1.8, with all that its own format says.

    Files in a folder that hold no trajectory are skipped. A conversion that was stopped is done again by the same
    line. Exit 1: a trajectory was unreadable; it is named with file and line, and the others are written.
    """
    if to != "atif":
        raise UsageError(f"cannot write {to!r}", "Known: atif.")
    _refuse_own_output(paths, out)
    try:
        converted = convert_all(paths, out)
    except KeyboardInterrupt:
        say(f"misstep: stopped; the files finished so far are in {plain(str(out))}.")
        raise typer.Exit(130) from None
    print(_as_json(converted) if json else _as_text(converted, out))
    for one in converted.unreadable[:_SHOWN]:
        where = one.file if one.line is None else f"{one.file}:{one.line}"
        say(f"misstep: {plain(where)}: {plain(one.error)}")
    if len(converted.unreadable) > _SHOWN:
        say(f"misstep: and {len(converted.unreadable) - _SHOWN:,} more unreadable; --json lists them all.")
    if converted.unreadable:
        raise typer.Exit(1)


def convert_all(paths: list[Path], out: Path) -> Converted:
    """Write every trajectory in `paths` to the folder `out`.

    Raises
    ------
    UnknownFormat
        A named file is of no known format.
    InputError
        A path does not exist, nothing in them is a trajectory, or `out` cannot be written.
    """
    converted = Converted()
    names = FileNames()
    with Progress("trajectories") as progress:
        for found in trajectories(paths):
            if isinstance(found, Unreadable):
                converted.unreadable.append(found)
            elif isinstance(found, Skipped):
                converted.skipped.append(found)
            else:
                converted.written.append(_write(found, out / names.name(found)))
                count, steps = converted.by_format.get(found.source.format, (0, 0))
                converted.by_format[found.source.format] = (count + 1, steps + len(found.steps))
                progress.advance(note=found.id)
    if not (converted.written or converted.unreadable):
        raise InputError(
            f"no trajectories among {len(converted.skipped):,} files",
            "Name a file to learn why it is not recognised.",
            file=" ".join(map(str, paths)),
        )
    return converted


def _write(trajectory: Trajectory, path: Path) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(to_atif(trajectory)) + b"\n")
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", "Choose another folder with --out.", file=path
        ) from error
    return str(path)


def _refuse_own_output(paths: list[Path], out: Path) -> None:
    """A conversion does not read what it writes.

    Raises
    ------
    UsageError
        The output folder is, or lies in, a folder that is to be read.
    """
    target = out.resolve()
    for path in paths:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise UsageError(f"--out {out} lies in {path}, which is to be read", "Choose a folder outside it.")


def _as_json(converted: Converted) -> str:
    document: dict[str, Any] = {
        "n": len(converted.written),
        "formats": {name: {"trajectories": n, "steps": steps} for name, (n, steps) in converted.by_format.items()},
        "written": converted.written,
        "unreadable": converted.unreadable,
        "skipped": converted.skipped,
    }
    return msgspec.json.encode(document).decode()


def _as_text(converted: Converted, out: Path) -> str:
    rows = [("format", "trajectories", "steps")]
    rows += [(name, f"{count:,}", f"{steps:,}") for name, (count, steps) in sorted(converted.by_format.items())]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name:<{width}}  {count:>12}  {steps:>9}" for name, count, steps in rows]
    total = f"{len(converted.written):,} written to {plain(str(out))}"
    if converted.unreadable:
        total += f", {len(converted.unreadable):,} unreadable"
    if converted.skipped:
        total += f", {len(converted.skipped):,} other files skipped"
    return "\n".join([*lines, total])
