"""pass@k and pass^k of made-up attempts, and of the public sets whose figures are stated."""

from collections.abc import Sequence

import pytest

from misstep_analysis.passing.solve_rates import (
    EXACT,
    PLUGGED_IN,
    SolvedSet,
    extremes,
    reported_figures,
    sampled,
    samples_table,
    trial_rows,
    trials_table,
    tried,
)
from misstep_analysis.tables import Row

SAMPLES = SolvedSet("made_up", "Made up", "made_up@0", {"model": {"t-1": (100, 50), "t-2": (100, 0), "t-3": (100, 1)}})
TRIALS = SolvedSet("made_up", "Made up", "made_up@0", {"agent": {"t-1": (4, 4), "t-2": (5, 2), "t-3": (3, 3)}})


def values(rows: Sequence[Row], ending: str) -> dict[str, float]:
    return {row.quantity: float(row.value or 0) for row in rows if row.group.endswith(ending)}


def test_the_exact_form_and_the_plugged_in_share_agree_for_one_sample_and_the_second_loses_from_then_on() -> None:
    rows = samples_table(sampled([SAMPLES])).rows
    exact, plugged = values(rows, EXACT), values(rows, PLUGGED_IN)
    assert exact["pass@1"] == pytest.approx(plugged["pass@1"])
    assert exact["pass@100"] == pytest.approx(2 / 3)
    assert all(plugged[name] < exact[name] for name in exact if name != "pass@1")


def test_a_papers_rates_of_several_runs_stand_below() -> None:
    beside = [Row("pass@5", 0.4, evidence="published", unit="share", group="A paper")]
    assert samples_table(sampled([SAMPLES]), beside).rows[-1] == beside[0]
    assert samples_table([], beside).finding == "No set of repeated attempts is available."


def test_tasks_with_too_few_trials_are_left_out_for_every_k() -> None:
    table = trials_table(tried([TRIALS]))
    assert {row.n for row in table.rows} == {2}
    every, any_ = (trial_rows(tried([TRIALS]), kind) for kind in ("pass^k", "pass@k"))
    assert values(every, "agent") == pytest.approx({"pass^1": 0.7, "pass^2": 0.55, "pass^3": 0.5, "pass^4": 0.5})
    assert values(any_, "agent")["pass@4"] == 1.0
    assert "agent succeeds in 70.0%" in table.finding


def test_of_many_systems_the_best_the_median_and_the_last_are_shown() -> None:
    systems = {f"s{solved}": {"t": (5, solved)} for solved in (3, 0, 5, 1, 2)}
    assert extremes(SolvedSet("d", "T", "d@0", systems)) == ("s5", "s2", "s0")
    assert extremes(TRIALS) == ("agent",)


def test_a_stated_figure_that_the_attempts_do_not_give_differs() -> None:
    (system,) = {figure.row for figure in reported_figures() if figure.id.startswith("taubench.")}
    half = SolvedSet("taubench", "T", "d@0", {system: {"t-1": (4, 4), "t-2": (4, 0)}})
    judged = [row for row in trials_table(tried([half])).rows if row.status]
    assert [row.status for row in judged] == ["differs"] * 4
    assert judged[0].reason == "The attempts give 50.00%, not 42.0%."


@pytest.mark.data
def test_the_public_figures(data_folder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("MISSTEP_DATA", str(data_folder))
    from misstep_analysis.reproduction.recorded import solve_rates

    exact = values(samples_table(sampled(solve_rates.solved_sets(solve_rates.SAMPLES))).rows, EXACT)
    assert [round(100 * value, 2) for value in exact.values()] == [22.11, 30.79, 42.03, 50.38, 68.69, 73.78]
    trials = trials_table(tried(solve_rates.solved_sets(solve_rates.TRIALS)))
    assert [row.status for row in trials.rows if row.status] == ["reproduced"] * 4
    assert len({row.group for row in trials.rows}) == 8
