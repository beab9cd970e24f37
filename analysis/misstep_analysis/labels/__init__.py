"""Labels that several raters gave to items, read from a user's file.

Wide, a row an item and a column a rater; or long, a row a rating (`forms` says how the columns are recognised)::

    item,ann,ben            item,rater,label
    run-1,agent,agent       run-1,ann,agent
    run-2,task,             run-1,ben,agent
                            run-2,ann,task
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.labels.coding import Labels, coded
from misstep_analysis.labels.forms import Form, form_of, with_row_numbers
from misstep_analysis.labels.ratings import Ratings, chosen_raters, ratings_of
from misstep_analysis.labels.records import visible
from misstep_analysis.labels.rows import LabelRows, Reading, ScaleLevel
from misstep_analysis.labels.source import read_source
from misstep_analysis.labels.turned import turned
from misstep_harness.errors import UsageError

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
    return Questions({question: coded(one, reading) for question, one in ratings.items()}, remarks)


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
