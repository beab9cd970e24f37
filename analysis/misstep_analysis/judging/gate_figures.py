"""The figures of a judge that a limit can be set on, by name: unanswered items count as wrong.

accuracy            over all items with a gold label; `accuracy_all` is another name for it
accuracy.answered   over those that were answered
yes.recall          and `yes.f1`, `kappa`, each with `.answered`
yes.precision       of the items that were given the label; an item without an answer has none
"""

from collections.abc import Iterable

from msgspec import Struct, structs

from misstep_analysis.judging.gates import ANSWERED
from misstep_analysis.judging.scores import Scores
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables.wording import counted_text


class LabelFigures(Struct, frozen=True):
    """What `scores.json` has of a label that a limit can be set on."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    recall_all: Estimate
    f1_all: Estimate


class JudgeFigures(Struct, frozen=True):
    """What `scores.json` has of a judge that a limit can be set on."""

    accuracy: Estimate
    accuracy_all: Estimate
    cohen_kappa: Estimate
    cohen_kappa_all: Estimate
    labels: dict[str, LabelFigures]


def names_of_figures(labels: Iterable[str]) -> list[str]:
    """Return the names of all figures of a judge with these labels, known before it is asked."""
    both = ["accuracy", "kappa", *(f"{label}.{name}" for label in labels for name in ("recall", "f1"))]
    precisions = [f"{label}.precision" for label in labels]
    return [*both, *precisions, "accuracy_all", "kappa_all", *(f"{name}{ANSWERED}" for name in both)]


def gate_figures(scores: Scores | JudgeFigures) -> dict[str, Estimate]:
    """Return each figure by its name, with what to beware of where items have no answer."""
    whole = {
        **with_unanswered("accuracy", scores.accuracy, scores.accuracy_all),
        **with_unanswered("kappa", scores.cohen_kappa, scores.cohen_kappa_all),
    }
    whole |= {"accuracy_all": whole["accuracy"], "kappa_all": whole["kappa"]}
    left_out = _unanswered(scores.accuracy, scores.accuracy_all)
    for label, one in scores.labels.items():
        whole[f"{label}.precision"] = _remarked(one.precision, left_out)
        whole |= with_unanswered(f"{label}.recall", one.recall, one.recall_all)
        whole |= with_unanswered(f"{label}.f1", one.f1, one.f1_all)
    return whole


def with_unanswered(name: str, answered: Estimate, every: Estimate) -> dict[str, Estimate]:
    """Return a figure over all items under its name, and over the answered ones under the name with a suffix."""
    left_out = _unanswered(answered, every)
    wrong = f"{left_out}, which counts as wrong" if left_out else ""
    return {name: _remarked(every, wrong), f"{name}{ANSWERED}": _remarked(answered, left_out)}


def _unanswered(answered: Estimate, every: Estimate) -> str:
    n = every.n or 0
    missing = n - (answered.n or 0)
    return f"{missing:,} of {counted_text(n, 'item')} had no answer" if missing else ""


def _remarked(estimate: Estimate, remark: str) -> Estimate:
    return structs.replace(estimate, reason="; ".join(filter(None, (estimate.reason, remark))))
