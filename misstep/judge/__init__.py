"""`misstep judge`: ask a judge about every item of a benchmark, and score what it says."""

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import MissingPrerequisite, UsageError
from harness.progress import say
from misstep.data_option import Data
from misstep.judge.cache import app as cache_app
from misstep.judge.calibrate import calibrate
from misstep.judge.compare import compare
from misstep.judge.inject import inject
from misstep.judge.options import (
    Asking,
    BaseUrl,
    CacheFile,
    Concurrency,
    Judge,
    Local,
    MaxCost,
    Model,
    Out,
    Prices,
    Record,
    Replay,
    exit_unless_whole,
    kept_when_stopped,
    opened_judge,
)
from misstep.judge.stability import stability

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def judge() -> None:
    """Ask a judge about every item of a benchmark, and score what it says."""


@app.command()
def run(
    context: typer.Context,
    judge: Judge,
    out: Out,
    benchmark: Annotated[
        str, typer.Option(help="A benchmark's folder, or the name of a public set; a recorded judge has its own.")
    ] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    concurrency: Concurrency = 16,
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask about a random sample of items.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand all requests in together by the Batch API, at its price.")
    ] = False,
    max_cost: MaxCost = None,
    prices: Prices = None,
    cache: CacheFile = None,
    record: Record = None,
    replay: Replay = None,
    local: Local = False,
    data: Data = None,
    json: Annotated[bool, typer.Option("--json", help="Print the scores as one JSON document.")] = False,
) -> None:
    """Ask a judge about every item of a benchmark, and score it.

    The same line again goes on with a run that was stopped, asks again what failed, and asks nothing twice that was
    answered. The key comes from OPENAI_API_KEY. A recorded judge (`DATASET/JUDGE`) needs neither key nor server.
    """
    import sys

    from analysis.gold import check_gold, item_ids
    from harness.items import read_question
    from harness.runs.asked_items import Sampling
    from harness.runs.judge import run_judge
    from harness.runs.recorded import is_recorded, refuse_asking, run_recorded
    from studies.judged_runs import benchmark_named

    if is_recorded(judge):
        refuse_asking(context)
        _score(out, run_recorded(judge, out, benchmark, data, sys.argv[1:]), json=json)
        return
    if not benchmark:
        raise UsageError("no benchmark to ask about", "Name one with --benchmark.")
    if batch and (local or record is not None or replay is not None):
        raise UsageError("--batch asks a server of its own kind", "Leave out --local, --record and --replay.")
    asking = Asking(model, base_url, max_cost, prices, cache, record, replay, local)
    with opened_judge(judge, asking) as (spec, settings), kept_when_stopped(out):
        folder = benchmark_named(benchmark, data)
        check_gold(folder, read_question(folder).labels, item_ids(folder))
        stopped: MissingPrerequisite | None = None
        try:
            ended = run_judge(
                spec,
                folder,
                out,
                settings,
                concurrency=concurrency,
                batch=batch,
                sampling=None if sample is None else Sampling(sample, seed),
                arguments=sys.argv[1:],
            )
        except MissingPrerequisite as error:
            stopped = error
    _score(out, folder, json=json, plumbing=local, shown=stopped is None)
    if stopped is not None:
        raise stopped
    exit_unless_whole(ended)


def _score(out: Path, folder: Path, *, json: bool, plumbing: bool = False, shown: bool = True) -> None:
    """Score a run and print its scores; what that takes is imported when something has changed since the last time."""
    from harness.journal.records import SCORES
    from studies.judge_scored import keep_scores, kept_scores, scored_from

    try:
        digest = scored_from(out, folder)
    except OSError:
        digest = ""  # whatever is missing is said by what reads it
    kept = kept_scores(out, digest)
    if kept is None:
        from studies.judge_scores import scores_text, write_scores

        kept = keep_scores(out, digest, scores_text(write_scores(out, folder)))
    if shown:
        print((out / SCORES).read_text(encoding="utf-8") if json else kept.text, end="")
    if shown and plumbing and not json:
        from studies.judge_scores import NO_JUDGE

        print(f"\n{NO_JUDGE}", end="")


@app.command("list")
def list_judges(
    data: Data = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the judges that come with Misstep, and those whose verdicts public data sets ship."""
    import msgspec

    from harness.datasets.catalogue import how_to_get
    from misstep.judge.list import listed, listed_text

    judges, absent = listed(data)
    print(msgspec.json.format(msgspec.json.encode(judges), indent=2).decode() if json else listed_text(judges))
    if absent:
        say(f"misstep: recorded judges of {', '.join(absent)} are not at hand. {how_to_get(absent)}")


app.command()(compare)
app.command()(calibrate)
app.command()(inject)
app.command()(stability)
app.add_typer(cache_app, name="cache")
