"""Rules that every public benchmark meets when it is asked: what the general judge shows of it, and what never.

The benchmarks are found by the registry of loaders, so that none is left out.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.scores import score
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.clients import ClientSettings
from misstep_harness.datasets import LOADERS
from misstep_harness.errors import InputError
from misstep_harness.exchange import Request
from misstep_harness.items import Item, read_items, read_question
from misstep_harness.judges import read_known
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN
from misstep_harness.judges.fit import GENERAL, fitted_to, offered
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import ask
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.runs.judging.item_selection import Sampling
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.trajectory import Outcome, Trajectory

SCRIPTED = ClientSettings(client="scripted", script="tests.families.test_asked_benchmarks:first_label")
BUDGET = 2_000
NOTHING_PUBLISHED = {"mast", "repairagent-fixed", "llm_agents_study-result_action", "llm_agents_study-result_thought"}


def first_label(request: Request) -> str:
    """A model that always gives the first label."""
    schema: Any = request.schema
    return json.dumps({"reasoning": "r", "label": schema["properties"]["label"]["enum"][0], "score": 0.5, "steps": []})


def general() -> JudgeSpec:
    spec = read_known(GENERAL)
    return msgspec.structs.replace(spec, model=msgspec.structs.replace(spec.model, name="small-1"))


class Benchmark:
    """A benchmark folder with the judge as it is asked it."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self.spec = fitted_to(general(), read_question(folder), folder)
        self.items = [item for item in read_items(folder) if not item.skip_reason]
        self.runs = BenchmarkRuns(folder)
        self.gold: dict[str, set[str]] = defaultdict(set)
        with (folder / "gold.csv").open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                self.gold[row["item"]].add(row["label"])

    def handful(self) -> list[tuple[Item, Trajectory | None]]:
        """Five items from the first to the last, with their runs."""
        apart = max(1, len(self.items) // 5)
        return [(item, self.runs.of(item)) for item in self.items[::apart][:5]]


@pytest.fixture(scope="module", params=sorted(LOADERS))
def benchmarks(request: pytest.FixtureRequest, loaded: Callable[[str], list[Path]]) -> list[Benchmark]:
    """The benchmarks of one data set."""
    return [Benchmark(folder) for folder in loaded(request.param)]


def prompt(spec: JudgeSpec, item: Item, run: Trajectory | None) -> str:
    (request,) = ask(spec, item, run).requests
    assert request.schema is not None
    return "\n\n".join(message.content for message in request.messages)


@pytest.mark.data
def test_every_benchmark_asks_a_question_of_its_own(benchmarks: list[Benchmark]) -> None:
    questions = [benchmark.spec.asks for benchmark in benchmarks]
    assert len(set(questions)) == len(questions)
    assert all(question.endswith((".", "?")) for question in questions)


@pytest.mark.data
def test_every_gold_label_of_an_item_is_among_those_that_a_judge_may_give_it(benchmarks: list[Benchmark]) -> None:
    for benchmark in benchmarks:
        for item in benchmark.items:
            assert benchmark.gold[item.id] <= offered(benchmark.spec, item).keys(), item.id


@pytest.mark.data
def test_the_prompt_has_question_labels_and_what_the_benchmark_lets_be_seen(benchmarks: list[Benchmark]) -> None:
    for benchmark in benchmarks:
        for item, run in benchmark.handful():
            text = prompt(benchmark.spec, item, run)
            assert benchmark.spec.asks in text
            for label in offered(benchmark.spec, item):
                assert f"\n- {label}" in text
            for name in benchmark.spec.shown:
                assert item.extra.get(name) in (None, "") or f"{name}:\n<data " in text
            assert item.step is None or f"[step {item.step}] " in text


def planted(item: Item, run: Trajectory | None) -> tuple[Item, Trajectory | None, dict[str, str]]:
    """The item and its run with marks instead of everything that may tell the label, and field → mark."""
    marks = {name: f"planted-{name}" for name in item.extra}
    marked_one = msgspec.structs.replace(item, id="planted-id", extra=dict(marks))
    if run is None:
        return marked_one, None, marks
    marked = msgspec.structs.replace(
        run,
        id="planted-run",
        outcome=Outcome("passed", 123_456.5),
        agent="planted-agent",
        model="planted-model",
        extra={"note": "planted-note"},
        steps=tuple(msgspec.structs.replace(step, extra={"note": "planted-step"}) for step in run.steps),
    )
    return marked_one, marked, marks


@pytest.mark.data
def test_nothing_is_shown_that_the_benchmark_does_not_name(benchmarks: list[Benchmark]) -> None:
    for benchmark in benchmarks:
        for item, run in benchmark.handful():
            marked_one, marked, marks = planted(item, run)
            text = prompt(benchmark.spec, marked_one, marked)
            assert {name for name, mark in marks.items() if mark in text} == set(benchmark.spec.shown) & marks.keys()
            rest = text
            for name in benchmark.spec.shown:
                rest = rest.replace(marks.get(name, ""), "") if name in marks else rest
            assert "planted-" not in rest
            assert "123456.5" not in rest


@pytest.mark.data
def test_what_follows_from_how_a_run_ended_is_never_named_as_shown(benchmarks: list[Benchmark]) -> None:
    telling = {"reward", "resolved", "correct_answer", "outcome", "error", "tests_passed", "cost_usd", "api_calls"}
    for benchmark in benchmarks:
        assert not telling & set(benchmark.spec.shown)


@pytest.mark.data
def test_a_small_budget_is_kept_to_and_what_was_cut_is_said(benchmarks: list[Benchmark]) -> None:
    for benchmark in benchmarks:
        spec = msgspec.structs.replace(benchmark.spec, budget=BUDGET)
        for item, run in benchmark.handful():
            whole, small = ask(benchmark.spec, item, run), ask(spec, item, run)
            length = len(small.requests[0].messages[-1].content)
            assert length <= 1.25 * BUDGET * CHARACTERS_PER_TOKEN + 1_500
            assert bool(small.cut) or length == len(whole.requests[0].messages[-1].content)


@pytest.mark.data
def test_a_sample_of_five_is_asked_and_scored_or_it_is_said_why_nothing_can_be(benchmarks, tmp_path) -> None:
    for benchmark in benchmarks:
        out = tmp_path / benchmark.name
        if not benchmark.items:
            assert benchmark.name in NOTHING_PUBLISHED or benchmark.name.startswith("judge_bench_raters-")
            with pytest.raises(InputError, match=r"no item can be asked about: .+ not in"):
                run_judge(PromptedJudge(general()), benchmark.folder, out, SCRIPTED, sampling=Sampling(5))
            assert not out.exists()
            continue
        ended = run_judge(PromptedJudge(general()), benchmark.folder, out, SCRIPTED, sampling=Sampling(5))
        assert (ended.done, ended.failed, ended.wanted) == (5, 0, 5)
        run = open_run(out, str(benchmark.folder))
        scores = score(run.verdicts, run.gold, tuple(run.question.labels), clusters=run.clusters, resamples=100)
        assert (scores.n, scores.answered) == (5, 5)
        assert scores.accuracy.value is not None or scores.unlabelled == 5
