"""MAST: rows, rounds, marks and agreement counts are as recounted; a missing mark is not a label."""

from collections import Counter
from pathlib import Path

import pytest

from tests.harness.datasets.loaded import Loaded, load, public, write

RATERS = ("annotator_1", "annotator_2", "annotator_3")
HEADER = "trace_id,round,mas_name,benchmark_name,mode_code,mode_name,annotator_1,annotator_2,annotator_3\n"
mast = public("mast")


def marks(mast: Loaded) -> dict[str, tuple[str | None, ...]]:
    return {item: tuple(mast.gold.get((item, rater)) for rater in RATERS) for item in mast.items}


@pytest.mark.data
def test_316_rows_over_19_traces_in_four_rounds(mast: Loaded) -> None:
    rounds = Counter(item.extra["round"] for item in mast.items.values())
    assert list(rounds.values()) == [90, 85, 85, 56]
    assert len({item.extra["trace"] for item in mast.items.values()}) == 19
    modes = {
        name: len({item.extra["mode"] for item in mast.items.values() if item.extra["round"] == name})
        for name in rounds
    }
    assert list(modes.values()) == [18, 17, 17, 14]


@pytest.mark.data
def test_two_marks_are_missing_and_stand_for_nothing(mast: Loaded) -> None:
    incomplete = [item for item, three in marks(mast).items() if None in three]
    assert incomplete == ["Generlazability/18/3.2", "Generlazability/18/3.3"]
    assert len(mast.gold) == 3 * 316 - 2


def test_an_empty_cell_is_no_rating(tmp_path: Path) -> None:
    upstream = write(tmp_path / "up", {"human_labels.csv": HEADER + "3,Round 1,Some,Tasks,1.3,Step repetition,0,1,\n"})
    made = load("mast", upstream, tmp_path / "out")
    assert made.gold == {("Round 1/3/1.3", "annotator_1"): "0", ("Round 1/3/1.3", "annotator_2"): "1"}
    assert made.benchmark.positive == "1"
