"""Matrices as figures: each number in its cell, the larger the stronger."""

from collections.abc import Sequence

from misstep_analysis.plots.drawing import GAP, INK, MUTED, SERIES, Drawing
from misstep_analysis.plots.layout import WIDTH, broken, fitted_apart, text_width
from misstep_analysis.plots.rows import drawn_value, words
from misstep_analysis.tables import Row, Unit
from misstep_analysis.tables.wording import MISSING, number_text

_WIDEST_CELL = 104
_TALLEST_HEAD = 190
_CELL_HEIGHT = 30


def heat_map(
    values: Sequence[Sequence[float | None]],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    title: str,
    description: str = "",
    *,
    unit: Unit = "count",
    row_axis: str = "",
    column_axis: str = "",
) -> str:
    """Return a matrix with each number in its cell, the cell the stronger the larger it is."""
    left = min(0.4 * WIDTH, max((text_width(label, 12) for label in (*row_labels, row_axis)), default=0) + 18)
    cell_width = min(_WIDEST_CELL, (WIDTH - left) / max(len(column_labels), 1))
    heads = [broken(label, cell_width - 6, 11) for label in column_labels]
    turned = any(text_width(part, 11) > cell_width - 6 for head in heads for part in head)
    if turned:
        heads = [[head] for head in fitted_apart(column_labels, _TALLEST_HEAD, 11)]
        head_height = max(text_width(head[0], 11) for head in heads)
    else:
        head_height = 14.0 * max((len(head) for head in heads), default=0)
    top = head_height + GAP + (20 if column_axis else 0)
    drawing = Drawing(WIDTH, top + _CELL_HEIGHT * len(row_labels) + GAP)
    drawing.text(left + 2, 12, column_axis, color=MUTED, size=11)
    drawing.text(left - 8, top - 6, row_axis, color=MUTED, size=11, anchor="right")
    for index, head in enumerate(heads):
        x = left + (index + 0.5) * cell_width + (4 if turned else 0)
        for line, part in enumerate(reversed(head)):
            drawing.text(x, top - 6 - 14 * line, part, size=11, anchor="left" if turned else "center", turned=turned)
    most = max((value for numbers in values for value in numbers if value is not None), default=0) or 1
    for line, (label, numbers) in enumerate(zip(fitted_apart(row_labels, left - 8, 12), values, strict=True)):
        y = top + line * _CELL_HEIGHT
        drawing.text(left - 8, y + 19, label, anchor="right")
        for index, value in enumerate(numbers):
            x = left + index * cell_width
            strength = 0 if value is None else 0.06 + 0.44 * max(value, 0) / most
            drawing.box(x + 1, y + 1, cell_width - 2, _CELL_HEIGHT - 2, fill=SERIES[0], strength=strength)
            number = number_text(value, unit)
            color = INK if value else MUTED
            drawing.text(x + cell_width / 2, y + 19, number, color=color, anchor="center", bold=value == most)
    return drawing.svg(title, description or _matrix_words(values, row_labels, column_labels, unit))


def crossed(rows: Sequence[Row], title: str, *, row_axis: str = "", column_axis: str = "") -> str:
    """Draw rows of a table as a heat map: a line a group, a column a quantity; a missing figure is an empty cell."""
    groups, quantities = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("group", "quantity"))
    by_key = {(row.group, row.quantity): drawn_value(row) for row in rows}
    values = [[by_key.get((group, quantity)) for quantity in quantities] for group in groups]
    axes = {"row_axis": row_axis, "column_axis": column_axis}
    return heat_map(values, groups, quantities, title, words(rows), unit=rows[0].unit, **axes)


def confusion(matrix: Sequence[Sequence[int]], labels: Sequence[str], title: str) -> str:
    """Return a confusion matrix of counts: rows the gold labels, columns what the judge said."""
    return heat_map(matrix, labels, labels, title, row_axis="gold", column_axis="judge")


def _matrix_words(
    values: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[str], unit: Unit
) -> str:
    sentences = []
    for label, numbers in zip(rows, values, strict=True):
        cells = (f"{column} {number_text(value, unit)}" for column, value in zip(columns, numbers, strict=True))
        sentences.append(f"{label}: {', '.join(cells)}")
    return "; ".join(sentences).replace(MISSING, "not available") + "."
