"""What an observer found is counted per invocation, with the interval of the trajectories."""

from misstep_analysis.observer.observed import observed, observed_table
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.proportions import wilson
from misstep_harness.intervention import Intervention, Invocation, Misbehaviour, ObservedRun

LOOP = Misbehaviour("infinite_loop", (3, 4, 5), "It goes round.")


def _run(item: str, flagged: int, n: int, *interventions: Intervention) -> ObservedRun:
    invocations = tuple(
        Invocation(5 * place, misbehaviours=(LOOP,) if place <= flagged else (), answered_at=5 * place)
        for place in range(1, n + 1)
    )
    return ObservedRun(item, "guide", "rules", 5, 5 * n, invocations, interventions, file="runs.jsonl", line=7)


def test_the_rate_is_per_answered_invocation_and_its_interval_is_that_of_trajectories() -> None:
    runs = [_run("a", 8, 10), _run("b", 0, 10), _run("c", 0, 10), _run("d", 1, 10), _run("e", 0, 10)]
    result = observed(runs)
    assert (result.n, result.steps, result.invocations, result.flagged, result.flagged_runs) == (5, 250, 50, 9, 2)
    assert result.misbehaviour_rate == korn_graubard([(8, 10), (0, 10), (0, 10), (1, 10), (0, 10)])
    assert result.naive_rate == wilson(9, 50)
    assert (result.misbehaviour_rate.high or 0) > (result.naive_rate.high or 1)
    assert result.categories == {"infinite_loop": 9}


def test_an_intervention_says_where_it_began_when_it_was_seen_and_what_came_of_it() -> None:
    word = Intervention((LOOP,), 10, 12, guidance="Stop.")
    late = Intervention((LOOP,), 20, withheld="stale")
    result = observed([_run("a", 2, 4, word, late)])
    first, second = result.interventions
    assert (first.item, first.step, first.categories, first.detected_at, first.delivered_at) == (
        "a",
        3,
        ("infinite_loop",),
        10,
        12,
    )
    assert (second.delivered_at, second.withheld) == (None, "stale")
    assert (result.delivered, result.withheld) == (1, {"stale": 1})


def test_the_table_has_both_intervals_and_what_became_of_the_interventions() -> None:
    table = observed_table(observed([_run("a", 1, 10, Intervention((LOOP,), 5, 5)), _run("b", 0, 9)]), source="made up")
    groups = {(row.quantity, row.group) for row in table.rows}
    assert ("Misbehaviour rate per invocation", "clustered by session") in groups
    assert ("Interventions", "delivered") in groups
