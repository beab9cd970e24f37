"""What the commands that ask a model have in common: their options, the judge and client that these name, the end."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from harness.errors import UsageError, closed
from harness.escaping import plain
from harness.progress import say

if TYPE_CHECKING:
    from harness.clients import ClientSettings
    from harness.protocols import Judge as Judge_
    from harness.runs.judge import RunSummary

Judge = Annotated[str, typer.Argument(metavar="JUDGE", help="A judge's TOML file, or one of `judge list`.")]
Out = Annotated[Path, typer.Option(help="The run's folder; a run that stands there is gone on with.")]
Model = Annotated[str, typer.Option(help="The model to ask, instead of the judge's own.")]
BaseUrl = Annotated[str, typer.Option(help="An OpenAI-compatible address, such as http://127.0.0.1:8000/v1.")]
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Requests in flight at once.")]
MaxCost = Annotated[float | None, typer.Option(metavar="USD", help="Stop before more than this is spent.")]
Prices = Annotated[Path | None, typer.Option(metavar="FILE", help="A price file.")]
CacheFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Where answers are kept from run to run.")]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="Add every exchange to a file.")]
Replay = Annotated[Path | None, typer.Option(metavar="FILE", help="Answer from recorded exchanges, without a server.")]
Local = Annotated[
    bool, typer.Option("--local", help="Ask the small model of `make local-llm`: plumbing only, it is no judge.")
]


_NOTHING_TO_ASK = frozenset({"judge", "benchmark", "out", "data", "json"})
"""The parameters of `judge run` that mean something where nothing is asked."""


class Asking(Struct, frozen=True):
    """The options that decide who is asked and how answers are got."""

    model: str = ""
    base_url: str = ""
    max_cost: float | None = None
    prices: Path | None = None
    cache: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    local: bool = False


@contextmanager
def opened_judge(named: str, options: Asking, data: Path | None = None) -> "Iterator[tuple[Judge_, ClientSettings]]":
    """A judge with the model of the options, and how its answers are got; the local model runs as long as the block.

    Raises
    ------
    UsageError
        There is no such judge, or options that contradict each other.
    InputError
        The judge's file breaks the form.
    MissingPrerequisite
        The local model is not installed.
    """
    from msgspec.structs import replace

    from harness.runs.known_judges import known_judge

    with ExitStack() as stack:
        if options.local:
            if options.model or options.base_url or options.replay is not None:
                raise UsageError("--local brings its own model", "Leave out --model, --base-url and --replay.")
            from harness.clients.local_server import MODEL, local_server

            options = replace(options, base_url=stack.enter_context(local_server()), model=MODEL)
        judge = known_judge(named, model=options.model, base_url=options.base_url, data=data)
        yield judge, _settings(getattr(judge, "base_url", None) or options.base_url or None, options)


def _settings(base_url: str | None, options: Asking) -> "ClientSettings":
    import os

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
    """Ctrl-C ends the command with 130 and a sentence that says where the answers are."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"misstep: stopped; what was answered is in {plain(str(out))}, and the same command goes on with it.")
        raise typer.Exit(130) from None


def exit_unless_whole(ended: "RunSummary") -> None:
    """Say what was not asked and what failed, and end with 1 where there is any of it."""
    if not (ended.stopped or ended.failed):
        return
    from analysis.tables.wording import counted_text

    items = counted_text(ended.items, "item")
    if ended.stopped:
        were = "was" if ended.asked == 1 else "were"
        say(f"misstep: stopped: {closed(plain(ended.stopped))} {ended.asked:,} of {items} {were} asked.")
    if ended.failed:
        why = f" The last failed as {closed(plain(ended.last_failure))}" if ended.last_failure else ""
        say(f"misstep: {ended.failed:,} of {items} failed; the same command asks again.{why}")
    raise typer.Exit(1)


def refuse_asking(context: typer.Context) -> None:
    """Refuse options of the command line that say how a model is asked.

    Raises
    ------
    UsageError
        One was given; names it.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _NOTHING_TO_ASK and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} with a judge that asks no model", "Leave it out.")
