"""PaperBench JudgeEval: the leaves, grades and root scores of the trees, and nothing that tells a grade."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.datasets.judged.paperbench_judge_eval import Node
from misstep_harness.datasets.upstream import json_file
from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, public, write

NAME = "paperbench_judge_eval"
loaded = public(NAME)


def leaf(name: str, score: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {"id": name, "requirements": f"Does {name}.", "weight": 1, "score": score, "sub_tasks": []} | more


def made_up(folder: Path, *parts: dict[str, Any]) -> Path:
    tree = leaf("root", 0.5, requirements="The paper is replicated.", sub_tasks=parts, task_category=None)
    return write(folder, {"expected/some.json.gz": json.dumps(tree)})


@pytest.mark.data
def test_each_paper_has_its_leaves_and_as_many_of_them_are_met(loaded: Loaded) -> None:
    papers = Counter(item.extra["paper"] for item in loaded.items.values())
    met = Counter(item.partition("/")[0] for (item, _), label in loaded.gold.items() if label == "met")
    assert papers == {"all-in-one": 174, "pinn": 1963, "semantic-self-consistency": 79}
    assert met == {"all-in-one": 84, "pinn": 882, "semantic-self-consistency": 74}


def weighted(node: Node) -> float:
    """The score of a node, of the weights and grades below it alone."""
    if not node.sub_tasks:
        return node.score
    total = sum(part.weight for part in node.sub_tasks)
    return sum(part.weight * weighted(part) for part in node.sub_tasks) / total


@pytest.mark.data
@pytest.mark.parametrize(
    ("paper", "printed"), [("all-in-one", 0.7139), ("pinn", 0.8342), ("semantic-self-consistency", 0.91)]
)
def test_the_score_of_a_paper_follows_from_the_grades_of_its_leaves(data_folder, paper, printed) -> None:
    tree = json_file(data_folder / NAME / "expected" / f"{paper}.json.gz", Node)
    assert weighted(tree) == pytest.approx(tree.score)
    assert round(tree.score, 4) == printed


def test_an_item_has_the_requirements_above_it_and_not_what_tells_its_grade(tmp_path: Path) -> None:
    inner = leaf("b", 0.0, explanation="It was not run.", task_category="Code Execution")
    folder = made_up(tmp_path / "upstream", leaf("a"), leaf("part", 0.0, sub_tasks=[inner]))
    result = load(NAME, folder, tmp_path)
    item = result.items["some/b"]
    assert (item.task, item.text) == ("The paper is replicated.", "Does part.\n  Does b.")
    assert item.extra == {"paper": "some", "category": "Code Execution", "weight": 1, "cluster": "some/part"}
    assert result.gold == {("some/a", "people"): "met", ("some/b", "people"): "unmet"}


def test_a_leaf_without_a_grade_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"some\.json\.gz: a\.score"):
        load(NAME, made_up(tmp_path / "upstream", leaf("a", 0.5)), tmp_path)
