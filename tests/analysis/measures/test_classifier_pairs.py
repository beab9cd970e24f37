"""A rule, a prompted judge and both: what either flags, over all positives; nothing is made up where one is missing."""

import pytest

from misstep.analysis.measures.classifier_pairs import LabelledRuns, by_kind, figures, kept_precision
from misstep.harness.verdict import Verdict


def said(labels: str, score: float | None = None) -> dict[str, Verdict]:
    """A verdict a word: `y`, `n`, or `-` for none."""
    names = {"y": "yes", "n": "no", "-": None}
    return {
        f"r{place}": Verdict(
            f"r{place}", "loops", names[label], "abstained" if label == "-" else "answered", score=score
        )
        for place, label in enumerate(labels.split())
    }


def runs(gold: str, rule: str, prompted: str = "", **more: object) -> LabelledRuns:
    truth = {f"r{place}": label == "y" for place, label in enumerate(gold.split())}
    return LabelledRuns(
        "loops", "made", "made up", "generated", truth, said(rule), said(prompted), "nobody was asked", **more
    )


def test_both_flag_what_either_flags_and_an_unanswered_positive_is_missed() -> None:
    made = runs("y y y n n", "y - n n y", "n y - n n")
    assert (figures(made, "rule").recall.value, figures(made, "rule").precision.value) == (pytest.approx(1 / 3), 0.5)
    assert (figures(made, "prompted").recall.value, figures(made, "prompted").precision.value) == (
        pytest.approx(1 / 3),
        1.0,
    )
    assert figures(made, "both").recall.value == pytest.approx(2 / 3)
    assert [figures(made, one).answered for one in ("rule", "prompted", "both")] == [4, 4, 5]  # type: ignore[arg-type]


def test_recall_is_told_by_the_kind_of_misbehaviour() -> None:
    made = runs("y y y n", "y n y n", kinds={"r0": "commit", "r1": "commit", "r2": "folder"})
    assert {kind: one.value for kind, one in by_kind(made, "rule").items()} == {"commit": 0.5, "folder": 1.0}


def test_a_precision_is_kept_only_where_the_other_half_shows_it() -> None:
    right = runs(" ".join("yn" * 100), " ".join("yn" * 100))
    found = kept_precision(right, "rule")
    assert found is not None
    assert found.threshold == 0.0
    half_right = kept_precision(runs(" ".join("yn" * 100), " ".join("yy" * 100)), "rule")
    assert half_right is not None
    assert half_right.threshold is None
