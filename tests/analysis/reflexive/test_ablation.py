"""What a mechanism changes is found on the same seeds and items, with an interval over seeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from misstep_analysis.reflexive.ablation import ALL_OFF, ablate, is_ablation
from misstep_analysis.reflexive.scores import LoopScores, score_loop
from misstep_analysis.reflexive.tables import (
    ablation_effects_table,
    ablation_table,
    ends_table,
    items_table,
    mechanisms_table,
)
from misstep_analysis.reflexive.work import worked_run
from misstep_analysis.tables.text import table_text
from tests.analysis.reflexive.made_up import three_items

BASE = score_loop(worked_run(three_items()))
SEEDS = range(12)


def a_run(seed: int, without: tuple[str, ...] = (), **figures: object) -> LoopScores:
    return structs.replace(BASE, seed=seed, without=without, **figures)


RUNS = [
    *(a_run(seed, hidden=seed % 3) for seed in SEEDS),
    *(a_run(seed, ("turn_budgets",), hidden=40 + 2 * seed) for seed in SEEDS),
    *(a_run(seed, ("memory",), hidden=seed % 3) for seed in SEEDS),
    *(a_run(seed, ("memory", "turn_budgets"), hidden=50 + seed, solved=0, believed=2) for seed in SEEDS),
]


def test_a_configuration_is_compared_with_the_whole_loop_seed_by_seed() -> None:
    result = ablate(RUNS)
    by_name = {one.name: one.effects["hidden"] for one in result.others}
    assert list(by_name) == ["memory", "turn_budgets", ALL_OFF]
    assert result.whole.effects["hidden"].mean.value == pytest.approx(1.0)
    difference = by_name["turn_budgets"].difference
    assert difference.value == pytest.approx(40 + 2 * 5.5 - 1)
    assert by_name["turn_budgets"].p_value == pytest.approx(2 / 2**12)
    assert by_name["turn_budgets"].apart
    assert by_name["memory"].p_value == by_name["memory"].p_adjusted == 1.0


def test_p_values_are_adjusted_for_every_difference_of_the_table() -> None:
    result = ablate(RUNS)
    assert result.tests == 3 * 7
    adjusted = [effect for one in result.others for effect in one.effects.values()]
    assert all((one.p_adjusted or 0) >= (one.p_value or 0) for one in adjusted)
    assert result.others[1].effects["hidden"].p_adjusted == pytest.approx(21 * 2 / 2**12)


def test_a_run_without_a_whole_run_of_its_seed_and_items_is_left_out_and_counted() -> None:
    result = ablate([*RUNS, a_run(99, ("memory",)), a_run(0, ("memory",), of="others")])
    assert result.left_out == 2
    assert "2 runs had no whole run" in table_text(ablation_table(result))
    assert ablate(RUNS).left_out == 0


def test_runs_are_an_ablation_where_they_differ_in_their_mechanisms_alone() -> None:
    assert is_ablation(RUNS)
    assert not is_ablation([run for run in RUNS if run.without])
    assert not is_ablation([run for run in RUNS if not run.without])
    assert not is_ablation([*RUNS, a_run(0, agents="stubborn")])


@given(st.permutations(RUNS))
def test_the_order_of_runs_changes_nothing(runs: list[LoopScores]) -> None:
    assert ablate(runs) == ablate(RUNS)


def test_the_sentence_of_the_ablation_names_whole_loop_all_off_and_what_tells() -> None:
    result = ablate(RUNS)
    assert ablation_table(result).finding.startswith("The loop solves 66.7%")
    assert "and 0.0% (no 95% interval) with all off" in ablation_table(result).finding
    assert ablation_table(result).finding.endswith("for 1 of 2 mechanisms.")
    assert "1 of 2 mechanisms change a figure" in ablation_effects_table(result).finding
    assert ablation_effects_table(result).finding.endswith("for 21 differences; none shows for memory.")
    lines = table_text(ablation_effects_table(result)).splitlines()
    assert any(("turn_budgets" in line and "p" in line) or "0.010" in line for line in lines)


def test_few_seeds_are_said_to_tell_nothing_from_chance() -> None:
    few = ablate([run for run in RUNS if run.seed < 3])
    assert not few.can_tell
    assert ablation_table(few).finding.endswith("; 3 seeds cannot tell any change from chance among 21 differences.")
    assert "none shows" not in ablation_effects_table(few).finding
    assert ablation_effects_table(few).finding == "3 seeds cannot tell any change from chance among 21 differences."
    assert ablate(RUNS).can_tell


def test_a_mechanism_without_which_the_loop_solves_more_is_named() -> None:
    better = [run if run.without != ("memory",) else structs.replace(run, solved=3) for run in RUNS]
    assert ablate(better).better_without == ("memory",)
    assert ablation_effects_table(ablate(better)).finding.endswith("differences; it solves more without memory.")
    assert ablate(RUNS).better_without == ()


def test_an_interval_of_a_mean_ends_where_figures_do() -> None:
    few = [structs.replace(run, solved=(0, 0, 0, 3)[run.seed % 4]) for run in RUNS if not run.without]
    mean = ablate([*few[:4], *(run for run in RUNS if run.without)]).whole.effects["solved"].mean
    assert (mean.low, mean.high) == (0.0, 1.0)


def test_the_tables_of_one_run_say_what_it_came_to_first() -> None:
    run = worked_run(three_items())
    scores = score_loop(run)
    assert ends_table(scores).finding == (
        "The loop solves 66.7% (95% interval 20.8% to 93.9%) of 3 items; 50.0% of 60 seconds of work came to nothing."
    )
    assert "1 of 6 attempts began on a corrupted target" in mechanisms_table(scores).finding
    assert items_table(run).rows[0].group == "plum"
    assert "2 of 3 items are listed." in items_table(run, most=2).notes
