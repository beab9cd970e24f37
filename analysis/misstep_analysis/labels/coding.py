"""Cells become codes of a scale: which spellings are one label, which mean none, and in what order labels are."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from misstep_analysis.labels.ratings import Numbers, Ratings
from misstep_analysis.labels.records import label_key, listed, number, trimmed
from misstep_analysis.labels.rows import Reading, ScaleLevel
from misstep_analysis.stats.raters.patterns import MISSING, IntArray
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import InputError, UsageError

MOST_CATEGORIES = 1000

_WITH_COMMA = re.compile(r"[+-]?\d++(?:,\d++)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_LIKE_MISSING = {"na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "missing", "-", "--", "?", "."}


class Labels(Struct, frozen=True):
    """Who gave what to which item.

    - `categories`: The labels in use, in the order of their scale where they have one.
    - `values`: Categories: their numbers where all are numbers, else empty.
    - `codes`: Items x raters: indices into `categories`, `MISSING` without a rating.
    """

    file: str
    items: list[str]
    raters: list[str]
    categories: list[str]
    values: list[float]
    codes: IntArray
    remarks: list[str]


def coded(ratings: Ratings, reading: Reading, remarks: Sequence[str] = ()) -> Labels:
    """Cells as codes of a scale: each spelling is looked at once, however often it occurs."""
    level, order = reading.level, reading.order
    spellings = Numbers()
    spelled = [spellings.of(column) for column in ratings.columns]
    uses = np.zeros(len(spellings), dtype=np.int64)
    for one in spelled:
        np.add.at(uses, one, 1)
    labels: Counter[str] = Counter()
    for spelling, times in zip(spellings, uses.tolist(), strict=True):
        labels[trimmed(spelling)] += times
    labels.pop("", None)
    messages = [*remarks, *ratings.remarks, *_without_missing(labels, reading.missing, level)]
    if control := {label for label in labels if _CONTROL.search(label)}:
        raise _at_label(ratings, control, "has a control character", "Take it out: no label that one can read has one.")
    if not labels:
        advice = "Fill in the raters' columns; an empty cell is a missing rating."
        raise InputError("no cell has a label", advice, file=ratings.sheet.file)
    comma = _has_decimal_comma(labels, reading, ratings.sheet.delimiter)
    if comma:
        messages.append("a comma in numbers is read as a decimal point; --decimal point keeps such labels as they are")
    shown = _merged(labels, level, comma=comma, remarks=messages)
    _warn_of_missing(labels, order, messages)
    categories = _ordered(shown, level, order, ratings)
    if len(categories) > MOST_CATEGORIES:
        raise _too_many(ratings, len(categories))
    code_of = {category: code for code, category in enumerate(categories)}
    codes_of_spelling = np.array(
        [code_of[shown[label]] if (label := trimmed(spelling)) in shown else MISSING for spelling in spellings],
        np.int64,
    )
    codes = placed(ratings, [codes_of_spelling[column] for column in spelled])
    for name, column in zip(ratings.raters, codes.T, strict=True):
        if not np.any(column >= 0):
            messages.append(f"rater {name!r} gave no label")
    values = [value for category in categories if (value := number(category)) is not None]
    return Labels(
        ratings.sheet.file,
        ratings.items,
        ratings.raters,
        categories,
        values if len(values) == len(categories) else [],
        codes,
        messages,
    )


def placed(ratings: Ratings, columns: list[IntArray]) -> IntArray:
    """Return the codes of the cells as items x raters."""
    if ratings.places is None:
        return np.column_stack(columns)
    codes = np.full(len(ratings.items) * len(ratings.raters), MISSING, dtype=np.int64)
    codes[ratings.places] = columns[0]
    return codes.reshape(len(ratings.items), len(ratings.raters))


def _without_missing(labels: Counter[str], missing: Sequence[str], level: ScaleLevel) -> list[str]:
    remarks = []
    wanted = {label_key(one, level): one for one in missing}
    for key, one in wanted.items():
        times = sum(labels.pop(label) for label in list(labels) if label_key(label, level) == key)
        used = (
            f"is taken for a missing rating in {counted_text(times, 'cell')}"
            if times
            else "to stand for a missing rating is in no cell"
        )
        remarks.append(f"{one!r} {used}")
    return remarks


def _has_decimal_comma(labels: Counter[str], reading: Reading, delimiter: str) -> bool:
    """Return whether numbers are written with a decimal comma: as told, or else by one rule.

    Nobody gave an order, the level is one of numbers, commas do not separate cells, every label is a number when commas
    are read as points, one has a comma, and not all that have one could be thousands (`1,000`).
    """
    with_comma = [label for label in labels if "," in label]
    if reading.decimal is not None:
        return reading.decimal == "comma" and bool(with_comma)
    if reading.level == "nominal" or reading.order or delimiter == "," or not with_comma:
        return False
    return all(map(_WITH_COMMA.fullmatch, labels)) and not all(map(_THOUSANDS.fullmatch, with_comma))


def _merged(labels: Counter[str], level: ScaleLevel, *, comma: bool, remarks: list[str]) -> dict[str, str]:
    """Return each label → how it is shown: of several spellings of one as the commonest."""
    pointed = {label: label.replace(",", ".") if comma and _WITH_COMMA.fullmatch(label) else label for label in labels}
    same: dict[str | float, list[str]] = {}
    for label, text in pointed.items():
        same.setdefault(label_key(text, level), []).append(label)
    shown = {}
    for alike in same.values():
        best = min(alike, key=lambda label: (-labels[label], label))
        shown.update(dict.fromkeys(alike, pointed[best]))
        if len(alike) > 1:
            remarks.append(f"counted as one label, shown as {best!r}: {listed(sorted(alike))}")
    return shown


def _ordered(shown: dict[str, str], level: ScaleLevel, order: Sequence[str], ratings: Ratings) -> list[str]:
    categories = list(dict.fromkeys(shown.values()))
    if order:
        by_key = {label_key(category, level): category for category in categories}
        placed = [by_key.get(label_key(label, level), label.strip()) for label in order]
        if len(set(placed)) < len(placed) or "" in placed:
            raise UsageError(f"--order has an empty or a repeated label: {listed(placed)}", "Name each label once.")
        unplaced = {label for label, category in shown.items() if category not in placed}
        if unplaced:
            raise _at_label(
                ratings, unplaced, f"is not in --order {','.join(order)}", "Add it to the order, or mend the label."
            )
        return placed
    numbers = {category: number(category) for category in categories}
    words = [category for category, value in numbers.items() if value is None]
    advice = _missing_advice(words)
    if words and level == "interval":
        odd = {label for label, category in shown.items() if category in words}
        raise _at_label(
            ratings,
            odd,
            "is not a number",
            advice
            or "Interval labels are numbers with a decimal point (or --decimal comma); leave a missing one empty.",
        )
    if words and level == "ordinal":
        problem = f"the order of these labels is not known: {listed(sorted(categories))}"
        advice = advice or "Give it from lowest to highest: --order low,mid,high."
        raise InputError(problem, advice, file=ratings.sheet.file)
    if words:
        return sorted(categories, key=lambda category: (category.casefold(), category))
    return sorted(categories, key=lambda category: (numbers[category] or 0.0, category))


def _at_label(ratings: Ratings, labels: set[str], problem: str, advice: str) -> InputError:
    firsts = []
    for name, column in zip(ratings.names, ratings.columns, strict=True):
        position = next((row for row, cell in enumerate(column) if trimmed(cell) in labels), None)
        if position is not None:
            row = position if ratings.rows is None else int(ratings.rows[position])
            firsts.append((row, name, trimmed(column[position])))
    row, name, label = min(firsts, key=lambda first: first[0])
    return ratings.sheet.error(row, f"label {label!r} {problem}", advice, name)


def _too_many(ratings: Ratings, categories: int) -> InputError:
    problem = f"{categories:,} distinct labels, more than {MOST_CATEGORIES:,}"
    if len(ratings.names) > 1:
        name, column = max(zip(ratings.names, ratings.columns, strict=True), key=lambda pair: len(set(pair[1])))
        problem += f"; column {name!r} alone has {len(set(column)):,}"
    advice = "Leave columns of free text out with --raters, and round scores."
    return InputError(problem, advice, file=ratings.sheet.file)


def _warn_of_missing(labels: Counter[str], order: Sequence[str], remarks: list[str]) -> None:
    meant = {label_key(label, "ordinal") for label in order}
    for label, remark in like_missing(labels):
        if label_key(label, "ordinal") not in meant:
            remarks.append(f"{remark}, or give --missing {shlex.quote(label)}")


def like_missing(labels: Counter[str]) -> Iterator[tuple[str, str]]:
    """Return the labels that may be marks of a missing one, each with a remark on it."""
    for label, times in labels.items():
        if label.casefold() in _LIKE_MISSING:
            counted = f"{label!r} is counted as a label ({counted_text(times, 'cell')})"
            yield label, f"{counted}: leave the cell empty where it means missing"


def _missing_advice(words: Sequence[str]) -> str:
    if not words or not all(word.casefold() in _LIKE_MISSING for word in words):
        return ""
    return f"Where it means missing, leave the cell empty or give --missing {shlex.quote(','.join(words))}."
