"""A short notebook over a run, for people to go on from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep.analysis.gold import item_ids, read_gold
from misstep.analysis.measures.observed import OBSERVED
from misstep.harness.errors import InputError
from misstep.harness.journal.records import (
    ATTEMPT_RECORDS,
    LIVE_RECORDS,
    LOOP_RECORDS,
    OBSERVED_RECORDS,
    VERDICT_RECORDS,
    Records,
    read_records,
)
from misstep.harness.runs.standing_runs import manifest_of
from misstep.harness.verdict import Verdict
from misstep.studies.experiments import EXPERIMENT
from misstep.studies.judged_runs import JUDGED
from misstep.studies.reflexive.runs import REFLECTED
from misstep.studies.repair_runs import REPAIRED


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of a run, in words, and the code that answers it."""

    prose: str
    code: str


class _Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """What `starter_notebook.toml` holds: the first cells, and the questions by what they are asked of."""

    openings: dict[str, str]
    judge: list[_Question]
    unlabelled: list[_Question]
    scores: list[_Question]
    wrong: list[_Question]
    classify: list[_Question]
    repair: list[_Question]
    observe: list[_Question]
    reflect: list[_Question]
    experiment: list[_Question]


class _Kind(Struct, frozen=True):
    """What a notebook of one kind of run begins with.

    - `opening`, `questions`: Its first cell and its questions, as `starter_notebook.toml` names them.
    - `records`: What the run records.
    - `who`: The setting that names who did it.
    - `title`: What the notebook is called where nobody is named.
    """

    opening: str
    questions: str
    records: Records[Any]
    who: str
    title: str


_VERDICTS = _Kind("verdicts", "classify", VERDICT_RECORDS, "judge", "Sessions")
_KINDS = {
    REPAIRED: _Kind("attempts", "repair", ATTEMPT_RECORDS, "policy", "Repairs"),
    OBSERVED: _Kind("invocations", "observe", OBSERVED_RECORDS, "detector", "An observer"),
    REFLECTED: _Kind("events", "reflect", LOOP_RECORDS, "skill", "The reflexive loop"),
    EXPERIMENT: _Kind("sessions", "experiment", LIVE_RECORDS, "model", "An experiment"),
}
"""The command of a run → what its notebook begins with; of all others `_VERDICTS`."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""What Jupyter needs to know to open a notebook without a question: the kernel of its own Python."""


def starter_notebook(run: Path) -> str:
    """The text of a notebook that opens a run and looks at its main figures."""
    manifest = manifest_of(run, "Name the folder of a run.")
    known = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Cells)
    kind = _KINDS.get(manifest.command, _VERDICTS)
    records = read_records(run, kind.records, unfinished=True)
    first = next(records, None)
    if first is None:
        found = f"the run has no {kind.records.one}s"
        raise InputError(found, "Run its command again: it continues the run.", file=run)
    opening, who = known.openings[kind.opening], manifest.settings.get(kind.who, kind.title)
    questions = getattr(known, kind.questions)
    if manifest.command == JUDGED:
        questions = _questions(known, [first, *records], Path(manifest.folder))
    title = f"# {who}, looked at by hand\n\nMade of the run in `{run}`."
    cells = [_cell("markdown", title), _cell("code", opening.format(folder=str(run.resolve())))]
    for question in questions:
        cells += [_cell("markdown", question.prose), _cell("code", question.code)]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _questions(known: _Cells, verdicts: Sequence[Verdict], benchmark: Path) -> list[_Question]:
    """What is asked of a judge's run: of its scores only where it gave some that can be shares."""
    if not _is_labelled(benchmark, {verdict.item for verdict in verdicts}):
        return known.unlabelled
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    are_shares = bool(scores) and all(0 <= score <= 1 for score in scores)
    return known.judge + (known.scores if are_shares else []) + known.wrong


def _is_labelled(benchmark: Path, items: set[str]) -> bool:
    """Whether people have labelled some of the items; where the benchmark has moved, it is taken for granted."""
    if not (benchmark / "items.jsonl").exists():
        return True
    return any(label.item in items for label in read_gold(benchmark, item_ids(benchmark)))


def _cell(kind: str, source: str) -> dict[str, Any]:
    run_state: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **run_state}
