"""Whether a judge's figures hang on single families of tasks: kappa with each family left out, and each by itself."""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.coefficients import cohen
from misstep.analysis.stats.raters.patterns import distinct_rows


class _Family(Struct, frozen=True):
    """One family: the share of its cases judged right, unanswered as wrong, and kappa over all cases but these."""

    name: str
    right: Estimate
    kappa_without: float | None


class Families(Struct, frozen=True):
    """Kappa over all cases, unanswered as a label of their own, and what is left of it without each family."""

    kappa: float | None
    families: tuple[_Family, ...]

    @property
    def lowest(self) -> _Family | None:
        """Return the family without which kappa is lowest."""
        return min(self._known(), key=lambda one: one.kappa_without or 0.0, default=None)

    @property
    def highest(self) -> _Family | None:
        """Return the family without which kappa is highest."""
        return max(self._known(), key=lambda one: one.kappa_without or 0.0, default=None)

    def _known(self) -> list[_Family]:
        return [one for one in self.families if one.kappa_without is not None]


def left_out(sample: JudgedSample, clusters: Mapping[str, str]) -> Families:
    """Kappa with each family left out; no family where cases are of none, or of one."""
    known = sample.known
    of_verdicts = [clusters.get(one.item, f"item {one.item}") for one in sample.verdicts]
    names, of_item = np.unique(np.array(of_verdicts, dtype=str)[known], return_inverse=True)
    if not sample.units.clustered or len(names) < 2:
        return Families(None, ())
    gold, answers = sample.gold[known], sample.answers[known]
    pairs = distinct_rows(np.column_stack([gold, answers]))
    counts = np.zeros((len(names), len(pairs.items)))
    np.add.at(counts, (of_item, pairs.of_item), 1)
    everything = counts.sum(axis=0, keepdims=True)
    first, second = pairs.rows.T
    kappas = cohen(np.vstack([everything, everything - counts]), first, second, len(sample.labels) + 2)
    whole, *without = (None if np.isnan(kappa) else float(kappa) for kappa in kappas)
    hits, sizes = np.bincount(of_item, gold == answers), np.bincount(of_item)
    families = [
        _Family(str(name), wilson(int(right), int(n)), kappa)
        for name, right, n, kappa in zip(names, hits, sizes, without, strict=True)
    ]
    return Families(whole, tuple(sorted(families, key=lambda one: one.right.value or 0.0)))
