"""Make the tables of an export: columns have the types and meanings of the fields of records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec import inspect as types

from misstep_analysis.pages.form_text import docstring_sections, meanings
from misstep_harness.journal.records import encode

Values = dict[str, Any]
"""A row: column → value; `None` if there is none."""


Rows = Callable[[], Iterator[Any]]


class Column(Struct, frozen=True):
    """A column: its name, the Python type of its values, and its meaning in a sentence."""

    name: str
    type: Any
    meaning: str = ""


class ExportedTable(Struct, frozen=True):
    """A table of an export."""

    name: str
    about: str
    file: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Values]]


def columns_of(kind: type[Struct], without: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return a column for each field of a record, but for some."""
    texts = meanings(kind)
    fields = msgspec.structs.fields(kind)
    return tuple(Column(one.name, one.type, texts.get(one.name, "")) for one in fields if one.name not in without)


def table_of(
    name: str,
    file: str,
    kind: type[Struct],
    records: Callable[[], Iterable[Any]],
    *,
    key: tuple[str, ...],
    without: Sequence[str] = (),
    first: Column | None = None,
) -> ExportedTable:
    """Return the table of records of one kind: a row a record, a column a field."""
    columns = (*([first] if first else []), *columns_of(kind, without))

    plain = [(column.name, json_text if is_json(column.type) else _plain) for column in columns]

    def rows() -> Iterator[Values]:
        for record in records():
            yield {name: convert(getattr(record, name)) for name, convert in plain}

    about = " ".join(docstring_sections(kind)[""].split("\n\n")[0].split())
    return ExportedTable(name, about, file, key, columns, rows)


_PLAIN = (str, int, float, NoneType)


def _plain(value: Any) -> Any:
    return value if isinstance(value, _PLAIN) else msgspec.to_builtins(value)


def json_text(value: Any) -> str | None:
    """Return a value as JSON text, which a table holds of objects of any keys."""
    return None if value is None else encode(value).decode()


def is_json(kind: Any) -> bool:
    """Return whether a column of a type has JSON text."""
    return isinstance(known(types.type_info(kind)), types.DictType | types.AnyType | types.UnionType)


def known(kind: types.Type) -> types.Type:
    """Return the type of the values that there are: a union with null without its null."""
    if not isinstance(kind, types.UnionType):
        return kind
    some = [one for one in kind.types if not isinstance(one, types.NoneType)]
    return some[0] if len(some) == 1 else kind


def type_name(kind: Any) -> str:
    """Return a column's type in a word or two, as Parquet and `datasets` name it."""
    return _name(types.type_info(kind))


def _name(kind: types.Type) -> str:
    kind = known(kind)
    if isinstance(kind, types.VarTupleType | types.ListType):
        return f"list of {_name(kind.item_type)}"
    return _NAMES.get(type(kind), "string")


_NAMES: dict[type[types.Type], str] = {
    types.BoolType: "bool",
    types.IntType: "int64",
    types.FloatType: "float64",
    types.StructType: "struct",
}
