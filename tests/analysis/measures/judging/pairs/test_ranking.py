"""The orders in which several judges put systems."""

from collections.abc import Sequence

import pytest

from misstep.analysis.measures.judging.pairs.ranking import (
    ALL_ALIKE,
    NO_WINNER,
    TIED,
    RankStability,
    orders_table,
    rank_stability,
    ranking_finding,
    ranking_table,
)
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables.text import table_text
from misstep.harness.errors import UsageError
from tests.analysis.measures.judging.samples import verdicts

SYSTEMS = {f"i{place}": "abc"[place // 4] for place in range(12)}
"""Four items of each of three systems."""

STRICT = ["yes", "no", "no", "no", "yes", "yes", "no", "no", "yes", "yes", "yes", "no"]
LENIENT = ["yes", "no", "no", "no", "yes", "yes", "yes", "yes", "yes", "yes", "yes", "no"]


def ranked(*judges: Sequence[str | None], systems: dict[str, str] = SYSTEMS) -> RankStability:
    runs = {f"judge {place}": verdicts(answers) for place, answers in enumerate(judges, start=1)}
    return rank_stability(runs, systems, "yes", resamples=300)


def test_each_judge_orders_the_systems_by_their_share_of_good_items() -> None:
    first, second = ranked(STRICT, LENIENT).judges
    assert [one.system for one in first.systems] == ["c", "b", "a"]
    assert [one.system for one in second.systems] == ["b", "c", "a"]
    assert (first.winners, second.winners) == (("c",), ("b",))
    assert first.systems[0].share == wilson(3, 4)


def test_tau_is_over_the_pairs_of_systems_and_the_winner_changes() -> None:
    (pair,) = ranked(STRICT, LENIENT).pairs
    assert pair.tau.value == pytest.approx(1 / 3)
    assert (pair.tau.low or 0) <= 1 / 3 <= (pair.tau.high or 0)
    assert not pair.same_winner
    assert 0 < (pair.winner_changes.value or 0) < 1
    assert "The winner depends on the judge: c with judge 1; b with judge 2" in ranking_finding(ranked(STRICT, LENIENT))


def test_an_unanswered_item_counts_for_nothing_and_again_as_no_good_work() -> None:
    # Over the answered c is at 1 of 1 and ahead of b; with the unanswered it has 1 of 4 and is behind.
    silent = [*STRICT[:8], "yes", None, None, None]
    result = ranked(silent, LENIENT)
    first = result.judges[0].systems[0]
    assert (first.system, first.answered, first.n) == ("c", 1, 4)
    assert (first.share.value, first.share_all.value) == (1.0, 0.25)
    (pair,) = result.pairs
    assert pair.tau.value == pytest.approx(1 / 3)
    assert pair.tau_all.value == pytest.approx(2 / (2 * 3) ** 0.5)
    assert "judge 1 gave no answer on 3 of 4 of c" in " ".join(table_text(orders_table(result, "made up")).split())


def test_where_systems_tie_for_the_first_place_no_winner_can_hold() -> None:
    result = ranked(["yes"] * 12, LENIENT)
    assert result.judges[0].winners == ("a", "b", "c")
    assert (result.judges[0].winner_holds.value, result.judges[0].winner_holds.reason) == (None, TIED)
    assert (result.pairs[0].tau.value, result.pairs[0].tau.reason) == (None, ALL_ALIKE)
    assert result.pairs[0].same_winner
    text = table_text(orders_table(result, "made up"))
    assert [text.count(f"1. {system}") for system in "abc"] == [1, 2, 1]


def test_a_system_that_shares_the_first_place_with_one_judge_is_first_with_both() -> None:
    finding = ranking_finding(ranked(["yes"] * 12, LENIENT))
    assert finding.startswith("b is first with all 2 judges; judge 1 puts 3 systems first; Kendall's")
    assert ranking_finding(ranked(["yes"] * 12, ["no"] * 12)).startswith("a and b and c are first with all 2 judges;")


def test_a_judge_without_an_answer_has_no_winner_and_no_order() -> None:
    result = ranked(STRICT, [None] * 12)
    assert (result.judges[1].winners, result.judges[1].winner_holds.reason) == ((), NO_WINNER)
    (pair,) = result.pairs
    assert (pair.same_winner, pair.winner_changes.value, pair.winner_changes.reason) == (False, None, NO_WINNER)
    assert ranking_finding(result).startswith(
        "c is first with judge 1; judge 2 answered no item; Kendall's tau-b is not"
    )
    assert "judge 2 answered no item and has no order." in orders_table(result, "made up").finding


def test_items_of_no_known_system_are_left_out_and_counted() -> None:
    result = ranked(STRICT, LENIENT, systems={item: name for item, name in SYSTEMS.items() if item != "i0"})
    assert (result.n, result.without_system) == (11, 1)
    assert "1 item left out" in table_text(ranking_table(result, "made up"))


def test_one_judge_or_one_system_is_refused() -> None:
    with pytest.raises(UsageError, match="needs two runs"):
        ranked(STRICT)
    with pytest.raises(UsageError, match="the work of one system, a"):
        ranked(STRICT, LENIENT, systems=dict.fromkeys(SYSTEMS, "a"))
