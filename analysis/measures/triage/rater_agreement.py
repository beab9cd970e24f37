"""Agreement of the raters of an annotation study, as AutoTriage's table 2 gives it: raw agreement and kappa."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.labels import Labels
from misstep.analysis.measures.agreement import AgreementReport
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.patterns import MISSING
from misstep.analysis.tables import Evidence, Row, estimate_row

ALL = "All raters"
AGREEMENT = "Raw agreement"
KAPPA = "Kappa"


class RaterAgreement(Struct, frozen=True):
    """Raw agreement and kappa of two raters, Cohen's; or of all of them, Fleiss', with the share of agreeing pairs."""

    raters: tuple[str, ...]
    agreement: Estimate
    kappa: Estimate


def rater_agreement(labels: Labels, report: AgreementReport) -> tuple[RaterAgreement, ...]:
    """Return all raters first, then each pair.

    The share over all pairs has Korn and Graubard's interval over items, as the pairs of one item hang together; that
    of two raters has Wilson's.
    """
    clusters = [_pairs(codes) for codes in labels.codes]
    together = Estimate(None, n=0, reason="no item has labels of two raters")
    if any(n for _, n in clusters):
        together = korn_graubard(clusters)
    pairs = (
        RaterAgreement(
            pair.raters,
            Estimate(None, n=0, reason="the two raters share no item")
            if pair.agreement is None
            else wilson(round(pair.agreement * pair.n), pair.n),
            pair.cohen_kappa_interval,
        )
        for pair in report.pairs
    )
    return RaterAgreement((), together, report.fleiss_kappa), *pairs


def agreement_rows(found: Sequence[RaterAgreement], source: str, evidence: Evidence) -> tuple[Row, ...]:
    """Return the figures as rows, under the names of the raters; `source` is what they are measured on."""
    return tuple(
        row
        for one in found
        for row in (
            estimate_row(AGREEMENT, one.agreement, "share", _named(one), source, evidence),
            estimate_row(KAPPA, one.kappa, "coefficient", _named(one), source, evidence),
        )
    )


def _named(one: RaterAgreement) -> str:
    return " and ".join(one.raters) or ALL


def _pairs(codes: Sequence[int]) -> tuple[int, int]:
    """Return how many of the pairs of an item's ratings agree, of how many."""
    counts = np.bincount([code for code in codes if code != MISSING] or [0])
    n = int(sum(code != MISSING for code in codes))
    return (int((counts * (counts - 1)).sum()) // 2 if n else 0), n * (n - 1) // 2
