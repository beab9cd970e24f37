"""`misstep help TOPIC`: the form of each file that people write or read, and further pages."""

from typing import Annotated

import typer

from misstep.help_topics import GUIDES, TOPICS, topic_text
from misstep.options.common import command_app
from misstep_analysis.tables.text import aligned

app = command_app()


@app.command()
def help_(
    topic: Annotated[str, typer.Argument(metavar="[TOPIC]", help="Topic; without one, all are listed.")] = "",
) -> None:
    """Show the form of a file: its keys, with their valid values, defaults and meanings.

    For the options of a command, use `misstep COMMAND --help`.
    """
    rows = [(f"misstep help {name}", one.line) for name, one in (TOPICS | GUIDES).items()]
    print(topic_text(topic) if topic else "\n".join(aligned(rows, to_left=(0, 1))))
