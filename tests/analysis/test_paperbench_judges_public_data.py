"""What PaperBench prints of its judges is counts of leaves, one judge's of fewer; what the category alone scores."""

import csv
from pathlib import Path

import pytest

from misstep_analysis.gold import read_gold
from misstep_analysis.judging.scores import Scores, score
from misstep_analysis.stats.proportions import wilson
from misstep_harness.datasets import loader_for
from misstep_harness.items import read_items
from misstep_harness.readers import read_file
from misstep_harness.verdict import Verdict

pytestmark = pytest.mark.data

LEAVES = {"Overall": 2693, "Code Development": 516, "Code Execution": 2100, "Result Analysis": 77}
"""Of the five papers together; the files available have three of them."""

O1, O3_MINI = "o1-2024-12-17_high", "o3-mini-2025-01-31_high"


@pytest.fixture(scope="module")
def benchmark(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("loaded") / "paperbench_judge_eval"
    loader_for("paperbench_judge_eval").load(data_folder / "paperbench_judge_eval", out, read_file)
    return out


def scored(benchmark: Path, met_categories: set[str]) -> Scores:
    """The judge that calls every leaf of some categories met, scored with leaves of one node as a cluster."""
    items = list(read_items(benchmark))
    labels = ["met" if item.extra["category"] in met_categories else "unmet" for item in items]
    verdicts = [Verdict(item.id, "by category", label) for item, label in zip(items, labels, strict=True)]
    clusters = {item.id: str(item.extra["cluster"]) for item in items}
    return score(verdicts, read_gold(benchmark), ("met", "unmet"), clusters=clusters, resamples=200)


@pytest.mark.parametrize(
    ("met", "accuracy"),
    [
        (set(), 0.531),
        ({"Code Development", "Code Execution", "Result Analysis"}, 0.469),
        ({"Code Development"}, 0.644),
    ],
)
def test_judges_that_look_at_nothing_have_the_stated_accuracy(benchmark: Path, met: set[str], accuracy: float) -> None:
    assert scored(benchmark, met).accuracy.value == pytest.approx(accuracy, abs=5e-4)


def test_the_category_alone_has_the_stated_macro_f1_and_an_interval_wider_than_that_of_single_leaves(benchmark) -> None:
    result = scored(benchmark, {"Code Development"})
    macro = sum(of_label.f1.value or 0 for of_label in result.labels.values()) / 2
    assert macro == pytest.approx(0.572, abs=5e-4)
    alone = wilson(round((result.accuracy.value or 0) * result.n), result.n)
    assert result.accuracy.high - result.accuracy.low > 1.5 * (alone.high - alone.low)


def printed(data_folder: Path, model: str) -> dict[str, float]:
    """Category → accuracy of a judge as printed."""
    path = data_folder / "paperbench_judge_eval" / "printed" / f"metrics_table_{model}.csv"
    with path.open(newline="") as stream:
        return {row[""]: float(row["accuracy"]) for row in csv.DictReader(stream)}


def answered(data_folder: Path, model: str, most: dict[str, int]) -> dict[str, int]:
    """Category → the largest number of leaves, up to all, of which the printed accuracy is a whole count."""
    return {
        name: next(n for n in range(most[name], 0, -1) if abs(value * n - round(value * n)) < 1e-9)
        for name, value in printed(data_folder, model).items()
    }


@pytest.mark.parametrize("model", [O1, O3_MINI, "gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18"])
def test_a_printed_accuracy_is_a_count_of_all_leaves_and_those_of_the_categories_add_up(data_folder, model) -> None:
    right = {name: round(value * LEAVES[name]) for name, value in printed(data_folder, model).items()}
    assert answered(data_folder, model, LEAVES) == LEAVES
    assert right.pop("Overall") == sum(right.values())


def test_one_judge_was_scored_on_335_leaves_fewer_so_that_its_figures_are_not_comparable(data_folder: Path) -> None:
    result = answered(data_folder, "o1-mini-2024-09-12_high", LEAVES)
    assert result == LEAVES | {"Overall": 2693 - 335, "Code Execution": 2100 - 335}


def test_the_intervals_of_the_two_best_judges_overlap_even_with_leaves_taken_as_independent(data_folder: Path) -> None:
    best, second = (
        wilson(round(printed(data_folder, model)["Overall"] * LEAVES["Overall"]), LEAVES["Overall"])
        for model in (O1, O3_MINI)
    )
    assert (round(best.value or 0, 3), round(second.value or 0, 3)) == (0.844, 0.827)
    assert [round(bound or 0, 3) for bound in (best.low, best.high)] == [0.830, 0.857]
    assert [round(bound or 0, 3) for bound in (second.low, second.high)] == [0.813, 0.841]
