"""Arithmetic of printed figures: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

from misstep.analysis.stats.printed.audit import counts_that_print, denominators_that_print, steps_that_print
from misstep.analysis.stats.printed.reconstruction import Measure, reconstruct
from misstep.analysis.stats.raters.rater_margins import MarginRatings, possible_dissents, possible_ratings

MEASURES: dict[str, Measure] = {"acc": "accuracy", "prec": "precision", "rec": "recall", "kappa": "kappa"}


def percentages(given: dict[str, Any]) -> dict[str, Any]:
    counts = counts_that_print(given["percentage"], given["n"])
    return {
        "counts": list(counts),
        "consistent": bool(counts),
    }


def means(given: dict[str, Any]) -> dict[str, Any]:
    pairs = zip(given["mean"], given["n"], strict=True)
    return {"consistent": [bool(steps_that_print(mean, Fraction(1, n * given["items"]))) for mean, n in pairs]}


def denominators(given: dict[str, Any]) -> dict[str, Any]:
    fitting = denominators_that_print(given["percentage"], given["n_max"])
    return {"n_to_counts": {str(n): list(counts) for n, counts in fitting.items()}}


def tables(given: dict[str, Any]) -> dict[str, Any]:
    printed = {MEASURES[name]: digits for name, digits in given.items() if name in MEASURES}
    result = reconstruct(given["N"], printed, given.get("n_pos"))
    assert result.complete
    return {
        "n_solutions": len(result.tables),
        "solutions_tp_fp_fn_tn": [[table.tp, table.fp, table.fn, table.tn] for table in result.tables],
    }


def margins(given: dict[str, Any]) -> dict[str, Any]:
    disagreements = [given["pair_disagreements"][pair] for pair in ("A1_A2", "A1_A3", "A2_A3")]
    (dissent,) = possible_dissents(given["n_items"], *disagreements)
    first_second, first_third, second_third = given["printed"]["cohen"]
    printed = {"first_second": first_second, "first_third": first_third, "second_third": second_third}
    two, three, four = (
        possible_ratings(dissent, {**printed, "fleiss": given["printed"]["fleiss"]}, categories)  # type: ignore[dict-item]
        for categories in given["categories"]
    )
    distinct = {result.unanimous for result in four.ratings}
    largest = [counts[0] for counts in distinct]
    return {
        "two_categories_solutions": two.labelled,
        "three_categories_solutions_labelled": three.labelled,
        "three_categories_unanimous_counts_sorted": descending({result.unanimous for result in three.ratings}),
        "three_categories_only_one_pair_confused": len(one_pair_confused(three.ratings)),
        "four_categories_solutions_labelled": four.labelled,
        "four_categories_unanimous_counts_sorted_distinct": len(distinct),
        "four_categories_largest_unanimous_count_range": [min(largest), max(largest)],
        "four_categories_only_one_pair_confused_unanimous_counts": one_pair_confused(four.ratings),
    }


def descending(counts: set[tuple[int, ...]]) -> list[list[int]]:
    return [list(each) for each in sorted(counts, reverse=True)]


def one_pair_confused(ratings: tuple[MarginRatings, ...]) -> list[list[int]]:
    """The unanimous counts where only two categories are ever confused, those two first, under every naming."""
    named = {
        order
        for result in ratings
        if len(result.confused) == 2
        for pair in permutations(sorted(result.confused))
        for rest in permutations(sorted(set(range(len(result.unanimous))) - result.confused))
        for order in [tuple(result.unanimous[category] for category in (*pair, *rest))]
    }
    return [list(counts) for counts in sorted(named, key=lambda counts: (-counts[0], counts))]


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "grim_percentage": percentages,
    "grim_means": means,
    "grim_denominators": denominators,
    "confusion_reconstruction": tables,
    "annotation_study_feasible_marginals": margins,
}
