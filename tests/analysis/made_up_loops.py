"""Made-up runs of the reflexive loop as folders."""

from collections.abc import Iterable
from pathlib import Path

from misstep_harness.journal.records import (
    SCHEMA,
    Inputs,
    Manifest,
    encode_lines,
    replace_file,
    write_manifest,
    written_in,
)
from misstep_harness.reflexive.records import LOOP_RECORDS, LoopEvent


def looped_run(folder: Path, events: Iterable[LoopEvent], *, finished: bool = True, **settings: object) -> Path:
    """A run's folder."""
    folder.mkdir(parents=True)
    replace_file(folder / LOOP_RECORDS.file, encode_lines(list(events)))
    manifest = Manifest(
        SCHEMA,
        "reflect run",
        ["orchard", "--out", str(folder)],
        "0.1.0",
        "3.11",
        "2026-03-01T10:00:00+00:00",
        {"skill": "orchard", **settings},
        Inputs(0, 0, "c4"),
        "",
        "2026-03-01T10:05:00+00:00" if finished else "",
        written_in(folder, LOOP_RECORDS.file) if finished else None,
    )
    write_manifest(folder, manifest)
    return folder
