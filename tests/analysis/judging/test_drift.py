"""A change is split into the judge's part and the system's; anchors alone tell which is which."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.judging.drift import (
    NO_ANCHORS,
    ONE_ANSWER,
    JudgedText,
    drift,
    drift_finding,
    drift_table,
)


def run(name: str, shows: Sequence[int], size: int = 1) -> list[JudgedText]:
    return [JudgedText(f"{name}{place}", bool(one), f"{name}{place // size}") for place, one in enumerate(shows)]


OLD = run("a", [1] * 20 + [0] * 80)
ANCHORS = run("a", [0] * 5 + [1] * 15 + [0] * 64 + [1] * 16)
"""The old items again: the judge takes back a quarter of what it showed, and shows a fifth of the rest."""


def test_the_matrix_of_the_anchors_is_applied_to_all_old_items() -> None:
    anchors = [one for one, place in zip(ANCHORS, range(100), strict=True) if place % 2 == 0]
    lost, gained = 3 / 10, 8 / 40
    result = drift(OLD, anchors + run("b", [1] * 40 + [0] * 60), {one.text for one in anchors})
    again = 0.2 * (1 - lost) + 0.8 * gained
    assert (result.anchors, result.lost.value, result.gained.value) == (50, lost, gained)
    assert result.judge.value == pytest.approx(again - 0.2)
    assert result.system.value == pytest.approx(0.4 - again)
    assert result.without_judge.value == pytest.approx(0.4 - (again - 0.2))


def test_controls_are_no_part_of_the_new_figure_and_repeated_items_are() -> None:
    new = OLD[:50] + run("b", [1] * 50)
    assert drift(OLD, new, {one.text for one in OLD}).new == drift(OLD, run("b", [1] * 50)).new
    assert drift(OLD, new).new.value == 0.7


def test_if_both_runs_judged_the_same_texts_the_whole_change_is_the_judges() -> None:
    result = drift(OLD, ANCHORS)
    assert result.same
    assert result.system.value == 0
    assert (result.judge.value, result.judge.low) == pytest.approx((result.total.value, result.total.low))
    assert "the whole change is the judge's" in drift_finding("Accuracy", ("old", "new"), result)


def test_anchors_that_never_change_leave_room_for_a_change() -> None:
    result = drift(OLD, OLD[10:40] + run("b", [1] * 50), {one.text for one in OLD})
    assert result.judge.value == 0
    assert result.judge.low < 0 < result.judge.high
    assert "The system changed; a change of the judge is not shown." in drift_finding("F", ("a", "b"), result)


def test_without_anchors_no_part_is_known_and_the_number_to_keep_is_enough_for_any_judge() -> None:
    result = drift(OLD, run("b", [1] * 30 + [0] * 70))
    assert (result.judge.reason, result.judge.value, result.anchors_needed) == (NO_ANCHORS, None, 385)
    assert result.total.low < 0.1 < result.total.high
    assert "Keep 385 anchors" in drift_finding("F", ("a", "b"), result)
    assert drift(OLD, OLD[:10] + run("b", [1] * 5)).judge.reason == ONE_ANSWER


def test_so_many_anchors_give_the_judges_part_to_five_points() -> None:
    few = drift(OLD, ANCHORS[::2], {one.text for one in OLD})
    many = round(few.anchors_needed / few.anchors)
    old, again = (run("a", [one.shows for one in items] * many) for items in (OLD, ANCHORS))
    result = drift(old, again[::2], {one.text for one in old})
    assert not few.enough
    assert (result.judge.high - result.judge.low) / 2 == pytest.approx(0.05, rel=0.15)


def test_items_of_one_trajectory_widen_the_interval() -> None:
    alone, together = (
        drift(run("a", [1] * 40 + [0] * 60, size), run("b", [1] * 60 + [0] * 40, size)) for size in (1, 10)
    )
    assert together.total.high - together.total.low > 1.5 * (alone.total.high - alone.total.low)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40), st.booleans())
def test_the_parts_add_up_to_the_change(items, controls: bool) -> None:
    old = run("a", [shows for shows, _, _ in items])
    again = [JudgedText(f"a{place}", one, "x") for place, (_, one, both) in enumerate(items) if both]
    new = again + run("b", [1, 0, 0])
    result = drift(old, new, {one.text for one in again} if controls else ())
    assert result.total.value == pytest.approx(result.new.value - result.old.value)
    if result.judge.value is not None and result.system.value is not None:
        assert result.judge.value + result.system.value == pytest.approx(result.total.value)


def test_of_equal_texts_each_is_an_anchor_once() -> None:
    twice = [JudgedText("same", True, "a"), JudgedText("same", False, "b")]
    assert drift(twice, [*twice, JudgedText("same", True, "c")]).anchors == 2


def test_the_table_has_a_group_for_each_later_run_and_the_finding_of_the_last() -> None:
    table = drift_table("Accuracy", "old", {"mid": drift(OLD, ANCHORS), "new": drift(OLD, OLD)}, "made")
    assert list(dict.fromkeys(row.group for row in table.rows)) == ["mid", "new"]
    assert table.finding.startswith("Accuracy is not shown to have changed: +0.0 pp")
    assert table.finding.endswith("any change is the judge's.")
    gone = [JudgedText(one.text, False, one.cluster) for one in OLD]
    shown = drift_table("Accuracy", "old", {"new": drift(OLD, gone)}, "made").finding
    assert shown.startswith("Accuracy changed by −20.0 pp")
    assert shown.endswith("the whole change is the judge's.")
