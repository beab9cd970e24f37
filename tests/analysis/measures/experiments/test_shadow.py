"""The misbehaviour rate of invocations, with and without guidance."""

from msgspec import structs

from misstep.analysis.measures.experiments.comparison import compare_arms
from misstep.analysis.measures.experiments.sessions import of_live
from misstep.analysis.measures.experiments.shadow import invocations, misbehaviour_rates
from misstep.analysis.stats.clusters.clustered import clustered_difference
from misstep.analysis.stats.printed.two_proportions import pooled_z
from misstep.harness.records.intervention import Invocation
from tests.analysis.measures.recovery.made_up import experiment


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
    found = misbehaviour_rates(given)
    (x1, n1), (x2, n2) = found.counts
    assert found.naive_test == pooled_z(x1, n1, x2, n2)
    tables = []
    for arm in ("shadow", "guide"):
        units: dict[str, tuple[int, int]] = {}
        for one in given:
            if one.arm == arm:
                x, n = units.get(one.unit, (0, 0))
                flagged, asked = invocations(one.observed)
                units[one.unit] = x + flagged, n + asked
        tables.append(list(units.values()))
    assert found.clustered == clustered_difference(*tables)
    assert found.units == (len(tables[0]), len(tables[1]))


def test_without_one_of_the_arms_there_is_nothing_to_compare() -> None:
    assert misbehaviour_rates([one for one in experiment(12) if one.arm != "guide"]) is None


def test_live_sessions_are_sessions_of_an_experiment_with_every_metric() -> None:
    report = compare_arms(of_live(experiment(60)), "control", "guide")
    assert [one.metric for one in report.changes] == ["failed_calls", "tokens", "engineer_interventions", "seconds"]
    assert len(report.arms) == 3
