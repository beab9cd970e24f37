"""Ask a judge about one session or text, and keep the request and the reply."""

import asyncio
import tempfile
from pathlib import Path

import tomli_w
from msgspec import Struct

from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UnknownFormat, UsageError
from misstep_harness.exchange import Message, Outcome, Reply, Request
from misstep_harness.items import Item, read_items, read_question
from misstep_harness.judges.runnable import RunnableJudge, fitted
from misstep_harness.places import path_text
from misstep_harness.runs.judging.judge import judged
from misstep_harness.runs.judging.session_benchmark import kind_for, session_benchmark
from misstep_harness.runs.model_requests import ConcurrentRequests
from misstep_harness.verdict import Verdict

_LONGEST_TEXT = 1 << 20


class Exchange(Struct, frozen=True):
    """One request, and the text of the reply or why there is none."""

    messages: tuple[Message, ...]
    reply: str | None
    failure: str = ""


class Asked(Struct, frozen=True):
    """An item that a judge was asked about, `of` how many in the file, with its exchanges and the verdict."""

    item: str
    of: int
    exchanges: tuple[Exchange, ...]
    verdict: Verdict


class _RecordingRequests(ConcurrentRequests):
    """Requests that are kept with their outcomes."""

    def __init__(self, settings: ClientSettings) -> None:
        super().__init__(settings, 1)
        self.exchanges: list[Exchange] = []

    async def ask(self, request: Request, item: str) -> Outcome:
        outcome = await super().ask(request, item)
        text, failure = (outcome.text, "") if isinstance(outcome, Reply) else (None, outcome.sentence)
        self.exchanges.append(Exchange(tuple(request.messages), text, failure))
        return outcome


def ask_of_benchmark(judge: RunnableJudge, folder: Path, settings: ClientSettings, wanted: str = "") -> Asked:
    """Ask a judge about one item of a benchmark."""
    return _ask_one(judge, folder, list(read_items(folder)), settings, wanted, folder)


def ask_once(judge: RunnableJudge, file: Path, settings: ClientSettings, wanted: str = "") -> Asked:
    """Ask a judge about one session of a file; a file in an unknown format is a text, for a judge of texts."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "benchmark"
        try:
            items = list(read_items(session_benchmark(kind_for(judge), judge.labels, [file], folder)))
        except UnknownFormat:
            if judge.kind not in ("text", "any"):
                raise
            items = [_text_item(judge, file, folder)]
        return _ask_one(judge, folder, items, settings, wanted, file)


def _ask_one(
    judge: RunnableJudge, folder: Path, items: list[Item], settings: ClientSettings, wanted: str, named: Path
) -> Asked:
    item = next((item for item in items if not wanted or item.id == wanted), None)
    if item is None:
        shown = ", ".join(one.id for one in items[:5]) + (", …" if len(items) > 5 else "")
        what = f"item {wanted!r}" if named == folder else f"session {wanted!r}"
        raise UsageError(f"{path_text(named)} has no {what}", f"It has {shown or 'none'}.")
    asked = fitted(judge, read_question(folder), folder)
    exchanges, verdict = asyncio.run(_ask(asked, folder, item, settings))
    return Asked(item.id, len(items), exchanges, verdict)


async def _ask(
    judge: RunnableJudge, folder: Path, item: Item, settings: ClientSettings
) -> tuple[tuple[Exchange, ...], Verdict]:
    requests = _RecordingRequests(settings)
    try:
        answer = await judged(judge, BenchmarkRuns(folder), requests, item)
        requests.check()
    finally:
        await requests.close()
    if answer is None:
        raise UsageError(requests.over_cost_limit or "the request was not sent", "Give a higher --max-cost.")
    return tuple(requests.exchanges), answer[0]


def _text_item(judge: RunnableJudge, file: Path, folder: Path) -> Item:
    try:
        text = file.read_bytes()[: _LONGEST_TEXT + 1].decode()
    except UnicodeDecodeError as error:
        raise InputError(f"is not text: {error.reason}", "Name a session, or a text in UTF-8.", file=file) from error
    if len(text) > _LONGEST_TEXT:
        raise InputError(f"the text is longer than {_LONGEST_TEXT:,} characters", "Shorten it.", file=file)
    folder.mkdir()
    question = {"name": file.name, "kind": "text", "labels": dict(judge.labels)}
    (folder / "benchmark.toml").write_text(tomli_w.dumps(question))
    item = Item(file.name, "text", text=text)
    (folder / "items.jsonl").write_bytes(b"")
    return item
