"""Run a judge over a benchmark: every item is judged once, and every answer is kept."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Item, read_question
from misstep_harness.journal.records import VERDICT_RECORDS, Inputs
from misstep_harness.judges.answering import answered, unjudged
from misstep_harness.judges.both_orders import in_orders
from misstep_harness.protocols import FittedJudge, Judge
from misstep_harness.runs.judging.item_selection import Sampling, select_items
from misstep_harness.runs.kind import RunEnd, RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.runs.run import Asking, carry_out
from misstep_harness.runs.spread import Workers
from misstep_harness.verdict import Orders, Verdict

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
        self, judge: FittedJudge, benchmark: Path, sampling: Sampling | None, orders: Orders | None = None
    ) -> None:
        self._judge, self._benchmark, self._sampling = judge, benchmark, sampling
        self._question = read_question(benchmark)
        self._orders = orders
        if orders is not None and self._question.kind != "pair":
            message = f"--orders has no meaning for {self._question.name}: its items are of kind {self._question.kind}"
            raise UsageError(message, "Leave it out.")
        self.folder = str(benchmark.resolve())
        self.shown = getattr(judge, "shown", ())
        self.asks_again = judge.uses_model  # rules and recordings would fail on the same items again

    @cached_property
    def _runs(self) -> BenchmarkRuns:  # not before the work: what is held of files need not be pickled
        return BenchmarkRuns(self._benchmark)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the judge, the name of the benchmark and the sample."""
        sampled = {} if self._sampling is None else {"sample": self._sampling.size, "sample_seed": self._sampling.seed}
        ordered = {"orders": self._orders or BOTH} if self._question.kind == "pair" else {}
        return {**self._judge.settings(), "benchmark": self._question.name, **sampled, **ordered}

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
    judge: Judge,
    folder: Path,
    out: Path,
    settings: ClientSettings,
    *,
    concurrency: int = 16,
    batch: bool = False,
    sampling: Sampling | None = None,
    orders: Orders | None = None,
    workers: Workers | None = None,
    arguments: Sequence[str] = (),
) -> RunEnd:
    """Ask a judge about every item that the run in `out` has no answer for yet, with `batch` by the Batch API."""
    fitted = judge.fitted(read_question(folder), folder)
    if (kept_in := getattr(fitted, "kept_in", None)) is not None:
        fitted = kept_in(out)
    kind = JudgeRun(fitted, folder, sampling, orders)
    return carry_out(kind, out, Asking(settings, concurrency, batch), workers=workers, arguments=arguments)


async def judged(
    judge: FittedJudge, runs: BenchmarkRuns, model_requests: ModelRequests, item: Item, orders: Orders = BOTH
) -> tuple[Verdict, float | None] | None:
    """Return the verdict on an item and its cost, or `None` if the run ended before; an exception fails the item."""
    await asyncio.sleep(0)  # begin all items that may run at once before the first of them asks
    ask = ItemAsk(model_requests, item.id, getattr(judge, "model", ""))
    try:
        trajectory = runs.of(item) if judge.reads_run(item) else None
        if item.kind == "pair" and judge.uses_model:  # a recorded answer is of the pair as it is
            verdict: Verdict = await in_orders(judge, item, trajectory, ask, orders)
        else:
            verdict = await answered(judge, item, trajectory, ask)
    except InputError as error:  # the item's run cannot be read
        verdict = unjudged(judge, item, error.line())
    finally:
        model_requests.item_done()
    return None if ask.cut_off else (verdict, ask.spent_usd)
