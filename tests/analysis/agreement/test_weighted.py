"""Near misses on a scale count in part: weighted kappa of pairs and Gwet's AC2 of all raters, with intervals."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.labels import read_labels
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters import coefficients

SCALE = ["low", "mid", "high"]


def scored(seed: int, items: int, near: float = 0.6) -> list[list[int]]:
    """Scores from 0 to 4 by three raters, most of them near the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, items)
    shifts = rng.choice([-1, 0, 1], size=(3, items), p=[(1 - near) / 2, near, (1 - near) / 2])
    return np.clip(truth + shifts, 0, 4).tolist()


def report(path: Path, columns: list[list[int]], boot: int) -> AgreementReport:
    rows = "".join(f"{item},{','.join(map(str, row))}\n" for item, row in enumerate(zip(*columns, strict=True)))
    path.write_text(f"item,{','.join(f'r{place}' for place in range(len(columns)))}\n{rows}")
    order = [str(score) for score in range(5)]
    return agreement_report(read_labels(path, level="ordinal", order=order), "ordinal", boot)


@pytest.mark.parametrize("boot", [0, 400])
def test_weighted_kappas_are_those_of_scikit_learn(tmp_path: Path, boot: int) -> None:
    columns = scored(1, 80)
    for pair in report(tmp_path / "labels.csv", columns, boot).pairs:
        first, second = (columns[int(name[1:])] for name in pair.raters)
        assert pair.weighted_kappa is not None
        for kind in ("linear", "quadratic"):
            estimate: Estimate = getattr(pair.weighted_kappa, kind)
            assert estimate.value == pytest.approx(cohen_kappa_score(first, second, weights=kind, labels=range(5)))
            assert estimate.low < estimate.value < estimate.high


def test_ac2_is_what_its_definition_gives_by_hand(tmp_path: Path) -> None:
    # Pairs low/low, low/mid, mid/high, high/high: shares 3/8, 2/8, 3/8, so that the sum of p(1 - p) is 21/32.
    # Linear weights sum to 5, and chance is 5/6 · 21/32 = 35/64; observed (1 + 1/2 + 1/2 + 1)/4 = 3/4: 13/29.
    # Quadratic weights sum to 6, and chance is 21/32; observed (1 + 3/4 + 3/4 + 1)/4 = 7/8: 7/11.
    path = tmp_path / "labels.csv"
    path.write_text("item,ann,ben\n1,low,low\n2,low,mid\n3,mid,high\n4,high,high\n")
    for boot in (0, 100):
        result = agreement_report(read_labels(path, level="ordinal", order=SCALE), "ordinal", boot).gwet_ac2
        assert (result.linear.value, result.quadratic.value) == (pytest.approx(13 / 29), pytest.approx(7 / 11))


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=8))
def test_ac2_with_weights_of_full_agreement_alone_is_ac1(rows: list[list[int]]) -> None:
    counts, sets = np.array(rows), np.ones((1, len(rows)))
    ac1, ac2 = coefficients.gwet(sets, counts), coefficients.gwet(sets, counts, np.eye(4))
    assert np.array_equal(ac1, ac2, equal_nan=True)


def test_names_have_no_weights(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,ann,ben\n1,a,b\n2,b,b\n")
    result = agreement_report(read_labels(path), resamples=10)
    assert result.gwet_ac2 is None
    assert result.pairs[0].weighted_kappa is None


def test_raters_who_share_no_item_have_a_reason_instead_of_weighted_figures(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,ann,ben\n1,1,\n2,,2\n")
    result = agreement_report(read_labels(path, level="ordinal"), "ordinal", 10)
    assert result.gwet_ac2.linear == Estimate(None, n=2, reason="no item has two ratings")
    assert result.pairs[0].weighted_kappa.linear.reason == "the two raters share no item"
