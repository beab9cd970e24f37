"""Labels that several raters gave to items, read from a user's CSV file.

Wide, a row an item and a column a rater; or long, a row a rating, with exactly these three columns among others::

    item,ann,ben            item,rater,label
    run-1,agent,agent       run-1,ann,agent
    run-2,task,             run-1,ben,agent
                            run-2,ann,task

An empty cell is a missing rating, and nothing else is. Spaces around names and labels do not count, nor do characters
that cannot be seen, nor the letter case of labels: each is shown in its most frequent spelling. What was changed or
looks odd is said in `remarks`; a column that does not look like a rater (`label_columns`) is asked about.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from analysis.label_columns import ask_about
from analysis.label_rows import LabelRows, read_rows
from analysis.stats.patterns import MISSING, IntArray
from harness.errors import InputError, UsageError

ScaleLevel = Literal["nominal", "ordinal", "interval"]

MOST_RATERS = 200
MOST_CATEGORIES = 1000

_NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"(?<!\d)([+-]?\d++)\.0++", re.ASCII)
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_LIKE_MISSING = {"na", "n/a", "nan", "none", "null", "missing", "-", "--", "?", "."}


class Labels(Struct, frozen=True):
    """Who gave what to which item.

    Parameters
    ----------
    file
        Where the labels come from.
    items, raters
        Their names, in the order of the file.
    categories
        The labels in use, in the order of their scale where they have one.
    values
        Categories: their numbers where all are numbers, else empty.
    codes
        Items x raters: indices into `categories`, `MISSING` where there is no rating.
    remarks
        What a person should know about how the file was read, a sentence each.
    """

    file: str
    items: list[str]
    raters: list[str]
    categories: list[str]
    values: list[float]
    codes: IntArray
    remarks: list[str]


class _Numbers(defaultdict[str, int]):
    """Distinct names, each with its number in the order of first appearance."""

    def __init__(self) -> None:
        super().__init__(self.__len__)

    def of(self, names: Sequence[str]) -> IntArray:
        """The number of each name; a name not met before gets the next one."""
        return np.fromiter(map(self.__getitem__, names), dtype=np.int64, count=len(names))


class _Ratings(Struct, frozen=True):
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


def read_labels(
    path: Path,
    raters: Sequence[str] = (),
    level: ScaleLevel = "nominal",
    order: Sequence[str] = (),
) -> Labels:
    """The labels in a CSV file, wide or long.

    Parameters
    ----------
    path
        The file.
    raters
        Those to compare, in this order, taken as they are; all if empty, unless a column does not look like a rater.
    level
        Ordinal and interval labels must be numbers, unless `order` gives their order.
    order
        Ordinal labels from lowest to highest.

    Raises
    ------
    InputError
        The file cannot be understood: named with its line, and how to put it right.
    UsageError
        A rater who is not in the file, fewer than two raters, an order where there is none to give.
    """
    if order and level != "ordinal":
        raise UsageError(f"--order has no effect at the {level} level", "Add --level ordinal, or leave --order out.")
    sheet = read_rows(path)
    sheet = structs.replace(sheet, header=[_visible(name).strip() for name in sheet.header])
    names = {name.casefold(): position for position, name in reversed(list(enumerate(sheet.header)))}
    if {"item", "rater", "label"} <= names.keys():
        return _coded(_long(sheet, names, raters), level, order)
    ratings = _wide(sheet, names, raters)
    columns = dict(zip(ratings.raters, ratings.columns, strict=True))
    if not raters and (question := ask_about(columns, sheet.file, interval=level == "interval")):
        raise question
    return _coded(ratings, level, order)


def _wide(sheet: LabelRows, names: dict[str, int], wanted: Sequence[str]) -> _Ratings:
    """A column of items (called item, or else the first) and a column a rater."""
    at = names.get("item", 0)
    items = [_visible(cell).strip() for cell in sheet.columns[at]]
    title = sheet.header[at] or "the first column"
    if "" in items:
        raise sheet.error(items.index(""), f"no item in {title}", "Name the item of each row.")
    if len(set(items)) < len(items):
        first, second = _first_repeat(items)
        advice = f"Keep one row an item; {title} is taken for the items, as no column is called item."
        if names.get("item") == at:
            advice = "Keep one row an item."
        raise sheet.error(second, f"item {items[second]!r} is on line {sheet.line(first)} already", advice)
    known = [name for position, name in enumerate(sheet.header) if position != at]
    chosen = _chosen(wanted, known, sheet.file)
    cells = [sheet.columns[sheet.header.index(name)] for name in chosen]
    return _Ratings(sheet, items, chosen, cells, chosen, [])


def _long(sheet: LabelRows, names: dict[str, int], wanted: Sequence[str]) -> _Ratings:
    """A row a rating, in the columns item, rater and label."""
    items, givers = ([_visible(cell).strip() for cell in sheet.columns[names[name]]] for name in ("item", "rater"))
    for name, cells in (("item", items), ("rater", givers)):
        if "" in cells:
            raise sheet.error(cells.index(""), f"no {name}", f"Name the {name} of each rating.", name)
    remarks = []
    others = [name for name in sheet.header if name.casefold() not in ("item", "rater", "label")]
    if others:
        remarks.append(f"columns besides item, rater and label are not looked at: {_listed(others)}")
    known = list(dict.fromkeys(givers))
    chosen = _chosen(wanted, known, sheet.file)
    for what, distinct in (("items", list(dict.fromkeys(items))), ("raters", known)):
        remarks += _differing_by_case(what, distinct)
    item_names, rater_names = _Numbers(), _Numbers()
    item_codes, rater_codes = item_names.of(items), rater_names.of(givers)
    place_of = np.array([chosen.index(name) if name in chosen else MISSING for name in rater_names], dtype=np.int64)
    rows = np.flatnonzero(place_of[rater_codes] >= 0)
    places = item_codes[rows] * len(chosen) + place_of[rater_codes[rows]]
    if len(np.unique(places)) < len(places):
        first, second = (int(rows[position]) for position in _first_repeat(places.tolist()))
        found = f"{givers[second]!r} rated {items[second]!r} on line {sheet.line(first)} already"
        raise sheet.error(second, found, "Keep one rating an item and rater.")
    labels = sheet.columns[names["label"]]
    kept = labels if len(rows) == len(labels) else [labels[row] for row in rows.tolist()]
    return _Ratings(sheet, list(item_names), chosen, [kept], ["label"], remarks, places, rows)


def _chosen(wanted: Sequence[str], known: list[str], file: str) -> list[str]:
    """The raters asked for, as they are called in the file; all of them where nobody is."""
    by_name = {name.casefold(): name for name in reversed(known)} | {name: name for name in known}
    chosen = []
    for name in (part.strip() for part in wanted):
        found = by_name.get(name) or by_name.get(name.casefold())
        if found is None:
            raise UsageError(f"{file} has no rater {name!r}", f"Its raters are {_listed(known)}.")
        if found in chosen:
            raise UsageError(f"rater {name!r} is named twice", "Name each rater once.")
        chosen.append(found)
    chosen = chosen if wanted else known
    if len(chosen) < 2:
        raise UsageError(
            f"agreement needs two raters, and there is one: {_listed(chosen)}", f"{file} has {_listed(known)}."
        )
    if len(chosen) > MOST_RATERS:
        found = f"{len(chosen):,} columns that would be raters in {file}, more than {MOST_RATERS}"
        raise UsageError(found, "Name the raters to compare with --raters.")
    return chosen


def _coded(ratings: _Ratings, level: ScaleLevel, order: Sequence[str]) -> Labels:
    """Cells become codes of a scale: each spelling is looked at once, however often it occurs."""
    spellings = _Numbers()
    spelled = [spellings.of(column) for column in ratings.columns]
    uses = sum((np.bincount(codes, minlength=len(spellings)) for codes in spelled), np.zeros(len(spellings), np.int64))
    labels: Counter[str] = Counter()
    for spelling, times in zip(spellings, uses.tolist(), strict=True):
        labels[_trimmed(spelling)] += times
    labels.pop("", None)
    if control := {label for label in labels if _CONTROL.search(label)}:
        raise _at_label(ratings, control, "has a control character", "Take it out: no label that one can read has one.")
    if not labels:
        advice = "Fill in the raters' columns; an empty cell is a missing rating."
        raise InputError("no cell has a label", advice, file=ratings.sheet.file)
    remarks = [*ratings.remarks]
    shown = _merged(labels, level, remarks)
    _warn_of_missing(labels, order, remarks)
    categories = _ordered(shown, level, order, ratings)
    if len(categories) > MOST_CATEGORIES:
        raise _too_many(ratings, len(categories))
    code_of = {category: code for code, category in enumerate(categories)}
    codes_of_spelling = np.array(
        [code_of[shown[trimmed]] if (trimmed := _trimmed(spelling)) else MISSING for spelling in spellings], np.int64
    )
    codes = _placed(ratings, [codes_of_spelling[column] for column in spelled])
    for name, column in zip(ratings.raters, codes.T, strict=True):
        if not np.any(column >= 0):
            remarks.append(f"rater {name!r} gave no label")
    numbers = [_number(category) for category in categories]
    values = [number for number in numbers if number is not None]
    return Labels(
        ratings.sheet.file,
        ratings.items,
        ratings.raters,
        categories,
        values if len(values) == len(categories) else [],
        codes,
        remarks,
    )


def _placed(ratings: _Ratings, columns: list[IntArray]) -> IntArray:
    if ratings.places is None:
        return np.column_stack(columns)
    codes = np.full(len(ratings.items) * len(ratings.raters), MISSING, dtype=np.int64)
    codes[ratings.places] = columns[0]
    return codes.reshape(len(ratings.items), len(ratings.raters))


def _merged(labels: Counter[str], level: ScaleLevel, remarks: list[str]) -> dict[str, str]:
    """Each label → how it is shown: letter case does not count, nor how a number of a scale is written.

    Of nominal labels only `2` and `2.0` are one where all labels are numbers (a missing cell turns a spreadsheet's
    whole numbers into such): `1.1` and `1.10` may be names of two things.
    """
    numeric = all(_number(label) is not None for label in labels)
    same: dict[str | float, list[str]] = {}
    for label in labels:
        key: str | float = label.casefold()
        if numeric and level == "nominal":
            key = _WHOLE.sub(r"\1", label) if _WHOLE.fullmatch(label) else label
        elif numeric:
            key = _number(label) or 0.0
        same.setdefault(key, []).append(label)
    shown = {}
    for alike in same.values():
        best = min(alike, key=lambda label: (-labels[label], label))
        shown.update(dict.fromkeys(alike, best))
        if len(alike) > 1:
            remarks.append(f"counted as one label, shown as {best!r}: {_listed(sorted(alike))}")
    return shown


def _ordered(shown: dict[str, str], level: ScaleLevel, order: Sequence[str], ratings: _Ratings) -> list[str]:
    """The categories in the order of their scale: the order given, the numbers', or the alphabet's."""
    categories = list(dict.fromkeys(shown.values()))
    if order:
        return _in_given_order(categories, shown, order, ratings)
    numbers = {category: _number(category) for category in categories}
    words = [category for category, number in numbers.items() if number is None]
    if words and level == "interval":
        odd = {label for label, category in shown.items() if category in words}
        raise _at_label(
            ratings,
            odd,
            "is not a number",
            "Interval labels are numbers with a decimal point; leave a missing one empty.",
        )
    if words and level == "ordinal":
        found = f"the order of these labels is not known: {_listed(sorted(categories))}"
        raise InputError(found, "Give it from lowest to highest: --order low,mid,high.", file=ratings.sheet.file)
    if words:
        return sorted(categories, key=lambda category: (category.casefold(), category))
    return sorted(categories, key=lambda category: (numbers[category] or 0.0, category))


def _in_given_order(categories: list[str], shown: dict[str, str], order: Sequence[str], ratings: _Ratings) -> list[str]:
    by_key = {category.casefold(): category for category in categories}
    placed = [by_key.get(label.strip().casefold(), label.strip()) for label in order]
    if len(set(placed)) < len(placed) or "" in placed:
        raise UsageError(f"--order has an empty or a repeated label: {_listed(placed)}", "Name each label once.")
    unplaced = {label for label, category in shown.items() if category not in placed}
    if unplaced:
        raise _at_label(
            ratings, unplaced, f"is not in --order {','.join(order)}", "Add it to the order, or mend the label."
        )
    return placed


def _at_label(ratings: _Ratings, labels: set[str], found: str, advice: str) -> InputError:
    """An error about the first cell that has one of these labels."""
    firsts = []
    for name, column in zip(ratings.names, ratings.columns, strict=True):
        position = next((row for row, cell in enumerate(column) if _trimmed(cell) in labels), None)
        if position is not None:
            row = position if ratings.rows is None else int(ratings.rows[position])
            firsts.append((row, name, _trimmed(column[position])))
    row, name, label = min(firsts, key=lambda first: first[0])
    return ratings.sheet.error(row, f"label {label!r} {found}", advice, name)


def _too_many(ratings: _Ratings, categories: int) -> InputError:
    found = f"{categories:,} distinct labels, more than {MOST_CATEGORIES:,}"
    if len(ratings.names) > 1:
        name, column = max(zip(ratings.names, ratings.columns, strict=True), key=lambda pair: len(set(pair[1])))
        found += f"; column {name!r} alone has {len(set(column)):,}"
    advice = "Leave columns of free text out with --raters, and round scores."
    return InputError(found, advice, file=ratings.sheet.file)


def _warn_of_missing(labels: Counter[str], order: Sequence[str], remarks: list[str]) -> None:
    """A word on labels that may stand for a missing one, but for those that the order names as labels."""
    meant = {_trimmed(label).casefold() for label in order}
    for label, times in labels.items():
        if label.casefold() in _LIKE_MISSING - meant:
            remarks.append(
                f"{label!r} is counted as a label ({times:,} times): leave the cell empty where it means missing"
            )


def _differing_by_case(what: str, names: list[str]) -> list[str]:
    folded = Counter(map(str.casefold, names))
    if len(folded) == len(names):
        return []
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [f"{what} that differ only by letter case are counted apart: {_listed(alike)}"]


def _trimmed(cell: str) -> str:
    """A label without what cannot be seen, and in one of the ways that Unicode has to write its letters."""
    return unicodedata.normalize("NFC", _visible(cell).strip())


def _visible(text: str) -> str:
    """A text without byte order marks, zero-width spaces and the like; what joins letters or emoji is kept."""
    return text if text.isascii() else text.translate(_UNSEEN)


def _number(label: str) -> float | None:
    if not _NUMBER.fullmatch(label):
        return None
    number = float(label)
    return number if isfinite(number) else None


def _first_repeat(values: Sequence[object]) -> tuple[int, int]:
    """Where a value stands first and again, of the first that is repeated."""
    seen: dict[object, int] = {}
    for position, value in enumerate(values):
        if value in seen:
            return seen[value], position
        seen[value] = position
    raise ValueError("nothing is repeated")


def _listed(names: Iterable[str], most: int = 20) -> str:
    """Names as a person reads them, the long tail counted."""
    quoted = [repr(name) for name in names]
    rest = len(quoted) - most
    return ", ".join(quoted[:most]) + (f" and {rest:,} more" if rest > 0 else "")
