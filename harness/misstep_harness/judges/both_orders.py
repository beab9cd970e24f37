"""Ask a judge of pairs with the outputs in both orders, or in an order that is drawn, and take the answers together.

A judge sees one output as A and the other as B and does not know the order. Its answers are written down by the names
that the outputs have in the item.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from misstep_harness.items import Item
from misstep_harness.judges.answering import answered
from misstep_harness.protocols import Ask, FittedJudge
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import STATUSES, OrderAnswer, Orders, PairVerdict, Verdict

Place = Literal["a", "b"]
_OTHER = {"a": "b", "b": "a"}
_SPENT = ("seconds", "input_tokens", "output_tokens", "cost_usd")


async def in_orders(
    judge: FittedJudge, item: Item, trajectory: Trajectory | None, ask: Ask, orders: Orders
) -> PairVerdict:
    """Return the verdict of a judge on a pair; all orders are asked at once."""
    firsts: tuple[Place, ...] = ("a", "b") if orders == "both" else (_drawn_first(item),)
    shown = [item if first == "a" else turned(item) for first in firsts]
    verdicts = await asyncio.gather(*(answered(judge, one, trajectory, ask) for one in shown))
    return _together(item, [(first, verdict) for first, verdict in zip(firsts, verdicts, strict=True)])


def turned(item: Item) -> Item:
    """Return a pair with its outputs in the other order, and with what `extra` says of each."""
    extra = {_turned_name(name, item.extra): value for name, value in item.extra.items()}
    return replace(item, output_a=item.output_b, output_b=item.output_a, extra=extra)


def _turned_name(name: str, names: dict[str, Any]) -> str:
    other = name[:-1] + _OTHER.get(name[-1:], "")
    return other if name[-2:] in ("_a", "_b") and other in names else name


def _drawn_first(item: Item) -> Place:
    """Return the output that comes first: drawn by the item's id, so that a run that goes on draws alike."""
    return "b" if hashlib.sha256(f"order\0{item.id}".encode("utf-8", "surrogatepass")).digest()[0] % 2 else "a"


def _together(item: Item, verdicts: Sequence[tuple[Place, Verdict]]) -> PairVerdict:
    orders = tuple(_order_answer(first, verdict) for first, verdict in verdicts)
    spent: dict[str, Any] = {name: _sum([getattr(verdict, name) for _, verdict in verdicts]) for name in _SPENT}
    worst = max(orders, key=lambda one: STATUSES.index(one.status))
    label, status, error = worst.label, worst.status, worst.error
    scores = [one.score for one in orders if one.score is not None]
    score = sum(scores) / len(scores) if len(scores) == len(orders) else None
    if status == "answered" and len({one.label for one in orders}) > 1:
        labels = " and ".join(f"{one.label} with {one.first} in the first place" for one in orders)
        label, status, error = None, "abstained", f"undecided: it says {labels}"
    _, first = verdicts[0]
    return PairVerdict(
        item.id,
        first.judge,
        label,
        status,
        score if label is not None else None,
        rationale=orders[0].rationale,
        **spent,
        model=first.model,
        prompt=first.prompt,
        cached=all(verdict.cached for _, verdict in verdicts),
        error=error,
        orders=orders,
    )


def _order_answer(first: Place, verdict: Verdict) -> OrderAnswer:
    label = verdict.label if first == "a" or verdict.label is None else _OTHER.get(verdict.label, verdict.label)
    return OrderAnswer(first, label, verdict.status, verdict.score, verdict.rationale, verdict.error)


def _sum(values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)
