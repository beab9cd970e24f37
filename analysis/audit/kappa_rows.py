"""Kappa with only some printed rows of the raters' matrix: the others are filled in every possible way."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import structs

from misstep.analysis.audit.checked import Checked, underdetermined
from misstep.analysis.audit.rounding_boxes import fits, is_exact_count, number, point, printed_value, whole_counts
from misstep.analysis.published import Figure
from misstep.analysis.stats.printed.kappa_tables import Table, find_table, products_of
from misstep.analysis.stats.printed.row_completion import Completions, completions

_OTHER_ITEMS = "the printed rows are of other items than the kappa: without them it would fit"


def rows_by_label(rows: Sequence[str], columns: Sequence[str]) -> dict[int, int]:
    """Return row → the column of the same label: the name, or one the beginning of the other ("Infra.").

    Empty if a row has no column of its name, or several.
    """
    positions: dict[int, int] = {}
    for place, row in enumerate(rows):
        exact = [at for at, column in enumerate(columns) if _plain(column) == _plain(row)]
        alike = exact or [
            at
            for at, column in enumerate(columns)
            if _plain(row).startswith(_plain(column)) or _plain(column).startswith(_plain(row))
        ]
        if len(alike) != 1 or alike[0] in positions.values():
            return {}
        positions[place] = alike[0]
    return positions


def check_kappa_with_rows(
    figure: Figure,
    n: Figure,
    agreement: Figure,
    rows: Mapping[int, Sequence[Figure]],
    labels: int,
    other_items: str = "",
) -> Checked:
    """Cohen's kappa of n items with some rows of their matrix."""
    checked = _of_same_items(figure, n, agreement, rows, labels)
    if not (checked.repair == "other_items" and other_items and n.is_worked_out):
        return checked
    sentence = (
        f"{checked.sentence} This would contradict the kappa if the printed rows were of the same {n.printed} items, "
        f"which cannot be told: {n.printed} is not printed, and {other_items}."
    )
    return structs.replace(checked, status="underdetermined", sentence=sentence, wanting=other_items)


def _of_same_items(
    figure: Figure, n: Figure, agreement: Figure, rows: Mapping[int, Sequence[Figure]], labels: int
) -> Checked:
    if not is_exact_count(n) or not all(is_exact_count(cell) for row in rows.values() for cell in row):
        return underdetermined("kappa", "A count of the items, or of a cell of the matrix, is not printed in full.")
    items = int(printed_value(n))
    known = {label: [int(printed_value(cell)) for cell in row] for label, row in rows.items()}
    inside = sum(map(sum, known.values()))
    counts = whole_counts(agreement, items)
    if not counts:
        return Checked("kappa", "impossible", f"No whole count of {items:,} prints as {agreement.printed} agreement.")
    if inside > items:
        sentence = f"The printed rows hold {inside:,} items, more than all {items:,}."
        return _without_rows(Checked("kappa", "impossible", sentence), figure, items, counts, labels)
    looks = {agree: completions(items, agree, labels, known) for agree in counts}
    if any(not look.complete for look in looks.values()):
        return underdetermined(
            "kappa", f"The {items - inside:,} items outside the printed rows leave too many matrices."
        )
    return _judged(figure, items, looks, known, labels)


def _judged(
    figure: Figure, items: int, looks: Mapping[int, Completions], known: Mapping[int, Sequence[int]], labels: int
) -> Checked:
    alike = sum(row[label] for label, row in known.items())
    inside = sum(map(sum, known.values()))
    agree = " or ".join(f"{count:,}" for count in looks)
    agreeing = f"{agree} of {items:,} agree, and {alike:,} of the {inside:,} in the printed rows"
    possible = [
        (kappa, table) for look in looks.values() for kappa, table in zip(look.kappas, look.tables, strict=True)
    ]
    if not possible:
        sentence = f"{agreeing}: no other rows go with that."
        return _without_rows(Checked("kappa", "impossible", sentence), figure, items, looks, labels)
    low, high = min(possible)[0], max(possible)[0]
    ends = f"{number(low, figure)} to {number(high, figure)}"
    fitting = [table for kappa, table in possible if fits(figure, point(kappa))]
    if not fitting:
        what = f"the other {items - inside:,} items leave a kappa from {ends}"
        how = (
            f"not {figure.printed}"
            if not low <= printed_value(figure) <= high
            else f"and none prints as {figure.printed}"
        )
        checked = Checked("kappa", "impossible", f"{agreeing}; {what}, {how}.", None, float(low), float(high))
        return _without_rows(checked, figure, items, looks, labels)
    if len(fitting) == len(possible):
        ends = number(low, figure) if low == high else f"from {ends}"
        sentence = f"{agreeing}; kappa is {ends}, printed as {figure.printed}, whatever the other rows are."
        return Checked("kappa", "reproduced", sentence, float(low))
    sentence = (
        f"{agreeing}; the other items leave a kappa from {ends}, {figure.printed} with the matrix {drawn(fitting[0])}"
    )
    return Checked("kappa", "underdetermined", f"{sentence}, others with others.", None, float(low), float(high))


def _without_rows(checked: Checked, figure: Figure, items: int, counts: Iterable[int], labels: int) -> Checked:
    """Return the judgement, with the suggestion that the rows are of other items if the kappa fits without them."""
    half = Fraction(1, 2 * 10 ** len(figure.digits.partition(".")[2]))
    for agree in counts:
        products = products_of(items, agree, printed_value(figure) - half, printed_value(figure) + half)
        if find_table(items, agree, labels, products).table is not None:
            return structs.replace(checked, suggestion=_OTHER_ITEMS, repair="other_items")
    return checked


def drawn(table: Table) -> str:
    """Return a matrix in one line: its rows in brackets."""
    return " ".join("[" + " ".join(f"{cell}" for cell in row) + "]" for row in table)


def _plain(label: str) -> str:
    return label.strip(" .").casefold()
