"""Everything that a judge may see of an item, as one text: what the prompt's placeholder `{item}` stands for.

    The task:
    <data 7d0c…>
    Count the lines of a.txt
    </data 7d0c…>

    The run:
    <data b91e…>
    [step 0] user
    …
    </data b91e…>

    category:
    <data 03fa…>
    Formatting errors
    </data 03fa…>

    Step 4 is the one that is asked about.

Each part is fenced on its own, so that no text can open another part. What stands in an item's `extra` is shown only
where the benchmark names it in `shown`: the rest may tell how the run ended. What items about one run have in common
comes first, so that servers which keep the beginnings of prompts read it once.
"""

from collections.abc import Iterator

import msgspec

from misstep.harness.items import Item
from misstep.harness.judges.context import Fitted, cut_text, fitted_steps, shares
from misstep.harness.judges.fencing import fence, one_line
from misstep.harness.judges.judge_file import JudgeSpec
from misstep.harness.trajectory import Trajectory


def whole_item(spec: JudgeSpec, item: Item, run: Trajectory | None, room: int) -> Fitted:
    """Return all that is to be seen of an item, within `room` characters; no text where that is nothing.

    A run takes what the other parts leave, and at least half of the room.
    """
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
    """Title and text of what comes before the run."""
    if task := item.task or ("" if run is None else run.task):
        yield "The task", task
    if item.text:
        yield "The text", item.text
    if item.patch:
        yield "The patch", item.patch


def _noted(spec: JudgeSpec, item: Item) -> Iterator[tuple[str, str]]:
    """Name and text of what else is noted of an item and may be seen."""
    for name in spec.shown:
        value = item.extra.get(name)
        if value is not None and value != "":
            yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()
