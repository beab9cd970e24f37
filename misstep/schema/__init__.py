"""`misstep schema`: the JSON Schema of what a command prints with `--json`."""

from typing import Annotated

import typer

from misstep.options.common import command_app, json_text

app = command_app()


@app.command()
def schema(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Command, such as judge run; without one, all are listed."),
    ] = None,
) -> None:
    """Print the JSON Schema of the document that a command prints with `--json`.

    It is of draft 2020-12. Documents may get further keys; those that the schema requires stay. What could not be
    computed is null, and a `reason` beside it says why.

    \b
    misstep schema classify
    misstep schema judge run
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.schema.known import known_commands, schema_of

    print(json_text(schema_of(" ".join(words))) if words else "\n".join(known_commands()))
