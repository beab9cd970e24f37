"""A judge and a benchmark to a run: every item asked once, every answer kept, and the whole of it scored.

Verdicts are written as they come. A run that was killed, or some of whose items failed, is gone on with by the same
command: what was answered is not asked again.
"""

import asyncio
import hashlib
import platform
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.clients import Client, ClientSettings, ask_all, open_client
from harness.errors import InputError, UsageError
from harness.exchange import Failure, Outcome, Request
from harness.items import Item, Question, Runs, read_items, read_question
from harness.judges.judge_file import JudgeSpec
from harness.judges.prompted import Asked, ask, unasked, verdict
from harness.readers import read_file
from harness.records import SCHEMA, Inputs, Manifest, encode_verdicts
from harness.runs import RunInProgress, begin, finish
from harness.trajectory import Trajectory, Unreadable
from harness.verdict import Status, Verdict
from misstep import __version__
from misstep.terminal import Progress

_READY = 32
"""How many requests are made ready while as many as are allowed are with the server."""

_run_line = msgspec.json.Decoder(Trajectory)


class Told(Struct, frozen=True):
    """What is noted of each verdict of a run in progress."""

    item: str
    status: Status
    cost_usd: float | None = None


class Ended(Struct, frozen=True):
    """How a run ended: how many items it has, of how many, and what stopped it before its end, if anything."""

    asked: int
    failed: int
    items: int
    stopped: str = ""


class _Stopped(Exception):
    """The limit on the cost is reached."""


class _Waiting:
    """An item whose requests are under way."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.outcomes: dict[int, Outcome] = {}


def check_fits(spec: JudgeSpec, question: Question, folder: Path) -> None:
    """Refuse a judge that cannot answer what a benchmark asks.

    Raises
    ------
    UsageError
        The judge gives labels that the benchmark does not know, or needs a model's name.
    """
    if question.labels and set(spec.labels) != set(question.labels):
        theirs = (
            f"judge {spec.name} says {', '.join(spec.labels)}, benchmark {question.name} {', '.join(question.labels)}"
        )
        raise UsageError(f"other labels: {theirs}", f"Give the judge the labels of {folder}.")
    if not spec.model.name:
        raise UsageError(f"judge {spec.name} names no model", "Name one with --model.")


def run_judge(
    spec: JudgeSpec,
    folder: Path,
    out: Path,
    settings: ClientSettings,
    *,
    concurrency: int = 16,
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
    arguments
        Those of the command line.

    Raises
    ------
    InputError
        The benchmark breaks the form.
    UsageError
        `out` holds another run, or the judge does not fit the benchmark.
    MissingPrerequisite
        The server cannot be reached; what was answered is kept.
    KeyboardInterrupt
        Stopped; what was answered is kept.
    """
    check_fits(spec, read_question(folder), folder)
    n_items, inputs = counted(folder)
    manifest = begin(out, _manifest(spec, folder, inputs, arguments))
    if manifest.finished:
        return Ended(n_items, 0, n_items)
    with RunInProgress(out, Told) as run:
        spent = sum(told.cost_usd or 0.0 for told in run.entries)
        client_settings = msgspec.structs.replace(settings, spent_usd=spent, in_flight=concurrency)
        stopped = asyncio.run(_ask(spec, folder, run, client_settings, concurrency, n_items))
        last = {told.item: told.status for told in run.entries}
    failed = sum(status == "failed" for status in last.values())
    if len(last) == n_items and not failed:
        finish(out, manifest, _now())
    return Ended(len(last), failed, n_items, stopped)


def counted(folder: Path) -> tuple[int, Inputs]:
    """How many items there are, and what tells this benchmark from another: every item is read before one is asked."""
    count = sum(1 for _ in read_items(folder))
    if not count:
        raise InputError("no items", "A benchmark has a JSON object a line there.", file=folder / "items.jsonl")
    digest, size = hashlib.sha256(), 0
    files = [folder / "benchmark.toml", folder / "items.jsonl"]
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
    return count, Inputs(len(files), size, digest.hexdigest())


def _manifest(spec: JudgeSpec, folder: Path, inputs: Inputs, arguments: Sequence[str]) -> Manifest:
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
            "benchmark": read_question(folder).name,
        },
        inputs=inputs,
        folder=str(folder.resolve()),
    )


async def _ask(
    spec: JudgeSpec, folder: Path, run: RunInProgress[Told], settings: ClientSettings, concurrency: int, n_items: int
) -> str:
    done = {told.item for told in run.entries if told.status != "failed"}
    todo = (item for item in read_items(folder) if item.id not in done)
    client = open_client(settings)
    try:
        with Progress("items", n_items) as progress:
            progress.advance(len(done))
            async with aclosing(_verdicts(spec, todo, Runs(folder, _read_runs), client, concurrency)) as coming:
                async for given in coming:
                    run.append(encode_verdicts([given]), Told(given.item, given.status, given.cost_usd))
                    progress.advance()
    except _Stopped as stopped:
        return str(stopped)
    finally:
        await client.close()
    return ""


async def _verdicts(
    spec: JudgeSpec, items: Iterable[Item], runs: Runs, client: Client, concurrency: int
) -> AsyncGenerator[Verdict, None]:
    """A verdict an item, in the order in which they come."""
    waiting: dict[int, tuple[_Waiting, int]] = {}
    unaskable: list[Verdict] = []

    def requests() -> Iterator[Request]:
        for item in items:
            try:
                asked = ask(spec, item, runs.of(item))
            except InputError as error:
                unaskable.append(unasked(spec, item, error.line()))
                continue
            one = _Waiting(asked)
            for turn, request in enumerate(asked.requests):
                waiting[id(request)] = (one, turn)
                yield request

    async with aclosing(ask_all(client, requests(), concurrency + min(concurrency, _READY))) as coming:
        async for request, outcome in coming:
            one, turn = waiting.pop(id(request))
            if isinstance(outcome, Failure) and outcome.kind == "budget":
                raise _Stopped(outcome.sentence)
            one.outcomes[turn] = outcome
            if len(one.outcomes) == len(one.asked.requests):
                yield verdict(spec, one.asked, [one.outcomes[place] for place in range(len(one.outcomes))])
            while unaskable:
                yield unaskable.pop(0)
    for given in unaskable:
        yield given


def _read_runs(file: Path) -> Iterator[Trajectory | Unreadable]:
    """The runs of a file: as Misstep writes them into a benchmark, or of any known format."""
    if file.suffix != ".jsonl" or not _is_own(file):
        yield from read_file(file)
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield _run_line.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                yield Unreadable(str(file), number, str(error))


def _is_own(file: Path) -> bool:
    with file.open("rb") as stream:
        try:
            return bool(_run_line.decode(stream.readline()).source.format)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
