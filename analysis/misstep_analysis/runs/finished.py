"""The parts of a finished run that had files and folders for its input: its manifest, its paths, its scores."""

import os
import shlex
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from misstep_harness.errors import InputError, UsageError
from misstep_harness.exchange import ADDRESS
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import (
    SCORES,
    Manifest,
    Record,
    Records,
    encode_lines,
    replace_file,
    write_manifest,
    written_in,
)
from misstep_harness.journal.run_folder import make_new_folder
from misstep_harness.path_names import Places, private_places
from misstep_harness.values import NOT_JSON

Scores = TypeVar("Scores")


def require_finished(run: OpenRun) -> None:
    """Refuse a run in progress."""
    if not run.manifest.finished:
        raise UsageError(f"the run {run.folder} is not finished", f"Continue it: {command_line(run.manifest)}")


def write_recording(run: OpenRun, out: Path, records: Records[Record], lines: Iterable[Record], **changed: Any) -> None:
    """Write a finished run into a new folder, without what its machine called it; `changed` is of its manifest."""
    require_finished(run)
    make_new_folder(out)
    replace_file(out / records.file, encode_lines(lines))
    manifest = structs.replace(run.manifest, arguments=[], folder="", shown=[], **changed)
    write_manifest(out, structs.replace(manifest, written=written_in(out, records.file)))


_BARE = ("classify", "observe")
"""The commands whose runs keep the arguments behind the name of the command; the others keep the name as well."""


def command_line(manifest: Manifest) -> str:
    """Return the command line that began a run, and continues it."""
    named = manifest.command.split() if manifest.command in _BARE or not manifest.arguments else []
    return shlex.join(["misstep", *named, *manifest.arguments])


def places_of(run: OpenRun) -> Places:
    """Return the places that a run names, which no file that is passed on says."""
    manifest, addresses = run.manifest, [run.requested("base_url"), os.environ.get(ADDRESS, "")]
    return private_places(manifest.arguments, [manifest.folder, str(run.folder.resolve())], addresses)


def named_inputs(manifest: Manifest) -> list[str]:
    """Return the files, folders and addresses that the command line named, which come before its options."""
    return list(takewhile(lambda one: not one.startswith("--"), manifest.arguments))


def read_scores(run: Path, kind: type[Scores]) -> Scores:
    """Return the scores of a finished run."""
    file = run / SCORES
    try:
        content = file.read_bytes()
    except OSError as error:
        raise _unreadable(str(error), file) from error
    try:
        return msgspec.json.decode(content, type=kind)
    except NOT_JSON as error:
        raise _unreadable(str(error), file) from error


def _unreadable(error: str, file: Path | str) -> InputError:
    message = f"the scores of a finished run cannot be read: {error}"
    return InputError(message, "Name another folder for the run.", file=file)
