"""What the placeholders of a prompt stand for, for one item: each text fenced, all of them together within the budget.

{text} {task} {patch}             the item's fields; the task may be that of its run
{output_a} {output_b}             the outputs of a pair
{step}                            the number of the step that is asked about
{trajectory}                      the run's steps
{before} {intervention} {after}   the steps before the one that is asked about, that one, the 15 after it
{window}                          the steps after it up to 15 of the agent's, before a user speaks
{item}                            all that is to be seen of the item
any other                         what the item's `extra` has under that name

Of `{item}` each part is fenced on its own, so that no text can open another part:

    The task:
    <data 7d0c…>
    Count the lines of a.txt
    </data 7d0c…>

    category:
    <data 03fa…>
    Formatting errors
    </data 03fa…>

    Step 4 is the one that is asked about.

An item's `extra` is shown only as far as the benchmark names it in `shown`: the rest may tell how the run ended. What
items about one run have in common comes first, so that servers which keep the beginnings of prompts read it once.
"""

from collections.abc import Iterator

import msgspec

from misstep_harness.errors import InputError
from misstep_harness.items import NO_OUTPUT, Item
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, Fitted, cut_text, fitted_steps, shares
from misstep_harness.judges.fencing import fence, one_line
from misstep_harness.judges.judge_file import OF_THE_BENCHMARK, JudgeSpec
from misstep_harness.recovery import STEPS_AFTER, steps_after
from misstep_harness.trajectory import Trajectory


def whole_item(spec: JudgeSpec, item: Item, run: Trajectory | None, room: int) -> Fitted:
    """Return all that is to be seen of an item, within `room` characters; no text where that is nothing."""
    texts = list(_texts(item, run))
    noted = list(_noted(spec, item))
    rooms = shares([len(text) for _, text in texts + noted], room if run is None else room // 2)
    parts = [(title, cut_text(text, most)) for (title, text), most in zip(texts + noted, rooms, strict=True)]
    if run is not None and run.steps:
        left = room - sum(min(len(text), most) for (_, text), most in zip(texts + noted, rooms, strict=True))
        parts.insert(len(texts), ("The run", fitted_steps(run.steps, left, spec.policy, item.step, first=0)))
    shown = [f"{one_line(title)}:\n{fence(part.text, title)}" for title, part in parts]
    if shown and item.step is not None:
        shown.append(f"Step {item.step} is the one that is asked about.")
    cuts = [f"{title}: {part.cut}" for title, part in parts if part.cut]
    return Fitted("\n\n".join(shown), "; ".join(cuts))


def _texts(item: Item, run: Trajectory | None) -> Iterator[tuple[str, str]]:
    if task := item.task or ("" if run is None else run.task):
        yield "The task", task
    if item.text:
        yield "The text", item.text
    if item.patch:
        yield "The patch", item.patch
    yield from item.outputs.items()


def _noted(spec: JudgeSpec, item: Item) -> Iterator[tuple[str, str]]:
    for name in spec.shown:
        value = item.extra.get(name)
        if value is not None and value != "":
            yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


_OUTPUTS = ("output_a", "output_b")
_TEXT_FIELDS = ("text", "task", "patch", *_OUTPUTS)
_WEIGHTS = {"item": 5, "trajectory": 5, "before": 2, "intervention": 1, "after": 2, "window": 2}
"""What is made of a run, and how it shares the room that texts leave."""

_UNFENCED = ("step", "item")


def placeholder_values(spec: JudgeSpec, item: Item, run: Trajectory | None) -> tuple[dict[str, str], str]:
    """Return what each placeholder of the judge's prompt stands for, and what was cut."""
    names = sorted(spec.prompt.placeholders - OF_THE_BENCHMARK)
    texts = {name: _text(name, item, run) for name in names if name not in _WEIGHTS}
    room = spec.budget * CHARACTERS_PER_TOKEN
    weight = sum(_WEIGHTS.get(name, 0) for name in names)
    rooms = shares([len(text) for text in texts.values()], room // 2 if weight else room)
    fitted = {name: cut_text(text, most) for (name, text), most in zip(texts.items(), rooms, strict=True)}
    left = room - sum(min(len(text), most) for text, most in zip(texts.values(), rooms, strict=True))
    for name in names:
        if name in _WEIGHTS:
            fitted[name] = _of_run(name, spec, item, run, left * _WEIGHTS[name] // weight)
    missing = next((name for name in names if not fitted[name].text), None)
    if missing is not None:
        message = f"item {item.id!r} has no {{{missing}}}, which the prompt {spec.prompt.name} needs"
        raise InputError(message, "Choose a judge for items of this kind.")
    values = {
        name: part.text if name in _UNFENCED else fence(part.text, f"{item.id} {name}") for name, part in fitted.items()
    }
    return values, "; ".join(fitted[name].cut for name in names if fitted[name].cut)


def _text(name: str, item: Item, run: Trajectory | None) -> str:
    if name in _TEXT_FIELDS:
        text: str = getattr(item, name)
        if name in _OUTPUTS and item.kind == "pair":
            return text or NO_OUTPUT
        return text or (("" if run is None else run.task or "(not recorded)") if name == "task" else "")
    value = item.step if name == "step" else item.extra.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _of_run(name: str, spec: JudgeSpec, item: Item, run: Trajectory | None, room: int) -> Fitted:
    if name == "item":
        return whole_item(spec, item, run, room)
    if run is None or not run.steps:
        return Fitted("")
    if name == "trajectory":
        return fitted_steps(run.steps, room, spec.policy, item.step, first=0)
    return _around(name, spec, item, run, room)


def _around(name: str, spec: JudgeSpec, item: Item, run: Trajectory, room: int) -> Fitted:
    if item.step is None or not 0 <= item.step < len(run.steps):
        return Fitted("")
    behind = item.step + 1
    ends = {"before": item.step, "intervention": behind, "after": behind + STEPS_AFTER}
    first = {"before": 0, "intervention": item.step}.get(name, behind)
    last = ends[name] if name in ends else behind + len(steps_after(run, item.step))
    fitted = fitted_steps(run.steps[first:last], room, spec.policy, None, first)
    return fitted if fitted.text else Fitted("(none)")
