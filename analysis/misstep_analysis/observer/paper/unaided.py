"""Loops without intervention: public runs compared with Wink's criterion of recovery.

Wink counts an agent as recovered from a loop if the same call with the same arguments does not come back within the
15 steps after the intervention. In runs without intervention, from the first step at which the loop could be seen, the
call comes back, or the run ends first, or neither. The first two compete. A record ends with its run, so that nothing
is censored and each cumulative incidence is a plain share.
"""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from misstep_analysis.observer.recovery import WINDOW
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import interval_words, number_text

FEWEST = 20
"""Smallest number of loops of a set with a curve."""

REPEATED, ENDED = 1, 2


class Loop(Struct, frozen=True):
    """What followed a loop in a run.

    `again` is how many of the agent's steps later the same call came back, `None` if it did not; `left` is how many
    steps the agent took after it in all.
    """

    dataset: str
    source: str
    run: str
    again: int | None
    left: int

    @property
    def event(self) -> tuple[int, int]:
        """Return when the first of the two happened, and which; the end of a run counts as the step after its last."""
        if self.again is not None:
            return self.again, REPEATED
        return self.left + 1, ENDED


_UNAIDED_LOOPS = TableHead(
    "unaided_loops",
    "wink",
    "Loops in public runs without intervention",
    (
        "A loop is seen at the first step up to which the rule for loops finds one. Only runs in which the rule finds "
        "a loop as a whole are here: a failing call that worked in the end does not count.",
        "A run that ended need not have failed: the agent may have given its answer. Other agents, other tasks and "
        "a rule instead of a model's judgement: the figures are beside Wink's and are not a control arm of it.",
    ),
)


@made_by_this
def unaided_table(loops: Sequence[Loop], notes: Sequence[str] = ()) -> Table:
    """Return the outcomes of loops within 15 steps without intervention, a group a set."""
    rows: list[Row] = []
    for members in _by_set(loops):
        counts = {
            "same call again within 5 steps": share_by(members, 5, REPEATED),
            f"same call again within {WINDOW} steps": share_by(members, WINDOW, REPEATED),
            f"run over within {WINDOW} steps, the call not again": share_by(members, WINDOW, ENDED),
            f"neither: recovered by Wink's criterion, {WINDOW} steps seen": wilson(
                sum(loop.event[0] > WINDOW for loop in members), len(members)
            ),
        }
        rows += measured_on(members[0].dataset, rows_in("share", counts, members[0].dataset, members[0].source))
    return _UNAIDED_LOOPS.table(
        _finding(loops),
        rows,
        (*_room(loops), "Intervals take runs as independent; runs of one task or agent may hang together.", *notes),
        datasets=(loop.dataset for loop in loops),
    )


def repeat_rows(loops: Sequence[Loop]) -> list[Row]:
    """Return rows of a curve for large sets: by each step after the loop was seen, the share whose call came back."""
    return [
        estimate_row(str(step), share_by(members, step, REPEATED), "share", members[0].dataset, members[0].source)
        for members in _by_set(loops)
        if len(members) >= FEWEST
        for step in range(1, WINDOW + 1)
    ]


def repeat_places() -> dict[str, float]:
    """Return quantity of a curve's row → its step."""
    return {str(step): float(step) for step in range(1, WINDOW + 1)}


def _by_set(loops: Sequence[Loop]) -> list[list[Loop]]:
    ordered = sorted(loops, key=lambda loop: loop.dataset)
    return [list(members) for _, members in groupby(ordered, key=lambda loop: loop.dataset)]


def _room(loops: Sequence[Loop]) -> list[str]:
    sentences = [
        f"{sum(loop.left >= WINDOW for loop in members)} of {len(members)} in {members[0].dataset}"
        for members in _by_set(loops)
    ]
    return (
        [f"Runs that went on for {WINDOW} steps or more after the loop was seen: {', '.join(sentences)}."]
        if sentences
        else []
    )


def share_by(loops: Sequence[Loop], step: int, cause: int) -> Estimate:
    """Return the share of loops with an event of one cause by a step: the cumulative incidence without censoring."""
    count = sum(when <= step and which == cause for when, which in (loop.event for loop in loops))
    return wilson(count, len(loops))


def _finding(loops: Sequence[Loop]) -> str:
    if not loops:
        return "No set of runs with a loop is available."
    several = [members for members in _by_set(loops) if len(members) >= FEWEST]
    repeated = [(members, share_by(members, WINDOW, REPEATED)) for members in several]
    sentences = [
        f"{number_text(share.value, 'share')} of {len(members)} loops in {members[0].dataset} "
        f"({interval_words(share.low, share.high, 'share')})"
        for members, share in repeated
    ]
    if not sentences:
        return f"{len(loops)} loops are available, fewer than {FEWEST} in each set."
    return f"Without intervention the same call came back within {WINDOW} steps after {' and '.join(sentences)}."
