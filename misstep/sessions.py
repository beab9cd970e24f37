"""`misstep sessions`: what a folder of Parquet files says of its sessions, without reading their text."""

from typing import Annotated

import typer

from misstep.analysis.tables.text import aligned
from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.lake.index import query
from misstep.options.common import Json, command_app

_USUAL = "transcript_id,agent,model,n_steps,n_bytes,success,date"

app = command_app()


@app.command()
def sessions(
    lake: Annotated[
        str, typer.Argument(metavar="LAKE", help="Folder or address of Parquet files, such as `misstep pack` writes.")
    ],
    where: Annotated[
        str, typer.Option(metavar="CONDITION", help="Condition to meet, such as \"model = 'x' and n_steps > 50\".")
    ] = "",
    columns: Annotated[str, typer.Option(metavar="NAMES", help="Columns to show, with commas between them.")] = _USUAL,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Largest number of sessions to show.")] = 20,
    json: Json = False,
) -> None:
    """List packed sessions that meet a condition, by the columns beside their text.

    A condition compares columns with literals (= != < <= > >=, is null, is not null), joined with and, or, not and
    parentheses. A text is in single quotes. Columns: transcript_id, source_type, source_uri, date, task_set,
    agent, model, score, success, message_count, total_time, total_tokens, n_steps, n_bytes, sha256, cluster, reader,
    reader_version. A transcript database of Inspect Scout and a table of chats have columns of their own. With --json,
    all sessions that meet it are printed.
    """
    named = [name.strip() for name in columns.split(",") if name.strip()]
    if not named:
        raise UsageError("--columns names no column", f"Give some, such as --columns {_USUAL}.")
    table = query(lake, named, where, if_there=columns == _USUAL)
    named = table.column_names
    if json:
        import msgspec

        print(msgspec.json.encode({"n": len(table), "sessions": table.to_pylist()}).decode())
        return
    rows = [tuple(map(_text, row.values())) for row in table.slice(0, limit).to_pylist()]
    print("\n".join(aligned([tuple(named), *rows])) if rows else "no session meets the condition")
    if len(table) > limit:
        print(f"{limit:,} of {len(table):,} sessions; --limit N shows more")


def _text(value: object) -> str:
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else plain(str(value))
