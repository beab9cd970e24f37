"""Queries of a packed folder, which leave the text where it is."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from misstep.harness.errors import InputError, UsageError
from misstep.harness.lake.columns import BODY, INDEX, row_of
from misstep.harness.lake.index import query
from misstep.harness.lake.packing import Parts, Sizes, chunks
from misstep.harness.trajectory import Source, Trajectory


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Twenty sessions, those with even numbers of the model `even`, in two files and with broken text."""
    rows = [
        row_of(Trajectory(f"run-{number}", Source("atif"), model="odd" if number % 2 else "even"), b'"x"', "atif", "1")
        for number in range(20)
    ]
    parts = list(Parts(tmp_path, Sizes(group=1, file=1000)).write(chunks(rows, 30)))
    assert len(parts) == 2
    for part in parts:
        file = tmp_path / part.name
        column = pq.read_metadata(file).row_group(0).column(len(INDEX))
        assert column.path_in_schema == BODY
        with file.open("r+b") as stream:
            stream.seek(column.data_page_offset)
            stream.write(bytes(column.total_compressed_size))
    (tmp_path / ".part-00002.parquet").write_text("half")
    return tmp_path


def test_a_query_gives_chosen_columns_of_the_rows_that_meet_it_without_reading_the_text(packed: Path) -> None:
    result = query(str(packed), ["transcript_id"], "model = 'even' and transcript_id != 'run-2'")
    assert result.to_pydict() == {"transcript_id": [f"run-{number}" for number in range(0, 20, 2) if number != 2]}
    assert query(str(packed)).column_names == list(INDEX)


def test_a_column_that_there_is_not_is_refused(packed: Path) -> None:
    with pytest.raises(UsageError, match="unknown column 'modell'"):
        query(str(packed), ["modell"])


def test_a_place_without_parquet_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Parquet file"):
        query(str(tmp_path))
    with pytest.raises(InputError, match="cannot be read"):
        query(str(tmp_path / "nowhere"))
