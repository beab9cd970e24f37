"""pass@k, pass^k, flicker and pairs of made-up attempts, worked out by hand."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.passing.attempts import PassAttempts, SystemAttempts, TaskCounts, Unanswered
from misstep_analysis.passing.paired_systems import pair_finding
from misstep_analysis.passing.scores import PASSES, PassReport, pass_report, passes_headline, passes_table
from misstep_analysis.stats.clusters.clustered_pairs import paired_rates
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables.text import table_text

KS = (1, 2, 4)


def system(name: str = "one", **tasks: tuple[int, int] | tuple[int, int, int]) -> SystemAttempts:
    """A system's attempts: task → passed, failed and without an outcome."""
    counts = {task: TaskCounts(*each) for task, each in tasks.items()}
    lacking = tuple(
        Unanswered(name, task, "line 1", "unreadable", "maybe", each.unanswered)
        for task, each in counts.items()
        if each.unanswered
    )
    return SystemAttempts(name, counts, lacking)


def report(*systems: SystemAttempts, ks: tuple[int, ...] = KS) -> PassReport:
    return pass_report(PassAttempts(systems), ks, resamples=200)


def test_the_chances_are_means_over_tasks() -> None:
    (result,) = report(system(a=(4, 0), b=(1, 3), c=(0, 4))).systems
    two = result.at[1]
    assert two.pass_at_k.value == pytest.approx((1 + (1 - comb(3, 2) / comb(4, 2)) + 0) / 3)
    assert two.pass_hat_k.value == pytest.approx(1 / 3)
    assert (two.pass_at_k.n, two.n_tasks) == (3, 3)


def test_where_a_task_gives_0_or_1_the_interval_is_wilsons_and_has_width() -> None:
    (result,) = report(system(a=(4, 0), b=(4, 0), c=(4, 0))).systems
    assert result.at[0].pass_at_k == wilson(3, 3)
    (result,) = report(system(a=(4, 0), b=(1, 3), c=(0, 4))).systems
    assert result.at[2].pass_hat_k == wilson(1, 3)
    assert "resamples of tasks" in result.at[0].pass_at_k.method


def test_a_task_with_fewer_than_k_attempts_is_left_out_there_by_name() -> None:
    (result,) = report(system(a=(4, 0), b=(1, 0), c=(1, 2))).systems
    assert [[(one.task, one.attempts) for one in at.left_out] for at in result.at] == [
        [],
        [("b", 1)],
        [("b", 1), ("c", 3)],
    ]
    assert result.at[2].pass_at_k.n == 1
    text = " ".join(table_text(passes_table(report(system(a=(4, 0), b=(1, 0))))).split())
    assert "one, k = 4: 1 of 2 tasks left out for having fewer than 4 attempts that count: 'b (1)'." in text


def test_a_k_that_no_task_reaches_has_a_reason_and_no_value() -> None:
    (result,) = report(system(a=(1, 1))).systems
    assert result.at[2].pass_at_k.value is None
    assert result.at[2].pass_at_k.reason == "no task has 4 attempts that count"


def test_attempts_without_an_outcome_are_counted_and_given_both_ways() -> None:
    result = report(system(a=(2, 0, 2), b=(0, 2, 0)))
    (one,) = result.systems
    assert (one.n_attempts, one.answered, one.missing, one.unreadable) == (6, 4, 0, 2)
    assert one.at[0].pass_at_k.value == pytest.approx((2 / 2 + 0) / 2)
    assert one.at_all[0].pass_at_k.value == pytest.approx((2 / 4 + 0) / 2)
    assert (one.flicker.sometimes, one.flicker_all.sometimes) == (0, 1)
    text = " ".join(table_text(passes_table(result)).split())
    assert "2 attempts without an outcome (0 missing, 2 unreadable): 'a, line 1: maybe'." in text
    assert "2 attempts of 6 without an outcome" in passes_headline(result)


def test_flicker_is_the_share_of_tasks_that_pass_sometimes() -> None:
    (result,) = report(system(a=(4, 0), b=(1, 3), c=(0, 4), d=(1, 0))).systems
    flicker = result.flicker
    assert (flicker.never, flicker.sometimes, flicker.always, flicker.tasks) == (1, 1, 1, ("b",))
    assert flicker.share == wilson(1, 3)
    assert [one.task for one in flicker.left_out] == ["d"]
    rate = (1 + 1 / 4 + 0) / 3
    assert flicker.expected.value == pytest.approx(1 - rate**4 - (1 - rate) ** 4)
    assert (flicker.expected.low or 0) <= (flicker.expected.value or 0) <= (flicker.expected.high or 0)


def test_two_systems_are_compared_on_the_tasks_that_both_attempted() -> None:
    result = report(system("one", a=(3, 1), b=(4, 0), c=(1, 0)), system("two", a=(1, 3), b=(2, 2), d=(0, 1)))
    (pair,) = result.pairs
    expected = paired_rates([(4, 3, 4, 1), (4, 4, 4, 2)])
    assert (pair.n, pair.difference, pair.p_value) == (2, expected.difference, expected.test.p_value)
    assert pair_finding(pair, PASSES).startswith("one passes 50.0 points more often than two on the same 2 tasks")


def test_p_values_are_adjusted_for_all_pairs() -> None:
    tasks = [f"t{number}" for number in range(6)]
    better, worse = dict.fromkeys(tasks, (1, 0)), dict.fromkeys(tasks, (0, 1))
    result = report(system("a", **better), system("b", **worse), system("c", **worse))
    first = result.pairs[0]
    assert first.p_adjusted == pytest.approx(3 * (first.p_value or 0))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=8))
def test_what_is_unanswered_never_raises_a_figure_and_every_task_is_counted_or_left_out(tasks) -> None:
    (result,) = report(system(**{f"t{number}": each for number, each in enumerate(tasks)})).systems
    for at in (*result.at, *result.at_all):
        assert at.n_tasks + len(at.left_out) == result.n_tasks
        if at.pass_at_k.value is not None and at.pass_hat_k.value is not None:
            assert at.pass_hat_k.value <= at.pass_at_k.value + 1e-12
    assert result.answered + result.missing + result.unreadable == result.n_attempts
    complete = [each for each in tasks if each[0] + each[1]]
    if len(complete) == len(tasks):
        assert (result.at_all[0].pass_at_k.value or 0) <= (result.at[0].pass_at_k.value or 0) + 1e-12
