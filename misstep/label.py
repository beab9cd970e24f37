"""`misstep label`: a person labels a sample of what a judge was asked about, on a page of this machine."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import UsageError
from harness.escaping import plain
from harness.progress import say
from misstep.options import BenchmarkFolder, Seed, command_app

app = command_app()


@app.command()
def label(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of `misstep judge run`.")],
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Number of items to draw.")] = 50,
    rater: Annotated[str, typer.Option(metavar="NAME", help="Name of the person; by default the user's.")] = "",
    seed: Seed = 0,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="P", help="Port; 0 takes a free one.")] = 0,
    benchmark: BenchmarkFolder = "",
) -> None:
    """Label a random sample of the items of a judge's run, and score the judge by it.

    The page is for this machine alone, and does not show what the judge said: keys 1, 2, 3 … give a label, b goes back,
    s skips. Each label is kept at once in the benchmark's gold.csv, and the same command goes on. After the last item
    the run is scored: precision, recall, and the share of the positive label put right for the judge's errors.
    """
    import asyncio

    from studies.judging.scores import scores_text, write_scores
    from studies.labelling import Labelling, draw
    from studies.labelling_server import serve

    drawn = draw(run, n, rater.strip() or getpass.getuser(), seed=seed, benchmark=benchmark)
    labelling = Labelling(drawn)
    try:
        if not labelling.done:
            asyncio.run(serve(labelling, port, lambda address: print(f"Open {address}", flush=True)))
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}", "Leave it out to take a free port.") from error
    except KeyboardInterrupt:
        left = len(drawn.items) - labelling.labelled
        say(f"misstep: stopped; {left:,} are left, and the same command goes on with them.")
        raise typer.Exit(130) from None
    gold = drawn.run.benchmark / "gold.csv"
    say(f"misstep: {labelling.labelled:,} labels of {plain(drawn.rater)} are in {plain(str(gold))}.")
    print(scores_text(write_scores(run, drawn.run.benchmark)), end="")
