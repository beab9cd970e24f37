"""Rows of the list of data sets."""

from pathlib import Path
from typing import Any

from misstep.harness.datasets import LOADERS, OUTCOMES
from misstep.harness.datasets.benchmark import Benchmark
from misstep.harness.datasets.catalogue import data_set, data_sets, files_of, located, made_by_hand, missing_files
from misstep.harness.errors import MissingPrerequisite


def at_hand(data: Path | None) -> list[str]:
    """Return the data sets that are here."""
    found = [name for name in sorted(data_sets()) if located(name, data) is not None]
    if not found:
        raise MissingPrerequisite(
            "there is no data set on this machine",
            "Run `misstep datasets fetch NAME`; `misstep datasets list` names them.",
        )
    return found


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


def loaded_row(benchmark: Benchmark, folder: Path) -> dict[str, Any]:
    """Return what `misstep datasets load` says of a benchmark."""
    row = {"name": benchmark.name, "kind": benchmark.kind, **benchmark.counts}
    return row | {"folder": str(folder), "left_out": benchmark.left_out}
