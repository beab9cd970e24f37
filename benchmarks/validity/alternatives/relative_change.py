"""The bootstrap of a relative change, turned down for Fieller's interval: with few skewed units it is too short."""

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.checked import finite
from misstep.analysis.stats.clusters.clustered import cluster_bootstrap
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import FloatArray


def bca_change(
    first: npt.ArrayLike, second: npt.ArrayLike, rng: np.random.Generator, draws: int = 2_000, confidence: float = 0.95
) -> Estimate:
    """The first arm's ratio of sums over the second's less 1, with the BCa interval over resampled units.

    Efron (1987), J. Am. Stat. Assoc. 82:171-185; Davison and Hinkley (1997), section 5.3.2, for two samples.
    """
    from scipy.special import ndtr, ndtri

    arms = finite(first, "a value"), finite(second, "a value")
    r1, r2 = (float(arm[:, 0].sum() / arm[:, 1].sum()) for arm in arms)
    sums = [cluster_bootstrap(lambda drawn: drawn, arm, draws, rng) for arm in arms]
    drawn = sums[0][:, 0] / sums[0][:, 1] / (sums[1][:, 0] / sums[1][:, 1]) - 1
    value, n, method = r1 / r2 - 1, len(arms[0]) + len(arms[1]), f"BCa, {draws:,} resamples of units"
    if np.ptp(drawn) == 0:
        return Estimate(value, n=n, method=method, reason="all resamples give the same change")
    below = float(((drawn < value).mean() + (drawn <= value).mean()) / 2)
    if not 0 < below < 1:
        return Estimate(value, n=n, method=method, reason="all resamples are on one side of the estimate")
    adds = [(arm[:, 0] - ratio * arm[:, 1]) / arm[:, 1].mean() for arm, ratio in zip(arms, (r1, r2), strict=True)]
    influences: list[FloatArray] = [adds[0] / r2, -adds[1] * r1 / r2**2]
    cubes = sum(float((one**3).sum()) / len(one) ** 3 for one in influences)
    squares = sum(float((one**2).sum()) / len(one) ** 2 for one in influences)
    acceleration, bias = cubes / (6 * squares**1.5), float(ndtri(below))
    z = bias + float(ndtri((1 + confidence) / 2)) * np.array([-1.0, 1.0])
    low, high = np.quantile(drawn, ndtr(bias + z / (1 - acceleration * z)))
    return Estimate(value, float(low), float(high), n, method)
