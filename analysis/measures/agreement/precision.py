"""How many more items would narrow the intervals of the coefficients over all raters to a width that is wished for."""

from collections.abc import Mapping

from msgspec import Struct

from misstep.analysis.stats.decisions.power import items_for_width
from misstep.analysis.stats.estimate import Estimate


class ItemsNeeded(Struct, frozen=True):
    """A coefficient's interval now, how many items it would take in all, and how many of these are to come."""

    coefficient: str
    interval_width: float | None
    items: int | None
    more: int | None
    reason: str = ""


class WidthGoal(Struct, frozen=True):
    """The width that is wished for, and what it takes for each coefficient: approximate numbers."""

    width: float
    coefficients: list[ItemsNeeded]


def width_goal(estimates: Mapping[str, Estimate], width: float) -> WidthGoal:
    """Return what it takes for every coefficient to have an interval of this width."""
    return WidthGoal(width, [_needed(name, estimate, width) for name, estimate in estimates.items()])


def _needed(name: str, estimate: Estimate, width: float) -> ItemsNeeded:
    items = items_for_width(estimate, width)
    if items is None or estimate.low is None or estimate.high is None:
        return ItemsNeeded(name, None, None, None, estimate.reason or "it has no interval")
    return ItemsNeeded(name, estimate.high - estimate.low, items, max(0, items - (estimate.n or 0)))
