"""Wink's tables: what the printed counts give, and what the printed p-values imply."""

import math

import pytest
from scipy.stats import norm

from misstep_analysis.observer.paper import prevalence as wink
from misstep_analysis.tables import Row


def _recomputed(group: str = "") -> dict[str, Row]:
    return {row.quantity: row for row in wink.prevalence_table().rows if row.status and row.group == group}


def test_every_share_of_table_1_follows_from_its_count_and_the_total_of_the_caption() -> None:
    rows = _recomputed()
    table = [rows[name] for name in [*wink.CATEGORIES.values(), "Any of the four"]]
    assert [row.status for row in table] == ["reproduced"] * 5
    assert rows["Infinite loops"].value == pytest.approx(2232 / 42807)
    assert all(row.low < row.value < row.high for row in table)  # type: ignore[operator]


def test_the_total_of_the_text_differs_and_its_shares_are_not_held_against_the_paper() -> None:
    rows = [row for row in wink.prevalence_table().rows if row.group == "with the text's total, 42,920"]
    printed, total, *shares = rows
    assert (printed.printed, total.value, total.status) == ("42,920", 42_807, "differs")
    assert {row.figures for row in rows} == {("wink/prevalence.n.text",)}, "it is the total that does not fit"
    assert [row.status for row in shares] == [None] * 5, "the paper claims no share of this total"
    assert shares[0].value == pytest.approx(2232 / 42920)
    assert _recomputed()["Infinite loops"].figures == ("wink/prevalence.loops.share",)


def test_a_rounded_share_in_the_text_is_judged_at_its_own_digits() -> None:
    rows = _recomputed()
    assert rows["Any of the four, in the text"].status == "reproduced"
    assert rows["Any of the four, in the abstract"].status == "reproduced"


def test_the_findings_say_which_total_and_which_arms_fit() -> None:
    assert "7 of 7 printed shares" in wink.prevalence_table().finding
    assert "all 4 p-values fit arms of 5,827 to 6,917 trajectories" in wink.models_table().finding


def test_table_2_is_underdetermined_since_no_counts_are_printed() -> None:
    judged = [row for row in wink.models_table().rows if row.status]
    assert [row.status for row in judged] == ["underdetermined"] * 4
    assert all("How many cases either share is of is not printed" in row.reason for row in judged)


@pytest.mark.parametrize("name", ["Unrequested changes", "Tool call failure"])
def test_the_implied_size_gives_the_printed_p_value_when_it_is_put_back(name: str) -> None:
    rows = {row.quantity: row for row in wink.models_table().rows if row.group == name}
    first, second, printed = (float(rows[key].value or 0) for key in ("Sonnet 4.5", "Opus 4.5", "p-value"))
    size = rows["Size of each arm that gives this p-value"]
    assert isinstance(size.value, int)
    pooled = (first + second) / 2
    z = abs(first - second) / math.sqrt(2 * pooled * (1 - pooled) / size.value)
    assert 2 * norm.sf(z) == pytest.approx(printed, rel=1e-3)
    assert size.low < size.value < size.high  # type: ignore[operator]
