"""A run as a data set of the Hugging Face hub: a folder that `datasets.load_dataset(FOLDER, TABLE)` opens offline.

README.md                                     the data card; its front matter names the files of each table
TABLE/train-00000-of-00001.parquet            a table

The front matter is that of the hub's data cards (https://huggingface.co/docs/hub/datasets-cards and
https://huggingface.co/docs/hub/datasets-manual-configuration).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from misstep_analysis.exports.opening import RunExport
from misstep_analysis.exports.parquet import write_parquet
from misstep_analysis.exports.secrets import Secrets
from misstep_analysis.runs.finished import command_line
from misstep_analysis.runs.kind import hub_licence, type_name
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import FigureRow, figures_of, is_generated
from misstep_analysis.tables.text import escaped, markdown_text
from misstep_analysis.tables.wording import counted_text
from misstep_harness.journal.records import MANIFEST
from misstep_harness.path_names import without_places
from misstep_harness.version import __version__

CARD = "README.md"
SPLIT = "train"
"""The split that a set without splits has in `datasets`."""

_SHOWN = 2
"""How many tables of figures are on the card; the table `scores` has all."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "n>1M"


class CardColumn(Struct, frozen=True):
    """A column; its meaning may be empty."""

    name: str
    type: str
    meaning: str = ""


class CardTable(Struct, frozen=True):
    """A table; `about` is a sentence on a row."""

    name: str
    about: str
    file: str
    rows: int
    columns: tuple[CardColumn, ...]


class CardSource(Struct, frozen=True):
    """The data of the run; the licence is empty if none is known."""

    name: str
    licence: str
    origin: tuple[str, ...] = ()


class RunCard(Struct, frozen=True):
    """The content of a card.

    - `licence`: The licence by its name on the hub.
    - `tables`, `figures`: The main one first.
    - `commands`: The command lines that made it, in order.
    - `notes`: Warnings for a reader, a sentence each.
    """

    title: str
    licence: str
    tags: tuple[str, ...]
    tables: tuple[CardTable, ...]
    figures: tuple[Table, ...]
    commands: tuple[str, ...]
    versions: str
    sources: tuple[CardSource, ...]
    notes: tuple[str, ...]


def card_of_run(card: RunCard) -> str:
    """Return the text of the card."""
    front = yaml.safe_dump(_front_matter(card), sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{front}---\n\n" + "\n\n".join(_sections(card)) + "\n"


def _front_matter(card: RunCard) -> dict[str, Any]:
    configs: list[dict[str, Any]] = [
        {"config_name": table.name, "data_files": [{"split": SPLIT, "path": table.file}]}
        for table in card.tables
        if table.rows  # `datasets` opens no split without rows
    ]
    rows = card.tables[0].rows
    front = {
        "pretty_name": card.title,
        "license": card.licence,
        "tags": list(card.tags),
        "size_categories": [next((name for limit, name in _SIZES if rows < limit), _LARGEST)],
        "misstep": {
            "commands": list(card.commands),
            "rows": {table.name: table.rows for table in card.tables},
            "figures": [
                {name: value for name, value in _figure(one) if value not in (None, "")}
                for one in figures_of(card.figures[:1])
            ],
        },
    }
    if not configs:
        return front
    configs[0]["default"] = True
    return front | {"configs": configs}


def _figure(one: FigureRow) -> Iterator[tuple[str, Any]]:
    for name in ("group", "quantity", "value", "text", "low", "high", "n", "unit", "evidence", "reason"):
        yield name, getattr(one, name)


def _sections(card: RunCard) -> Iterator[str]:
    yield f"# {escaped(card.title)}"
    if card.figures:
        yield escaped(card.figures[0].finding)
    yield "\n\n".join(card.notes)
    yield "## Tables"
    yield "\n".join(f"- `{one.name}`: {counted_text(one.rows, 'row')}. {one.about}" for one in card.tables)
    if any(not one.rows for one in card.tables):
        yield "`datasets` opens no table without rows; the file of such a table has its columns."
    for first in [one.name for one in card.tables if one.rows][:1]:
        yield (
            "```python\nfrom datasets import load_dataset\n\n"
            f'{first} = load_dataset("this_folder", "{first}", split="{SPLIT}")\n```'
        )
    if card.figures:
        yield "## Figures"
        yield from (markdown_text(table).strip() for table in card.figures[:_SHOWN])
        yield "All figures are in the table `scores`."
    for table in card.tables:
        yield f"## Columns of `{table.name}`"
        yield "\n".join(map(_column, table.columns))
    yield "## How it was made"
    yield "\n".join(f"    {line}" for line in card.commands)
    yield escaped(card.versions)
    yield "## Sources and licence"
    yield _sources(card.sources)


def _column(column: CardColumn) -> str:
    return f"- `{column.name}` ({column.type})" + (f": {column.meaning}" if column.meaning else "")


def _sources(sources: Sequence[CardSource]) -> str:
    if not sources:
        return "The source of the run is not recorded, and so no licence is known."
    lines = []
    for source in sources:
        licence = f"licence {source.licence}" if source.licence else "no licence is known"
        origin = f" ({'; '.join(source.origin)})" if source.origin else ""
        lines.append(f"- {escaped(source.name)}: {escaped(licence)}{escaped(origin)}")
    last = "Quotes of a source in the tables are under its licence."
    return "\n".join(lines) + f"\n\n{last}"


_FILE = f"{SPLIT}-00000-of-00001.parquet"

_TAGS = ("misstep", "evaluation", "coding-agents")


def write_data_set(run: RunExport, folder: Path, secrets: Secrets) -> dict[str, int]:
    """Write the tables and the card; gives the number of rows of each table."""
    counts = {}
    for table in run.tables:
        (folder / table.name).mkdir()
        counts[table.name] = write_parquet(folder / table.name / _FILE, table, secrets.checked(table))
    card = secrets.text(card_of_run(_card(run, counts, secrets)), MANIFEST, "the data card")
    (folder / CARD).write_text(card, encoding="utf-8")
    return counts


def _card(run: RunExport, counts: dict[str, int], secrets: Secrets) -> RunCard:
    manifest, settings = run.manifest, run.manifest.settings
    who = settings.get("judge") or settings.get("policy") or settings.get("skill") or ""
    options = ["--redact"] * secrets.replace + ["--with-gold"] * bool(run.gold)
    tables = []
    for table in run.tables:
        columns = tuple(CardColumn(one.name, type_name(one.type), one.meaning) for one in table.columns)
        tables.append(CardTable(table.name, table.about, f"{table.name}/{_FILE}", counts[table.name], columns))
    sources = (CardSource(without_places(one.name, secrets.places), one.licence, one.origin) for one in run.sources)
    exporting = " ".join(["misstep export", run.name, "--to hf --out DIR", *options])
    return RunCard(
        title=f"{run.name}: a run of misstep {manifest.command}{f' by {who}' if who else ''}",
        licence=hub_licence(run.sources),
        tags=(*_TAGS, manifest.command.replace(" ", "-")),
        tables=tuple(tables),
        figures=run.figures,
        commands=(without_places(command_line(manifest), secrets.places), exporting),
        versions=f"The run was made by Misstep {manifest.misstep} on Python {manifest.python}, and finished on "
        f"{manifest.finished}; Misstep {__version__} exported it.",
        sources=tuple(sources),
        notes=tuple(_notes(run, secrets)),
    )


def _notes(run: RunExport, secrets: Secrets) -> Iterator[str]:
    if is_generated(run.figures):
        yield "The figures are measured on generated cases, whose truth is known by construction."
    yield "A missing label is null: an answer that is not there never became a label."
    named = " and ".join(f"`{name}`" for name in run.gold)
    truth = f"The table {named} has the truth: keep it from a judge that is to be measured on these items."
    yield truth if run.gold else "Gold labels are not part of it."
    if not any(column.name == "messages" for table in run.tables for column in table.columns):
        yield "Trajectories are not part of it."
    yield "Paths begin at what the command line named."
    if secrets.hits:
        counts = ", ".join(f"{count:,} times {kind}" for kind, count in secrets.counts().items())
        yield f"Secrets were replaced by [secret] before it was written: {counts}."
