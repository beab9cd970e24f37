"""A finished run of `classify` is the cache of the next one in its folder: what was read before is not read again.

Verdicts are looked up by the digest of a file's bytes and of what reads and judges them. The records of files with the
same bytes are copied, under whatever name these have now. The new run is made in the folder `.new`, which a kill
interrupts like any other, while the finished one stays as it is. It counts as soon as that folder is called `.whole`:
whoever comes next moves its files into place.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.classifiers import CLASSIFIERS
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.classified import (
    PLACED_RECORDS,
    BatchEntry,
    Judged,
    LabelledSession,
    Show,
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
    VERDICTS,
    Inputs,
    Manifest,
    Records,
    encode_lines,
    new_manifest,
    now,
    read_manifest,
    read_records,
    replace_file,
)
from misstep_harness.journal.run_folder import PROGRESS, RunInProgress, locked, make_folder, reopen_if_damaged
from misstep_harness.progress import say
from misstep_harness.readers import READERS, FoundFile
from misstep_harness.runs.classify import ClassifyPlan, expect_some, judge_batch
from misstep_harness.runs.files_run import BatchesRun, Conclude, FilesRun, carry_out_files, details_of
from misstep_harness.runs.inputs import Batch, check_named, files_changed, found_files
from misstep_harness.runs.kind import Entry
from misstep_harness.runs.model_requests import ModelRequests
from misstep_harness.trajectory import Skipped, Unreadable
from misstep_harness.values import NOT_JSON

_HARNESS = Path(__file__).parents[1]
_OWN = ("classifiers", "readers")
"""The rooms of `harness` that decide a verdict, besides the modules at its top."""
_DIGITS = 16


@cache
def source_digests(categories: tuple[str, ...]) -> dict[str, str]:
    """Return a digest of Misstep's own rules and readers, and one for each category and reader from elsewhere.

    A process looks once, as it goes on with the code that it has loaded.
    """
    own = [*_HARNESS.glob("*.py"), *(file for room in _OWN for file in _files_below(_HARNESS / room))]
    chosen = {
        f"classifier {name}": target
        for name, target in CLASSIFIERS.names().items()
        if name in categories and name not in CLASSIFIERS
    }
    chosen |= {f"reader {name}": target for name, target in READERS.names().items() if name not in READERS}
    return {"misstep": _digest(own), **{name: _digest(_sources(target)) for name, target in chosen.items()}}


def _sources(target: str) -> Iterator[Path]:
    """Return the files behind a dotted path: its module, or all of the package that the module is part of."""
    spec = find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_below(Path(folder))
    if spec.origin and Path(spec.origin).is_file():
        yield Path(spec.origin)


def _files_below(folder: Path) -> Iterator[Path]:
    return (file for ending in ("py", "toml", "json") for file in folder.rglob(f"*.{ending}"))


def _digest(files: Iterable[Path]) -> str:
    digest = sha256()
    for file in sorted({*files}):
        digest.update(f"{file.name}\0".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:_DIGITS]


NEW = ".new"
WHOLE = ".whole"

NOTHING = Inputs(0, 0, "")
COMMAND = "classify"
_BATCH_SESSIONS = 1000


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

    def into(self, run: BatchesRun) -> None:
        """Copy what a stopped run lacks of the records."""
        for number, (sessions, entry) in enumerate(self._batches()):
            if number >= len(run.entries):
                verdicts = encode_lines(verdict for one in sessions for verdict in one.verdicts)
                beside = encode_lines(one.session for one in sessions)
                run.append_lines(verdicts, Entry(f"copied-{number}", detail=entry), beside)

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


class _ClassifyRun(Struct, frozen=True):
    """A run of `classify`: the plan, and what its pages and scores are made by."""

    plan: ClassifyPlan
    conclude: Conclude
    show: Show | None = None

    def manifest(self) -> Manifest:
        """Return the manifest of a new run, before the files are looked at; it starts now."""
        manifest = new_manifest(COMMAND, self._settings(), NOTHING, self.plan.arguments)
        return replace(manifest, sources=self._sources())

    def _settings(self) -> dict[str, Any]:
        return {"categories": list(self.plan.categories), **self.plan.rules.settings()}

    def _sources(self) -> dict[str, str]:
        return source_digests(tuple(self.plan.categories)) | self.plan.rules.digests()

    def made(
        self,
        folder: Path,
        states: Sequence[FileState],
        read: Sequence[FoundFile],
        copied: Callable[[BatchesRun], object] = lambda _run: None,
    ) -> Summary | None:
        """Make a run, or continue the one that was stopped; `None` if another process has finished it."""
        plan = self.plan
        work = partial(judge_batch, categories=tuple(plan.categories), classify=plan.classify, show=self.show)

        def conclude(summary: Summary, folder: Path) -> Mapping[str, bytes]:
            return {**self.conclude(summary, folder), FILES: encode_lines(states)}

        inputs = inputs_of_files(states)
        kind = FilesRun(COMMAND, PLACED_RECORDS, self._settings(), read, inputs, _Judge(work), conclude, copied)
        kind.sources = self._sources()
        carry_out_files(kind, folder, read, plan.spread, plan.arguments)
        return kind.summary


class _Judge(Struct, frozen=True):
    """Classifies a batch where it is; no model is asked."""

    work: Callable[..., Judged]

    async def __call__(self, batch: Batch, requests: ModelRequests) -> tuple[Judged, None]:  # noqa: ARG002
        return self.work(batch, keep_lines=True), None


def classify_into(
    paths: Sequence[Path], plan: ClassifyPlan, out: Path, conclude: Conclude, show: Show | None = None
) -> Summary | None:
    """Classify all trajectories of the files and folders `paths` into a run; `None` if it is there already.

    Of a finished run only new and changed files are read, or all if the rules changed.
    """
    check_named(paths)

    def concluded(summary: Summary, folder: Path) -> Mapping[str, bytes]:
        expect_some(summary, paths, plan.changed)
        return conclude(summary, folder)

    files = list(files_changed(found_files(paths, left_out=out), plan.changed))
    run = _ClassifyRun(plan, concluded, show)
    manifest = run.manifest()
    make_folder(out)
    complete(out)
    reopen_if_damaged(out, manifest, SESSIONS, FILES, SCORES)
    earlier = read_manifest(out)
    finished = earlier is not None and earlier.finished and not differing_settings(earlier, manifest)
    known = {state.file: state for state in _states(out)} if finished else {}
    states = [file_state(file.path, known.get(name_of(file.path))) for file in files]
    manifest = replace(manifest, inputs=inputs_of_files(states))
    if earlier is None or not finished:
        _set_back(out, manifest)
        shutil.rmtree(out / NEW, ignore_errors=True)  # of a run that was finished then: nobody makes it now
        return run.made(out, states, files)
    if _identity(earlier) == _identity(manifest):
        _clear_stopped(out)
        return None
    copy = _copy_of(out)
    names = {} if (changed := _changed_rules(earlier, manifest)) else _names_now(known, states, copy.names)
    if changed:
        say(f"misstep: {out} was made by other rules ({changed}): all is read again.")
    copy = replace(copy, names=names)
    copied = set(names.values())
    todo = [file for file, state in zip(files, states, strict=True) if state.file not in copied]
    return _replaced(earlier, out, manifest, lambda new: run.made(new, states, todo, copy.into))


def revise(
    finished: OpenRun, revised: Callable[[LabelledSession], LabelledSession], conclude: Conclude
) -> Summary | None:
    """Change the verdicts of a finished run, and its scores with them; a kill leaves it as it was, or as it becomes."""
    out = finished.folder
    copy = replace(_copy_of(out), revised=revised)
    states = list(_states(out))
    manifest = replace(finished.manifest, finished="", written=None)

    def made(new: Path) -> Summary | None:
        with RunInProgress(new, manifest, PLACED_RECORDS, Entry[BatchEntry], beside=SESSIONS) as run:
            copy.into(run)
            summary = summarise(details_of(run))
            for name, content in {**conclude(summary, new), FILES: encode_lines(states)}.items():
                replace_file(new / name, content)
            run.finish(now())
        return summary

    return _replaced(finished.manifest, out, manifest, made)


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
    standing: Manifest, out: Path, manifest: Manifest, made: Callable[[Path], Summary | None]
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
        summary = made(new)
        new.rename(out / WHOLE)
        complete(out)
        (out / PROGRESS).unlink()
    return summary


def _clear_stopped(out: Path) -> None:
    """Remove what a kill left of a run of other files, unless another process is making one."""
    if (out / NEW).exists():
        with suppress(UsageError), locked(out / PROGRESS):
            shutil.rmtree(out / NEW, ignore_errors=True)
            (out / PROGRESS).unlink()


def _set_back(folder: Path, manifest: Manifest) -> None:
    """Take away a stopped run of other files or rules."""
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


def complete(folder: Path) -> None:
    """Move the files of a whole run into place, the manifest last; a kill leaves the rest to the next process."""
    whole = folder / WHOLE
    if not whole.is_dir():
        return
    with suppress(FileNotFoundError):  # another process does the same at this moment
        for file in sorted(whole.iterdir(), key=lambda file: file.name == MANIFEST):
            file.replace(folder / file.name)
        whole.rmdir()
