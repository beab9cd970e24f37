"""Average precision, equal scores together, for many sets of weights at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from misstep.analysis.stats.ranking import average_precision
from misstep.harness.errors import UsageError

ITEMS = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(ITEMS)
def test_it_is_what_scikit_learn_computes_with_weights(items: list[tuple[int, bool, int]]) -> None:
    scores, positive, weights = (np.array(column) for column in zip(*items, strict=True))
    (found,) = average_precision(scores, positive, [weights])
    if (weights * positive).sum() == 0:
        assert np.isnan(found)
    else:
        kept = weights > 0
        expected = average_precision_score(positive[kept], scores[kept], sample_weight=weights[kept])
        assert found == pytest.approx(expected)


def test_a_score_that_says_nothing_has_the_share_of_positives() -> None:
    assert average_precision([1, 1, 1, 1], [True, False, False, False], [[1, 1, 1, 1], [2, 1, 1, 0]]).tolist() == [
        0.25,
        0.5,
    ]


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(UsageError, match="2 scores but 1 labels and 2 weights"):
        average_precision([0.1, 0.2], [True], [[1, 1]])
