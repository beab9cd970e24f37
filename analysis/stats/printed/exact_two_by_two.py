"""P-values of exact tests of two proportions in the forms that software gives them, to tell which one was printed.

Fisher's test fixes both margins, and has more than one two-sided p-value. Barnard's and Boschloo's fix the samples
alone and take the worst share; they look at each pair of counts, so that they are for small samples.

Each function takes how many of how many in either sample, whole numbers with 0 <= x <= n and n > 0.
"""

from misstep.analysis.stats.printed.two_proportions import fisher_exact

LARGEST = 10**8
"""Up to how many cases in both samples together the probabilities of Fisher's test are exact enough."""

MOST_PAIRS = 40_000
"""Of how many pairs of counts at most Barnard's and Boschloo's tests are asked: a third of a second each."""


def fisher_two_sided(x1: int, n1: int, x2: int, n2: int) -> float | None:
    """Fisher's exact test: the probability of all tables that are no more probable."""
    return fisher_exact(x1, n1, x2, n2).p_value


def fisher_one_sided(x1: int, n1: int, x2: int, n2: int) -> float:
    """Fisher's exact test in the direction in which the shares differ."""
    return min(_tails(x1, n1, x2, n2)[:2])


def fisher_doubled(x1: int, n1: int, x2: int, n2: int) -> float:
    """Twice the smaller one-sided p-value of Fisher's exact test, 1 at most (the central one)."""
    return min(1.0, 2 * fisher_one_sided(x1, n1, x2, n2))


def fisher_mid_p(x1: int, n1: int, x2: int, n2: int) -> float | None:
    """Fisher's two-sided p-value less half of the table's own probability.

    Hirji, Tan and Elashoff (1991), Statistics in Medicine 10:1137-1153.
    """
    p_value = fisher_two_sided(x1, n1, x2, n2)
    return None if p_value is None else p_value - _tails(x1, n1, x2, n2)[2] / 2


def fisher_doubled_mid_p(x1: int, n1: int, x2: int, n2: int) -> float:
    """Twice the smaller one-sided mid-p of Fisher's exact test, 1 at most."""
    below, above, own = _tails(x1, n1, x2, n2)
    return min(1.0, 2 * (min(below, above) - own / 2))


def barnard(x1: int, n1: int, x2: int, n2: int) -> float:
    """Barnard's exact test, two-sided, by the pooled z."""
    from scipy.stats import barnard_exact

    return float(barnard_exact([[x1, x2], [n1 - x1, n2 - x2]]).pvalue)


def boschloo(x1: int, n1: int, x2: int, n2: int) -> float:
    """Boschloo's exact test, two-sided."""
    from scipy.stats import boschloo_exact

    return float(boschloo_exact([[x1, x2], [n1 - x1, n2 - x2]]).pvalue)


def _tails(x1: int, n1: int, x2: int, n2: int) -> tuple[float, float, float]:
    """The probabilities, both margins fixed, of at most and of at least so many in the first sample, and of so many."""
    from scipy.stats import hypergeom

    given = (n1 + n2, x1 + x2, n1)
    return float(hypergeom.cdf(x1, *given)), float(hypergeom.sf(x1 - 1, *given)), float(hypergeom.pmf(x1, *given))
