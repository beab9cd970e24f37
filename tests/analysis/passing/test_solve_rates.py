"""Solve rates of made-up submissions: intervals, ranks that can and cannot be told apart, and denominators."""

import pytest

from misstep_analysis.passing.solve_rates import (
    SolvedSet,
    denominators_table,
    gaps,
    ranking_table,
    reported_figures,
    solved_set,
    submissions_table,
)
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep_analysis.stats.proportions import wilson
from misstep_harness.items import Attempts

N = 100


def made_up(**solved: range) -> SolvedSet:
    rows = [
        Attempts("t", system, f"task-{task}", 1, int(task in tasks))
        for system, tasks in solved.items()
        for task in range(N)
    ]
    return solved_set(rows, "made_up", "t", "Made up", "made_up@0")


CLOSE = made_up(first=range(60), second=range(2, 61), third=range(10))


def test_a_ranking_goes_by_tasks_solved_and_then_by_name() -> None:
    assert made_up(b=range(5), a=range(5), c=range(9)).ranking() == ("c", "a", "b")


def test_the_best_are_shown_with_wilson_intervals() -> None:
    table = submissions_table([CLOSE], top=2)
    assert [(row.quantity, row.value, row.low) for row in table.rows] == [
        ("first", 0.6, wilson(60, N).low),
        ("second", 0.59, wilson(59, N).low),
    ]
    assert table.finding.startswith(
        "The best of 3 submissions to Made up solves 60.0% of 100 tasks (95% interval 50.2%"
    )


def test_a_gap_is_of_the_tasks_that_one_alone_solved_and_adjusted_for_all_gaps() -> None:
    near, far = gaps(CLOSE, [("first", "second"), ("second", "third")])
    assert near.paired == PairedTable(58, 2, 1, 39)
    assert (near.significant, far.significant) == (False, True)
    assert near.p_value == mcnemar_mid_p(near.paired).p_value
    assert far.adjusted == pytest.approx(2 * far.p_value)


def test_a_ranking_says_how_many_gaps_stand_and_who_cannot_be_told_from_the_first() -> None:
    table = ranking_table([CLOSE])
    assert table.finding == (
        "On Made up, 1 of the 2 gaps between neighbours in the ranking can be told from chance at 5% (Holm), and 1 "
        "submissions cannot be told from the first."
    )
    assert [row.value for row in table.rows[:2]] == [1, 1]


def test_a_stated_rate_is_held_against_the_tasks_attempted_and_all_tasks() -> None:
    figures = [figure for figure in reported_figures() if figure.id.startswith("swe_bench_pro.")]
    rows = [Attempts("runs", figure.row, f"t{task}", 1, 1) for figure in figures for task in range(50)]
    rows += [Attempts("runs", figures[0].row, f"t{task}", 1, 0) for task in range(50, 100)]
    table = denominators_table([solved_set(rows, "swe_bench_pro", "runs", "Pro", "p@0")])
    compared = [row for row in table.rows if row.quantity == figures[1].row and row.status]
    assert [(row.value, row.n, row.status) for row in compared] == [(1.0, 50, "differs"), (0.5, 100, "differs")]
    assert "50 / 100 tasks is 50.00%, not" in compared[1].reason


@pytest.mark.data
def test_the_public_figures(data_folder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("MISSTEP_DATA", str(data_folder))
    from misstep_analysis.reproduction.recorded import solve_rates

    verified = solve_rates.solved_sets(solve_rates.SUBMISSIONS)
    stated = [row.status for row in submissions_table(verified).rows if row.status]
    assert stated == ["reproduced"] * 4 + ["differs"]
    table = denominators_table(
        solve_rates.solved_sets(solve_rates.INCOMPLETE), solve_rates.solved_sets(solve_rates.QUARTER)
    )
    sonnet = [row.status for row in table.rows if row.quantity.startswith("Claude 4 Sonnet")]
    assert sonnet == [None, "reproduced", None]
    assert [row.status for row in table.rows].count("reproduced") == 4
    assert "of all tasks it is 32.9%" in table.finding
    assert [row.source.partition(",")[0] for row in table.rows[-2:]] == ["79 / 570", "79 / 551"]
