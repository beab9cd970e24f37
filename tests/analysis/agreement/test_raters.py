"""A rater at a time: with the majority of the others or not, labels given more or less often, items apart."""

from pathlib import Path

import numpy as np
import pytest

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.agreement import report as agreement
from misstep_analysis.agreement.page import (
    rater_tables,
    raters_table,
    use_finding,
    width_finding,
    width_table,
)
from misstep_analysis.agreement.report import RaterDissent, dissents, told_apart
from misstep_analysis.labels import Labels, read_labels
from misstep_analysis.stats.proportions import wilson

ROWS = ["item,ann,ben,cat,dan", "1,a,a,a,b", "2,a,b,b,b", "3,a,a,b,b", "4,,a,a,", "5,b,,,", "6,c,a,a,b"]


def report(folder: Path, lines: list[str]) -> AgreementReport:
    path = folder / "labels.csv"
    path.write_text("\n".join(lines) + "\n")
    return agreement_report(read_labels(path), resamples=50)


def test_a_rater_is_compared_with_the_label_that_leads_among_the_others(tmp_path: Path) -> None:
    ann = report(tmp_path, ROWS).by_rater[0]
    # Items 1 and 2 have a lead of a and of b, item 3 of b, item 6 of a; items 4 and 5 are not shared.
    assert (ann.rater, ann.n, ann.shared) == ("ann", 5, 4)
    assert ann.with_majority == wilson(1, 4)
    dan = report(tmp_path, ROWS).by_rater[3]
    # Of item 2 b leads, of items 1, 3 and 6 a does.
    assert dan.with_majority == wilson(1, 4)


def test_labels_are_compared_on_the_same_items_and_every_item_weighs_the_same(tmp_path: Path) -> None:
    ann = report(tmp_path, ROWS).by_rater[0]
    uses = {use.category: use for use in ann.labels}
    assert (uses["a"].share, uses["c"].share) == (3 / 4, 1 / 4)
    assert uses["a"].others == pytest.approx((2 / 3 + 0 + 1 / 3 + 2 / 3) / 4)
    assert uses["a"].difference.value == pytest.approx(3 / 4 - 5 / 12)
    assert sum(use.share for use in ann.labels) == pytest.approx(1)
    assert sum(use.others for use in ann.labels) == pytest.approx(1)


def test_a_rater_who_overuses_a_label_is_told_apart_and_one_like_the_others_is_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b"], 200)
    cells = [np.where(rng.random(200) < 0.9, truth, rng.permutation(truth)) for _ in range(3)]
    cells.append(np.where(rng.random(200) < 0.4, "a", truth))
    lines = [
        "item,ann,ben,cat,dan",
        *(",".join([str(row), *labels]) for row, labels in enumerate(zip(*cells, strict=True))),
    ]
    result = report(tmp_path, lines).by_rater
    assert use_finding(result[3]).startswith("Than the others on the same items, dan uses more often a (+")
    assert [use.category for use in told_apart(result[3])] == ["a", "b"]


def test_items_on_which_a_rater_stands_apart_are_those_that_count_against_the_majority(tmp_path: Path) -> None:
    result = report(tmp_path, ROWS)
    assert dissents(result, "ann") == [
        RaterDissent("2", "a", "b 3"),
        RaterDissent("3", "a", "b 2, a 1"),
        RaterDissent("6", "c", "a 2, b 1"),
    ]
    for rater in result.by_rater:
        share = rater.with_majority
        assert len(dissents(result, rater.rater)) == share.n - round(share.value * share.n)


def test_tables_of_a_rater_show_who_agrees_what_is_used_and_where_they_stand_apart(tmp_path: Path) -> None:
    result = report(tmp_path, ROWS)
    others, labels, items = rater_tables(result, result.by_rater[0], 1)
    assert others.finding == (
        "ann goes with the majority of the others on 25.0% (95% interval 4.6% to 69.9%) of the 4 items that have one."
    )
    assert list(dict.fromkeys(row.group for row in others.rows)) == ["ben", "cat", "dan"]
    assert list(dict.fromkeys(row.quantity for row in labels.rows)) == ["ann", "the others", "difference"]
    assert items.finding == "ann labels 3 items otherwise than the majority of the others."
    assert raters_table(result).finding == (
        "The share of items on which a rater goes with the majority of the others runs from 25.0% (ann) to 75.0% (cat)."
    )


def test_a_rater_without_a_shared_item_has_no_labels_to_compare(tmp_path: Path) -> None:
    result = report(tmp_path, ["item,ann,ben,cat", "1,a,a,", "2,b,b,", "3,,,c"])
    cat = result.by_rater[2]
    assert (cat.n, cat.shared, cat.labels) == (1, 0, [])
    assert [table.name for table in rater_tables(result, cat, 3)] == ["rater_3"]


def test_more_than_can_be_counted_in_time_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MOST_CELLS", 10)
    assert report(tmp_path, ROWS).by_rater == []


def drawn(items: int, seed: int) -> Labels:
    """Three raters, each right on four items of five and else guessing, over three labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    codes = np.where(rng.random((items, 3)) < 0.8, truth[:, None], rng.integers(0, 3, (items, 3)))
    return Labels("", [str(item) for item in range(items)], ["ann", "ben", "cat"], list("abc"), [], codes, [])


def test_every_coefficient_of_the_report_is_named_in_its_order() -> None:
    result = agreement_report(drawn(40, 0), "ordinal", resamples=100, width=0.2)
    goal = result.items_for_width
    assert [one.coefficient for one in goal.coefficients] == [
        "fleiss_kappa",
        "krippendorff_alpha",
        "gwet_ac1",
        "gwet_ac2_linear",
        "gwet_ac2_quadratic",
    ]
    assert width_finding(result, goal).endswith("would narrow the interval of Krippendorff's alpha (ordinal) to 0.2.")
    assert len(width_table(result, goal).rows) == 15


def test_an_interval_that_is_narrow_enough_takes_no_more_items() -> None:
    result = agreement_report(drawn(100, 0), resamples=100, width=0.9)
    goal = result.items_for_width
    assert goal.coefficients[0].more == 0
    assert width_finding(result, goal) == "The interval of Fleiss' kappa is no wider than 0.9 already."


def test_without_an_interval_the_reason_stands_there(tmp_path: Path) -> None:
    labels = Labels(str(tmp_path), ["1", "2"], ["ann", "ben"], ["a"], [], np.zeros((2, 2), dtype=np.int64), [])
    result = agreement_report(labels, resamples=100, width=0.1)
    goal = result.items_for_width
    assert goal.coefficients[0].items is None
    assert width_finding(result, goal).startswith("It cannot be said how many items give Fleiss' kappa an interval 0.1")
