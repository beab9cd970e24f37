"""P-values as rows of a table."""

from misstep.analysis.tables import Row


def p_rows(
    p_value: float | None, p_adjusted: float | None, test: str, group: str, source: str, reason: str = ""
) -> list[Row]:
    """Return a p-value and the same adjusted for the other tests of the table."""
    values = (("p", p_value), ("p, adjusted after Holm", p_adjusted))
    return [
        Row(quantity=name, value=value, unit="p", method=test, group=group, source=source, reason=reason)
        for name, value in values
    ]
