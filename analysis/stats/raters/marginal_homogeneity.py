"""Whether two raters of the same items use each label equally often: one test over all labels.

A square table of counts has the first rater's labels in rows and the second's in columns. Errors in opposite directions
cancel out in its margins; what does not is bias::

               yes    no           rows 60, 40
        yes     50    10           columns 75, 25: “yes” is said on 15 items more
        no      25    15

Where items come in clusters, each cluster brings its own vector of differences, and the question is whether these have
mean zero.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.checked import counts, finite
from misstep.analysis.stats.raters.patterns import FloatArray, label_table
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError

NO_DIFFERENCE_POSSIBLE = "no item was labelled differently: nothing can flow either way"
TOO_FEW_CLUSTERS = "too few clusters for so many labels: the spread between clusters cannot be estimated"

_RANK_TOLERANCE = 1e-9
"""Eigenvalues below this share of the greatest are 0 and a rounding error."""


def stuart_maxwell(table: Any, second: Sequence[Any] | None = None) -> Significance:
    """Return the test of marginal homogeneity of Stuart (1955, Biometrika 42:412-416) and Maxwell (1970).

    With two labels it is McNemar's asymptotic test. Labels that neither rater used take no degree of freedom.

    Parameters
    ----------
    table
        Labels x labels: how many items. With `second`: the first rater's labels.
    second
        The second rater's labels of the same items.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> found = stuart_maxwell([[50, 10], [25, 15]])
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (6.429, 0.0112)
    """
    cells = (counts(table) if second is None else label_table(table, second)).astype(np.float64)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not cells.sum():
        raise UsageError("marginal homogeneity needs a square table with items")
    n = int(cells.sum())
    differences = cells.sum(axis=1) - cells.sum(axis=0)
    variance = np.diag(cells.sum(axis=1) + cells.sum(axis=0)) - cells - cells.T
    statistic, rank = _quadratic(differences, variance)
    if rank == 0:
        return Significance(None, None, n, "Stuart-Maxwell", NO_DIFFERENCE_POSSIBLE)
    from scipy.special import chdtrc

    return Significance(statistic, float(chdtrc(rank, statistic)), n, f"Stuart-Maxwell, {_freedom(rank)}")


def zero_mean(contributions: npt.ArrayLike) -> Significance:
    """Hotelling's test (1931, Annals of Mathematical Statistics 2:360-378) that vectors have mean zero.

    The statistic is F; directions in which no vector points take no degree of freedom. With each cluster's difference
    of margins it is the clustered counterpart of the Stuart-Maxwell test, to which it comes with many single items.

    Parameters
    ----------
    contributions
        Units x figures: what each independent unit adds; a unit of zeros counts as one.

    Examples
    --------
    >>> round(zero_mean([[1.0], [2.0], [0.0], [3.0]]).p_value, 4)
    0.1027
    """
    vectors = finite(contributions, "a contribution")
    units = len(vectors)
    # The sum of outer products takes the mean as zero, as the hypothesis has it; Hotelling's follows from it exactly.
    null_statistic, rank = _quadratic(vectors.sum(axis=0), vectors.T @ vectors)
    if rank == 0:
        return Significance(None, None, units, "Hotelling", NO_DIFFERENCE_POSSIBLE)
    if units <= rank or units - null_statistic < _RANK_TOLERANCE * units:
        return Significance(None, None, units, "Hotelling", TOO_FEW_CLUSTERS)
    from scipy.special import fdtrc

    statistic = (units - rank) / rank * null_statistic / (units - null_statistic)
    test = f"Hotelling over {units:,} clusters, F with {rank} and {units - rank} degrees of freedom"
    return Significance(statistic, float(fdtrc(rank, units - rank, statistic)), units, test)


def _quadratic(vector: FloatArray, variance: FloatArray) -> tuple[float, int]:
    """The vector's squared length in units of the variance, and the rank of that: directions without any count not."""
    values, directions = np.linalg.eigh(variance)
    kept = values > _RANK_TOLERANCE * max(float(values.max(initial=0.0)), _RANK_TOLERANCE)
    along = vector @ directions[:, kept]
    return float((along**2 / values[kept]).sum()), int(np.count_nonzero(kept))


def _freedom(rank: int) -> str:
    return "1 degree of freedom" if rank == 1 else f"{rank} degrees of freedom"
