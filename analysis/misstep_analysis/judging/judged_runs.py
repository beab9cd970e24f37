"""Open runs of judges, finished or not, with the benchmark that they were about.

A run says where its benchmark lay; if that folder is gone, a public set of that name is built again, and any other is
to be named.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import field

from misstep_analysis.gold import (
    BenchmarkItem,
    Construction,
    GoldLabel,
    families_of,
    read_constructions,
    read_gold,
    read_subcategories,
)
from misstep_analysis.tables.wording import counted_text
from misstep_harness.benchmarks import benchmark_named
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.fault_mappings import FAULTS
from misstep_harness.items import Question, read_items, read_question
from misstep_harness.journal.inputs import difference
from misstep_harness.journal.opened import OpenRun, check_named_once, distinct_names, open_of
from misstep_harness.journal.records import read_pair_verdicts, read_verdicts
from misstep_harness.progress import say
from misstep_harness.triage.records import read_triage_verdicts
from misstep_harness.verdict import Verdict

JUDGED = "judge run"


class JudgedRun(OpenRun, frozen=True):
    """A run of a judge and what it was about.

    - `verdicts`: The last of each item, in the order of the benchmark, whichever was answered first.
    - `subcategories`, `constructions`: What more is known of triage cases; empty of all other items.
    """

    benchmark: Path
    question: Question
    verdicts: tuple[Verdict, ...]
    gold: tuple[GoldLabel, ...]
    items: tuple[BenchmarkItem, ...]
    subcategories: tuple[GoldLabel, ...] = ()
    constructions: dict[str, Construction] = field(default_factory=dict)

    @property
    def judge(self) -> str:
        """The name of the judge."""
        return str(self.manifest.settings.get("judge", self.name))

    @property
    def failed(self) -> int:
        """Return how many items failed: they have no label."""
        return sum(verdict.status == "failed" for verdict in self.verdicts)

    @property
    def is_triage(self) -> bool:
        """Return whether the judge was asked whose fault runs are."""
        return asks_whose_fault(self.question)

    @property
    def unfinished(self) -> str:
        """Return how far an unfinished run is, as a clause; empty of one that is finished."""
        if self.manifest.finished:
            return ""
        of_these = f", {self.failed:,} of them failed" if self.failed else ""
        return f"is not finished: it has verdicts on {counted_text(len(self.verdicts), 'item')} so far{of_these}"

    @property
    def clusters(self) -> dict[str, str]:
        """Item → the run or other thing that it hangs together with others by."""
        from misstep_analysis.judging.sample import clusters_of  # numpy comes with it

        return clusters_of(self.items) | families_of(self.constructions)


def asks_whose_fault(question: Question) -> bool:
    """Return whether a benchmark asks whose fault runs are, in the words of the taxonomy."""
    return question.kind == "triage" and bool(question.labels) and set(FAULTS).issuperset(question.labels)


def open_run(folder: Path, benchmark: str = "", data: Path | None = None) -> JudgedRun:
    """Return the run in a folder, with its benchmark."""
    return judged_run(open_of(folder, JUDGED), benchmark, data)


def judged_run(run: OpenRun, benchmark: str = "", data: Path | None = None) -> JudgedRun:
    """Return a run of a judge with its benchmark and its verdicts."""
    where = benchmark_of_run(run, benchmark, data)
    question = read_question(where)
    read = read_pair_verdicts if question.kind == "pair" else read_verdicts
    read = read_triage_verdicts if asks_whose_fault(question) else read
    last: dict[str, Verdict] = {verdict.item: verdict for verdict in read(run.folder, unfinished=True)}
    items = tuple(read_items(where, BenchmarkItem))
    # Sums of fractions depend on their order in the last digit: a run that was stopped scores as one that was not.
    place = {item.id: number for number, item in enumerate(items)}
    verdicts = tuple(sorted(last.values(), key=lambda verdict: place.get(verdict.item, len(place))))
    gold, finer = tuple(read_gold(where, place)), (read_subcategories(where), read_constructions(where))
    return JudgedRun(run.folder, run.manifest, where, question, verdicts, gold, items, *finer)


def open_runs(folders: Sequence[Path], benchmark: str = "", data: Path | None = None) -> dict[str, JudgedRun]:
    """Open several runs on one benchmark by distinct names; those that are not whole are named on stderr."""
    check_named_once(folders)
    runs = [open_run(folder, benchmark, data) for folder in folders]
    check_one_benchmark(runs)
    warn_incomplete(runs)
    return dict(zip(distinct_names(folders), runs, strict=True))


def warn_incomplete(runs: Sequence[JudgedRun]) -> None:
    """Say on stderr which runs are not finished or have failed items: what they lack is not missing by chance."""
    for run in runs:
        who = f"misstep: the run {plain(str(run.folder))}"
        if run.unfinished:
            say(f"{who} {run.unfinished}, of the {len(run.items):,} of the benchmark. Its figures may change.")
        elif run.failed:
            items = counted_text(len(run.verdicts), "item")
            say(f"{who} has no label of {run.failed:,} of its {items}, on which the judge failed.")


def benchmark_of_run(run: OpenRun, named: str = "", data: Path | None = None) -> Path:
    """Return the folder of the benchmark that a run was about."""
    where = _benchmark(run, named, data)
    # A run of an agent that is not kept any longer is not another run: its verdicts stay.
    differs = difference(run.manifest.inputs, inputs_of(where), gone=False)
    if differs:
        message = f"the benchmark in {where} has changed since the run {run.folder}: {differs}"
        raise UsageError(message, "Restore the benchmark, name the right one with --benchmark, or run the judge again.")
    return where


def _benchmark(run: OpenRun, named: str, data: Path | None) -> Path:
    if named:
        return benchmark_named(named, data)
    place = run.manifest.folder
    if place and (Path(place) / "items.jsonl").exists():
        return Path(place)
    from misstep_harness.benchmarks.folders import benchmark_folder

    name = run.requested("benchmark")
    try:
        return benchmark_folder(name, data)
    except UsageError as error:
        message = f"the benchmark {name!r} of the run {run.folder} is no longer in {place or 'its folder'}"
        raise UsageError(message, "Name it with --benchmark.") from error


def check_one_benchmark(runs: Sequence[JudgedRun]) -> None:
    """Refuse runs that were not asked about the same items, or that are held against different gold labels."""
    first = runs[0]
    for other in runs[1:]:
        differs = difference(first.manifest.inputs, other.manifest.inputs)
        if differs:
            questions = [f"{run.folder} is about {run.question.name}" for run in (first, other)]
            version = f" in another version ({differs})" if first.question.name == other.question.name else ""
            message = f"the runs are on different benchmarks: {questions[0]}, {questions[1]}{version}"
            raise UsageError(message, "Compare runs of one benchmark.")
        if set(other.gold) != set(first.gold):
            message = f"the gold labels of {first.folder} and {other.folder} differ"
            raise UsageError(message, "Name one benchmark for both with --benchmark.")


def names_of_judges(runs: Sequence[JudgedRun]) -> list[str]:
    """Return the names of a report's runs: by the judge, with its model or else its folder if two are alike."""
    judges = [run.judge for run in runs]
    models = [run.manifest.settings.get("model") for run in runs]
    labels = [f"{judge} with {model}" if model else judge for judge, model in zip(judges, models, strict=True)]
    for names in (judges, labels):
        if len(set(names)) == len(names):
            return names
    folders = distinct_names([run.folder for run in runs])
    return [f"{name} ({folder})" for name, folder in zip(labels, folders, strict=True)]


def votes_of(run: JudgedRun) -> int:
    """Return how many votes each item got that its score is a share of; 1 where scores are means of what votes say."""
    votes = run.manifest.settings.get("votes", 1)
    counted = run.manifest.settings.get("aggregate", "majority") == "majority"
    return votes if counted and isinstance(votes, int) else 1
