"""Which tables of two raters, of a given size and with a given number of agreements, have a given Cohen's kappa.

With n items of which `agree` are labelled alike, kappa depends only on the product of the raters' margins, the sum of
r_i c_i over the labels. So margins are searched, not tables. By the rule of `fill`, written with u = r + c,
v = r - c and D = n - agree, margins have a table if and only if

    sum of u = 2 n,  sum of max(0, ceil((u_i - D) / 2)) <= agree,
    sum of v = 0,    sum of |v| <= 2 D,    |v_i| <= u_i,    v_i and u_i both even or both odd,

and 4 r·c = |u|² - |v|², so that u and v are searched apart: the vectors v are listed once (`Differences`), and if there
are too many only some, over the whole range, which the list says. Renaming the labels changes nothing: u is in falling
order. The search is bounded by what it looks at, not by time, and says whether it saw everything.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, comb, floor

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import UsageError

Table = tuple[tuple[int, ...], ...]
"""Counts: a row for each label of the first rater, a column for each of the second."""

ALL = 1_000_000


class Differences:
    """Vectors of differences, and which of them have a given sum of squares.

    `rows` has one vector a row; `complete` says whether these are all.
    """

    def __init__(self, rows: IntArray, complete: bool) -> None:
        """List vectors, sorted by which of their entries are odd and by their sums of squares."""
        # A difference is odd exactly where the sum of the two margins is. Sorting by that pattern first, one binary
        # search then finds every vector that fits given sums and squares.
        squares = (rows**2).sum(axis=1)
        odd = (rows & 1) @ (1 << np.arange(rows.shape[1]))
        order = np.lexsort((squares, odd))
        self.rows, self.complete = rows[order], complete
        self._squares, self._odd = squares[order], odd[order]
        self._bounds: dict[int, tuple[int, int]] = {
            int(code): (int(start), int(start + count))
            for code, start, count in zip(*np.unique(self._odd, return_index=True, return_counts=True), strict=True)
        }

    @cached_property
    def greatest_square(self) -> int:
        """Return the greatest sum of squares."""
        return int(self._squares.max())

    def within(self, caps: tuple[int, ...], low: int, high: int) -> tuple[list[int] | None, int]:
        """Return a vector no greater than `caps`, odd where they are odd, with a sum of squares from `low` to `high`.

        Returns the vector, `None` if there is none, and how many were looked at.
        """
        code = sum((cap & 1) << place for place, cap in enumerate(caps))
        start, end = self._bounds.get(code, (0, 0))
        squares = self._squares[start:end]
        first, last = start + int(squares.searchsorted(low)), start + int(squares.searchsorted(high, "right"))
        if first >= last:
            return None, 0
        fits = np.flatnonzero((np.abs(self.rows[first:last]) <= np.asarray(caps)).all(axis=1))
        return (self.rows[first + fits[0]].tolist() if len(fits) else None), last - first


@lru_cache(maxsize=8)
def differences(labels: int, disagree: int) -> Differences:
    """The differences between the margins of two raters who disagree on so many items; some if they are too many.

    Parameters
    ----------
    labels, disagree
        How many labels there are, and how many items are labelled differently.
    """
    complete = _at_most(ALL, labels, disagree)
    sizes = np.arange(-disagree, disagree + 1) if complete else _some_sizes(labels, disagree)
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(labels - 1):
        rows = np.column_stack([np.repeat(rows, len(sizes), axis=0), np.tile(sizes, len(rows))])
        rows = rows[_sizes_within(rows, disagree)]
    # The last difference follows, since all differences add up to 0.
    rows = np.column_stack([rows, -rows.sum(axis=1)])
    return Differences(rows[_sizes_within(rows, disagree)], complete)


def _some_sizes(labels: int, disagree: int) -> IntArray:
    """Differences near 0, and others evenly over the whole range; so few that their vectors are not too many."""
    some = max(3, int((ALL // 10) ** (1 / (labels - 1))))
    near = min(disagree, max(1, some // 4))
    spread = np.rint(np.linspace(-disagree, disagree, max(2, some - 2 * near - 1))).astype(np.int64)
    return np.unique(np.concatenate([spread, np.arange(-near, near + 1)]))


def _sizes_within(rows: IntArray, disagree: int) -> IntArray:
    """Return where what is above 0 adds up to no more than the disagreements, and what is below 0, too."""
    above, below = np.maximum(rows, 0).sum(axis=1), np.maximum(-rows, 0).sum(axis=1)
    return np.flatnonzero((above <= disagree) & (below <= disagree))


def _at_most(most: int, labels: int, disagree: int) -> bool:
    """Whether no more vectors of whole numbers add up to 0, and those above 0 to no more than the disagreements."""
    count = 1
    for total in range(1, disagree + 1):
        if count > most:
            return False
        count += sum(
            comb(labels, above) * comb(total - 1, above - 1) * comb(total + labels - above - 1, total)
            for above in range(1, labels)
        )
    return count <= most


Products = tuple[int, int]
"""The least and the greatest product of margins, both included; none where the first is greater."""

BUDGET = 200_000_000
LARGEST_N, MOST_LABELS = 10_000_000, 12
"""The most items and labels whose tables are searched: products fit 64 bits, and differences are few enough."""

_A_VECTOR = 400
"""What looking at one vector of sums costs, counted in differences."""
_NEARLY_ALIKE, _QUICK = 2, 2_000_000
"""Margins that differ by so few items are looked at first, and what that may take: most tables are found so."""


class KappaSearch(Struct, frozen=True):
    """A table with such a product of margins, if one was found, and how the search ended.

    Where `table` is `None` there is none if the search is `complete`; else it gave up after having `examined` so many
    differences of margins.
    """

    table: Table | None
    complete: bool
    examined: int


def kappa_of(n: int, agree: int, product: int) -> Fraction:
    """Cohen's kappa of n items, the agreements among them and the product of the margins, which is less than n²."""
    return Fraction(n * agree - product, n * n - product)


def products_of(n: int, agree: int, low: Fraction, high: Fraction) -> Products:
    """The products of margins that give a kappa from `low` to `high`, both included, whether or not margins have them.

    Kappa falls as the product rises. Where all agree it is 1 whatever the product.
    """
    if agree == n:
        return (0, n * n - 1) if low <= 1 <= high else (1, 0)
    # kappa = (n agree - P) / (n² - P), solved for the product P.
    least = Fraction(0) if high >= 1 else (n * agree - high * n * n) / (1 - high)
    return (1, 0) if low >= 1 else (max(0, ceil(least)), floor((n * agree - low * n * n) / (1 - low)))


def possible_products(n: int, agree: int, labels: int) -> Products:
    """Bounds of the products of margins of all tables; the greatest is reached, the least nearly.

    The greatest has all agreements on one label and half of the disagreements in either direction of one pair. The
    least has all disagreements in one direction of one pair of labels, and the agreements spread evenly otherwise.
    """
    apart = n - agree
    # That table has u = (2 n - apart, apart), and v = 0 or, if the disagreements are odd, v = (1, -1).
    greatest = ((2 * n - apart) ** 2 + apart**2 - 2 * (apart % 2)) // 4
    few = labels * apart <= 2 * n
    least = Fraction(n * n, labels) - Fraction(apart**2, 2) if few else Fraction(agree**2, labels - 2)
    return max(0, ceil(least)), greatest


def kappa_limits(agreement: Fraction, labels: int) -> tuple[Fraction | None, Fraction | None]:
    """Below and above which no kappa lies that goes with a share of agreement, whatever the number of items.

    `None` where all agree and kappa is 1 or 0/0.
    """
    if agreement == 1:
        return None, None
    apart = 1 - agreement
    few = labels * apart <= 2
    least = Fraction(1, labels) - apart**2 / 2 if few else agreement**2 / Fraction(labels - 2)
    return -apart / (2 - apart), 1 - apart / (1 - least)


def find_table(
    n: int, agree: int, labels: int, products: Products, first: Sequence[int] = (), budget: int = BUDGET
) -> KappaSearch:
    """Return a table of two raters whose product of margins lies within bounds.

    Parameters
    ----------
    n, agree
        How many items there are, and how many both raters label alike.
    labels
        How many labels there are, whether or not they are all used.
    products
        The least and the greatest product, as from `products_of`.
    first
        How often the first rater used each label, where that is known.
    budget
        The most differences of margins to look at.

    Raises
    ------
    UsageError
        There are no items or less than two labels, more agree than there are, or the first rater's margins are not
        those of n items and so many labels.
    """
    if n <= 0 or not 0 <= agree <= n or labels < 2:
        raise UsageError(f"{agree} of {n} items alike on {labels} labels: no table of two raters")
    if first and (len(first) != labels or sum(first) != n or min(first) < 0):
        raise UsageError(f"a rater's labels {list(first)} are not {labels} counts of {n} items")
    least, greatest = possible_products(n, agree, labels)
    low, high = max(products[0], least), min(products[1], greatest)
    if low > high:
        return KappaSearch(None, True, 0)
    if n > LARGEST_N or labels > MOST_LABELS:
        return KappaSearch(None, False, 0)
    if first:
        return _with_first_rater(first, agree, (low, high), differences(labels, n - agree))
    # Most kappas with a table have one with nearly equal margins, and these are few: the search usually ends here.
    near = differences(labels, min(_NEARLY_ALIKE, n - agree))
    quick = _search(n, agree, (low, high), near, labels, min(_QUICK, budget))
    if quick.table is not None or budget - quick.examined < ALL:
        return KappaSearch(quick.table, quick.table is not None, quick.examined)
    whole = _search(n, agree, (low, high), differences(labels, n - agree), labels, budget - quick.examined)
    return KappaSearch(whole.table, whole.complete, quick.examined + whole.examined)


def _search(n: int, agree: int, products: Products, apart: Differences, labels: int, budget: int) -> KappaSearch:
    """Return each vector of sums that leaves room for a square of differences, and differences to go with it."""
    low, high = products
    examined = 0
    for sums in _sums(2 * n, labels, 2 * n, (4 * low, 4 * high + apart.greatest_square), agree, n - agree):
        if examined > budget:
            return KappaSearch(None, False, examined)
        examined += _A_VECTOR
        if not sums:
            continue
        # 4 low <= |u|² - |v|² <= 4 high bounds the squares of the differences once the sums are chosen.
        squares = sum(value * value for value in sums)
        tables, looked_at = apart.within(sums, squares - 4 * high, squares - 4 * low)
        examined += looked_at
        if tables is not None:
            rows = [(value + off) // 2 for value, off in zip(sums, tables, strict=True)]
            columns = [(value - off) // 2 for value, off in zip(sums, tables, strict=True)]
            return KappaSearch(fill(rows, columns, agree), True, examined)
    return KappaSearch(None, apart.complete, examined)


def _with_first_rater(first: Sequence[int], agree: int, products: Products, apart: Differences) -> KappaSearch:
    rows = np.asarray(first, dtype=np.int64)
    columns = rows - apart.rows
    disagree = int(rows.sum()) - agree
    # -(-x // 2) is x / 2 rounded up: so many agreements each label needs, by the rule of `fill`.
    forced = np.maximum(0, -(-(rows + columns - disagree) // 2)).sum(axis=1)
    product = columns @ rows
    fits = (columns >= 0).all(axis=1) & (forced <= agree) & (product >= products[0]) & (product <= products[1])
    places = np.flatnonzero(fits)
    if not len(places):
        return KappaSearch(None, apart.complete, len(columns))
    return KappaSearch(fill(list(first), columns[places[0]].tolist(), agree), True, len(columns))


def _sums(
    total: int, parts: int, most: int, squares: tuple[int, int], spare: int, disagree: int
) -> Iterator[tuple[int, ...]]:
    """Every way to write a total as so many counts in falling order whose squares add up to something within bounds.

    A count above the disagreements forces agreements, of which there are `spare`. Dead ends come as an empty vector, so
    that whoever counts the work sees them.
    """
    low, high = squares
    # ceil((u - disagree) / 2) agreements are forced, and there are only `spare` of them.
    most = min(most, total, disagree + 2 * spare)
    least = -(-total // parts)
    if parts == 1:
        yield (total,) if most >= total and low <= total**2 <= high else ()
        return
    dead = True
    # Even parts have the least squares, which grow with the first count: bisection finds the greatest that fits.
    first = least - 1 + bisect_right(range(least, most + 1), high, key=lambda one: _least_squares(one, total, parts))
    while first >= least and _most_squares(first, total, parts) >= low:
        dead = False
        forced = max(0, -(-(first - disagree) // 2))
        within = (low - first**2, high - first**2)
        for rest in _sums(total - first, parts - 1, first, within, spare - forced, disagree):
            yield (first, *rest) if rest else ()
        first -= 1
    if dead:
        yield ()


def _least_squares(first: int, total: int, parts: int) -> int:
    """Return the sum of squares where the other counts are as even as they can be."""
    each, over = divmod(total - first, parts - 1)
    return first**2 + (parts - 1) * each**2 + over * (2 * each + 1)


def _most_squares(first: int, total: int, parts: int) -> int:
    """Return the sum of squares where as many counts as can be are as great as the first."""
    full, over = divmod(total, first) if first else (0, 0)
    return full * first**2 + over**2 if full < parts else parts * first**2


def fill(rows: Sequence[int], columns: Sequence[int], agree: int) -> Table:
    """Return one table with these margins and so many items on its diagonal.

    Parameters
    ----------
    rows, columns
        How often each rater used each label, in the labels' order.
    agree
        How many items both label alike.

    Raises
    ------
    UsageError
        No table has these margins and so many agreements.
    """
    diagonal = _diagonal(rows, columns, agree)
    size = len(rows)
    cells = [[diagonal[i] if i == j else 0 for j in range(size)] for i in range(size)]
    left = [row - agreements for row, agreements in zip(rows, diagonal, strict=True)]
    right = [column - agreements for column, agreements in zip(columns, diagonal, strict=True)]
    for _ in range(sum(left)):
        row, column = _next_cell(left, right)
        cells[row][column] += 1
        left[row] -= 1
        right[column] -= 1
    return tuple(tuple(row) for row in cells)


def _diagonal(rows: Sequence[int], columns: Sequence[int], agree: int) -> list[int]:
    disagree = sum(rows) - agree
    # The least d_i with (r_i - d_i) + (c_i - d_i) <= D; -(-x // 2) rounds x / 2 up.
    diagonal = [max(0, -(-(row + column - disagree) // 2)) for row, column in zip(rows, columns, strict=True)]
    most = [min(row, column) for row, column in zip(rows, columns, strict=True)]
    missing = agree - sum(diagonal)
    impossible = sum(rows) != sum(columns) or sum(most) < agree or missing < 0
    if impossible or any(least > limit for least, limit in zip(diagonal, most, strict=True)):
        raise UsageError(f"no table with {agree} on its diagonal has the margins {list(rows)} and {list(columns)}")
    for label, limit in enumerate(most):
        more = min(missing, limit - diagonal[label])
        diagonal[label] += more
        missing -= more
    return diagonal


def _next_cell(left: Sequence[int], right: Sequence[int]) -> tuple[int, int]:
    """The next cell to put an item into: from the label with most left to the one with most left that can take it."""
    # Each placed item lowers D by one, so a label with D open items must take part in every step. Serving the two
    # fullest labels keeps the condition of Hall's theorem true until nothing is left.
    open_items = [row + column for row, column in zip(left, right, strict=True)]
    fullest = max(range(len(left)), key=lambda label: open_items[label])
    others, gives = [label for label in range(len(left)) if label != fullest], left[fullest] > 0
    other = max(others, key=lambda label: ((right if gives else left)[label] > 0, open_items[label]))
    return (fullest, other) if gives else (other, fullest)
