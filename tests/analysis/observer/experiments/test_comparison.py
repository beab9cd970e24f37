"""Two arms of an experiment compared, metric by metric."""

from math import ceil

import pytest
from msgspec import structs

from misstep_analysis.observer.experiments.comparison import compare_arms, experiment_finding, experiment_tables
from misstep_analysis.observer.experiments.sessions import ExperimentSession, of_live, unit_sums
from misstep_analysis.observer.experiments.shadow import invocations, misbehaviour_rates
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.decisions.power import units_an_arm
from misstep_analysis.stats.decisions.relative_change import compare_ratios
from misstep_analysis.stats.printed.two_proportions import pooled_z
from misstep_harness.errors import UsageError
from misstep_harness.intervention import Invocation
from tests.analysis.observer.experiments.made_up import sessions
from tests.analysis.observer.recovery.made_up import experiment


def test_a_unit_is_the_sum_of_its_sessions_and_a_mean_is_over_sessions() -> None:
    few = sessions(2)
    sums = unit_sums(few, "tokens")
    assert sums[:, 1].tolist() == [2, 2]
    assert sums[:, 0] == pytest.approx([few[0].tokens + few[1].tokens, few[2].tokens + few[3].tokens])
    assert unit_sums(few, "failed_calls")[:, 1].tolist() == [few[0].calls + few[1].calls, few[2].calls + few[3].calls]


def test_the_rate_is_compared_over_units_and_beside_it_over_calls() -> None:
    given = sessions(change=-0.3)
    change = compare_arms(given).changes[0]
    arms = [unit_sums([one for one in given if one.arm == arm], "failed_calls") for arm in ("treatment", "control")]
    assert change.compared == compare_ratios(*arms)
    assert change.naive.n == sum(one.calls for one in given)
    assert change.naive.p_value != change.compared.test.p_value


def test_what_was_not_measured_is_left_out_of_one_metric_and_counted() -> None:
    given = sessions()
    given[0] = structs.replace(given[0], tokens=None)
    given[3] = structs.replace(given[3], calls=None)
    changes = {one.metric: one for one in compare_arms(given).changes}
    assert changes["tokens"].unmeasured == (0, 1)
    assert changes["failed_calls"].unmeasured == (1, 0)
    assert changes["seconds"].unmeasured == (0, 0)


def test_a_metric_that_one_arm_lacks_is_no_comparison() -> None:
    given = [structs.replace(one, tokens=None) if one.arm == "control" else one for one in sessions()]
    report = compare_arms(given)
    change = next(one for one in report.changes if one.metric == "tokens")
    assert change.compared.test.p_value is None
    assert "cannot be compared: an arm has no session" in experiment_finding(report)


def test_arms_of_unplanned_sizes_are_the_first_thing_said() -> None:
    given = sessions(120)
    lost = [one for one in given if one.arm == "control" or int(one.unit.split()[1]) < 40]
    report = compare_arms(lost)
    assert report.mismatched
    assert experiment_finding(report).startswith("The arms are not as large as they should be")
    planned = compare_arms(lost, shares={"control": 60, "treatment": 20})
    assert not planned.mismatched


def test_where_nothing_is_found_the_sentence_gives_the_interval_and_says_of_no_effect() -> None:
    text = experiment_finding(compare_arms(sessions()))
    assert text.startswith("No difference was found after adjustment in tool call failure rate (change ")
    assert "95% interval" in text
    assert "effect" not in text


def test_calls_that_only_look_independent_are_said_to_be_alike() -> None:
    failed = {"control": (0, 0, 0, 20), "treatment": (0, 0, 18, 20)}
    given = [
        ExperimentSession(f"{arm} {unit}", f"{arm} {unit}", arm, failed_calls=count, calls=20)
        for arm, counts in failed.items()
        for unit, count in enumerate(counts)
    ]
    (change,) = compare_arms(given).changes
    assert change.naive.p_value < 0.05 < change.compared.test.p_value
    text = experiment_finding(compare_arms(given))
    assert "No difference was found in tool call failure rate" in text
    assert "A test that takes calls as independent would say p " in text


def test_the_control_is_known_by_its_name_or_by_being_named() -> None:
    given = [structs.replace(one, arm={"control": "old", "treatment": "new"}[one.arm]) for one in sessions()]
    assert compare_arms(given, control="old").treatment == "new"
    assert compare_arms(sessions()).control == "control"
    for arguments in ({}, {"control": "none"}, {"control": "old", "treatment": "old"}):
        with pytest.raises(UsageError):
            compare_arms(given, **arguments)


def test_of_three_arms_two_are_compared_and_all_are_counted() -> None:
    given = sessions() + [structs.replace(one, arm="other", unit=f"{one.unit} again") for one in sessions()]
    with pytest.raises(UsageError, match="Name the treatment"):
        compare_arms(given)
    report = compare_arms(given, treatment="treatment")
    assert [arm.name for arm in report.arms] == ["treatment", "control", "other"]
    assert report.changes[0].compared.test.n == 40


def test_the_tables_show_both_p_values_and_the_sizes() -> None:
    changes, arms, plan = experiment_tables(compare_arms(sessions()), "made up", "generated")
    shown = {(row.group, row.quantity) for row in changes.rows}
    assert {("Tokens per session", name) for name in ("control", "treatment", "p-value", "p-value, adjusted")} <= shown
    assert ("Tool call failure rate", "p-value, calls taken as independent") in shown
    assert {row.evidence for row in (*changes.rows, *arms.rows, *plan.rows)} == {"generated"}
    assert [row.value for row in arms.rows if row.quantity == "Units"] == [20, 20]


def test_the_plan_is_from_the_controls_spread_and_says_which_metric_needs_most() -> None:
    report = compare_arms(sessions())
    plan = experiment_tables(report, "made up")[2]
    tokens = next(one for one in report.changes if one.metric == "tokens")
    needed = {(row.group, row.quantity): row.value for row in plan.rows}
    assert needed["Tokens per session", "Units an arm for a change of −10.0%"] == ceil(
        units_an_arm(tokens.variation, -0.1)
    )
    at_five = {title: units for (title, quantity), units in needed.items() if "−5.0%" in quantity}
    assert f"needs {max(at_five.values()):,} units an arm: {max(at_five, key=at_five.get).lower()}" in plan.finding


def test_an_invocation_without_an_answer_is_left_out_and_counted() -> None:
    given = experiment(12)
    shadow = next(one for one in given if one.arm == "shadow")
    more = structs.replace(
        shadow,
        observed=structs.replace(shadow.observed, invocations=(*shadow.observed.invocations, Invocation(29, "failed"))),
    )
    assert invocations(more.observed) == invocations(shadow.observed)
    assert misbehaviour_rates([*given, more]).unanswered == (1, 0)


def test_rates_are_compared_over_invocations_and_over_units() -> None:
    given = experiment(60)
    result = misbehaviour_rates(given)
    (x1, n1), (x2, n2) = result.counts
    assert result.naive_test == pooled_z(x1, n1, x2, n2)
    tables = []
    for arm in ("shadow", "guide"):
        units: dict[str, tuple[int, int]] = {}
        for one in given:
            if one.arm == arm:
                x, n = units.get(one.unit, (0, 0))
                flagged, asked = invocations(one.observed)
                units[one.unit] = x + flagged, n + asked
        tables.append(list(units.values()))
    assert result.clustered == clustered_difference(*tables)
    assert result.units == (len(tables[0]), len(tables[1]))


def test_without_one_of_the_arms_there_is_nothing_to_compare() -> None:
    assert misbehaviour_rates([one for one in experiment(12) if one.arm != "guide"]) is None


def test_live_sessions_are_sessions_of_an_experiment_with_every_metric() -> None:
    report = compare_arms(of_live(experiment(60)), "control", "guide")
    assert [one.metric for one in report.changes] == ["failed_calls", "tokens", "engineer_interventions", "seconds"]
    assert len(report.arms) == 3
