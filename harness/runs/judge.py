"""A judge and a benchmark to a run: every item asked once, every answer kept, and the whole of it scored.

Verdicts are written as they come. A run that was killed, or some of whose items failed, is gone on with by the same
command: what was answered is not asked again.
"""

import asyncio
import platform
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.clients import ClientSettings
from harness.clients.asking import done_at_once
from harness.errors import InputError, MisstepError
from harness.escaping import plain
from harness.items import Item, Runs, read_question
from harness.journal.records import SCHEMA, VERDICTS, Manifest, encode_verdicts, read_items
from harness.journal.run_folder import RunInProgress, standing
from harness.progress import Progress, say
from harness.protocols import FittedJudge, Judge
from harness.runs.asked_items import Chosen, Sampling, choose
from harness.runs.asking import AskingAtOnce, AskingInBatches, Exchange, ItemAsk
from harness.runs.benchmark_inputs import inputs_of
from harness.runs.trajectories_by_id import inline_run, runs_by_id
from harness.verdict import Status, Verdict
from harness.version import __version__

_READY = 32
"""How many items are made ready while the requests of as many as are allowed are with the server."""

BATCHES = "batches.json"
"""Beside a run in progress: how far its batches are."""

LEDGER = "spent_usd.txt"
"""Beside a run in progress that has a limit on its cost: what was spent of it."""

ANSWERS = "answers.sqlite"
"""Beside a run in progress whose judge has several votes: those that came."""


class Told(Struct, frozen=True):
    """What is noted of each verdict of a run in progress."""

    item: str
    status: Status
    cost_usd: float | None = None


class Ended(Struct, frozen=True):
    """How a run ended: how many items it has, of how many, what stopped it before its end and why the last failed."""

    asked: int
    failed: int
    items: int
    stopped: str = ""
    last_failure: str = ""


def run_judge(
    judge: Judge,
    folder: Path,
    out: Path,
    settings: ClientSettings,
    *,
    concurrency: int = 16,
    batch: bool = False,
    sampling: Sampling | None = None,
    arguments: Sequence[str] = (),
) -> Ended:
    """Ask a judge about every item of a benchmark folder that the run in `out` has no answer for yet.

    Parameters
    ----------
    judge, folder, out
        The judge, the benchmark, the run.
    settings
        How answers are got.
    concurrency
        How many requests are in flight at once.
    batch
        Whether to hand all requests in together by the Batch API, at its price, instead.
    sampling
        To ask about a sample of the items.
    arguments
        Those of the command line.

    Raises
    ------
    InputError
        The benchmark breaks the form, or none of its items can be asked about.
    UsageError
        `out` holds another run, the judge does not fit the benchmark, or it names no model.
    MissingPrerequisite
        The server cannot be reached; what was answered is kept.
    KeyboardInterrupt
        Stopped; what was answered is kept.
    """
    fitted = judge.fitted(read_question(folder), folder)
    manifest = _manifest(fitted, folder, sampling, arguments)
    earlier = standing(out, manifest)
    if earlier is not None and earlier.finished:
        return _whole(out)
    chosen = choose(fitted, folder, sampling)
    # An item that takes several requests is answered by its last one: what came before is kept until then.
    own_cache = out / ANSWERS if getattr(fitted, "votes", 2) > 1 else None
    with RunInProgress(out, manifest, Told, _told) as run:
        if run.finished:
            return _whole(out)
        if chosen.sentence:
            say(f"misstep: {plain(chosen.sentence)}")
        settings = msgspec.structs.replace(
            settings,
            spent_usd=sum(told.cost_usd or 0.0 for told in run.entries),
            ledger=out / LEDGER,
            cache=settings.cache or own_cache,
        )
        ended = asyncio.run(_judge_all(fitted, chosen, run, settings, out if batch else None, concurrency))
        last = {told.item: told.status for told in run.entries}
        failed = sum(status == "failed" for status in last.values())
        if len(last) == chosen.n and not failed:
            run.finish(_now())
            _clear(out)
    return Ended(len(last), failed, chosen.n, *ended)


def _clear(out: Path) -> None:
    """Take away what only a run in progress needs."""
    for name in (BATCHES, LEDGER, ANSWERS, f"{ANSWERS}-wal", f"{ANSWERS}-shm"):
        (out / name).unlink(missing_ok=True)


def _told(verdict: Verdict, noted: Told | None) -> Told:
    """What is noted of a verdict on file; what was spent on it, if that is not, as far as the verdict says."""
    if noted is not None and (noted.item, noted.status) == (verdict.item, verdict.status):
        return noted
    return Told(verdict.item, verdict.status, None if verdict.cached else verdict.cost_usd)


def _whole(out: Path) -> Ended:
    """How a run ended that is finished."""
    n = len(set(read_items(out / VERDICTS)))
    return Ended(n, 0, n)


def _manifest(judge: FittedJudge, folder: Path, sampling: Sampling | None, arguments: Sequence[str]) -> Manifest:
    sampled = {} if sampling is None else {"sample": sampling.size, "sample_seed": sampling.seed}
    return Manifest(
        schema=SCHEMA,
        command="judge run",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        asked={**judge.asked(), "benchmark": read_question(folder).name, **sampled},
        inputs=inputs_of(folder),
        folder=str(folder.resolve()),
    )


async def _judge_all(
    judge: FittedJudge,
    chosen: Chosen,
    run: RunInProgress[Told],
    settings: ClientSettings,
    batches_in: Path | None,
    concurrency: int,
) -> tuple[str, str]:
    """Judge the items without a verdict; what stopped it and why the last item failed, empty where neither was."""
    last_failure = ""
    done = {told.item for told in run.entries if told.status != "failed"}
    todo = (item for item in chosen.items() if item.id not in done)
    exchange: Exchange
    if batches_in is None:
        exchange, at_once = AskingAtOnce(settings, concurrency), concurrency + min(concurrency, _READY)
    else:
        at_once = max(1, chosen.n - len(done))
        exchange = AskingInBatches(settings, batches_in / BATCHES, at_once)
    judging = partial(_judged, judge, Runs(chosen.folder, runs_by_id, inline_run), exchange)
    try:
        with Progress("items", chosen.n) as progress:
            progress.advance(len(done))
            async with aclosing(done_at_once(judging, todo, at_once, exchange.ended)) as coming:
                async for given, spent in coming:
                    run.append(encode_verdicts([given]), Told(given.item, given.status, spent))
                    progress.advance()
                    if given.status == "failed":
                        last_failure = given.error or ""
        exchange.check()
    finally:
        await exchange.close()
    return exchange.over_budget, last_failure


async def _judged(
    judge: FittedJudge, runs: Runs, exchange: Exchange, item: Item
) -> tuple[Verdict, float | None] | None:
    """The verdict on an item and what was spent on it; `None` where the run ended under it.

    Whatever a judge raises costs its item: one odd answer never ends a run.
    """
    await asyncio.sleep(0)  # all items that may be under way are begun before the first of them asks
    ask = ItemAsk(exchange, item.id, getattr(judge, "model", ""))
    try:
        trajectory = runs.of(item) if judge.reads_trajectories else None
        given = await judge.judge(item, trajectory, ask)
        encode_verdicts([given])  # what cannot be written down is found here, and not by the journal
    except InputError as error:
        given = _unjudged(judge, item, error.line())
    except MisstepError:
        raise
    except Exception as error:  # noqa: BLE001 (the boundary around one item)
        given = _unjudged(judge, item, f"judging it raised {_raised(error)}")
    finally:
        exchange.item_done()
    return None if ask.cut_off else (given, ask.spent_usd)


def _unjudged(judge: FittedJudge, item: Item, reason: str) -> Verdict:
    """The verdict on an item that the judge could not judge."""
    model, prompt = getattr(judge, "model", None), getattr(judge, "prompt", None)
    return Verdict(item.id, judge.name, None, "failed", model=model or None, prompt=prompt, error=reason)


def _raised(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
