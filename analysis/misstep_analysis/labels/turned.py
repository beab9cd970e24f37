"""Whether the raters of a wide table are its columns or its rows, told by what both are called; turned where rows are.

Of these tables the first has its raters in rows::

    annotator,q01,q02          item,ann,ben
    ann,4,5                    q01,4,4
    ben,4,4                    q02,5,4
"""

import re
from collections.abc import Iterable

from msgspec import structs

from misstep_analysis.labels.columns import HANDFUL, ITEM_NAMES, LABEL_NAMES, holds_no_labels, words_of
from misstep_analysis.labels.records import listed, visible
from misstep_analysis.labels.rows import LabelRows, Reading
from misstep_harness.errors import InputError, UsageError

# fmt: off
_RATERS = frozenset({
    "rater", "raters", "annotator", "annotators", "coder", "coders", "labeler", "labelers", "labeller", "labellers",
    "scorer", "scorers", "grader", "reviewer", "assessor", "evaluator", "expert", "participant", "respondent",
    "annotateur", "codeur", "bewerter", "bewerterin", "prüfer", "prüferin", "gutachter", "kodierer", "codierer",
    "anotador", "evaluador", "codificador", "annotatore", "beoordelaar",
})
"""Words for those who rate. A user, a worker, a judge or a model may also be what is rated."""

_ITEMS = frozenset({word for name in ITEM_NAMES for word in words_of(name)} - {"id", "external", "input", "session"})
_ASKED = frozenset({"q", "question", "questions", "item", "items"})
"""Words for what is rated, and those of them that no rater is called by."""
# fmt: on

_NUMBERED = re.compile(r"\D*\d+\D*")
_TO_TELL = "Add --raters-in rows or --raters-in columns"


def turned(sheet: LabelRows, item: int, reading: Reading) -> tuple[LabelRows, list[str]]:
    """Return a wide table with a column a rater, and a remark where it had a row each; `item` names the rows."""
    names = [visible(cell).strip() for cell in sheet.columns[item]]
    others = [name for at, name in enumerate(sheet.header) if at != item]
    if reading.raters_in == "columns" or (reading.raters_in is None and not _in_rows(sheet, item, names, reading)):
        return sheet, []
    for row, name in enumerate(names):
        if not name:
            raise sheet.error(row, "no rater", "Name the rater of each row.", sheet.header[item])
        if name in names[:row]:
            problem = f"rater {name!r} is {sheet.where(names.index(name))} already"
            raise sheet.error(row, problem, "Keep one row a rater.", sheet.header[item])
    strange = [name for name in others if holds_no_labels(name)]
    if reading.raters_in is None and strange and len(strange) < len(others):
        advice = "Take them out, or add --raters-in rows where they are items."
        raise InputError(f"columns that do not look like items: {listed(strange)}", advice, file=sheet.file, line=1)
    header = ["item", *names]
    cells = [column for at, column in enumerate(sheet.columns) if at != item]
    columns = [others, *map(list, zip(*cells, strict=True))]
    places = [at + 1 for at in range(len(sheet.header)) if at != item]
    where = repr(sheet.header[item]) if sheet.header[item] else "the first column"
    remark = f"read as one row a rater: raters in {where}, an item a column"
    return structs.replace(sheet, header=header, columns=columns, places=places, unit="column"), [remark]


def _in_rows(sheet: LabelRows, item: int, names: list[str], reading: Reading) -> bool:
    """Return whether raters are in rows; the user is asked where names speak for both, or in a wide table for none."""
    if reading.item or reading.by or len(set(names)) < len(names) or not all(names):
        return False
    title = words_of(sheet.header[item])
    others = [name for at, name in enumerate(sheet.header) if at != item]
    if {name.casefold() for name in others} & {*ITEM_NAMES, *LABEL_NAMES}:
        return False
    rows = not _RATERS.isdisjoint(title) or _all_called(names, _RATERS)
    columns = not _ITEMS.isdisjoint(title) or _all_called(others, _RATERS)
    questions = all(map(_NUMBERED.fullmatch, others)) and _all_called(others, _ASKED)
    wide = len(others) > max(HANDFUL, 2 * len(names))
    if rows != columns and not (columns and questions):
        return rows
    if not (rows or questions or wide):
        return False
    shown = f"{listed(names, 3)} in rows and {listed(others, 3)} in columns"
    raise UsageError(f"{sheet.file} does not say who the raters are: {shown}", f"{_TO_TELL}.")


def _all_called(names: Iterable[str], words: frozenset[str]) -> bool:
    return all(not words.isdisjoint(words_of(name)) for name in names)
