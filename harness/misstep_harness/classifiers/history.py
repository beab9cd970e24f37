"""Gather once what all classifiers look at: the calls of a run with their answers, and the user's turns."""

import re
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TypeVar

from msgspec import Struct

from misstep_harness.classifiers.prose import LONGEST, sentences_of
from misstep_harness.classifiers.tools import Kind, command_of, is_known_name, kind_of
from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory

T = TypeVar("T")
Owner = TypeVar("Owner", bound=Struct)

NUDGE = 200
"""Characters below which a turn that says to go on says nothing else."""

_GO_ON = re.compile(r"\b(?:continue|proceed|go on|keep going|carry on)\b", re.IGNORECASE)
_AGAIN = re.compile(r"\b(?:again|once more|another|re-?(?:run|try|start|do))\b", re.IGNORECASE)

_SEVERAL_TIMES = re.compile(
    r"\b(?:\d+|two|three|four|five|six|ten|twenty|several|many|a few|multiple|some) (?:more )?"
    r"(?:times|runs|rounds|repetitions|iterations|\w+ (?:each|per))\b"
    r"|\b(?:repeatedly|twice in a row|in a loop|over and over|how often|flak\w+|intermittent\w*|sporadic\w*)\b",
    re.IGNORECASE,
)


class Act(Struct, frozen=True, dict=True):
    """One tool call in step `step` with its answer, `None` where the record has none."""

    step: int
    call: ToolCall
    result: ToolResult | None
    kind: Kind
    line: str | None

    @property
    def answer(self) -> ToolResult | None:
        """Return the answer if its words are recorded."""
        return self.result if self.result is not None and self.result.recorded else None


def once(work: Callable[[Owner], T]) -> Callable[[Owner], T]:
    """Do a piece of work on an act or a history the first time that it is asked for, and remember it with that."""
    name = work.__name__

    @wraps(work)
    def remembered(owner: Owner) -> T:
        known = owner.__dict__
        if name in known:
            answer: T = known[name]
        else:
            answer = known[name] = work(owner)
        return answer

    return remembered


class HistoryTurn(Struct, frozen=True, dict=True):
    """What the user said in step `step`; -1 for a task that is in no step."""

    step: int
    text: str

    @cached_property
    def lowered(self) -> str:
        """Return what is read of the turn, in small letters: to see at once that a word does not occur."""
        return self.text[:LONGEST].lower().replace("’", "'")

    @cached_property
    def sentences(self) -> list[str]:
        """Return the turn's own sentences."""
        return sentences_of(self.text)


class History(Struct, frozen=True, dict=True):
    """A trajectory and what classifiers need of it; each part is made when it is first asked for."""

    trajectory: Trajectory

    @cached_property
    def acts(self) -> list[Act]:
        """Return every call of the agent in order with its answer; a command that the user runs is none."""
        acts: list[Act] = []
        for index, step in enumerate(self.trajectory.steps):
            calls = step.calls
            if step.role != "agent":
                continue
            if len(calls) == 1:
                results = step.results
                acts.append(_act(index, calls[0], results[0] if results else None))
            elif calls:
                acts.extend(_paired(index, step))
        shells = {act.call.name for act in acts if act.line is not None and not is_known_name(act.call.name)}
        if not shells:
            return acts
        return [_as_shell(act) if act.line is None and act.call.name in shells else act for act in acts]

    @cached_property
    def turns(self) -> list[HistoryTurn]:
        """Return the user's turns that say something, in order; the task first where no step says it."""
        turns = [
            HistoryTurn(index, step.text)
            for index, step in enumerate(self.trajectory.steps)
            if step.role == "user" and step.text
        ]
        task = self.trajectory.task
        if task and not any(task in turn.text or turn.text in task for turn in turns[:1]):
            turns.insert(0, HistoryTurn(-1, task))
        return turns

    @cached_property
    def news(self) -> list[int]:
        """Return the steps in which the user says something new, in order: not said before and no mere "go on"."""
        seen: set[str] = set()
        steps = []
        for turn in self.turns:
            text = turn.text[:LONGEST]
            if (text not in seen or _AGAIN.search(text)) and not goes_on(text):
                steps.append(turn.step)
            seen.add(text)
        return steps

    @cached_property
    def repeats_asked_for(self) -> bool:
        """Return whether the user asks for something to be done several times, or about what happens by chance."""
        return any(_SEVERAL_TIMES.search(turn.text[:LONGEST]) for turn in self.turns)

    @cached_property
    def agent_steps(self) -> list[int]:
        """Return the numbers of the agent's steps."""
        return [index for index, step in enumerate(self.trajectory.steps) if step.role == "agent"]


def goes_on(text: str) -> bool:
    """Return whether a turn says to go on and nothing else."""
    return len(text) < NUDGE and _GO_ON.search(text) is not None


def _act(index: int, call: ToolCall, result: ToolResult | None) -> Act:
    kind = kind_of(call)
    return Act(index, call, result, kind, command_of(call) if kind == "shell" else None)


def _as_shell(act: Act) -> Act:
    line = command_of(act.call)
    return Act(act.step, act.call, act.result, "shell", line) if line else act


def _paired(index: int, step: Step) -> list[Act]:
    by_id = {result.call_id: result for result in step.results if result.call_id is not None}
    acts = []
    for place, call in enumerate(step.calls):
        result = by_id.get(call.id) if call.id is not None else None
        if result is None and place < len(step.results) and step.results[place].call_id in (None, call.id):
            result = step.results[place]
        acts.append(_act(index, call, result))
    return acts
