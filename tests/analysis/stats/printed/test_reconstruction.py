"""All 2 x 2 tables that print what a paper prints, and no other."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.analysis.stats import diagnostic
from misstep.analysis.stats.diagnostic import Confusion
from misstep.analysis.stats.printed.reconstruction import MEASURES, Measure, reconstruct

COUNTS = st.integers(0, 12)


def digits(table: Confusion) -> dict[Measure, str]:
    measures = {
        "accuracy": diagnostic.accuracy,
        "precision": diagnostic.precision,
        "recall": diagnostic.recall,
        "specificity": diagnostic.specificity,
        "f1": diagnostic.f1,
    }
    mirrored = Confusion(tp=table.tn, fp=table.fn, fn=table.fp, tn=table.tp)
    values = {name: measure(table).value for name, measure in measures.items()}
    values["npv"] = diagnostic.precision(mirrored).value
    return {name: f"{values[name]:.3f}" for name in MEASURES if values.get(name) is not None}


@settings(deadline=None)
@given(tp=COUNTS, fp=COUNTS, fn=COUNTS, tn=COUNTS)
def test_a_table_is_among_those_that_its_own_figures_allow(tp: int, fp: int, fn: int, tn: int) -> None:
    table = Confusion(tp, fp, fn, tn)
    if table.n:
        result = reconstruct(table.n, digits(table))
        assert table in result.tables
        assert result.complete


def test_the_search_finds_what_trying_every_table_finds() -> None:
    n = 12
    every = {
        Confusion(tp, fp, fn, n - tp - fp - fn)
        for tp, fp, fn in product(range(n + 1), repeat=3)
        if tp + fp + fn <= n
        and tp + fp
        and tp + fn
        and abs(tp / (tp + fp) - 0.67) <= 0.005 + 1e-9
        and abs(tp / (tp + fn) - 0.8) <= 0.05 + 1e-9
    }
    assert set(reconstruct(n, {"precision": "0.67", "recall": "0.8"}).tables) == every
    assert every


def test_a_search_beyond_its_budget_says_that_it_stopped() -> None:
    result = reconstruct(60, {"accuracy": "0.90"}, budget=5_000)
    assert not result.complete
    assert result.examined <= 5_000
