"""`misstep notebook`: a short notebook over a run, to go on from."""

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import UsageError
from misstep.pages import write_page

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def notebook(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.ipynb", help="The notebook; by default RUN.ipynb beside the run.")
    ] = None,
) -> None:
    """Write a short notebook that opens a run as pandas frames and computes its main figures.

    It is a start for your own: the frames, a share with its interval, the confusion matrix, what to read first.
    """
    from studies.starter_notebook import starter_notebook

    written = starter_notebook(run)
    target = out or run.resolve().with_name(f"{run.resolve().name}.ipynb")
    if target.exists():
        raise UsageError(f"{target} exists", "It may hold your work: name another file with --out.")
    write_page("--out", target, written)
    print(target)
