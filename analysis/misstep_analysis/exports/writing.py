"""A run exported: opened, looked through for secrets, and written into a folder in one of several forms."""

import csv
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from misstep_analysis.exports.folder import ExportFile, check_free, exported_folder
from misstep_analysis.exports.hugging_face import write_data_set
from misstep_analysis.exports.inspect_scores import write_scores
from misstep_analysis.exports.opening import RunExport, open_export
from misstep_analysis.exports.parquet import write_parquet
from misstep_analysis.exports.secrets import Secrets
from misstep_analysis.runs.finished import places_of
from misstep_analysis.runs.kinds.columns import ExportedTable, Values
from misstep_analysis.runs.kinds.kind import Choice
from misstep_analysis.tables.files import csv_field
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import encode
from misstep_harness.version import __version__

Form = Literal["hf", "parquet", "csv", "inspect"]


def export_run(run: Path, to: Form, out: Path, choice: Choice, *, redact: bool = False) -> dict[str, int]:
    """Write a finished run into a folder; gives the number of rows of each table."""
    if to == "inspect" and choice.gold:
        raise UsageError(
            "--to inspect has no place for gold labels", "Leave out --with-gold, or export it with --to parquet."
        )
    about = ExportFile(to, run.resolve().name, __version__)
    check_free(out, about)
    opened = open_export(run, choice)
    secrets = Secrets(replace=redact, places=places_of(opened))
    with exported_folder(out, about) as building:
        counts = _WRITERS[to](opened, building, secrets)
        secrets.refuse(str(run))
    return counts


_Write = Callable[[RunExport, Path, Secrets], dict[str, int]]
_WriteTable = Callable[[Path, ExportedTable, Iterable[Values]], int]


def _tables(ending: str, write: _WriteTable, run: RunExport, folder: Path, secrets: Secrets) -> dict[str, int]:
    return {one.name: write(folder / f"{one.name}.{ending}", one, secrets.checked(one)) for one in run.tables}


def _write_csv(file: Path, table: ExportedTable, rows: Iterable[Values]) -> int:
    """Write the rows of a table: lists are JSON text, what is missing is empty, and nothing is a formula."""
    names = [column.name for column in table.columns]
    n = 0
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_field, names))
        for row in rows:
            writer.writerow([_field(row[name]) for name in names])
            n += 1
    return n


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return encode(value).decode() if isinstance(value, list | tuple | dict) else csv_field(value)


_WRITERS: dict[Form, _Write] = {
    "hf": write_data_set,
    "parquet": partial(_tables, "parquet", write_parquet),
    "csv": partial(_tables, "csv", _write_csv),
    "inspect": write_scores,
}
