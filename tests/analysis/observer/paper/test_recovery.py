"""Wink's recoveries and interventions: rates, differences, control arm, judge, shadow mode, live experiment."""

import pytest

from misstep_analysis.observer.paper import live_experiment as wink_interventions
from misstep_analysis.observer.paper import live_recovery as wink_recovery
from misstep_analysis.stats.printed.two_proportions import pooled_z
from misstep_analysis.tables import Row, Table


def row(table: Table, quantity: str, group: str = "", *, recomputed: bool = True) -> Row:
    results = [
        one
        for one in table.rows
        if one.quantity == quantity and one.group == group and (one.evidence == "recomputed") == recomputed
    ]
    assert results, f"{quantity} in {group!r}"
    return results[0]


@pytest.mark.parametrize("heading", wink_recovery.TABLES.values())
def test_every_rate_of_tables_3_and_4_follows_from_its_counts(heading: str) -> None:
    rows = [one for one in wink_recovery.recovery_table().rows if one.group == heading and one.status]
    assert [one.status for one in rows] == ["reproduced"] * len(wink_recovery.CLASSES)
    assert all((one.low or 1) < float(one.value or 0) < (one.high or 0) for one in rows)


@pytest.mark.parametrize("heading", wink_recovery.TABLES.values())
def test_every_count_of_tables_3_and_4_is_shown(heading: str) -> None:
    table = wink_recovery.recovery_table()
    for name in wink_recovery.CLASSES.values():
        counts = [
            row(table, f"{name}: {column}", f"Counts: {heading}", recomputed=False).value
            for column in ("agent recovered", "agent not recovered", "sample size")
        ]
        assert counts[0] + counts[1] == counts[2]


def test_only_the_ninety_percent_of_abstract_and_introduction_do_not_round_from_the_table() -> None:
    failed = [one for one in wink_recovery.recovery_table().rows if one.status not in (None, "reproduced")]
    assert [one.source for one in failed if "cut off" in one.reason] == ["Abstract", "Section 1"]
    assert [one.source for one in failed if "is a share of misbehaviors" in one.reason] == ["Abstract"]
    assert len(failed) == 3


def test_the_gap_by_number_of_interventions_is_partly_one_of_the_mix_of_classes() -> None:
    table = wink_recovery.recovery_difference_table()
    overall = row(table, "Overall", "One intervention less several")
    assert overall.value == pytest.approx(4723 / 5194 - 4238 / 5360)
    mixed = row(table, "Overall, several interventions, at table 3's mix of classes", "At one mix of classes")
    by_hand = (963 * 1781 / 2414 + 2604 * 1346 / 1531 + 1627 * 1111 / 1415) / 5194
    assert mixed.value == pytest.approx(by_hand)
    assert (mixed.low or 1) < by_hand < (mixed.high or 0)


def test_the_bound_of_a_control_arm_is_the_last_rate_that_the_test_tells_apart() -> None:
    bound = row(wink_recovery.control_table(), "Overall", wink_recovery.TABLES["single"])
    assert isinstance(bound.value, float)
    highest = round(bound.value * 5194)
    told_apart, not_told = (pooled_z(4723, 5194, count, 5194).p_value or 1 for count in (highest, highest + 1))
    assert told_apart < 0.05 <= not_told


def test_the_precision_of_the_judge_comes_from_multiples_of_seven() -> None:
    table = wink_recovery.judge_precision_table()
    assert {one.n for one in table.rows if one.n} == {14, 98}
    few, many = (row(table, "Precision of the judge", f"If {n} were verified") for n in (14, 98))
    assert few.value == many.value == pytest.approx(6 / 7)
    assert (few.low or 1) < (many.low or 0)


def test_the_p_value_of_shadow_mode_is_reproduced_and_bears_clustering_up_to_a_stated_correlation() -> None:
    table = wink_interventions.shadow_table()
    assert row(table, "p-value", "Test of the difference").status == "reproduced"
    group = "How much clustering the finding bears"
    at_5, at_01 = (row(table, f"Intraclass correlation at which p is {level}", group) for level in ("0.05", "0.001"))
    assert at_5.value == pytest.approx(0.78, abs=0.01)
    assert at_01.value == pytest.approx(0.13, abs=0.01)


def test_stars_of_the_live_experiment_fit_their_p_values_and_three_changes_survive_adjustment() -> None:
    table = wink_interventions.experiment_table()
    assert {one.status for one in table.rows if one.status} == {"reproduced", "underdetermined"}
    adjusted = [row(table, "p-value, adjusted", name).value for name in wink_interventions.METRICS.values()]
    assert adjusted == pytest.approx([0.0288, 0.012, 0.0288, 0.073])
    arms = row(table, "Size of each arm that gives this p-value", "Failed tool calls")
    assert (arms.low or 0) < float(arms.value or 0) < (arms.high or 0)
