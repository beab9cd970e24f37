"""A judge's count put right by the items that also carry gold labels, and how far that may still be off."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.clusters.clustered import ONE_CLUSTER
from misstep.analysis.stats.correction import OUTSIDE_BEFORE_CUT, powered_share
from misstep.analysis.stats.estimate import FLAT
from misstep.analysis.stats.proportions import clopper_pearson


def counted(x: int, n: int) -> list[tuple[int, int]]:
    """Items that stand for themselves: so many of one kind, so many in all."""
    return [(1, 1)] * x + [(0, 1)] * (n - x)


def test_a_judge_without_an_error_on_twenty_labels_may_still_err_on_a_sixth_of_the_items() -> None:
    found = powered_share(counted(3_000, 10_000), counted(0, 20), counted(0, 20))
    unseen = clopper_pearson(0, 20).high or 0.0
    assert found.value == 0.3
    assert found.low == pytest.approx(0.3 - unseen, abs=0.001)
    assert found.high == pytest.approx(0.3 + unseen, abs=0.001)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(1, 1), (0.97, 1), (0.9, 0.98), (0.75, 0.9)])
@pytest.mark.parametrize("labelled", [10, 20, 40])
@pytest.mark.parametrize("prevalence", [0.02, 0.3])
def test_the_interval_holds_the_truth_with_few_labels(
    prevalence: float, labelled: int, sensitivity: float, specificity: float
) -> None:
    rng = np.random.default_rng(20_260_101)
    missed, wrong = prevalence * (1 - sensitivity), (1 - prevalence) * (1 - specificity)
    flagged = prevalence - missed + wrong
    held = 0
    for _ in range(200):
        errors = rng.multinomial(labelled, [missed, wrong, 1 - missed - wrong])
        found = powered_share(
            counted(int(rng.binomial(400, flagged)), 400),
            counted(int(errors[0]), labelled),
            counted(int(errors[1]), labelled),
        )
        assert found.low is not None
        assert found.high is not None
        held += found.low - 1e-12 <= prevalence <= found.high + 1e-12
    assert held >= 200 * 0.95 - 3 * (200 * 0.95 * 0.05) ** 0.5


@given(st.integers(0, 30), st.integers(0, 15), st.integers(0, 15))
def test_the_interval_holds_its_estimate_and_lies_within_0_and_1(flagged: int, missed: int, wrong: int) -> None:
    found = powered_share(counted(flagged, 30), counted(missed, 30), counted(wrong, 30))
    assert found.value is not None
    if found.low is None or found.high is None:
        assert found.value in (0, 1)
        assert found.reason.endswith(FLAT)
    else:
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.reason.startswith(OUTSIDE_BEFORE_CUT) == (not 0 <= round((flagged + missed - wrong) / 30, 9) <= 1)


def test_clusters_widen_the_interval_to_that_of_as_many_items() -> None:
    alone = powered_share(counted(40, 100), counted(0, 20), counted(0, 20))
    together = powered_share([(2 * x, 2 * n) for x, n in counted(40, 100)], [(0, 2)] * 20, [(0, 2)] * 20)
    assert together.low == pytest.approx(alone.low, abs=0.01)
    assert powered_share([(1, 2)], [(0, 2)], [(0, 2)]).reason == ONE_CLUSTER
