"""`misstep notebook`: a short starter notebook for a run."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.common import command_app, path_alone, write_page

app = command_app()


OpenIt = Annotated[
    bool, typer.Option("--open", help="Open the notebook in JupyterLab, on this machine alone; Ctrl-C ends it.")
]


@app.command()
def notebook(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.ipynb", help="The notebook file; by default RUN.ipynb beside the run.")
    ] = None,
    open_it: OpenIt = False,
) -> None:
    """Write a short notebook that opens a run as pandas frames and computes its main figures.

    The notebook is a start for your own analysis: the frames, a share with its interval, the confusion matrix, and the
    items to read first. There is one for each kind of run. With --open a notebook that is there already is opened as
    it is. JupyterLab comes with `pip install 'misstep[lab]'`.
    """
    from misstep.studies.reproduction.notebooks import open_in_lab
    from misstep.studies.starter_notebook import starter_notebook

    target = out or run.resolve().with_name(f"{run.resolve().name}.ipynb")
    if target.exists() and not open_it:
        advice = "Open it with --open, or name another file with --out; the existing one may contain your work."
        raise UsageError(f"the file {target} exists already", advice)
    if target.exists():
        say(f"misstep: {plain(str(target))} exists already and is opened as it is")
    else:
        write_page("--out", target, starter_notebook(run))
    print(target, flush=True)
    if open_it:
        open_in_lab(target)
