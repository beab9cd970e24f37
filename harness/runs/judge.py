"""Run a judge over a benchmark: every item is judged once, and every answer is kept.

Verdicts are written as they arrive. The same command continues a run that was killed or that has failed items; items
with an answer are not asked about again.
"""

import asyncio
import platform
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.clients import ClientSettings
from harness.clients.concurrency import run_concurrently
from harness.clients.rates.adaptive_concurrency import MOST
from harness.clients.settings import InFlight
from harness.errors import InputError
from harness.escaping import plain
from harness.items import Item, Runs, read_question
from harness.journal.changes import changes
from harness.journal.records import SCHEMA, VERDICT_RECORDS, Manifest, read_manifest, read_verdicts
from harness.journal.run_folder import RunInProgress, set_aside, standing
from harness.judges.answering import answered, unjudged
from harness.progress import Progress, say
from harness.protocols import FittedJudge, Judge
from harness.readers.inline import inline_run
from harness.runs.benchmark_inputs import inputs_of
from harness.runs.item_selection import Sampling, Selection, select_items
from harness.runs.model_requests import BatchedRequests, ConcurrentRequests, ItemAsk, ModelRequests
from harness.runs.shards.item_runs import checked_manifest, folder_of
from harness.runs.shards.layout import Shard
from harness.runs.trajectories_by_id import runs_by_id
from harness.verdict import Status, Verdict
from harness.version import __version__

_READY = 32
"""The highest number of items that are prepared beside those whose requests are in flight."""

BATCHES = "batches.json"
"""In the folder of an unfinished run: the state of its batches."""

SPENDING_LOG = "spent_usd.txt"
"""In the folder of an unfinished run with a cost limit: the amount spent."""

ANSWERS = "answers.sqlite"
"""In the folder of a run: the replies, so that a changed prompt or a new item asks only what is new."""

_KEPT = (ANSWERS, f"{ANSWERS}-wal", f"{ANSWERS}-shm", "benchmark")
"""What stays in the folder where a run begins anew: the replies, and the sessions that it is about."""

_RENEWED = frozenset({"prompt", "judge_digest", "examples", "inputs"})
"""What may change from one run in a folder to the next."""


class VerdictEntry(Struct, frozen=True):
    """The journal's entry for one verdict."""

    item: str
    status: Status
    cost_usd: float | None = None


class RunSummary(Struct, frozen=True):
    """How a run ended: items with a verdict, failed items, all items, why it stopped early, the last failure.

    A `finished` run has nothing left to ask; items of it that failed did so for good.
    """

    judged: int
    failed: int
    items: int
    stopped: str = ""
    last_failure: str = ""
    finished: bool = False


def run_judge(
    judge: Judge,
    folder: Path,
    out: Path,
    settings: ClientSettings,
    *,
    concurrency: InFlight = 16,
    batch: bool = False,
    sampling: Sampling | None = None,
    shard: Shard | None = None,
    arguments: Sequence[str] = (),
) -> RunSummary:
    """Ask a judge about every item of a benchmark folder that the run in `out` has no answer for yet.

    Parameters
    ----------
    judge, folder, out
        The judge, the benchmark, the run.
    settings
        The settings of the client.
    concurrency
        The number of requests in flight, or `auto`.
    batch
        Whether to hand all requests in together by the Batch API, at its price, instead.
    sampling
        The size and seed of a sample; `None` asks about every item.
    shard
        The part of the run to do, in a folder of its own in `out`; `None` does all of it.
    arguments
        The arguments of the command line.

    Raises
    ------
    InputError
        The benchmark breaks the form, or none of its items can be asked about.
    UsageError
        `out` holds another run or shards that are not merged, the judge does not fit the benchmark, or it names no
        model.
    MissingPrerequisite
        The server cannot be reached; what was answered is kept.
    KeyboardInterrupt
        Stopped; what was answered is kept.
    """
    fitted = judge.fitted(read_question(folder), folder)
    manifest = checked_manifest(out, shard, _manifest(fitted, folder, sampling, arguments))
    if shard is None:
        _begin_anew_if_changed(out, manifest)
    out = folder_of(out, shard)
    if (kept_in := getattr(fitted, "kept_in", None)) is not None:
        fitted = kept_in(out)
    earlier = standing(out, manifest)
    if earlier is not None and earlier.finished:
        return _finished(out)
    selection = select_items(fitted, folder, sampling, shard)
    with RunInProgress(out, manifest, VERDICT_RECORDS, VerdictEntry, _entry) as run:
        if run.finished:
            return _finished(out)
        if selection.sentence:
            say(f"misstep: {plain(selection.sentence)}")
        settings = msgspec.structs.replace(
            settings,
            spent_usd=sum(entry.cost_usd or 0.0 for entry in run.entries),
            spending_log=out / SPENDING_LOG,
            cache=settings.cache or out / ANSWERS,
        )
        ended = asyncio.run(_judge_all(fitted, selection, run, settings, out if batch else None, concurrency))
        last = {entry.item: entry.status for entry in run.entries}
        failed = _failed(last)
        # Rules and recordings, which ask no model, would fail on the same items again.
        finished = len(last) == selection.n and not (failed and fitted.uses_model)
        if finished:
            run.finish(_now())
            _clear(out)
    return RunSummary(len(last), failed, selection.n, *ended, finished)


def _begin_anew_if_changed(out: Path, manifest: Manifest) -> None:
    """Set a run aside whose prompt or items have changed: replies to the same requests are kept and not asked again."""
    earlier = read_manifest(out)
    if earlier is None or earlier.command != manifest.command or (out / BATCHES).exists():
        return
    names, clause = changes(earlier, manifest)
    if names and names <= _RENEWED:
        place = set_aside(out, _KEPT)
        say(f"misstep: {plain(clause)}: only what is new is asked. The earlier run is in {plain(str(place))}.")


def _clear(out: Path) -> None:
    """Remove the files that only an unfinished run needs."""
    for name in (BATCHES, SPENDING_LOG):
        (out / name).unlink(missing_ok=True)


def _entry(verdict: Verdict, noted: VerdictEntry | None) -> VerdictEntry:
    """The journal's entry for a verdict on file; without an earlier entry, the cost is the one in the verdict."""
    if noted is not None and (noted.item, noted.status) == (verdict.item, verdict.status):
        return noted
    return VerdictEntry(verdict.item, verdict.status, None if verdict.cached else verdict.cost_usd)


def _finished(out: Path) -> RunSummary:
    """The summary of a finished run."""
    last = {verdict.item: verdict.status for verdict in read_verdicts(out)}
    return RunSummary(len(last), _failed(last), len(last), finished=True)


def _failed(last: Mapping[str, Status]) -> int:
    """How many items failed, by the last status of each."""
    return sum(status == "failed" for status in last.values())


def _manifest(judge: FittedJudge, folder: Path, sampling: Sampling | None, arguments: Sequence[str]) -> Manifest:
    sampled = {} if sampling is None else {"sample": sampling.size, "sample_seed": sampling.seed}
    return Manifest(
        schema=SCHEMA,
        command="judge run",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        settings={**judge.settings(), "benchmark": read_question(folder).name, **sampled},
        inputs=inputs_of(folder),
        folder=str(folder.resolve()),
    )


async def _judge_all(
    judge: FittedJudge,
    selection: Selection,
    run: RunInProgress[Verdict, VerdictEntry],
    settings: ClientSettings,
    batches_in: Path | None,
    concurrency: InFlight,
) -> tuple[str, str]:
    """Judge the items without a verdict; return why the run stopped early and the last failure, or empty texts."""
    last_failure = ""
    done = {entry.item for entry in run.entries if entry.status != "failed"}
    todo = (item for item in selection.items() if item.id not in done)
    model_requests: ModelRequests
    if batches_in is None:
        most = MOST if concurrency == "auto" else concurrency
        model_requests, at_once = ConcurrentRequests(settings, concurrency), most + min(most, _READY)
    else:
        at_once = max(1, selection.n - len(done))
        model_requests = BatchedRequests(settings, batches_in / BATCHES, at_once)
    judging = partial(judged, judge, Runs(selection.folder, runs_by_id, inline_run), model_requests)
    try:
        with Progress("items", selection.n) as progress:
            progress.advance(len(done))
            async with aclosing(run_concurrently(judging, todo, at_once, model_requests.ended)) as coming:
                async for given, spent in coming:
                    run.append([given], VerdictEntry(given.item, given.status, spent))
                    progress.advance(note=model_requests.note())
                    if given.status == "failed":
                        last_failure = given.error or ""
        model_requests.check()
    finally:
        await model_requests.close()
    return model_requests.over_cost_limit, last_failure


async def judged(
    judge: FittedJudge, runs: Runs, model_requests: ModelRequests, item: Item
) -> tuple[Verdict, float | None] | None:
    """The verdict on an item and its cost; `None` where the run ended before the item was done.

    An exception from a judge fails its item and does not end the run.
    """
    await asyncio.sleep(0)  # begin all items that may run at once before the first of them asks
    ask = ItemAsk(model_requests, item.id, getattr(judge, "model", ""))
    try:
        trajectory = runs.of(item) if judge.reads_trajectories else None
        given = await answered(judge, item, trajectory, ask)
    except InputError as error:  # the item's run cannot be read
        given = unjudged(judge, item, error.line())
    finally:
        model_requests.item_done()
    return None if ask.cut_off else (given, ask.spent_usd)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
