"""Which columns of a table hold items, raters and labels: a column a rater (wide), or a rating a row (long).

A table is long where its columns are called so, where a person names one of them, or where two columns tell the ratings
apart by what is in them (`_item_and_rater`). Notes name what was recognised; if two columns fit, the user is asked.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct, structs

from misstep_analysis.labels.columns import (
    HANDFUL,
    ITEM_NAMES,
    LABEL_NAMES,
    RATER_NAMES,
    SYSTEMS,
    WHO,
    hold_names,
    may_hold_labels,
    words_of,
)
from misstep_analysis.labels.records import listed
from misstep_analysis.labels.rows import LabelRows, Reading
from misstep_analysis.labels.source import Source
from misstep_analysis.labels.tools.ratings import QUESTION
from misstep_harness.errors import InputError, UsageError

_TIME_NAMES = ("updated_at", "submitted_at", "created_at", "timestamp", "datetime", "time", "date")

_KNOWN = frozenset((*ITEM_NAMES, *RATER_NAMES, *LABEL_NAMES))
_SHOWN = 30
_LONG = 3
"""The columns of the long form at least: items, raters and labels."""


class Form(Struct, frozen=True):
    """Which columns hold what, by their places.

    - `rater`: The rater of each row; `None` where each rater has a column.
    - `by`: The question that a row answers, where a column names it.
    """

    item: int
    rater: int | None = None
    labels: tuple[int, ...] = ()
    by: int | None = None
    time: int | None = None
    questions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def form_of(source: Source, reading: Reading) -> Form:
    """Return the form of a table."""
    if source.tool:
        return _of_export(source, reading)
    sheet = source.sheet
    exact = {name.casefold(): place for place, name in reversed(list(enumerate(sheet.header)))}
    by = column_named(sheet, reading.by, "--by") if reading.by else None
    item = column_named(sheet, reading.item, "--item") if reading.item else exact.get("item")
    rater = column_named(sheet, reading.rater, "--rater") if reading.rater else exact.get("rater")
    labels = tuple(column_named(sheet, name, "--label") for name in reading.labels)
    if not labels and "label" in exact:
        labels = (exact["label"],)
    if item is None or rater is None or not labels:
        return _completed(sheet, item, rater, labels, by, reading)
    if len({item, rater, by, *labels}) < 3 + len(labels):
        raise UsageError("one column is named for two things", "Name a column each for items, raters and labels.")
    return _long(sheet, reading, (item, rater, labels, by))


def _completed(
    sheet: LabelRows, item: int | None, rater: int | None, labels: tuple[int, ...], by: int | None, reading: Reading
) -> Form:
    alone = reading.fewest_raters == 1 and len(sheet.header) >= _LONG  # one rater rates each item once
    others = {place for place in (item, rater, by, *labels) if place is not None}
    raters = [rater] if rater is not None else [at for at in columns_called(sheet, RATER_NAMES) if at not in others]
    fewest = 1 if alone else 2
    raters = [at for at in raters if len(set(sheet.columns[at])) >= fewest and all(map(str.strip, sheet.columns[at]))]
    items = (
        [item] if item is not None else [at for at in columns_called(sheet, ITEM_NAMES) if at not in {*others, *raters}]
    )
    items = [at for at in items if alone or _repeats(sheet, at, by)]
    if not items or not raters:
        questions = sheet.columns[by] if by is not None else [""] * len(sheet.columns[0])
        called = (columns_called(sheet, ITEM_NAMES), columns_called(sheet, WHO))
        skip = {place for place in (by, *labels) if place is not None}
        called_rater = next((at for at in raters if at not in called[0]), rater)
        pair = _item_and_rater(sheet, item, called_rater, called, skip, questions)
        items, raters = ([pair[0]], [pair[1]]) if pair else (items, raters)
    if item is None and not items and 0 not in {*others, *raters} and _repeats(sheet, 0, by):
        items = [0]
    if not items or not raters:
        if reading.rater or (reading.labels and reading.fewest_raters > 1):
            option, what = ("--item", "items") if not items else ("--rater", "raters")
            advice = f"Name it: {option} COLUMN; the columns are {listed(sheet.header, _SHOWN)}."
            raise InputError(f"no column is known to hold the {what} of ratings", advice, file=sheet.file)
        _check_raters(sheet, reading)
        first = items[0] if alone and items else 0
        return Form(first if item is None else item, by=by)
    item = max(items, key=lambda at: len(set(sheet.columns[at])))
    labels = labels or (_label_column(sheet, item, raters[0], by),)
    roles = f"items in {sheet.header[item]!r}, raters in {sheet.header[raters[0]]!r}, labels in "
    read = f"read as one rating a row: {roles}{listed(sheet.header[at] for at in labels)}"
    return _long(sheet, reading, (item, raters[0], labels, by), read)


def _check_raters(sheet: LabelRows, reading: Reading) -> None:
    """Refuse a table whose column of raters names the same one in every row."""
    givers = [(at, {*map(str.strip, sheet.columns[at])}) for at in columns_called(sheet, WHO)]
    for at, names in givers if reading.fewest_raters > 1 and not reading.raters else ():
        if len(names) == 1 and "" not in names and len(sheet.columns[at]) > HANDFUL:
            problem = f"agreement needs two raters, and {sheet.header[at]!r} names one: {listed(names)}"
            raise InputError(problem, "Put the ratings of all raters into one table.", file=sheet.file)


def _long(
    sheet: LabelRows, reading: Reading, roles: tuple[int, int, tuple[int, ...], int | None], *remarks: str
) -> Form:
    item, rater, labels, by = roles
    time = next(iter(columns_called(sheet, _TIME_NAMES)), None) if reading.keep else None
    used = [place for place in (item, rater, *labels, by, time) if place is not None]
    others = listed(name for place, name in enumerate(sheet.header) if place not in used)
    head, _, last = ", ".join(sheet.header[place] for place in used).rpartition(", ")
    more = (f"columns besides {head} and {last} are not looked at: {others}",) if others else ()
    return Form(item, rater, labels, by, time, (), (*remarks, *more))


def _label_column(sheet: LabelRows, item: int, rater: int, by: int | None) -> int:
    left = [place for place in range(len(sheet.header)) if place not in (item, rater, by)]
    named = [place for place in columns_called(sheet, LABEL_NAMES) if place in left]
    if len(named) == 1:
        return named[0]
    items = sheet.columns[item]
    may = named or [at for at in left if may_hold_labels(sheet.header[at], sheet.columns[at], items)]
    if len(may) == 1:
        return may[0]
    fault = "no column looks like labels" if not may else f"{len(may)} columns may hold the labels"
    shown = listed((sheet.header[place] for place in may or left), _SHOWN)
    raise InputError(f"{fault}: {shown}", "Name one, or several separated by commas: --label COLUMN.", file=sheet.file)


def _of_export(source: Source, reading: Reading) -> Form:
    sheet = source.sheet
    if reading.rater:
        raise UsageError(f"--rater has no meaning for an export of {source.tool}", "Leave it out.")
    if reading.by and reading.by.casefold() != QUESTION:
        raise UsageError(f"an export of {source.tool} has no column {reading.by!r}", f"Give --by {QUESTION}.")
    item, rater, label, question, time = range(len(sheet.header))
    questions = list(dict.fromkeys(sheet.columns[question]))
    for name in reading.labels:
        if name not in questions:
            raise UsageError(f"{sheet.file} has no question {name!r}", f"Its questions are {listed(questions)}.")
    if len(questions) > 1 and not reading.labels and not reading.by:
        advice = f"Measure one with --label NAME, or each of them with --by {QUESTION}."
        raise InputError(f"it answers {len(questions)} questions: {listed(questions)}", advice, file=sheet.file)
    several = len(questions) > 1 or bool(reading.by)
    return Form(item, rater, (label,), question if several else None, time, tuple(reading.labels))


def with_row_numbers(sheet: LabelRows, reading: Reading) -> tuple[LabelRows, list[str]]:
    """Return a table whose columns are all raters with the numbers of its rows as items, and a remark on it.

    They are raters if all are called alike (`rater1`, `rater2`), or if a person named the first of them. Where a person
    named others, the first column names no items if it repeats itself.
    """
    first, names = sheet.header[0], sheet.columns[0]
    called = {words_of(name)[:1] for name in sheet.header}
    alike = len(called) == 1 and called <= {(name,) for name in RATER_NAMES} and first.casefold() not in RATER_NAMES
    told, header = ({name.strip().casefold() for name in some} for some in (reading.raters, sheet.header))
    repeats = len(set(names)) < len(names) and not columns_called(sheet, ITEM_NAMES)
    as_told = told <= header and (first.casefold() in told or (bool(told) and repeats))
    if reading.item or reading.by or reading.keep or not (alike or as_told):
        return sheet, []
    rows = [f"row {number}" for number in range(1, len(names) + 1)]
    remark = "no column names the items: each row is one"
    return structs.replace(sheet, header=["item", *sheet.header], columns=[rows, *sheet.columns]), [remark]


def column_named(sheet: LabelRows, name: str, option: str) -> int:
    """Return the place of a column that a person named; letter case does not count where it need not."""
    if name in sheet.header:
        return sheet.header.index(name)
    folded = [one.casefold() for one in sheet.header]
    if folded.count(name.casefold()) != 1:
        problem = f"{option} {name}: {sheet.file} has no such column"
        raise UsageError(problem, f"Its columns are {listed(sheet.header, _SHOWN)}.")
    return folded.index(name.casefold())


def columns_called(sheet: LabelRows, names: Iterable[str]) -> list[int]:
    """Return the columns that are called so, in the order of the names."""
    order = {name: rank for rank, name in enumerate(names)}
    ranks = {at: order[one] for at, name in enumerate(sheet.header) for one in _spellings(name) if one in order}
    return sorted(ranks, key=ranks.__getitem__)


def _spellings(name: str) -> tuple[str, ...]:
    """Return the spellings by which a column is known, as `workerId` and `ASSIGNMENT:worker_id` are by `worker_id`."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    last, *whole = (
        re.sub(r"\W+", "_", one.casefold()).strip("_")
        for one in (re.split(r"(?<=\w)[:.](?=\w)", apart)[-1], apart, name)
    )
    return tuple(whole) if any(one in _KNOWN for one in whole) else (last, *whole)


def _repeats(sheet: LabelRows, item: int, by: int | None) -> bool:
    items: Sequence[object] = sheet.columns[item]
    if by is not None:
        items = list(zip(items, sheet.columns[by], strict=True))
    return len(set(items)) < len(items)


_REPEATED = 0.5
"""Distinct values over rows, at most, of a column of raters."""

_FILLED = 0.5


def _item_and_rater(
    sheet: LabelRows,
    item: int | None,
    rater: int | None,
    called: tuple[Sequence[int], Sequence[int]],
    others: Collection[int],
    questions: Sequence[str],
) -> tuple[int, int] | None:
    """Return the columns of items and of raters, `None` where none are told; `others` are not."""
    rows = len(sheet.columns[0])
    distinct = [len(set(column)) for column in sheet.columns]
    free = [at for at, name in enumerate(sheet.header) if at not in others and hold_names(name, sheet.columns[at])]
    named = sheet.columns[item or 0]
    wide = all(map(str.strip, named)) and len(set(zip(questions, named, strict=True))) == rows

    systems = columns_called(sheet, SYSTEMS)  # they may rate or be rated: a person says so

    def tell(of_items: int, of_raters: int) -> bool:
        """Return whether two columns tell the ratings apart, and may be what they are asked to be."""
        few, more = distinct[of_raters], distinct[of_items]
        if not (1 < few <= _REPEATED * rows and 1 < more < rows and (few <= more or rater is not None)):
            return False
        if wide and of_raters not in called[1] and (rows <= 2 * HANDFUL or few * more * _FILLED > rows):
            return False
        pairs = zip(questions, sheet.columns[of_items], sheet.columns[of_raters], strict=True)
        return len(set(pairs)) == rows

    columns = [
        (of_items, of_raters)
        for of_raters in ([rater] if rater is not None else [at for at in free if at not in systems])
        for of_items in ([item] if item is not None else free)
        if of_items != of_raters and tell(of_items, of_raters)
    ]
    raters = {of_raters for _, of_raters in columns}
    raters = raters.intersection(called[1]) or raters
    if len(raters) != 1:
        return None
    items = [of_items for of_items, of_raters in columns if of_raters in raters]
    items = [at for at in called[0] if at in items] or items
    return max(items, key=distinct.__getitem__), raters.pop()
