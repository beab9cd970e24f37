"""`misstep judge cache`: export and import kept answers, so that a colleague needs no key."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import InputError, opening
from misstep.harness.escaping import plain
from misstep.options.common import command_app

app = command_app(has_commands=True)

_CacheFile = Annotated[Path, typer.Option("--cache", metavar="CACHE", help="Cache file, as in `judge run --cache`.")]


@app.callback()
def cache() -> None:
    """Export and import the answers of a cache as JSON lines.

    They contain no key and no address.
    """


@app.command("export")
def export_cache(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON Lines file to write; an existing file is replaced.")
    ],
    cache: _CacheFile,
) -> None:
    """Write every answer of a cache to a JSON Lines file."""
    from misstep.analysis.tables.wording import counted_text
    from misstep.harness.clients import Cache
    from misstep.harness.journal.records import replacing

    if not cache.is_file():
        raise InputError("the file does not exist", "Name the file that `judge run --cache` wrote.", file=cache)
    if file.resolve() == cache.resolve():
        raise InputError("the output file is the cache itself", "Name another file for the lines.", file=file)
    failing = opening(file, "Name another file.", "cannot write")
    with closing(Cache(cache)) as answers, failing, replacing(file, 0o600) as stream:
        count = sum(1 for line in answers.export() if stream.write(line))
    print(f"{counted_text(count, 'answer')} in {plain(str(file))}")


@app.command("import")
def import_cache(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines file that `judge cache export` wrote.")],
    cache: _CacheFile,
) -> None:
    """Add the answers of a JSON Lines file to a cache.

    The cache keeps the answers that it has.
    """
    from misstep.harness.clients import Cache

    if not file.is_file():
        raise InputError("the file does not exist", "Name the file that `judge cache export` wrote.", file=file)
    with closing(Cache(cache)) as answers:
        new = answers.take_in(file)
        print(f"{new:,} new answers, {answers.count():,} in {plain(str(cache))}")
