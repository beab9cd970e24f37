"""The ablation of the reflexive loop that the project keeps: made anew by `python -m studies.reflexive.ablation`."""

import argparse
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from misstep.analysis.measures.reflexive.ablation import Ablation, ablate
from misstep.analysis.measures.reflexive.scores import LoopScores
from misstep.harness.places import data_folder
from misstep.harness.progress import say
from misstep.harness.reflexive.settings import MECHANISMS
from misstep.harness.runs.reflect.ablation import AblationPlan, AblationRun, run_ablation
from misstep.studies.reflexive.runs import About, RecordedRuns, open_reflexive_run, record_runs, recordings

ABLATION = "ablation"

_AGAIN = ("snapshots", "memory")

SEEDS = 16
"""The seeds of the recording: with so many a difference that all share is told apart among all of the table."""


def recorded_ablation(folder: Path | None = None) -> RecordedRuns | None:
    """Return the project's own recording; `None` if there is none."""
    return recordings(folder).get(ABLATION)


def recorded_runs(folder: Path | None = None) -> tuple[LoopScores, ...]:
    """Return the figures of its runs; none if there is none."""
    recorded = recorded_ablation(folder)
    return () if recorded is None else recorded.runs


def ablation_of(runs: Sequence[LoopScores]) -> Ablation:
    """Return the ablation that some runs are, with mechanisms in the order of the failure modes."""
    return ablate(runs, tuple(MECHANISMS))


@cache
def made_again(seed: int = 0) -> tuple[LoopScores, ...]:
    """Some of the recorded runs made here and now: the whole loop, without one of two mechanisms, and without all."""
    # A notebook's cells run in an event loop, and a run begins one of its own: hence the thread.
    with tempfile.TemporaryDirectory(prefix="misstep-") as place, ThreadPoolExecutor(1) as thread:
        plan = AblationPlan((seed,), mechanisms=_AGAIN)
        return _scores(thread.submit(run_ablation, plan, Path(place), processes=1).result())


def not_as_recorded(made: Sequence[LoopScores], recorded: Sequence[LoopScores]) -> list[LoopScores]:
    """Return the runs made again whose figures are not those of the recorded run of the same configuration and seed."""
    known = {(run.skill, run.agents, run.without, run.seed): run for run in recorded}
    return [run for run in made if known and known.get((run.skill, run.agents, run.without, run.seed)) != run]


def record_anew(plan: AblationPlan, out: Path, about: About) -> RecordedRuns:
    """Run an ablation and record the figures of its runs."""
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        return record_runs(_scores(run_ablation(plan, Path(place))), out, about)


def _scores(runs: Sequence[AblationRun]) -> tuple[LoopScores, ...]:
    return tuple(open_reflexive_run(run.folder).scores for run in runs)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.reflexive.ablation", description="Record the ablation of the reflexive loop anew."
    )
    folder = data_folder() / "recordings" / "reflexive" / ABLATION
    parser.add_argument("--seeds", type=int, default=SEEDS, help="number of seeds")
    parser.add_argument("--out", type=Path, default=folder, help="folder of the recording")
    options = parser.parse_args()
    plan = AblationPlan(seeds=tuple(range(options.seeds)))
    about = About(
        f"{plan.agents} agents on generated items of the skill {plan.skill}, {options.seeds} seeds",
        f"python -m studies.reflexive.ablation --seeds {options.seeds}",
    )
    recorded = record_anew(plan, options.out, about)
    say(f"{len(recorded.runs)} runs: {options.out}")


if __name__ == "__main__":
    _main()
