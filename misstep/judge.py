"""`misstep judge`: ask a judge about every item of a benchmark, and score what it says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import MissingPrerequisite, UsageError
from misstep.judge_cache import app as cache_app
from misstep.judge_calibrate import calibrate
from misstep.judge_compare import compare
from misstep.terminal import plain, say

if TYPE_CHECKING:
    from harness.clients import ClientSettings
    from harness.judges.judge_file import JudgeSpec

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
    judge: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge's TOML file, or one of `judge list`.")],
    out: Annotated[Path, typer.Option(help="The run's folder; a run that stands there is gone on with.")],
    benchmark: Annotated[
        str, typer.Option(help="A benchmark's folder, or the name of a public set; a recorded judge has its own.")
    ] = "",
    model: Annotated[str, typer.Option(help="The model to ask, instead of the judge's own.")] = "",
    base_url: Annotated[str, typer.Option(help="An OpenAI-compatible address, such as http://127.0.0.1:8000/v1.")] = "",
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Requests in flight at once.")] = 16,
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask about a random sample of items.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand all requests in together by the Batch API, at its price.")
    ] = False,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="Stop before more than this is spent.")] = None,
    prices: Annotated[Path | None, typer.Option(metavar="FILE", help="A price file.")] = None,
    cache: Annotated[Path | None, typer.Option(metavar="FILE", help="Where answers are kept from run to run.")] = None,
    record: Annotated[Path | None, typer.Option(metavar="FILE", help="Add every exchange to a file.")] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Answer from recorded exchanges, without a server.")
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Ask the small model of `make local-llm`: plumbing only, it is no judge.")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of public data sets; MISSTEP_DATA by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the scores as one JSON document.")] = False,
) -> None:
    """Ask a judge about every item of a benchmark, and score it.

    The same line again goes on with a run that was stopped, asks again what failed, and asks nothing twice that was
    answered. The key comes from OPENAI_API_KEY. A recorded judge (`DATASET/JUDGE`) needs neither key nor server.
    """
    import sys
    from contextlib import ExitStack

    from analysis.gold import check_gold
    from harness.items import read_question
    from misstep.judge_scores import scores_text, scores_text_json, write_scores
    from misstep.judged_items import Sampling
    from misstep.judged_runs import benchmark_named
    from misstep.judging import run_judge
    from misstep.recorded_runs import is_recorded, refuse_asking, run_recorded

    if is_recorded(judge):
        refuse_asking(context)
        scores = write_scores(out, run_recorded(judge, out, benchmark, data, sys.argv[1:]))
        print(scores_text_json(scores) if json else scores_text(scores), end="")
        return
    if not benchmark:
        raise UsageError("no benchmark to ask about", "Name one with --benchmark.")
    with ExitStack() as stack:
        if local:
            if model or base_url or replay is not None:
                raise UsageError("--local brings its own model", "Leave out --model, --base-url and --replay.")
            from harness.clients.local_server import MODEL, local_server

            base_url, model = stack.enter_context(local_server()), MODEL
        if batch and (local or record is not None or replay is not None):
            raise UsageError("--batch asks a server of its own kind", "Leave out --local, --record and --replay.")
        spec = _judge(judge, model, base_url)
        settings = _settings(spec.model.base_url, prices, max_cost, cache, record, replay)
        folder = benchmark_named(benchmark, data)
        check_gold(folder, read_question(folder).labels)
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
        except KeyboardInterrupt:
            say(f"misstep: stopped; what was answered is in {plain(str(out))}, and the same command goes on with it.")
            raise typer.Exit(130) from None
    scores = write_scores(out, folder, plumbing=local)
    if stopped is not None:
        raise stopped
    print(scores_text_json(scores) if json else scores_text(scores, plumbing=local), end="")
    if ended.stopped:
        say(f"misstep: {plain(ended.stopped)} {ended.asked:,} of {ended.items:,} items were asked.")
    if ended.failed:
        say(f"misstep: {ended.failed:,} of {ended.items:,} items failed; the same command asks them again.")
    if ended.stopped or ended.failed:
        raise typer.Exit(1)


@app.command("list")
def list_judges(
    data: Annotated[Path | None, typer.Option(help="Folder of public data sets; MISSTEP_DATA by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the judges that come with Misstep, and those whose verdicts public data sets ship."""
    import msgspec

    from misstep.judge_list import listed, listed_text

    judges, absent = listed(data)
    print(msgspec.json.format(msgspec.json.encode(judges), indent=2).decode() if json else listed_text(judges))
    if absent:
        say(f"misstep: recorded judges of {', '.join(absent)}: `misstep datasets fetch {' '.join(absent)}` adds them.")


app.command()(compare)
app.command()(calibrate)
app.add_typer(cache_app, name="cache")


def _judge(named: str, model: str, base_url: str) -> "JudgeSpec":
    """The judge that is named, with the model of the command line where it names one."""
    from msgspec.structs import replace

    from harness.judges import read_known

    spec = read_known(named)
    told = {"name": model or spec.model.name, "base_url": base_url or spec.model.base_url}
    return replace(spec, model=replace(spec.model, **told))


def _settings(
    base_url: str | None,
    prices: Path | None,
    max_cost: float | None,
    cache: Path | None,
    record: Path | None,
    replay: Path | None,
) -> "ClientSettings":
    from harness.clients import ClientSettings

    return ClientSettings(
        client="openai" if replay is None else "replay",
        base_url=base_url,
        cache=cache,
        prices=prices,
        max_cost_usd=max_cost,
        record=record,
        replay=replay,
    )
