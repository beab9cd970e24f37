"""Agentless: the classes of 150 tasks, two questions of one table, the shares that the set's description has."""

from collections import Counter
from pathlib import Path

import pytest

from tests.harness.datasets.loaded import Loaded, load, write

NAME = "agentless_classes"
HEADER = (
    "instance_id,problem_statement,patch,test_patch,description quality,solution in description,"
    "line location,function location,file location"
)
ROW = 'some__a-1,"It fails:\nalways",diff,tests,Info in NL,No solution,None,Stacktrace,Keywords'


@pytest.fixture(scope="module")
def loaded(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loaded]:
    out = tmp_path_factory.mktemp("loaded")
    load(NAME, data_folder / NAME, out)
    return {folder.name: Loaded(folder) for folder in out.iterdir()}


@pytest.mark.data
def test_the_classes_have_the_counts_of_the_sets_description(loaded: dict[str, Loaded]) -> None:
    assert Counter(loaded[NAME].gold.values()) == {
        "Contains reproducible example": 82,
        "Info in NL": 40,
        "Not enough info": 15,
        "Contains partial reproducible example": 13,
    }
    assert Counter(loaded[f"{NAME}-solution"].gold.values()) == {
        "No solution": 110,
        "Complete steps in NL": 15,
        "Some steps in NL": 11,
        "Misleading": 8,
        "Exact patch": 6,
    }


def test_the_patch_is_shown_where_the_solution_is_asked_for_alone(tmp_path: Path) -> None:
    upstream = write(tmp_path / "upstream", {"classifications.csv.gz": f"{HEADER}\r\n{ROW}\r\n"})
    quality = load(NAME, upstream, tmp_path)
    solution = Loaded(tmp_path / f"{NAME}-solution")
    assert (quality.items["some__a-1"].text, quality.items["some__a-1"].patch) == ("It fails:\nalways", "")
    assert solution.items["some__a-1"].patch == "diff"
    assert quality.gold == {("some__a-1", "authors"): "Info in NL"}
    assert solution.gold == {("some__a-1", "authors"): "No solution"}
