"""Put recorded verdicts of real judges beside what people said."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from misstep_analysis.gold import BenchmarkItem, read_gold, read_marked_errors
from misstep_analysis.judging.judged import JudgedItems, JudgedMarks
from misstep_analysis.judging.people.marked import Mark
from misstep_analysis.judging.people.ratings import JudgedRatings
from misstep_analysis.judging.sample import clusters_of
from misstep_analysis.reproduction.recorded.classified import version
from misstep_harness.benchmarks.folders import benchmark_folder, recorded_set
from misstep_harness.datasets import RECORDED, recorded_verdicts
from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.datasets.facts import Facts, from_recorded, whole_folder
from misstep_harness.datasets.judged import agent_as_a_judge, trail_judges
from misstep_harness.datasets.judged.trail_judges import answers, judge_ratings, people_ratings
from misstep_harness.items import read_items
from misstep_harness.verdict import Verdict

AGENT_JUDGE = "agent_as_a_judge"
"""The set whose judge says whether what an agent built meets a requirement."""

MARKED = "trail"
"""The set whose judges mark errors in runs."""

DATASETS = tuple(RECORDED)
"""The sets with recorded verdicts."""


FACTS: tuple[Facts[Any], ...] = (*agent_as_a_judge.FACTS, *trail_judges.FACTS)
"""The tables that these sets are read from."""


def _folder(dataset: str) -> Path:
    """Return the folder of a set that is here whole, and says what is recorded; else that of its recorded facts."""
    for facts in FACTS:
        if facts.dataset == dataset:
            facts.rows()
    return whole_folder(dataset) or recorded_set(dataset)


def _benchmark(dataset: str) -> Path:
    return benchmark_folder(dataset, _folder(dataset).parent)


def notes() -> tuple[str, ...]:
    """Say which of these sets are not measured here."""
    return from_recorded(DATASETS)


def judged_by_developer() -> list[JudgedItems]:
    """Return the agent judge of Agent-as-a-Judge on what each developer agent built."""
    folder = _benchmark(AGENT_JUDGE)
    developer_of = {item.id: str(item.extra["developer_agent"]) for item in read_items(folder, BenchmarkItem)}
    groups: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for judge, verdicts in recorded_verdicts(AGENT_JUDGE, _folder(AGENT_JUDGE)).items():
        for verdict in verdicts:
            groups[judge.replace("_", " "), developer_of[verdict.item]].append(verdict)
    return list(_judged(AGENT_JUDGE, folder, groups))


def agent_judge() -> list[tuple[JudgedItems, tuple[BenchmarkItem, ...]]]:
    """Return the agent judge of Agent-as-a-Judge on all it was asked, with the items."""
    folder = _benchmark(AGENT_JUDGE)
    recorded = recorded_verdicts(AGENT_JUDGE, _folder(AGENT_JUDGE))
    groups = {(judge.replace("_", " "), ""): list(verdicts) for judge, verdicts in recorded.items()}
    items = tuple(read_items(folder, BenchmarkItem))
    return [(judged, items) for judged in _judged(AGENT_JUDGE, folder, groups)]


def judged_by_category() -> list[JudgedItems]:
    """Return TRAIL's judges on whether a trace has an error of a category."""
    recorded = recorded_verdicts(MARKED, _folder(MARKED))
    groups = {_model_and_source(judge): list(verdicts) for judge, verdicts in recorded.items()}
    return list(_judged(MARKED, _benchmark(MARKED), groups))


def marked_runs() -> list[JudgedMarks]:
    """Return the errors that TRAIL's judges named, and those that people marked."""
    folder = _benchmark(MARKED)
    people: dict[str, set[Mark]] = {str(item.extra["trace"]): set() for item in read_items(folder, BenchmarkItem)}
    for error in read_marked_errors(folder):
        people[error.trajectory].add((error.location, error.label))
    marked = {trace: frozenset(marks) for trace, marks in people.items()}
    judged = []
    for judge, verdicts in answers(_folder(MARKED)).items():
        named = {
            one.trace: tuple((error.location, error.category) for error in one.errors)
            if one.status == "answered"
            else None
            for one in verdicts
        }
        judged.append(JudgedMarks(" on ".join(_model_and_source(judge)), MARKED, version(MARKED), marked, named))
    return judged


def rated_runs() -> list[JudgedRatings]:
    """Return the ratings that TRAIL's judges and people gave the same traces."""
    people = people_ratings(_folder(MARKED))
    return [
        JudgedRatings(" on ".join(_model_and_source(judge)), MARKED, version(MARKED), people, ratings)
        for judge, ratings in judge_ratings(_folder(MARKED)).items()
    ]


def _judged(dataset: str, folder: Path, groups: dict[tuple[str, str], list[Verdict]]) -> Iterator[JudgedItems]:
    benchmark = read_benchmark(folder)
    gold, clusters = list(read_gold(folder)), clusters_of(read_items(folder, BenchmarkItem))
    for (judge, part), verdicts in groups.items():
        judged = {verdict.item for verdict in verdicts}
        yield JudgedItems(
            judge=judge,
            dataset=dataset,
            source=version(dataset),
            verdicts=tuple(verdicts),
            gold=tuple(row for row in gold if row.item in judged),
            clusters=clusters,
            labels=tuple(benchmark.labels),
            positive=benchmark.positive,
            on=part,
        )


def _model_and_source(folder: str) -> tuple[str, str]:
    """Return the model and the source of the traces that the name of a judge's folder joins."""
    model, _, source = folder.partition("_")
    return model, source
