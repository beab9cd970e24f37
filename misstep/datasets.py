"""`misstep datasets`: which public data sets there are, whether they are at hand and right, how to bring them here."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from harness.datasets import GROUP, LOADERS, OUTCOMES
from harness.datasets.benchmark import Benchmark, read_benchmark
from harness.datasets.catalogue import (
    address_template,
    data_set,
    data_sets,
    fetched_folder,
    files_of,
    locate,
    missing_files,
)
from harness.datasets.checking import Checked, check
from harness.datasets.derivations import derivation_of
from harness.errors import MissingPrerequisite
from harness.registry import names
from misstep.benchmarks import benchmark_folders
from misstep.data_option import Data
from misstep.fetching import Fetched, fetch
from misstep.terminal import Progress, plain, say

_SHOWN = 5

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Data sets, as `misstep datasets list` names them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.callback()
def datasets() -> None:
    """List, fetch and verify the public data sets, and turn them into benchmarks."""


@app.command("list")
def list_(data: Data = None, json: Json = False) -> None:
    """List the data sets: what each is, its licence and size, where it is, whether there is a loader."""
    rows = [_row(name, data) for name in sorted(data_sets())]
    _print(rows, json, "\n".join(_row_text(row) for row in rows))


@app.command()
def verify(
    names_: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Data sets; by default all at hand.")
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Hash every file of the data sets and compare with what is registered.

    Exit 1: a file differs or is missing. Exit 3: a set that was named is not at hand.
    """
    chosen = list(names_ or _at_hand(data))
    folders = {name: locate(name, data) for name in chosen}
    checked = []
    with Progress("data sets", len(chosen)) as progress:
        for name, folder in folders.items():
            checked.append(check(name, folder))
            progress.advance(note=name)
    rows = [msgspec.to_builtins(one) | {"status": "ok" if one.complete else "differs"} for one in checked]
    _print(rows, json, "\n".join(_checked_text(one) for one in checked))
    if not all(one.complete for one in checked):
        raise typer.Exit(1)


@app.command("fetch")
def fetch_(
    names_: Names,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the sets' folders go; by default the cache.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="TEMPLATE", help="Of a mirror, with {repository}, {commit} and {path} to fill in."),
    ] = None,
    json: Json = False,
) -> None:
    """Fetch data sets from their public repositories at the pinned commits, each file checked against its hash.

    What is there and right is not fetched again: a fetch that was stopped goes on when the same line is given again.
    Exit 3: an address could not be reached, or a file must be made by hand; it says which and by what rule.
    """
    for name in names_:
        data_set(name)
    done = []
    try:
        for name in names_:
            with Progress("files", len(files_of(name))) as progress:
                folder = fetched_folder(name) if out is None else out / name
                template = address or address_template()
                done.append(fetch(name, folder, template, partial(progress.advance, 1)))
    except KeyboardInterrupt:
        say("misstep: stopped; what was fetched is kept, and the same line goes on from there.")
        raise typer.Exit(130) from None
    _print(msgspec.to_builtins(done), json, "\n".join(_fetched_text(one) for one in done))
    if any(one.to_make for one in done):
        raise typer.Exit(MissingPrerequisite.exit_code)


@app.command()
def load(names_: Names, data: Data = None, json: Json = False) -> None:
    """Turn data sets into benchmark folders in the cache: trajectories, items and gold labels by rater.

    Exit 1: a file of a set could not be read and was left out; it is named.
    """
    loaded: list[tuple[Benchmark, Path]] = []
    with Progress("data sets", len(names_)) as progress:
        for name in names_:
            loaded += [(read_benchmark(folder), folder) for folder in benchmark_folders(name, data).values()]
            progress.advance(note=name)
    rows = [
        {
            "name": benchmark.name,
            "kind": benchmark.kind,
            **benchmark.counts,
            "folder": str(folder),
            "left_out": benchmark.left_out,
        }
        for benchmark, folder in loaded
    ]
    _print(rows, json, "\n".join(_loaded_text(benchmark, folder) for benchmark, folder in loaded))
    if any(benchmark.left_out for benchmark, _ in loaded):
        raise typer.Exit(1)


def _print(rows: Any, json: bool, text: str) -> None:
    print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() if json else text)


def _at_hand(data: Path | None) -> list[str]:
    found = [name for name in sorted(data_sets()) if _folder(name, data) is not None]
    if not found:
        raise MissingPrerequisite(
            "no data set is at hand", "Run `misstep datasets fetch NAME`; `misstep datasets list` names them."
        )
    return found


def _folder(name: str, data: Path | None) -> Path | None:
    try:
        return locate(name, data)
    except MissingPrerequisite:
        return None


def _row(name: str, data: Path | None) -> dict[str, Any]:
    entry = data_set(name)
    files = files_of(name)
    folder = _folder(name, data)
    lacking = () if folder is None else missing_files(name, folder)
    return {
        "name": name,
        "title": entry.title,
        "licence": entry.licence,
        "citation": entry.citation,
        "left_out": entry.left_out,
        "origin": [f"{source.repository}@{source.commit}" for source in entry.sources.values()],
        "files": len(files),
        "bytes": sum(file.bytes for file in files),
        "folder": None if folder is None else str(folder),
        "missing": len(lacking),
        "loader": (names(LOADERS, GROUP) | OUTCOMES).get(name, ""),
        "to_make": {file: rule for file, rule in entry.derived.items() if derivation_of(name, file) is None},
    }


def _row_text(row: dict[str, Any]) -> str:
    size = f"{row['files']:,} files, {row['bytes'] / 1e6:,.1f} MB"
    lines = [
        f"{row['name']}  ({row['licence']}; {size}; {'with a loader' if row['loader'] else 'files only'})",
        f"    {row['title']}",
        f"    {row['folder'] or 'not here: `misstep datasets fetch ' + row['name'] + '` brings it'}",
    ]
    if row["missing"]:
        lines.append(
            f"    {row['missing']:,} of the files are missing: `misstep datasets verify {row['name']}` names them"
        )
    if row["to_make"]:
        lines.append(f"    `fetch` cannot bring {', '.join(row['to_make'])}: made by hand")
    return "\n".join(lines)


def _checked_text(one: Checked) -> str:
    if one.complete:
        return f"{one.name}: ok, {one.ok:,} files"
    parts = [
        f"{len(files):,} {what} ({', '.join(map(plain, files[:_SHOWN]))}{', …' if len(files) > _SHOWN else ''})"
        for what, files in (("differ", one.differs), ("missing", one.missing))
        if files
    ]
    return f"{one.name}: {'; '.join(parts)}; {one.ok:,} ok"


def _fetched_text(one: Fetched) -> str:
    line = f"{one.name}: {len(one.fetched):,} files fetched, {len(one.kept):,} were there, in {one.folder}"
    return "\n".join([line, *(f"    to be made by hand: {file}: {rule}" for file, rule in one.to_make.items())])


def _loaded_text(benchmark: Benchmark, folder: Path) -> str:
    counts = ", ".join(f"{count:,} {what}" for what, count in benchmark.counts.items() if count)
    left_out = [f"    left out: {plain(one)}" for one in benchmark.left_out]
    return "\n".join([f"{benchmark.name}: {counts}", f"    {folder}", *left_out])
