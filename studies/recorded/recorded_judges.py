"""Put recorded verdicts of real judges beside what people said."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from misstep.analysis.gold import BenchmarkItem, read_gold, read_marked_errors
from misstep.analysis.measures.judging.judged import JudgedItems, JudgedMarks
from misstep.analysis.measures.judging.people.marked import Mark
from misstep.analysis.measures.judging.people.ratings import JudgedRatings
from misstep.analysis.measures.judging.sample import clusters_of
from misstep.harness.datasets import RECORDED, recorded_verdicts
from misstep.harness.datasets.benchmark import read_benchmark
from misstep.harness.datasets.judged.trail_judges import answers, judge_ratings, people_ratings
from misstep.harness.items import read_items
from misstep.harness.runs.judging.benchmarks import benchmark_folder, set_folder
from misstep.harness.verdict import Verdict
from misstep.studies.recorded.classified import at_hand, version

AGENT_JUDGE = "agent_as_a_judge"
"""The set whose judge says whether what an agent built meets a requirement."""

MARKED = "trail"
"""The set whose judges mark errors in runs."""

DATASETS = tuple(RECORDED)
"""The sets with recorded verdicts."""


def judged_by_developer() -> list[JudgedItems]:
    """Return the agent judge of Agent-as-a-Judge on what each developer agent built; nothing without the set."""
    if not at_hand([AGENT_JUDGE]):
        return []
    folder = benchmark_folder(AGENT_JUDGE)
    developer_of = {item.id: str(item.extra["developer_agent"]) for item in read_items(folder, BenchmarkItem)}
    groups: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for judge, verdicts in recorded_verdicts(AGENT_JUDGE, set_folder(AGENT_JUDGE)).items():
        for verdict in verdicts:
            groups[judge.replace("_", " "), developer_of[verdict.item]].append(verdict)
    return list(_judged(AGENT_JUDGE, folder, groups))


def agent_judge() -> list[tuple[JudgedItems, tuple[BenchmarkItem, ...]]]:
    """Return the agent judge of Agent-as-a-Judge on all it was asked, with the items; nothing without the set."""
    if not at_hand([AGENT_JUDGE]):
        return []
    folder = benchmark_folder(AGENT_JUDGE)
    recorded = recorded_verdicts(AGENT_JUDGE, set_folder(AGENT_JUDGE))
    groups = {(judge.replace("_", " "), ""): list(verdicts) for judge, verdicts in recorded.items()}
    items = tuple(read_items(folder, BenchmarkItem))
    return [(judged, items) for judged in _judged(AGENT_JUDGE, folder, groups)]


def judged_by_category() -> list[JudgedItems]:
    """Return TRAIL's judges on whether a trace has an error of a category; nothing without the set."""
    if not at_hand([MARKED]):
        return []
    recorded = recorded_verdicts(MARKED, set_folder(MARKED))
    groups = {_model_and_source(judge): list(verdicts) for judge, verdicts in recorded.items()}
    return list(_judged(MARKED, benchmark_folder(MARKED), groups))


def marked_runs() -> list[JudgedMarks]:
    """Return the errors that TRAIL's judges named, and those that people marked; nothing without the set."""
    if not at_hand([MARKED]):
        return []
    folder = benchmark_folder(MARKED)
    people: dict[str, set[Mark]] = {str(item.extra["trace"]): set() for item in read_items(folder, BenchmarkItem)}
    for error in read_marked_errors(folder):
        people[error.trajectory].add((error.location, error.label))
    marked = {trace: frozenset(marks) for trace, marks in people.items()}
    judged = []
    for judge, verdicts in answers(set_folder(MARKED)).items():
        named = {
            one.trace: tuple((error.location, error.category) for error in one.errors)
            if one.status == "answered"
            else None
            for one in verdicts
        }
        judged.append(JudgedMarks(" on ".join(_model_and_source(judge)), MARKED, version(MARKED), marked, named))
    return judged


def rated_runs() -> list[JudgedRatings]:
    """Return the ratings that TRAIL's judges and people gave the same traces; nothing without the set."""
    if not at_hand([MARKED]):
        return []
    people = people_ratings(set_folder(MARKED))
    return [
        JudgedRatings(" on ".join(_model_and_source(judge)), MARKED, version(MARKED), people, ratings)
        for judge, ratings in judge_ratings(set_folder(MARKED)).items()
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
