"""Precision of two papers' judges against a floor: printed, and worked out again.

A precision of 86% on seven answers shows nothing. Clopper and Pearson's one-sided lower bound shows whether a floor
is kept. For a precision printed without its count, the number of needed answers is computed.
"""

from bisect import bisect_left
from fractions import Fraction
from itertools import count

from msgspec import structs

from misstep_analysis.published import Figure, load_paper, published_row
from misstep_analysis.repair.paper.tables import judge_confusion
from misstep_analysis.stats.decisions.thresholds import smallest_flagged
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import denominators_that_print
from misstep_analysis.stats.proportions import clopper_pearson
from misstep_analysis.tables import Row, Table, TableHead, Unit, estimate_row, made_by_this
from misstep_analysis.tables.wording import number_text

PRECISION, NEEDED, VERIFIED = "Precision", "Answers needed", "Answers verified"
NOT_ABOVE = "the precision itself is not above the floor: no number shows it"
_WINK, _PATCHES = "Wink's judge of recovery", "Engineering Agent's judge"
_MOST_ANSWERS = 10_000


def lower_bound(right: int, n: int) -> Estimate:
    """Return a precision with its one-sided lower bound of 95%."""
    return structs.replace(clopper_pearson(right, n, side="lower"), high=None)


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


@made_by_this
def precision_floor_table(floor: float) -> Table:
    """Return the precision of two papers' judges against a floor."""
    paper, cells, share = load_paper("wink"), judge_confusion(), number_text(floor, "share")
    figure, verified = paper["recovery.judge.precision"], paper["recovery.judge.checked"]
    rows: list[Row] = []
    for label, right, n in (
        ("unacceptable", cells.tp, cells.tp + cells.fp),
        ("acceptable", cells.tn, cells.tn + cells.fn),
    ):
        printed, group = load_paper("engineering_agent")[f"judge.table.{label}.precision"], f"{_PATCHES}, “{label}”"
        source = f"{right} / {n}, Section 8.3"
        needed = answers_needed(Fraction(right, n), floor)
        rows += [
            published_row(printed, PRECISION, group=group),
            _row(PRECISION, lower_bound(right, n), group, source, printed),
            _row(NEEDED, Estimate(needed, reason="" if needed else NOT_ABOVE), group, source, printed),
        ]
    # The least count of answers that prints Wink's precision, and the least that shows the floor.
    counts = [
        (right, n) for n, rights in denominators_that_print(figure.digits, _MOST_ANSWERS).items() for right in rights
    ]
    shown = next((one for one in counts if (lower_bound(*one).low or 0.0) >= floor), None)
    rows += [published_row(figure, PRECISION, group=_WINK), published_row(verified, VERIFIED, group=_WINK)]
    rows += [
        _row(
            PRECISION,
            lower_bound(right, n),
            f"{_WINK}, if of {n} answers",
            f"{right} / {n} prints as {figure.printed}",
            figure,
        )
        for right, n in dict.fromkeys([*counts[:1], *([] if shown is None else [shown])])
    ]
    known = f"would show {share} from {shown[1]} verified answers on" if shown else f"shows {share} at no number"
    return TableHead(
        "precision_floors",
        "judging",
        f"Is the judge right in at least {share} of what it flags?",
        (
            "The lower bounds are one-sided, 95%: Clopper and Pearson's.",
            "Answers needed: flagged answers that would show the floor with a precision like this one.",
            "Of the numbers of answers that Wink's precision may be of, the least, and the least that shows the floor.",
        ),
    ).table(f"Wink's {figure.printed} {known}; “{verified.printed}” were verified.", rows)


def _row(quantity: str, estimate: Estimate, group: str, source: str, printed: Figure) -> Row:
    unit: Unit = "count" if quantity == NEEDED else "share"
    return estimate_row(quantity, estimate, unit, group, source, "recomputed", (printed.paper,))
