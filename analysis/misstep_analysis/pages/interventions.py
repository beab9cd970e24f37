"""The interventions of an observer: as a table has them, and as the page of a trajectory shows them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from misstep_analysis.tables.wording import count_text, counted_text, in_words
from misstep_harness.intervention import INTERVENTION, Intervention, ObservedRun, Withheld
from misstep_harness.trajectory import Step

AFTER = 15
"""How many steps after guidance are looked at: as many as Wink's judge of recovery reads (section 4.1)."""

_NAMED = 12
_DRAWN = 8
"""How many interventions have a row of the time line; the list has all."""

KEY = {
    "answered": "asked",
    "flagged": "misbehaviour seen",
    "unanswered": "no answer",
    "failed": "detector failed",
    "shown": "from the first evidence on",
    "told": "agent told",
    "withheld": "not told",
    "again": "shows again",
    "quiet": "steps after it",
}
"""Kind of a bar of the time line → its meaning."""

WITHHELD: Mapping[Withheld, str] = {
    "": "not told",
    "shadow": "only recorded: shadow mode says nothing",
    "stale": "withheld: the misbehaviour was over when the answer came",
    "repeated": "withheld: the same problem was spoken of already",
    "ended": "withheld: the run was over when the answer came",
}


class _Bar(Struct, frozen=True):
    start: float
    length: float
    kind: str


class InterventionView(Struct, frozen=True, omit_defaults=True):
    """One intervention in words; `steps` are its evidence, and `again` the evidence in the steps after it."""

    number: int
    categories: str
    level: int
    steps: tuple[int, ...]
    more: int
    detected_at: int
    told_at: int | None
    withheld: str
    rationale: str
    guidance: str
    again: tuple[int, ...]
    after: str
    bars: tuple[_Bar, ...]


class ObserverView(Struct, frozen=True):
    """An observer's record of a run: its sentence, its row of the time line, its interventions, and their key."""

    finding: str
    asked: tuple[_Bar, ...]
    interventions: tuple[InterventionView, ...]
    key: tuple[tuple[str, str], ...]


def observer_view(observed: ObservedRun, steps: Sequence[Step], evidence: Mapping[str, Iterable[int]]) -> ObserverView:
    """Return the observer's record as a page shows it."""
    n = len(steps)
    wide = max(1.0, n / 160)
    views = [_view(number, one, n, wide, observed, evidence) for number, one in enumerate(observed.interventions, 1)]
    invocations = tuple(
        _Bar(min(one.step, n - wide), wide, "flagged" if one.misbehaviours else one.status)
        for one in observed.invocations
    )
    kinds = {bar.kind for bar in (*invocations, *(bar for view in views for bar in view.bars))}
    key = tuple((kind, words) for kind, words in KEY.items() if kind in kinds)
    return ObserverView(_finding(observed, views), invocations, tuple(views), key)


def _view(
    number: int,
    one: Intervention,
    n: int,
    wide: float,
    observed: ObservedRun,
    evidence: Mapping[str, Iterable[int]],
) -> InterventionView:
    steps = tuple(sorted({step for misbehaviour in one.misbehaviours for step in misbehaviour.steps if step < n}))
    here = one.detected_at if one.delivered_at is None else one.delivered_at
    later = [misbehaviour for invocation in observed.invocations for misbehaviour in invocation.misbehaviours]
    shown = {step for category in one.categories for step in evidence.get(category, ())}
    shown |= {step for misbehaviour in later if misbehaviour.category in one.categories for step in misbehaviour.steps}
    again = tuple(sorted(step for step in shown if here < step <= here + AFTER))
    looked = any(invocation.status == "answered" and invocation.step > here for invocation in observed.invocations)
    return InterventionView(
        number=number,
        categories=" and ".join(in_words(category) for category in one.categories),
        level=one.level,
        steps=steps[:_NAMED],
        more=max(len(steps) - _NAMED, 0),
        detected_at=one.detected_at,
        told_at=one.delivered_at,
        withheld="" if one.delivered_at is not None else WITHHELD[one.withheld],
        rationale=" ".join(
            dict.fromkeys(misbehaviour.rationale for misbehaviour in one.misbehaviours if misbehaviour.rationale)
        ),
        guidance=one.guidance,
        again=again[:_NAMED],
        after=_after(one, min(n - 1 - here, AFTER), again, looked or all(name in evidence for name in one.categories)),
        bars=tuple(_bars(one, min(steps, default=one.detected_at), again, n, wide)) if number <= _DRAWN else (),
    )


def _after(one: Intervention, left: int, again: Sequence[int], looked: bool) -> str:
    behind = f"in the {counted_text(left, 'step')} after {'it was seen' if one.delivered_at is None else 'guidance'}"
    if left <= 0:
        return "The run ends there."
    if again:
        return f"It shows again {behind}:"
    return f"It does not show {behind}." if looked else f"Nobody looked for it {behind}."


def _bars(one: Intervention, first: int, again: Sequence[int], n: int, wide: float) -> Iterator[_Bar]:
    yield _Bar(first, one.detected_at - first + 1, "shown")
    here = one.detected_at if one.delivered_at is None else one.delivered_at
    if (length := min(AFTER, n - 1 - here)) > 0:
        yield _Bar(here + 1, length, "quiet")
    yield from (_Bar(min(step, n - wide), wide, "again") for step in again)
    yield _Bar(min(here, n - wide), wide, "withheld" if one.delivered_at is None else "told")


def _finding(observed: ObservedRun, views: Sequence[InterventionView]) -> str:
    sentence = f"{observed.detector} was asked {counted_text(len(observed.invocations), 'time')}"
    flagged = sum(bool(one.misbehaviours) for one in observed.invocations)
    errors = Counter(one.error for one in observed.invocations if one.status != "answered")
    lacking = "".join(f" {counted_text(n, 'question')} without an answer: {error}." for error, n in errors.items())
    delivered = sum(view.told_at is not None for view in views)
    saw = f"saw misbehaviour {counted_text(flagged, 'time')}" if flagged else "saw no misbehaviour"
    if observed.invocations and errors.total() == len(observed.invocations):
        saw = "never answered"
    if not views or observed.arm == "shadow":
        recorded = f"; {counted_text(len(views), 'intervention')} recorded, nothing said" if views else ""
        return f"The detector {sentence} and {saw}{recorded}.{lacking}"
    named = f"{count_text(delivered)} of {counted_text(len(views), 'intervention')}"
    return f"The detector {sentence} and {saw}; the agent was told {named}.{lacking}"


def guidance_number(step: Step) -> int | None:
    """Return the number of the intervention that a step of the run says to the agent; `None` for any other step."""
    number = step.extra.get(INTERVENTION)
    return number if isinstance(number, int) else None


class ObservedIntervention(Struct, frozen=True):
    """One intervention of a run.

    `detected_at` is the last step that the detector had seen, `answered_at` the one behind which its answer came, and
    `delivered_at` the one behind which the agent was told, `null` where it was not.
    """

    item: str
    step: int
    categories: tuple[str, ...]
    detected_at: int
    answered_at: int | None
    delivered_at: int | None
    level: int
    withheld: Withheld
    rationale: str
    guidance: str
    file: str = ""
    line: int | None = None


def interventions_of(run: ObservedRun) -> list[ObservedIntervention]:
    """Return the interventions of a run as the document has them."""
    answered_at = {invocation.step: invocation.answered_at for invocation in reversed(run.invocations)}
    return [
        ObservedIntervention(
            item=run.item,
            step=min(
                (step for misbehaviour in one.misbehaviours for step in misbehaviour.steps), default=one.detected_at
            ),
            categories=one.categories,
            detected_at=one.detected_at,
            answered_at=answered_at.get(one.detected_at),
            delivered_at=one.delivered_at,
            level=one.level,
            withheld=one.withheld,
            rationale=" ".join(
                dict.fromkeys(misbehaviour.rationale for misbehaviour in one.misbehaviours if misbehaviour.rationale)
            ),
            guidance=one.guidance,
            file=run.file,
            line=run.line,
        )
        for one in run.interventions
    ]
