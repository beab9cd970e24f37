r"""Thoughts, actions and results of three software-engineering agents: how each step relates to the one before.

One row of `relation_labels.csv`, one of `action_categories.csv` and one line of `thoughts_actions_openhands.jsonl.gz`:

    agent,instance,resolved,relation,position,label        OpenHands,org__repo-1,resolved,action_action,0,Repetition
    agent,instance,resolved,iteration,category             OpenHands,org__repo-1,resolved,0,Search
    {"instance": "org__repo-1", "text": "Iteration 0: Thought=…; Action={'name': 'bash', 'arguments': '{}'}\n---\n…"}

The text layouts are those of `iterations`; they hold no results. A run's id is `<agent>/<instance>`;
some instances carry a prefix `experiment_<n>_` in the text files and not in the labels. `resolved` is the outcome.

A question a relation: `llm_agents_study` (action to the action before), `-thought_thought`, `-thought_action`,
`-result_action`, `-result_thought`, and `-action_category`. `position` is the place of the label in its file, without
an iteration's number: a relation is placed at a step only if there is one label for every pair of neighbours
(the later of the two), or one for every iteration; else its item has no step. A category names its iteration.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.datasets.benchmark import Gold, Item, describe, question_folder, write_benchmark
from misstep.harness.datasets.iterations import (
    Iteration,
    expression_calls,
    literal_calls,
    one_line_iterations,
    steps_of,
    two_line_iterations,
)
from misstep.harness.datasets.upstream import csv_rows, json_lines
from misstep.harness.errors import InputError
from misstep.harness.protocols import ReadFile
from misstep.harness.trajectory import Outcome, Source, ToolCall, Trajectory

NAME = "llm_agents_study"
RATER = "authors"
MAIN = "action_action"
RELATIONS = ("action_action", "thought_thought", "thought_action", "result_action", "result_thought")
"""What the labels relate, a question each; the catalogue says what is asked."""

_EXPERIMENT = re.compile(r"^experiment_\d+_")


class Texts(Struct, frozen=True):
    """One recorded run."""

    instance: str
    text: str


class Relation(Struct, frozen=True):
    """One labelled relation."""

    agent: str
    instance: str
    resolved: Literal["resolved", "unresolved"]
    relation: Literal["action_action", "thought_thought", "thought_action", "result_action", "result_thought"]
    position: int
    label: str


class _Category(Struct, frozen=True):
    """One labelled action."""

    agent: str
    instance: str
    resolved: Literal["resolved", "unresolved"]
    iteration: int
    category: str


class _Label(Struct, frozen=True):
    """One label, whatever the question; `step` is `None` where it cannot be placed."""

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
    relations = list(csv_rows(folder / "relation_labels.csv", Relation))
    categories = list(csv_rows(folder / "action_categories.csv", _Category))
    resolved = {_run_id(row.agent, row.instance): row.resolved for row in relations}
    resolved |= {_run_id(row.agent, row.instance): row.resolved for row in categories}
    runs = {run.id: run for agent in AGENTS for run in _runs(folder, agent, resolved)}
    for name in resolved:
        if name not in runs:
            raise InputError(f"{name} has labels, but no text", file=folder / "relation_labels.csv")
    for relation in RELATIONS:
        rows = [row for row in relations if row.relation == relation]
        labels = list(_related(rows, runs, between=relation != "thought_action"))
        _write(folder, out, relation, labels, runs)
    _write(folder, out, "action_category", list(_acts(categories, runs)), runs)


def _related(rows: list[Relation], runs: dict[str, Trajectory], between: bool) -> Iterator[_Label]:
    counts = Counter(_run_id(row.agent, row.instance) for row in rows)
    for row in rows:
        run = _run_id(row.agent, row.instance)
        expected = len(runs[run].steps) - (1 if between else 0)
        placed = counts[run] == expected and row.position < expected
        yield _Label(run, row.position, row.position + (1 if between else 0) if placed else None, row.label)


def _acts(rows: list[_Category], runs: dict[str, Trajectory]) -> Iterator[_Label]:
    for row in rows:
        run = _run_id(row.agent, row.instance)
        yield _Label(run, row.iteration, row.iteration if row.iteration < len(runs[run].steps) else None, row.category)


def _write(folder: Path, out: Path, question: str, labels: list[_Label], runs: dict[str, Trajectory]) -> None:
    further = "" if question == MAIN else question
    write_benchmark(
        question_folder(out, further) if further else out,
        describe(NAME, folder, further),
        [
            Item(
                id=_item_id(label, question),
                kind="misbehaviour",
                trajectory_id=label.run,
                step=label.step,
                unaskable=_unaskable(question, label),
                extra={"question": question, "position": label.position},
            )
            for label in labels
        ],
        [Gold(_item_id(label, question), RATER, label.label) for label in labels],
        {"runs": runs.values()},
    )


def _unaskable(question: str, label: _Label) -> str:
    if question.startswith("result"):
        return "the results are not in the public files"
    return "" if label.step is not None else "the public files do not say at which step"


def _item_id(label: _Label, question: str) -> str:
    return f"{label.run}/{question}/{label.position}"


def _run_id(agent: str, instance: str) -> str:
    return f"{agent}/{instance}"


def _runs(folder: Path, agent: str, resolved: Mapping[str, str]) -> Iterable[Trajectory]:
    file, parse, calls = AGENTS[agent]
    for line, texts in enumerate(json_lines(folder / file, Texts), start=1):
        name = _run_id(agent, _EXPERIMENT.sub("", texts.instance))
        iterations = parse(texts.text, folder / file, line)
        yield Trajectory(
            id=name,
            source=Source(format=NAME, file=file, line=line, dataset=NAME),
            agent=agent,
            steps=steps_of(iterations, [calls(iteration.action) for iteration in iterations]),
            outcome=_outcome(resolved.get(name)),
        )


def _outcome(resolved: str | None) -> Outcome:
    if resolved is None:
        return Outcome()
    return Outcome(status="passed" if resolved == "resolved" else "failed")
