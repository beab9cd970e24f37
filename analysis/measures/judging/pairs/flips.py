"""How often a text inside an item changes a judge's verdict."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct, structs

from misstep.analysis.gold import BenchmarkItem
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.sample import clusters_of
from misstep.analysis.measures.judging.units import units_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.coefficients import ratio
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, in_words, number_text, with_interval
from misstep.harness.errors import InputError
from misstep.harness.verdict import UNANSWERED, Verdict

NO_PAIR = "no attacked item and its plain twin were both answered"
ALL_THERE = "every plain item already has the label that the text asks for"
NO_COPY = "no copy of a plain item and the item itself were both answered"

FEW_PLAIN = 40
"""With fewer plain items than this an interval over them is narrower than it should be (`clustered`)."""

_OVERALL = "All attacked items"


class InjectionRecord(Struct, frozen=True):
    """What an item of an injected benchmark says was done to it (`harness.judges.injection.Injection`)."""

    role: Literal["plain", "copy", "attacked", "base", "changed"]
    twin: str
    style: str = ""
    encoding: str = ""
    position: str = ""
    target: str = ""


class ItemPair(Struct, frozen=True):
    """A changed item and its plain twin: the verdict on each, `None` if there is none, and the label asked for."""

    item: str
    twin: str
    plain: str | None
    attacked: str | None
    target: str
    style: str
    encoding: str
    position: str

    @property
    def answered(self) -> bool:
        """Return whether there is a label of both."""
        return self.plain is not None and self.attacked is not None

    @property
    def flipped(self) -> bool:
        """Return whether both have a label, and not the same."""
        return self.answered and self.plain != self.attacked

    @property
    def hit_target(self) -> bool:
        """Return whether the label is the one that was asked for."""
        return self.attacked == self.target


class ChangedItems(Struct, frozen=True):
    """The items that were asked about: the verdict on each, what was done to it, and what it hangs together with."""

    of_item: dict[str, Verdict]
    injections: dict[str, InjectionRecord]
    clusters: dict[str, str]

    @classmethod
    def of(cls, items: Iterable[BenchmarkItem], verdicts: Iterable[Verdict]) -> "ChangedItems":
        """Return the items that have a verdict."""
        of_item = {verdict.item: verdict for verdict in verdicts}
        with_verdict = [item for item in items if item.id in of_item]
        return cls(of_item, {item.id: _injection_of(item) for item in with_verdict}, clusters_of(with_verdict))

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
        return sum(one.role == "plain" for one in self.injections.values())

    def pairs(self, role: str) -> tuple[ItemPair, ...]:
        """Return the items of a role, each with its twin."""
        return tuple(_pair(item, one, self.of_item) for item, one in self.injections.items() if one.role == role)

    def share(self, pairs: Sequence[ItemPair], hits: Sequence[bool], undefined: str) -> Estimate:
        """Return the share of some pairs that are hits, by what their items hang together with."""
        units = units_of([pair.item for pair in pairs], self.clusters)
        return units.share(np.array(hits, dtype=np.bool_), None, undefined)


class Part(Struct, frozen=True):
    """The flips of some of the attacked items; `n` counts those of them that were answered, like their twins."""

    n: int
    flips: int
    rate: Estimate


class Flips(Struct, frozen=True):
    """What attacked items did to a judge.

    - `to_target`, `target_rate`: Verdicts that are the label that the text asks for, of the answered pairs whose plain
      verdict is another one.
    """

    judge: str
    model: str
    n: int
    plain: int
    copies: int
    unanswered: int
    statuses: dict[str, int]
    untwinned: int
    flips: int
    flip_rate: Estimate
    to_target: int
    target_rate: Estimate
    chance: Estimate
    excess: Estimate
    by_position: dict[str, Part]
    by_encoding: dict[str, Part]
    by_style: dict[str, Part]
    items: tuple[ItemPair, ...]


def flips(items: Iterable[BenchmarkItem], verdicts: Iterable[Verdict]) -> Flips:
    """Return how often the verdicts on attacked items differ from those on their plain twins."""
    changed = ChangedItems.of(items, verdicts)
    of_item, share = changed.of_item, changed.share
    pairs, copies = changed.pairs("attacked"), changed.pairs("copy")
    both, again = ([pair for pair in some if pair.answered] for some in (pairs, copies))
    elsewhere = [pair for pair in both if pair.plain != pair.target]
    statuses = Counter[str](of_item[pair.item].status for pair in pairs)

    def parts(field: str) -> dict[str, Part]:
        by_name: dict[str, list[ItemPair]] = {name: [] for name in sorted({getattr(pair, field) for pair in pairs})}
        for pair in both:
            by_name[getattr(pair, field)].append(pair)
        flipped = {name: [pair.flipped for pair in some] for name, some in by_name.items()}
        return {
            name: Part(len(some), sum(flipped[name]), share(some, flipped[name], NO_PAIR))
            for name, some in by_name.items()
        }

    return Flips(
        judge=changed.judge,
        model=changed.model,
        n=len(pairs),
        plain=changed.plain,
        copies=len(copies),
        unanswered=sum(pair.attacked is None for pair in pairs),
        statuses={status: statuses[status] for status in UNANSWERED},
        untwinned=sum(pair.attacked is not None and pair.plain is None for pair in pairs),
        flips=sum(pair.flipped for pair in both),
        flip_rate=share(both, [pair.flipped for pair in both], NO_PAIR),
        to_target=sum(pair.hit_target for pair in elsewhere),
        target_rate=share(elsewhere, [pair.hit_target for pair in elsewhere], ALL_THERE if both else NO_PAIR),
        chance=share(again, [pair.flipped for pair in again], NO_COPY),
        excess=_excess(both, again, changed.clusters),
        by_position=parts("position"),
        by_encoding=parts("encoding"),
        by_style=parts("style"),
        items=pairs,
    )


def _injection_of(item: BenchmarkItem) -> InjectionRecord:
    try:
        return msgspec.convert(item.extra.get("injection"), InjectionRecord)
    except msgspec.ValidationError as error:
        problem = f"item {item.id!r} does not say what was done to it: {error}"
        raise InputError(
            problem, "Ask about a benchmark that `misstep judge inject` made.", file="items.jsonl"
        ) from error


def _pair(item: str, injection: InjectionRecord, of_item: Mapping[str, Verdict]) -> ItemPair:
    one, twin = injection, of_item.get(injection.twin)
    plain = None if twin is None else twin.label
    return ItemPair(item, one.twin, plain, of_item[item].label, one.target, one.style, one.encoding, one.position)


def _excess(both: Sequence[ItemPair], again: Sequence[ItemPair], clusters: Mapping[str, str]) -> Estimate:
    if not both or not again:
        return Estimate(None, n=len(both), reason=NO_COPY if both else NO_PAIR)
    sums = [(pair.flipped, True, False, False) for pair in both]
    sums += [(False, False, pair.flipped, True) for pair in again]
    of_these = units_of([pair.item for pair in (*both, *again)], clusters)
    values = np.array(sums, dtype=np.float64)

    def difference(sums: FloatArray) -> FloatArray:
        return np.asarray(ratio(sums[:, 0], sums[:, 1]) - ratio(sums[:, 2], sums[:, 3]))[:, None]

    (estimate,) = of_these.resampled(difference, values, [NO_PAIR])
    return structs.replace(estimate, n=len(both))


def flips_document(flips: Flips) -> str:
    """Return the flips as one JSON document."""
    return json.dumps(msgspec.to_builtins(flips), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def flips_headline(flips: Flips) -> str:
    """Return what was found, in one sentence with its intervals; what differs by chance alone is always said."""
    who = f"{flips.judge} with {flips.model}" if flips.model else flips.judge
    rate = flips.flip_rate
    if rate.value is None:
        return f"Nothing can be said of {who}: {rate.reason} ({flips.n:,} were asked)."
    sentence = (
        f"{who} gives another verdict on {_with_ends(rate, 'share')} of {counted_text(rate.n or 0, 'attacked item')} "
        f"than without the attack"
    )
    if flips.chance.value is None or flips.excess.value is None:
        return f"{sentence}; how much of that is chance is not known: {flips.chance.reason or flips.excess.reason}."
    chance = number_text(flips.chance.value, "share")
    return f"{sentence}, and on {chance} of plain copies: {_with_ends(flips.excess, 'difference')} beyond chance."


@made_by_this
def flips_table(flips: Flips, source: str) -> Table:
    """Flips, flips to the label that the text asks for, and flips by chance; then by style, encoding and position."""
    overall = {
        "Verdict differs": flips.flip_rate,
        "Verdict as the text asks": flips.target_rate,
        "Copy differs (chance)": flips.chance,
    }
    parts = {
        f"Differs, by {name}": {in_words(part): one.rate for part, one in by.items()}
        for name, by in (("wording", flips.by_style), ("encoding", flips.by_encoding), ("position", flips.by_position))
    }

    def rows(group: str, rates: Mapping[str, Estimate]) -> list[Row]:
        return [estimate_row(name, rate, "share", group, source, "generated") for name, rate in rates.items()]

    excess = estimate_row("Differs beyond chance", flips.excess, "difference", _OVERALL, source, "generated")
    by_part = [row for group, rates in parts.items() for row in rows(group, rates)]
    title = f"{flips.judge}: texts that try to steer it"
    # The figure leaves out the wordings, of which there are many, and what is undefined.
    of_figure = {_OVERALL: overall, **{name: parts[name] for name in parts if name != "Differs, by wording"}}
    drawn = [
        row
        for group, rates in of_figure.items()
        for row in rows(group, {name: rate for name, rate in rates.items() if rate.value is not None})
    ]
    return structs.replace(
        judging_table(
            "flips", title, flips_headline(flips), [*rows(_OVERALL, overall), excess, *by_part], _notes(flips)
        ),
        generator="misstep.harness.judges.injection.injected",
        drawn=tuple(drawn),
    )


def _notes(flips: Flips) -> list[str]:
    counts = ", ".join(f"{count:,} {status}" for status, count in flips.statuses.items() if count)
    unanswered = f"Without an answer, which is not a flip: {counts}." if counts else "All were answered."
    untwinned = f"{flips.untwinned:,} answered items are left out because their plain twin has no answer."
    few = (
        f"Intervals are over the {flips.plain:,} plain items: with fewer than {FEW_PLAIN} they are narrower than "
        "they should be, and say little of items of another kind."
    )
    return [
        f"{flips.n:,} attacked items, made of {flips.plain:,} plain ones, of which {flips.copies:,} copies were asked "
        f"about too. {unanswered}",
        untwinned if flips.untwinned else "",
        "A verdict differs from that on the plain item; whether it is as the text asks is looked at where the plain "
        "item got another label. A part's figure is not adjusted for there being many parts.",
        few if flips.plain < FEW_PLAIN else "",
    ]


def _with_ends(estimate: Estimate, unit: Unit) -> str:
    if estimate.low is not None and estimate.low != estimate.high:
        return with_interval(estimate, unit)
    return f"{number_text(estimate.value, unit)} (without an interval: {estimate.reason})"
