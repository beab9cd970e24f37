"""`misstep judge ask`: one item, with the prompt, the reply and the verdict in full."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import tomli_w
import typer
from msgspec import Struct

from misstep.judge import options
from misstep.options.common import Json, json_text, path_or_address, refuse_given
from misstep.options.groups import Only
from misstep.options.model import MODEL_OPTIONS, ModelOptions
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UnknownFormat, UsageError
from misstep_harness.escaping import plain, printable
from misstep_harness.exchange import Message, Outcome, Reply, Request
from misstep_harness.items import Item, read_items, read_question
from misstep_harness.judges.runnable import RunnableJudge, fitted
from misstep_harness.places import path_text
from misstep_harness.progress import say
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


def ask(
    context: typer.Context,
    judge: options.Judge,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", parser=path_or_address, help="Session of any known format, or a text."),
    ] = None,
    item: Annotated[str, typer.Option("--id", help="Session or item to ask about; by default the first one.")] = "",
    benchmark: Annotated[
        str, typer.Option(help="Folder of a benchmark, or the name of a public data set, instead of FILE.")
    ] = "",
    json: Json = False,
    *,
    asking: Annotated[ModelOptions, Only("model", "base_url", "cache", "record", "replay", "local")],
) -> None:
    """Ask a judge about one session or item; show all of it.

    The output has the prompt, the reply and the verdict. Use it to try a new prompt.
    """
    from misstep_harness.runs.judging.known_judges import asked_about

    if (file is None) == (not benchmark):
        given = "both FILE and --benchmark are" if benchmark else "neither FILE nor --benchmark is"
        raise UsageError(f"{given} given", "Name one of them.")
    with options.opened_judge(judge, asking) as (opened, settings):
        if not opened.asks_model:
            refuse_given(context, MODEL_OPTIONS, "the judge asks no model")
        if file is None:
            answer = ask_of_benchmark(opened, asked_about(opened, (), benchmark, Path()), settings, item)
        else:
            answer = ask_once(opened, file, settings, item)
    print(json_text(answer) if json else _shown(answer))
    if answer.of > 1 and not item:
        what = "items" if file is None else "sessions"
        say(f"misstep: this is the first of {answer.of:,} {what}; --id names another.")
    if answer.verdict.status == "failed":
        raise typer.Exit(1)


def _shown(answer: Asked) -> str:
    lines = []
    for number, exchange in enumerate(answer.exchanges, start=1):
        which = f" {number} of {len(answer.exchanges)}" if len(answer.exchanges) > 1 else ""
        for message in exchange.messages:
            lines += [f"──── request{which}, {message.role}", printable(message.content).rstrip(), ""]
        lines += [f"──── reply{which}", printable(exchange.reply or f"none: {exchange.failure}").rstrip(), ""]
    verdict = answer.verdict
    lines.append(f"──── verdict on {plain(answer.item)}")
    fields = {
        "label": verdict.label or "none",
        "status": verdict.status,
        "score": verdict.score,
        "steps": ", ".join(map(str, verdict.steps)),
        "rationale": verdict.rationale,
        "error": verdict.error,
        "tokens": None if verdict.input_tokens is None else f"{verdict.input_tokens} in, {verdict.output_tokens} out",
        "cost": None if verdict.cost_usd is None else f"${verdict.cost_usd:.6f}",
    }
    lines += [f"{name:9} {plain(str(value))}" for name, value in fields.items() if value not in (None, "")]
    return "\n".join(lines)
