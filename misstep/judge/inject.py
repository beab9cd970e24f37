"""`misstep judge inject`: how often a planted instruction changes a judge's verdict."""

from typing import Annotated

import typer

from misstep.harness.errors import MissingPrerequisite, UsageError
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.judge import options
from misstep.options import run_folders
from misstep.options.common import Data, Json
from misstep.options.model import ModelOptions


def inject(
    judge: options.Judge,
    out: run_folders.Out,
    benchmark: Annotated[
        str, typer.Option(help="Benchmark whose items are attacked, instead of the shipped items.")
    ] = "",
    items: Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of plain items to attack.")] = None,
    attacks: Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of attacked items to make.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the choice of attacks, items and places.")] = 0,
    data: Data = None,
    json: Json = False,
    *,
    asking: ModelOptions,
) -> None:
    """Measure how often planted instructions change a verdict.

    The judge runs on items with an instruction in them and on the same items without it.

    The command makes the items in the run's folder, as a benchmark. The same command continues a run that was stopped.
    A flip is a verdict that differs from the plain item's verdict; copies of the plain items show flips by chance.
    """
    import sys

    from misstep.harness.runs.judging.benchmarks import benchmark_named
    from misstep.harness.runs.judging.judge import run_judge
    from misstep.studies.judged_runs import open_run
    from misstep.studies.judging.scored import write_scores
    from misstep.studies.recorded.flips import write_flips
    from misstep.studies.recorded.injections import benchmark_source, shipped_source, write_injections

    stopped: MissingPrerequisite | None = None
    with options.opened_judge(judge, asking, data) as (opened, settings), run_folders.kept_when_stopped(out):
        if not isinstance(opened, PromptedJudge):
            message = f"the judge {judge} has no prompt"
            raise UsageError(message, "Name a judge with a prompt; `misstep judge list` lists them.")
        spec = opened.spec
        if benchmark:
            source = benchmark_source(opened, benchmark_named(benchmark, data), items, seed)
        else:
            source = shipped_source(spec, items)
        folder = write_injections(spec, out, source, count=attacks, seed=seed)
        try:
            ended = run_judge(opened, folder, out, settings, concurrency=asking.in_flight, arguments=sys.argv[1:])
        except MissingPrerequisite as error:
            stopped = error
    write_scores(run := open_run(out, str(folder)))
    document, text = write_flips(run, seed, plumbing=asking.local)
    if stopped is not None:
        raise stopped
    print(document if json else text, end="")
    options.exit_unless_whole(ended)
