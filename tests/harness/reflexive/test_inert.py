"""Dials that keep a mechanism from acting are named, and no others."""

import pytest

from misstep.harness.reflexive.item_budgets import inert
from misstep.harness.reflexive.settings import ItemLimits, LoopSettings

NEVER_ASKED, NO_PLATEAU, NO_GAP = "The strategist is never asked", "No plateau is found", "No evaluator gap is found"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (LoopSettings(), []),
        (LoopSettings(ItemLimits(seconds=121)), []),
        (LoopSettings(ItemLimits(seconds=120)), [NEVER_ASKED]),
        (LoopSettings(ItemLimits(seconds=60)), ["Nothing is reflected on", NEVER_ASKED]),
        (LoopSettings(ItemLimits(seconds=120), without=frozenset({"re_engagement"})), []),
        (LoopSettings(ItemLimits(seconds=120), without=frozenset({"time_budget"})), []),
        (LoopSettings(ItemLimits(attempts=3)), []),
        (LoopSettings(ItemLimits(attempts=2)), [NO_GAP, NEVER_ASKED]),
        (LoopSettings(ItemLimits(attempts=2), failures_between=2), [NO_GAP, NO_PLATEAU]),
        (LoopSettings(failures_between=2), [NO_PLATEAU]),
        (LoopSettings(failures_between=2, plateau_window=2), []),
        (LoopSettings(failures_between=2, without=frozenset({"re_engagement"})), []),
    ],
)
def test_what_can_never_happen_is_said(settings, said):
    assert [sentence.startswith(start) for sentence, start in zip(inert(settings), said, strict=True)] == [True] * len(
        said
    )
