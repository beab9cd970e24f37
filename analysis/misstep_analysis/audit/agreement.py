"""Check overall agreement and Fleiss' kappa of raters against the printed figures of their pairs.

The overall agreement is the mean over the pairs. An item that one of three raters labels alone counts in two pairs of
disagreements, one that all label differently in three.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod

from msgspec import Struct

from misstep_analysis.audit.checked import Checked, compared, underdetermined
from misstep_analysis.audit.rounding_boxes import (
    Box,
    fits,
    is_exact_count,
    limit,
    point,
    printed_value,
    whole_counts,
)
from misstep_analysis.published import Figure
from misstep_analysis.stats.raters.rater_margins import Dissent, possible_dissents

_THREE = 3
_MOST_COUNTS = 400


class Pairs(Struct, frozen=True):
    """The printed figures of pairs of raters, in the order first and second, first and third, second and third."""

    n: Figure | None = None
    agreements: tuple[Figure, ...] = ()


def check_rater_agreement(figure: Figure, pairs: Pairs) -> Checked:
    """Check the overall agreement as the mean over pairs, or Fleiss' kappa against the agreements of the pairs."""
    if pairs.n is None or not is_exact_count(pairs.n) or printed_value(pairs.n) <= 0:
        return underdetermined("rater_agreement", "How many items were rated is not printed as a number.")
    n = int(printed_value(pairs.n))
    allowed = [_agreeing(agreement, n) for agreement in pairs.agreements]
    raters = next((count for count in range(2, len(allowed) + 2) if comb(count, 2) == len(allowed)), None)
    if raters is None or any(counts is None for counts in allowed):
        return underdetermined("rater_agreement", "The agreement of each pair of raters is not printed as a number.")
    options = [counts or () for counts in allowed]
    if () in map(tuple, options):
        without = pairs.agreements[[len(counts) for counts in options].index(0)].printed
        sentence = f"No whole count of {n:,} prints as {without}, the agreement of a pair."
        return Checked("rater_agreement", "impossible", sentence)
    combinations = prod(map(len, options))
    if combinations > _MOST_COUNTS:
        too_many = f"The pairs' agreements allow {combinations:,} combinations of counts"
        return underdetermined("rater_agreement", f"{too_many}, too many to try.")
    possible = list(product(*options))
    together = [counts for counts in possible if raters != _THREE or _dissents(n, counts)]
    if not together:
        apart = _listed([n - count for count in possible[0]])
        sentence = f"No three raters disagree in pairs on {apart} of {n:,} items: the three cannot go together."
        return Checked("rater_agreement", "impossible", sentence)
    if figure.unit == "share":
        return _mean_over_pairs(figure, n, together)
    return _fleiss(figure, n, together)


def _mean_over_pairs(figure: Figure, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    results = []
    for counts in possible:
        comparisons = n * len(counts)
        working = f"({' + '.join(f'{count:,}' for count in counts)}) / {comparisons:,} comparisons"
        mean = point(Fraction(sum(counts), comparisons))
        results.append(compared("rater_agreement", figure, working, mean))
    return next((one for one in results if one.status == "reproduced"), results[len(results) // 2])


def _fleiss(figure: Figure, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    """Check that Fleiss' kappa is not greater than the agreement, which it never is."""
    most = Fraction(max(map(sum, possible)), n * len(possible[0]))
    if printed_value(figure) > 0 and not fits(figure, Box(Fraction(-1), most)):
        sentence = f"Fleiss' kappa is never greater than the agreement, {float(most):.3f}, and {figure.printed} is."
        return Checked("rater_agreement", "impossible", sentence)
    agree = f"{_listed(possible[len(possible) // 2])} of {n:,} agree in pairs"
    return underdetermined("rater_agreement", f"{agree}; how often each rater used each label is not printed.")


def _agreeing(agreement: Figure, n: int) -> Sequence[int] | None:
    """Return how many of n items a pair may agree on; `None` where that is not printed as a number."""
    if agreement.unit == "text" or agreement.approximate or limit(agreement) is not None:
        return None
    return whole_counts(agreement, n)


def _dissents(n: int, counts: tuple[int, ...]) -> Sequence[Dissent]:
    first, second, third = (n - count for count in counts)
    return possible_dissents(n, first, second, third)


def _listed(words: Sequence[object]) -> str:
    texts = [f"{word:,}" if isinstance(word, int) else str(word) for word in words]
    return ", ".join(texts[:-1]) + f" and {texts[-1]}"
