"""Pages of runs of the reflexive loop: items over time, and what happened in each attempt.

Items over time as drawings: the whole run as a strip, and a lane an item with its attempts and their outcomes.

The time of a lane is that of work on its item alone.

The page of runs of the reflexive loop: the finding, items over time, tables, and the events of each attempt.

Texts of agents and targets are in the page as escaped text. A large run is cut to some lanes, items and characters of
each text, and the page says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from misstep_analysis.pages.page import Foot, asset, described, markup, page, render, table_html
from misstep_analysis.pages.trajectory import Passage, passage
from misstep_analysis.reflexive.work import AttemptMade, Outcome, WorkedItem, WorkedRun
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_harness.escaping import one_line
from misstep_harness.reflexive.records import (
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
    StrategistVerdict,
    TurnEnded,
    Verified,
    Warned,
)

WIDTH, LEFT, RIGHT, LANE = 1000, 210, 130, 36
"""A drawing's width, its room for names and for ends, and the height of a lane."""

LANES_A_DRAWING = 40
"""How many lanes a drawing has; more lanes have more drawings."""

LANES = 400
NAMED = 27

OUTCOMES: Mapping[Outcome, str] = {
    "solved": "solved",
    "believed": "called solved, check not passed",
    "check_failed": "check failed",
    "unhealthy": "target unhealthy",
    "check_unknown": "check unknown",
    "check_weakened": "check weakened",
    "nothing_changed": "nothing changed",
    "over_budget": "over budget",
    "deferred": "check deferred",
    "unfinished": "not finished",
}
"""Outcome of an attempt → the meaning of its bar; each has a pattern of its own, so that grey print tells it apart."""

MARKS = {
    "snapshot": "snapshot of progress",
    "restored": "restored to progress",
    "baseline": "restored to the baseline",
    "script": "reverted by the worker's script",
    "broken": "restoration not verified, or no access after it",
    "plateau": "plateau",
    "gap": "evaluator gap",
    "asked": "strategist: C continue, P pivot, E escalate, S skip until; ? unreadable",
    "waits": "put off, or check deferred",
    "verified": "deferred check made",
}

_ABOVE = frozenset({"plateau", "gap", "asked"})
_LETTERS: Mapping[StrategistVerdict, str] = {"CONTINUE": "C", "PIVOT": "P", "ESCALATE": "E", "SKIP_UNTIL": "S"}
_TICKS = 6
_MARK = 10.0


class _Bar(Struct, frozen=True):
    x: float
    width: float
    outcome: Outcome
    corrupted: bool
    words: str


class _Mark(Struct, frozen=True):
    x: float
    kind: str
    letter: str
    words: str

    @property
    def above(self) -> bool:
        """Return whether it is above the bar, as what the loop decided; states of the target are below."""
        return self.kind in _ABOVE


class Lane(Struct, frozen=True):
    """An item as a lane; `number` is that on the page, `end` how it ended in words."""

    number: int
    name: str
    end: str
    solved: bool
    x_end: float
    words: str
    bars: tuple[_Bar, ...]
    marks: tuple[_Mark, ...]


class _Drawing(Struct, frozen=True):
    title: str
    height: int
    ticks: tuple[tuple[float, str], ...]
    lanes: tuple[Lane, ...]


class Strip(Struct, frozen=True):
    """A part of the whole run: its place, and how the item that was worked on ended."""

    x: float
    width: float
    end: str


class Lanes(Struct, frozen=True):
    """All drawings of a run, their keys, and how many items are not drawn."""

    strip: tuple[Strip, ...]
    strip_ticks: tuple[tuple[float, str], ...]
    drawings: tuple[_Drawing, ...]
    outcomes: tuple[tuple[Outcome, str], ...]
    marks: tuple[tuple[str, str], ...]
    left_out: int


def lanes_of(run: WorkedRun) -> Lanes:
    """Return the drawings of a run: its items in their order, `LANES` at most, those not truly solved first."""
    at = _own_time(run)
    chosen = set(sorted(range(len(run.items)), key=lambda place: run.items[place].solved)[:LANES])
    shown = [(place, run.items[place]) for place in sorted(chosen)]
    longest = max((at[event.number] for _, item in shown for event in _events(item)), default=0.0) or 1.0
    lanes = [_lane(place, item, at, longest) for place, item in shown]
    drawings = []
    for start in range(0, len(lanes), LANES_A_DRAWING):
        part = tuple(lanes[start : start + LANES_A_DRAWING])
        title = (
            f"Lanes {start + 1:,} to {start + len(part):,} of {len(lanes):,}"
            if len(lanes) > LANES_A_DRAWING
            else "Items over time"
        )
        drawings.append(_Drawing(title, LANE * len(part) + 26, _ticks(longest, LEFT, WIDTH - RIGHT), part))
    kinds = {bar.outcome for lane in lanes for bar in lane.bars}
    marked = {mark.kind for lane in lanes for mark in lane.marks}
    return Lanes(
        tuple(_strip(run)),
        _ticks(run.seconds or 1.0, 0, WIDTH),
        tuple(drawings),
        tuple((kind, words) for kind, words in OUTCOMES.items() if kind in kinds),
        tuple((kind, words) for kind, words in MARKS.items() if kind in marked),
        len(run.items) - len(lanes),
    )


def end_of(item: WorkedItem) -> str:
    """Return how an item ended, in a word or two."""
    if item.ending is None:
        return "not ended"
    if item.believed:
        return "solved" if item.solved else "believed solved"
    return in_words(item.ending.reason)


def _own_time(run: WorkedRun) -> dict[int, float]:
    """Number of an event → the seconds of work on its item up to it."""
    spent: dict[str, float] = {}
    at: dict[int, float] = {}
    for before, event in zip((run.events[0], *run.events), run.events, strict=False):
        spent[event.item] = spent.get(event.item, 0.0) + event.at - before.at
        at[event.number] = spent[event.item]
    return at


def _events(item: WorkedItem) -> Iterator[LoopEvent]:
    yield from item.besides
    for attempt in item.attempts:
        yield from attempt.events


def _lane(place: int, item: WorkedItem, at: Mapping[int, float], longest: float) -> Lane:
    scale = (WIDTH - RIGHT - LEFT) / longest
    bars = tuple(_bar(attempt, at, scale) for attempt in item.attempts)
    events = list(_events(item))
    marks = _apart(
        _Mark(round(LEFT + at[event.number] * scale, 1), *marked)
        for event in sorted(events, key=lambda event: event.number)
        if (marked := _marked(event.happened)) is not None
    )
    end = end_of(item)
    attempts = counted_text(len(item.attempts), "attempt")
    name = one_line(item.item.id)
    return Lane(
        place + 1,
        name if len(name) <= NAMED else f"{name[: NAMED - 1]}…",
        end,
        item.solved,
        round(LEFT + max((at[event.number] for event in events), default=0.0) * scale, 1),
        f"{name}: {end}, {attempts}, {number_text(item.seconds, 'seconds')}",
        bars,
        marks,
    )


def _apart(marks: Iterable[_Mark]) -> tuple[_Mark, ...]:
    """Marks in the order of time, none so close behind another one on its side that they cover each other."""
    free = {True: 0.0, False: 0.0}
    placed = []
    for mark in marks:
        x = max(mark.x, free[mark.above])
        free[mark.above] = round(x + _MARK, 1)
        placed.append(structs.replace(mark, x=x))
    return tuple(placed)


def _bar(attempt: AttemptMade, at: Mapping[int, float], scale: float) -> _Bar:
    end = at[attempt.events[-1].number]
    words = f"Attempt {attempt.number}: {OUTCOMES[attempt.outcome]}, {number_text(attempt.seconds, 'seconds')}"
    return _Bar(
        round(LEFT + (end - attempt.seconds) * scale, 1),
        round(max(attempt.seconds * scale, 1.5), 1),
        attempt.outcome,
        attempt.corrupted,
        f"{words}{', on a corrupted target' if attempt.corrupted else ''}",
    )


def _marked(happened: Happening) -> tuple[str, str, str] | None:
    match happened:
        case SnapshotTaken(name="progress"):
            return "snapshot", "", MARKS["snapshot"]
        case Restored(name=name):
            sound = happened.verified and happened.reachable
            kind = {"progress": "restored", "baseline": "baseline", "": "script"}[name] if sound else "broken"
            return kind, "", MARKS[kind]
        case PlateauFound(detector=detector):
            return "plateau", "≈", f"plateau, by {detector}"
        case GapFound():
            return "gap", "≠", MARKS["gap"]
        case ReEngaged(trigger=trigger, verdict=verdict, clean=clean):
            text = f"asked for {trigger.replace('_', ' ')}: {verdict}{'' if clean else ', unreadable'}"
            return "asked", _LETTERS[verdict] if clean else "?", text
        case PutOff() | Deferred():
            return "waits", "‖", MARKS["waits"]
        case Verified(status=status):
            return "verified", "✓" if status == "passed" else "✗", f"deferred check: {status}"
        case _:
            return None


def _strip(run: WorkedRun) -> Iterator[Strip]:
    """Return the parts of the run; items in a row that ended alike are one."""
    ends = {item.item.id: "solved" if item.solved else "believed" if item.believed else "other" for item in run.items}
    scale = WIDTH / (run.seconds or 1.0)
    start, kind = 0.0, ""
    for before, event in zip(run.events, run.events[1:], strict=False):
        now = ends.get(event.item, "") if event.at > before.at else kind
        if now != kind:
            if kind:
                yield Strip(round(start * scale, 1), round((before.at - start) * scale, 1), kind)
            start, kind = before.at, now
    if kind:
        yield Strip(round(start * scale, 1), round((run.seconds - start) * scale, 1), kind)


def _ticks(longest: float, left: float, right: float) -> tuple[tuple[float, str], ...]:
    steps = [step * unit for unit in (1, 60, 3600, 86_400) for step in (1, 2, 5, 10, 20, 30)]
    step = next((one for one in steps if longest / one <= _TICKS), longest / _TICKS)
    times = [number * step for number in range(int(longest / step) + 1)]
    unit, name = next((one for one in ((3600, "h"), (60, "min")) if step % one[0] == 0), (1, "s"))
    return tuple((round(left + time / longest * (right - left), 1), f"{time / unit:,.4g} {name}") for time in times)


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
