"""A failure mode is shown by runs without its mechanism beside whole runs of the same seeds."""

import pytest

from misstep_analysis.published import load_paper
from misstep_analysis.reflexive.ablation import MODES, cures
from misstep_analysis.reflexive.paper.plateau import cures_table
from misstep_analysis.reflexive.scores import ALSO, MEASURES, LoopScores
from tests.analysis.reflexive.test_ablation import a_run

SEEDS = range(12)


def runs(mechanism: str, **figures: object) -> list[LoopScores]:
    return [a_run(seed, without, **given) for seed in SEEDS for without, given in (((), {}), ((mechanism,), figures))]


def test_what_a_mode_shows_is_compared_seed_by_seed_and_adjusted_for_all_figures() -> None:
    most, hidden = cures(runs("turn_budgets", most_calls=16))
    assert (most.whole.mean.value, most.without.mean.value) == (2.0, 16.0)
    assert most.without.difference.value == 14.0
    assert most.without.p_adjusted == pytest.approx(2 * 2 / 2**12)
    assert hidden.without.p_value == 1.0


def test_the_table_sets_witness_and_runs_beside_each_other_and_says_what_is_not_shown() -> None:
    table = cures_table(cures([*runs("turn_budgets", most_calls=16), *runs("memory")]), "orchard, 12 seeds")
    assert "1 of 2 failure modes" in table.finding
    assert table.finding.endswith("not shown: 7 Collapse of memory.")
    assert {row.evidence for row in table.rows} == {"published", "generated"}
    assert [row.printed for row in table.rows if row.quantity == "Witness: Tool calls in one turn (count)"] == ["15"]


def test_a_mode_that_leaving_its_mechanism_out_makes_better_is_not_shown() -> None:
    assert not any(cure.shown for cure in cures(runs("turn_budgets", most_calls=0)))
    assert not any(cure.shown for cure in cures(runs("time_budget", late=9)))


def test_every_mode_names_printed_witnesses_and_figures_of_runs() -> None:
    known = {figure.id for figure in load_paper("reflexive").figure}
    assert {id_ for mode in MODES for id_ in mode.witness} <= known
    assert {key for mode in MODES for key in mode.keys} <= (MEASURES | ALSO).keys()
    assert len({mode.mechanism for mode in MODES}) == len(MODES) == 8
