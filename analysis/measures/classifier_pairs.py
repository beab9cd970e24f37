"""A rule, a prompted judge and both together against the same labels: precision, recall, and a precision kept.

Both together flag what either flags. A run that a classifier did not answer for counts as not flagged, so that recall
is over all positives; where nothing of a prompted judge is available its figures are undefined and say so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.calibration.precision_threshold import PrecisionThreshold, precision_threshold
from misstep.analysis.measures.prevalence import YES
from misstep.analysis.stats.diagnostic import count_confusion
from misstep.analysis.stats.diagnostic import precision as precision_of
from misstep.analysis.stats.diagnostic import recall as recall_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence
from misstep.harness.verdict import Verdict

Classifier = Literal["rule", "prompted", "both"]
CLASSIFIERS: tuple[Classifier, ...] = ("rule", "prompted", "both")
FLOOR = 0.80
"""The precision that Wink asks of its classifiers (section 2.2.1)."""


class LabelledRuns(Struct, frozen=True):
    """The labels of one set for a category, and what the classifiers say of the same runs.

    - `prompted`: Run → the prompted judge's verdict; empty where none is available.
    - `kinds`: Positive run → how the category is played there, where that is known.
    """

    category: str
    dataset: str
    source: str
    evidence: Evidence
    gold: Mapping[str, bool]
    rule: Mapping[str, Verdict]
    prompted: Mapping[str, Verdict] = {}
    missing: str = ""
    kinds: Mapping[str, str] = {}


class Figures(Struct, frozen=True):
    """Precision and recall of a classifier, and how many runs it answered for."""

    precision: Estimate
    recall: Estimate
    answered: int


def figures(runs: LabelledRuns, classifier: Classifier, only: Iterable[str] | None = None) -> Figures:
    """Precision and recall of one of the classifiers, over the runs with a label or over some of them."""
    if classifier != "rule" and not runs.prompted:
        missing = Estimate(None, n=0, reason=runs.missing)
        return Figures(missing, missing, 0)
    runs_compared = sorted(runs.gold) if only is None else sorted(only)
    labels = [_label(runs, run, classifier) for run in runs_compared]
    table = count_confusion([runs.gold[run] for run in runs_compared], [label == YES for label in labels])
    return Figures(precision_of(table), recall_of(table), sum(label is not None for label in labels))


def _label(runs: LabelledRuns, run: str, classifier: Classifier) -> str | None:
    labels = [
        verdicts[run].label
        for name, verdicts in (("rule", runs.rule), ("prompted", runs.prompted))
        if classifier in (name, "both") and run in verdicts
    ]
    return YES if YES in labels else next((label for label in labels if label is not None), None)


def kept_precision(runs: LabelledRuns, classifier: Classifier, seed: int = 0) -> PrecisionThreshold | None:
    """Return the threshold that keeps a precision of 80%, chosen on one half of the runs and tested on the other.

    A rule says no scores: what is tested is its label alone. `None` for both together, which have no score in common,
    and where nothing of a prompted judge is available.
    """
    verdicts = runs.rule if classifier == "rule" else runs.prompted if classifier == "prompted" else {}
    answers = [verdicts[run] for run in sorted(runs.gold) if run in verdicts]
    if len(answers) < 2:
        return None
    gold = [GoldLabel(run, "truth", YES if shown else "no") for run, shown in runs.gold.items()]
    return precision_threshold(answers, gold, YES, FLOOR, seed=seed)


def by_kind(runs: LabelledRuns, classifier: Classifier) -> dict[str, Estimate]:
    """Return how a category is played → the share of these runs that a classifier flags."""
    kinds: dict[str, list[str]] = {}
    for run, kind in runs.kinds.items():
        kinds.setdefault(kind, []).append(run)
    return {kind: figures(runs, classifier, only).recall for kind, only in sorted(kinds.items())}


def with_prompted(runs: Sequence[LabelledRuns]) -> bool:
    """Return whether a prompted judge's answers are available for any of the sets."""
    return any(one.prompted for one in runs)
