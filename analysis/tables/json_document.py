"""A table as one JSON document, for programs: every field of every row, and back."""

import json
import math
from typing import Any

import msgspec

from misstep.analysis.tables import Row, Table
from misstep.harness.errors import InputError


def document(table: Table) -> dict[str, Any]:
    """Return a table as one JSON value: its own fields but `drawn`, and `rows` as a list of objects.

    An infinite figure becomes `None`: JSON has no word for it, and the row's `reason` says why.
    """
    fields: dict[str, Any] = msgspec.structs.asdict(table)
    rows = [{name: finite(getattr(row, name)) for name in Row.__struct_fields__} for row in table.rows]
    del fields["drawn"]
    return fields | {"rows": rows}


def from_document(value: Any) -> Table:
    """Return the table of a `document`."""
    try:
        return msgspec.convert(value, Table)
    except msgspec.ValidationError as error:
        raise InputError(f"not a table: {error}", "Make the file again with analysis.pages.show.") from error


def json_text(table: Table) -> str:
    """Return a table as one JSON document."""
    return json.dumps(document(table), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Return a value as a file can hold it: `None` if it is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
