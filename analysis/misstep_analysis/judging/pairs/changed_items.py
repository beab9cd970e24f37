"""Pairs of a changed item and the item that it is compared with, with the verdict on each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.sample import clusters_of
from misstep_analysis.judging.units import units_of
from misstep_analysis.stats.estimate import Estimate
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
