"""Which columns hold the items and the raters of a table with a rating a row, told by what is in them.

A rater rates an item once: a column of few values and one of more, both repeated, that together tell every row apart.
That is taken for ratings where the table can be nothing else, as no column or not the first has an item a row; where
the column of few values is called as one of raters is; or where such pairs fill at least half of all that there can be.
"""

from collections.abc import Collection, Sequence

from misstep.analysis.labels.columns import HANDFUL, hold_names
from misstep.analysis.labels.rows import LabelRows

_REPEATED = 0.5
"""Distinct values over rows, at most, of a column of raters."""

_FILLED = 0.5


def item_and_rater(
    sheet: LabelRows,
    item: int | None,
    rater: int | None,
    called: tuple[Sequence[int], Sequence[int]],
    taken: Collection[int],
    questions: Sequence[str],
) -> tuple[int, int] | None:
    """Return the columns of items and of raters; `None` where none are told.

    `item` and `rater` are columns that a person named, `called` those with a usual name of either, `taken` are others,
    and `questions` are what the rows answer.
    """
    rows = len(sheet.columns[0])
    distinct = [len(set(column)) for column in sheet.columns]
    free = [at for at, name in enumerate(sheet.header) if at not in taken and hold_names(name, sheet.columns[at])]
    named = sheet.columns[item or 0]
    wide = all(map(str.strip, named)) and len(set(zip(questions, named, strict=True))) == rows

    def tell(of_items: int, of_raters: int) -> bool:
        """Return whether two columns tell the ratings apart, and may be what they are asked to be."""
        few, more = distinct[of_raters], distinct[of_items]
        if not (1 < few <= _REPEATED * rows and 1 < more < rows and (few <= more or rater is not None)):
            return False
        if wide and of_raters not in called[1] and (rows <= 2 * HANDFUL or few * more * _FILLED > rows):
            return False
        pairs = zip(questions, sheet.columns[of_items], sheet.columns[of_raters], strict=True)
        return len(set(pairs)) == rows

    found = [
        (of_items, of_raters)
        for of_raters in ([rater] if rater is not None else free)
        for of_items in ([item] if item is not None else free)
        if of_items != of_raters and tell(of_items, of_raters)
    ]
    raters = {of_raters for _, of_raters in found}
    raters = raters.intersection(called[1]) or raters
    if len(raters) != 1:
        return None
    items = [of_items for of_items, of_raters in found if of_raters in raters]
    items = [at for at in called[0] if at in items] or items
    return max(items, key=distinct.__getitem__), raters.pop()
