"""Run a judge over a benchmark: every item is judged once, and every answer is kept.

Select the items of a benchmark that a judge is asked about: all that can be asked, or a sample of them.

The whole `items.jsonl` is read before the first request, so that every error in it is reported before anything is sent.
A sample is drawn by a digest of seed and id: it does not depend on the order of the items, and a smaller sample is part
of a larger one.

Ask a judge of pairs with the outputs in both orders, or in an order that is drawn, and take the answers together.

A judge sees one output as A and the other as B and does not know the order. Its answers are written down by the names
that the outputs have in the item.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import heappush, heappushpop
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.classifiers import categories
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import (
    CATEGORY,
    Item,
    category_in,
    numbered_items,
    read_items,
    read_question,
    trajectory_file,
)
from misstep_harness.journal.records import VERDICT_RECORDS, Inputs
from misstep_harness.judges.runnable import RunnableJudge, fitted, offered
from misstep_harness.protocols import Ask
from misstep_harness.runs.kind import RunEnd, RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.runs.run import Asking, carry_out
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import STATUSES, OrderAnswer, Orders, PairVerdict, Verdict

if TYPE_CHECKING:
    from misstep_harness.runs.spread import Workers

ANOTHER_CATEGORY = "they ask about another category"


class Categories(Struct, frozen=True):
    """The categories of a benchmark's items that a judge is asked about, and those that are not its to answer."""

    asked: frozenset[str]
    others: frozenset[str]


class _Named(Struct, frozen=True):
    id: str
    extra: dict[str, Any] = {}


def categories_for(judge: RunnableJudge, folder: Path) -> Categories:
    """Return what a judge is asked about of a benchmark folder that may ask about several categories.

    If no item names the judge's own, the word may sort the items instead: then the judge is asked about all.
    """
    named = frozenset(category_in(item.extra) for item in read_items(folder, _Named)) - {""}
    own = named & judge.own_categories
    # Categories are part of the question if judges are shown them, or if a rule has the name of one.
    if (
        not own
        and (judge.category or judge.covered)
        and (CATEGORY in read_question(folder).shown or not named.isdisjoint(categories()))
    ):
        own = named & judge.covered
    elif not own:
        return Categories(named, frozenset())
    return Categories(own, named - own)


def unsure_of(judge: RunnableJudge, chosen: Categories) -> str:
    """A sentence where a judge that cannot tell categories apart is asked about several; empty where all is well."""
    if len(chosen.asked) < 2 or judge.sees_category:
        return ""
    return (
        f"The items ask about {len(chosen.asked)} categories ({', '.join(sorted(chosen.asked))}), and {judge.name} "
        f"names none as its own: it is asked about all of them. A judge of one declares it as `{CATEGORY}`."
    )


class Sampling(Struct, frozen=True):
    """The size of a sample and its random seed."""

    size: int
    seed: int = 0


class Selection(Struct, frozen=True):
    """The items that a judge is asked about.

    - `n`, `n_all`: The number of items that are asked about, and of all in the benchmark.
    - `left_out`: Reason → number of items that cannot be asked about for that reason.
    - `sampling`, `last`: The sample's size and seed, and the digest of its last item; `None` without a sample.
    """

    judge: RunnableJudge
    folder: Path
    n: int
    n_all: int
    left_out: dict[str, int]
    categories: Categories
    sampling: Sampling | None = None
    last: int | None = None

    def items(self) -> Iterator[Item]:
        """Return the items, in the order of the benchmark, as a stream."""
        items = (item for item in read_items(self.folder) if not _skip_reason(self.judge, item, self.categories))
        sampling, last = self.sampling, self.last
        return (item for item in items if sampling is None or last is None or _digest(item, sampling) <= last)

    @property
    def sentence(self) -> str:
        """A sentence with the number of items that are not asked about and the reasons; empty if there are none."""
        parts = [f"{count:,} cannot be asked ({reason})" for reason, count in self.left_out.items()]
        left = self.n_all - sum(self.left_out.values()) - self.n
        if self.sampling is not None and left:
            parts.append(f"{left:,} are not in the sample (seed {self.sampling.seed})")
        sampled = f"{self.n:,} of {self.n_all:,} items are asked: {'; '.join(parts)}." if parts else ""
        return " ".join(filter(None, (sampled, unsure_of(self.judge, self.categories))))


def select_items(judge: RunnableJudge, folder: Path, sampling: Sampling | None = None) -> Selection:
    """Return the items of a benchmark that a judge is asked about."""
    n_all, n_askable = 0, 0
    left_out: Counter[str] = Counter()
    drawn: list[int] = []
    checked: set[str] = set()
    chosen = categories_for(judge, folder)
    for line, item in numbered_items(folder):
        n_all += 1
        if reason := _skip_reason(judge, item, chosen):
            left_out[reason] += 1
            continue
        n_askable += 1
        _check(judge, item, folder, line, checked)
        if sampling is not None:
            _draw(drawn, _digest(item, sampling), sampling.size)
    if not n_askable:
        raise _nothing_to_ask(folder, left_out)
    whole = sampling is None or n_askable <= sampling.size
    n = n_askable if whole or sampling is None else sampling.size
    last = None if whole else -drawn[0]
    return Selection(judge, folder, n, n_all, dict(left_out), chosen, sampling, last)


def _skip_reason(judge: RunnableJudge, item: Item, chosen: Categories) -> str:
    return ANOTHER_CATEGORY if category_in(item.extra) in chosen.others else judge.skip_reason(item)


def _digest(item: Item, sampling: Sampling) -> int:
    seeded = f"{sampling.seed}\0{item.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(seeded).digest())


def _draw(drawn: list[int], digest: int, size: int) -> None:
    """Keep the `size` smallest digests, as a heap of their negatives: the largest of them comes first."""
    if len(drawn) < size:
        heappush(drawn, -digest)
    else:
        heappushpop(drawn, -digest)


def _check(judge: RunnableJudge, item: Item, folder: Path, line: int, checked: set[str]) -> None:
    field = "labels"
    try:
        offered(judge.labels, item)
        if isinstance(item.trajectory, str) and item.trajectory not in checked:
            field = "trajectory"
            trajectory_file(folder, item.trajectory)
            checked.add(item.trajectory)
    except InputError as error:
        raise InputError(error.found, error.advice, file=folder / "items.jsonl", line=line, field=field) from error


def _nothing_to_ask(folder: Path, left_out: Counter[str]) -> InputError:
    file = folder / "items.jsonl"
    if not left_out:
        return InputError("the file has no items", "Write one JSON object per line.", file=file)
    (reason, count), *_ = left_out.most_common(1)
    message = f"no item can be asked about: {reason} ({count:,} of {left_out.total():,} items)"
    return InputError(
        message, "A judge needs items with content. `misstep agreement` can still read gold.csv.", file=file
    )


Place = Literal["a", "b"]
_OTHER = {"a": "b", "b": "a"}
_SPENT = ("seconds", "input_tokens", "output_tokens", "cost_usd")


async def in_orders(
    judge: RunnableJudge, item: Item, trajectory: Trajectory | None, ask: Ask, orders: Orders
) -> PairVerdict:
    """Return the verdict of a judge on a pair; all orders are asked at once."""
    firsts: tuple[Place, ...] = ("a", "b") if orders == "both" else (_drawn_first(item),)
    shown = [item if first == "a" else turned(item) for first in firsts]
    verdicts = await asyncio.gather(*(judge.verdict(one, trajectory, ask) for one in shown))
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


COMMAND = "judge run"
BOTH: Orders = "both"


class JudgeRun(RunKind[Item, Verdict]):
    """A judge over a benchmark: each item is a unit, each verdict a record."""

    command = COMMAND
    noun = "items"
    records = VERDICT_RECORDS
    keeps_replies = True
    renewed = frozenset({"prompt", "judge_digest", "examples", "inputs"})
    prepared = 32

    def __init__(
        self, judge: RunnableJudge, benchmark: Path, sampling: Sampling | None, orders: Orders | None = None
    ) -> None:
        self._judge, self._benchmark, self._sampling = judge, benchmark, sampling
        self._question = read_question(benchmark)
        self._orders = orders
        if orders is not None and self._question.kind != "pair":
            message = f"--orders has no meaning for {self._question.name}: its items are of kind {self._question.kind}"
            raise UsageError(message, "Leave it out.")
        self.folder = str(benchmark.resolve())
        self.shown = judge.shown
        self.asks_again = judge.asks_model  # rules and recordings would fail on the same items again

    @cached_property
    def _runs(self) -> BenchmarkRuns:  # not before the work: what is held of files need not be pickled
        return BenchmarkRuns(self._benchmark)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the judge, the name of the benchmark and the sample."""
        sampled = {} if self._sampling is None else {"sample": self._sampling.size, "sample_seed": self._sampling.seed}
        ordered = {"orders": self._orders or BOTH} if self._question.kind == "pair" else {}
        return {**self._judge.settings, "benchmark": self._question.name, **sampled, **ordered}

    def inputs(self) -> Inputs:
        """Return the files of the benchmark."""
        return inputs_of(self._benchmark)

    def units(self) -> Units[Item]:
        """Return the items that the judge is asked about."""
        selection = select_items(self._judge, self._benchmark, self._sampling)
        return Units(selection.n, selection.items(), selection.sentence)

    def failure_of(self, record: Verdict) -> str | None:
        """Return why the judge could not be asked about an item."""
        return (record.error or "") if record.status == "failed" else None

    def cost_of(self, record: Verdict) -> float | None:
        """Return the cost of a verdict whose replies did not come from the cache."""
        return None if record.cached else record.cost_usd

    async def do(self, unit: Item, requests: ModelRequests) -> tuple[Verdict, float | None] | None:
        """Return the verdict on an item and its cost."""
        return await judged(self._judge, self._runs, requests, unit, self._orders or BOTH)


def run_judge(
    judge: RunnableJudge,
    folder: Path,
    out: Path,
    settings: ClientSettings,
    *,
    concurrency: int = 16,
    batch: bool = False,
    sampling: Sampling | None = None,
    orders: Orders | None = None,
    workers: "Workers | None" = None,
    arguments: Sequence[str] = (),
) -> RunEnd:
    """Ask a judge about every item that the run in `out` has no answer for yet, with `batch` by the Batch API."""
    kind = JudgeRun(fitted(judge, read_question(folder), folder, out), folder, sampling, orders)
    return carry_out(kind, out, Asking(settings, concurrency, batch), workers=workers, arguments=arguments)


async def judged(
    judge: RunnableJudge, runs: BenchmarkRuns, model_requests: ModelRequests, item: Item, orders: Orders = BOTH
) -> tuple[Verdict, float | None] | None:
    """Return the verdict on an item and its cost, or `None` if the run ended before; an exception fails the item."""
    await asyncio.sleep(0)  # begin all items that may run at once before the first of them asks
    ask = ItemAsk(model_requests, item.id, judge.model)
    try:
        trajectory = runs.of(item) if judge.reads_run(item) else None
        if item.kind == "pair" and judge.asks_model:  # a recorded answer is of the pair as it is
            verdict: Verdict = await in_orders(judge, item, trajectory, ask, orders)
        else:
            verdict = await judge.verdict(item, trajectory, ask)
    except InputError as error:  # the item's run cannot be read
        verdict = judge.failure(item, error.line())
    finally:
        model_requests.item_done()
    return None if ask.cut_off else (verdict, ask.spent_usd)
