"""Where in an item a text is put that tries to steer a judge.

In what a person asked, what tools answered, what the agent said or called, in a patch, in a text. A place takes an
item, its run and the text, and gives both back with the text in them; `None` where the item has no such place. Of
several steps the one nearest to the step that is asked about is taken, else the one nearest to the middle.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from misstep.harness.items import Item
from misstep.harness.trajectory import Step, Trajectory


class Subject(Struct, frozen=True):
    """An item and the run that it is about, where there is one."""

    item: Item
    run: Trajectory | None


Place = Callable[[Subject, str], Subject | None]


def task_start(subject: Subject, text: str) -> Subject | None:
    """Above what was asked."""
    task = _task(subject)
    return _with_item(subject, task=f"{text}\n\n{task}") if task else None


def task_end(subject: Subject, text: str) -> Subject | None:
    """Below what was asked."""
    task = _task(subject)
    return _with_item(subject, task=f"{task}\n\n{text}") if task else None


def observation(subject: Subject, text: str) -> Subject | None:
    """In the middle of what a tool answered."""

    def put(step: Step) -> Step:
        lines = step.results[0].text.split("\n")
        half = (len(lines) + 1) // 2
        answered = "\n".join([*lines[:half], text, *lines[half:]])
        return structs.replace(step, results=(structs.replace(step.results[0], text=answered), *step.results[1:]))

    return _in_a_step(subject, lambda step: bool(step.results), put)


def file_name(subject: Subject, text: str) -> Subject | None:
    """As the name of a file in what a tool answered."""

    def put(step: Step) -> Step:
        named = f"{step.results[-1].text}\nnotes/{_on_one_line(text)}.txt"
        return structs.replace(step, results=(*step.results[:-1], structs.replace(step.results[-1], text=named)))

    return _in_a_step(subject, lambda step: bool(step.results), put)


def argument(subject: Subject, text: str) -> Subject | None:
    """In an argument of a tool call."""

    def put(step: Step) -> Step:
        given = step.calls[0].arguments
        arguments: dict[str, Any] | str
        arguments = f"{given} # {text}" if isinstance(given, str) else {**given, "note": _on_one_line(text)}
        return structs.replace(step, calls=(structs.replace(step.calls[0], arguments=arguments), *step.calls[1:]))

    return _in_a_step(subject, lambda step: bool(step.calls), put)


def agent_words(subject: Subject, text: str) -> Subject | None:
    """In the agent's own words."""

    def put(step: Step) -> Step:
        return structs.replace(step, text=f"{step.text}\n\n{text}")

    return _in_a_step(subject, lambda step: step.role == "agent" and bool(step.text), put)


def last_step(subject: Subject, text: str) -> Subject | None:
    """Below what stands in the last step."""
    run = subject.run
    if run is None or not run.steps:
        return None
    last = structs.replace(run.steps[-1], text=f"{run.steps[-1].text}\n\n{text}")
    return Subject(subject.item, structs.replace(run, steps=(*run.steps[:-1], last)))


def patch_start(subject: Subject, text: str) -> Subject | None:
    """Above a patch, where a commit message stands."""
    return _with_item(subject, patch=f"{text}\n\n{subject.item.patch.lstrip()}") if subject.item.patch else None


def patch_line(subject: Subject, text: str) -> Subject | None:
    """As a comment among the lines that a patch adds."""
    lines = subject.item.patch.split("\n")
    added = [place for place, line in enumerate(lines) if line.startswith("+") and not line.startswith("+++")]
    if not added:
        return None
    comment = [f"+# {line}" for line in text.split("\n")]
    return _with_item(subject, patch="\n".join([*lines[: added[0]], *comment, *lines[added[0] :]]))


def text_start(subject: Subject, text: str) -> Subject | None:
    """Above a text."""
    return _with_item(subject, text=f"{text}\n\n{subject.item.text}") if subject.item.text else None


def text_end(subject: Subject, text: str) -> Subject | None:
    """Below a text."""
    return _with_item(subject, text=f"{subject.item.text}\n\n{text}") if subject.item.text else None


PLACES: dict[str, Place] = {
    "task_start": task_start,
    "task_end": task_end,
    "observation": observation,
    "file_name": file_name,
    "argument": argument,
    "agent_words": agent_words,
    "last_step": last_step,
    "patch_start": patch_start,
    "patch_line": patch_line,
    "text_start": text_start,
    "text_end": text_end,
}


def _task(subject: Subject) -> str:
    return subject.item.task or (subject.run.task if subject.run is not None else "")


def _with_item(subject: Subject, **changed: str) -> Subject:
    return Subject(structs.replace(subject.item, **changed), subject.run)


def _in_a_step(subject: Subject, suits: Callable[[Step], bool], put: Callable[[Step], Step]) -> Subject | None:
    if subject.run is None:
        return None
    steps = subject.run.steps
    wanted = subject.item.step if subject.item.step is not None else len(steps) // 2
    suitable = [number for number, step in enumerate(steps) if suits(step)]
    if not suitable:
        return None
    nearest = min(suitable, key=lambda number: abs(number - wanted))
    changed = (*steps[:nearest], put(steps[nearest]), *steps[nearest + 1 :])
    return Subject(subject.item, structs.replace(subject.run, steps=changed))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
