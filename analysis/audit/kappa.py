"""Cohen's kappa of two raters: from their matrix, or against every matrix that the other printed figures leave open.

How many items were labelled alike leaves kappa open within limits, and not every kappa between them has a matrix of
whole counts. A kappa is `impossible` where no matrix prints it, and `underdetermined` where one does, since others do,
too; `analysis.stats.printed.kappa_tables` has the search.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from misstep.analysis.audit.checked import CUT_OFF, Checked, compared, underdetermined
from misstep.analysis.audit.kappa_rows import check_kappa_with_rows, drawn
from misstep.analysis.audit.repairs import first_of
from misstep.analysis.audit.rounding_boxes import (
    Box,
    counts_in,
    fits,
    input_box,
    is_cut_off,
    is_exact_count,
    limit,
    number,
    point,
    printed_value,
    rounding_box,
    scale,
)
from misstep.analysis.published import Figure
from misstep.analysis.stats.printed.audit import decimals
from misstep.analysis.stats.printed.kappa_tables import (
    BUDGET,
    LARGEST_N,
    MOST_LABELS,
    KappaSearch,
    Products,
    find_table,
    kappa_limits,
    kappa_of,
    possible_products,
    products_of,
)
from misstep.analysis.stats.printed.table_filling import Table

FEWEST, MOST = 2, 8
"""How many labels are tried where their number is not printed."""

_UNPRINTED = "how often each rater used each label is not printed"
_MOST_COUNTS = 2_000
"""Of how many counts that may agree each is searched for a matrix."""
_NEIGHBOURS = 0.01
_MOST_DISTANT = 40
_FOR_REPAIRS, _NARROWINGS = 3_000_000, 12
"""What each search for a repair, or for the nearest kappa, may look at, and how often: a quick look."""


class Raters(Struct, frozen=True):
    """What is printed about two raters: items, share or number labelled alike, labels, and how often one used each."""

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

    def search(self, products: Products, budget: int = BUDGET) -> KappaSearch:
        return find_table(self.n, self.agree, self.labels, products, self.first, budget)

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
    """Cohen's kappa of a printed matrix; without one, or with some of its rows, whether any matrix prints it."""
    n, agreement = raters.n, raters.agreement
    if matrix and all(len(row) == len(matrix) for row in matrix):
        return _from_matrix(figure, matrix)
    if agreement is None or input_box(agreement) is None:
        some = "The matrix has not as many columns as rows, the" if matrix else "The"
        return underdetermined("kappa", f"{some} agreement is not printed as a number, and {_UNPRINTED}.")
    if matrix and labels and n is not None:
        rows = {labels[place]: row for place, row in enumerate(matrix)}
        return check_kappa_with_rows(figure, n, agreement, rows, max(map(len, matrix)), other_items)
    return _of_agreement(figure, raters, agreement)


def _of_agreement(figure: Figure, raters: Raters, agreement: Figure) -> Checked:
    items, how_many = _whole(raters.n), _whole(raters.labels)
    first = tuple(_whole(margin) or 0 for margin in raters.margins)
    if any(_whole(margin) is None for margin in raters.margins):
        return underdetermined("kappa", "How often a rater used a label is not a whole count.")
    if how_many is not None and how_many < FEWEST:
        return underdetermined("kappa", f"Kappa of {how_many} label is 0/0.")
    if items is None:
        return _without_n(figure, agreement, how_many)
    if items <= 0 or (first and sum(first) != items):
        said = (
            "There are no items"
            if items <= 0
            else f"The counts of the labels add up to {sum(first):,}, not to {items:,}"
        )
        return Checked("kappa", "impossible", f"{said}.")
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
    chance = _product(tuple(tuple(row) for row in cells))
    if total == 0 or chance == total**2:
        return underdetermined("kappa", "Kappa is 0/0: only one label is used.")
    expected = chance / total**2
    working = f"({agree:,} / {total:,} - {expected:.4f}) / (1 - {expected:.4f})"
    return compared("kappa", figure, working, point(kappa_of(total, agree, chance)))


def _without_n(figure: Figure, agreement: Figure, labels: int | None) -> Checked:
    """Kappa against the limits that a share of agreement sets, whatever the number of items."""
    share = input_box(agreement)
    if share is None or is_exact_count(agreement) or not 0 <= share.high <= 1 or share.low < 0:
        return underdetermined("kappa", f"{agreement.printed} agree, of a number of items that is not printed.")
    low, high = kappa_limits(share.low, labels or MOST)[0], kappa_limits(share.high, labels or MOST)[1]
    if low is None or high is None or share.high == 1:
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
    counts = _agreements(agreement, n)
    if not counts:
        return _no_agreement(figure, agreement, n, labels)
    if len(counts) > _MOST_COUNTS or n > LARGEST_N:
        return _too_many(figure, n, counts, labels)
    cases = list(_cases(n, counts, labels, first))
    found, gave_up = _first_table(figure, cases)
    if found is not None:
        case, table = found
        return _possible(figure, case, table, cases, labels is not None)
    if gave_up:
        said = f"{cases[len(cases) // 2].words}; the search for a matrix that prints {figure.printed} gave up"
        return underdetermined("kappa", f"{said} before it had looked at all of them.")
    return _impossible(figure, agreement, cases, labels)


def _too_many(figure: Figure, n: int, counts: Sequence[int], labels: int | None) -> Checked:
    """Kappa against the limits that the fewest and the most agreements set, if there are too many to search."""
    low, high = _range(list(_cases(n, (counts[0], counts[-1]), labels)))
    agree = f"{counts[0]:,}{f' to {counts[-1]:,}' if len(counts) > 1 else ''} of {n:,} agree"
    said = f"{agree}; kappa is then from {number(low, figure)} to {number(high, figure)}"
    if fits(figure, Box(low, high)):
        said += "; matrices of so many items are not searched."
        return Checked("kappa", "underdetermined", said, None, float(low), float(high))
    return Checked("kappa", "impossible", f"{said}, not {figure.printed}.", None, float(low), float(high))


def _cases(n: int, counts: Sequence[int], labels: int | None, first: tuple[int, ...] = ()) -> Iterator[_Case]:
    """Return what the figures leave open, the fewest labels and the counts in the middle first."""
    middle = counts[len(counts) // 2]
    for how_many in range(FEWEST, MOST + 1) if labels is None else (labels,):
        for agree in sorted(counts, key=lambda count: abs(count - middle)):
            yield _Case(n, agree, how_many, first)


def _first_table(
    figure: Figure, cases: Sequence[_Case], budget: int = BUDGET
) -> tuple[tuple[_Case, Table] | None, bool]:
    """Return the first case with a matrix that prints the figure, and whether the search gave up on another before."""
    allowed, gave_up = _allowed(figure), False
    for case in cases:
        products = _printing(figure, case, allowed)
        if budget <= 0:
            return None, True
        look = case.search(products, budget)
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
    """Return the values that print like a kappa, or keep the limit that it is given as."""
    box = rounding_box(figure)
    value = box.low if figure.approximate else printed_value(figure)
    if limit(figure) == "above":
        return Box(value, Fraction(1))
    if limit(figure) == "below":
        return Box(Fraction(-1), box.high if figure.approximate else value)
    return box


def _possible(figure: Figure, case: _Case, table: Table, cases: Sequence[_Case], given: bool) -> Checked:
    """Return a kappa that some matrix prints: open, unless all matrices print it."""
    low, high = _range(cases)
    unprinted = _UNPRINTED.replace("each rater", "the other rater") if case.first else _UNPRINTED
    how_many = f"{case.labels} labels{'' if given else ' (their number is not printed)'}"
    if fits(figure, point(low)) and fits(figure, point(high)):
        sentence = f"{case.words}, so that kappa is {number(high, figure)}, printed as {figure.printed}."
        return Checked("kappa", "reproduced", sentence, float(high))
    sentence = (
        f"{case.words}, which leaves a kappa from {number(low, figure)} to {number(high, figure)}; with {how_many} "
        f"the matrix {drawn(table)} prints {figure.printed}, others print others, and {unprinted}."
    )
    return Checked("kappa", "underdetermined", sentence, None, float(low), float(high), wanting=unprinted)


def _impossible(figure: Figure, agreement: Figure, cases: Sequence[_Case], labels: int | None) -> Checked:
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
        nearest = " and ".join(number(value, figure, 2) for value in _nearest(figure, cases))
        said = f": the nearest are {nearest}" if nearest else ""
        sentence = f"{case.words}; no matrix of whole counts {on} has a kappa that prints as {figure.printed}{said}."
    return Checked(
        "kappa",
        "impossible",
        sentence,
        None,
        float(low),
        float(high),
        _repair(figure, agreement, case.n, labels, cases),
    )


def _no_agreement(figure: Figure, agreement: Figure, n: int, labels: int | None) -> Checked:
    below = int(printed_value(agreement) * (1 if is_exact_count(agreement) else n))
    if below > n or below < 0:
        return Checked("kappa", "impossible", f"{agreement.printed} of {n:,} items cannot agree.")
    near = " and ".join(
        f"{count:,} / {n:,} is {number(Fraction(count, n), agreement)}" for count in (below, below + 1) if count <= n
    )
    sentence = f"No whole count of {n:,} prints as {agreement.printed} agreement: {near}."
    return Checked("kappa", "impossible", sentence, suggestion=_repair(figure, agreement, n, labels, ()))


def _repair(figure: Figure, agreement: Figure, n: int, labels: int | None, cases: Sequence[_Case]) -> str:
    """Small changes with which a matrix would print both figures, in words."""
    return first_of(
        _kappa_cut_off(figure, cases),
        _agreement_cut_off(figure, agreement, n, labels),
        _other_n(figure, agreement, n, labels),
    )


def _kappa_cut_off(figure: Figure, cases: Sequence[_Case]) -> str:
    value, step = printed_value(figure), Fraction(1, 10 ** decimals(figure.digits)) / scale(figure)
    low, high = (value, value + step) if value >= 0 else (value - step, value)
    for case in cases if limit(figure) is None and not figure.approximate else ():
        table = case.search(products_of(case.n, case.agree, low, high), _FOR_REPAIRS).table
        if table is not None and is_cut_off(figure, point(kappa_of(case.n, case.agree, _product(table)))):
            return CUT_OFF
    return ""


def _agreement_cut_off(figure: Figure, agreement: Figure, n: int, labels: int | None) -> str:
    if is_exact_count(agreement) or agreement.approximate or limit(agreement) is not None:
        return ""
    start = int(printed_value(agreement) * n)
    counts = [count for count in (start, start + 1) if count <= n and is_cut_off(agreement, point(Fraction(count, n)))]
    if counts and _first_table(figure, list(_cases(n, counts, labels)), _FOR_REPAIRS)[0] is not None:
        return f"the agreement is {counts[0]:,} / {n:,}, its further digits cut off instead of rounded"
    return ""


def _other_n(figure: Figure, agreement: Figure, n: int, labels: int | None) -> str:
    for distance in range(1, max(1, min(_MOST_DISTANT, int(n * _NEIGHBOURS))) + 1):
        for other in (n + distance, n - distance):
            counts = _agreements(agreement, other) if other > 0 else ()
            if counts and _first_table(figure, list(_cases(other, counts, labels)), _FOR_REPAIRS)[0] is not None:
                return f"{other:,} items instead of {n:,} would fit"
    return ""


def _agreements(agreement: Figure, n: int) -> Sequence[int]:
    """Return how many of n items may be labelled alike."""
    if is_exact_count(agreement):
        count = int(printed_value(agreement))
        return (count,) if 0 <= count <= n else ()
    return counts_in(agreement, n)


def _range(cases: Sequence[_Case]) -> tuple[Fraction, Fraction]:
    """Below and above which no kappa lies, whatever the figures leave open."""
    bounds: list[Fraction] = []
    for case in cases:
        least, greatest = possible_products(case.n, case.agree, case.labels)
        kappas = (
            Fraction(1) if case.agree == case.n else kappa_of(case.n, case.agree, one) for one in (least, greatest)
        )
        bounds += kappas
    return min(bounds), max(bounds)


def _nearest(figure: Figure, cases: Sequence[_Case]) -> list[Fraction]:
    """Return the kappas next below and above the printed one that a quick look finds."""
    printed, most = printed_value(figure), max(case.labels for case in cases)
    found = []
    for case in [one for one in cases if one.labels == most]:
        least, greatest = possible_products(case.n, case.agree, case.labels)
        start = products_of(case.n, case.agree, printed, printed)[0]
        found += [_narrowed(case, start, greatest, rising=True), _narrowed(case, least, start - 1, rising=False)]
    below = [value for value in found if value is not None and value < printed]
    above = [value for value in found if value is not None and value > printed]
    return ([max(below)] if below else []) + ([min(above)] if above else [])


def _narrowed(case: _Case, low: int, high: int, *, rising: bool) -> Fraction | None:
    """Return the kappa of the product nearest to one end of a range, as far as a few looks come."""
    nearest = None
    width = 1
    for _ in range(_NARROWINGS):
        products = (low, min(high, low + width)) if rising else (max(low, high - width), high)
        table = case.search(products, _FOR_REPAIRS).table
        if table is not None:
            nearest = _product(table)
            low, high, width = (low, nearest - 1, width) if rising else (nearest + 1, high, width)
        elif nearest is not None:
            break
        width = width if nearest is not None else 2 * width
    return None if nearest is None else kappa_of(case.n, case.agree, nearest)


def _product(table: Table) -> int:
    return sum(sum(row) * sum(column) for row, column in zip(table, zip(*table, strict=True), strict=True))


def _whole(figure: Figure | None) -> int | None:
    return int(printed_value(figure)) if figure is not None and is_exact_count(figure) else None
