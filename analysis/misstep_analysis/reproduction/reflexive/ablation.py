"""The ablations of the reflexive loop that the project keeps: made anew by `python -m studies.reflexive.ablation`."""

import argparse
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from misstep_analysis.reflexive.ablation import Ablation, ablate
from misstep_analysis.reflexive.runs import About, RecordedRuns, open_reflexive_run, record_runs, recordings
from misstep_analysis.reflexive.scores import LoopScores
from misstep_harness.places import data_folder
from misstep_harness.progress import say
from misstep_harness.reflexive.records import MECHANISMS, ItemLimits, LoopSettings
from misstep_harness.reflexive.runs.running import AblationPlan, AblationRun, run_ablation
from misstep_harness.reflexive.runs.skills import SkillOptions

ABLATION, HARDENING, PLATEAU = "ablation", "hardening", "plateau"

_AGAIN = ("snapshots", "memory")
_OF_FAILURE_MODES = tuple(MECHANISMS)[:9]
_RULES = 5
_TARGET = Path(__file__).resolve().parents[4] / "examples/hardening/target.toml"

PLANS = {
    ABLATION: AblationPlan(tuple(range(16))),
    HARDENING: AblationPlan(
        tuple(range(12)),
        "command",
        SkillOptions(_RULES, target=_TARGET),
        "scripted",
        _OF_FAILURE_MODES,
        LoopSettings(ItemLimits(300.0)),
    ),
    PLATEAU: AblationPlan(
        tuple(range(16)),
        mechanisms=("plateau_by_content",),
        settings=LoopSettings(ItemLimits(400.0), failures_between=5),
    ),
}
"""Recording → its runs. With so many seeds a difference that all share is told apart among all of a table. The dials of
`plateau` were chosen on the seeds 100 to 105, which are not among its own."""

_TITLES = {
    ABLATION: "mixed agents on generated items of the skill simulated, {seeds} seeds",
    HARDENING: f"scripted lines on {_RULES} items of examples/hardening, run in the sandbox, {{seeds}} seeds",
    PLATEAU: "mixed agents on generated items of 400 seconds, the strategist asked after 5 failures, {seeds} seeds",
}


def recorded_ablation(folder: Path | None = None, name: str = ABLATION) -> RecordedRuns | None:
    """Return the project's own recording of a name; `None` if there is none."""
    return recordings(folder).get(name)


def recorded_runs(folder: Path | None = None, name: str = ABLATION) -> tuple[LoopScores, ...]:
    """Return the figures of its runs; none if there is none."""
    recorded = recorded_ablation(folder, name)
    return () if recorded is None else recorded.runs


def ablation_of(runs: Sequence[LoopScores]) -> Ablation:
    """Return the ablation that some runs are, with mechanisms in the order of the failure modes."""
    return ablate(runs, tuple(MECHANISMS))


@cache
def made_again(seed: int = 0, name: str = ABLATION) -> tuple[LoopScores, ...]:
    """Some of the recorded runs made here and now: the whole loop, without one or two mechanisms, and without all."""
    plan = PLANS[name]
    again = replace(plan, seeds=(seed,), mechanisms=_AGAIN if name == ABLATION else plan.mechanisms[:1])
    # A notebook's cells run in an event loop, and a run begins one of its own: hence the thread.
    with tempfile.TemporaryDirectory(prefix="misstep-") as place, ThreadPoolExecutor(1) as thread:
        return _scores(thread.submit(run_ablation, again, Path(place), processes=1).result())


def not_as_recorded(runs: Sequence[LoopScores], recorded: Sequence[LoopScores]) -> list[LoopScores]:
    """Return the runs made again whose figures are not those of the recorded run of the same configuration and seed."""
    known = {(run.skill, run.agents, run.without, run.seed): run for run in recorded}
    return [run for run in runs if known and known.get((run.skill, run.agents, run.without, run.seed)) != run]


def record_anew(plan: AblationPlan, out: Path, about: About, runs: Path | None = None) -> RecordedRuns:
    """Run an ablation, or go on with the one in `runs`, and record the figures of its runs."""
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        return record_runs(_scores(run_ablation(plan, runs or Path(place))), out, about)


def _scores(runs: Sequence[AblationRun]) -> tuple[LoopScores, ...]:
    return tuple(open_reflexive_run(run.folder).scores for run in runs)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.reflexive.ablation", description="Record an ablation of the reflexive loop anew."
    )
    parser.add_argument("name", nargs="?", default=ABLATION, choices=PLANS, help="recording")
    parser.add_argument("--seeds", type=int, help="number of seeds")
    parser.add_argument("--out", type=Path, help="folder of the recording")
    parser.add_argument("--runs", type=Path, help="folder of the runs, which are gone on with and stay")
    options = parser.parse_args()
    plan = PLANS[options.name]
    plan = replace(plan, seeds=tuple(range(options.seeds or len(plan.seeds))))
    seeds = len(plan.seeds)
    command = f"python -m studies.reflexive.ablation {options.name} --seeds {seeds}"
    out = options.out or data_folder() / "recordings" / "reflexive" / options.name
    recorded = record_anew(plan, out, About(_TITLES[options.name].format(seeds=seeds), command), options.runs)
    say(f"{len(recorded.runs)} runs: {out}")


if __name__ == "__main__":
    _main()
