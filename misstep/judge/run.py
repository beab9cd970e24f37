"""`misstep judge run`: run a judge over every item of a benchmark, and score it."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.judge import options
from misstep.options import run_folders
from misstep.options.common import Data, path_or_address, refuse_given
from misstep.options.gate import BELOW, GateOptions
from misstep.options.model import ModelOptions
from misstep_harness.errors import MissingPrerequisite, UsageError

Sessions = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[SESSIONS...]", parser=path_or_address, help="Files and folders with sessions, instead of a benchmark."
    ),
]
Benchmark = Annotated[
    str, typer.Option(help="Folder of a benchmark, or the name of a public data set; a recorded judge brings its own.")
]


def run(
    context: typer.Context,
    judge: options.Judge,
    out: run_folders.Out,
    sessions: Sessions = None,
    benchmark: Benchmark = "",
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="Run on a random sample of N items.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the sample.")] = 0,
    batch: Annotated[
        bool, typer.Option("--batch", help="Send the requests through the Batch API, at its price.")
    ] = False,
    orders: Annotated[
        Literal["both", "random"] | None,
        typer.Option(help="Orders in which a judge of pairs sees two outputs; by default both."),
    ] = None,
    data: Data = None,
    json: options.ScoresAsJson = False,
    *,
    asking: ModelOptions,
    limits: Annotated[GateOptions, BELOW],
) -> None:
    """Run a judge over a benchmark or over sessions, and score it.

    The judge labels every item of the benchmark; the scores compare its labels with the gold labels. Sessions become a
    benchmark without gold labels in RUN/benchmark; the result is then the share of each label.

    The same command continues a run that was stopped: it asks again about failed items and never about answered ones.
    A judge with a prompt takes its key from OPENAI_API_KEY. Rules (`CATEGORY@rule`) and recorded judges
    (`DATASET/JUDGE`) need neither a key nor a server; a judge in Python is named `package.module:object`.
    """
    import sys

    from misstep_analysis.gold import check_gold, item_ids, read_gold
    from misstep_analysis.judging.scored import kept_figures
    from misstep_harness.items import read_question
    from misstep_harness.runs.judging.judge import Sampling, run_judge
    from misstep_harness.runs.judging.known_judges import asked_about

    if batch and (asking.local or asking.record is not None or asking.replay is not None):
        raise UsageError("--batch needs a server with the Batch API", "Leave out --local, --record and --replay.")
    if batch and (asking.rpm is not None or asking.tpm is not None):
        raise UsageError("--batch sends no single requests", "Leave out --rpm and --tpm.")
    if sample is None:
        refuse_given(context, {"seed"}, "it draws the items of --sample")
    gates = limits.gates()
    with options.opened_judge(judge, asking, data) as (opened, settings), run_folders.kept_when_stopped(out):
        if not opened.asks_model:
            options.refuse_model_options(context)
        folder = asked_about(opened, sessions or [], benchmark, out, data)
        labels = read_question(folder).labels
        check_gold(folder, labels, item_ids(folder))
        if gates:  # a run without limits loads no library of figures
            from misstep_analysis.judging.gate_figures import names_of_figures
            from misstep_analysis.judging.gates import check_known

            check_known(gates, names_of_figures(labels or sorted({one.label for one in read_gold(folder)})))
        stopped: MissingPrerequisite | None = None
        try:
            sampling = None if sample is None else Sampling(sample, seed)
            ask = partial(run_judge, opened, folder, out, settings, batch=batch, sampling=sampling, orders=orders)
            ended = ask(concurrency=asking.in_flight, arguments=sys.argv[1:])
        except MissingPrerequisite as error:
            stopped = error
    options.print_scores(out, folder, json=json, plumbing=asking.local, shown=stopped is None)
    if stopped is not None:
        raise stopped
    run_folders.exit_unless_whole(ended)
    if gates:
        limits.settle(gates, kept_figures(out), f"misstep judge run {judge}")
