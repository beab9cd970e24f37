"""Write a run into a folder in one of several forms; the folder is there whole or not at all.

export.toml   what is exported, and every other file with its length and digest; it is written last

An export replaces only an earlier one of the same run to the same form.
"""

import csv
import glob
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import tomli_w
from msgspec import Struct

from misstep_analysis.exports.hugging_face import write_data_set
from misstep_analysis.exports.inspect_scores import write_scores
from misstep_analysis.exports.opening import RunExport, open_export
from misstep_analysis.exports.parquet import write_parquet
from misstep_analysis.exports.secrets import Secrets
from misstep_analysis.runs.finished import places_of
from misstep_analysis.runs.kind import Choice, ExportedTable, Values
from misstep_analysis.tables.files import csv_field
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.journal.records import encode, has_ended
from misstep_harness.version import __version__

EXPORT = "export.toml"

_PART = re.compile(r"\..+\.(\d+)\.part")
_ADVICE = "Name a folder that is not there yet."


class WrittenFile(Struct, frozen=True):
    """A file of an export."""

    name: str
    bytes: int
    sha256: str


class ExportFile(Struct, frozen=True):
    """The contents of `export.toml`: the form, the run's name, the version that wrote it, and the files."""

    to: str
    run: str
    misstep: str
    files: tuple[WrittenFile, ...] = ()


def check_free(out: Path, about: ExportFile) -> None:
    """Refuse a folder with anything but an earlier export of the same run to the same form."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder", _ADVICE)
    if not out.is_dir() or not any(out.iterdir()):
        return
    try:
        earlier = msgspec.toml.decode((out / EXPORT).read_bytes(), type=ExportFile)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        first = min(file.name for file in out.iterdir())
        raise UsageError(f"{out} has other files, such as {first}", _ADVICE) from None
    if (earlier.to, earlier.run) != (about.to, about.run):
        raise UsageError(f"{out} is an export of the run {earlier.run} to {earlier.to}", _ADVICE)
    known = {EXPORT, *(file.name for file in earlier.files)}
    others = sorted(name for name in _files(out) if name not in known)
    if others:
        raise UsageError(f"{out} has a file beside the export, {others[0]}", f"Move it away. Or: {_ADVICE}")


@contextmanager
def exported_folder(out: Path, about: ExportFile) -> Iterator[Path]:
    """Return a folder to write to that takes the place of `out` when all is written, or leaves it as it was."""
    building, old = (out.with_name(f".{out.name}{kind}.{os.getpid()}.part") for kind in ("", ".old"))
    try:
        with writing(out):
            out.parent.mkdir(parents=True, exist_ok=True)
            for left in out.parent.glob(f".{glob.escape(out.name)}.*.part"):  # of killed exports to this folder
                if (match := _PART.fullmatch(left.name)) and has_ended(int(match[1])):
                    shutil.rmtree(left, ignore_errors=True)
            building.mkdir()
            yield building
            (building / EXPORT).write_bytes(_described(building, about))
            if out.exists():
                out.rename(old)
            building.rename(out)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", "Name another folder with --out.", file=out) from error
    finally:
        for left in (building, old):
            shutil.rmtree(left, ignore_errors=True)


def _described(folder: Path, about: ExportFile) -> bytes:
    files = []
    for name in _files(folder):
        with (folder / name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            files.append(WrittenFile(name, stream.tell(), digest))
    return tomli_w.dumps(msgspec.to_builtins(msgspec.structs.replace(about, files=tuple(files)))).encode()


def _files(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir())


Form = Literal["hf", "parquet", "csv", "inspect"]


def export_run(run: Path, to: Form, out: Path, choice: Choice, *, redact: bool = False) -> dict[str, int]:
    """Write a finished run into a folder; gives the number of rows of each table."""
    if to == "inspect" and choice.gold:
        raise UsageError(
            "--to inspect has no place for gold labels", "Leave out --with-gold, or export it with --to parquet."
        )
    about = ExportFile(to, run.resolve().name, __version__)
    check_free(out, about)
    opened = open_export(run, choice)
    secrets = Secrets(replace=redact, places=places_of(opened))
    with exported_folder(out, about) as building:
        counts = _WRITERS[to](opened, building, secrets)
        secrets.refuse(str(run))
    return counts


_Write = Callable[[RunExport, Path, Secrets], dict[str, int]]
_WriteTable = Callable[[Path, ExportedTable, Iterable[Values]], int]


def _tables(ending: str, write: _WriteTable, run: RunExport, folder: Path, secrets: Secrets) -> dict[str, int]:
    return {one.name: write(folder / f"{one.name}.{ending}", one, secrets.checked(one)) for one in run.tables}


def _write_csv(file: Path, table: ExportedTable, rows: Iterable[Values]) -> int:
    """Write the rows of a table: lists are JSON text, what is missing is empty, and nothing is a formula."""
    names = [column.name for column in table.columns]
    n = 0
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_field, names))
        for row in rows:
            writer.writerow([_field(row[name]) for name in names])
            n += 1
    return n


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return encode(value).decode() if isinstance(value, list | tuple | dict) else csv_field(value)


_WRITERS: dict[Form, _Write] = {
    "hf": write_data_set,
    "parquet": partial(_tables, "parquet", write_parquet),
    "csv": partial(_tables, "csv", _write_csv),
    "inspect": write_scores,
}
