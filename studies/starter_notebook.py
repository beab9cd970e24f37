"""A short notebook over a run, for people to go on from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.journal.records import MANIFEST, read_manifest, read_verdicts
from harness.verdict import Verdict
from studies.judged_runs import JUDGED

_OPENED = """import misstep

run = misstep.open({folder!r})
run.verdicts.status.value_counts().to_frame()"""

_OF_A_JUDGE = (
    (
        "## How often does the judge give the label that people gave?\n\n"
        "`run.answers` has each verdict beside its gold label: the label that most raters gave. Items on which raters "
        "tie have none. An item without an answer counts as wrong here. Items about one run hang together, and then "
        "the interval is over runs.",
        """from analysis.stats.clustered_bounds import korn_graubard
from analysis.stats.proportions import wilson
from studies import frames

answers = run.answers.dropna(subset="gold")
answers["right"] = answers.label == answers.gold
runs = answers.groupby("cluster").right.agg(["sum", "size"])
share = korn_graubard(runs) if runs["size"].max() > 1 else wilson(*runs.sum())
frames.estimates({"Accuracy, unanswered items counted as wrong": share})""",
    ),
    (
        "## Which labels are taken for which?\n\nRows are gold, columns the judge; only answered items are here.",
        """import pandas as pd
from sklearn.metrics import confusion_matrix

answered = answers.dropna(subset="label")
labels = sorted({*answers.gold, *answered.label})
confusion = confusion_matrix(answered.gold, answered.label, labels=labels)
pd.DataFrame(confusion, index=labels, columns=labels)""",
    ),
    (
        "## Is that more than chance?\n\nCohen's kappa of the same table, and precision and recall of each label.",
        """import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from analysis.stats.agreement import cohen_kappa

kappa = cohen_kappa(confusion).value
each = precision_recall_fscore_support(answered.gold, answered.label, labels=labels, zero_division=np.nan)
by_label = pd.DataFrame(each, index=["precision", "recall", "f1", "support"], columns=labels).T
by_label.assign(kappa=kappa)""",
    ),
)

_OF_SCORES = (
    (
        "## Do its scores mean anything?\n\n"
        "A calibrated judge is right in 80% of the answers that it scores 0.8. A row is a fifth of the answers.",
        """from sklearn.calibration import calibration_curve

scored = answered.dropna(subset="score")
right, score = calibration_curve(scored.right, scored.score.astype(float), n_bins=5, strategy="quantile")
pd.DataFrame({"score": score, "right": right})""",
    ),
)

_WRONG = (
    (
        "## Where is it wrong?\n\nThe wrong answers, to read.",
        """pd.options.display.max_colwidth = 200
answers[~answers.right][["item", "gold", "label", "status", "rationale"]].head(20)""",
    ),
)

_OF_CLASSIFY = (
    (
        "## How many sessions show each category?\n\n"
        "A share is of the sessions for which the rule could tell, with its Wilson interval. A rule "
        "that found nothing to check has no label.",
        """from analysis.stats.proportions import wilson
from studies import frames

checked = run.verdicts.assign(yes=run.verdicts.label == "yes", checked=run.verdicts.label.notna())
counts = checked.groupby("judge", sort=False)[["yes", "checked"]].sum()
shares = frames.estimates({category: wilson(yes, n) for category, yes, n in counts.itertuples()})
shares""",
    ),
    (
        "## Which occur together?\n\nHow many sessions show the one and the other.",
        """import pandas as pd

flagged = checked[checked.yes]
shown = pd.crosstab(flagged["item"], flagged.judge).clip(upper=1)
shown.T @ shown""",
    ),
    (
        "## What does it look like?\n\nThe flagged sessions, with the steps that show it.",
        """pd.options.display.max_colwidth = 200
flagged[["item", "judge", "steps", "rationale"]].head(20)""",
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
        The folder is no run, or one without verdicts.
    """
    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(f"no {MANIFEST}", "Name the folder of a run.", file=run)
    verdicts = list(read_verdicts(run, unfinished=True))
    if not verdicts:
        raise InputError("no verdicts", "Run the command of this folder again: it goes on where it stopped.", file=run)
    title = f"# {manifest.settings.get('judge', 'Sessions')}, looked at by hand\n\nMade of the run in `{run}`."
    cells = [_cell("markdown", title), _cell("code", _OPENED.format(folder=str(run.resolve())))]
    for prose, code in _questions(verdicts) if manifest.command == JUDGED else _OF_CLASSIFY:
        cells += [_cell("markdown", prose), _cell("code", code)]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _questions(verdicts: Sequence[Verdict]) -> tuple[tuple[str, str], ...]:
    """What is asked of a judge's run: of its scores only where it gave some that can be shares."""
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    are_shares = bool(scores) and all(0 <= score <= 1 for score in scores)
    return _OF_A_JUDGE + (_OF_SCORES if are_shares else ()) + _WRONG


def _cell(kind: str, source: str) -> dict[str, Any]:
    run_state: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **run_state}
