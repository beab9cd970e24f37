"""A user's printed figures: a CSV of one figure a row, read as the figures of a paper.

    id,check,printed,inputs
    solved,percentage,28.5%,n=123
    total,sum,119,parts=93 26
    judge,precision_recall,0.867/0.385,tp=72;fp=11;fn=115;tn=46

`inputs` are `key=value` separated by semicolons. A percentage is in percent, with its sign or without; a precision, a
kappa or an agreement is a fraction of 1 unless it has a percent sign or is more than 1; an agreement may be a count, as
9/12, and an ambiguous whole number is an error. Parts are separated by spaces, by plus signs or by commas; the rows of
a matrix by slashes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from msgspec import Struct

from misstep_analysis.audit.row_figures import (
    MEASURES,
    PARTS_OF_N,
    RowCells,
    Typed,
    UserRow,
    typed,
    typed_part,
    user_row,
    with_agreements,
)
from misstep_analysis.labels.rows import LabelRows, read_rows
from misstep_analysis.published import INPUTS, LISTS, Check
from misstep_harness.errors import InputError
from misstep_harness.escaping import one_line

COLUMNS = ("id", "check", "printed", "inputs")
OWN_KEYS: Mapping[str, frozenset[str]] = {"sum": frozenset({"total"}), "precision_recall": frozenset({"measure"})}
_SHAPE = "Give the columns id,check,printed,inputs."


def read_user_rows(file: Path) -> tuple[UserRow, ...]:
    """Return the rows of a user's CSV, each as a small paper of its own."""
    sheet = read_rows(file, "printed figures", _SHAPE)
    places = {name.casefold(): at for at, name in reversed(list(enumerate(sheet.header)))}
    missing = [name for name in COLUMNS if name not in places]
    if missing:
        raise sheet.error(-1, f"no column {', '.join(missing)}", _SHAPE)
    columns = {name: places[name] for name in COLUMNS}
    rows: list[tuple[_Row, RowCells, str]] = []
    counts: dict[str, int] = {}
    for number in range(len(sheet.columns[0])):
        row = _Row(sheet, number, {name: sheet.columns[at][number] for name, at in columns.items()})
        id_ = row.id(counts)
        counts[id_] = number
        rows.append((row, *row.read(id_)))
    rows_given = with_agreements([one for _, one, _ in rows])
    return tuple(row.figures(one, printed) for (row, _, printed), one in zip(rows, rows_given, strict=True))


class _Row(Struct, frozen=True):
    """One row of the file as written."""

    sheet: LabelRows
    number: int
    cells: dict[str, str]

    def error(self, field: str, message: str, advice: str) -> InputError:
        """Return the error that names this row's line."""
        return self.sheet.error(self.number, message, advice, field)

    def id(self, counts: Mapping[str, int]) -> str:
        """Return the row's id, which no row before it has."""
        text = one_line(self.cells["id"])
        if not text:
            raise self.error("id", "no id", "Name the figure of each row.")
        if text in counts:
            line = self.sheet.line(counts[text])
            raise self.error("id", f"{text!r} is on line {line} already", "Give each figure an id of its own.")
        return text

    def read(self, id_: str) -> tuple[RowCells, str]:
        """Return what the row says, and its printed figures as written."""
        check = self._check()
        inputs = self._inputs(check)
        printed = one_line(self.cells["printed"]) or inputs.get("total", "")
        if not printed:
            raise self.error("printed", "nothing is printed", "Give the figure as it is printed.")
        numbers = self._numbers(inputs)
        return RowCells(id_, check, self._printed(check, printed), numbers, inputs.get("measure", "")), printed

    def figures(self, cells: RowCells, printed: str) -> UserRow:
        """Return the row as figures."""
        try:
            return user_row(cells, printed)
        except ValueError as error:
            takes = f"{cells.check} takes: {', '.join(sorted(_keys(cells.check)))}."
            if cells.check == "kappa":
                takes += (
                    " A row of the check percentage gives the agreement if its id names it, as in “A1-A2 agreement”."
                )
            raise self.error("inputs", str(error), takes) from error

    def _check(self) -> Check:
        name = one_line(self.cells["check"]).casefold().replace("-", "_").replace(" ", "_")
        known: tuple[Check, ...] = get_args(Check)
        if name in known:
            return known[known.index(name)]
        what = f"no check {name!r}" if name else "no check"
        raise self.error("check", what, f"There are: {', '.join(get_args(Check))}.")

    def _inputs(self, check: Check) -> dict[str, str]:
        known = _keys(check)
        advice = f"{check} takes: {', '.join(sorted(known))}."
        inputs: dict[str, str] = {}
        for part in self.cells["inputs"].split(";"):
            if not part.strip():
                continue
            key, equals, value = (one_line(piece) for piece in part.partition("="))
            key = key.casefold()
            if not equals:
                message = f"{one_line(part)!r} is not a key=value"
                raise self.error("inputs", message, f"Write key=value;key=value. {advice}")
            if key not in known:
                raise self.error("inputs", f"{check} takes no {key!r}", advice)
            if key in inputs:
                raise self.error("inputs", f"{key!r} is given twice", "Give each key once.")
            if not value:
                raise self.error("inputs", f"{key} has no value", "Leave out a key that is not printed.")
            inputs[key] = value
        if "measure" in inputs:
            inputs["measure"] = inputs["measure"].casefold()
            if inputs["measure"] not in MEASURES:
                raise self.error("inputs", f"no measure {inputs['measure']!r}", f"There are: {', '.join(MEASURES)}.")
        return inputs

    def _printed(self, check: Check, printed: str) -> tuple[tuple[str, Typed], ...]:
        if check == "stars":
            return (("", Typed(printed, "0")),)
        if check != "precision_recall":
            return (("", self._number("printed", printed)),)
        parts = printed.replace(",", " ").replace(";", " ").replace("=", " ").replace(":", " ").replace("/", " / ")
        return self._measured(parts.split())

    def _measured(self, words: Sequence[str]) -> tuple[tuple[str, Typed], ...]:
        measures: list[tuple[str, Typed]] = []
        name = ""
        for word in words:
            if word.casefold() in MEASURES:
                name = word.casefold()
            elif word != "/":
                measures.append((name, self._number("printed", word)))
                name = ""
        names = [measure for measure, _ in measures]
        if (
            not measures
            or len(measures) > len(MEASURES)
            or (len(measures) > 1 and len(set(names)) < len(names) and any(names))
        ):
            advice = "Write one figure, two as precision/recall, or names: precision=0.8 recall=0.6."
            raise self.error("printed", f"{one_line(self.cells['printed'])!r} is not precision or recall", advice)
        if len(measures) > 1 and not any(names):
            return tuple((measure, one) for measure, (_, one) in zip(MEASURES, measures, strict=False))
        return tuple(measures)

    def _numbers(self, inputs: Mapping[str, str]) -> dict[str, tuple[tuple[Typed, ...], ...]]:
        """Return each key's numbers: rows of a matrix, else one row, of one number where the key takes one."""
        numbers: dict[str, tuple[tuple[Typed, ...], ...]] = {}
        for key, value in inputs.items():
            if key == "matrix" or key in LISTS:
                numbers[key] = tuple(
                    self._listed(key, row) for row in (value.split("/") if key == "matrix" else [value])
                )
            elif key != "measure":
                numbers[key] = ((self._number("inputs", value, f"{key} = ", may_be_part=key in PARTS_OF_N),),)
        return numbers

    def _listed(self, key: str, value: str) -> tuple[Typed, ...]:
        """Read numbers separated by plus signs, by spaces or by commas: a comma inside others groups thousands."""
        if "+" in value:
            words = value.split("+")
        elif " " in value:
            words = [word.rstrip(",") for word in value.split()]
        else:
            words = value.split(",")
        return tuple(self._number("inputs", word, f"{key}: ", may_be_part=key in PARTS_OF_N) for word in words)

    def _number(self, field: str, text: str, where: str = "", *, may_be_part: bool = False) -> Typed:
        try:
            return typed_part(text) if may_be_part else typed(text)
        except ValueError as error:
            advice = "Write a point before decimals; commas group thousands; leave units out, but for % and points."
            raise self.error(field, f"{where}{error}", advice) from error


def _keys(check: Check) -> frozenset[str]:
    return INPUTS[check] | OWN_KEYS.get(check, frozenset())
