"""A judge and a benchmark to a run: every item asked once, every answer kept, and the whole of it scored.

Verdicts are written as they come. A run that was killed, or some of whose items failed, is gone on with by the same
command: what was answered is not asked again.
"""

import asyncio
import hashlib
import platform
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.clients import ClientSettings, ask_all, open_client
from harness.clients.address import unencrypted
from harness.clients.asking import Pair
from harness.errors import InputError, MissingPrerequisite, UsageError
from harness.escaping import plain
from harness.exchange import Failure, FailureKind, Outcome, Reply, Request
from harness.items import Item, Runs, read_question
from harness.journal.records import SCHEMA, VERDICTS, Manifest, encode_verdicts, read_items
from harness.journal.run_folder import RunInProgress, standing
from harness.judges.fit import fitted_to
from harness.judges.judge_file import JudgeSpec
from harness.judges.prompted import Asked, ask, failed, verdict
from harness.progress import Progress, say
from harness.runs.asked_items import Chosen, Sampling, choose
from harness.runs.benchmark_inputs import inputs_of
from harness.runs.trajectories_by_id import inline_run, runs_by_id
from harness.verdict import Status, Verdict
from harness.version import __version__

_READY = 32
"""How many requests are made ready while as many as are allowed are with the server."""


_NOBODY_THERE: frozenset[FailureKind] = frozenset({"connection", "unauthorised", "quota"})
"""What says, where nothing else came, that there is no server to ask: a run too short to open the circuit ends so."""

BATCHES = "batches.json"
"""Beside a run in progress: how far its batches are."""

LEDGER = "spent_usd.txt"
"""Beside a run in progress that has a limit on its cost: what was spent of it."""

ANSWERS = "answers.sqlite"
"""Beside a run in progress whose judge has several votes: those that came."""

Exchange = Callable[[Iterator[Request]], AsyncGenerator[Pair, None]]
"""From requests to each with its outcome, in the order in which they come."""


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


class _Stopped(Exception):
    """The limit on the cost is reached."""


class _Waiting:
    """An item whose requests are under way."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.outcomes: dict[int, Outcome] = {}


def run_judge(
    spec: JudgeSpec,
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
    spec, folder, out
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
    if not spec.model.name:
        raise UsageError(f"judge {spec.name} names no model", "Name one with --model.")
    spec = fitted_to(spec, read_question(folder), folder)
    manifest = _manifest(spec, folder, sampling, arguments)
    earlier = standing(out, manifest)
    if earlier is not None and earlier.finished:
        return _whole(out)
    chosen = choose(spec, folder, sampling)
    # An item with several votes is answered by its last one: what came before is kept until then.
    own_cache = out / ANSWERS if spec.votes > 1 else None
    with RunInProgress(out, manifest, Told, _told) as run:
        if run.finished:
            return _whole(out)
        if chosen.sentence:
            say(f"misstep: {plain(chosen.sentence)}")
        if settings.client == "openai" and (warning := unencrypted(settings.base_url)):
            say(f"misstep: {plain(warning)}")
        spent = sum(told.cost_usd or 0.0 for told in run.entries)
        settings = msgspec.structs.replace(
            settings, spent_usd=spent, ledger=out / LEDGER, cache=settings.cache or own_cache
        )
        exchange = _in_batches(settings, out) if batch else _at_once(settings, concurrency)
        stopped, last_failure = asyncio.run(_ask(spec, chosen, run, exchange))
        last = {told.item: told.status for told in run.entries}
        failed = sum(status == "failed" for status in last.values())
        if len(last) == chosen.n and not failed:
            run.finish(_now())
            _clear(out)
    return Ended(len(last), failed, chosen.n, stopped, last_failure)


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


def _manifest(spec: JudgeSpec, folder: Path, sampling: Sampling | None, arguments: Sequence[str]) -> Manifest:
    sampled = {} if sampling is None else {"sample": sampling.size, "sample_seed": sampling.seed}
    encoded = msgspec.json.encode(spec.examples)
    examples = {"examples": hashlib.sha256(encoded).hexdigest()[:12]} if spec.examples else {}
    return Manifest(
        schema=SCHEMA,
        command="judge run",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        asked={
            "judge": spec.name,
            "judge_digest": spec.digest,
            "prompt": spec.prompt.label,
            "model": spec.model.name,
            "settings": msgspec.json.encode(msgspec.structs.replace(spec.model, base_url=None)).decode(),
            "votes": spec.votes,
            "aggregate": spec.aggregate,
            "benchmark": read_question(folder).name,
            **examples,
            **sampled,
        },
        inputs=inputs_of(folder),
        folder=str(folder.resolve()),
    )


async def _ask(spec: JudgeSpec, chosen: Chosen, run: RunInProgress[Told], exchange: Exchange) -> tuple[str, str]:
    """Ask what there is no answer to yet; what stopped it and why the last item failed, empty where neither was."""
    last_failure = ""
    done = {told.item for told in run.entries if told.status != "failed"}
    todo = (item for item in chosen.items() if item.id not in done)
    try:
        with Progress("items", chosen.n) as progress:
            progress.advance(len(done))
            async with aclosing(_verdicts(spec, todo, Runs(chosen.folder, runs_by_id, inline_run), exchange)) as coming:
                async for given, spent in coming:
                    run.append(encode_verdicts([given]), Told(given.item, given.status, spent))
                    progress.advance()
                    if given.status == "failed":
                        last_failure = given.error or ""
    except _Stopped as stopped:
        return str(stopped), last_failure
    return "", last_failure


def _at_once(settings: ClientSettings, concurrency: int) -> Exchange:
    """Requests are asked one by one, so many at once."""

    async def exchange(requests: Iterator[Request]) -> AsyncGenerator[Pair, None]:
        client = open_client(msgspec.structs.replace(settings, in_flight=concurrency))
        try:
            async with aclosing(ask_all(client, requests, concurrency + min(concurrency, _READY))) as coming:
                outcome: Outcome | None = None
                nobody_there = True
                async for request, outcome in coming:
                    nobody_there = nobody_there and isinstance(outcome, Failure) and outcome.kind in _NOBODY_THERE
                    yield request, outcome
            if nobody_there and isinstance(outcome, Failure):
                said = f"no request was answered, the last failed as {outcome.sentence}"
                raise MissingPrerequisite(said, "Run the same command again when that is mended.")
        finally:
            await client.close()

    return exchange


def _in_batches(settings: ClientSettings, out: Path) -> Exchange:
    """Requests are handed in together, and answered when the server has time."""
    from harness.clients.batch import ask_batch  # the openai client takes a second to import

    return partial(ask_batch, settings=settings, state_file=out / BATCHES)


async def _verdicts(
    spec: JudgeSpec, items: Iterable[Item], runs: Runs, exchange: Exchange
) -> AsyncGenerator[tuple[Verdict, float | None], None]:
    """A verdict an item with what was spent on it now, in the order in which they come.

    When the money is used no more is asked; what is with the server then is waited for.
    """
    waiting: dict[int, tuple[_Waiting, int]] = {}
    unaskable: list[Verdict] = []

    def requests() -> Iterator[Request]:
        for item in items:
            if stopped:
                return
            try:
                asked = ask(spec, item, runs.of(item))
            except InputError as error:
                unaskable.append(failed(spec, item.id, error.line()))
                continue
            except Exception as error:  # noqa: BLE001 (the boundary around one item)
                unaskable.append(failed(spec, item.id, f"making its question raised {_raised(error)}"))
                continue
            one = _Waiting(asked)
            for turn, request in enumerate(asked.requests):
                waiting[id(request)] = (one, turn)
                yield request

    stopped, unstructured = "", False
    async with aclosing(exchange(requests())) as coming:
        async for request, outcome in coming:
            if isinstance(outcome, Reply) and outcome.unstructured and not unstructured:
                unstructured = True
                say("misstep: the server takes no JSON schema: it is asked without, and replies are read as they are.")
            one, turn = waiting.pop(id(request))
            if isinstance(outcome, Failure) and outcome.kind == "budget":
                stopped = stopped or outcome.sentence
                continue
            one.outcomes[turn] = outcome
            if len(one.outcomes) == len(one.asked.requests):
                outcomes = [one.outcomes[place] for place in range(len(one.outcomes))]
                yield _verdict(spec, one.asked, outcomes), _spent(outcomes)
            while unaskable:
                yield unaskable.pop(0), None
    for given in unaskable:
        yield given, None
    if stopped:
        raise _Stopped(stopped)


def _verdict(spec: JudgeSpec, asked: Asked, outcomes: Sequence[Outcome]) -> Verdict:
    """The verdict on one item; what reading its replies raises is its own failure."""
    try:
        given = verdict(spec, asked, outcomes)
        encode_verdicts([given])  # what cannot be written down is found here, and not by the journal
    except Exception as error:  # noqa: BLE001 (the boundary around one item)
        return failed(spec, asked.item, f"reading its reply raised {_raised(error)}")
    return given


def _raised(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _spent(outcomes: Iterable[Outcome]) -> float | None:
    """What the answers cost that were not at hand already; `None` where that is not known of any."""
    costs = [outcome.cost_usd for outcome in outcomes if isinstance(outcome, Reply) and not outcome.cached]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
