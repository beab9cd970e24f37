"""Rows to Parquet files: row groups and files of about equal compressed length, the same for the same rows.

How full a row group is must be known before it is compressed: each chunk comes with an estimate from a sample of it,
and what the last group really took corrects the next. The text is compressed with zstd, level 3, without dictionary and
statistics: whoever asks for other columns does not touch it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from misstep.harness.errors import writing
from misstep.harness.lake.columns import ID, INDEX, PackedRow, record_batch

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


class Sizes(Struct, frozen=True):
    """About how many bytes the pieces of a packed folder have.

    - `group`: Compressed: the estimate is off by less than what 16 and 32 MB leave.
    - `text`: Unpacked, of a row group at most: so much is held in memory while it is put together.
    - `file`: Compressed.
    - `chunk`: Text of a chunk.
    """

    group: int = 22_000_000
    text: int = 384_000_000
    file: int = 100_000_000
    chunk: int = 4 << 20


USUAL = Sizes()

FOR_SCANNERS = Sizes(group=400_000, chunk=1 << 20)
"""For who looks up one session after the other by its id, as Scout does, and unpacks a whole group for each."""

_LEVEL = 3
_SAMPLED = 8
_SAMPLE_BYTES = 512 << 10
_PAGE_ROWS = 64
_UNIQUE = (ID, "sha256")


class Chunk(Struct, frozen=True):
    """Rows that stay together, the length of their text, and about how many bytes it compresses to."""

    rows: "pa.RecordBatch"
    text_bytes: int
    compressed: float


def chunks(rows: Iterable[PackedRow], chunk_bytes: int) -> Iterator[Chunk]:
    """Yield rows as chunks of about equal length, in order."""
    pending: list[PackedRow] = []
    size = 0
    for row in rows:
        pending.append(row)
        size += len(_text(row))
        if size >= chunk_bytes:
            yield _chunk(pending)
            pending, size = [], 0
    if pending:
        yield _chunk(pending)


def _chunk(rows: list[PackedRow]) -> Chunk:
    import pyarrow as pa

    sample = b"".join(_text(row)[:_SAMPLE_BYTES] for row in rows[::_SAMPLED])[: _SAMPLED * _SAMPLE_BYTES]
    size = sum(len(_text(row)) for row in rows)
    share = pa.Codec("zstd", compression_level=_LEVEL).compress(sample).size / len(sample)
    return Chunk(record_batch(rows), sum(row.n_bytes for row in rows), size * share)


def _text(row: PackedRow) -> bytes:
    return row.atif if row.messages is None else row.messages + row.atif


class PackedPart(Struct, frozen=True):
    """A Parquet file that was written: its rows, its row groups and its bytes."""

    name: str
    rows: int
    row_groups: int
    bytes: int


class Parts:
    """Write chunks into files `part-00000.parquet`, `part-00001.parquet` and so on.

    - `count`: How many files there are already.
    - `fit`: How many times the estimate the last row group took.
    """

    def __init__(self, folder: Path, sizes: Sizes, count: int = 0, fit: float = 1.0) -> None:
        self.fit = fit
        self._folder = folder
        self._sizes = sizes
        self._count = count

    def write(self, chunks: Iterable[Chunk]) -> Iterator[PackedPart]:
        """Write the chunks; each file is given when it is whole, before the next chunk is taken."""
        file: _File | None = None
        for chunk in chunks:
            if file is None:
                file = _File(self._folder / f"part-{self._count:05}.parquet", self._sizes, self.fit)
            file.add(chunk)
            if file.full:
                yield self._closed(file)
                file = None
        if file is not None:
            yield self._closed(file)

    def _closed(self, file: "_File") -> PackedPart:
        part = file.close()
        self.fit = file.fit
        self._count += 1
        return part


def hidden(name: str) -> str:
    """Return the name of a file until the whole folder is packed; whoever reads a folder looks at no such name."""
    return f".{name}"


class _File:
    def __init__(self, path: Path, sizes: Sizes, fit: float) -> None:
        self.fit = fit
        self._sizes = sizes
        self._path = path
        with writing(path):
            self._stream: BinaryIO = path.open("wb")
        self._parquet: pq.ParquetWriter | None = None
        self._pending: list[pa.RecordBatch] = []
        self._estimate = 0.0
        self._text = 0
        self._rows = self._groups = 0

    @property
    def full(self) -> bool:
        return not self._pending and self._stream.tell() + self._sizes.group / 2 > self._sizes.file

    def add(self, chunk: Chunk) -> None:
        self._pending.append(chunk.rows)
        self._estimate += chunk.compressed
        self._text += chunk.rows.nbytes
        if self._estimate * self.fit >= self._sizes.group or self._text >= self._sizes.text:
            self._write_group()

    def close(self) -> PackedPart:
        with writing(self._path), self._stream:
            if self._pending:
                self._write_group()
            if self._parquet is not None:
                self._parquet.close()
        return PackedPart(self._path.name, self._rows, self._groups, self._path.stat().st_size)

    def _write_group(self) -> None:
        import pyarrow as pa

        group = pa.Table.from_batches(self._pending)
        before = self._stream.tell()
        with writing(self._path):
            if self._parquet is None:
                self._parquet = _parquet_writer(self._stream, group.schema)
            self._parquet.write_table(group, row_group_size=len(group))
        self.fit = (self._stream.tell() - before) / self._estimate
        self._rows += len(group)
        self._groups += 1
        self._pending, self._estimate, self._text = [], 0.0, 0


def _parquet_writer(stream: BinaryIO, columns: "pa.Schema") -> "pq.ParquetWriter":
    import pyarrow.parquet as pq

    return pq.ParquetWriter(
        stream,
        columns,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[name for name in INDEX if name not in _UNIQUE],
        write_statistics=list(INDEX),
        write_page_index=True,
        write_batch_size=_PAGE_ROWS,
    )
