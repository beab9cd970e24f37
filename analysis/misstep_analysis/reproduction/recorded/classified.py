"""Public runs as the rules and people label them, from their facts; what is measured is cached by its inputs."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from misstep_analysis.gold import read_marked_errors
from misstep_analysis.sessions.validity import JudgedSet, load_mappings, positives
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories, sources_of
from misstep_harness.catalogue import data_set
from misstep_harness.classifiers import categories, classify_all
from misstep_harness.datasets.benchmark import Facts, whole_folder
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.journal.records import replace_file
from misstep_harness.places import cache_folder
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Status, Verdict

RUN_SETS = (
    "agent_trajs",
    "agentrx",
    "codetracer_runs",
    "intercode",
    "llm_agents_study",
    "mini_swe_agent_runs",
    "taubench",
    "trail",
    "whoandwhen",
)
"""The public sets with trajectories; RepairAgent's own runs are those of llm_agents_study again."""

JUDGING = ("misstep_harness.classifiers", "misstep_harness.trajectory", "misstep_harness.verdict")
"""The code that judges runs by rule."""

GENERATED = 400
"""Number of runs where a notebook shows generated ones."""

GENERATED_SET = "generated"
"""Name of these runs, where a public set has its own."""


class Classified(Struct, frozen=True):
    """Verdicts of a study, and the number of steps of each run."""

    verdicts: tuple[Verdict, ...]
    n_steps: dict[str, int]


class ClassifiedRun(Struct, frozen=True):
    """How long a run is and what each rule says of it, nothing where it abstains; the steps follow a "yes"."""

    run: str
    n_steps: int
    infinite_loop: str = ""
    tool_call_failure: str = ""
    unrequested_changes: str = ""
    did_not_follow_instructions: str = ""


CATEGORIES = ClassifiedRun.__struct_fields__[2:]
"""The categories of which the facts of a run tell."""


class LabelledRun(Struct, frozen=True):
    """Whether people's labels make a run positive for a category (`data/mappings.toml`)."""

    category: str
    run: str
    positive: bool


class DecisiveStep(Struct, frozen=True):
    """The step at which people hold that a failure was decided."""

    run: str
    step: int


T = TypeVar("T")


def cached(study: str, name: str, type_: type[T], make: Callable[[], T]) -> T:
    """Return a study from the cache, or made and kept there under a name that has the digest of its inputs."""
    cache = cache_folder() / "studies" / study / f"{name}.msgpack"
    if cache.is_file():
        return msgspec.msgpack.decode(cache.read_bytes(), type=type_)
    value = make()
    cache.parent.mkdir(parents=True, exist_ok=True)
    replace_file(cache, msgspec.msgpack.encode(value))
    return value


def digest(files: Iterable[Path]) -> str:
    """Return a digest of some files, in their order, as part of a name in the cache."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:16]


def seed() -> int:
    """Return the seed of everything that a notebook draws: `MISSTEP_SEED`, else 0."""
    return int(os.environ.get("MISSTEP_SEED", "0"))


def _classified_runs(dataset: str, folder: Path) -> Iterator[ClassifiedRun]:
    of_set = classified(dataset, folder)
    cells = {
        (one.item, one.judge): " ".join([one.label, *map(str, one.steps)])
        for one in of_set.verdicts
        if one.label is not None
    }
    for run, n_steps in of_set.n_steps.items():
        yield ClassifiedRun(run, n_steps, *(cells.get((run, name), "") for name in CATEGORIES))


def _labelled_runs(dataset: str, folder: Path) -> Iterator[LabelledRun]:
    benchmark = benchmark_folder(dataset, folder.parent)
    for mapping in load_mappings():
        if mapping.benchmark == dataset and not mapping.decisive:
            for run, positive in positives(mapping, benchmark).items():
                yield LabelledRun(mapping.category, run, positive)


def _decisive_steps(dataset: str, folder: Path) -> Iterator[DecisiveStep]:
    for error in read_marked_errors(benchmark_folder(dataset, folder.parent)):
        if error.step is not None:
            yield DecisiveStep(error.trajectory, error.step)


def _mapped(decisive: bool) -> list[str]:
    return list(dict.fromkeys(one.benchmark for one in load_mappings() if one.decisive == decisive))


_RUNS = {name: Facts(name, "classified", ClassifiedRun, partial(_classified_runs, name), JUDGING) for name in RUN_SETS}
_LABELLED = {
    name: Facts(name, "labelled", LabelledRun, partial(_labelled_runs, name)) for name in _mapped(decisive=False)
}
_DECISIVE = {
    name: Facts(name, "decisive", DecisiveStep, partial(_decisive_steps, name)) for name in _mapped(decisive=True)
}
FACTS: tuple[Facts[Any], ...] = (*_RUNS.values(), *_LABELLED.values(), *_DECISIVE.values())
"""The tables that these sets are read from."""


def classified_sets(datasets: Sequence[str] = RUN_SETS) -> list[JudgedSet]:
    """Return every run of the data sets with what the rules and people say of it."""
    return [_judged(name) for name in datasets]


def _judged(dataset: str) -> JudgedSet:
    rows = _RUNS[dataset].rows()
    people: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in _LABELLED[dataset].rows() if dataset in _LABELLED else ():
        people[row.category][row.run] = row.positive
    decisive = {row.run: row.step for row in _DECISIVE[dataset].rows()} if dataset in _DECISIVE else {}
    return JudgedSet(
        dataset,
        version(dataset),
        tuple(_verdict(row, category) for row in rows for category in CATEGORIES),
        {row.run: row.n_steps for row in rows},
        people=people,
        decisive=decisive,
    )


def _verdict(row: ClassifiedRun, category: str) -> Verdict:
    label, *steps = getattr(row, category).split() or [None]
    status: Status = "answered" if label else "abstained"
    return Verdict(row.run, category, label, status, steps=tuple(map(int, steps)))


def example_sets() -> list[JudgedSet]:
    """Return the runs that can be shown with the rules' sentences, which quote them: those of sets that are here.

    Without any these are generated ones, and called so.
    """
    folders = {name: folder for name in RUN_SETS if (folder := whole_folder(name))}
    if folders:
        found = {name: classified(name, folder) for name, folder in folders.items()}
        return [JudgedSet(name, version(name), one.verdicts, one.n_steps) for name, one in found.items()]
    made_up = _by_rule(case.trajectory for case in generate_sessions(GENERATED, seed()))
    source = f"generated, seed {seed()}, n {GENERATED}"
    return [JudgedSet(GENERATED_SET, source, made_up.verdicts, made_up.n_steps, "generated")]


def classified(dataset: str, folder: Path) -> Classified:
    """Return the rules' verdicts on the runs of a set that is here, from the cache if they are there."""
    benchmark = benchmark_folder(dataset, folder.parent)
    runs = sorted((benchmark / "trajectories").glob("*.jsonl"))
    name = f"{dataset}-{digest([*runs, *(source for module in JUDGING for source in sources_of(module))])}"
    return cached("classified", name, Classified, lambda: _by_rule(read_trajectories(benchmark)))


def _by_rule(runs: Iterable[Trajectory]) -> Classified:
    verdicts: list[Verdict] = []
    n_steps: dict[str, int] = {}
    for run in runs:
        verdicts += classify_all(run, categories())
        n_steps[run.id] = len(run.steps)
    return Classified(tuple(verdicts), n_steps)


def version(dataset: str) -> str:
    """Return a data set's name with the commits that it is pinned to."""
    commits = [source.commit[:7] for source in data_set(dataset).sources.values()]
    return f"{dataset}@{'+'.join(commits)}"


def generated_verdicts(n: int, own_seed: int) -> tuple[list[Verdict], dict[tuple[str, str], bool]]:
    """Return verdicts on generated runs, and the truth: (run, category) → whether the misbehaviour was planted."""
    verdicts: list[Verdict] = []
    truth: dict[tuple[str, str], bool] = {}
    for case in generate_sessions(n, own_seed):
        verdicts += classify_all(case.trajectory, categories())
        truth |= {(case.trajectory.id, category): planted for category, planted in case.truth.items()}
    return verdicts, truth
