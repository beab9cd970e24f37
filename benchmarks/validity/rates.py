"""A rate over samples of known truth: coverage of an interval, or rejection by a test without a difference."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance

Result = TypeVar("Result")
Kind = Literal["coverage", "type I error", "power"]

ALPHA = 0.05
NOMINAL: dict[Kind, float] = {"coverage": 1 - ALPHA, "type I error": ALPHA, "power": 0.8}

TOLERATED: dict[Kind, tuple[float, float]] = {"coverage": (0.93, 0.97), "type I error": (0.03, 0.06), "power": (0.8, 1)}
"""What passes for nominal; a reader sees the rate itself beside the verdict."""


class Rate(Struct, frozen=True):
    """How often something happened over samples that cover the chances, or over drawn ones.

    `samples` is `None` without simulation error. `undefined` is the share of samples without an interval or p-value:
    coverage is over the others, rejection over all.
    """

    what: Kind
    method: str
    setting: str
    rate: float
    samples: int | None = None
    undefined: float = 0.0
    width: float | None = None

    @property
    def error(self) -> float | None:
        """Return the standard error of a drawn rate."""
        if self.samples is None:
            return None
        defined = self.samples * (1 - self.undefined) if self.what == "coverage" else self.samples
        return sqrt(self.rate * (1 - self.rate) / defined) if defined else None

    @property
    def verdict(self) -> str:
        """Return whether the rate is nominal, beyond three simulation errors."""
        low, high = TOLERATED[self.what]
        slack = 3 * (self.error or 0.0)
        if low - slack <= self.rate <= high + slack:
            return "nominal"
        if self.what == "power":
            return "weak"
        if self.what == "coverage":
            return "too short" if self.rate < low else "wider than needed"
        return "too eager" if self.rate > high else "too careful"


def coverage(
    method: str, setting: str, truth: float, intervals: Sequence[Estimate], chances: npt.ArrayLike | None = None
) -> Rate:
    """Return how often the intervals hold the truth: over drawn samples, or over all samples with their chances."""
    low, high = (
        np.array([np.nan if end is None else end for end in ends])
        for ends in ([each.low for each in intervals], [each.high for each in intervals])
    )
    weights = np.full(len(low), 1 / len(low)) if chances is None else np.asarray(chances, dtype=np.float64)
    defined = ~np.isnan(low)
    weight = float(weights[defined].sum())
    inside = (low <= truth + 1e-12) & (high >= truth - 1e-12) & defined
    width = float(weights[defined] @ (high - low)[defined]) / weight if weight else None
    rate = float(weights[inside].sum()) / weight if weight else float("nan")
    # Sums of chances miss 1 by their own rounding.
    missing = 1 - weight if weight < 1 - 1e-9 else 0.0
    return Rate("coverage", method, setting, rate, None if chances is not None else len(low), missing, width)


def rejections(method: str, setting: str, tests: Sequence[Significance], chances: npt.ArrayLike | None = None) -> Rate:
    """How often a test rejects at 5%: over drawn samples, or over all samples; an undefined test does not reject."""
    p_values = np.array([np.nan if test.p_value is None else test.p_value for test in tests])
    weights = np.full(len(p_values), 1 / len(p_values)) if chances is None else np.asarray(chances, dtype=np.float64)
    rejected = p_values <= ALPHA
    return Rate(
        "type I error",
        method,
        setting,
        float(weights[rejected].sum()),
        None if chances is not None else len(p_values),
        float(weights[np.isnan(p_values)].sum()),
    )


def of_distinct(samples: npt.NDArray[np.int64], function: Callable[..., Result]) -> list[Result]:
    """Return a function of each sample's numbers, computed once for samples that are alike."""
    distinct, places = np.unique(samples, axis=0, return_inverse=True)
    results = [function(*row) for row in distinct.tolist()]
    return [results[place] for place in places.ravel()]
