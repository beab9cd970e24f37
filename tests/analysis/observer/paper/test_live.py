"""Live experiments beside Wink's tables: generated figures, each with its control, never as confirmation."""

from collections.abc import Callable
from functools import cache

import pytest
from msgspec import structs

from misstep_analysis.observer.experiments.comparison import compare_arms
from misstep_analysis.observer.experiments.sessions import of_live
from misstep_analysis.observer.experiments.shadow import misbehaviour_rates
from misstep_analysis.observer.paper import interventions, live_recovery
from misstep_analysis.observer.paper.heeding import RECOVERED, heeding_places, heeding_table
from misstep_analysis.observer.paper.live import CATEGORIES, NOTE, LiveExperiments
from misstep_analysis.observer.paper.live_experiment import experiment_evidence_table
from misstep_analysis.observer.paper.live_recovery import WITHOUT, recovery_evidence_table
from misstep_analysis.observer.paper.unaided import Loop
from misstep_analysis.observer.recovery import Problem, problems, recovery_effects, recovery_rate
from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.text import grid
from tests.analysis.observer.recovery.made_up import experiment


@cache
def live(n: int = 240) -> LiveExperiments:
    sessions = experiment(n)
    shadow = tuple(one for one in sessions if one.arm != "control")
    ab = tuple(one for one in sessions if one.arm != "shadow")
    followed = problems((one for one in shadow if one.arm == "guide"), "word")
    labels = {(one.session, 0): one.recovered or place % 9 == 0 for place, one in enumerate(followed)}
    return LiveExperiments(shadow, ab, 0, labels, {"follows": 0.9, "ignores": 0.1})


NOTHING = LiveExperiments((), (), 0, {})


def generated(table: Table) -> list[Row]:
    return [row for row in table.rows if row.evidence == "generated"]


def value(table: Table, group: str, quantity: str, source: str = "") -> float:
    (results,) = [
        row
        for row in generated(table)
        if (row.group, row.quantity) == (group, quantity) and row.source.endswith(source)
    ]
    return float(results.value)  # type: ignore[arg-type]


def guided(start: str = "word") -> list[Problem]:
    return problems((one for one in live().ab if one.arm == "guide"), start)  # type: ignore[arg-type]


def test_tables_3_and_4_have_generated_rates_as_planted_and_as_judged_beside_the_printed_ones() -> None:
    table = recovery_evidence_table(live())
    heading = live_recovery.TABLES["single"]
    assert value(table, heading, "Overall") == recovery_rate(guided()).value
    assert value(table, heading, "Overall, as judged") >= value(table, heading, "Overall")
    printed = {(row.group, row.quantity) for row in table.rows if row.evidence == "published"}
    of_classes = {(row.group, row.quantity.removesuffix(", as judged")) for row in generated(table)}
    assert {place for place in of_classes if place[0] != WITHOUT} <= printed


TABLES = (recovery_evidence_table, interventions.shadow_table, experiment_evidence_table)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_same_printed_figures_without_live_sessions(table: Callable[..., Table]) -> None:
    alone, beside = table(), table(live())
    assert generated(alone) == generated(table(NOTHING)) == []
    assert [row for row in beside.rows if row.evidence != "generated"] == list(alone.rows)
    assert generated(beside)


@pytest.mark.parametrize("table", TABLES)
def test_live_sessions_are_said_to_confirm_nothing_and_have_columns_of_their_own(table: Callable[..., Table]) -> None:
    assert NOTE in table(live()).notes
    assert NOTE not in table().notes
    kinds = [column.evidence for column in grid(table(live())).columns]
    assert kinds[:2] == ["published", "recomputed"]
    assert set(kinds[2:]) == {"generated"}


def test_what_recovers_without_guidance_stands_below_with_the_loops_of_public_runs() -> None:
    loops = [Loop("orchard", "orchard@1", str(run), None if run % 4 else 3, 20) for run in range(20)]
    table = recovery_evidence_table(live(), loops)
    unguided = problems((one for one in live().shadow if one.arm == "shadow"), "word")
    assert value(table, WITHOUT, "Overall") == recovery_rate(unguided).value
    (real,) = [row for row in table.rows if row.evidence == "real"]
    assert (real.value, real.datasets, real.group) == (0.75, ("orchard",), WITHOUT)
    assert "75.0% (orchard; 95% interval" in table.finding


def test_the_effect_is_given_by_class_from_either_start() -> None:
    table = live_recovery.recovery_effect_table(live())
    unguided = problems((one for one in live().ab if one.arm == "control"), "onset")
    (expected,) = recovery_effects(guided("onset"), unguided, {"Overall": CATEGORIES["overall"]})
    assert value(table, live_recovery.FROM_ONSET, "Overall: difference") == expected.difference.value
    assert table.finding.startswith("Of agents that heed guidance with probability 90.0% (drawn, not measured), ")
    assert {row.evidence for row in table.rows} == {"generated"}
    assert len(table.rows) == 2 * 4 * 5


def test_where_guidance_does_nothing_the_sentence_says_that_no_difference_was_found_and_the_interval() -> None:
    deaf = experiment(120, heeding=0)
    given = LiveExperiments(
        tuple(one for one in deaf if one.arm != "control"), tuple(one for one in deaf if one.arm != "shadow"), 0, {}
    )
    text = live_recovery.recovery_effect_table(given).finding
    assert text.count("no difference was found") == 2
    assert text.count("95% interval") == 2


def test_time_to_recovery_has_competing_events_and_shows_what_censoring_them_would_say() -> None:
    table = live_recovery.time_to_recovery_table(live())
    recovered = value(table, "By step 15: recovered", "Without")
    over = value(table, "By step 15: session over", "Without")
    assert recovered + over <= 1
    assert value(table, live_recovery.CENSORED_ENDS, "Without") >= recovered
    assert [row.value for row in table.drawn if row.quantity == "15"] == pytest.approx(
        [value(table, "By step 15: recovered", name) for name in ("With guidance", "Without")]
    )
    assert {row.quantity for row in table.drawn} == set(live_recovery.curve_places())


def test_the_judge_is_held_against_what_was_planted() -> None:
    table = live_recovery.live_judge_table(live())
    assert value(table, "The judge against what was planted", "Sensitivity: recoveries that are called so") == 1
    assert value(table, "The judge against what was planted", "Precision: recovered where the judge says so") < 1
    without = structs.replace(live(), judgements={})
    assert live_recovery.live_judge_table(without).finding == "No recovery of a live session has a judge's label."


def test_shadow_mode_is_tested_over_invocations_and_over_units() -> None:
    table = interventions.shadow_table(live())
    rates = misbehaviour_rates(live().shadow)
    assert value(table, "Misbehaviour rate", "Detection alone") == rates.shares[0]
    assert value(table, "Test of the difference", "p-value, over units") == rates.clustered.small_sample_test.p_value
    assert "(drawn, not measured) the rate is" in table.finding


def test_the_ab_test_has_each_metric_of_table_5_with_both_p_values() -> None:
    table = experiment_evidence_table(live())
    report = compare_arms(of_live(live().ab), "control", "guide")
    for change, group in zip(report.changes, interventions.METRICS.values(), strict=True):
        assert value(table, group, "Change") == change.compared.relative.value
        assert value(table, group, "p-value") == change.compared.test.p_value
        assert value(table, group, "p-value, adjusted") == change.p_adjusted


def test_without_live_sessions_the_tables_say_so() -> None:
    for table in (live_recovery.recovery_effect_table, live_recovery.time_to_recovery_table):
        assert table(NOTHING).finding == live_recovery.NONE_AT_HAND


def test_recovery_is_shown_at_every_heeding_rate_beside_detection_alone() -> None:
    shadow = tuple(
        structs.replace(one, heeds="follows" if any(each.ended == "guidance" for each in one.episodes) else "ignores")
        for one in live().shadow
    )
    table = heeding_table(structs.replace(live(), shadow=shadow))
    curve = [row.value for row in table.rows if row.group == RECOVERED and row.quantity.endswith("%")]
    assert curve == sorted(curve)
    assert (len(curve), curve[-1]) == (11, 1.0)
    assert {row.quantity for row in table.drawn} == set(heeding_places())
    assert "where all do 100.0%" in table.finding
