"""`misstep datasets`: list, download and verify the public data sets."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from misstep.datasets.text import at_hand, checked_text, fetched_text, row_of, row_text
from misstep.options.common import Data, Json, command_app, json_text
from misstep_harness.catalogue import address_template, data_set, data_sets, fetched_folder, locate
from misstep_harness.datasets.fetching import check
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError
from misstep_harness.escaping import plain
from misstep_harness.progress import say
from misstep_harness.runs.fetch import Fetched, fetch

app = command_app(has_commands=True)

Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Names of data sets; `misstep datasets list` lists them.")
]


@app.callback()
def datasets() -> None:
    """List, download and verify the public data sets."""


@app.command("list")
def list_(data: Data = None, json: Json = False) -> None:
    """List the data sets: licence, size, place and loader."""
    rows = [row_of(name, data) for name in sorted(data_sets())]
    _print(rows, json, "\n".join(row_text(row) for row in rows))


@app.command()
def verify(
    names_: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Names of data sets; by default all on this machine."),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Compare every file of the data sets with its registered hash.

    The exit code is 1 if a file differs or is missing, and 3 if a named data set is not on this machine.
    """
    chosen = list(names_ or at_hand(data))
    folders = {name: locate(name, data) for name in chosen}
    checked = [check(name, folder) for name, folder in folders.items()]
    rows = [msgspec.to_builtins(one) | {"status": "ok" if one.complete else "differs"} for one in checked]
    _print(rows, json, "\n".join(checked_text(one) for one in checked))
    if not all(one.complete for one in checked):
        raise typer.Exit(1)


@app.command("fetch")
def fetch_(
    names_: Names,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Parent folder for the data sets; by default the cache.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="TEMPLATE", help="Address of a mirror with {repository}, {commit} and {path} in it."),
    ] = None,
    json: Json = False,
) -> None:
    """Download data sets, and check every file against its hash.

    They come from public repositories at pinned commits.

    Files with the right hash are not downloaded again, so the same command continues a download that was stopped. The
    exit code is 3 if an address could not be reached or a file must be made by hand; the message names the file and the
    rule. All other files are still downloaded.
    """
    for name in names_:
        data_set(name)
    done: list[Fetched] = []
    failed: list[MisstepError] = []
    try:
        for name in names_:
            folder = fetched_folder(name) if out is None else out / name
            template = address or address_template()
            try:
                done.append(fetch(name, folder, template))
            except (MissingPrerequisite, InputError) as error:  # the other sets are fetched all the same
                failed.append(error)
    except KeyboardInterrupt:
        say("misstep: stopped; what was fetched is kept, and the same line goes on from there.")
        raise typer.Exit(130) from None
    if done or not failed:
        _print(msgspec.to_builtins(done), json, "\n".join(fetched_text(one) for one in done))
    for other in failed[1:]:
        say(f"misstep: {plain(other.line())}")
    if failed:
        raise failed[0]
    by_hand = {one.name: len(one.to_make) for one in done if one.to_make}
    if by_hand:
        count = ", ".join(f"{number:,} of {name}" for name, number in by_hand.items())
        say(f"misstep: files that `fetch` cannot bring: {count}. Make them by their rules; `verify` checks them.")
        raise typer.Exit(MissingPrerequisite.exit_code)


def _print(rows: Any, json: bool, text: str) -> None:
    print(json_text(rows) if json else text)
