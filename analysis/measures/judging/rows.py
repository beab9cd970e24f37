"""P-values as rows of a table, and an estimate with its interval in a sentence."""

from analysis.stats.estimate import Estimate
from analysis.tables import Row, Unit
from analysis.tables.wording import number_text


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


def with_interval(estimate: Estimate, unit: Unit, whose: str = "") -> str:
    """An estimate with its 95% interval, or that it has none, and with whose it is where that is named."""
    interval = interval_words(estimate.low, estimate.high, unit)
    return f"{number_text(estimate.value, unit)} ({'; '.join(filter(None, (whose, interval)))})"


def interval_words(low: float | None, high: float | None, unit: Unit) -> str:
    """The 95% interval in words, or that there is none."""
    if low is None or high is None:
        return "no 95% interval"
    return f"95% interval {number_text(low, unit)} to {number_text(high, unit)}"
