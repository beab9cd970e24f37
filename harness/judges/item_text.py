"""Everything that a judge may see of an item, as one text: what the prompt's placeholder `{item}` stands for.

    The task:
    <data 7d0c…>
    Count the lines of a.txt
    </data 7d0c…>

    category:
    <data 03fa…>
    Formatting errors
    </data 03fa…>

    Step 4 is the one that is asked about.

    The run:
    <data b91e…>
    [step 0] user
    …
    </data b91e…>

Each part is fenced on its own, so that no text can open another part. What stands in an item's `extra` is shown only
where the benchmark names it in `shown`: the rest may tell how the run ended.
"""

from collections.abc import Iterator, Sequence

import msgspec

from harness.items import Item
from harness.judges.context import CHARACTERS_PER_TOKEN, Fitted, cut_text, fitted
from harness.judges.fencing import fence
from harness.judges.judge_file import JudgeSpec
from harness.trajectory import Trajectory

WHOLE_ITEM = "item"
"""The placeholder."""


def whole_item(spec: JudgeSpec, item: Item, run: Trajectory | None) -> Fitted | None:
    """All that is to be seen of an item, within the judge's budget; `None` where that is nothing.

    A run takes what the other parts leave, and at least half of the budget.

    Parameters
    ----------
    spec
        The judge, as it is asked what the benchmark asks.
    item, run
        The item and the run that it is about.
    """
    texts = list(_texts(spec, item, run))
    room = spec.budget * CHARACTERS_PER_TOKEN
    shown: list[str] = []
    cuts: list[str] = []
    for (title, text), most in zip(texts, _rooms([len(text) for _, text in texts], _for_texts(room, run)), strict=True):
        part = cut_text(text, most)
        shown.append(f"{title}:\n{fence(part.text, f'{item.id} {title}')}")
        if part.cut:
            cuts.append(f"{title}: {part.cut}")
        room -= min(len(text), most)
    if item.step is not None:
        shown.append(f"Step {item.step} is the one that is asked about.")
    if run is not None:
        part = fitted(run, room // CHARACTERS_PER_TOKEN, spec.policy, item.step)
        shown.append(f"The run:\n{fence(part.text, f'{item.id} run')}")
        if part.cut:
            cuts.append(part.cut)
    return Fitted("\n\n".join(shown), "; ".join(cuts)) if shown else None


def _texts(spec: JudgeSpec, item: Item, run: Trajectory | None) -> Iterator[tuple[str, str]]:
    """Title and text of each part but the run."""
    if task := item.task or ("" if run is None else run.task):
        yield "The task", task
    if item.text:
        yield "The text", item.text
    if item.patch:
        yield "The patch", item.patch
    for name in spec.shown:
        said = item.extra.get(name)
        if said is not None and said != "":
            yield name, said if isinstance(said, str) else msgspec.json.encode(said).decode()


def _for_texts(room: int, run: Trajectory | None) -> int:
    return room if run is None else room // 2


def _rooms(lengths: Sequence[int], room: int) -> list[int]:
    """How many characters each text gets of `room`: what short ones leave goes to the long ones, in equal parts."""
    rooms = dict.fromkeys(range(len(lengths)), 0)
    left = room
    for shared, place in enumerate(sorted(rooms, key=lambda place: lengths[place])):
        rooms[place] = min(lengths[place], left // (len(lengths) - shared))
        left -= rooms[place]
    return list(rooms.values())
