"""`misstep show`: the lines that matter of a run of any kind."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import BenchmarkFolder, Data, Json, command_app, json_text, path_alone

app = command_app()


@app.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a run of any command.")],
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
) -> None:
    """Show the ten lines that matter of a run of any command.

    The finding comes first, then how many records there are and whether a program made what was measured (`generated`),
    the main figures with their intervals, what has no answer, and where the page and the records are. An unfinished
    run has no figures, but the line that goes on with it.
    """
    from misstep_analysis.runs.in_brief import brief_text, run_in_brief
    from misstep_analysis.runs.kind import Choice, kind_in

    shown = run_in_brief(*kind_in(run), Choice(benchmark, data))
    print(json_text(shown) if json else brief_text(shown))
