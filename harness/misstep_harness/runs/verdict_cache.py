"""A finished run of `classify` is the cache of the next one in its folder: what was read before is not read again.

Verdicts are looked up by the digest of a file's bytes and of what reads and judges them. The records of files with the
same bytes are copied, under whatever name these have now. The new run is made in the folder `.new`, which a kill
interrupts like any other, while the finished one stays as it is. It counts as soon as that folder is called `.whole`:
whoever comes next moves its files into place.
"""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.classified import (
    BatchEntry,
    LabelledSession,
    Summary,
    entry_of,
    labelled_sessions,
    summarise,
)
from misstep_harness.journal.inputs import (
    FILE_RECORDS,
    FileState,
    differing_settings,
    file_state,
    inputs_of_files,
    name_of,
)
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import (
    FILES,
    MANIFEST,
    SCORES,
    SESSIONS,
    VERDICT_RECORDS,
    VERDICTS,
    Inputs,
    Manifest,
    Records,
    encode_lines,
    now,
    read_manifest,
    read_records,
    replace_file,
)
from misstep_harness.journal.run_folder import PROGRESS, RecordsBeside, RunInProgress, locked, make_folder
from misstep_harness.progress import say
from misstep_harness.readers import FoundFile
from misstep_harness.trajectory import Skipped, Unreadable
from misstep_harness.values import NOT_JSON
from misstep_harness.verdict import Verdict

NEW = ".new"
WHOLE = ".whole"

NOTHING = Inputs(0, 0, "")
_BATCH_SESSIONS = 1000

Run = RunInProgress[Verdict, BatchEntry]
ClassifyInto = Callable[[Run, Sequence[FoundFile], int], None]
"""Classify files into a run, behind so many batches of copied records."""

Conclude = Callable[[Summary, Path], Mapping[str, bytes]]


class _Origin(Struct, gc=False):
    item: str
    file: str


_ORIGINS = Records(_Origin, SESSIONS, "session")


class _LeftOut(Struct, frozen=True):
    """What the scores of a run say of files that are not sessions."""

    unreadable: list[Unreadable]
    skipped: list[Skipped]


class _Copy(Struct, frozen=True):
    """The records of a finished run that a new one takes.

    - `names`: Each file whose records are taken, by its name then, and its name now.
    """

    run: Path
    names: Mapping[str, str]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    revised: Callable[[LabelledSession], LabelledSession] = lambda session: session

    def into(self, run: Run) -> int:
        """Copy what a stopped run lacks of the records, and return their number of batches."""
        count = 0
        length = run.entries[-1].sessions_length if run.entries else 0
        with RecordsBeside(run.folder / SESSIONS, length) as beside:
            for sessions, entry in self._batches():
                count += 1
                if count > len(run.entries):
                    beside.append(encode_lines(one.session for one in sessions))
                    verdicts = encode_lines(verdict for one in sessions for verdict in one.verdicts)
                    run.append_lines(verdicts, replace(entry, sessions_length=beside.length))
        return count

    def _batches(self) -> Iterator[tuple[list[LabelledSession], BatchEntry]]:
        sessions = self._sessions()
        while batch := list(islice(sessions, _BATCH_SESSIONS)):
            yield batch, entry_of(batch)
        unreadable = [replace(one, file=self.names[one.file]) for one in self.unreadable if one.file in self.names]
        skipped = [replace(one, file=self.names[one.file]) for one in self.skipped if one.file in self.names]
        yield [], BatchEntry([], [], [], unreadable, skipped, self._renamed())

    def _sessions(self) -> Iterator[LabelledSession]:
        for one in labelled_sessions(self.run):
            name = self.names.get(file := one.session.file)
            if name is not None:
                yield self.revised(one if name == file else one.placed(name))

    def _renamed(self) -> int:
        """Count the sessions whose id another one had taken when they were read."""
        origins = list(read_records(self.run, _ORIGINS))
        ids = {one.item for one in origins}
        return sum(one.file in self.names and one.item.rpartition("~")[0] in ids for one in origins)


def run_of_files(
    out: Path, manifest: Manifest, files: Sequence[FoundFile], classify_into: ClassifyInto, conclude: Conclude
) -> Summary | None:
    """Make the run of files that is in a folder, with what the one there has of them; `None` if that is the same."""
    make_folder(out)
    complete(out)
    earlier = read_manifest(out)
    finished = earlier is not None and earlier.finished and not differing_settings(earlier, manifest)
    known = {state.file: state for state in _states(out)} if finished else {}
    states = [file_state(file.path, known.get(name_of(file.path))) for file in files]
    manifest = replace(manifest, inputs=inputs_of_files(states))
    if earlier is None or not finished:
        return _made(out, manifest, states, lambda run: classify_into(run, files, 0), conclude)
    if _identity(earlier) == _identity(manifest):
        return None
    copy = _copy_of(out)
    names = {} if (changed := _changed_rules(earlier, manifest)) else _names_now(known, states, copy.names)
    if changed:
        say(f"misstep: {out} was made by other rules ({changed}): all is read again.")
    copy = replace(copy, names=names)
    copied = set(names.values())
    todo = [file for file, state in zip(files, states, strict=True) if state.file not in copied]
    return _replaced(earlier, out, manifest, states, lambda run: classify_into(run, todo, copy.into(run)), conclude)


def revise(finished: OpenRun, revised: Callable[[LabelledSession], LabelledSession], conclude: Conclude) -> None:
    """Change the verdicts of a finished run, and its scores with them; a kill leaves it as it was, or as it becomes."""
    out = finished.folder
    copy = replace(_copy_of(out), revised=revised)
    manifest = replace(finished.manifest, finished="", written=None)
    _replaced(finished.manifest, out, manifest, list(_states(out)), copy.into, conclude)


def _identity(manifest: Manifest) -> tuple[object, ...]:
    return manifest.misstep, manifest.sources, manifest.inputs


def _changed_rules(earlier: Manifest, manifest: Manifest) -> str:
    """Return what reads or judges otherwise than in an earlier run; empty if nothing does."""
    if earlier.misstep != manifest.misstep:
        return f"Misstep {earlier.misstep}"
    return ", ".join(sorted({name for name, _ in earlier.sources.items() ^ manifest.sources.items()}))


def _names_now(
    known: Mapping[str, FileState], states: Sequence[FileState], recorded: Collection[str]
) -> dict[str, str]:
    """Return the files of a run whose bytes are there still, each with its name now.

    A file of which the run has no record is not among them: it is read again.
    """
    contents = {state.file: state.content for state in states}
    stays = {file for file in recorded if file in known and known[file].content == contents.get(file)}
    moved: dict[tuple[int, str], list[str]] = {}
    for file in recorded:
        if file in known and file not in stays and known[file].bytes:
            moved.setdefault(known[file].content, []).append(file)
    names = {file: file for file in stays}
    for file, content in contents.items():
        if file not in stays and moved.get(content):
            names[moved[content].pop(0)] = file
    return names


def _copy_of(out: Path) -> _Copy:
    file = out / SCORES
    try:
        left_out = msgspec.json.decode(file.read_bytes(), type=_LeftOut)
    except (OSError, *NOT_JSON) as error:
        message = f"the scores of a finished run cannot be read: {error}"
        raise InputError(message, "Name another folder for the run.", file=file) from error
    files = {one.file for one in read_records(out, _ORIGINS)}
    files |= {one.file for one in left_out.unreadable} | {one.file for one in left_out.skipped}
    return _Copy(out, {name: name for name in files}, left_out.unreadable, left_out.skipped)


def _states(out: Path) -> Iterator[FileState]:
    return read_records(out, FILE_RECORDS) if (out / FILES).is_file() else iter(())


def _replaced(
    standing: Manifest,
    out: Path,
    manifest: Manifest,
    states: Sequence[FileState],
    fill: Callable[[Run], object],
    conclude: Conclude,
) -> Summary | None:
    """Make a run in the place of the finished one; another process that writes to the folder is a `UsageError`."""
    new = out / NEW
    with locked(out / PROGRESS):
        if read_manifest(out) != standing:
            raise UsageError(f"another process has written to {out}", "Run the same line again.")
        begun = read_manifest(new)
        revises = _identity(manifest) == _identity(standing)
        if begun is None or begun.finished or revises or _identity(begun) != _identity(manifest):
            shutil.rmtree(new, ignore_errors=True)
        summary = _made(new, manifest, states, fill, conclude)
        new.rename(out / WHOLE)
        complete(out)
        (out / PROGRESS).unlink()
    return summary


def _made(
    folder: Path, manifest: Manifest, states: Sequence[FileState], fill: Callable[[Run], object], conclude: Conclude
) -> Summary | None:
    """Make a run, or continue the one that was stopped; one of other files or rules begins anew."""
    make_folder(folder)
    stopped = read_manifest(folder)
    if (
        stopped is not None
        and not differing_settings(stopped, manifest)
        and stopped.misstep == manifest.misstep
        and _identity(stopped) != _identity(manifest)
    ):
        say("misstep: files or rules changed since this run was stopped; it begins anew.")
        with locked(folder / PROGRESS):
            for name in (VERDICTS, SESSIONS, MANIFEST, PROGRESS):
                (folder / name).unlink(missing_ok=True)
    with RunInProgress(folder, manifest, VERDICT_RECORDS, BatchEntry) as run:
        if run.finished:  # by another process, since it was looked at
            return None
        fill(run)
        summary = summarise(run.entries)
        for name, content in {**conclude(summary, folder), FILES: encode_lines(states)}.items():
            replace_file(folder / name, content)
        run.finish(now())
    return summary


def complete(folder: Path) -> None:
    """Move the files of a whole run into place, the manifest last; a kill leaves the rest to the next process."""
    whole = folder / WHOLE
    if not whole.is_dir():
        return
    with suppress(FileNotFoundError):  # another process does the same at this moment
        for file in sorted(whole.iterdir(), key=lambda file: file.name == MANIFEST):
            file.replace(folder / file.name)
        whole.rmdir()
