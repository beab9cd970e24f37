"""What a packed folder says of its sessions, without their text: chosen columns of the rows that meet a condition."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misstep.harness.errors import InputError, UsageError
from misstep.harness.lake.addresses import is_address
from misstep.harness.lake.columns import BODY, INDEX, MESSAGES
from misstep.harness.lake.drivers import missing_lake, opened, reaching
from misstep.harness.lake.store import Store
from misstep.harness.lake.where import condition

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

_TEXTS = frozenset({BODY, MESSAGES, "events", "events_data", "timelines"})
"""Columns with the text of a session, ours and those of Inspect Scout."""

_SCOUT_INDEX = "_index/_manifest_20000101T000000_misstep.idx"
"""Older than any packing: what Scout itself adds to the folder is later."""


def query(place: str, columns: Sequence[str] = (), where: str = "", *, if_there: bool = False) -> "pa.Table":
    """Return chosen columns of the sessions that meet a condition, in the order of the files."""
    files = _dataset(place)
    known = [name for name in files.schema.names if name not in _TEXTS]
    unknown = [name for name in columns if name not in files.schema.names]
    if if_there:
        columns = [name for name in columns if name not in unknown]
    elif unknown:
        raise UsageError(f"unknown column {unknown[0]!r}", f"Known: {', '.join(known)}.")
    try:
        return files.to_table(columns=list(columns) or known, filter=condition(where, files.schema) if where else None)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", "Pack it anew.", file=place) from error


def write_scout_index(store: Store, parts: Sequence[str]) -> None:
    """Write the index by which Inspect Scout finds a session's file without a look into any.

    It has all columns but the text, with the name of the file (inspect-scout 0.6.1,
    `_transcript/database/parquet/index.py`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for part in parts:
        table = query(f"{store.place}/{part}", INDEX)
        tables.append(table.append_column("filename", pa.array([part] * len(table), pa.large_string())))
    content = pa.BufferOutputStream()
    pq.write_table(pa.concat_tables(tables), content, compression="zstd")
    store.write(_SCOUT_INDEX, content.getvalue().to_pybytes())


def _dataset(place: str) -> "ds.Dataset":
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise missing_lake("a packed folder") from error
    files, names = _files_at(place) if is_address(place) else (None, _files_in(Path(place)))
    if not names:
        raise InputError("it has no Parquet file", "Name a folder that `misstep pack` has written.", file=place)
    try:
        return ds.dataset(sorted(names), format="parquet", filesystem=files)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", "Check the file.", file=place) from error


def _files_at(address: str) -> tuple[Any, list[str]]:
    system, root = opened(address)
    with reaching(address):
        return system, [root] if system.isfile(root) else [
            one for one in system.ls(root, detail=False) if _is_shown(one)
        ]


def _files_in(folder: Path) -> list[str]:
    try:
        return [str(folder)] if folder.is_file() else [str(one) for one in folder.iterdir() if _is_shown(one.name)]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Check the path.", file=folder) from error


def _is_shown(name: str) -> bool:
    own = name.rsplit("/", 1)[-1]
    return own.endswith(".parquet") and not own.startswith(".")


def read_columns(store: Store, name: str, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of one file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = store.read(name)
    place = f"{store.place}/{name}"
    if content is None:
        raise InputError("it is missing", "Remove the folder and pack anew.", file=place)
    try:
        table = pq.read_table(pa.BufferReader(content), columns=list(columns))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", "Remove the folder and pack anew.", file=place) from error
    return {column: table.column(column).to_pylist() for column in columns}
