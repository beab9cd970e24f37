"""Two runs are compared on the items that both worked on."""

from collections.abc import Iterable

import pytest

from misstep_analysis.reflexive.ablation import compare_loops, loop_pairs_table
from misstep_analysis.reflexive.work import WorkedRun, worked_run
from tests.analysis.reflexive.made_up import Log

ITEMS = [f"item-{number}" for number in range(20)]


def a_run(solved: Iterable[str], items: Iterable[str] = ITEMS) -> WorkedRun:
    log = Log(*items)
    for item in items:
        log.begin(item)
        if item in solved:
            log.passing(item).end(item)
        else:
            log.failing(item).end(item, "time_budget", "time_budget")
    return worked_run(log.done())


def test_the_difference_is_of_items_that_one_alone_solves() -> None:
    (pair,) = compare_loops({"calm": a_run(ITEMS), "wild": a_run(ITEMS[:8])})
    assert (pair.a, pair.b, pair.n) == ("calm", "wild", 20)
    assert pair.difference.value == pytest.approx(0.6)
    assert pair.apart
    assert loop_pairs_table([pair]).finding.startswith("1 of 1 pair of runs differ")


def test_p_values_are_adjusted_for_all_pairs() -> None:
    pairs = compare_loops({"a": a_run(ITEMS), "b": a_run(ITEMS[:8]), "c": a_run(ITEMS[:8])})
    assert [pair.p_value == pair.p_adjusted for pair in pairs] == [False, False, True]
    assert pairs[2].difference.value == 0


def test_runs_without_an_item_in_common_are_no_pair() -> None:
    assert compare_loops({"a": a_run(ITEMS[:2], ITEMS[:4]), "b": a_run([], ["fig"])}) == ()
    (pair,) = compare_loops({"a": a_run(ITEMS[:2], ITEMS[:4]), "b": a_run([], ITEMS[2:9])})
    assert pair.n == 2
