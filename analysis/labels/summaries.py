"""Columns that say what the raters say together: the label that most gave, the mean or the median of their numbers.

Such a column is not a rater: with it among them, agreement comes out too high. Where it is called so it need only say
what they say on nearly all rows; else on every row, so often where they differ that no rater could, and it alone.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean, median

_NAMES = frozenset({"mode", "mean", "median", "average", "gold", "final", "truth", "resolved"})
_STEMS = (
    "aggregat", "majorit", "mehrheit", "consens", "konsens", "adjudicat", "durchschnitt", "mittelwert", "moyenne",
    "mayoría", "promedio",
)  # fmt: skip
"""What words in the name of such a column are, and how they begin."""

_LOOKED_AT = 2_000
_DIFFER = 20
"""On so many rows at least the others give different labels, and the column says what they say together."""

_FEWEST, _OTHERS = 2, 3
"""Others at least that a column sums up where it is called so, and where it is not."""

_NEARLY_ALL = 0.9
_ROUNDED = 0.006

WHY = "what the other columns say together"


def summaries(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the columns that say what the others say together, and that it is this which speaks against each."""
    named = [name for name in columns if _is_called_so(name)]
    if len(columns) - len(named) < _FEWEST:
        named = []
    if not named and len(columns) <= _OTHERS:
        return {}
    said: Counter[tuple[str, str]] = Counter()
    where_they_differ: Counter[tuple[str, str]] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    for cells in islice(zip(*columns.values(), strict=True), _LOOKED_AT):
        labels = [unicodedata.normalize("NFC", cell.strip()).casefold() for cell in cells]
        counts = Counter(filter(None, labels))
        for name, own in zip(columns, labels, strict=True):
            others = counts - Counter([own]) if own else Counter()
            for kind, fits in _together(own, others):
                rows[name, kind] += 1
                said[name, kind] += fits
                where_they_differ[name, kind] += fits and len(others) > 1
    always = {name for name, kind in rows if said[name, kind] == rows[name, kind]}
    found = [
        name
        for name, kind in rows
        if where_they_differ[name, kind] >= (0 if name in named else _DIFFER)
        and (said[name, kind] >= _NEARLY_ALL * rows[name, kind] if name in named else always == {name})
    ]
    return dict.fromkeys(found, WHY)


def _is_called_so(name: str) -> bool:
    words = re.split(r"[\W\d_]+", name.casefold())
    return any(word in _NAMES or word.startswith(_STEMS) for word in words)


def _together(own: str, others: Counter[str]) -> Iterator[tuple[str, bool]]:
    """Return whether a label is the one that most others gave, and whether it is their mean or their median."""
    if sum(others.values()) < 2:
        return
    (label, count), *rest = others.most_common(2)
    if not rest or count > rest[0][1]:
        yield "mode", own == label
    try:
        numbers = [float(one) for one, times in others.items() for _ in range(times)]
        number = float(own)
    except ValueError:
        return
    yield "mean", abs(number - fmean(numbers)) <= _ROUNDED
    yield "median", number == median(numbers)
