"""Where in an item a text is put that tries to steer a judge."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from misstep.harness.items import Item
from misstep.harness.trajectory import Step, Trajectory


class Subject(Struct, frozen=True):
    """An item and the run that it is about, if there is one."""

    item: Item
    run: Trajectory | None


Place = Callable[[Subject, str], Subject | None]


def _beside(field: str, *, above: bool) -> Place:
    def place(subject: Subject, text: str) -> Subject | None:
        own: str = getattr(subject.item, field)
        if field == "task" and not own and subject.run is not None:
            own = subject.run.task
        if not own:
            return None
        if field == "patch":
            own = own.lstrip()
        parts = (text, own) if above else (own, text)
        return Subject(structs.replace(subject.item, **{field: "\n\n".join(parts)}), subject.run)

    return place


def _patch_line(subject: Subject, text: str) -> Subject | None:
    lines = subject.item.patch.split("\n")
    added = [place for place, line in enumerate(lines) if line.startswith("+") and not line.startswith("+++")]
    if not added:
        return None
    comment = [f"+# {line}" for line in text.split("\n")]
    patch = "\n".join([*lines[: added[0]], *comment, *lines[added[0] :]])
    return Subject(structs.replace(subject.item, patch=patch), subject.run)


def _in_a_step(suits: Callable[[Step], object], put: Callable[[Step, str], Step]) -> Place:
    def place(subject: Subject, text: str) -> Subject | None:
        steps = () if subject.run is None else subject.run.steps
        suitable = [number for number, step in enumerate(steps) if suits(step)]
        if subject.run is None or not suitable:
            return None
        wanted = subject.item.step if subject.item.step is not None else len(steps) // 2
        nearest = min(suitable, key=lambda number: abs(number - wanted))
        changed = (*steps[:nearest], put(steps[nearest], text), *steps[nearest + 1 :])
        return Subject(subject.item, structs.replace(subject.run, steps=changed))

    return place


def _into_answer(step: Step, text: str) -> Step:
    lines = step.results[0].text.split("\n")
    half = (len(lines) + 1) // 2
    answer = "\n".join([*lines[:half], text, *lines[half:]])
    return structs.replace(step, results=(structs.replace(step.results[0], text=answer), *step.results[1:]))


def _as_file_name(step: Step, text: str) -> Step:
    answer = f"{step.results[-1].text}\nnotes/{_on_one_line(text)}.txt"
    return structs.replace(step, results=(*step.results[:-1], structs.replace(step.results[-1], text=answer)))


def _into_argument(step: Step, text: str) -> Step:
    own = step.calls[0].arguments
    arguments: dict[str, Any] | str
    arguments = f"{own} # {text}" if isinstance(own, str) else {**own, "note": _on_one_line(text)}
    return structs.replace(step, calls=(structs.replace(step.calls[0], arguments=arguments), *step.calls[1:]))


def _below_words(step: Step, text: str) -> Step:
    return structs.replace(step, text=f"{step.text}\n\n{text}")


def _last_step(subject: Subject, text: str) -> Subject | None:
    run = subject.run
    if run is None or not run.steps:
        return None
    return Subject(subject.item, structs.replace(run, steps=(*run.steps[:-1], _below_words(run.steps[-1], text))))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


PLACES: dict[str, Place] = {
    "task_start": _beside("task", above=True),
    "task_end": _beside("task", above=False),
    "observation": _in_a_step(lambda step: step.results, _into_answer),
    "file_name": _in_a_step(lambda step: step.results, _as_file_name),
    "argument": _in_a_step(lambda step: step.calls, _into_argument),
    "agent_words": _in_a_step(lambda step: step.role == "agent" and step.text, _below_words),
    "last_step": _last_step,
    # Where a commit message is
    "patch_start": _beside("patch", above=True),
    "patch_line": _patch_line,
    "text_start": _beside("text", above=True),
    "text_end": _beside("text", above=False),
}
"""Name → the place."""
