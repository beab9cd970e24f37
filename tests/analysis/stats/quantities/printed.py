"""Arithmetic of printed figures: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from misstep_analysis.stats.printed.audit import counts_that_print, denominators_that_print, steps_that_print


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


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "grim_percentage": percentages,
    "grim_means": means,
    "grim_denominators": denominators,
}
