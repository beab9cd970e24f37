"""The items that a narrower interval takes are about right: intervals of so many further items have that width."""

from pathlib import Path

import numpy as np

from misstep.analysis.labels import Labels
from misstep.analysis.measures.agreement import agreement_report
from misstep.analysis.measures.agreement.rater_tables import width_finding, width_table


def drawn(items: int, seed: int) -> Labels:
    """Three raters, each right on four items of five and else guessing, over three labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    codes = np.where(rng.random((items, 3)) < 0.8, truth[:, None], rng.integers(0, 3, (items, 3)))
    return Labels("", [str(item) for item in range(items)], ["ann", "ben", "cat"], list("abc"), [], codes, [])


def test_every_coefficient_of_the_report_is_named_in_its_order() -> None:
    found = agreement_report(drawn(40, 0), "ordinal", resamples=100, width=0.2)
    goal = found.items_for_width
    assert goal is not None
    assert [one.coefficient for one in goal.coefficients] == [
        "fleiss_kappa",
        "krippendorff_alpha",
        "gwet_ac1",
        "gwet_ac2_linear",
        "gwet_ac2_quadratic",
    ]
    assert width_finding(found, goal).endswith("would narrow the interval of Krippendorff's alpha (ordinal) to 0.2.")
    assert len(width_table(found, goal).rows) == 15


def test_an_interval_that_is_narrow_enough_takes_no_more_items() -> None:
    found = agreement_report(drawn(100, 0), resamples=100, width=0.9)
    goal = found.items_for_width
    assert goal is not None
    assert goal.coefficients[0].more == 0
    assert width_finding(found, goal) == "The interval of Fleiss' kappa is no wider than 0.9 already."


def test_without_an_interval_the_reason_stands_there(tmp_path: Path) -> None:
    labels = Labels(str(tmp_path), ["1", "2"], ["ann", "ben"], ["a"], [], np.zeros((2, 2), dtype=np.int64), [])
    found = agreement_report(labels, resamples=100, width=0.1)
    goal = found.items_for_width
    assert goal is not None
    assert goal.coefficients[0].items is None
    assert width_finding(found, goal).startswith("It cannot be said how many items give Fleiss' kappa an interval 0.1")
