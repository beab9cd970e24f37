"""Show the runs that tables give as examples, each as a page beside the notebooks' pages, its evidence marked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from misstep_analysis.pages.foot import Foot
from misstep_analysis.pages.notebooks.origins import example_address
from misstep_analysis.reproduction.recorded.classified import GENERATED, GENERATED_SET, version
from misstep_analysis.sessions.trajectory_page import trajectory_page
from misstep_analysis.tables import Table
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories
from misstep_harness.classifiers import classify_all
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.trajectory import Trajectory


def example_pages(
    tables: Sequence[Table], command: str, seed: int, data: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Return the page of every run that a row is an example of: address beside the page of the table, content."""
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for example in (row.example for table in tables for row in table.rows if row.example):
        dataset, _, id_ = example.rpartition("#")[0].partition("/")
        wanted[dataset][id_] = example_address(example).partition("#")[0]
    for dataset, addresses in sorted(wanted.items()):
        is_set = dataset != GENERATED_SET
        foot = Foot(command, inputs=(version(dataset),) if is_set else (), seed=seed)
        generated = (case.trajectory for case in generate_sessions(GENERATED, seed))
        runs = read_trajectories(benchmark_folder(dataset, data)) if is_set else generated
        for run in _first_of_each(runs, set(addresses)):
            yield addresses[run.id], trajectory_page(run, classify_all(run), foot)


def _first_of_each(runs: Iterable[Trajectory], ids: set[str]) -> Iterator[Trajectory]:
    """Return the runs of those ids; of the others nothing is kept, and nothing is read once all are found."""
    for run in runs:
        if run.id in ids:
            ids.remove(run.id)
            yield run
        if not ids:
            return
