"""Tables as Parquet files: typed columns, lists as lists, compressed by zstd; the same rows give the same bytes."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import inspect as types

from misstep_analysis.runs.kind import Column, ExportedTable, Values, known
from misstep_harness.addresses import missing_files_extra

if TYPE_CHECKING:
    import pyarrow as pa

_GROUP_ROWS = 20_000
"""Rows of a group: of verdicts a few megabytes, which is all that is held at once."""


class ParquetRows:
    """A Parquet file that takes row after row; use it with `with`."""

    def __init__(self, file: Path, schema: "pa.Schema") -> None:
        from pyarrow import parquet

        self.n = 0
        self._schema = schema
        self._group: list[Values] = []
        self._writer = parquet.ParquetWriter(file, schema, compression="zstd")

    def __enter__(self) -> "ParquetRows":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self._group:
            self._write()
        self._writer.close()

    def add(self, row: Values) -> None:
        """Take a row."""
        self._group.append(row)
        self.n += 1
        if len(self._group) == _GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(_pyarrow().Table.from_pylist(self._group, schema=self._schema))
        self._group.clear()


def write_parquet(file: Path, table: ExportedTable, rows: Iterable[Values]) -> int:
    """Write the rows of a table; gives their number."""
    with ParquetRows(file, schema_of(table.columns)) as writer:
        for row in rows:
            writer.add(row)
    return writer.n


def schema_of(columns: Iterable[Column]) -> "pa.Schema":
    """Return the schema of a table's file; an object of any keys is JSON text there."""
    arrow = _pyarrow()
    return arrow.schema([(column.name, _type(types.type_info(column.type), arrow)) for column in columns])


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
    except ImportError as error:
        raise missing_files_extra("Parquet") from error
    module: ModuleType = pyarrow
    return module


def _type(kind: types.Type, arrow: Any) -> Any:
    kind = known(kind)
    if isinstance(kind, types.VarTupleType | types.ListType):
        return arrow.list_(_type(kind.item_type, arrow))
    if isinstance(kind, types.StructType):
        return arrow.struct([(field.encode_name, _type(field.type, arrow)) for field in kind.fields])
    if isinstance(kind, types.BoolType):
        return arrow.bool_()
    if isinstance(kind, types.IntType):
        return arrow.int64()
    return arrow.float64() if isinstance(kind, types.FloatType) else arrow.string()
