"""Agent-as-a-Judge: did a developer agent meet a requirement of a DevAI task? People's consensus, and an agent judge.

One row of `judgements.csv`, one a requirement and developer agent:

    developer_agent,instance,requirement_id,category,prerequisites,human_satisfied,agent_judge_satisfied
    SomeAgent,07_Some_Task,2,Visualization,0 1,True,False

`requirement_id` counts from 0 within a task; `prerequisites` are requirement ids of the same task, apart by spaces.
Requirements' texts and the workspaces are not in the files: what can be measured is how far the recorded judge agrees
with people. One task's name is spelled in three ways; the number that a name opens with is the same in all.
`preferences.csv` has no verdicts and is not read. People's consensus is the only gold label.
"""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from misstep_harness.datasets.benchmark import Facts, Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_rows
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.verdict import Verdict

NAME = "agent_as_a_judge"
RATER = "human_consensus"
JUDGE = "agent_judge"


class Judgement(Struct, frozen=True):
    """One requirement, what people said of it and what the agent judge did."""

    developer_agent: str
    instance: str
    requirement_id: int
    human_satisfied: bool
    agent_judge_satisfied: bool
    category: str | None = None
    prerequisites: str = ""

    @property
    def workspace(self) -> str:
        """Return what one developer agent built for one task."""
        return f"{self.developer_agent}/{self.instance}"

    @property
    def item_id(self) -> str:
        """Return the id of the item."""
        return self.sibling(self.requirement_id)

    def sibling(self, requirement: int | str) -> str:
        """Return the id of another requirement of the same workspace."""
        return f"{self.workspace}/{requirement}"


FACTS = (Facts(NAME, "judgements", Judgement, lambda folder: csv_rows(folder / "judgements.csv", Judgement)),)
"""All that is read of the set."""


def lay_out(folder: Path) -> None:
    """Write the facts as the files of the set."""
    (folder / "judgements.csv").write_bytes(FACTS[0].file.read_bytes())


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (no trajectories in this set)
    """Write the requirements of all developer agents as items and people's verdict on each as its gold label."""
    path = folder / "judgements.csv"
    rows = list(csv_rows(path, Judgement))
    SetWriter(NAME, folder, out).write(
        items=_items(rows, path), gold=(Gold(row.item_id, RATER, _label(row.human_satisfied)) for row in rows)
    )


def recorded(folder: Path) -> dict[str, tuple[Verdict, ...]]:
    """Return what the agent judge said of every requirement, in the order of the items."""
    rows = csv_rows(folder / "judgements.csv", Judgement)
    return {JUDGE: tuple(Verdict(row.item_id, JUDGE, _label(row.agent_judge_satisfied)) for row in rows)}


def _label(satisfied: bool) -> str:
    return "satisfied" if satisfied else "unsatisfied"


def _items(rows: list[Judgement], path: Path) -> Iterable[Item]:
    known = {row.item_id for row in rows}
    for row in rows:
        prerequisites = [row.sibling(requirement) for requirement in row.prerequisites.split()]
        for prerequisite in prerequisites:
            if prerequisite not in known:
                why = f"{row.item_id} needs {prerequisite}, which is not a requirement"
                raise InputError(why, file=path, field="prerequisites")
        yield Item(
            id=row.item_id,
            kind="text",
            task=row.instance,
            text=f"Requirement {row.requirement_id} of task {row.instance}, as built by {row.developer_agent}",
            extra={
                "developer_agent": row.developer_agent,
                "requirement": row.requirement_id,
                "category": row.category,
                "prerequisites": prerequisites,
                "cluster": row.workspace,
            },
        )
