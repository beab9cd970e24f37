"""On which kinds of item a judge errs: accuracy by length, and by whatever a data set says of its items."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import judging_table, p_rows
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.marginal_homogeneity import clustered_shares, pearson_shares
from misstep_analysis.stats.raters.patterns import MISSING, IntArray
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Row, Table, estimate_row, made_by_this
from misstep_analysis.tables.wording import counted_text, number_text, p_text, with_interval

if TYPE_CHECKING:
    from misstep_analysis.judging.judged import JudgedItems

LENGTH = "length"
NO_FIELDS = "The data set says nothing of its items by which they could be told apart."

_FEWEST_VALUES, _MOST_VALUES = 2, 12
_THIRDS = 3


class Lengths(Struct, frozen=True):
    """How long items are: item → length, and of what, such as `steps` or `characters`."""

    unit: str
    of_item: Mapping[str, int]


class _Slice(Struct, frozen=True):
    """The items of one value: how many have a gold label, and how many of those the judge gets right."""

    value: str
    n: int
    accuracy: Estimate
    accuracy_all: Estimate


class SlicedField(Struct, frozen=True):
    """The slices of one field, and the test that the accuracy, unanswered as wrong, is the same in all of them."""

    field: str
    slices: tuple[_Slice, ...]
    n: int
    p_value: float | None
    p_adjusted: float | None
    test: str
    reason: str


def sliced(
    sample: JudgedSample, items: Sequence[BenchmarkItem], lengths: Lengths | None = None, seed: int = 0
) -> tuple[SlicedField, ...]:
    """Return the accuracy of a judge on each kind of item."""
    fields = [] if lengths is None else _thirds(sample, lengths)
    by_id = {item.id: item for item in items}
    extras = [by_id[verdict.item].extra if verdict.item in by_id else {} for verdict in sample.verdicts]
    for name in dict.fromkeys(name for extra in extras for name in extra):
        texts = [value if isinstance(value := extra.get(name), str) and value else None for extra in extras]
        values = sorted({text for text in texts if text is not None})
        if not _FEWEST_VALUES <= len(values) <= _MOST_VALUES:
            continue
        places = {value: place for place, value in enumerate(values)}
        codes = np.array([MISSING if text is None else places[text] for text in texts], dtype=np.int64)
        if not _says_gold(codes, sample.gold):
            fields.append((name, values, codes))
    rng = np.random.default_rng(seed)
    slices = [_sliced(sample, name, values, codes, rng) for name, values, codes in fields]
    adjusted = holm([field.p_value for field in slices]).p_values
    return tuple(structs.replace(field, p_adjusted=p) for field, p in zip(slices, adjusted, strict=True))


def _says_gold(codes: IntArray, gold: IntArray) -> bool:
    """Return whether each value goes with one gold label and each gold label with one value."""
    both = (codes != MISSING) & (gold != MISSING)
    met = set(zip(codes[both].tolist(), gold[both].tolist(), strict=True))
    return len(met) == len({code for code, _ in met}) == len({label for _, label in met}) > 1


def _thirds(sample: JudgedSample, lengths: Lengths) -> list[tuple[str, list[str], IntArray]]:
    each = np.array([lengths.of_item.get(verdict.item, MISSING) for verdict in sample.verdicts], dtype=np.int64)
    known = each != MISSING
    distinct, of_length, counts = np.unique(each[known], return_inverse=True, return_counts=True)
    if len(distinct) < _FEWEST_VALUES:
        return []
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    _, third = np.unique((middle * _THIRDS).astype(np.int64), return_inverse=True)
    if not third.any():
        return []
    codes = np.full(len(each), MISSING, dtype=np.int64)
    codes[known] = third[of_length]
    names = [_range(distinct[third == place], lengths.unit) for place in range(int(third.max()) + 1)]
    return [(LENGTH, names, codes)]


def _range(lengths: IntArray, unit: str) -> str:
    low, high = int(lengths.min()), int(lengths.max())
    return f"{low:,} {unit}" if low == high else f"{low:,} to {high:,} {unit}"


def _sliced(
    sample: JudgedSample, name: str, values: Sequence[str], codes: IntArray, rng: np.random.Generator
) -> SlicedField:
    inside = sample.known & (codes != MISSING)
    share, slices = sample.units.share, []
    for place, value in enumerate(values):
        here = inside & (codes == place)
        accuracy = share(sample.right, here & sample.answered, "no item was answered")
        accuracy_all = share(sample.right, here, "no item has a gold label")
        slices.append(_Slice(value, int(np.count_nonzero(here)), accuracy, accuracy_all))
    groups, right = codes[inside], sample.right[inside]
    if sample.units.clustered:
        tested = clustered_shares(groups, right, sample.units.only(inside).of_item)
    else:
        totals = np.bincount(groups, minlength=len(values))
        tested = pearson_shares(np.bincount(groups[right], minlength=len(values)), totals, rng)
    return SlicedField(name, tuple(slices), len(groups), tested.p_value, None, tested.test, tested.reason)


@made_by_this
def slices_table(fields: Sequence[SlicedField], source: str) -> Table:
    """Return the accuracy on each kind of item, the unanswered counted as wrong."""
    rows: list[Row] = []
    for field in fields:
        for one in field.slices:
            rows.append(estimate_row(one.value, one.accuracy_all, "share", field.field, source))
            if one.accuracy.n != one.accuracy_all.n:
                rows.append(estimate_row(f"{one.value}, answered", one.accuracy, "share", field.field, source))
        rows += p_rows(field.p_value, field.p_adjusted, field.test, field.field, source, field.reason)
    note = (
        "p that the accuracy is the same in all slices of a field; "
        f"adjusted after Holm for {counted_text(len(fields), 'field')}, which may say much the same of the items."
    )
    title = "Accuracy by kind of item, unanswered counted as wrong"
    return judging_table("slices", title, _finding(fields), rows, (note,))


def _finding(fields: Sequence[SlicedField]) -> str:
    tested = [field for field in fields if field.p_value is not None]
    if not tested:
        return f"The accuracy cannot be compared between kinds of item: {fields[0].reason}."
    most = min(tested, key=lambda field: field.p_value or 0.0)
    known = [one for one in most.slices if one.accuracy_all.value is not None]
    worst, best = (end(known, key=lambda one: one.accuracy_all.value or 0.0) for end in (min, max))
    if worst is best:
        same = number_text(best.accuracy_all.value, "share")
        return f"By {most.field} the accuracy is the same on all kinds of item, {same}."
    ends = [f"{with_interval(one.accuracy_all, 'share')} on “{one.value}”" for one in (worst, best)]
    return f"By {most.field} the accuracy runs from {ends[0]} to {ends[1]}; {p_text(most.p_value, most.p_adjusted)}."


@made_by_this
def recorded_slices_table(judged: "JudgedItems", items: Sequence[BenchmarkItem], seed: int = 0) -> Table:
    """On which kinds of item a recorded judge errs more, by what its data set says of the items."""
    from misstep_analysis.judging.judged import sample_of

    name, title = f"recorded_slices_{judged.dataset}", f"On which items {judged.title} errs more"
    fields = sliced(sample_of(judged), items, None, seed)
    if not fields:
        return judging_table(name, title, NO_FIELDS, (), datasets=(judged.dataset,))
    return structs.replace(slices_table(fields, judged.source), name=name, title=title, datasets=(judged.dataset,))
