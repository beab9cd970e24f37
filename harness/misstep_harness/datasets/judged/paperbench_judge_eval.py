"""PaperBench JudgeEval: did a submission meet each leaf of a paper's rubric? People graded every leaf, 0 or 1.

One tree of requirements a paper, `expected/<paper>.json.gz`, shortened:

    {"id": "6f…", "requirements": "The paper has been reproduced.", "weight": 1, "score": 0.71, "task_category": null,
     "explanation": "…", "sub_tasks": [{"id": "0a…", "requirements": "The drift is zero.", "weight": 2, "score": 1.0,
     "task_category": "Code Development", "explanation": "", "sub_tasks": []}]}

A node without `sub_tasks` is a leaf, and an item, `<paper>/<id>`; its text is the requirements from the root's children
down to it, as a leaf's own often says little. The score of a node above and explanations tell the grade and are not
read. Leaves of one node are a cluster. Submissions are not in the files: a judge can be asked what the text alone
tells. What judges of the paper scored is in `printed/`, without their answers.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_rows, files_in, json_file
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile

NAME = "paperbench_judge_eval"
RATER = "people"
_LABELS = {1.0: "met", 0.0: "unmet"}


class Node(Struct, frozen=True):
    """One requirement of a rubric with those that it consists of."""

    id: str
    requirements: str
    weight: int
    score: float
    sub_tasks: tuple["Node", ...]
    task_category: str | None = None


class _Printed(Struct, frozen=True):
    accuracy: float
    category: str = field(name="")


class _Leaf(Struct, frozen=True):
    """A graded requirement of a paper, and the requirements above it, the root's first."""

    paper: str
    node: Node
    above: tuple[Node, ...]

    @property
    def item_id(self) -> str:
        return f"{self.paper}/{self.node.id}"


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (no trajectories in this set)
    """Write the leaves of all papers as items and people's grade of each as its gold label."""
    trees = [(path, path.name.partition(".")[0]) for path in files_in(folder / "expected", "*.json*")]
    leaves = [(path, leaf) for path, paper in trees for leaf in _leaves(paper, json_file(path, Node), ())]
    SetWriter(NAME, folder, out).write(
        items=(_item(leaf) for _, leaf in leaves),
        gold=(Gold(leaf.item_id, RATER, _label(leaf, path)) for path, leaf in leaves),
    )


def printed_accuracies(folder: Path) -> dict[str, dict[str, float]]:
    """Return judge → category → the accuracy over the leaves of five papers, as upstream's tables print it."""
    prefix = "metrics_table_"
    return {
        path.stem.removeprefix(prefix): {row.category: row.accuracy for row in csv_rows(path, _Printed)}
        for path in files_in(folder / "printed", f"{prefix}*.csv")
    }


def _leaves(paper: str, node: Node, above: tuple[Node, ...]) -> Iterator[_Leaf]:
    if not node.sub_tasks:
        yield _Leaf(paper, node, above)
    for part in node.sub_tasks:
        yield from _leaves(paper, part, (*above, node))


def _label(leaf: _Leaf, path: Path) -> str:
    if leaf.node.score not in _LABELS:
        raise InputError(f"the grade {leaf.node.score} is neither 0 nor 1", file=path, field=f"{leaf.node.id}.score")
    return _LABELS[leaf.node.score]


def _item(leaf: _Leaf) -> Item:
    chain = [*leaf.above[1:], leaf.node]
    parent = leaf.above[-1].id if leaf.above else leaf.node.id
    return Item(
        id=leaf.item_id,
        kind="text",
        task=leaf.above[0].requirements if leaf.above else "",
        text="\n".join(f"{'  ' * depth}{node.requirements}" for depth, node in enumerate(chain)),
        extra={
            "paper": leaf.paper,
            "category": leaf.node.task_category,
            "weight": leaf.node.weight,
            "cluster": f"{leaf.paper}/{parent}",
        },
    )
