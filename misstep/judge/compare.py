"""`misstep judge compare`: runs of judges on one benchmark, compared in pairs on the same items, or repeats of one."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text, path_alone, refuse_given
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain

if TYPE_CHECKING:
    from misstep_analysis.judging.judged_runs import JudgedRun

_FIGURES = ("n", "answered", "accuracy", "accuracy_all", "cohen_kappa", "cost_usd", "seconds")
_ONE_JUDGE = ("judge", "prompt", "examples", "model", "settings", "votes", "aggregate", "judge_digest")
"""Settings in which repeats are alike; the digest of the judge's file, which holds all, comes last."""

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN RUN…", parser=path_alone, help="Folders of two or more judges' runs on one benchmark."),
]
Test = Annotated[
    Literal["mcnemar", "bootstrap"], typer.Option(help="Test for a pair: McNemar's test or the paired bootstrap.")
]
Repeats = Annotated[
    bool, typer.Option("--repeats", help="Measure how often repeated runs of one judge give the same labels.")
]


def compare(
    context: typer.Context,
    runs: Runs,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    test: Test = "mcnemar",
    repeats: Repeats = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare judges in pairs on the items that both judged.

    An item without an answer counts as wrong. The p-values are adjusted for all pairs by Holm's method.

    With --repeats the runs are of one judge, asked in the same way: on how many items does its label change? Run the
    judge without --cache for it, as runs with a shared cache repeat its answers.
    """
    from misstep_analysis.judging.judged_runs import open_runs

    if len(runs) < 2:
        raise UsageError("a comparison needs two runs", "Name two or more runs on one benchmark.")
    by_name = open_runs(runs, benchmark, data)
    if repeats:
        refuse_given(context, {"test"}, "repeats of one judge are not tested against each other")
        text, document = _repeats(by_name, seed)
    else:
        text, document = _judges(by_name, test, seed)
    print(json_text(document) if json else text, end="\n" if json else "")


def _judges(
    by_name: Mapping[str, "JudgedRun"], test: Literal["mcnemar", "bootstrap"], seed: int
) -> tuple[str, dict[str, Any]]:
    """Compare every two runs: the text and the JSON document."""
    from misstep_analysis.judging.comparison import (
        compare_judges,
        compared_runs_table,
        comparison_table,
        pair_sentence,
    )
    from misstep_analysis.judging.scores import score
    from misstep_analysis.pages import table_text
    from misstep_analysis.tables import of_evidence

    first = next(iter(by_name.values()))
    verdicts = {name: run.verdicts for name, run in by_name.items()}
    pairs = compare_judges(verdicts, first.gold, clusters=first.clusters, test=test, seed=seed)
    source, evidence, labels = first.question.name, first.question.evidence, tuple(first.question.labels)
    of_run = partial(score, labels=labels, benchmark=source, seed=seed)
    scored = {name: of_run(run.verdicts, run.gold, clusters=run.clusters) for name, run in by_name.items()}
    documents = [
        {"run": name, "judge": scored[name].judge, "model": run.manifest.settings.get("model")}
        | {figure: getattr(scored[name], figure) for figure in _FIGURES}
        for name, run in by_name.items()
    ]
    sentences = "".join(f"{plain(pair_sentence(pair))}\n" for pair in pairs) if len(pairs) > 1 else ""
    tables = (compared_runs_table(scored, source), comparison_table(pairs, source))
    of_runs, of_pairs = (table_text(of_evidence(table, evidence)) for table in tables)
    text = "\n".join([of_runs, *([sentences] if sentences else []), of_pairs])
    return text, {"benchmark": source, "pairs": pairs, "runs": documents}


def _repeats(by_name: Mapping[str, "JudgedRun"], seed: int) -> tuple[str, dict[str, Any]]:
    """Measure how often the label of an item changes: the text and the JSON document."""
    from misstep_analysis.judging.sample import judged_sample
    from misstep_analysis.judging.stability import stability, stability_table
    from misstep_analysis.pages import table_text
    from misstep_analysis.tables import of_evidence

    first, *others = by_name.values()
    for other in others:
        _check_one_judge(first, other)
    labels, benchmark = tuple(first.question.labels), first.question.name
    sample = partial(judged_sample, gold=first.gold, labels=labels, clusters=first.clusters)
    result = stability([sample(run.verdicts) for run in by_name.values()], seed=seed)
    names = list(by_name)
    text = table_text(of_evidence(stability_table(result, names, benchmark), first.question.evidence))
    return text, {"runs": names, "benchmark": benchmark, "stability": result}


def _check_one_judge(first: "JudgedRun", other: "JudgedRun") -> None:
    """Refuse runs that were not asked in the same way."""
    for name in _ONE_JUDGE:
        if first.manifest.settings.get(name) != other.manifest.settings.get(name):
            called = "judge's file" if name == "judge_digest" else name
            differ = f"{first.folder} and {other.folder} differ in their {called}"
            raise UsageError(f"the runs are of different judges: {differ}", "Leave out --repeats to compare judges.")
