"""A run of `classify` that takes new and changed files: what it found in the others stays, and they are not read again.

A finished run lists the files that it has read (`files.jsonl`). The new and changed ones become a run of their own in
the folder `.growing`, which a kill interrupts like any other. When it is done, the whole is put together in a folder
beside it, and that folder's new name, `.whole`, is what makes it count: whoever comes next moves its files into place.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.classified import (
    AskedJudge,
    BatchEntry,
    FailedClassifier,
    LabelledSession,
    Labels,
    RulesUsed,
    SessionFinding,
    Summary,
    failed_verdicts,
    finding_of,
    labelled_sessions,
    summarise,
)
from misstep.harness.journal.inputs import (
    FILE_RECORDS,
    FileState,
    differing_settings,
    file_state,
    inputs_of_files,
    name_of,
)
from misstep.harness.journal.records import (
    FILES,
    MANIFEST,
    SCORES,
    SESSION_RECORDS,
    SESSIONS,
    VERDICT_RECORDS,
    VERDICTS,
    Inputs,
    Manifest,
    encode_lines,
    now,
    read_manifest,
    replace_file,
    write_manifest,
    written_in,
)
from misstep.harness.journal.run_folder import PROGRESS, RunInProgress, locked, make_folder
from misstep.harness.progress import say
from misstep.harness.readers import FoundFile
from misstep.harness.runs.opened import OpenRun
from misstep.harness.trajectory import Skipped, Unreadable
from misstep.harness.verdict import Verdict

GROWING = ".growing"
WHOLE = ".whole"
_BUILDING = ".building"

NOTHING = Inputs(0, 0, "")
Run = RunInProgress[Verdict, BatchEntry]

ClassifyInto = Callable[[Run, Sequence[FoundFile], Iterable[str]], None]
"""Classify files into a run; the ids are taken by earlier sessions."""

Conclude = Callable[[Summary, Path], Mapping[str, bytes]]


class _LeftOut(Struct, frozen=True):
    """What the scores of a run say of files that are not sessions."""

    unreadable: list[Unreadable]
    skipped: list[Skipped]
    renamed: int


def run_that_grows(
    out: Path, manifest: Manifest, files: Sequence[FoundFile], classify_into: ClassifyInto, conclude: Conclude
) -> Summary | None:
    """Make a run of files, or bring the one that is in a folder up to date; `None` if nothing is new."""
    make_folder(out)
    complete(out)
    earlier = read_manifest(out)
    if earlier is None or not earlier.finished or differing_settings(earlier, manifest):
        read = [file_state(file.path) for file in files]
        manifest = structs.replace(manifest, inputs=inputs_of_files(read))
        return run_of(out, manifest, read, lambda run: classify_into(run, files, ()), conclude)
    if not (out / FILES).is_file():
        earlier_kind = f"{out} holds a run of an earlier Misstep, which did not note its files"
        raise UsageError(earlier_kind, "Name another folder for the run.")
    finished = OpenRun(out, earlier)
    known = {state.file: state for state in finished.read(FILE_RECORDS, unfinished=False)}
    as_read = known
    if earlier.misstep != manifest.misstep:
        say(f"misstep: {out} is of Misstep {earlier.misstep} and this is {manifest.misstep}: all is read again.")
        as_read = {}
    there = [file_state(file.path, as_read.get(name_of(file.path))) for file in files]
    contents = {name: (state.bytes, state.checksum) for name, state in as_read.items()}
    fresh = {state.file: state for state in there if contents.get(state.file) != (state.bytes, state.checksum)}
    if not fresh:
        return None
    states = known | fresh
    new = len(states) - len(known)
    say(f"misstep: {new:,} new and {len(fresh) - new:,} changed files; the other {len(states) - len(fresh):,} stay.")
    todo = [file for file, state in zip(files, there, strict=True) if state.file in fresh]
    with _growing(out / GROWING, structs.replace(manifest, inputs=inputs_of_files(fresh.values()))) as run:
        sessions = finished.read(SESSION_RECORDS, unfinished=False)
        classify_into(run, todo, (session.item for session in sessions if session.file not in fresh))
        whole = structs.replace(manifest, started=earlier.started, inputs=inputs_of_files(states.values()))
        summary = _put_together(finished, run, set(fresh), whole, states.values(), conclude)
    complete(out)
    return summary


def run_of(
    folder: Path,
    manifest: Manifest,
    states: Sequence[FileState],
    classify_into: Callable[[Run], None],
    conclude: Conclude,
) -> Summary | None:
    """Make a run of files, or continue the one that was stopped; `None` if it is finished."""
    make_folder(folder)
    earlier = read_manifest(folder)
    stopped = earlier is not None and not earlier.finished and not differing_settings(earlier, manifest)
    if earlier is not None and stopped and earlier.inputs != manifest.inputs:
        say("misstep: files changed since this run was stopped; it begins anew.")
        with locked(folder / PROGRESS):
            for name in (VERDICTS, SESSIONS, MANIFEST, PROGRESS):
                (folder / name).unlink(missing_ok=True)
    with RunInProgress(folder, manifest, VERDICT_RECORDS, BatchEntry) as run:
        if run.finished:
            return None
        classify_into(run)
        summary = summarise(run.entries)
        _write_all(folder, conclude(summary, folder), states)
        run.finish(now())
    return summary


def _as_it_is(one: LabelledSession) -> LabelledSession:
    return one


def revise(finished: OpenRun, revised: Callable[[LabelledSession], LabelledSession], conclude: Conclude) -> Summary:
    """Change the verdicts of a finished run, and its scores with them; a kill leaves it as it was, or as it becomes."""
    building = _building_in(finished.folder)
    summary = summarise([_copied(finished, building, frozenset(), revised)])
    states = list(finished.read(FILE_RECORDS, unfinished=False))
    _put_in_place(finished.folder, building, finished.manifest, conclude(summary, building), states)
    complete(finished.folder)
    return summary


def _building_in(folder: Path) -> Path:
    building = folder / _BUILDING
    if building.exists():
        shutil.rmtree(building)
    make_folder(building)
    return building


def _put_in_place(
    folder: Path, building: Path, manifest: Manifest, files: Mapping[str, bytes], states: Iterable[FileState]
) -> None:
    _write_all(building, files, states)
    write_manifest(building, structs.replace(manifest, finished=now(), written=written_in(building, VERDICTS)))
    building.rename(folder / WHOLE)


def _growing(folder: Path, manifest: Manifest) -> Run:
    """Begin or continue the run of the new files; one of files that have changed since is thrown away."""
    begun = read_manifest(folder) if folder.is_dir() else None
    if begun is not None and (begun.inputs, begun.misstep) != (manifest.inputs, manifest.misstep):
        make_folder(folder)
        with locked(folder / PROGRESS):
            shutil.rmtree(folder)
    return RunInProgress(folder, manifest, VERDICT_RECORDS, BatchEntry)


def _copied(
    run: OpenRun, building: Path, fresh: Set[str], revised: Callable[[LabelledSession], LabelledSession] = _as_it_is
) -> BatchEntry:
    """Copy the records of all files but the fresh ones, revised where that is asked for, and count them."""
    file = run.folder / SCORES
    try:
        left_out = msgspec.json.decode(file.read_bytes(), type=_LeftOut)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"the scores of a finished run cannot be read: {error}"
        raise InputError(message, "Name another folder for the run.", file=file) from error
    patterns: Counter[Labels] = Counter()
    sub_agents: Counter[Labels] = Counter()
    findings: list[SessionFinding] = []
    failed: list[FailedClassifier] = []
    rules: Counter[str] = Counter()
    questions: Counter[tuple[str, str, str | None, bool]] = Counter()
    generated = 0
    with (building / SESSIONS).open("wb") as sessions, (building / VERDICTS).open("wb") as verdicts:
        for one in map(revised, labelled_sessions(run.folder)):
            if one.session.file in fresh:
                continue
            rules.update(one.session.rules)
            generated += one.session.evidence == "generated"
            for verdict in one.verdicts:
                if verdict.by:
                    questions[verdict.judge, verdict.by, verdict.model, verdict.label is not None] += 1
            sessions.write(encode_lines([one.session]))
            verdicts.write(encode_lines(one.verdicts))
            (patterns if one.session.parent is None else sub_agents)[one.labels] += 1
            findings += [finding_of(verdict) for verdict in one.verdicts if verdict.label == "yes"]
            failed += failed_verdicts(one.verdicts)
    unreadable = [one for one in left_out.unreadable if one.file not in fresh]
    skipped = [one for one in left_out.skipped if one.file not in fresh]
    counts = list(patterns.items()), list(sub_agents.items())
    used = [RulesUsed(*one) for one in rules.items()]
    judges = [
        AskedJudge(*named, questions[*named, True] + questions[*named, False], questions[*named, True])
        for named in dict.fromkeys(key[:3] for key in questions)
    ]
    entry = BatchEntry(*counts, findings, unreadable, skipped, left_out.renamed, failed)
    return structs.replace(entry, rules=used, judges=judges, generated=generated)


def _put_together(
    finished: OpenRun,
    growing: Run,
    fresh: set[str],
    manifest: Manifest,
    states: Iterable[FileState],
    conclude: Conclude,
) -> Summary:
    """Put the unchanged and the new records together in a folder beside the finished run's files."""
    building = _building_in(finished.folder)
    entries = [_copied(finished, building, fresh), *growing.entries]
    for name in (VERDICTS, SESSIONS):
        with (growing.folder / name).open("rb") as source, (building / name).open("ab") as target:
            shutil.copyfileobj(source, target)
    summary = summarise(entries)
    _put_in_place(finished.folder, building, manifest, conclude(summary, building), states)
    return summary


def _write_all(folder: Path, files: Mapping[str, bytes], states: Iterable[FileState]) -> None:
    for name, content in {**files, FILES: encode_lines(states)}.items():
        replace_file(folder / name, content)


def complete(folder: Path) -> None:
    """Move the files of a whole that is ready into place, the manifest last; a kill leaves the rest to the next one."""
    whole = folder / WHOLE
    if not whole.is_dir():
        return
    with suppress(FileNotFoundError):  # another command does the same at this moment
        for file in sorted(whole.iterdir(), key=lambda one: one.name == MANIFEST):
            file.replace(folder / file.name)
        whole.rmdir()
    shutil.rmtree(folder / GROWING, ignore_errors=True)
