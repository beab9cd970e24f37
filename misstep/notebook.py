"""`misstep notebook`: a short starter notebook for a run."""

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import UsageError
from misstep.options import command_app
from misstep.pages import write_page

app = command_app()


@app.command()
def notebook(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.ipynb", help="The notebook file; by default RUN.ipynb beside the run.")
    ] = None,
) -> None:
    """Write a short notebook that opens a run as pandas frames and computes its main figures.

    The notebook is a start for your own analysis: the frames, a share with its interval, the confusion matrix, and the
    items to read first.
    """
    from studies.starter_notebook import starter_notebook

    written = starter_notebook(run)
    target = out or run.resolve().with_name(f"{run.resolve().name}.ipynb")
    if target.exists():
        raise UsageError(
            f"the file {target} exists already", "Name another file with --out; the existing one may contain your work."
        )
    write_page("--out", target, written)
    print(target)
