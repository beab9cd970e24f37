"""A run of `classify` that is brought up to date again and again, and what each look finds that is new."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from misstep.harness.errors import NoTrajectory
from misstep.harness.escaping import plain
from misstep.harness.journal.classified import PlacedVerdict, SessionFinding
from misstep.harness.journal.records import VERDICTS, Records, read_manifest, read_records, replace_file
from misstep.harness.progress import say
from misstep.harness.runs.classify import ClassifyAs
from misstep.studies.classified_paths import classified_findings

Key = tuple[str, int | None, str, str]
"""What a finding is known by: file and line of its session, the session and the category."""

_FOUND = Records(PlacedVerdict, VERDICTS, "verdict")
TOLD = "told.jsonl"
"""The file of a run that is watched: each finding that was told, a line each."""


def new_findings(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    out: Path,
    *,
    wait: Callable[[], object],
) -> Iterator[SessionFinding]:
    """Return the findings of each look that were not there before, without end; those of the first look are all told.

    A run that goes on tells what it did not tell before; of a run of `classify` that is all that is found from then on.
    """
    known = _told(out)
    waiting = False
    while True:
        try:
            arguments = [*map(str, paths), "--out", str(out)]
            found = classified_findings(paths, categories, classify, out=out, arguments=arguments).findings
            _note(out, [] if (out / TOLD).exists() else known)
        except NoTrajectory as error:
            if not waiting:
                say(f"misstep: {plain(error.line())} Waiting for the first session.")
            waiting, found = True, []
        for one in found:
            if (key := (one.file, one.line, one.item, one.category)) not in known:
                known.add(key)
                yield one
                _note(out, [key])
        wait()


def _told(run: Path) -> set[Key]:
    """What was told of a run already: what it says itself or, when `classify` finished it, all that was found in it."""
    if (file := run / TOLD).exists():
        *lines, _ = file.read_bytes().split(b"\n")  # the last line may lack its end
        replace_file(file, b"".join(line + b"\n" for line in lines))
        return {msgspec.json.decode(line, type=Key) for line in lines}
    found: set[Key] = set()
    manifest = read_manifest(run)
    if manifest is not None and manifest.finished:
        verdicts = read_records(run, _FOUND)
        found = {(one.file, one.line, one.item, one.judge) for one in verdicts if one.label == "yes"}
    return found


def _note(run: Path, keys: Iterable[Key]) -> None:
    """Write down that findings were told."""
    with (run / TOLD).open("ab") as file:
        file.write(b"".join(msgspec.json.encode(key) + b"\n" for key in keys))
