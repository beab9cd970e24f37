"""Shared parts of the commands that run a judge: its argument, the judge and its client, its scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from misstep.options.common import refuse_given
from misstep.options.model import ModelOptions, client_settings, with_local_model

if TYPE_CHECKING:
    from misstep_harness.clients import ClientSettings
    from misstep_harness.judges.runnable import RunnableJudge

Judge = Annotated[
    str, typer.Argument(metavar="JUDGE", help="Name from `judge list`, TOML file, or `package.module:object`.")
]

ScoresAsJson = Annotated[bool, typer.Option("--json", help="Print the scores as one JSON document instead of text.")]

_NOTHING_TO_ASK = frozenset(
    {"judge", "sessions", "file", "item", "benchmark", "out", "data", "json"}
    | {"fail_under", "undecided", "orders", "junit", "summary"}
)
"""The parameters of `judge run` that mean something where nothing is asked."""


@contextmanager
def opened_judge(
    named: str, options: ModelOptions, data: Path | None = None
) -> "Iterator[tuple[RunnableJudge, ClientSettings]]":
    """Open a judge with the model of the options, and its client's settings; the local model runs inside the block."""
    from misstep_harness.runs.judging.known_judges import known_judge

    if options.local and not known_judge(named, model="local", data=data).asks_model:
        options = replace(options, local=False)  # no model is started for a judge that asks none
    with with_local_model(options) as known:
        judge = known_judge(named, model=known.model, base_url=known.base_url, data=data)
        yield judge, client_settings(known, judge.base_url)


def refuse_model_options(context: typer.Context) -> None:
    """Refuse options for asking a model, for a judge that asks none."""
    named = {parameter.name or "" for parameter in context.command.params}
    refuse_given(context, named - _NOTHING_TO_ASK, "the judge asks no model")


def print_scores(out: Path, folder: Path, *, json: bool, plumbing: bool = False, shown: bool = True) -> None:
    """Score a run and print its scores."""
    from misstep_analysis.judging.scored import scored
    from misstep_harness.journal.records import SCORES

    text = scored(out, folder).text
    if shown:
        print((out / SCORES).read_text(encoding="utf-8") if json else text, end="")
    if shown and plumbing and not json:
        from misstep_analysis.judging.report import NO_JUDGE

        print(f"\n{NO_JUDGE}", end="")
