"""Figures of a detector of plateaus: of its answers alone, clustered, and undefined where nothing was asked or seen."""

from misstep_analysis.reflexive.paper.plateau import (
    ALL_PLATEAUS,
    NOTHING_SEEN,
    DetectorAnswers,
    PlateauAnswer,
    plateau_scores,
)
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.proportions import wilson


def _answers(*counts: tuple[str, str, bool, bool, int]) -> DetectorAnswers:
    """Cluster, kind, whether the same, whether flagged → how many such cases."""
    rows = [(cluster, kind, same, flagged) for cluster, kind, same, flagged, n in counts for _ in range(n)]
    return DetectorAnswers("words", tuple(PlateauAnswer(str(number), *row) for number, row in enumerate(rows)))


MIXED = _answers(
    ("disk", "order", True, True, 6),
    ("disk", "order", True, False, 2),
    ("disk", "like words", False, True, 2),
    ("mail", "order", True, True, 3),
    ("mail", "order", True, False, 5),
    ("mail", "like words", False, False, 7),
)


def test_precision_recall_and_false_alarms_are_shares_of_different_wholes() -> None:
    scores = plateau_scores(MIXED)
    assert (scores.precision.value, scores.precision.n) == (9 / 11, 11)
    assert (scores.recall.value, scores.recall.n) == (9 / 16, 16)
    assert (scores.false_alarms.value, scores.false_alarms.n) == (2 / 9, 9)
    assert scores.kinds["order"] == (True, scores.recall)


def test_intervals_are_over_clusters_and_wilsons_where_every_case_stands_for_itself() -> None:
    works = _answers(*((work, "order", True, right, 4) for work in "abcde" for right in (True, False)))
    assert plateau_scores(works).recall == korn_graubard([[4, 8]] * 5)
    alone = _answers(("a", "order", True, True, 1), ("b", "order", True, False, 1), ("c", "order", True, True, 1))
    assert plateau_scores(alone).recall == wilson(2, 3)


def test_what_has_no_whole_is_undefined_and_says_why() -> None:
    never = plateau_scores(_answers(("disk", "order", True, False, 4)))
    assert (never.precision.value, never.precision.reason) == (None, NOTHING_SEEN)
    assert never.recall.value == 0
    assert (never.false_alarms.value, never.false_alarms.reason) == (None, ALL_PLATEAUS)
