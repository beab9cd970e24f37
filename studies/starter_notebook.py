"""A short notebook over a run, for people to go on from."""

import json
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.journal.records import MANIFEST, read_manifest
from studies.judged_runs import JUDGED

_OPENED = """import misstep

run = misstep.open({folder!r})
verdicts, gold = run.verdicts, run.gold
verdicts.status.value_counts()"""

_OF_A_JUDGE = (
    (
        "How often does the judge give the label that most raters gave? Items on which raters tie have no gold label. "
        "Items without an answer are left out of the second figure only.",
        """counts = gold.groupby(["item", "label"]).size().rename("raters").reset_index()
most = counts[counts.raters == counts.groupby("item").raters.transform("max")]
majority = most.drop_duplicates("item", keep=False).set_index("item").label.rename("gold")
both = verdicts.join(majority, on="item", how="inner")
right = (both.label == both.gold)
right.mean(), right[both.status == "answered"].mean()""",
    ),
    (
        "The share with its Wilson interval. Where several items are about one run, `misstep judge run` clusters them: "
        "its interval in `scores.json` is the one to quote.",
        """from analysis.stats.proportions import wilson

wilson(int(right.sum()), len(right))""",
    ),
    (
        "Which labels are taken for which? Rows are gold, columns the judge.",
        """from sklearn.metrics import confusion_matrix

answered = both[both.status == "answered"]
labels = sorted({*answered.gold, *answered.label})
confusion_matrix(answered.gold, answered.label, labels=labels), labels""",
    ),
    (
        "The wrong answers, to read.",
        """both[~right][["item", "gold", "label", "status", "rationale"]].head(20)""",
    ),
)

_OF_CLASSIFY = (
    (
        "How many sessions show each category, of those in which the rule could tell?",
        """answered = verdicts[verdicts.status == "answered"]
answered.groupby("judge").label.agg(yes=lambda labels: (labels == "yes").sum(), checked="size")""",
    ),
    (
        "One share with its Wilson interval.",
        """from analysis.stats.proportions import wilson

first = answered[answered.judge == answered.judge.iloc[0]]
wilson(int((first.label == "yes").sum()), len(first))""",
    ),
    (
        "The flagged sessions, with the steps that show it.",
        """answered[answered.label == "yes"][["item", "judge", "steps", "rationale"]].head(20)""",
    ),
)


def starter_notebook(run: Path) -> str:
    """The text of a notebook that opens a run and looks at its main figures.

    Parameters
    ----------
    run
        The folder of a run of `misstep judge run` or `misstep classify`.

    Raises
    ------
    InputError
        The folder is no run.
    """
    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(f"no {MANIFEST}", "Name the folder of a run.", file=run)
    title = f"# {manifest.asked.get('judge', 'Sessions')}, looked at by hand\n\nMade of the run in `{run}`."
    cells = [_cell("markdown", title), _cell("code", _OPENED.format(folder=str(run.resolve())))]
    for prose, code in _OF_A_JUDGE if manifest.command == JUDGED else _OF_CLASSIFY:
        cells += [_cell("markdown", prose), _cell("code", code)]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cell(kind: str, source: str) -> dict[str, Any]:
    run_state: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **run_state}
