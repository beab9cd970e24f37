"""Runs that people marked and generated ones, as detectors of stuck agents watch them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from misstep_analysis.gold import read_marked_errors
from misstep_analysis.observer.alarms import WatchedRun, watched_run
from misstep_analysis.reproduction.recorded.classified import JUDGING
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories
from misstep_harness.datasets.benchmark import Facts
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.observer.replay import ReplayOptions, replay

ANNOTATED = ("agentrx", "trail", "whoandwhen")
STUCK: Mapping[str, str] = {"infinite_loop": "planted loops", "tool_call_failure": "planted failing calls"}
"""The categories that a detector of stuck agents is meant for → what the generated runs with them are called."""

WATCHERS: Mapping[str, ReplayOptions] = {
    "rules, asked every 5 steps": ReplayOptions("rules"),
    "rules, asked at every step": ReplayOptions("rules", every=1),
}
"""Detectors by name; Wink asks every 5 steps."""


class WatchedSteps(Struct, frozen=True):
    """A run as a detector watched it: the steps that people marked, and those of the detector's alarms."""

    detector: str
    run: str
    n_steps: int
    onsets: str = ""
    alarms: str = ""


def _watched(dataset: str, folder: Path) -> Iterator[WatchedSteps]:
    benchmark = benchmark_folder(dataset, folder.parent)
    steps: dict[str, list[int]] = {}
    marked = list(read_marked_errors(benchmark))
    unplaced = {error.trajectory for error in marked if error.step is None}
    for error in marked:
        if error.step is not None:
            steps.setdefault(error.trajectory, []).append(error.step)
    runs = [run for run in read_trajectories(benchmark) if run.id in steps or run.id not in unplaced]
    for watcher, options in WATCHERS.items():
        for run in runs:
            one = watched_run(dataset, watcher, replay(run, options), steps.get(run.id, ()))
            marks, alarms = (" ".join(map(str, places)) for places in (one.onsets, one.alarms))
            yield WatchedSteps(watcher, one.run, one.n_steps, marks, alarms)


_WATCHED = {
    name: Facts(name, "alarms", WatchedSteps, partial(_watched, name), ("misstep_harness.observer", *JUDGING))
    for name in ANNOTATED
}
FACTS = tuple(_WATCHED.values())
"""The tables that these sets are read from."""


def watched_errors(datasets: Sequence[str] = ANNOTATED) -> list[WatchedRun]:
    """Return each public run as each detector watches it; onsets are the steps that people marked."""
    return [
        WatchedRun(name, row.detector, row.run, row.n_steps, _steps(row.onsets), _steps(row.alarms))
        for name in datasets
        for row in _WATCHED[name].rows()
    ]


def _steps(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


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
