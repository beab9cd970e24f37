"""Items over time as drawings: the whole run as a strip, and a lane an item with its attempts and their outcomes.

The time of a lane is that of work on its item alone.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from misstep_analysis.reflexive.work import AttemptMade, Outcome, WorkedItem, WorkedRun
from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_harness.escaping import one_line
from misstep_harness.reflexive.records.loop_events import (
    Deferred,
    GapFound,
    Happening,
    LoopEvent,
    PlateauFound,
    PutOff,
    ReEngaged,
    Restored,
    SnapshotTaken,
    StrategistVerdict,
    Verified,
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
