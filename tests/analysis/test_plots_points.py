"""Points: what quality costs, and how often answers are right by their score."""

import pytest

from misstep_analysis.plots.points import cost_quality, reliability
from misstep_analysis.tables import Row
from misstep_harness.errors import UsageError
from tests.analysis.svg import description, shown


def runs(**accuracy: float | None) -> list[Row]:
    return [
        Row(
            name,
            value,
            None if value is None else value - 0.05,
            None if value is None else value + 0.05,
            90,
            unit="share",
        )
        for name, value in accuracy.items()
    ]


BINS = [Row("Score 0.5", 0.4, 0.3, 0.5, 30, unit="share"), Row("Score 1", 0.9, 0.8, 0.95, 1_200, unit="share")]
MEANS = {"Score 0.5": 0.5, "Score 1": 1.0}


def test_a_run_without_a_known_cost_is_not_drawn_and_never_stands_at_nothing():
    figure = cost_quality(runs(known=0.8, unknown=0.7), {"known": 0.1}, "Cost")
    assert "known" in shown(figure)
    assert "unknown" not in shown(figure)
    assert "unknown" not in description(figure)


def test_costs_that_differ_a_hundredfold_stand_on_a_logarithmic_axis():
    labels = shown(cost_quality(runs(a=0.8, b=0.7), {"a": 1.0, "b": 0.01}, "Cost"))
    assert {"$0.01", "$0.10", "$1.00"} <= set(labels)


def test_how_many_answers_have_a_score_stands_below_it():
    assert {"30", "1,200"} <= set(shown(reliability(BINS, MEANS, "Scores")))


def test_a_bin_without_a_mean_score_is_refused():
    with pytest.raises(UsageError, match="no mean score for 'Score 1'"):
        reliability(BINS, {"Score 0.5": 0.5}, "Scores")
