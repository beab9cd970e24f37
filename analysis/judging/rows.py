"""P-values as rows of a table, and an estimate with its interval in a sentence."""

from analysis.formatting import number_text
from analysis.stats.estimate import Estimate
from analysis.tables import Row, Unit


def p_rows(
    p_value: float | None, p_adjusted: float | None, test: str, group: str, source: str, reason: str = ""
) -> list[Row]:
    """A p-value and the same adjusted for the other tests of the table."""
    values = (("p", p_value), ("p, adjusted after Holm", p_adjusted))
    return [
        Row(quantity=name, value=value, unit="p", method=test, group=group, source=source, reason=reason)
        for name, value in values
    ]


def p_text(p_value: float | None, p_adjusted: float | None) -> str:
    """A p-value, and what is left of it after adjustment where that changes it."""
    told = f"p {number_text(p_value, 'p')}"
    return told if p_adjusted == p_value else f"{told}, adjusted {number_text(p_adjusted, 'p')}"


def with_interval(estimate: Estimate, unit: Unit) -> str:
    """An estimate with its 95% interval, where it has one."""
    told = number_text(estimate.value, unit)
    if estimate.low is None or estimate.high is None:
        return told
    return f"{told} (95% interval {number_text(estimate.low, unit)} to {number_text(estimate.high, unit)})"
