"""A gate fails beyond its limit, and is never passed by a figure that cannot be computed."""

import re
from collections.abc import Callable
from math import ceil

import pytest

from misstep_analysis.judging.gates import Gate, decide, fail_on, fail_under, further_items
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from misstep_harness.errors import UsageError

SHARE = Estimate(0.071, 0.04, 0.12, 200)
FIGURES = {"tool_call_failure": SHARE, "nothing": Estimate(None, reason="no session could be checked")}


@pytest.mark.parametrize(
    ("condition", "decision"),
    [
        ("tool_call_failure>5%", "failed"),
        ("tool_call_failure > 0.071", "passed"),
        ("tool_call_failure>=7.1%", "failed"),
        ("tool_call_failure.lower>5%", "passed"),
        ("tool_call_failure.upper>5%", "failed"),
        ("tool_call_failure<10%", "failed"),
        ("tool_call_failure.lower<=4%", "failed"),
        ("nothing>5%", "undecided"),
        ("nothing.upper>5%", "undecided"),
    ],
)
def test_a_condition_is_decided_on_the_value_or_on_the_named_end(condition: str, decision: str) -> None:
    (outcome,) = decide([fail_on(condition)], FIGURES)
    assert (outcome.decision, outcome.gate.text) == (decision, condition)


def test_a_least_value_may_be_asked_of_the_lower_end() -> None:
    figures = {"accuracy": Estimate(0.9, 0.8, 0.95), "yes.recall": Estimate(0.9, 0.8, 0.95)}
    given_gates = [fail_under(f"{name}=85%") for name in ("accuracy", "accuracy.lower", "yes.recall.lower")]
    assert [one.decision for one in decide(given_gates, figures)] == ["passed", "failed", "failed"]


@pytest.mark.parametrize("text", ["", "any", "any>", ">5%", "any>lots", "any=5%", "any>5%%"])
def test_what_is_no_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"tool_call_failure>5%"):
        fail_on(text)


NO_NUMBERS = [
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-inf",
    "infinity",
    "1e400",
    "",
    " ",
    "%",
    "lots",
    "True",
    "0x1",
    "1_0",
    "٥",
    "5％",
]


@pytest.mark.parametrize(
    "limit", [*NO_NUMBERS, "-1", "-0.1", "-5%", "500%", "1e9", "5 %", "0,5", "5,5 %", "5%%", "5", "1.01"]
)
@pytest.mark.parametrize(("read", "sign"), [(fail_on, ">"), (fail_on, "<="), (fail_under, "=")])
def test_a_limit_that_no_share_can_be_is_refused(read: Callable[[str], Gate], sign: str, limit: str) -> None:
    with pytest.raises(UsageError, match="is not a limit"):
        read(f"any{sign}{limit}")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("any>5", "any>5%"),
        ("any>1", "any>1%"),
        ("any.lower > 5 %", "any.lower >5%"),
        ("any>0,5", "any>0.5"),
        ("any>5,5%", "any>5.5%"),
        ("any.change>2", "any.change>2%"),
    ],
)
def test_the_limit_that_was_meant_is_asked_for_and_is_one(text: str, meant: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"Did you mean {meant}?")):
        fail_on(text)
    assert 0 < fail_on(meant).limit < 1


@pytest.mark.parametrize("text", ["any>1", "any>100%", "any<0", "any.change>1", "any.change<-100%", "kappa<-1"])
def test_a_limit_that_nothing_can_go_beyond_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"the figure is never (more|less) than"):
        fail_on(text)


@pytest.mark.parametrize(
    ("gate", "limit"),
    [
        (fail_on("any.change<-5%"), -0.05),
        (fail_under("yes.kappa.answered=-0.2"), -0.2),
        (fail_on("any<=100%"), 1.0),
        (fail_on("any>1e-2"), 0.01),
        (fail_under("accuracy=1"), 1.0),
    ],
)
def test_what_a_figure_can_be_is_a_limit(gate: Gate, limit: float) -> None:
    assert gate.limit == limit


def test_a_figure_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="Known: tool_call_failure, nothing"):
        decide([fail_on("loops>5%")], FIGURES)


THREE_ENDS = [("80%", "passed"), ("79%", "passed"), ("87%", "undecided"), ("95%", "undecided"), ("95.1%", "failed")]


@pytest.mark.parametrize(("limit", "decision"), THREE_ENDS)
@pytest.mark.parametrize("undecided", ["fail", "pass"])
def test_with_three_ends_a_limit_inside_the_interval_is_undecided(limit: str, decision: str, undecided) -> None:
    figures = {"accuracy": Estimate(0.9, 0.8, 0.95, 100)}
    (outcome,) = decide([fail_under(f"accuracy={limit}")], figures, undecided)
    stops = decision == "failed" or (decision == "undecided" and undecided == "fail")
    assert (outcome.decision, outcome.stops) == (decision, stops)


def test_an_end_of_the_interval_has_two_ends_and_what_cannot_be_computed_never_passes() -> None:
    figures = {**FIGURES, "bare": Estimate(0.2, n=3)}
    conditions = [fail_on(f"{name}>3%") for name in ("tool_call_failure.lower", "nothing", "bare")]
    lower, nothing, bare = decide(conditions, figures, "pass")
    assert (lower.decision, lower.stops) == ("failed", True)
    assert (nothing.decision, nothing.stops) == ("undecided", True)
    assert (bare.decision, bare.stops) == ("undecided", False)


@pytest.mark.parametrize(("right", "limit"), [(90, 0.85), (80, 0.85), (60, 0.55)])
def test_so_many_further_items_decide_and_far_fewer_do_not(right: int, limit: float) -> None:
    (now,) = decide([fail_under(f"accuracy={limit}")], {"accuracy": wilson(right, 100)}, "fail")
    further = further_items(now)
    assert now.decision == "undecided"
    assert further

    def later(more: float) -> str:
        n = round(100 + more)
        return decide([now.gate], {"accuracy": wilson(round(n * right / 100), n)}, "fail")[0].decision

    assert (later(0.6 * further), later(1.4 * further)) == ("undecided", "passed" if right / 100 > limit else "failed")


def test_no_number_of_items_decides_if_the_figure_is_the_limit() -> None:
    (outcome,) = decide([fail_under("accuracy=0.9")], {"accuracy": wilson(90, 100)}, "fail")
    assert (outcome.decision, further_items(outcome)) == ("undecided", None)


SOLVED = [(39, 40, 0.9), (96, 100, 0.93), (3, 60, 0.08), (450, 500, 0.88), (40, 40, 0.95)]


@pytest.mark.parametrize(("right", "n", "limit"), SOLVED)
@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_with_so_many_further_items_the_interval_itself_leaves_the_limit(right, n, limit, interval) -> None:
    (now,) = decide([fail_under(f"accuracy={limit}")], {"accuracy": interval(right, n)}, "fail")
    further = further_items(now)
    assert now.decision == "undecided"
    assert further
    # A multiple of the items, so that the figure can stay exactly as it is.
    times = -(-(n + further) // n)
    (later,) = decide([now.gate], {"accuracy": interval(right * times, n * times)}, "fail")
    (before,) = decide([now.gate], {"accuracy": interval(right * (times - 1), n * (times - 1))}, "fail")
    assert (later.decision == "undecided", before.decision) == (False, "undecided")


def test_over_clusters_the_number_follows_the_interval_of_clusters() -> None:
    clusters = [(5, 5)] * 30 + [(2, 5)] * 4
    (now,) = decide([fail_under("accuracy=0.88")], {"accuracy": korn_graubard(clusters)}, "fail")
    further, n = further_items(now), 34 * 5
    assert further
    later, before = (korn_graubard(clusters * times).low for times in (ceil(1.1 * (n + further) / n), further // n))
    assert before < 0.88 < later


def test_no_number_of_items_tells_a_share_from_nothing_or_from_all() -> None:
    outcome = decide([fail_under("accuracy=0")], {"accuracy": clopper_pearson(1, 40)}, "fail")[0]
    assert further_items(outcome) is None
