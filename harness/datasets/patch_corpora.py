"""Replies of real models with edits: search and replace, unified diffs and lists of line edits.

One line of `patches.jsonl.gz`:

    {"id": "sr/t/1", "source": "s", "model": "m", "task": "t", "format": "search_replace", "patch": "f.py …",
     "upstream_verdict": "applied", "blocks": {"search": 1, "sep": 1, "replace": 1}, "failed_blocks": 0,
     "applied_files": ["f.py"], "markers_balanced": true}

A unified diff has `parses` and `numstat_ok` instead, a list of line edits `literal_ok` and `n_edits`. The files that
were edited are not in the set, so that the form alone can be judged.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.datasets.upstream import json_lines
from misstep.harness.errors import InputError
from misstep.harness.records.recorded_edits import RecordedEdit

NAME = "patch_corpora"
_FACTS = {
    "search_replace": ("markers_balanced", "failed_blocks"),
    "unified_diff": ("parses", "numstat_ok"),
    "line_edit_list": ("literal_ok", "n_edits"),
}


class _Blocks(Struct, frozen=True):
    search: int
    sep: int
    replace: int


class _Row(Struct, frozen=True):
    """One line of `patches.jsonl.gz`; what a format does not have is missing."""

    id: str
    source: str
    model: str | None
    format: Literal["search_replace", "unified_diff", "line_edit_list"]
    patch: str
    upstream_verdict: str | None
    blocks: _Blocks | None = None
    failed_blocks: int | None = None
    markers_balanced: bool | None = None
    parses: bool | None = None
    numstat_ok: bool | None = None
    literal_ok: bool | None = None
    n_edits: int | None = None


def recorded_edits(folder: Path) -> Iterator[RecordedEdit]:
    """Return every reply of the set, in order."""
    path = folder / "patches.jsonl.gz"
    for row in json_lines(path, _Row):
        facts = {name: getattr(row, name) for name in _FACTS[row.format]}
        if row.format == "search_replace":
            facts["blocks"] = None if row.blocks is None else row.blocks.search
        missing = [name for name, value in facts.items() if value is None]
        if missing:
            raise InputError("the field is missing", file=path, field=f"{row.id}.{missing[0]}")
        verdict = row.upstream_verdict or ""
        yield RecordedEdit(row.id, row.source, row.model or "", row.format, row.patch, verdict, facts)
