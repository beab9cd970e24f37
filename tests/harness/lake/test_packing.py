"""Rows to Parquet files of about equal compressed length."""

from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.harness.lake.columns import BODY, PackedRow, row_of
from misstep.harness.lake.packing import Parts, Sizes, chunks
from misstep.harness.trajectory import Source, Trajectory

SIZES = Sizes(group=220_000, file=700_000, chunk=40_000)


def _row(random: Random, number: int, size: int, *, noise: bool) -> PackedRow:
    alphabet = bytes(range(97, 123))
    text = bytes(random.choices(alphabet, k=size)) if noise else bytes(random.choices(alphabet, k=40)) * (size // 40)
    return row_of(Trajectory(f"run-{number}", Source("atif")), b'"' + text + b'"', "atif", "1")


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 999), st.lists(st.booleans(), min_size=2, max_size=3))
def test_row_groups_are_within_the_bounds_whatever_the_text_compresses_to(tmp_path_factory, seed, stretches) -> None:
    random = Random(seed)  # noqa: S311 (made-up data)
    folder = tmp_path_factory.mktemp("parts")
    rows = [
        _row(random, number, random.randrange(2_000, 12_000) * (1 if noise else 10), noise=noise)
        for noise in stretches
        for number in range(60)
    ]
    parts = list(Parts(folder, SIZES).write(chunks(rows, SIZES.chunk)))
    files = [pq.ParquetFile(folder / part.name) for part in parts]
    assert [part.name for part in parts] == [f"part-{number:05}.parquet" for number in range(len(parts))]
    groups = [file.metadata.row_group(place) for file in files for place in range(file.metadata.num_row_groups)]
    compressed = [
        sum(group.column(place).total_compressed_size for place in range(group.num_columns)) for group in groups
    ]
    assert all(160_000 <= size <= 320_000 for size in compressed[:-1])
    assert all(part.bytes <= SIZES.file + SIZES.group for part in parts)
    assert [value for file in files for value in file.read([BODY])[BODY].to_pylist()] == [
        row.atif.decode() for row in rows
    ]
    assert sum(part.rows for part in parts) == len(rows)
    assert sum(part.row_groups for part in parts) == len(groups)


def test_a_row_group_has_no_more_text_than_is_held_in_memory(tmp_path: Path) -> None:
    random = Random(0)  # noqa: S311 (made-up data)
    rows = [_row(random, number, 10_000, noise=False) for number in range(30)]
    (part,) = Parts(tmp_path, Sizes(text=50_000)).write(chunks(rows, 10_000))
    assert (part.rows, part.row_groups) == (30, 6)


def test_the_body_has_neither_statistics_nor_a_dictionary_and_the_index_has_both(tmp_path: Path) -> None:
    random = Random(0)  # noqa: S311 (made-up data)
    rows = [_row(random, number, 50, noise=True) for number in range(5)]
    (part,) = Parts(tmp_path, Sizes()).write(chunks(rows, 99))
    group = pq.read_metadata(tmp_path / part.name).row_group(0)
    columns = {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}
    assert columns[BODY].statistics is None
    assert not columns[BODY].has_dictionary_page
    assert columns["n_bytes"].statistics.max == 52
    assert columns["reader"].has_dictionary_page
