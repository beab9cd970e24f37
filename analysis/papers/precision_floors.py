"""Precision of a judge's flags against a floor, for recorded judges and for those of two papers.

A precision of 86% on seven answers shows nothing. The one-sided lower bound of the precision shows that a floor is
kept: Clopper and Pearson's if answers are independent, Korn and Graubard's if several are about one run. For a
precision printed without its count, the number of needed answers is computed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from math import ceil

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep.analysis.measures.judging.judged import JudgedItems, datasets_of
from misstep.analysis.measures.judging.sample import majority
from misstep.analysis.papers.engineering_agent.tables import judge_confusion
from misstep.analysis.published import Figure, load_paper, published_row
from misstep.analysis.stats.clusters.clustered_bounds import effective_items, korn_graubard
from misstep.analysis.stats.decisions.thresholds import smallest_flagged
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.audit import denominators_that_print
from misstep.analysis.stats.proportions import clopper_pearson
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.analysis.tables import Evidence, Row, Table, Unit, estimate_row, made_by_this, measured_on
from misstep.analysis.tables.wording import number_text

PRECISION = "Precision"
NEEDED = "Answers needed"
VERIFIED = "Answers verified"
NOT_ABOVE = "the precision itself is not above the floor: no number shows it"
NEVER_FLAGGED = "the judge flagged nothing that has a gold label"
_WINK, _PATCHES = "Wink's judge of recovery", "Engineering Agent's judge"
_MOST_ANSWERS = 10_000


class ShownPrecision(Struct, frozen=True):
    """A precision with its one-sided lower bound, whether that reaches the floor, and the answers that would show it.

    `needed` is `None` if the precision is undefined or not above the floor.
    """

    precision: Estimate
    reached: bool
    needed: int | None


def kept_floor(clusters: npt.ArrayLike, floor: float, confidence: float = 0.95) -> ShownPrecision:
    """Return whether flagged answers show a precision of at least the floor.

    The number of needed answers supposes that answers of one run go on to be as alike as these are.
    """
    counts = np.asarray(clusters, dtype=np.int64).reshape(-1, 2)
    right, n = (int(total) for total in counts.sum(axis=0))
    if n == 0:
        return ShownPrecision(Estimate(None, n=0, reason=NEVER_FLAGGED), reached=False, needed=None)
    if len(counts) == 1:
        precision, effective = clopper_pearson(right, n, confidence, "lower"), float(n)
    else:
        precision, effective = korn_graubard(counts, confidence, "lower"), effective_items(counts)
    needed = answers_needed(Fraction(right, n), floor, confidence)
    return ShownPrecision(
        structs.replace(precision, high=None),
        precision.low is not None and precision.low >= floor,
        None if needed is None else ceil(needed * max(1.0, n / effective)),
    )


def answers_needed(precision: Fraction, floor: float, confidence: float = 0.95) -> int | None:
    """Return the fewest independent answers with this share of errors that show the floor, or `None`."""
    if precision <= floor:
        return None
    wrong = 1 - precision

    def allowed(errors: int) -> bool:
        return errors >= wrong * smallest_flagged(floor, errors, confidence)

    # The more answers there are, the nearer the share of errors that shows the floor comes to the whole of 1 - floor:
    # once a number of errors is allowed all larger ones are.
    enough = next(2**power for power in count() if allowed(2**power))
    return smallest_flagged(floor, bisect_left(range(enough), True, key=allowed), confidence)


def flagged_by_cluster(judged: JudgedItems) -> IntArray:
    """Return clusters x (right, flagged) of a judge's flags with people's labels."""
    label_of = majority(judged.gold).label_of
    right, flagged = Counter[str](), Counter[str]()
    for verdict in judged.verdicts:
        if verdict.label == judged.positive and verdict.item in label_of:
            cluster = judged.clusters.get(verdict.item, f"item {verdict.item}")
            flagged[cluster] += 1
            right[cluster] += label_of[verdict.item] == judged.positive
    return np.array([(right[cluster], n) for cluster, n in flagged.items()], dtype=np.int64).reshape(-1, 2)


class Floor(Struct, frozen=True):
    """A judge's precision compared with the floor, on a part of its items, with its origin.

    `heading` names judge and part together; `printed` is the paper's figure that it comes from, `dataset` the set
    that it is measured on.
    """

    judge: str
    part: str
    heading: str
    shown: ShownPrecision
    source: str
    printed: Figure | None = None
    dataset: str = ""

    def row(self, quantity: str, estimate: Estimate, unit: Unit, group: str) -> Row:
        """Return a figure of it as a row."""
        papers = () if self.printed is None else (self.printed.paper,)
        evidence: Evidence = "real" if self.printed is None else "recomputed"
        return estimate_row(quantity, estimate, unit, group, self.source, evidence, papers)


class Floors(Struct, frozen=True):
    """Recorded judges and those of two papers compared with a floor.

    - `confidence`: The confidence of the one-sided bounds.
    - `patches`: The Engineering Agent's judge by each of its labels, with the precision printed for it.
    - `possible`: Wink's judge of recovery, if so many of its answers were verified.
    - `needed`: The fewest answers that print Wink's precision and show the floor.
    """

    floor: float
    confidence: float
    recorded: tuple[Floor, ...]
    patches: tuple[Floor, ...]
    possible: tuple[Floor, ...]
    needed: int | None
    datasets: tuple[str, ...]


def precision_floors(judged: Sequence[JudgedItems], floor: float = 0.80, confidence: float = 0.95) -> Floors:
    """Return the precision of recorded judges and of two papers' judges against a floor, by one-sided bounds."""

    def of_paper(judge: str, part: str, right: int, n: int, source: str, printed: Figure) -> Floor:
        precision = kept_floor([(right, n)], floor, confidence)
        return Floor(judge, part, f"{judge}, {part}", precision, f"{right} / {n}{source}", printed)

    floors = [kept_floor(flagged_by_cluster(one), floor, confidence) for one in judged]
    recorded = [
        Floor(one.judge, one.on, one.title, precision, one.source, dataset=one.dataset)
        for one, precision in zip(judged, floors, strict=True)
    ]
    cells, paper = judge_confusion(), load_paper("engineering_agent")
    flags = {"unacceptable": (cells.tp, cells.tp + cells.fp), "acceptable": (cells.tn, cells.tn + cells.fn)}
    patches = [
        of_paper(_PATCHES, f"“{label}”", *counts, ", Section 8.3", paper[f"judge.table.{label}.precision"])
        for label, counts in flags.items()
    ]
    # The least count of answers that prints Wink's precision, and the least that shows the floor.
    figure, _ = _printed_by_wink()
    counts = [
        (right, n) for n, rights in denominators_that_print(figure.digits, _MOST_ANSWERS).items() for right in rights
    ]
    shown = next((one for one in counts if kept_floor([one], floor, confidence).reached), None)
    possible = [
        of_paper(_WINK, f"if of {n} answers", right, n, f" prints as {figure.printed}", figure)
        for right, n in dict.fromkeys([*counts[:1], *([] if shown is None else [shown])])
    ]
    return Floors(
        floor,
        confidence,
        tuple(recorded),
        tuple(patches),
        tuple(possible),
        None if shown is None else shown[1],
        datasets_of(judged),
    )


@made_by_this
def precision_floor_table(floors: Floors, notes: Sequence[str] = ()) -> Table:
    """Return the precision of recorded judges and of two papers' judges against a floor."""
    figure, verified = _printed_by_wink()
    rows = [row for one in floors.recorded for row in measured_on(one.dataset, _rows(one))]
    for one in floors.patches:
        rows += [
            *([] if one.printed is None else [published_row(one.printed, PRECISION, group=one.heading)]),
            *_rows(one),
        ]
    rows += [
        published_row(figure, PRECISION, group=_WINK),
        published_row(verified, VERIFIED, group=_WINK),
        *(one.row(PRECISION, one.shown.precision, "share", one.heading) for one in floors.possible),
    ]
    return Table(
        name="precision_floors",
        paper="judging",
        title=f"Is the judge right in at least {number_text(floors.floor, 'share')} of what it flags?",
        finding=_finding(floors),
        rows=tuple(rows),
        notes=(
            f"The lower bounds are one-sided, {100 * floors.confidence:g}%: Clopper and Pearson's where answers are "
            "independent, Korn and Graubard's over runs or workspaces where several are about one.",
            "Answers needed: flagged ones whose people's labels would show the floor with a precision like this one. "
            "Recorded judges give no scores and have no threshold: all their flags are counted.",
            "Of the numbers of answers that Wink's precision may be of, the least, and the least that shows the floor.",
            *notes,
        ),
        datasets=floors.datasets,
    )


def bounds(floors: Floors) -> list[Row]:
    """Return the precisions that have a lower bound, each judge's under its name, for a forest plot."""
    return [
        one.row(one.part or one.judge, one.shown.precision, "share", one.judge)
        for one in (*floors.recorded, *floors.patches, *floors.possible)
        if one.shown.precision.low is not None
    ]


def _rows(one: Floor) -> list[Row]:
    shown = one.shown
    reason = NOT_ABOVE if shown.needed is None and shown.precision.value is not None else shown.precision.reason
    needed = Estimate(shown.needed, reason="" if shown.needed is not None else reason)
    return [one.row(PRECISION, shown.precision, "share", one.heading), one.row(NEEDED, needed, "count", one.heading)]


def _printed_by_wink() -> tuple[Figure, Figure]:
    paper = load_paper("wink")
    return paper["recovery.judge.precision"], paper["recovery.judge.checked"]


def _finding(floors: Floors) -> str:
    share, (figure, verified) = number_text(floors.floor, "share"), _printed_by_wink()
    printed = (
        f"; Wink's {figure.printed} would show it from {floors.needed} verified answers on; “{verified.printed}” were "
        "verified"
    )
    ending = "." if floors.needed is None else f"{printed}."
    if not floors.recorded:
        return f"No judge's recorded answers are available{ending}"
    reached = [one for one in floors.recorded if one.shown.reached]
    shown = "; ".join(
        f"{one.heading} {number_text(one.shown.precision.value, 'share')}, at least "
        f"{number_text(one.shown.precision.low, 'share')}"
        for one in reached
    )
    examples = f" ({shown})" if shown else ""
    return (
        f"{len(reached)} of {len(floors.recorded)} recorded judges are shown to be right in {share} or more of what "
        f"they flag{examples}, by the one-sided {100 * floors.confidence:g}% bound{ending}"
    )
