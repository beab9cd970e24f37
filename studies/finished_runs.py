"""What is read of a finished run that had files and folders for its input: its manifest, its paths, its scores."""

import shlex
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.errors import InputError, UsageError
from harness.journal.records import SCORES, Manifest, read_manifest

Scores = TypeVar("Scores")


def finished_manifest(run: Path, command: str) -> Manifest:
    """The manifest of a finished run of a command.

    Raises
    ------
    UsageError
        The run is not finished; says how to continue it.
    """
    manifest = read_manifest(run)
    if manifest is None or not manifest.finished:
        again = shlex.join(["misstep", command, *(manifest.arguments if manifest else ["PATH", "--out", str(run)])])
        raise UsageError(f"the run {run} is not finished", f"Continue it: {again}")
    return manifest


def named_paths(manifest: Manifest) -> list[Path]:
    """The files and folders that the command line named, which stand before its options."""
    return [Path(argument) for argument in takewhile(lambda one: not one.startswith("--"), manifest.arguments)]


def read_scores(run: Path, kind: type[Scores]) -> Scores:
    """The scores of a finished run.

    Raises
    ------
    InputError
        They cannot be read.
    """
    file = run / SCORES
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"the scores of a finished run cannot be read: {error}", "Name another folder for the run.", file=file
        ) from error
