"""The cells of one question's labels, by item and rater, as they are written in a wide or in a long table."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.labels.columns import ask_about, counted_labels, odd_columns
from misstep_analysis.labels.forms import Form
from misstep_analysis.labels.records import label_key, listed, number, trimmed, visible
from misstep_analysis.labels.rows import LabelRows, Reading
from misstep_analysis.stats.raters.patterns import MISSING, IntArray
from misstep_harness.errors import InputError, UsageError

MOST_RATERS = 200

_ONE_A_ROW = "Where a row is one rating: --item, --rater and --label with its columns."
_REPEATED = "Where ratings were given again: --keep last. Where a column names the question: --by COLUMN."


class Numbers(defaultdict[str, int]):
    """Distinct names, each with its number in the order of first appearance."""

    def __init__(self) -> None:
        super().__init__(self.__len__)

    def of(self, names: Sequence[str]) -> IntArray:
        """Return the number of each name; a name not met before gets the next one."""
        return np.fromiter(map(self.__getitem__, names), dtype=np.int64, count=len(names))


class Ratings(Struct, frozen=True):
    """Cells as written: one list of cells a column, and where each cell belongs."""

    sheet: LabelRows
    items: list[str]
    raters: list[str]
    columns: list[Sequence[str]]
    names: list[str]
    remarks: list[str]
    places: IntArray | None = None
    """Long form: the flat index, items x raters, of each cell of the one column."""
    rows: IntArray | None = None
    """Long form: the row of the sheet of each cell."""


def ratings_of(sheet: LabelRows, form: Form, label: int | None, reading: Reading) -> Ratings:
    """Return the cells of one question."""
    remarks: list[str] = []
    if reading.keep is not None:
        sheet, remarks = _first_or_last(sheet, form, label, reading)
    if form.rater is not None and label is not None:
        return _long(sheet, form.item, form.rater, label, reading, remarks)
    at = form.item
    items = [visible(cell).strip() for cell in sheet.columns[at]]
    title = sheet.header[at] or "the first column"
    if "" in items:
        raise sheet.error(items.index(""), f"no item in {title}", "Name the item of each row.")
    if len(set(items)) < len(items):
        first, second = _first_repeat(items)
        problem = f"item {listed([items[second]])} is {sheet.where(first)} already"
        where = f"Keep one row an item; items are in {title!r}. Where no column names them: --raters with all raters."
        raise sheet.error(second, problem, f"{where} {_ONE_A_ROW} {_REPEATED}")
    known = [name for position, name in enumerate(sheet.header) if position not in (at, form.by)]
    told = reading.raters or reading.labels  # a column of labels without one of raters is called by its own name
    chosen = chosen_raters(structs.replace(reading, raters=told), known, sheet.file)
    columns = {name: sheet.columns[sheet.header.index(name)] for name in chosen}
    if not told:
        if sheet.unit != "column" and reading.fewest_raters > 1 and (counted := counted_labels(columns, items)):
            advice = "Give a rating a row, or a column a rater. If these columns are raters, name them with --raters."
            raise InputError(counted, advice, file=sheet.file)
        columns, more = _of_raters(columns, reading, sheet.file)
        remarks = [*remarks, *more]
    return Ratings(sheet, items, list(columns), list(columns.values()), list(columns), remarks)


def _of_raters(
    columns: dict[str, Sequence[str]], reading: Reading, file: str
) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Return the columns of raters: what looks like none is asked about, or left out if one rater is enough."""
    interval = reading.level == "interval"
    question = ask_about(columns, file, interval=interval)
    if question is None:
        return columns, []
    odd = odd_columns(columns, interval=interval)
    if reading.fewest_raters > 1:
        raise question
    if len(odd) in (0, len(columns)):
        raise InputError(question.found, "Name the column of the labels with --label.", file=file)
    listed_odd = ", ".join(f"{name!r} ({why})" for name, why in odd.items())
    left = {name: cells for name, cells in columns.items() if name not in odd}
    return left, [f"labels are read from {listed(left)}; not taken for labels: {listed_odd}"]


def _long(sheet: LabelRows, item: int, rater: int, label: int, reading: Reading, remarks: list[str]) -> Ratings:
    items, givers = ([visible(cell).strip() for cell in sheet.columns[at]] for at in (item, rater))
    for what, at, cells in (("item", item, items), ("rater", rater, givers)):
        if "" in cells:
            raise sheet.error(cells.index(""), f"no {what}", f"Name the {what} of each rating.", sheet.header[at])
    known = list(dict.fromkeys(givers))
    chosen = chosen_raters(reading, known, sheet.file)
    for what, distinct in (("items", list(dict.fromkeys(items))), ("raters", known)):
        remarks += _differing_by_case(what, distinct)
    item_names, rater_names = Numbers(), Numbers()
    item_codes, rater_codes = item_names.of(items), rater_names.of(givers)
    place_of = np.array([chosen.index(name) if name in chosen else MISSING for name in rater_names], dtype=np.int64)
    rows = np.flatnonzero(place_of[rater_codes] >= 0)
    places = item_codes[rows] * len(chosen) + place_of[rater_codes[rows]]
    if len(np.unique(places)) < len(places):
        first, second = (int(rows[position]) for position in _first_repeat(places.tolist()))
        problem = f"{givers[second]!r} rated {listed([items[second]])} {sheet.where(first)} already"
        raise sheet.error(second, problem, f"Keep one rating an item and rater. {_REPEATED}")
    labels = sheet.columns[label]
    rest = labels if len(rows) == len(labels) else [labels[row] for row in rows.tolist()]
    return Ratings(sheet, list(item_names), chosen, [rest], [sheet.header[label]], remarks, places, rows)


def chosen_raters(reading: Reading, known: list[str], file: str) -> list[str]:
    """Return the raters asked for, as they are called in the file; all of them where nobody is."""
    wanted = reading.raters
    by_name = {name.casefold(): name for name in reversed(known)} | {name: name for name in known}
    chosen = []
    for name in (part.strip() for part in wanted):
        column = by_name.get(name) or by_name.get(name.casefold())
        if column is None:
            raise UsageError(f"{file} has no rater {name!r}", f"Its raters are {listed(known)}.")
        if column in chosen:
            raise UsageError(f"rater {name!r} is named twice", "Name each rater once.")
        chosen.append(column)
    chosen = chosen if wanted else known
    if len(chosen) < reading.fewest_raters:
        raise UsageError(
            f"agreement needs two raters, and there is one: {listed(chosen)}", f"{file} has {listed(known)}."
        )
    if len(chosen) > MOST_RATERS:
        message = f"{len(chosen):,} columns that would be raters in {file}, more than {MOST_RATERS}"
        raise UsageError(message, "Name the raters to compare with --raters.")
    return chosen


def _first_or_last(sheet: LabelRows, form: Form, label: int | None, reading: Reading) -> tuple[LabelRows, list[str]]:
    """Return the rows of the first or the last rating of each item by each rater, and a word on what is left out.

    Ratings follow each other by their time where every row has one, else by the order of the rows. A row without a
    label is not a rating; one with a mark of a missing label is kept if there is no other.
    """
    names = [sheet.columns[at] for at in (form.item, form.rater) if at is not None]
    keys = [tuple(visible(cell).strip() for cell in cells) for cells in zip(*names, strict=True)]
    keep, missing = reading.keep, {label_key(one, reading.level) for one in reading.missing}
    rows = [row for row in range(len(keys)) if label is None or trimmed(sheet.columns[label][row])]
    times = None if form.time is None else _times(sheet.columns[form.time])
    if times is not None:
        rows.sort(key=times.__getitem__)
    ordered = rows if keep == "last" else rows[::-1]
    if label is not None and missing:
        ordered = sorted(ordered, key=lambda row: label_key(sheet.columns[label][row], reading.level) not in missing)
    rest = sorted({keys[row]: row for row in ordered}.values())
    if len(rest) == len(rows):
        return (sheet, []) if len(rows) == len(keys) else (sheet.rows(rest), [])
    by = "their order in the file" if times is None or form.time is None else f"column {sheet.header[form.time]!r}"
    note = f"of several ratings of an item by one rater the {keep} is kept, by {by}: {len(rows) - len(rest):,} left out"
    return sheet.rows(rest), [note]


def _times(cells: Sequence[str]) -> list[float] | None:
    seconds = [number(cell.strip()) for cell in cells]
    if None in seconds:
        try:
            seconds = [_seconds(cell.strip()) for cell in cells]
        except ValueError:
            return None
    return [second for second in seconds if second is not None]


def _seconds(cell: str) -> float:
    time = datetime.fromisoformat(cell)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _differing_by_case(what: str, names: list[str]) -> list[str]:
    folded = Counter(map(str.casefold, names))
    if len(folded) == len(names):
        return []
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [f"{what} that differ only by letter case are counted apart: {listed(alike)}"]


def _first_repeat(values: Sequence[object]) -> tuple[int, int]:
    seen: dict[object, int] = {}
    for position, value in enumerate(values):
        if value in seen:
            return seen[value], position
        seen[value] = position
    raise ValueError("nothing is repeated")
