"""Cohen's kappa of two raters: from their matrix, or against every matrix that the other printed figures leave open.

The number of items labelled alike limits kappa, and not every kappa within the limits has a matrix of whole counts.
A kappa is `impossible` if no matrix prints it, and `underdetermined` if one does, since others do, too;
`analysis.stats.printed.kappa_tables` has the search.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from misstep.analysis.audit.checked import Checked, compared, underdetermined
from misstep.analysis.audit.kappa_rows import check_kappa_with_rows, drawn
from misstep.analysis.audit.rounding_boxes import (
    Box,
    fits,
    input_box,
    is_exact_count,
    limit,
    number,
    point,
    printed_value,
    rounding_box,
    whole_counts,
)
from misstep.analysis.published import Figure
from misstep.analysis.stats.printed.kappa_tables import (
    BUDGET,
    LARGEST_N,
    MOST_LABELS,
    Products,
    Table,
    find_table,
    kappa_limits,
    kappa_of,
    possible_products,
    products_of,
)

FEWEST, MOST = 2, 8
"""How many labels are tried if their number is not printed."""

_UNPRINTED = "how often each rater used each label is not printed"
_MOST_COUNTS = 2_000


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
    first: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        return f"{self.agree:,} of {self.n:,} agree"


def check_kappa(
    figure: Figure,
    raters: Raters,
    matrix: Sequence[Sequence[Figure]] = (),
    labels: Mapping[int, int] | None = None,
    other_items: str = "",
) -> Checked:
    """Check Cohen's kappa of a printed matrix; without one, or with some of its rows, whether any matrix prints it."""
    n, agreement = raters.n, raters.agreement
    if matrix and all(len(row) == len(matrix) for row in matrix):
        order = [labels[place] for place in range(len(matrix))] if labels else range(len(matrix))
        return _from_matrix(figure, [[row[place] for place in order] for row in matrix])
    if agreement is None or input_box(agreement) is None:
        some = "The matrix has not as many columns as rows, the" if matrix else "The"
        return underdetermined("kappa", f"{some} agreement is not printed as a number, and {_UNPRINTED}.")
    if matrix and labels and n is not None:
        rows = {labels[place]: row for place, row in enumerate(matrix)}
        return check_kappa_with_rows(figure, n, agreement, rows, max(map(len, matrix)), other_items)
    return _of_agreement(figure, raters, agreement)


def _of_agreement(figure: Figure, raters: Raters, agreement: Figure) -> Checked:
    items, how_many = _whole(raters.n), _whole(raters.labels)
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
    if max(how_many or 0, len(first)) > MOST_LABELS:
        return underdetermined("kappa", f"Matrices of more than {MOST_LABELS} labels are not searched.")
    if first:
        how_many = max(len(first), how_many or FEWEST)
        first += (0,) * (how_many - len(first))
    return _searched(figure, agreement, items, how_many, first)


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


def _searched(figure: Figure, agreement: Figure, n: int, labels: int | None, first: tuple[int, ...]) -> Checked:
    counts = whole_counts(agreement, n)
    if not counts:
        return _no_agreement(agreement, n)
    if len(counts) > _MOST_COUNTS or n > LARGEST_N:
        return _too_many(figure, n, counts, labels)
    cases = list(_cases(n, counts, labels, first))
    match, gave_up = _first_table(figure, cases)
    if match is not None:
        case, table = match
        return _possible(figure, case, table, cases, labels is not None)
    if gave_up:
        sentence = f"{cases[len(cases) // 2].words}; the search for a matrix that prints {figure.printed} gave up"
        return underdetermined("kappa", f"{sentence} before it had looked at all of them.")
    return _impossible(figure, cases, labels)


def _too_many(figure: Figure, n: int, counts: Sequence[int], labels: int | None) -> Checked:
    """Check kappa against the limits of the fewest and the most agreements, if there are too many to search."""
    low, high = _range(list(_cases(n, (counts[0], counts[-1]), labels)))
    agree = f"{counts[0]:,}{f' to {counts[-1]:,}' if len(counts) > 1 else ''} of {n:,} agree"
    sentence = f"{agree}; kappa is then from {number(low, figure)} to {number(high, figure)}"
    if fits(figure, Box(low, high)):
        sentence += "; matrices of so many items are not searched."
        return Checked("kappa", "underdetermined", sentence, None, float(low), float(high))
    return Checked("kappa", "impossible", f"{sentence}, not {figure.printed}.", None, float(low), float(high))


def _cases(n: int, counts: Sequence[int], labels: int | None, first: tuple[int, ...] = ()) -> Iterator[_Case]:
    """Return the open cases, the fewest labels and the counts in the middle first."""
    middle = counts[len(counts) // 2]
    for how_many in range(FEWEST, MOST + 1) if labels is None else (labels,):
        for agree in sorted(counts, key=lambda count: abs(count - middle)):
            yield _Case(n, agree, how_many, first)


def _first_table(figure: Figure, cases: Sequence[_Case]) -> tuple[tuple[_Case, Table] | None, bool]:
    allowed, gave_up, budget = _allowed(figure), False, BUDGET
    for case in cases:
        products = _printing(figure, case, allowed)
        if budget <= 0:
            return None, True
        look = find_table(case.n, case.agree, case.labels, products, case.first, budget)
        budget -= look.examined
        if look.table is not None:
            return (case, look.table), gave_up
        gave_up |= not look.complete
    return None, gave_up


def _printing(figure: Figure, case: _Case, allowed: Box) -> Products:
    """Return the products of margins whose kappa prints like the figure: an end of the rounding may print otherwise."""
    low, high = products_of(case.n, case.agree, allowed.low, allowed.high)
    if case.agree < case.n:
        while low <= high and not fits(figure, point(kappa_of(case.n, case.agree, low))):
            low += 1
        while low <= high and not fits(figure, point(kappa_of(case.n, case.agree, high))):
            high -= 1
    return low, high


def _allowed(figure: Figure) -> Box:
    box = rounding_box(figure)
    value = box.low if figure.approximate else printed_value(figure)
    if limit(figure) == "above":
        return Box(value, Fraction(1))
    if limit(figure) == "below":
        return Box(Fraction(-1), box.high if figure.approximate else value)
    return box


def _possible(figure: Figure, case: _Case, table: Table, cases: Sequence[_Case], has_cases: bool) -> Checked:
    low, high = _range(cases)
    unprinted = _UNPRINTED.replace("each rater", "the other rater") if case.first else _UNPRINTED
    how_many = f"{case.labels} labels{'' if has_cases else ' (their number is not printed)'}"
    if fits(figure, point(low)) and fits(figure, point(high)):
        sentence = f"{case.words}, so that kappa is {number(high, figure)}, printed as {figure.printed}."
        return Checked("kappa", "reproduced", sentence, float(high))
    sentence = (
        f"{case.words}, which leaves a kappa from {number(low, figure)} to {number(high, figure)}; with {how_many} "
        f"the matrix {drawn(table)} prints {figure.printed}, others print others, and {unprinted}."
    )
    return Checked("kappa", "underdetermined", sentence, None, float(low), float(high), wanting=unprinted)


def _impossible(figure: Figure, cases: Sequence[_Case], labels: int | None) -> Checked:
    low, high = _range(cases)
    case = max(cases, key=lambda one: one.labels)
    on = f"on {labels or f'{FEWEST} to {MOST}'} labels"
    on += f" of which one rater used {', '.join(f'{count:,}' for count in case.first)}" if case.first else ""
    if case.agree == case.n:
        sentence = f"All {case.n:,} agree, so that kappa is 1, or 0/0 where only one label is used."
    elif not fits(figure, Box(low, high)):
        ends = f"{number(low, figure)} to {number(high, figure)}"
        sentence = f"{case.words}; {on} kappa is then from {ends}, not {figure.printed}."
    else:
        sentence = f"{case.words}; no matrix of whole counts {on} has a kappa that prints as {figure.printed}."
    return Checked("kappa", "impossible", sentence, None, float(low), float(high))


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
