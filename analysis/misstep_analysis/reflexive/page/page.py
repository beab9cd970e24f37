"""The page of runs of the reflexive loop: the finding, items over time, tables, and the events of each attempt.

Texts of agents and targets are in the page as escaped text. A large run is cut to some lanes, items and characters of
each text, and the page says so.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from misstep_analysis.pages.foot import Foot, described
from misstep_analysis.pages.page import page, table_html
from misstep_analysis.pages.rendering import asset, markup, render
from misstep_analysis.reflexive.page.lanes import LANE, LEFT, OUTCOMES, WIDTH, end_of, lanes_of
from misstep_analysis.reflexive.work import AttemptMade, WorkedItem, WorkedRun
from misstep_analysis.sessions.trajectory_page import Passage, passage
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_harness.reflexive.records.loop_events import (
    Checked,
    Deferred,
    Diagnosed,
    Failed,
    GapFound,
    Halted,
    Happening,
    ItemBegan,
    ItemEnded,
    LessonLearned,
    LessonRetired,
    LessonsRecalled,
    LoopEvent,
    PartShown,
    Planned,
    PlateauFound,
    PutOff,
    ReEngaged,
    Reflected,
    Restored,
    SnapshotTaken,
    TurnEnded,
    Verified,
    Warned,
)


class Line(Struct, frozen=True):
    """An event in words: its kind, a short sentence, its text, and named texts."""

    what: str
    words: str = ""
    text: Passage = Passage()
    named: tuple[tuple[str, Passage], ...] = ()


EVENTS_SHOWN = 12_000
PAGE_CHARACTERS = 5_000_000
_MOST, _LEAST = 4_000, 160


class AttemptShown(Struct, frozen=True):
    """An attempt as an item opens it."""

    number: int
    words: str
    outcome: str
    happened: tuple[Line, ...]


class ItemShown(Struct, frozen=True):
    """An item that can be opened."""

    number: int
    name: str
    words: str
    solved: bool
    task: Passage
    before: tuple[Line, ...]
    attempts: tuple[AttemptShown, ...]
    after: tuple[Line, ...]


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
        run_events=[event_line(event, _MOST) for event in run.events if not event.item][1:],
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
        tuple(event_line(event, most) for event in item.besides if event.number < first),
        tuple(_attempt(attempt, most) for attempt in item.attempts),
        tuple(event_line(event, most) for event in item.besides if event.number > first),
    )


def _attempt(attempt: AttemptMade, most: int) -> AttemptShown:
    words = f"{OUTCOMES[attempt.outcome]} · {number_text(attempt.seconds, 'seconds')}"
    corrupted = " · began on a corrupted target" if attempt.corrupted else ""
    return AttemptShown(
        attempt.number,
        f"{words}{corrupted}",
        attempt.outcome,
        tuple(event_line(event, most) for event in attempt.events),
    )


_CALLS_NAMED = 12
_SAID_NEXT = frozenset({"planner", "reflector"})
"""Roles whose reply is the plan or the reflection, which is an event of its own."""


def event_line(event: LoopEvent, most: int) -> Line:
    """Return an event in words, of each text `most` characters; texts of agents and targets stay text."""
    happened = event.happened
    spoken = _spoken(happened, most) or _target(happened, most) or _decided(happened, most)
    return spoken or Line(type(happened).__name__)


def _spoken(happened: Happening, most: int) -> Line | None:
    match happened:
        case TurnEnded(role=role, reply=reply):
            follows = role in _SAID_NEXT and happened.over is None and not happened.error
            return Line(role, _turn(happened), passage("" if follows else reply, most))
        case Planned(plan=plan):
            return Line("plan", text=passage(plan, most))
        case Reflected(text=text, facts=facts, hidden=hidden):
            known = f"with the facts {_listed(facts)}" if facts else "without any fact"
            return Line(
                "reflection", f"{known}{f', {hidden:,} hidden calls told' if hidden else ''}", passage(text, most)
            )
        case ReEngaged():
            unread = "" if happened.clean else f"; it could not be read: {happened.warning}"
            until = f" {_listed(happened.until)}" if happened.until else ""
            words = f"asked for {in_words(happened.trigger)}: {happened.verdict}{until}{unread}"
            return Line("strategist", words, passage(happened.plan, most))
        case LessonsRecalled(lessons=lessons, stored=stored):
            return Line("lessons shown", f"{len(lessons):,} of {stored:,} stored: {_listed(lessons)}")
        case LessonLearned():
            words = f"{happened.lesson}, {happened.category}: {happened.outcome}, weight {happened.weight:.2f}"
            return Line("lesson", words, passage(happened.text, most))
        case LessonRetired(lesson=lesson, why=why):
            return Line("lesson retired", f"{lesson}: {in_words(why)}")
        case _:
            return None


def _target(happened: Happening, most: int) -> Line | None:
    match happened:
        case Checked(healthy=healthy, status=status, text=text, counted=counted, weakened=weakened):
            remark = f", taken for {counted}" if counted not in (None, status) else ""
            remark += ", after the check was weakened" if weakened else ""
            return Line("check", f"{status}{remark}; the target is {_healthy(healthy)}", passage(text, most))
        case Failed(kind=kind):
            return Line("failed", in_words(kind))
        case Diagnosed():
            why = f", as the way in band was not taken: {happened.why}" if happened.why else ""
            flags = "; ".join(f"{name}: {_answer(holds)}" for name, holds in happened.flags.items())
            facts = tuple((name, passage(fact, most)) for name, fact in happened.facts.items())
            return Line("diagnosis", f"{in_words(happened.channel)}{why}{f'; {flags}' if flags else ''}", named=facts)
        case SnapshotTaken(name=name, digest=digest):
            return Line("snapshot", f"{name} is now {digest[:12]}")
        case Restored(name=name, wanted=wanted, found=found, reachable=reachable):
            by = f"to {name}" if name else "by the worker's own script"
            same = (
                "verified" if happened.verified else f"the target is {found[:12] or 'unreadable'} and not {wanted[:12]}"
            )
            return Line("restored", f"{by}; {same}{'' if reachable else '; its access does not work'}")
        case Deferred(until=until):
            return Line("check deferred", until)
        case Verified(status=status, text=text, truly=truly):
            return Line("deferred check", f"{truly}, taken for {status}" if truly else status, passage(text, most))
        case _:
            return None


def _decided(happened: Happening, most: int) -> Line | None:
    match happened:
        case ItemBegan():
            return Line("begun")
        case PlateauFound(detector=detector, window=window, shared=shared):
            return Line("plateau", f"by {detector}, over {window} reflections that share {_listed(shared)}")
        case GapFound(attempts=attempts, changes=changes):
            return Line("evaluator gap", f"healthy and failing after {attempts} attempts with {changes} unlike changes")
        case PutOff(until=until):
            return Line("put off", f"until {_listed(until)} are solved")
        case ItemEnded(ending=ending, attempts=attempts):
            words = f"{in_words(ending.end)}, {in_words(ending.reason)}, after {counted_text(attempts, 'attempt')}"
            return Line("ended", words, passage(ending.text, most))
        case Warned(text=text):
            return Line("warning", text=passage(text, most))
        case Halted(text=text):
            return Line("halted", text=passage(text, most))
        case _:
            return None


def _turn(turn: TurnEnded) -> str:
    parts = [number_text(turn.seconds, "seconds")]
    if turn.calls:
        more = f" and {len(turn.calls) - _CALLS_NAMED} more" if len(turn.calls) > _CALLS_NAMED else ""
        parts.append(f"calls {', '.join(turn.calls[:_CALLS_NAMED])}{more}")
    if turn.refused:
        parts.append(f"{counted_text(turn.refused, 'call')} refused")
    if turn.over is not None:
        parts.append(f"over its budget of {in_words(turn.over)}")
    if turn.error:
        parts.append(f"raised {turn.error}")
    if turn.seen:
        parts.append(f"saw {_context_text(turn.seen)}")
    return " · ".join(parts)


def _context_text(parts: Sequence[PartShown]) -> str:
    left: Mapping[str, str] = {"cut": ", cut", "left_out": ", left out"}
    return ", ".join(f"{part.name} ({part.tokens:,} tokens{left.get(part.shown, '')})" for part in parts)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _healthy(healthy: bool) -> str:
    return "healthy" if healthy else "not healthy"


def _answer(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "cannot be told"}[holds]
