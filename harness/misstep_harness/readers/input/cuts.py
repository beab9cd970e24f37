"""Files cut into parts that can be read on their own: whole lines or row groups, with the number of the first line."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO

from misstep_harness.readers.input.parquet import RowRange
from misstep_harness.readers.input.streams import BLOCK


def line_cuts(file: BinaryIO, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Return offset, size and first line of each part of at least `part_bytes` that ends with a line."""
    first_line, offset, line, position = 1, 0, 1, 0
    while block := file.read(BLOCK):
        place = block.find(b"\n")  # line by line: lines are long, and `count` looks at each byte
        while place >= 0:
            line += 1
            end = position + place + 1
            if end - offset >= part_bytes:
                yield offset, end - offset, first_line
                offset, first_line = end, line
            place = block.find(b"\n", place + 1)
        position += len(block)
    if position > offset:
        yield offset, position - offset, first_line


SLICE_BYTES = 32 << 20
"""Bytes: a row group of twice as many is cut between its rows. Each slice unpacks what is before it in the group."""


def group_cuts(groups: Sequence[tuple[int, int]], part_bytes: int) -> Iterator[RowRange]:
    """Return row groups of at least `part_bytes` together, in order, and slices of long ones."""
    lines = accumulate((count for count, _ in groups), initial=1)
    stretch: list[tuple[int, int]] = []
    size = 0
    for number, (line, (rows, length)) in enumerate(zip(lines, groups, strict=False)):
        slices = min(rows, length // max(part_bytes, SLICE_BYTES))
        if slices > 1 and not stretch:
            yield from _sliced(number, line, rows, slices)
            continue
        stretch.append((number, line))
        size += length
        if size >= part_bytes or number == len(groups) - 1:
            yield RowRange(stretch[0][0], number + 1, stretch[0][1])
            stretch, size = [], 0


def _sliced(group: int, line: int, rows: int, slices: int) -> Iterator[RowRange]:
    for place in range(slices):
        skip, end = rows * place // slices, rows * (place + 1) // slices
        yield RowRange(group, group + 1, line + skip, skip, end - skip)
