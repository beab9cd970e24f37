"""A short notebook over a run, for people to go on from."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.errors import InputError
from harness.journal.records import read_verdicts
from harness.runs.standing_runs import manifest_of
from harness.verdict import Verdict
from studies.judged_runs import JUDGED
from studies.repair_runs import REPAIRED, attempts_in


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of a run, in words, and the code that answers it."""

    prose: str
    code: str


class _Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """What `starter_notebook.toml` holds: the first cells, and the questions by what they are asked of."""

    opening: str
    opening_of_repairs: str
    judge: list[_Question]
    scores: list[_Question]
    wrong: list[_Question]
    classify: list[_Question]
    repair: list[_Question]


def starter_notebook(run: Path) -> str:
    """The text of a notebook that opens a run and looks at its main figures.

    Parameters
    ----------
    run
        The folder of a run of `misstep judge run`, `misstep repair run` or `misstep classify`.

    Raises
    ------
    InputError
        The folder is no run, or one without verdicts or attempts.
    """
    manifest = manifest_of(run, "Name the folder of a run.")
    known = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Cells)
    if manifest.command == REPAIRED:
        opening, questions, who = known.opening_of_repairs, known.repair, manifest.settings.get("policy", "Repairs")
        _check_any(attempts_in(run), "attempts", run)
    else:
        verdicts = list(read_verdicts(run, unfinished=True))
        _check_any(verdicts, "verdicts", run)
        opening, who = known.opening, manifest.settings.get("judge", "Sessions")
        questions = _questions(known, verdicts) if manifest.command == JUDGED else known.classify
    title = f"# {who}, looked at by hand\n\nMade of the run in `{run}`."
    cells = [_cell("markdown", title), _cell("code", opening.format(folder=str(run.resolve())))]
    for question in questions:
        cells += [_cell("markdown", question.prose), _cell("code", question.code)]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _check_any(records: Iterable[object], what: str, run: Path) -> None:
    if not any(True for _ in records):
        raise InputError(f"the run has no {what}", "Run its command again: it continues the run.", file=run)


def _questions(known: _Cells, verdicts: Sequence[Verdict]) -> list[_Question]:
    """What is asked of a judge's run: of its scores only where it gave some that can be shares."""
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    are_shares = bool(scores) and all(0 <= score <= 1 for score in scores)
    return known.judge + (known.scores if are_shares else []) + known.wrong


def _cell(kind: str, source: str) -> dict[str, Any]:
    run_state: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **run_state}
