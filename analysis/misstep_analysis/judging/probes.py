"""How far a judge's labels follow from what should not matter: each item against itself, changed.

The test of a probe is that of two judges on the same items (`comparison`): the judge on the changed items and on the
plain ones, with one label taken for the right one. What the judge says differently by chance goes either way as often,
so that it widens the interval and moves nothing.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.comparison import LEVEL, NO_DIFFERENCE, PairedJudges, compare_judges
from misstep_analysis.judging.sample import clusters_of
from misstep_analysis.judging.units import judging_table, units_of
from misstep_analysis.stats.clusters.clustered_pairs import NO_LEANING
from misstep_analysis.stats.clusters.paired import NO_DISCORDANT
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Fields, Row, Table, Unit, estimate_row, made_by_this, rows_from, rows_of
from misstep_analysis.tables.wording import counted_text, p_text, with_interval
from misstep_harness.errors import InputError
from misstep_harness.verdict import Verdict


class ChangeRecord(Struct, frozen=True):
    """What a changed item says was done to it (`harness.judges.changed_items.ItemChange`)."""

    role: Literal["plain", "copy", "base", "changed"]
    twin: str
    probe: str = ""


class ItemPair(Struct, frozen=True):
    """A changed item and its plain twin, with the label of each; `None` if there is none."""

    item: str
    twin: str
    plain: str | None
    changed: str | None
    probe: str

    @property
    def answered(self) -> bool:
        """Return whether there is a label of both."""
        return self.plain is not None and self.changed is not None

    @property
    def flipped(self) -> bool:
        """Return whether both have a label, and not the same."""
        return self.answered and self.plain != self.changed


class ChangedItems(Struct, frozen=True):
    """The items that were asked about: the verdict on each, what was done to it, and what it hangs together with."""

    of_item: dict[str, Verdict]
    changes: dict[str, ChangeRecord]
    clusters: dict[str, str]

    @classmethod
    def of(cls, items: Iterable[BenchmarkItem], verdicts: Iterable[Verdict]) -> "ChangedItems":
        """Return the items that have a verdict."""
        of_item = {verdict.item: verdict for verdict in verdicts}
        with_verdict = [item for item in items if item.id in of_item]
        return cls(of_item, {item.id: _change_of(item) for item in with_verdict}, clusters_of(with_verdict))

    @property
    def judge(self) -> str:
        """Return the name of the judge."""
        return next((verdict.judge for verdict in self.of_item.values()), "")

    @property
    def model(self) -> str:
        """Return the model that answered; empty if none did."""
        return next((verdict.model for verdict in self.of_item.values() if verdict.model), "")

    @property
    def plain(self) -> int:
        """Return the number of plain items."""
        return sum(one.role == "plain" for one in self.changes.values())

    def pairs(self, role: str) -> tuple[ItemPair, ...]:
        """Return the items of a role, each with its twin."""
        return tuple(_pair(item, one, self.of_item) for item, one in self.changes.items() if one.role == role)

    def share(self, pairs: Sequence[ItemPair], hits: Sequence[bool], undefined: str) -> Estimate:
        """Return the share of some pairs that are hits, by what their items hang together with."""
        units = units_of([pair.item for pair in pairs], self.clusters)
        return units.share(np.array(hits, dtype=np.bool_), None, undefined)


def _change_of(item: BenchmarkItem) -> ChangeRecord:
    try:
        return msgspec.convert(item.extra.get("change"), ChangeRecord)
    except msgspec.ValidationError as error:
        problem = f"item {item.id!r} does not say what was done to it: {error}"
        raise InputError(
            problem, "Ask about a benchmark that `misstep judge probe` made.", file="items.jsonl"
        ) from error


def _pair(item: str, change: ChangeRecord, of_item: Mapping[str, Verdict]) -> ItemPair:
    twin = of_item.get(change.twin)
    plain = None if twin is None else twin.label
    return ItemPair(item, change.twin, plain, of_item[item].label, change.probe)


CONTROL = "unchanged"
"""The name of the copies, in which nothing but an empty line is new."""

NO_PAIR = "no changed item and its twin were both answered"
NO_GOLD = "no item that was answered both times has a gold label"
NOT_TESTED = "a control: not tested"

_NOTHING_MOVED = (NO_DISCORDANT, NO_LEANING, NO_DIFFERENCE)
"""What a comparison of judges says where the labels did not change, for which no judge is to blame."""


_ACCURACY: Fields = (
    ("Change in accuracy", "accuracy", "difference"),
    ("Right before", "right_before", "count"),
    ("Right when changed", "right_changed", "count"),
)


class Probed(Struct, frozen=True):
    """What one change does to a judge's labels.

    - `asked`, `n`: The pairs of an item and its twin, and those that were both answered; of `silent` ones only the twin
      was.
    - `change`, `p_value`, `p_adjusted`: The share of the label among changed items less that among their twins, and the
      test that it is 0, also adjusted after Holm for all probes.
    - `flips`, `to_label`, `from_label`, `directions`: How many pairs have two labels: in all, to the label, away from
      it, and from each label to each other one.
    - `right_before`, `right_changed`, `accuracy`: How many labels are the gold label, of the twins and of the changed
      items, and the difference of these shares.
    """

    probe: str
    what: str
    asked: int
    n: int
    silent: int
    change: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    flips: int
    flip_rate: Estimate
    to_label: int
    from_label: int
    directions: dict[str, int]
    right_before: int
    right_changed: int
    accuracy: Estimate

    @property
    def is_shown(self) -> bool:
        """Return whether the change is told from chance, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


class Flip(Struct, frozen=True):
    """A changed item whose label is not its twin's."""

    item: str
    probe: str
    plain: str
    changed: str


class Probes(Struct, frozen=True):
    """What all probes did to a judge; `without_items` are those that could change none."""

    judge: str
    model: str
    label: str
    items: int
    control: Probed
    probes: tuple[Probed, ...]
    without_items: tuple[str, ...]
    flipped: tuple[Flip, ...]


def probed_judge(
    items: Iterable[BenchmarkItem],
    verdicts: Iterable[Verdict],
    gold: Iterable[GoldLabel],
    label: str,
    what_of: Mapping[str, str],
) -> Probes:
    """Return what changes do to the verdicts; `what_of` is what each probe does, by its name."""
    changed, labels = ChangedItems.of(items, verdicts), list(gold)
    by_probe: dict[str, list[ItemPair]] = {name: [] for name in what_of}
    for pair in changed.pairs("changed"):
        by_probe[pair.probe].append(pair)

    def of(name: str, what: str, pairs: Sequence[ItemPair]) -> Probed:
        return _probed(name, what, pairs, label, labels, changed)

    results = [of(name, what_of[name], pairs) for name, pairs in by_probe.items() if pairs]
    adjusted = holm([one.p_value for one in results]).p_values
    every = [pair for pairs in by_probe.values() for pair in pairs]
    return Probes(
        changed.judge,
        changed.model,
        label,
        changed.plain,
        of(CONTROL, "an empty line at the end is all that is new", changed.pairs("copy")),
        tuple(structs.replace(one, p_adjusted=p) for one, p in zip(results, adjusted, strict=True)),
        tuple(name for name, pairs in by_probe.items() if not pairs),
        tuple(Flip(pair.item, pair.probe, str(pair.plain), str(pair.changed)) for pair in every if pair.flipped),
    )


def _probed(
    name: str,
    what: str,
    pairs: Sequence[ItemPair],
    label: str,
    gold: Sequence[GoldLabel],
    changed: ChangedItems,
) -> Probed:
    both = [pair for pair in pairs if pair.answered]
    rate = _compared(both, [GoldLabel(pair.item, "", label) for pair in both], changed)
    right = _compared(both, gold, changed)
    return Probed(
        name,
        what,
        len(pairs),
        len(both),
        sum(pair.plain is not None and pair.changed is None for pair in pairs),
        _change(rate, NO_PAIR),
        rate.p_value,
        None,
        rate.test,
        sum(pair.flipped for pair in both),
        changed.share(both, [pair.flipped for pair in both], NO_PAIR),
        rate.only_a,
        rate.only_b,
        dict(Counter(f"{pair.plain} → {pair.changed}" for pair in both if pair.flipped)),
        right.both + right.only_b,
        right.both + right.only_a,
        _change(right, NO_GOLD),
    )


def _change(pair: PairedJudges, undefined: str) -> Estimate:
    doubts = "; ".join(part for part in pair.reason.split("; ") if part not in _NOTHING_MOVED)
    return structs.replace(pair.estimate, reason=doubts if pair.n else undefined)


def _compared(both: Sequence[ItemPair], gold: Iterable[GoldLabel], changed: ChangedItems) -> PairedJudges:
    """Return the judge on changed items and on their twins as if these were two judges of the same items."""
    runs = {
        "changed": [Verdict(pair.item, "", pair.changed) for pair in both],
        "plain": [Verdict(pair.item, "", pair.plain) for pair in both],
    }
    (pair,) = compare_judges(runs, gold, clusters=changed.clusters)
    return pair


def probes_document(result: Probes) -> str:
    """Return the probes as one JSON document."""
    return json.dumps(msgspec.to_builtins(result), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def probes_finding(result: Probes) -> str:
    """Return which changes move the labels, and by how much."""
    who = f"{result.judge} with {result.model}" if result.model else result.judge
    tested = [one for one in result.probes if one.p_value is not None]
    if not tested:
        return f"Nothing can be said of {who}: {NO_PAIR}."
    shown = [one for one in tested if one.is_shown]
    rate = f"how often {who} says “{result.label}”"
    if not shown:
        widest = max(tested, key=lambda one: max(abs(one.change.low or 0.0), abs(one.change.high or 0.0)))
        reaches = f"{widest.probe}: {with_interval(widest.change, 'difference')}"
        none = f"None of {counted_text(len(tested), 'probe')} is shown to change {rate}"
        return f"{none}. The interval that reaches furthest is that of {reaches}."
    moved = "; ".join(
        f"{one.probe} by {with_interval(one.change, 'difference')}, {p_text(one.p_value, one.p_adjusted)}"
        for one in shown
    )
    return f"{len(shown)} of {counted_text(len(tested), 'probe')} change{'s' * (len(shown) == 1)} {rate}: {moved}."


@made_by_this
def probes_table(result: Probes, source: str) -> Table:
    """Each probe: the change in the rate of the label, its test, and how many labels flip either way."""
    every = (*result.probes, result.control)
    rows = [row for one in every for row in _rows(one, result.label, source)]
    known = [one for one in every if one.change.value is not None]
    drawn = [estimate_row(one.probe, one.change, "difference", "", source, "generated") for one in known]
    title = f"{result.judge}: changes that say nothing about the label"
    table = judging_table("probes", title, probes_finding(result), rows, _notes(result))
    return structs.replace(table, generator="misstep_harness.judges.probes.probed", drawn=tuple(drawn))


def _rows(one: Probed, label: str, source: str) -> list[Row]:
    adjusted = Estimate(one.p_adjusted, n=one.n, method=f"{one.test}, Holm", reason="" if one.test else NO_PAIR)
    if one.probe == CONTROL:
        adjusted = Estimate(None, n=one.n, reason=NOT_TESTED)
    figures: list[tuple[str, Estimate, Unit]] = [
        (f"Change in “{label}”", one.change, "difference"),
        ("p, adjusted", adjusted, "p"),
        ("Labels that flip", one.flip_rate, "share"),
        (f"to “{label}”", Estimate(one.to_label, n=one.n), "count"),
        (f"from “{label}”", Estimate(one.from_label, n=one.n), "count"),
    ]
    return rows_of(figures, one.probe, source, "generated")


@made_by_this
def probed_accuracy_table(result: Probes, source: str) -> Table:
    """What each probe does to the accuracy on items with a gold label."""
    known = [one for one in (*result.probes, result.control) if one.accuracy.value is not None]
    rows = [row for one in known for row in rows_from(one, _ACCURACY, one.probe, source, "generated")]
    worst = min(known[:-1], key=lambda one: one.accuracy.value or 0.0)
    lowered = f"{worst.probe} lowers the accuracy most, by {with_interval(worst.accuracy, 'difference')}."
    finding = lowered if (worst.accuracy.value or 0.0) < 0 else "No probe lowers the accuracy."
    return judging_table("probed_accuracy", "What the changes do to the accuracy", finding, rows)


@made_by_this
def flipped_table(result: Probes, source: str) -> Table:
    """Return every item whose label flips, by probe."""
    rows = [
        Row(one.item, f"{one.plain} → {one.changed}", unit="text", group=one.probe, source=source, evidence="generated")
        for one in result.flipped
    ]
    counted = counted_text(len(rows), "label")
    finding = f"{counted} {'flips' if len(rows) == 1 else 'flip'} with the changes."
    return judging_table("flipped", "Labels that flip", finding, rows)


def _notes(result: Probes) -> Iterable[str]:
    yield "; ".join(f"{one.probe}: {one.what}" for one in (*result.probes, result.control)) + "."
    yield (
        f"Each is the change from an item to the same item changed, over {counted_text(result.items, 'item')}; items "
        "of one run count as one cluster. Flips by chance are those of the control."
    )
    missing = [
        f"{one.probe} {one.asked - one.n:,} of {one.asked:,}, {one.silent:,} of them only when changed"
        for one in (*result.probes, result.control)
        if one.n < one.asked
    ]
    if missing:
        yield f"Left out because the item or its twin has no answer, which is not a flip: {'; '.join(missing)}."
    if result.without_items:
        yield f"No item could be changed by {', '.join(result.without_items)}."
