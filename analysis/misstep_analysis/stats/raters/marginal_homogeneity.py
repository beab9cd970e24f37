"""Whether two raters use each label equally often, and whether a share is the same in several groups.

A square table of counts has the first rater's labels in rows and the second's in columns. Errors in opposite directions
cancel out in its margins; what does not is bias::

               yes    no           rows 60, 40
        yes     50    10           columns 75, 25: 15 “yes” more
        no      25    15

Where items come in clusters, each cluster brings its own vector of differences, and the question is whether these have
mean zero.

Of groups, independent items make a table of two rows. If some expected count is below 5, tables with the same margins
are drawn, which is exact but for the draws. With clusters, which may reach over several groups, a score test takes the
spread of the clusters' own contributions, so that it holds even if a group has all or nothing.
"""

import numpy as np
import numpy.typing as npt

from misstep_analysis.stats.checked import counts, finite, yes_or_no
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.significance import Significance
from misstep_harness.errors import UsageError

NO_DIFFERENCE_POSSIBLE = "no item was labelled differently: nothing can flow either way"
TOO_FEW_CLUSTERS = "too few clusters for so many labels: the spread between clusters cannot be estimated"

_RANK_TOLERANCE = 1e-9
"""Eigenvalues below this share of the greatest are 0 and a rounding error."""


def stuart_maxwell(table: npt.ArrayLike) -> Significance:
    """Return the test of marginal homogeneity of Stuart (1955, Biometrika 42:412-416) and Maxwell (1970).

    With two labels it is McNemar's asymptotic test. Labels that neither rater used take no degree of freedom.

    Parameters
    ----------
    table
        Labels x labels: how many items.

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
    cells = counts(table).astype(np.float64)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not cells.sum():
        raise UsageError("marginal homogeneity needs a square table with items")
    n = int(cells.sum())
    differences = cells.sum(axis=1) - cells.sum(axis=0)
    variance = np.diag(cells.sum(axis=1) + cells.sum(axis=0)) - cells - cells.T
    statistic, rank = _quadratic(differences, variance)
    if rank == 0:
        return Significance(None, None, n, "Stuart-Maxwell", NO_DIFFERENCE_POSSIBLE)
    from scipy.special import chdtrc

    return Significance(
        statistic,
        float(chdtrc(rank, statistic)),
        n,
        f"Stuart-Maxwell, {rank} degree{'' if rank == 1 else 's'} of freedom",
    )


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
    nonzero = values > _RANK_TOLERANCE * max(float(values.max(initial=0.0)), _RANK_TOLERANCE)
    along = vector @ directions[:, nonzero]
    return float((along**2 / values[nonzero]).sum()), int(np.count_nonzero(nonzero))


ONE_GROUP = "only one group has items"
ALL_ALIKE = "all items are alike: no share can differ"
BALANCED = "the groups differ in no cluster, which leaves no spread to test with"

_FEWEST_EXPECTED = 5
"""Cochran's rule of thumb (1954, Biometrics 10:417-451), strictly: below it the approximation is not used."""

_ROUNDING = 1e-9


def pearson_shares(
    found: npt.ArrayLike, totals: npt.ArrayLike, rng: np.random.Generator, draws: int = 10_000
) -> Significance:
    """Pearson's chi-squared test that all groups have the same share.

    Parameters
    ----------
    found, totals
        Groups: how many items of how many; groups without items are left out.
    rng, draws
        The source of chance, and how many tables are drawn where an expected count is below 5; the p-value then counts
        the table itself as one of them (Davison and Hinkley 1997, section 4.2), so that it is never 0.

    Raises
    ------
    UsageError
        A count is outside its total.

    Examples
    --------
    >>> round(pearson_shares([30, 45], [100, 100], np.random.default_rng(0)).p_value, 4)
    0.0285
    """
    x, n = counts(found), counts(totals)
    if x.shape != n.shape or (x > n).any():
        raise UsageError("a count outside its total", "Give each group how many of how many.")
    x, n = x[n > 0], n[n > 0]
    total, all_found = int(n.sum()), int(x.sum())
    if len(n) < 2 or all_found in (0, total):
        return Significance(None, None, total, "chi-squared", ONE_GROUP if len(n) < 2 else ALL_ALIKE)
    from scipy.special import chdtrc

    statistic = float(_chi_squared(x[None, :], n, all_found)[0])
    least = min(all_found, total - all_found) * int(n.min()) / total
    if least >= _FEWEST_EXPECTED:
        degrees = len(n) - 1
        test = f"chi-squared with {degrees} {'degree' if degrees == 1 else 'degrees'} of freedom"
        return Significance(statistic, float(chdtrc(degrees, statistic)), total, test)
    tables = rng.multivariate_hypergeometric(n, all_found, size=draws)
    as_far = int(np.count_nonzero(_chi_squared(tables, n, all_found) >= statistic - _ROUNDING))
    return Significance(statistic, (as_far + 1) / (draws + 1), total, f"chi-squared, {draws:,} tables drawn")


def clustered_shares(groups: IntArray, found: npt.ArrayLike, of_item: IntArray) -> Significance:
    """Return the score test over clusters that all groups have the same share.

    What an item adds is its difference from the share of all, in its own group less the group's part of all items.

    Parameters
    ----------
    groups, found, of_item
        Items: the number of the group from 0, whether it is found, and the number of the cluster from 0.

    Examples
    --------
    >>> groups, found, runs = np.array([0, 1, 0, 1, 0, 1]), [1, 0, 1, 0, 0, 0], np.array([0, 0, 1, 1, 2, 2])
    >>> round(clustered_shares(groups, found, runs).p_value, 3)
    0.184
    """
    outcome = yes_or_no(found, "an outcome").astype(np.float64)
    if not len(outcome) == len(groups) == len(of_item):
        message = f"{len(outcome)} outcomes of {len(groups)} items"
        raise UsageError(message, "Give each item one, a group and a cluster.")
    n, (names, codes) = len(outcome), np.unique(groups, return_inverse=True)
    test = "score test over clusters"
    if len(names) < 2 or np.ptp(outcome) == 0:
        return Significance(None, None, n, test, ONE_GROUP if len(names) < 2 else ALL_ALIKE)
    inside = np.eye(len(names))[codes]
    adds = (inside - inside.mean(axis=0)) * (outcome - outcome.mean())[:, None]
    clusters = int(of_item.max()) + 1
    by_cluster = np.column_stack([np.bincount(of_item, column, minlength=clusters) for column in adds.T])
    tested = zero_mean(by_cluster)
    reason = BALANCED if tested.reason == NO_DIFFERENCE_POSSIBLE else tested.reason
    return Significance(tested.statistic, tested.p_value, n, tested.test.replace("Hotelling", "score test"), reason)


def _chi_squared(tables: IntArray, totals: IntArray, all_found: int) -> FloatArray:
    share = all_found / int(totals.sum())
    return np.asarray(((tables - totals * share) ** 2 / (totals * share * (1 - share))).sum(axis=1))
