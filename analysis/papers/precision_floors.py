"""Is a judge's flag right often enough: precision against a floor, for recorded judges and for those of two papers.

A precision of 86% on seven answers shows nothing. What shows that a floor is kept is the one-sided lower bound of the
precision: Clopper and Pearson's where answers are independent, Korn and Graubard's where several are about one run. A
paper that prints a precision without its count is asked how many answers would be needed.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from analysis.measures.judging.judged import JudgedItems
from analysis.measures.judging.reference import majority
from analysis.papers.engineering_agent.tables import judge_confusion
from analysis.published import Figure, load_paper, published_row
from analysis.stats.audit import denominators_that_print
from analysis.stats.clustered_bounds import effective_items, korn_graubard
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import IntArray
from analysis.stats.proportions import clopper_pearson
from analysis.stats.thresholds import smallest_flagged
from analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from analysis.tables.wording import number_text

PRECISION = "Precision"
NEEDED = "Answers needed"
VERIFIED = "Answers verified"
NOT_ABOVE = "the precision itself is not above the floor: no number shows it"
NEVER_FLAGGED = "the judge flagged nothing that has a gold label"
_MOST_ANSWERS = 10_000
"""Up to how many answers the counts behind a printed percentage are looked for."""


class Kept(Struct, frozen=True):
    """A precision with its one-sided lower bound, whether that reaches the floor, and the answers that would show it.

    `needed` is `None` where the precision is undefined or not above the floor.
    """

    precision: Estimate
    reached: bool
    needed: int | None


def kept_floor(clusters: npt.ArrayLike, floor: float, confidence: float = 0.95) -> Kept:
    """Whether flagged answers show a precision of at least the floor.

    How many would be needed supposes that answers of one run go on to be as like each other as these are.

    Parameters
    ----------
    clusters
        Clusters x (right, flagged); answers that stand for themselves may also come as one row of all of them.
    floor
        The precision to keep, above 0 and below 1.
    confidence
        Of the one-sided bound.

    Raises
    ------
    UsageError
        The floor is no share, or more answers are right than flagged.
    """
    counts = np.asarray(clusters, dtype=np.int64).reshape(-1, 2)
    right, n = (int(total) for total in counts.sum(axis=0))
    if n == 0:
        return Kept(Estimate(None, n=0, reason=NEVER_FLAGGED), reached=False, needed=None)
    if len(counts) == 1:
        precision, effective = clopper_pearson(right, n, confidence, "lower"), float(n)
    else:
        precision, effective = korn_graubard(counts, confidence, "lower"), effective_items(counts)
    needed = answers_needed(Fraction(right, n), floor, confidence)
    return Kept(
        structs.replace(precision, high=None),
        precision.low is not None and precision.low >= floor,
        None if needed is None else ceil(needed * max(1.0, n / effective)),
    )


def answers_needed(precision: Fraction, floor: float, confidence: float = 0.95) -> int | None:
    """The fewest independent answers that show the floor with at least the share of errors that a precision has.

    `None` where the precision is not above the floor.

    Raises
    ------
    UsageError
        The floor is no share.
    """
    if precision <= floor:
        return None
    wrong = 1 - precision

    def allowed(errors: int) -> bool:
        return errors >= wrong * smallest_flagged(floor, errors, confidence)

    # The more answers there are, the nearer the share of errors that shows the floor comes to the whole of 1 - floor.
    few, enough = -1, 1
    while not allowed(enough):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if allowed(middle) else (middle, enough)
    return smallest_flagged(floor, enough, confidence)


def flagged_by_cluster(judged: JudgedItems) -> IntArray:
    """Clusters x (right, flagged) of what a judge flags and people labelled."""
    label_of = majority(judged.gold).label_of
    counts: dict[str, list[int]] = {}
    for verdict in judged.verdicts:
        if verdict.label == judged.positive and verdict.item in label_of:
            cell = counts.setdefault(judged.clusters.get(verdict.item, f"item {verdict.item}"), [0, 0])
            cell[0] += label_of[verdict.item] == judged.positive
            cell[1] += 1
    return np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2)


@made_by_this
def precision_floor_table(
    judged: Sequence[JudgedItems], floor: float = 0.80, notes: Sequence[str] = (), confidence: float = 0.95
) -> Table:
    """The precision of recorded judges and of two papers' judges against a floor.

    Parameters
    ----------
    judged
        Judges with what people said.
    floor
        The precision to keep.
    notes
        What else to say.
    confidence
        Of the one-sided bounds.
    """
    real = [(one, kept_floor(flagged_by_cluster(one), floor, confidence)) for one in judged]
    wink, needed = _wink(floor, confidence)
    return Table(
        name="precision_floors",
        paper="judging",
        title=f"Is the judge right in at least {number_text(floor, 'share')} of what it flags?",
        finding=_finding(real, floor, confidence, needed),
        rows=(
            *(row for one, kept in real for row in _rows(kept, one.title, "real", one.source)),
            *_engineering_agent(floor, confidence),
            *wink,
        ),
        notes=(
            f"The lower bounds are one-sided, {100 * confidence:g}%: Clopper and Pearson's where answers are "
            "independent, Korn and Graubard's over runs or workspaces where several are about one.",
            "Answers needed: flagged ones whose people's labels would show the floor with a precision like this one. "
            "Recorded judges say no scores, so that there is no threshold to choose: all that they flag is counted.",
            "Of the numbers of answers that Wink's precision may be of, the least, and the least that shows the floor.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in judged)),
    )


def bounds(table: Table) -> list[Row]:
    """The precisions of the table that have a lower bound, each judge's under its name, for a forest plot."""
    rows = []
    for row in table.rows:
        if row.quantity == PRECISION and row.low is not None:
            name, _, which = row.group.partition(" on ") if row.evidence == "real" else row.group.partition(", ")
            rows.append(structs.replace(row, quantity=which or name, group=name))
    return rows


def _rows(kept: Kept, group: str, evidence: Evidence, source: str) -> list[Row]:
    reason = NOT_ABOVE if kept.needed is None and kept.precision.value is not None else kept.precision.reason
    needed = Estimate(kept.needed, reason="" if kept.needed is not None else reason)
    rows = (
        estimate_row(PRECISION, kept.precision, "share", group, source),
        estimate_row(NEEDED, needed, "count", group, source),
    )
    return [structs.replace(row, evidence=evidence) for row in rows]


def _engineering_agent(floor: float, confidence: float) -> list[Row]:
    """The judge of patches by both its classes, from the counts that the paper's text prints."""
    cells = judge_confusion()
    flags = {"unacceptable": (cells.tp, cells.tp + cells.fp), "acceptable": (cells.tn, cells.tn + cells.fn)}
    paper = load_paper("engineering_agent")
    rows: list[Row] = []
    for label, (right, n) in flags.items():
        group = f"Engineering Agent's judge, “{label}”"
        rows.append(published_row(paper[f"judge.table.{label}.precision"], PRECISION, group=group))
        rows += _rows(kept_floor([[right, n]], floor, confidence), group, "recomputed", f"{right} / {n}, Section 8.3")
    return rows


def _wink(floor: float, confidence: float) -> tuple[list[Row], int | None]:
    """The judge of recovery, and the fewest answers that print its precision and show the floor."""
    group, figure, verified = "Wink's judge of recovery", *_printed_by_wink()
    rows = [published_row(figure, PRECISION, group=group), published_row(verified, VERIFIED, group=group)]
    possible = denominators_that_print(figure.digits, _MOST_ANSWERS)
    counts = [(right, n) for n, found in possible.items() for right in found]
    shown = next((one for one in counts if kept_floor([one], floor, confidence).reached), None)
    for right, n in dict.fromkeys([*counts[:1], *([] if shown is None else [shown])]):
        source = f"{right} / {n} prints as {figure.printed}"
        kept = kept_floor([[right, n]], floor, confidence)
        rows += _rows(kept, f"{group}, if of {n} answers", "recomputed", source)[:1]
    return rows, None if shown is None else shown[1]


def _printed_by_wink() -> tuple[Figure, Figure]:
    """The precision of Wink's judge, and how many of its answers people verified."""
    paper = load_paper("wink")
    return paper["recovery.judge.precision"], paper["recovery.judge.checked"]


def _finding(real: Sequence[tuple[JudgedItems, Kept]], floor: float, confidence: float, needed: int | None) -> str:
    share, (figure, verified) = number_text(floor, "share"), _printed_by_wink()
    printed = (
        f"Wink's {figure.printed} would show it from {needed} verified answers on; “{verified.printed}” were verified"
    )
    ending = f"; {printed}." if needed is not None else "."
    if not real:
        return f"No judge's recorded answers are at hand{ending}"
    reached = [(one.title, kept.precision) for one, kept in real if kept.reached]
    bounds = "; ".join(
        f"{title} {number_text(estimate.value, 'share')}, at least {number_text(estimate.low, 'share')}"
        for title, estimate in reached
    )
    told = f" ({bounds})" if bounds else ""
    return (
        f"{len(reached)} of {len(real)} recorded judges are shown to be right in {share} or more of what they flag"
        f"{told}, by the one-sided {100 * confidence:g}% bound{ending}"
    )
