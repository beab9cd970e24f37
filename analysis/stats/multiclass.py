"""How good a judge with several labels is against gold labels: by class, averaged, and overall.

A class that nobody predicts has no precision, one absent from the gold labels no recall, one that is neither no F1. A
macro average over classes of which some are undefined is undefined, and says how many; the average over the others
stands beside it under its own name, as leaving classes out in silence makes judges look better.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from analysis.stats.checked import counts
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import label_table
from analysis.stats.proportions import wilson
from harness.errors import UsageError

NEVER_PREDICTED = "class never predicted"
ABSENT = "class absent from the truth"
NEITHER = "class neither true nor predicted"


class ClassScores(Struct, frozen=True):
    """One class against all others; `support` counts its gold labels, `predicted` its answers."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    support: int
    predicted: int


class MulticlassScores(Struct, frozen=True):
    """Scores of a confusion matrix; the macro recall is also called balanced accuracy.

    Averages carry no interval: resample the items, or their clusters, for one.
    """

    accuracy: Estimate
    classes: tuple[ClassScores, ...]
    macro_precision: Estimate
    macro_recall: Estimate
    macro_f1: Estimate
    macro_f1_defined_only: Estimate
    weighted_f1: Estimate
    mcc: Estimate


def multiclass_scores(matrix: Any, answers: Sequence[Any] | None = None) -> MulticlassScores:
    """All scores of a confusion matrix, or of gold labels and the answers to them.

    Parameters
    ----------
    matrix
        Classes x classes: rows the gold labels, columns the answers; unused classes keep their place. With `answers`:
        the items' gold labels.
    answers
        The items' answers; the classes are then the labels in use, sorted.

    Raises
    ------
    UsageError
        The matrix is not square, is empty, or has a count below 0.

    Examples
    --------
    >>> scores = multiclass_scores(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> scores.accuracy.value, round(scores.macro_f1.value, 3)
    (0.75, 0.778)
    """
    cells = counts(matrix) if answers is None else label_table(matrix, answers)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise UsageError("a confusion matrix has as many rows as columns")
    n = int(cells.sum())
    if n == 0:
        raise UsageError("a confusion matrix needs items")
    classes = tuple(
        _class(int(cells[place, place]), int(cells[place].sum()), int(cells[:, place].sum()))
        for place in range(len(cells))
    )
    f1s = [one.f1 for one in classes]
    # A class without gold labels weighs nothing, whether its own F1 is defined or not.
    weighted = sum((one.f1.value or 0.0) * one.support for one in classes) / n
    return MulticlassScores(
        wilson(int(np.trace(cells)), n),
        classes,
        _macro([one.precision for one in classes]),
        _macro([one.recall for one in classes]),
        _macro(f1s),
        _mean_of_defined(f1s),
        Estimate(weighted, n=n),
        matthews_correlation(cells),
    )


def matthews_correlation(matrix: npt.ArrayLike) -> Estimate:
    """The correlation of answers and gold labels for any number of classes (Gorodkin 2004, R_K).

    Computational Biology and Chemistry 28:367-374.

    Parameters
    ----------
    matrix
        Classes x classes: rows the gold labels, columns the answers.

    Examples
    --------
    >>> round(matthews_correlation([[5, 1], [2, 4]]).value, 3)
    0.507
    """
    cells = counts(matrix)
    n, right = int(cells.sum()), int(np.trace(cells))
    truths, answers = ([int(total) for total in cells.sum(axis=axis)] for axis in (1, 0))
    spread_truths, spread_answers = (n * n - sum(total * total for total in totals) for totals in (truths, answers))
    if spread_truths == 0 or spread_answers == 0:
        return Estimate(None, n=n, reason="all gold labels or all answers are of one class: 0/0")
    together = right * n - sum(truth * answer for truth, answer in zip(truths, answers, strict=True))
    return Estimate(together / (sqrt(spread_truths) * sqrt(spread_answers)), n=n)


def _class(right: int, support: int, predicted: int) -> ClassScores:
    return ClassScores(
        wilson(right, predicted) if predicted else Estimate(None, n=0, reason=NEVER_PREDICTED),
        wilson(right, support) if support else Estimate(None, n=0, reason=ABSENT),
        Estimate(2 * right / (support + predicted), n=support + predicted)
        if support + predicted
        else Estimate(None, n=0, reason=NEITHER),
        support,
        predicted,
    )


def _macro(scores: Sequence[Estimate]) -> Estimate:
    undefined = sum(score.value is None for score in scores)
    if undefined:
        return Estimate(None, n=len(scores), reason=f"{undefined} of {len(scores)} classes undefined")
    return _mean_of_defined(scores)


def _mean_of_defined(scores: Sequence[Estimate]) -> Estimate:
    defined = [score.value for score in scores if score.value is not None]
    method = f"mean of {len(defined)} of {len(scores)} classes"
    if not defined:
        return Estimate(None, n=0, method=method, reason="no class is defined")
    return Estimate(sum(defined) / len(defined), n=len(defined), method=method)
