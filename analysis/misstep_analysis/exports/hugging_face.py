"""A run as a data set of the Hugging Face hub: a folder that `datasets.load_dataset(FOLDER, TABLE)` opens offline.

README.md                                     the data card; its front matter names the files of each table
TABLE/train-00000-of-00001.parquet            a table
"""

from collections.abc import Iterator
from pathlib import Path

from misstep_analysis.exports.opening import RunExport
from misstep_analysis.exports.parquet import write_parquet
from misstep_analysis.exports.secrets import Secrets
from misstep_analysis.pages.notebooks.run_card import (
    CARD,
    SPLIT,
    CardColumn,
    CardSource,
    CardTable,
    RunCard,
    card_of_run,
)
from misstep_analysis.runs.finished import command_line
from misstep_analysis.runs.kinds.columns import type_name
from misstep_analysis.runs.kinds.sources import hub_licence
from misstep_analysis.tables.figures import is_generated
from misstep_harness.journal.records import MANIFEST
from misstep_harness.path_names import without_places
from misstep_harness.version import __version__

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
