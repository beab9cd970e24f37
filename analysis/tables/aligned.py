"""Cells as lines of text with their columns aligned, for a terminal; widths are those that a terminal gives signs.

rich's own tables add a frame, colours and folding, and take 20 times as long.
"""

from collections.abc import Collection, Sequence

from rich.cells import cell_len, set_cell_size


def aligned(rows: Sequence[Sequence[str]], to_left: Collection[int] = (0,)) -> list[str]:
    """Return one line a row, columns two blanks apart; those in `to_left` begin at the left, others end right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_placed(row, widths, to_left)).rstrip() for row in rows]


def _placed(row: Sequence[str], widths: Sequence[int], to_left: Collection[int]) -> list[str]:
    blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        cell + gap if place in to_left else gap + cell
        for place, (cell, gap) in enumerate(zip(row, blanks, strict=True))
    ]


def cut(text: str, width: int) -> str:
    """Return a text cut to a width, the cut marked by an ellipsis."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"
