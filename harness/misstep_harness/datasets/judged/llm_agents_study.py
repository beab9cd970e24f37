r"""Thoughts, actions and results of three software-engineering agents: how each step relates to the one before.

One row of `relation_labels.csv`, one of `action_categories.csv` and one line of `thoughts_actions_openhands.jsonl.gz`:

    agent,instance,resolved,relation,position,label        OpenHands,org__repo-1,resolved,action_action,0,Repetition
    agent,instance,resolved,iteration,category             OpenHands,org__repo-1,resolved,0,Search
    {"instance": "org__repo-1", "text": "Iteration 0: Thought=…; Action={'name': 'bash', 'arguments': '{}'}\n---\n…"}

The text layouts are those of `iterations`; they hold no results. A run's id is `<agent>/<instance>`; some instances
carry a prefix `experiment_<n>_` in the text files only. `position` is the place of the label in its file, without an
iteration's number: a relation is placed at a step only if there is one label for every pair of neighbours (the later
of the two), or one for every iteration. A category names its iteration.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.iterations import (
    Iteration,
    expression_calls,
    literal_calls,
    one_line_iterations,
    steps_of,
    two_line_iterations,
)
from misstep_harness.datasets.upstream import csv_rows, json_lines
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Outcome, OutcomeStatus, Source, ToolCall, Trajectory

NAME = "llm_agents_study"
RATER = "authors"
MAIN = "action_action"
RELATIONS = ("action_action", "thought_thought", "thought_action", "result_action", "result_thought")
"""What the labels relate, a question each; the catalogue says what is asked."""

_EXPERIMENT = re.compile(r"^experiment_\d+_")


class _Texts(Struct, frozen=True):
    instance: str
    text: str


class _Labelled(Struct, frozen=True):
    agent: str
    instance: str
    resolved: Literal["resolved", "unresolved"]

    @property
    def run(self) -> str:
        return f"{self.agent}/{self.instance}"


class _Relation(_Labelled, frozen=True):
    relation: Literal["action_action", "thought_thought", "thought_action", "result_action", "result_thought"]
    position: int
    label: str


class _Category(_Labelled, frozen=True):
    iteration: int
    category: str


class _Label(Struct, frozen=True):
    run: str
    position: int
    step: int | None
    label: str


Parse = Callable[[str, Path, int], list[Iteration]]
ParseCalls = Callable[[str], tuple[ToolCall, ...]]

AGENTS: dict[str, tuple[str, Parse, ParseCalls]] = {
    "AutoCodeRover": ("thoughts_actions_autocoderover.jsonl.gz", two_line_iterations, expression_calls),
    "OpenHands": ("thoughts_actions_openhands.jsonl.gz", one_line_iterations, literal_calls),
    "RepairAgent": ("thoughts_actions_repairagent.jsonl.gz", one_line_iterations, literal_calls),
}
"""Agent → its file, and how its iterations and calls are written."""


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (the texts are in no known format)
    """Write `llm_agents_study` and a folder for each further question."""
    relations = list(csv_rows(folder / "relation_labels.csv", _Relation))
    categories = list(csv_rows(folder / "action_categories.csv", _Category))
    resolved = {row.run: row.resolved for row in (*relations, *categories)}
    runs = {run.id: run for agent in AGENTS for run in _runs(folder, agent, resolved)}
    for name in resolved:
        if name not in runs:
            raise InputError(f"{name} has labels, but no text", file=folder / "relation_labels.csv")
    steps = {name: len(run.steps) for name, run in runs.items()}
    questions = {name: _related([row for row in relations if row.relation == name], steps) for name in RELATIONS}
    questions["action_category"] = [
        _Label(row.run, row.iteration, row.iteration if row.iteration < steps[row.run] else None, row.category)
        for row in categories
    ]
    for question, labels in questions.items():
        SetWriter(NAME, folder, out).write(
            [_item(label, question) for label in labels],
            [Gold(_item_id(label, question), RATER, label.label) for label in labels],
            {"runs": runs.values()},
            further="" if question == MAIN else question,
        )


def _related(rows: list[_Relation], steps: dict[str, int]) -> list[_Label]:
    """Return the labels of a relation, each at the later of two neighbours, or at the one step that it is of."""
    counts = Counter(row.run for row in rows)
    labels = []
    for row in rows:
        before = row.relation != "thought_action"
        expected = steps[row.run] - before
        placed = counts[row.run] == expected and row.position < expected
        labels.append(_Label(row.run, row.position, row.position + before if placed else None, row.label))
    return labels


def _item(label: _Label, question: str) -> Item:
    unaskable = "" if label.step is not None else "the public files do not say at which step"
    if question.startswith("result"):
        unaskable = "the results are not in the public files"
    return Item(
        id=_item_id(label, question),
        kind="misbehaviour",
        trajectory_id=label.run,
        step=label.step,
        unaskable=unaskable,
        extra={"question": question, "position": label.position},
    )


def _item_id(label: _Label, question: str) -> str:
    return f"{label.run}/{question}/{label.position}"


def _runs(folder: Path, agent: str, resolved: Mapping[str, str]) -> Iterable[Trajectory]:
    file, parse, calls = AGENTS[agent]
    statuses: dict[str, OutcomeStatus] = {"resolved": "passed", "unresolved": "failed"}
    for line, texts in enumerate(json_lines(folder / file, _Texts), start=1):
        name = f"{agent}/{_EXPERIMENT.sub('', texts.instance)}"
        iterations = parse(texts.text, folder / file, line)
        yield Trajectory(
            id=name,
            source=Source(format=NAME, file=file, line=line, dataset=NAME),
            agent=agent,
            steps=steps_of(iterations, [calls(iteration.action) for iteration in iterations]),
            outcome=Outcome(statuses.get(resolved.get(name, ""), "unknown")),
        )
