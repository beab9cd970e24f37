"""`misstep judge ask`: one item, with the prompt, the reply and the verdict in full."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.judge import options
from misstep.judge.one_item import Asked, ask_of_benchmark, ask_once
from misstep.options.common import Json, json_text, path_or_address, refuse_given
from misstep.options.groups import Only
from misstep.options.model import MODEL_OPTIONS, ModelOptions
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain, printable
from misstep_harness.progress import say


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
