"""A run of `classify` that is brought up to date again and again, and what each look finds that is new."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from misstep.analysis.gold import read_marked_errors
from misstep.analysis.measures.alarms import WatchedRun, watched_run
from misstep.harness.errors import NoTrajectory, writing
from misstep.harness.escaping import plain
from misstep.harness.generate.sessions import generate_sessions
from misstep.harness.journal.classified import PLACED_RECORDS, SessionFinding
from misstep.harness.journal.records import appending, read_manifest, read_records, replace_file
from misstep.harness.observer.replay import ReplayOptions, replay
from misstep.harness.progress import say
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.judging.benchmarks import benchmark_folder, read_trajectories
from misstep.studies.classified_paths import classified_findings
from misstep.studies.recorded.classified import at_hand

Key = tuple[str, int | None, str, str]
"""The key of a finding: file and line of its session, the session and the category."""

TOLD = "told.jsonl"
"""The file of a run that is watched: each finding that was told, a line each."""


def new_findings(
    paths: Sequence[Path], plan: ClassifyPlan, out: Path, *, wait: Callable[[], object]
) -> Iterator[SessionFinding]:
    """Return the findings of each look that were not there before, without end; those of the first look are all told.

    Of a run of `classify` that is all that is found from then on.
    """
    known = _reported(out)
    told = {key[2:] for key in known}  # a log that is rotated has another name, and its sessions are the same
    plan = replace(plan, arguments=[*map(str, paths), "--out", str(out)])
    waiting = False
    while True:
        try:
            reported = classified_findings(paths, plan, out).findings
            _note(out, [] if (out / TOLD).exists() else known)
        except NoTrajectory as error:
            if not waiting:
                say(f"misstep: {plain(error.line())} Waiting for the first session.")
            waiting, reported = True, []
        for one in reported:
            if (one.item, one.category) not in told:
                told.add((one.item, one.category))
                yield one
                _note(out, [(one.file, one.line, one.item, one.category)])
        wait()


def _reported(run: Path) -> set[Key]:
    """What was told of a run already: what it says itself or, when `classify` finished it, all that was found in it."""
    if (file := run / TOLD).exists():
        *lines, _ = file.read_bytes().split(b"\n")  # the last line may lack its end
        replace_file(file, b"".join(line + b"\n" for line in lines))
        return {msgspec.json.decode(line, type=Key) for line in lines}
    keys: set[Key] = set()
    manifest = read_manifest(run)
    if manifest is not None and manifest.finished:
        verdicts = read_records(run, PLACED_RECORDS)
        keys = {(one.file, one.line, one.item, one.judge) for one in verdicts if one.label == "yes"}
    return keys


def _note(run: Path, keys: Iterable[Key]) -> None:
    with writing(run / TOLD), appending(run / TOLD) as file:
        file.write(b"".join(msgspec.json.encode(key) + b"\n" for key in sorted(keys, key=str)))


ANNOTATED = ("agentrx", "trail", "whoandwhen")
STUCK: Mapping[str, str] = {"infinite_loop": "planted loops", "tool_call_failure": "planted failing calls"}
"""The categories that a detector of stuck agents is meant for → what the generated runs with them are called."""

WATCHERS: Mapping[str, ReplayOptions] = {
    "rules, asked every 5 steps": ReplayOptions("rules"),
    "rules, asked at every step": ReplayOptions("rules", every=1),
}
"""Detectors by name; Wink asks every 5 steps."""


def watched_errors(datasets: Sequence[str] = ANNOTATED) -> list[WatchedRun]:
    """Return each public run available as each detector watches it; onsets are the steps that people marked."""
    watched: list[WatchedRun] = []
    for dataset in at_hand(datasets):
        folder = benchmark_folder(dataset)
        steps: dict[str, list[int]] = {}
        marked = list(read_marked_errors(folder))
        unplaced = {error.trajectory for error in marked if error.step is None}
        for error in marked:
            if error.step is not None:
                steps.setdefault(error.trajectory, []).append(error.step)
        runs = [run for run in read_trajectories(folder) if run.id in steps or run.id not in unplaced]
        watched += [
            watched_run(dataset, watcher, replay(run, options), steps.get(run.id, ()))
            for watcher, options in WATCHERS.items()
            for run in runs
        ]
    return watched


def watched_generated(n: int, seed: int) -> list[WatchedRun]:
    """Generated runs with planted loops or failing calls as each detector watches them, among clean ones."""
    cases = [
        case for case in generate_sessions(n, seed) if STUCK.keys() & case.evidence or not any(case.truth.values())
    ]
    watched: list[WatchedRun] = []
    for watcher, options in WATCHERS.items():
        records = [replay(case.trajectory, options) for case in cases]
        for category, dataset in STUCK.items():
            for case, record in zip(cases, records, strict=True):
                onsets = case.evidence.get(category, ())[:1]
                if onsets or not any(case.truth.values()):
                    watched.append(watched_run(dataset, watcher, record, onsets))
    return watched
