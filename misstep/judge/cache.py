"""`misstep judge cache`: kept answers as lines that a colleague can take in, to run the same without a key."""

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import InputError
from harness.escaping import plain

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_CacheFile = Annotated[Path, typer.Option("--cache", metavar="CACHE", help="The cache, as in `judge run --cache`.")]


@app.callback()
def cache() -> None:
    """Take answers that are kept from one cache to another, as JSON lines without any key or address."""


@app.command("export")
def export_cache(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where the lines go; a file that stands there is replaced.")
    ],
    cache: _CacheFile,
) -> None:
    """Write every answer of a cache as a line of JSON."""
    from analysis.tables.wording import counted_text
    from harness.clients import Cache

    if not cache.is_file():
        raise InputError("no such cache", "Name the file that `judge run --cache` made.", file=cache)
    if file.resolve() == cache.resolve():
        raise InputError("is the cache itself", "Name another file for the lines.", file=file)
    kept = Cache(cache)
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as stream:
            count = sum(1 for line in kept.export() if stream.write(line))
        part.replace(file)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", "Name another file.", file=file) from error
    finally:
        part.unlink(missing_ok=True)
        kept.close()
    print(f"{counted_text(count, 'answer')} in {plain(str(file))}")


@app.command("import")
def import_cache(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines that `judge cache export` wrote.")],
    cache: _CacheFile,
) -> None:
    """Add the answers of a file to a cache, made where there is none; those that it has stay as they are."""
    from harness.clients import Cache

    if not file.is_file():
        raise InputError("no such file", "Name the file that `judge cache export` wrote.", file=file)
    kept = Cache(cache)
    try:
        new = kept.take_in(file)
        print(f"{new:,} new answers, {kept.count():,} in {plain(str(cache))}")
    finally:
        kept.close()
