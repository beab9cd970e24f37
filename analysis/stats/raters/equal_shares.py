"""Whether a share is the same in several groups: Pearson's test, by chance itself where counts are small, by clusters.

Independent items make a table of two rows, groups in columns. Where some expected count is below 5 the chi-squared
distribution is not trusted: tables with the same margins are drawn instead, which is exact but for the draws. Where
items come in clusters, which may reach over several groups, a score test takes the spread of the clusters' own
contributions, so that it stands even where a group has all or nothing.
"""

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.checked import counts, yes_or_no
from misstep.analysis.stats.raters.marginal_homogeneity import NO_DIFFERENCE_POSSIBLE, zero_mean
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError

ONE_GROUP = "only one group has items"
ALL_ALIKE = "all items are alike: no share can differ"
BALANCED = "in no cluster do the groups differ: there is no spread to test with"

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
    """
    outcome = yes_or_no(found, "an outcome").astype(np.float64)
    if not len(outcome) == len(groups) == len(of_item):
        raise UsageError(
            f"{len(outcome)} outcomes of {len(groups)} items", "Give each item one, a group and a cluster."
        )
    n, (kept, codes) = len(outcome), np.unique(groups, return_inverse=True)
    test = "score test over clusters"
    if len(kept) < 2 or np.ptp(outcome) == 0:
        return Significance(None, None, n, test, ONE_GROUP if len(kept) < 2 else ALL_ALIKE)
    inside = np.eye(len(kept))[codes]
    adds = (inside - inside.mean(axis=0)) * (outcome - outcome.mean())[:, None]
    clusters = int(of_item.max()) + 1
    by_cluster = np.column_stack([np.bincount(of_item, column, minlength=clusters) for column in adds.T])
    tested = zero_mean(by_cluster)
    reason = BALANCED if tested.reason == NO_DIFFERENCE_POSSIBLE else tested.reason
    return Significance(tested.statistic, tested.p_value, n, tested.test.replace("Hotelling", "score test"), reason)


def _chi_squared(tables: IntArray, totals: IntArray, all_found: int) -> FloatArray:
    """Pearson's statistic of each row of counts found."""
    share = all_found / int(totals.sum())
    return np.asarray(((tables - totals * share) ** 2 / (totals * share * (1 - share))).sum(axis=1))
