"""A funnel: counts that narrow step by step, each with its share of the step before and of the first."""

from collections.abc import Sequence
from itertools import pairwise

from misstep.analysis.tables import Row
from misstep.harness.errors import UsageError


def _check(rows: Sequence[Row], values: Sequence[float | None]) -> None:
    for row, value in zip(rows, values, strict=True):
        if value is not None and value < 0:
            raise UsageError(f"a count below 0 in a funnel: {row.quantity}")
    for (_, before), (row, value) in pairwise(zip(rows, values, strict=True)):
        if before is not None and value is not None and value > before:
            raise UsageError(f"{row.quantity} is more than the step before it", "Give the steps from all to the least.")
