"""Agreement with its intervals: by resampling where that is quick, else by standard errors."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from misstep_analysis.stats.decisions.power import items_for_width
from misstep_analysis.stats.estimate import Coefficient, Estimate
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa, gwet_ac
from misstep_analysis.stats.raters.coefficients import (
    NO_DISAGREEMENT,
    ONE_CATEGORY,
    ONE_CATEGORY_SCALE,
    Level,
    Weighting,
)
from misstep_analysis.stats.raters.kappa_errors import jackknife_error
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, bootstrapped

MOST_DRAWS = 20_000_000
"""Cells drawn for a bootstrap: about two seconds; beyond that, standard errors."""

TOO_MANY = "; there are too many rating patterns to resample"

BOOTSTRAP = "percentile bootstrap"
GWET = "standard error of Gwet (2014), t interval"
COHEN = "standard error of Fleiss, Cohen and Everitt (1969), normal interval"
JACKKNIFE = "jackknife over groups of items, normal interval"


def weightings(level: Level) -> tuple[Weighting, ...]:
    """How near misses count at a level, besides not at all: linearly and quadratically where labels have an order."""
    return ("linear", "quadratic") if level == "ordinal" else ()


def may_resample(cells: int, resamples: int) -> bool:
    """Return whether resamples are asked for and so many cells can be drawn for each within a few seconds."""
    return 0 < cells * resamples <= MOST_DRAWS


class Cells(Struct, frozen=True):
    """The cells in use of two raters' contingency table."""

    first: IntArray
    second: IntArray
    items: IntArray
    categories: int

    @property
    def n(self) -> int:
        """Return the items that both labelled."""
        return int(self.items.sum())

    @property
    def agreement(self) -> float:
        """Return the share of these that they label alike."""
        return float(self.items[self.first == self.second].sum() / self.n)

    def by_bootstrap(self, weightings: Sequence[Weighting], resamples: int, rng: np.random.Generator) -> list[Estimate]:
        """Cohen's kappa with each weighting, with a percentile interval; all from the same resamples."""
        weights = [_weights(self.categories, weighting) for weighting in weightings]

        def kappas(sets: FloatArray) -> FloatArray:
            return np.column_stack(
                [coefficients.cohen(sets, self.first, self.second, self.categories, one) for one in weights]
            )

        figures = kappas(_one_set(self.items))[0]
        drawn = bootstrap(kappas, self.items, resamples, rng)
        return [
            bootstrapped(float(value), values, self.n, ONE_CATEGORY)
            for value, values in zip(figures, drawn.T, strict=True)
        ]

    def by_formula(self, weightings: Sequence[Weighting], why: str) -> list[Estimate]:
        """Cohen's kappa with each weighting, with a normal interval; `why` no bootstrap, to stand behind the method."""
        table = np.zeros((self.categories, self.categories), dtype=np.int64)
        table[self.first, self.second] = self.items
        kappas = [cohen_kappa(table, weighting) for weighting in weightings]
        return [kappa.estimate(kappa.z_interval(), COHEN + why) for kappa in kappas]


class Ratings(Struct, frozen=True):
    """Items with at least one rating, by how often each category was given to them.

    - `counts`: Patterns x categories.
    - `of_item`: Items: the pattern of each.
    - `level`, `values`: What Krippendorff's alpha takes the categories for, and their numbers.
    """

    counts: IntArray
    items: IntArray
    of_item: IntArray
    level: Level
    values: FloatArray

    @property
    def n(self) -> int:
        """Return the number of items."""
        return int(self.items.sum())

    @property
    def categories(self) -> int:
        """Return the number of categories."""
        return int(self.counts.shape[1])

    @property
    def weightings(self) -> tuple[Weighting, ...]:
        """Return how near misses count at this level, besides not at all."""
        return weightings(self.level)

    @property
    def pairable(self) -> int:
        """Return the items with two ratings or more."""
        return int(self.items[self.counts.sum(axis=1) >= 2].sum())

    def figures(self, sets: FloatArray) -> FloatArray:
        """Fleiss' kappa, Krippendorff's alpha, AC1, the kappa of each category, and AC2 where the level has weights."""
        return np.column_stack(
            [
                coefficients.fleiss(sets, self.counts),
                self._alpha(sets),
                coefficients.gwet(sets, self.counts),
                coefficients.fleiss_by_category(sets, self.counts),
                *(coefficients.gwet(sets, self.counts, _weights(self.categories, one)) for one in self.weightings),
            ]
        )

    def by_bootstrap(self, resamples: int, rng: np.random.Generator) -> list[Estimate]:
        """Return the figures, each with a percentile interval."""
        figures = self.figures(_one_set(self.items))[0]
        drawn = bootstrap(self.figures, self.items, resamples, rng)
        units = [self.n, self.pairable] + [self.n] * (len(figures) - 2)
        reasons = [ONE_CATEGORY, NO_DISAGREEMENT, ONE_CATEGORY_SCALE] + [ONE_CATEGORY] * self.categories
        reasons += [ONE_CATEGORY_SCALE] * len(self.weightings)
        return [
            bootstrapped(float(value), values, n, reason)
            for value, values, n, reason in zip(figures, drawn.T, units, reasons, strict=True)
        ]

    def by_formula(self, seed: int, why: str) -> list[Estimate]:
        """Return the figures with intervals by standard errors; `seed` forms the groups of the jackknife of alpha."""
        fleiss, gwet = fleiss_kappa(self.counts, self.items).overall, gwet_ac(self.counts, items=self.items)
        alpha = self._alpha_with_error(seed)
        estimates = [
            fleiss.estimate(fleiss.t_interval(), GWET + why),
            alpha.estimate(alpha.z_interval(), JACKKNIFE + why),
            gwet.estimate(gwet.t_interval(), GWET + why),
        ]
        ratings = self.counts.sum(axis=1)
        for category in self.counts.T:
            against = distinct_rows(np.column_stack([category, ratings - category]))
            repeats = np.bincount(against.of_item, weights=self.items).astype(np.int64)
            kappa = fleiss_kappa(against.rows, repeats).overall
            estimates.append(kappa.estimate(kappa.t_interval(), GWET + why))
        weighted = [gwet_ac(self.counts, weighting, self.items) for weighting in self.weightings]
        return estimates + [one.estimate(one.t_interval(), GWET + why) for one in weighted]

    def _alpha(self, sets: FloatArray) -> FloatArray:
        return coefficients.alpha(sets, self.counts, self.level, self.values)

    def _alpha_with_error(self, seed: int) -> Coefficient:
        value = float(self._alpha(_one_set(self.items))[0])
        if np.isnan(value):
            return Coefficient(None, n=self.pairable, reason=NO_DISAGREEMENT)
        error = jackknife_error(self._alpha, self.items, self.of_item, seed)
        return Coefficient(value, se=None if np.isnan(error) else error, n=self.pairable)


def _weights(categories: int, weighting: Weighting) -> FloatArray | None:
    return None if weighting == "unweighted" else coefficients.similarity(categories, weighting)


def _one_set(items: IntArray) -> FloatArray:
    return items[None, :].astype(np.float64)


class ItemsNeeded(Struct, frozen=True):
    """A coefficient's interval now, how many items it would take in all, and how many of these are to come."""

    coefficient: str
    interval_width: float | None
    items: int | None
    more: int | None
    reason: str = ""


class WidthGoal(Struct, frozen=True):
    """The width that is wished for, and what it takes for each coefficient: approximate numbers."""

    width: float
    coefficients: list[ItemsNeeded]


def width_goal(estimates: Mapping[str, Estimate], width: float) -> WidthGoal:
    """Return what it takes for every coefficient to have an interval of this width."""
    goal = WidthGoal(width, [])
    for name, one in estimates.items():
        items = items_for_width(one, width)
        needed = ItemsNeeded(name, None, None, None, one.reason or "it has no interval")
        if items is not None and one.low is not None and one.high is not None:
            needed = ItemsNeeded(name, one.high - one.low, items, max(0, items - (one.n or 0)))
        goal.coefficients.append(needed)
    return goal
