"""pass@k and pass^k: one of k attempts solves a task, and all of k do, from n attempts of which c solved it.

Both are means over every choice of k of the n attempts, so they need k attempts a task: with fewer they do not exist,
and are refused rather than guessed. pass^k is neither 1 - pass@k nor (c/n)^k. Attempts at one task are not independent
trials of the benchmark: an interval resamples tasks.
"""

from fractions import Fraction
from math import comb, sqrt
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import counts as whole_counts
from misstep_analysis.stats.checked import known
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.resampling import bootstrap, bootstrapped
from misstep_harness.errors import UsageError

Kind = Literal["pass@k", "pass^k"]


class MeanOverTasks(Struct, frozen=True):
    """A mean over tasks with the percentile interval of resampled tasks, and its ideal bootstrap standard error."""

    mean: Estimate
    se: float


def pass_at_k(n: int, c: int, k: int) -> Fraction:
    """Return the chance that one of k attempts solves the task: 1 - C(n-c, k) / C(n, k), exact.

    Chen and others (2021), Evaluating Large Language Models Trained on Code, arXiv:2107.03374.

    Parameters
    ----------
    n
        Attempts at the task.
    c
        How many of them solved it.
    k
        Attempts that one may make, 1 to n.

    Raises
    ------
    UsageError
        k is below 1 or above n, or c is outside 0 to n.

    Examples
    --------
    >>> pass_at_k(10, 3, 5)
    Fraction(11, 12)
    """
    _check(n, c, k)
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def pass_hat_k(n: int, c: int, k: int) -> Fraction:
    """Return the chance that all of k attempts solve the task: C(c, k) / C(n, k), exact; arguments as for `pass_at_k`.

    Yao and others (2024), tau-bench, arXiv:2406.12045.

    Examples
    --------
    >>> pass_hat_k(4, 3, 2)
    Fraction(1, 2)
    """
    _check(n, c, k)
    return Fraction(comb(c, k), comb(n, k))


def plugged_in_pass_at_k(n: int, c: int, k: int) -> Fraction:
    """The chance 1 - (1 - c/n)^k, which takes the observed share for the true one: too low on average for k above 1.

    For comparison only (Chen and others 2021, section 2.1); arguments as for `pass_at_k`.

    Examples
    --------
    >>> plugged_in_pass_at_k(4, 1, 2)
    Fraction(7, 16)
    """
    _check(n, c, k)
    return 1 - Fraction(n - c, n) ** k


def each_task(attempts: npt.ArrayLike, k: int, kind: Kind = "pass@k") -> FloatArray:
    """pass@k or pass^k of each task.

    Parameters
    ----------
    attempts
        Tasks x (attempts, solved).
    k
        Attempts that one may make.
    kind
        Which of the two.

    Raises
    ------
    UsageError
        There are no tasks, a task has fewer than k attempts, or more solved than attempted.

    Examples
    --------
    >>> each_task([[4, 4], [4, 1]], 2)
    array([1. , 0.5])
    >>> each_task([[4, 4], [4, 1]], 2, "pass^k")
    array([1., 0.])
    """
    known(kind, get_args(Kind), "kind")
    counts = whole_counts(attempts)
    if counts.ndim != 2 or counts.shape[1] != 2 or not len(counts):
        raise UsageError("no tasks", "Give one row a task: its attempts and how many solved it.")
    short = int((counts[:, 0] < k).sum())
    if short:
        message = f"{short} of {len(counts)} tasks have fewer than {k} attempts"
        raise UsageError(message, "Take a smaller k, or leave those tasks out.")
    of_task = pass_at_k if kind == "pass@k" else pass_hat_k
    distinct, places = np.unique(counts, axis=0, return_inverse=True)
    return np.array([float(of_task(int(n), int(c), k)) for n, c in distinct])[places.ravel()]


def mean_over_tasks(
    attempts: npt.ArrayLike,
    k: int,
    rng: np.random.Generator,
    kind: Kind = "pass@k",
    resamples: int = 10_000,
) -> MeanOverTasks:
    """Return the mean of pass@k or pass^k, with the interval over resampled tasks.

    Parameters
    ----------
    resamples
        How many resamples of tasks are drawn.

    Examples
    --------
    >>> mean_over_tasks([[4, 4], [4, 1]], 2, np.random.default_rng(0)).mean.value
    0.75
    """
    values = each_task(attempts, k, kind)
    distinct, tasks = np.unique(values, return_counts=True)
    n = len(values)
    mean = float(tasks @ distinct / n)  # over sorted values: no order of the tasks changes its last digit
    drawn = bootstrap(lambda sets: sets @ distinct / n, tasks, resamples, rng)
    estimate = bootstrapped(mean, drawn, n, units="tasks")
    return MeanOverTasks(estimate, sqrt(float(tasks @ (distinct - mean) ** 2 / n) / n))


def _check(n: int, c: int, k: int) -> None:
    if k < 1:
        raise UsageError(f"k is {k}", "At least one attempt is needed.")
    if k > n:
        raise UsageError(f"k is {k}, more than the {n} attempts", "The estimator does not exist there: take k up to n.")
    if not 0 <= c <= n:
        raise UsageError(f"{c} of {n} attempts solved the task")
