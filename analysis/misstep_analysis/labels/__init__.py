"""Labels that several raters gave to items, read from a user's file.

Wide, a row an item and a column a rater; or long, a row a rating (`forms` says how the columns are recognised)::

    item,ann,ben            item,rater,label
    run-1,agent,agent       run-1,ann,agent
    run-2,task,             run-1,ben,agent
                            run-2,ann,task

A wide table may have its raters in rows, as the first of these; what both are called tells, and it is transposed::

    annotator,q01,q02          item,ann,ben
    ann,4,5                    q01,4,4
    ben,4,4                    q02,5,4
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.labels.coding import Labels, coded
from misstep_analysis.labels.columns import HANDFUL, ITEM_NAMES, LABEL_NAMES, holds_no_labels, words_of
from misstep_analysis.labels.forms import Form, form_of, with_row_numbers
from misstep_analysis.labels.ratings import Ratings, chosen_raters, ratings_of
from misstep_analysis.labels.records import listed, visible
from misstep_analysis.labels.rows import LabelRows, Reading, ScaleLevel
from misstep_analysis.labels.source import read_source
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


__all__ = ["Labels", "Questions", "Reading", "ScaleLevel", "read_labels", "read_questions", "read_ratings"]


class Questions(Struct, frozen=True):
    """The labels of each question by its name, empty for a file of one; `remarks` are on the whole file."""

    labels: dict[str, Labels]
    remarks: list[str]


def read_labels(
    path: Path, raters: Sequence[str] = (), level: ScaleLevel = "nominal", order: Sequence[str] = ()
) -> Labels:
    """Return the labels in a file that answers one question."""
    (labels,) = read_questions(path, Reading(raters=raters, level=level, order=order)).labels.values()
    return labels


def read_questions(path: Path, reading: Reading) -> Questions:
    """Return the labels in a file, a question at a time."""
    ratings, remarks = read_ratings(path, reading)
    if list(ratings) == [""]:
        return Questions({"": coded(ratings[""], reading, remarks)}, [])
    return Questions({question: coded(rating, reading) for question, rating in ratings.items()}, remarks)


def read_ratings(path: Path, reading: Reading) -> tuple[dict[str, Ratings], list[str]]:
    """Return the cells in a file as they are written, a question at a time, and remarks."""
    if reading.order and reading.level != "ordinal":
        problem = f"--order has no effect at the {reading.level} level"
        raise UsageError(problem, "Add --level ordinal, or leave --order out.")
    source = read_source(path, reading.item)
    sheet = structs.replace(source.sheet, header=[visible(name).strip() for name in source.sheet.header])
    numbered: list[str] = []
    if not source.tool:
        sheet, numbered = with_row_numbers(sheet, reading)
    form = form_of(structs.replace(source, sheet=sheet), reading)
    remarks = [*source.remarks, *numbered, *form.remarks]
    if form.rater is None:
        sheet, remark = turned(sheet, form.item, reading)
        form, remarks = (structs.replace(form, item=0), [*remarks, *remark]) if remark else (form, remarks)
    elif reading.raters_in is not None:
        problem = f"--raters-in {reading.raters_in}: {sheet.file} has one rating per row"
        raise UsageError(problem, "Leave --raters-in out.")
    parts = _parts(sheet, form)
    if len(parts) == 1 and not reading.by:
        ((part, label),) = parts.values()
        return {"": ratings_of(part, form, label, reading)}, remarks
    return _several(sheet, form, parts, reading, remarks)


def _parts(sheet: LabelRows, form: Form) -> dict[str, tuple[LabelRows, int | None]]:
    labels: tuple[int | None, ...] = form.labels or (None,)
    if form.by is None:
        return {"" if label is None else sheet.header[label]: (sheet, label) for label in labels}
    rows: dict[str, list[int]] = {}
    for row, cell in enumerate(sheet.columns[form.by]):
        rows.setdefault(_name(cell), []).append(row)
    if "" in rows:
        raise sheet.error(rows[""][0], "no question", "Name the question of each row.", sheet.header[form.by])
    return {
        question if len(labels) == 1 else f"{question}: {sheet.header[label or 0]}": (sheet.rows(rows[question]), label)
        for question in form.questions or rows
        for label in labels
    }


def _several(
    sheet: LabelRows,
    form: Form,
    parts: dict[str, tuple[LabelRows, int | None]],
    reading: Reading,
    remarks: list[str],
) -> tuple[dict[str, Ratings], list[str]]:
    known = [] if form.rater is None else list(dict.fromkeys(map(_name, sheet.columns[form.rater])))
    chosen = [] if form.rater is None else chosen_raters(reading, known, sheet.file)
    by_question: dict[str, Ratings] = {}
    for question, (part, label) in parts.items():
        here = reading
        if form.rater is not None:
            answered = set(map(_name, part.columns[form.rater]))
            here = structs.replace(reading, raters=[name for name in chosen if name in answered])
            if len(here.raters) < reading.fewest_raters:
                remarks.append(f"question {question!r} has fewer than two raters and is left out")
                continue
        by_question[question] = ratings_of(part, form, label, here)
    if not by_question:
        raise UsageError(f"no question of {sheet.file} has two raters", "Agreement needs two raters of one question.")
    return by_question, remarks


def _name(cell: str) -> str:
    return visible(cell).strip()
