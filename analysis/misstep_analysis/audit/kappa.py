"""Cohen's kappa of two raters: from their matrix, or against the limits that the number of agreements sets.

A kappa outside the limits is `impossible`; one inside is `underdetermined`, since others would be possible, too.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from misstep_analysis.audit.rounding_boxes import (
    Box,
    Checked,
    compared,
    fits,
    input_box,
    is_exact_count,
    number,
    point,
    printed_value,
    underdetermined,
    whole_counts,
)
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.audit import kappa_limits, kappa_of, possible_products

FEWEST, MOST = 2, 8
"""How many labels are tried if their number is not printed."""

_UNPRINTED = "how often each rater used each label is not printed"


class Raters(Struct, frozen=True):
    """The printed figures of two raters; `margins` says how often one of them used each label."""

    n: Figure | None = None
    agreement: Figure | None = None
    labels: Figure | None = None
    margins: tuple[Figure, ...] = ()


class _Case(Struct, frozen=True):
    """Whole numbers that the printed figures leave open."""

    n: int
    agree: int
    labels: int


def check_kappa(
    figure: Figure,
    raters: Raters,
    matrix: Sequence[Sequence[Figure]] = (),
    labels: Mapping[int, int] | None = None,
) -> Checked:
    """Check Cohen's kappa of a printed matrix; without all its rows, whether the agreements leave it open."""
    agreement = raters.agreement
    if matrix and all(len(row) == len(matrix) for row in matrix):
        order = [labels[place] for place in range(len(matrix))] if labels else range(len(matrix))
        return _from_matrix(figure, [[row[place] for place in order] for row in matrix])
    if agreement is None or input_box(agreement) is None:
        some = "The matrix has not as many columns as rows, the" if matrix else "The"
        return underdetermined("kappa", f"{some} agreement is not printed as a number, and {_UNPRINTED}.")
    return _of_agreement(figure, raters, agreement, max(map(len, matrix), default=None))


def _of_agreement(figure: Figure, raters: Raters, agreement: Figure, columns: int | None) -> Checked:
    items, how_many = _whole(raters.n), columns if raters.labels is None else _whole(raters.labels)
    first = tuple(count for count in map(_whole, raters.margins) if count is not None)
    if len(first) < len(raters.margins):
        return underdetermined("kappa", "How often a rater used a label is not a whole count.")
    if how_many is not None and how_many < FEWEST:
        return underdetermined("kappa", f"Kappa of {how_many} label is 0/0.")
    if items is None:
        return _without_n(figure, agreement, how_many)
    if items <= 0:
        return Checked("kappa", "impossible", "The row counts no items.")
    if first and sum(first) != items:
        sentence = f"The counts of the labels add up to {sum(first):,}, not to {items:,}."
        return Checked("kappa", "impossible", sentence)
    if first:
        how_many = max(len(first), how_many or FEWEST)
    return _within_limits(figure, agreement, items, how_many)


def _from_matrix(figure: Figure, matrix: Sequence[Sequence[Figure]]) -> Checked:
    if not all(is_exact_count(cell) for row in matrix for cell in row):
        return underdetermined("kappa", "A cell of the matrix is not a whole count.")
    cells = [[int(printed_value(cell)) for cell in row] for row in matrix]
    total = sum(map(sum, cells))
    agree = sum(row[place] for place, row in enumerate(cells))
    chance = sum(sum(row) * sum(column) for row, column in zip(cells, zip(*cells, strict=True), strict=True))
    if total == 0 or chance == total**2:
        return underdetermined("kappa", "Kappa is 0/0: only one label is used.")
    expected = chance / total**2
    working = f"({agree:,} / {total:,} - {expected:.4f}) / (1 - {expected:.4f})"
    return compared("kappa", figure, working, point(kappa_of(total, agree, chance)))


def _without_n(figure: Figure, agreement: Figure, labels: int | None) -> Checked:
    """Check kappa against the limits that a share of agreement sets, whatever the number of items."""
    share = input_box(agreement)
    if share is None or is_exact_count(agreement) or not 0 <= share.low <= share.high < 1:
        return underdetermined("kappa", f"{agreement.printed} agree, of a number of items that is not printed.")
    low, high = kappa_limits(share.low, labels or MOST)[0], kappa_limits(share.high, labels or MOST)[1]
    if low is None or high is None:  # only where all agree
        return underdetermined("kappa", f"{agreement.printed} agree, of a number of items that is not printed.")
    if labels is None:
        high = share.high
    between = f"{number(low, figure)} to {number(high, figure)}"
    of = "" if labels is None else f" on {labels} labels"
    if not fits(figure, Box(low, high)):
        above = printed_value(figure) > high
        rule = (
            f"Kappa is never greater than the raw agreement, and {figure.printed} is more than {agreement.printed}."
            if above and labels is None
            else f"{agreement.printed} agreement{of} leaves a kappa from {between}, and {figure.printed} is outside."
        )
        return Checked("kappa", "impossible", rule, low=float(low), high=float(high))
    sentence = (
        f"{agreement.printed} agreement{of} leaves any kappa from {between}: the number of items is not printed, and "
        f"{_UNPRINTED}."
    )
    return Checked("kappa", "underdetermined", sentence, None, float(low), float(high), wanting="the number of items")


def _within_limits(figure: Figure, agreement: Figure, n: int, labels: int | None) -> Checked:
    """Check kappa against the limits that the agreements set, whatever the labels' frequencies."""
    counts = whole_counts(agreement, n)
    if not counts:
        return _no_agreement(agreement, n)
    low, high = _range([_Case(n, agree, of) for agree in (counts[0], counts[-1]) for of in _labels(labels)])
    words = f"{counts[0]:,}{f' to {counts[-1]:,}' if len(counts) > 1 else ''} of {n:,} agree"
    ends = f"{number(low, figure)} to {number(high, figure)}"
    if not fits(figure, Box(low, high)):
        on = f"on {labels or f'{FEWEST} to {MOST}'} labels"
        sentence = f"{words}; {on} kappa is then from {ends}, not {figure.printed}."
        if counts[0] == n:
            sentence = f"All {n:,} agree, so that kappa is 1, or 0/0 where only one label is used."
        return Checked("kappa", "impossible", sentence, None, float(low), float(high))
    if fits(figure, point(low)) and fits(figure, point(high)):
        sentence = f"{words}, so that kappa is {number(high, figure)}, printed as {figure.printed}."
        return Checked("kappa", "reproduced", sentence, float(high))
    sentence = f"{words}, which leaves a kappa from {ends}: {_UNPRINTED}."
    return Checked("kappa", "underdetermined", sentence, None, float(low), float(high), wanting=_UNPRINTED)


def _labels(labels: int | None) -> Sequence[int]:
    return range(FEWEST, MOST + 1) if labels is None else (labels,)


def _no_agreement(agreement: Figure, n: int) -> Checked:
    below = int(printed_value(agreement) * (1 if is_exact_count(agreement) else n))
    if below > n or below < 0:
        return Checked("kappa", "impossible", f"{agreement.printed} of {n:,} items cannot agree.")
    near = " and ".join(
        f"{count:,} / {n:,} is {number(Fraction(count, n), agreement)}" for count in (below, below + 1) if count <= n
    )
    sentence = f"No whole count of {n:,} prints as {agreement.printed} agreement: {near}."
    return Checked("kappa", "impossible", sentence)


def _range(cases: Sequence[_Case]) -> tuple[Fraction, Fraction]:
    """Return the bounds of every kappa that the figures leave open."""
    bounds = [
        Fraction(1) if case.agree == case.n else kappa_of(case.n, case.agree, product)
        for case in cases
        for product in possible_products(case.n, case.agree, case.labels)
    ]
    return min(bounds), max(bounds)


def _whole(figure: Figure | None) -> int | None:
    return int(printed_value(figure)) if figure is not None and is_exact_count(figure) else None


def rows_by_label(rows: Sequence[str], columns: Sequence[str]) -> dict[int, int]:
    """Return row → the column of the same label: the name, or one the beginning of the other ("Infra.").

    Empty if a row has no column of its name, or several.
    """
    positions: dict[int, int] = {}
    for place, row in enumerate(rows):
        exact = [at for at, column in enumerate(columns) if _plain(column) == _plain(row)]
        alike = exact or [
            at
            for at, column in enumerate(columns)
            if _plain(row).startswith(_plain(column)) or _plain(column).startswith(_plain(row))
        ]
        if len(alike) != 1 or alike[0] in positions.values():
            return {}
        positions[place] = alike[0]
    return positions


def _plain(label: str) -> str:
    return label.strip(" .").casefold()
