"""Check overall agreement and Fleiss' kappa of raters against the printed figures of their pairs.

The overall agreement is the mean over the pairs. An item that one of three raters labels alone counts in two pairs of
disagreements, one that all label differently in three. And their kappas have to come from one set of ratings.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod

from msgspec import Struct

from misstep.analysis.audit.checked import Checked, compared, underdetermined
from misstep.analysis.audit.rounding_boxes import (
    as_fraction,
    is_exact_count,
    limit,
    point,
    printed_value,
    rounding_box,
    whole_counts,
)
from misstep.analysis.published import Figure
from misstep.analysis.stats.printed.kappa_tables import MOST_LABELS
from misstep.analysis.stats.raters.rater_margins import (
    Dissent,
    Kappa,
    MarginRatings,
    PossibleRatings,
    possible_dissents,
    possible_ratings,
)

_PAIRS: tuple[Kappa, ...] = ("first_second", "first_third", "second_third")
_MOST_COUNTS = 400
_FEWEST, _MOST = 2, 5
"""How many labels are tried if their number is not printed."""

_BUDGET, _A_LOOK = 100_000_000, 10_000
"""How many combinations of ratings one search may look at, and as how many each split of the items counts at least."""


class Pairs(Struct, frozen=True):
    """The printed figures of pairs of raters, in the order first and second, first and third, second and third."""

    n: Figure | None = None
    labels: Figure | None = None
    agreements: tuple[Figure, ...] = ()
    kappas: tuple[Figure, ...] = ()


def check_rater_agreement(figure: Figure, pairs: Pairs) -> Checked:
    """Check the overall agreement as the mean over pairs, or Fleiss' kappa with all printed figures of the pairs."""
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
    together = [counts for counts in possible if raters != len(_PAIRS) or _dissents(n, counts)]
    if not together:
        apart = _listed([n - count for count in possible[0]])
        sentence = f"No three raters disagree in pairs on {apart} of {n:,} items: the three cannot go together."
        return Checked("rater_agreement", "impossible", sentence)
    if figure.unit == "share":
        return _mean_over_pairs(figure, n, together)
    if raters != len(_PAIRS) or limit(figure) is not None or figure.approximate:
        return underdetermined("rater_agreement", "Fleiss' kappa of other than three raters is not searched.")
    return _fleiss(figure, pairs, n, together)


def _mean_over_pairs(figure: Figure, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    results = []
    for counts in possible:
        comparisons = n * len(counts)
        working = f"({' + '.join(f'{count:,}' for count in counts)}) / {comparisons:,} comparisons"
        mean = point(Fraction(sum(counts), comparisons))
        results.append(compared("rater_agreement", figure, working, mean))
    return next((one for one in results if one.status == "reproduced"), results[len(results) // 2])


def _fleiss(figure: Figure, pairs: Pairs, n: int, possible: Sequence[tuple[int, ...]]) -> Checked:
    printed = _printed(figure, pairs.kappas)
    if "fleiss" not in printed:
        return underdetermined("rater_agreement", f"A kappa of {figure.printed} leaves the chance agreement open.")
    most = None if pairs.labels is None or not is_exact_count(pairs.labels) else int(printed_value(pairs.labels))
    spent, gave_up = 0, False
    if most is not None and most > MOST_LABELS:
        return underdetermined("rater_agreement", f"Ratings on {most:,} labels are not searched.")
    for labels in range(_FEWEST, _MOST + 1) if most is None else (max(most, _FEWEST),):
        for alike, dissent in ((counts, dissent) for counts in possible for dissent in _dissents(n, counts)):
            if spent >= _BUDGET:
                gave_up = True
                break
            ratings = possible_ratings(dissent, printed, labels, _BUDGET - spent)
            spent += max(_A_LOOK, ratings.candidates if ratings.complete else 0)
            gave_up |= not ratings.complete
            if ratings.ratings:
                return _possible(figure, n, alike, dissent, labels, ratings, len(printed))
    agree = f"{_listed(possible[len(possible) // 2])} of {n:,} agree in pairs"
    if gave_up:
        reason = "the search for ratings that print the kappas gave up before it had looked at all of them"
        return underdetermined("rater_agreement", f"{agree}; {reason}.")
    on = f"on {most} labels" if most is not None else f"on {_FEWEST} to {_MOST} labels"
    kappas = _listed([kappa.printed for kappa in (*pairs.kappas, figure)])
    sentence = f"{agree}, but no ratings of three raters {on} print the kappas {kappas} together."
    return Checked("rater_agreement", "impossible", sentence)


def _possible(
    figure: Figure,
    n: int,
    counts: tuple[int, ...],
    dissent: Dissent,
    labels: int,
    ratings: PossibleRatings,
    kappas: int,
) -> Checked:
    beside = f"the {kappas - 1} kappas of the pairs" if kappas > 1 else "the agreements of the pairs"
    sentence = (
        f"{_listed(counts)} of {n:,} agree in pairs: all three agree on {dissent.unanimous:,} items, and the "
        f"three label {_listed(dissent.alone)} alone. With {labels} labels {ratings.labelled:,} sets of ratings print "
        f"{figure.printed} beside {beside}, such as {_in_words(ratings.ratings[0])}; which one it was is not printed."
    )
    return Checked("rater_agreement", "underdetermined", sentence)


def _printed(figure: Figure, kappas: Sequence[Figure]) -> dict[Kappa, str]:
    """The kappas that say something: not limits, and not such as may be 1, which leaves chance agreement open."""
    named: list[tuple[Kappa, Figure]] = [("fleiss", figure)]
    if len(kappas) == len(_PAIRS):
        named += zip(_PAIRS, kappas, strict=True)
    return {
        name: as_fraction(kappa)
        for name, kappa in named
        if limit(kappa) is None and not kappa.approximate and kappa.unit != "text" and rounding_box(kappa).high < 1
    }


def _agreeing(agreement: Figure, n: int) -> Sequence[int] | None:
    """Return how many of n items a pair may agree on; `None` where that is not printed as a number."""
    if agreement.unit == "text" or agreement.approximate or limit(agreement) is not None:
        return None
    return whole_counts(agreement, n)


def _dissents(n: int, counts: tuple[int, ...]) -> Sequence[Dissent]:
    first, second, third = (n - count for count in counts)
    return possible_dissents(n, first, second, third)


def _in_words(ratings: MarginRatings) -> str:
    split = " ".join("[" + " ".join(str(label + 1) for label in labels) + "]" for labels in ratings.split)
    together = ", ".join(f"{count:,}" for count in ratings.unanimous)
    return f"{together} unanimous items of labels 1 to {len(ratings.unanimous)}" + (f" and {split}" if split else "")


def _listed(words: Sequence[object]) -> str:
    texts = [f"{word:,}" if isinstance(word, int) else str(word) for word in words]
    return ", ".join(texts[:-1]) + f" and {texts[-1]}"
