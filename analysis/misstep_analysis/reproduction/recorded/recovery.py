"""Follow the loops in public runs: the study behind Wink's question of recovery without intervention.

A loop begins at the step at which an observer of the running agent could first have seen it; its call is looked for in
the steps that follow.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.observer.paper.unaided import Loop
from misstep_analysis.reproduction.recorded.classified import JUDGING, RUN_SETS, classified, version
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories
from misstep_harness.classifiers import infinite_loop
from misstep_harness.datasets.facts import Facts
from misstep_harness.trajectory import Trajectory


class FollowedLoop(Struct, frozen=True):
    """After how many of the agent's steps the call of a run's loop came back, if it did, and how many followed."""

    run: str
    left: int
    again: int | None = None


def _followed(dataset: str, folder: Path) -> Iterator[FollowedLoop]:
    shown = {
        verdict.item: verdict.steps
        for verdict in classified(dataset, folder).verdicts
        if verdict.judge == infinite_loop.CATEGORY and verdict.label == "yes"
    }
    for trajectory in read_trajectories(benchmark_folder(dataset, folder.parent)) if shown else ():
        start = first_seen(trajectory, shown.get(trajectory.id, ()))
        if start is not None and trajectory.steps[start].calls:
            again, left = what_followed(trajectory, start)
            yield FollowedLoop(trajectory.id, left, again)


_LOOPS = {name: Facts(name, "loops", FollowedLoop, partial(_followed, name), JUDGING) for name in RUN_SETS}
FACTS = tuple(_LOOPS.values())
"""The tables that these sets are read from."""


def unaided_loops(datasets: Sequence[str] = RUN_SETS) -> list[Loop]:
    """Return what came after each loop of calls in the runs of the data sets."""
    return [Loop(name, version(name), row.run, row.again, row.left) for name in datasets for row in _LOOPS[name].rows()]


def first_seen(trajectory: Trajectory, candidates: Sequence[int]) -> int | None:
    """Return the first of some steps up to which the rule finds a loop, had the run gone no further."""

    def is_loop(step: int) -> bool:
        so_far = structs.replace(trajectory, steps=trajectory.steps[: step + 1])
        return infinite_loop.classify(so_far).label == "yes"

    return next(filter(is_loop, candidates), None)


def what_followed(trajectory: Trajectory, start: int) -> tuple[int | None, int]:
    """Return after how many of the agent's steps a call came back (`None` if never), and how many followed."""
    calls = [(call.name, call.arguments) for call in trajectory.steps[start].calls]
    later = [step for step in trajectory.steps[start + 1 :] if step.role == "agent"]
    again = (
        place
        for place, step in enumerate(later, start=1)
        if any((call.name, call.arguments) in calls for call in step.calls)
    )
    return next(again, None), len(later)
