"""Detectors put before the same recordings: when each would have raised an alarm, beside when the problem began.

Recordings are generated runs with planted loops and failing calls among look-alikes, and public runs in which people
marked errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

from misstep.analysis.gold import read_marked_errors
from misstep.analysis.measures.alarms import WatchedRun, watched_run
from misstep.harness.generate.sessions import generate_sessions
from misstep.harness.observer.replay import ReplayOptions, replay
from misstep.harness.runs.judging.benchmarks import benchmark_folder, read_trajectories
from misstep.studies.recorded.classified import at_hand

ANNOTATED = ("agentrx", "trail", "whoandwhen")
"""Public sets in whose runs people marked the steps of errors."""

STUCK: Mapping[str, str] = {"infinite_loop": "planted loops", "tool_call_failure": "planted failing calls"}
"""The categories that a detector of stuck agents is meant for → what the generated runs with them are called."""

WATCHERS: Mapping[str, ReplayOptions] = {
    "rules, asked every 5 steps": ReplayOptions("rules"),
    "rules, asked at every step": ReplayOptions("rules", every=1),
    "openhands_stuck, asked at every step": ReplayOptions("openhands_stuck", every=1),
}
"""Detectors by name. Wink asks every 5 steps, OpenHands its own detector at every step."""


def watched_errors(datasets: Sequence[str] = ANNOTATED) -> list[WatchedRun]:
    """Return each public run available as each detector watches it; onsets are the steps that people marked."""
    return list(_watched_errors(datasets))


def _watched_errors(datasets: Sequence[str]) -> Iterator[WatchedRun]:
    for dataset in at_hand(datasets):
        folder = benchmark_folder(dataset)
        steps: dict[str, list[int]] = {}
        unplaced = set()
        for error in read_marked_errors(folder):
            if error.step is None:
                unplaced.add(error.trajectory)
            else:
                steps.setdefault(error.trajectory, []).append(error.step)
        runs = [run for run in read_trajectories(folder) if run.id in steps or run.id not in unplaced]
        for watcher, options in WATCHERS.items():
            for run in runs:
                yield watched_run(dataset, watcher, replay(run, options), steps.get(run.id, ()))


def watched_generated(n: int, seed: int) -> tuple[list[WatchedRun], dict[str, float]]:
    """Generated runs with planted loops or failing calls as each detector watches them, among clean ones."""
    cases = [
        case for case in generate_sessions(n, seed) if STUCK.keys() & case.evidence or not any(case.truth.values())
    ]
    taken = sum(step.role == "agent" for case in cases for step in case.trajectory.steps)
    watched: list[WatchedRun] = []
    milliseconds: dict[str, float] = {}
    for watcher, options in WATCHERS.items():
        started = perf_counter()
        records = [replay(case.trajectory, options) for case in cases]
        milliseconds[watcher] = 1000 * (perf_counter() - started) / taken
        for category, dataset in STUCK.items():
            for case, record in zip(cases, records, strict=True):
                onsets = case.evidence.get(category, ())[:1]
                if onsets or not any(case.truth.values()):
                    watched.append(watched_run(dataset, watcher, record, onsets))
    return watched, milliseconds
