"""Files cut: every line and row group is in one part, with its number."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_harness.readers.files import SLICE_BYTES, group_cuts, line_cuts


@settings(deadline=None)
@given(
    lines=st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b" ")), max_size=12),
    part_bytes=st.integers(1, 30),
    ended=st.booleans(),
)
def test_parts_have_every_line_once_and_know_its_number(lines, part_bytes, ended) -> None:
    content = b"\n".join(lines) + (b"\n" if ended else b"")
    results = [
        (content[offset : offset + size], first_line, content[:offset].count(b"\n") + 1)
        for offset, size, first_line in line_cuts(io.BytesIO(content), part_bytes)
    ]
    assert b"".join(piece for piece, _, _ in results) == content
    assert all(first_line == counted for _, first_line, counted in results)
    assert all(piece.endswith(b"\n") for piece, _, _ in results[:-1])


@settings(deadline=None)
@given(
    groups=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), max_size=8),
    part_bytes=st.integers(1, 40),
)
def test_parts_have_every_row_group_once_and_know_its_first_row(groups, part_bytes) -> None:
    results = list(group_cuts(groups, part_bytes))
    assert [number for one in results for number in range(one.first, one.end)] == list(range(len(groups)))
    assert all(one.line == 1 + sum(rows for rows, _ in groups[: one.first]) for one in results)


@given(rows=st.integers(1, 50), length=st.integers(0, 12), before=st.integers(0, 3))
def test_a_long_row_group_is_cut_between_its_rows_each_of_which_is_in_one_slice(rows, length, before) -> None:
    groups = [*[(7, 1)] * before, (rows, length * SLICE_BYTES)]
    results = [one for one in group_cuts(groups, 1) if one.first == before]
    lines = [line for one in results for line in range(one.line, one.line + (rows if one.count is None else one.count))]
    assert lines == list(range(7 * before + 1, 7 * before + rows + 1))
    assert all(one.line == 7 * before + 1 + one.skip for one in results)
    assert len(results) == max(1, min(rows, length))
