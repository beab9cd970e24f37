"""Shared parts of the commands that ask a model: their options, the judge and client, the exit code."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from harness.errors import UsageError, closed
from harness.escaping import plain
from harness.progress import say

if TYPE_CHECKING:
    from harness.clients import ClientSettings
    from harness.protocols import Judge as Judge_
    from harness.runs.judge import RunSummary

Judge = Annotated[
    str, typer.Argument(metavar="JUDGE", help="Name from `judge list`, TOML file, or `package.module:object`.")
]
Out = Annotated[Path, typer.Option(help="Folder of the run; an unfinished run in it is continued.")]
Model = Annotated[str, typer.Option(help="Model to ask instead of the judge's own.")]
BaseUrl = Annotated[str, typer.Option(help="Address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1.")]
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Number of requests in flight at once.")]
MaxCost = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Cost limit; the run stops before it spends more. It counts every retry."),
]
Prices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="TOML file with prices of models; it goes before the shipped prices."),
]
CacheFile = Annotated[Path | None, typer.Option(metavar="FILE", help="File that keeps answers from run to run.")]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="File to which every request and reply is added.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File of recorded exchanges that answers instead of a server.")
]
Local = Annotated[
    bool,
    typer.Option("--local", help="Ask the small model of `make local-llm`. It tests the set-up and is no real judge."),
]

_NOTHING_TO_ASK = frozenset({"judge", "benchmark", "out", "data", "json"})
"""The parameters of `judge run` that mean something where nothing is asked."""


class ModelOptions(Struct, frozen=True):
    """The options for the model and the client."""

    model: str = ""
    base_url: str = ""
    max_cost: float | None = None
    prices: Path | None = None
    cache: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    local: bool = False


@contextmanager
def opened_judge(
    named: str, options: ModelOptions, data: Path | None = None
) -> "Iterator[tuple[Judge_, ClientSettings]]":
    """A judge with the model from the options, and the settings of its client; the local model runs inside the block.

    Raises
    ------
    UsageError
        The judge does not exist, or options contradict each other.
    InputError
        The judge's file breaks the form.
    MissingPrerequisite
        The local model is not installed.
    """
    from harness.runs.known_judges import known_judge

    with ExitStack() as stack:
        if options.local:
            if options.model or options.base_url or options.replay is not None:
                raise UsageError("--local has its own model", "Leave out --model, --base-url and --replay.")
            from harness.clients.local_server import MODEL, local_server

            options = replace(options, base_url=stack.enter_context(local_server()), model=MODEL)
        judge = known_judge(named, model=options.model, base_url=options.base_url, data=data)
        yield judge, _settings(getattr(judge, "base_url", None) or options.base_url or None, options)


def _settings(base_url: str | None, options: ModelOptions) -> "ClientSettings":
    from harness.clients import ClientSettings
    from harness.clients.address import ADDRESS, checked_address

    # What the command line says is written down with the run: an address that holds a password is refused before.
    for address in filter(None, (options.base_url, base_url or os.environ.get(ADDRESS))):
        checked_address(address)
    return ClientSettings(
        client="openai" if options.replay is None else "replay",
        base_url=base_url,
        base_url_named=bool(options.base_url) or base_url is None,
        cache=options.cache,
        prices=options.prices,
        max_cost_usd=options.max_cost,
        record=options.record,
        replay=options.replay,
    )


@contextmanager
def kept_when_stopped(out: Path) -> Iterator[None]:
    """End the command on Ctrl-C with exit code 130 and a message that names the run's folder."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"misstep: stopped; what was answered is in {plain(str(out))}, and the same command goes on with it.")
        raise typer.Exit(130) from None


def exit_unless_whole(ended: "RunSummary") -> None:
    """End with exit code 1 and a message if items were not asked about or failed."""
    if not (ended.stopped or ended.failed):
        return
    from analysis.tables.wording import counted_text

    items = counted_text(ended.items, "item")
    if ended.stopped:
        were = "was" if ended.judged == 1 else "were"
        say(f"misstep: stopped: {closed(plain(ended.stopped))} {ended.judged:,} of {items} {were} asked.")
    if ended.failed:
        why = f" The last failure: {closed(plain(ended.last_failure))}" if ended.last_failure else ""
        say(f"misstep: {ended.failed:,} of {items} failed; the same command asks again.{why}")
    raise typer.Exit(1)


def refuse_model_options(context: typer.Context) -> None:
    """Refuse options for asking a model, for a judge that asks none.

    Raises
    ------
    UsageError
        One was given; names it.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _NOTHING_TO_ASK and source is not None and source.name == "COMMANDLINE":
            raise UsageError(
                f"{parameter.opts[0]} has no effect: the judge asks no model", f"Leave out {parameter.opts[0]}."
            )
