"""A table of two raters from its margins and its number of agreements.

Margins r and c have a table with `agree` items on its diagonal if and only if a diagonal d can be chosen with
d_i <= min(r_i, c_i) that leaves each label at most the disagreements D, (r_i - d_i) + (c_i - d_i) <= D: a row cannot
give what it has left to its own column, and nothing else is in the way (Hall's theorem for tables whose diagonal
is empty).
"""

from collections.abc import Sequence

from misstep.harness.errors import UsageError

Table = tuple[tuple[int, ...], ...]
"""Counts: a row for each label of the first rater, a column for each of the second."""


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
    left = [row - kept for row, kept in zip(rows, diagonal, strict=True)]
    right = [column - kept for column, kept in zip(columns, diagonal, strict=True)]
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
