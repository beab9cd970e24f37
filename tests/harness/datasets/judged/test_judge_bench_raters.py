"""JUDGE-BENCH ratings: a folder a set and metric, its level of measurement, its ratings as counted."""

from collections import Counter
from pathlib import Path

import pytest

from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.datasets.judged import judge_bench_raters as loader
from misstep_harness.errors import InputError
from misstep_harness.readers import read_file
from tests.harness.datasets.loaded import Loaded, write


def load_all(upstream: Path, out: Path) -> dict[str, Loaded]:
    loader.load(upstream, out / loader.NAME, read_file)
    return {folder.name.removeprefix(f"{loader.NAME}-"): Loaded(folder) for folder in out.iterdir()}


@pytest.fixture(scope="module")
def rated(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loaded]:
    return load_all(data_folder / loader.NAME, tmp_path_factory.mktemp("loaded"))


@pytest.mark.data
def test_dices_350_has_43_050_ratings_by_123_raters(rated: dict[str, Loaded]) -> None:
    dices = rated["dices_350_crowdsourced"]
    assert Counter(dices.gold.values()) == {"No": 26_292, "Yes": 14_064, "Unsure": 2_694}
    assert len(dices.items) == 350
    assert len(dices.benchmark.raters) == 123


@pytest.mark.data
def test_newsroom_has_420_items_three_raters_and_four_ordinal_metrics(rated: dict[str, Loaded]) -> None:
    metrics = [name for name in rated if name.startswith("newsroom-")]
    assert sorted(metrics) == [
        f"newsroom-{metric}" for metric in ("coherence", "fluency", "informativeness", "relevance")
    ]
    for metric in metrics:
        assert len(rated[metric].gold) == 420 * 3
        assert list(rated[metric].benchmark.labels) == ["1", "2", "3", "4", "5"]
        assert rated[metric].benchmark.level == "ordinal"


def test_words_are_nominal_and_whole_numbers_ordinal_in_their_order(tmp_path: Path) -> None:
    upstream = write(
        tmp_path / "up",
        {
            "safe.csv.gz": "item_id,metric,aggregate,r1,r2\n1,safety,No,No,Yes\n",
            "news.csv": "item_id,metric,aggregate,r1,r2\n1,Fluency,6,10,2\n1,Overall Score,3,3,\n",
        },
    )
    made = load_all(upstream, tmp_path / "out")
    levels = {name: (one.benchmark.level, list(one.benchmark.labels)) for name, one in made.items()}
    assert levels == {
        "safe": ("nominal", ["No", "Yes"]),
        "news-fluency": ("ordinal", ["2", "10"]),
        "news-overall_score": ("ordinal", ["3"]),
    }
    assert made["news-overall_score"].gold == {("1", "r1"): "3"}


def test_raters_stand_in_upstream_order(tmp_path: Path) -> None:
    upstream = write(tmp_path / "up", {"a.csv": "item_id,metric,r2,r10,r1\n1,m,x,y,x\n"})
    folder = load_all(upstream, tmp_path / "out")["a"].folder
    assert read_benchmark(folder).raters == ("r2", "r10", "r1")


def test_a_table_of_one_rater_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv:1: there are fewer than two rater columns"):
        load_all(write(tmp_path / "up", {"a.csv": "item_id,metric,r1\n1,m,x\n"}), tmp_path / "out")
