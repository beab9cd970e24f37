"""The data card of an exported run: a README whose front matter names the files of each table.

The front matter is that of the Hugging Face hub's data cards (https://huggingface.co/docs/hub/datasets-cards and
https://huggingface.co/docs/hub/datasets-manual-configuration), so that `datasets.load_dataset(FOLDER, "verdicts")`
opens a table.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from msgspec import Struct

from misstep_analysis.tables import Table
from misstep_analysis.tables.figures import FigureRow, figures_of
from misstep_analysis.tables.markdown import escaped, markdown_text
from misstep_analysis.tables.wording import counted_text

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
