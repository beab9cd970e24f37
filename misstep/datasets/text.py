"""What `misstep datasets` prints: rows, and their text for people."""

from pathlib import Path
from typing import Any

from misstep_analysis.tables.wording import counted_text
from misstep_harness.catalogue import data_set, data_sets, files_of, located, made_by_hand, missing_files
from misstep_harness.datasets import LOADERS, OUTCOMES
from misstep_harness.datasets.fetching import CheckedFiles
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.escaping import plain
from misstep_harness.runs.fetch import Fetched

_FILES_NAMED = 5


def at_hand(data: Path | None) -> list[str]:
    """Return the data sets that are here."""
    names = [name for name in sorted(data_sets()) if located(name, data) is not None]
    if not names:
        raise MissingPrerequisite(
            "no data set is on this machine",
            "Run `misstep datasets fetch NAME`; `misstep datasets list` names them.",
        )
    return names


def row_of(name: str, data: Path | None) -> dict[str, Any]:
    """Return what `misstep datasets list` says of a data set."""
    entry = data_set(name)
    files = files_of(name)
    folder = located(name, data)
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
        "loader": (LOADERS.names() | OUTCOMES).get(name, ""),
        "to_make": made_by_hand(name),
    }


def row_text(row: dict[str, Any]) -> str:
    """Return a set in the list."""
    size = f"{counted_text(row['files'], 'file')}, {row['bytes'] / 1e6:,.1f} MB"
    lines = [
        f"{row['name']}  ({row['licence']}; {size}; {'with a loader' if row['loader'] else 'files only'})",
        f"    {row['title']}",
        f"    {row['folder'] or _absent_text(row)}",
    ]
    if row["missing"]:
        lines.append(
            f"    {row['missing']:,} of the files are missing: `misstep datasets verify {row['name']}` names them"
        )
    if row["to_make"] and (row["missing"] or not row["folder"]):
        lines.append(f"    by hand, from {', '.join(row['origin'])}:")
        lines += [f"        {file}: {rule}" for file, rule in row["to_make"].items()]
    return "\n".join(lines)


def _absent_text(row: dict[str, Any]) -> str:
    by_hand, files = len(row["to_make"]), row["files"]
    if by_hand == files:
        return "not here, and made by hand: `fetch` cannot bring it"
    brought = f"{files - by_hand:,} of {files:,} files" if by_hand else "it"
    return f"not here: `misstep datasets fetch {row['name']}` brings {brought}"


def checked_text(one: CheckedFiles) -> str:
    """Return what was found of a set's files."""
    if one.complete:
        return f"{one.name}: ok, {counted_text(one.ok, 'file')}"
    parts = [
        f"{len(files):,} {what} ({', '.join(map(plain, files[:_FILES_NAMED]))}{more})"
        for what, files in (("differ", one.differs), ("missing", one.missing))
        if files
        for more in [", …" if len(files) > _FILES_NAMED else ""]
    ]
    return f"{one.name}: {'; '.join(parts)}; {one.ok:,} ok"


def fetched_text(one: Fetched) -> str:
    """Return what a fetch brought of a set."""
    fetched = counted_text(len(one.fetched), "file")
    line = f"{one.name}: {fetched} fetched, {len(one.kept):,} were there, in {one.folder}"
    return "\n".join([line, *(f"    to be made by hand: {file}: {rule}" for file, rule in one.to_make.items())])
