"""Files cut into parts that can be read on their own: whole lines or row groups, with the number of the first line."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO

from misstep.harness.readers.input.parquet import RowRange
from misstep.harness.readers.input.streams import BLOCK


def line_cuts(
    file: BinaryIO, part_bytes: int, start: int = 0, stop: int | None = None
) -> Iterator[tuple[int, int, int]]:
    """Return offset, size and first line of each part of at least `part_bytes` that ends with a line."""
    first_line, offset = _line_from(file, start)
    line, position = first_line, offset
    if stop is not None and offset >= stop:
        return
    while block := file.read(BLOCK):
        place = block.find(b"\n")  # line by line: lines are long, and `count` looks at each byte
        while place >= 0:
            line += 1
            end = position + place + 1
            last = stop is not None and end >= stop
            if last or end - offset >= part_bytes:
                yield offset, end - offset, first_line
                offset, first_line = end, line
            if last:
                return
            place = block.find(b"\n", place + 1)
        position += len(block)
    if position > offset:
        yield offset, position - offset, first_line


def _line_from(file: BinaryIO, start: int) -> tuple[int, int]:
    """Return number and offset of the first line that begins at a place or later; the file is read on from there."""
    if start == 0:
        return 1, 0
    line, position = 1, 0
    while position < start - 1 and (block := file.read(min(BLOCK, start - 1 - position))):
        line += block.count(b"\n")
        position += len(block)
    while block := file.read(BLOCK):
        place = block.find(b"\n")
        if place >= 0:
            file.seek(position + place + 1)
            return line + 1, position + place + 1
        position += len(block)
    return line, position


SLICE_BYTES = 32 << 20
"""Bytes: a row group of twice as many is cut between its rows. Each slice unpacks what is before it in the group."""


def group_cuts(
    groups: Sequence[tuple[int, int]], part_bytes: int, start: int = 0, stop: int | None = None
) -> Iterator[RowRange]:
    """Return row groups of at least `part_bytes` together, in order, and slices of long ones."""
    places = accumulate((length for _, length in groups), initial=0)
    lines = accumulate((count for count, _ in groups), initial=1)
    own = [
        (number, line, rows, length)
        for number, (place, line, (rows, length)) in enumerate(zip(places, lines, groups, strict=False))
        if place >= start and (stop is None or place < stop)
    ]
    stretch: list[tuple[int, int]] = []
    size = 0
    for number, line, rows, length in own:
        slices = min(rows, length // max(part_bytes, SLICE_BYTES))
        if slices > 1 and not stretch:
            yield from _sliced(number, line, rows, slices)
            continue
        stretch.append((number, line))
        size += length
        if size >= part_bytes or number == own[-1][0]:
            yield RowRange(stretch[0][0], number + 1, stretch[0][1])
            stretch, size = [], 0


def _sliced(group: int, line: int, rows: int, slices: int) -> Iterator[RowRange]:
    for place in range(slices):
        skip, end = rows * place // slices, rows * (place + 1) // slices
        yield RowRange(group, group + 1, line + skip, skip, end - skip)
