"""The page of runs of the reflexive loop: the finding, items over time, tables, and the events of each attempt.

Texts of agents and targets are in the page as escaped text. A large run is cut to some lanes, items and characters of
each text, and the page says so.
"""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.measures.reflexive.work import AttemptMade, WorkedItem, WorkedRun
from misstep.analysis.pages.foot import Foot, described
from misstep.analysis.pages.page import page
from misstep.analysis.pages.reflexive.lanes import LANE, LEFT, OUTCOMES, WIDTH, end_of, lanes_of
from misstep.analysis.pages.reflexive.told import Told, told
from misstep.analysis.pages.rendering import asset, markup, render
from misstep.analysis.pages.table_html import table_html
from misstep.analysis.pages.trajectory import Passage, passage
from misstep.analysis.tables import Table
from misstep.analysis.tables.wording import counted_text, number_text

EVENTS_SHOWN = 12_000
"""How many events of items that can be opened a page has at most."""

PAGE_CHARACTERS = 5_000_000
"""How many characters all texts of a page may have together, about."""

_MOST, _LEAST = 4_000, 160


class AttemptShown(Struct, frozen=True):
    """An attempt as an item opens it."""

    number: int
    words: str
    outcome: str
    happened: tuple[Told, ...]


class ItemShown(Struct, frozen=True):
    """An item that can be opened."""

    number: int
    name: str
    words: str
    solved: bool
    task: Passage
    before: tuple[Told, ...]
    attempts: tuple[AttemptShown, ...]
    after: tuple[Told, ...]


def run_page(
    title: str, finding: str, run: WorkedRun, tables: Sequence[Table], warnings: Sequence[str] = (), *, foot: Foot
) -> str:
    """Return the page of one run."""
    items = items_shown(run)
    return render(
        "reflexive/page.html.jinja",
        reflexive_style=markup(asset("reflexive/style.css")),
        title=title,
        finding=finding,
        warnings=warnings,
        lanes=lanes_of(run),
        opened={item.number for item in items},
        geometry={"width": WIDTH, "left": LEFT, "lane": LANE},
        tables=[markup(table_html(table, with_finding=table.finding != finding)) for table in tables],
        items=items,
        left_out=len(run.items) - len(items),
        run_events=[told(event, _MOST) for event in run.events if not event.item][1:],
        foot=described(foot),
    )


def runs_page(
    title: str, tables: Sequence[Table], warnings: Sequence[str] = (), *, figures: Sequence[str], foot: Foot
) -> str:
    """Return the page of several runs: an ablation, or each beside the others."""
    return page(title, tables[0].finding, tables, figures, warnings, foot=foot)


def items_shown(run: WorkedRun) -> list[ItemShown]:
    """Return the items that the page opens, in their order: while there is room, those not truly solved first."""
    room = EVENTS_SHOWN
    chosen: list[int] = []
    for place in sorted(range(len(run.items)), key=lambda place: run.items[place].solved):
        room -= _size(run.items[place])
        if room < 0 and chosen:
            break
        chosen.append(place)
    events = sum(_size(run.items[place]) for place in chosen)
    most = max(_LEAST, min(_MOST, PAGE_CHARACTERS // max(events, 1)))
    return [_item(place + 1, run.items[place], most) for place in sorted(chosen)]


def _size(item: WorkedItem) -> int:
    return len(item.besides) + sum(len(attempt.events) for attempt in item.attempts)


def _item(number: int, item: WorkedItem, most: int) -> ItemShown:
    first = item.attempts[0].events[0].number if item.attempts else float("inf")
    parts = (
        end_of(item),
        counted_text(len(item.attempts), "attempt"),
        number_text(item.seconds, "seconds"),
        item.item.category,
    )
    return ItemShown(
        number,
        item.item.id,
        " · ".join(filter(None, parts)),
        item.solved,
        passage(item.item.text, most),
        tuple(told(event, most) for event in item.besides if event.number < first),
        tuple(_attempt(attempt, most) for attempt in item.attempts),
        tuple(told(event, most) for event in item.besides if event.number > first),
    )


def _attempt(attempt: AttemptMade, most: int) -> AttemptShown:
    words = f"{OUTCOMES[attempt.outcome]} · {number_text(attempt.seconds, 'seconds')}"
    corrupted = " · began on a corrupted target" if attempt.corrupted else ""
    return AttemptShown(
        attempt.number,
        f"{words}{corrupted}",
        attempt.outcome,
        tuple(told(event, most) for event in attempt.events),
    )
