"""A short notebook over a run, for people to go on from."""

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.runs.kind import kind_in
from misstep_harness.errors import InputError


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A question about a run, in words, and the code that answers it."""

    prose: str
    code: str


class _Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `starter_notebook.toml`: the first cells by name, and the questions by their subject."""

    openings: dict[str, str]
    questions: dict[str, list[_Question]]


_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def starter_notebook(run: Path) -> str:
    """Return the text of a notebook that opens a run and looks at its main figures."""
    kind, opened = kind_in(run)
    cells_of = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Cells)
    records = list(opened.read(kind.records))
    if not records:
        missing = f"the run has no {kind.records.one}s"
        raise InputError(missing, "Run its command again: it continues the run.", file=run)
    beginning = kind.notebook
    opening, who = cells_of.openings[beginning.opening], opened.manifest.settings.get(beginning.who, beginning.title)
    title = f"# {who}, looked at by hand\n\nMade of the run in `{run}`."
    cells = [_cell("markdown", title), _cell("code", opening.format(folder=str(run.resolve())))]
    for question in (one for name in kind.questions(opened, records) for one in cells_of.questions[name]):
        cells += [_cell("markdown", question.prose), _cell("code", question.code)]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cell(kind: str, source: str) -> dict[str, Any]:
    run_state: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **run_state}
