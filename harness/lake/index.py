"""What a packed folder says of its sessions, without their text: chosen columns of the rows that meet a condition."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import InputError, MissingPrerequisite, UsageError
from harness.lake.columns import BODY
from harness.lake.store import Store
from harness.lake.where import condition

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

_TEXTS = frozenset({BODY, "messages", "events", "events_data", "timelines"})
"""Columns with the text of a session, ours and those of Inspect Scout."""


def query(place: str, columns: Sequence[str] = (), where: str = "") -> "pa.Table":
    """Chosen columns of the sessions that meet a condition, in the order of the files.

    Parameters
    ----------
    place
        A folder of Parquet files, or an address such as `s3://bucket/folder`.
    columns
        The columns; all but the text where none is named.
    where
        A condition, such as `model = 'x' and n_steps > 50`; every session meets an empty one.

    Raises
    ------
    MissingPrerequisite
        The library for Parquet or for such an address is not installed.
    InputError
        There is no Parquet file, or one cannot be read.
    UsageError
        The condition cannot be read, or there is no such column.
    """
    files = _dataset(place)
    known = [name for name in files.schema.names if name not in _TEXTS]
    unknown = [name for name in columns if name not in files.schema.names]
    if unknown:
        raise UsageError(f"there is no column {unknown[0]!r}", f"Known: {', '.join(known)}.")
    try:
        return files.to_table(columns=list(columns) or known, filter=condition(where, files.schema) if where else None)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", "Pack it anew.", file=place) from error


def _dataset(place: str) -> "ds.Dataset":
    try:
        import pyarrow.dataset as ds
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingPrerequisite("Parquet needs pyarrow", "Install it with: pip install 'misstep[lake]'") from error
    files, root = url_to_fs(place)
    try:
        names = sorted(name for name in files.ls(root, detail=False) if _is_shown(name))
        if not names:
            raise InputError("there is no Parquet file", "Name a folder that `misstep pack` has written.", file=place)
        return ds.dataset(names, format="parquet", filesystem=files)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", "Check the address.", file=place) from error


def _is_shown(name: str) -> bool:
    own = name.rsplit("/", 1)[-1]
    return own.endswith(".parquet") and not own.startswith(".")


def read_columns(store: Store, name: str, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of one file.

    Raises
    ------
    InputError
        It is not there, or cannot be read.
    """
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
