"""`misstep judge compare`: runs of judges on one benchmark, compared in pairs on the same items."""

from functools import partial
from typing import Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.judge.options import TwoRuns
from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text

_FIGURES = ("n", "answered", "accuracy", "accuracy_all", "cohen_kappa", "cost_usd", "seconds")


def compare(
    runs: TwoRuns,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    test: Annotated[
        Literal["mcnemar", "bootstrap"], typer.Option(help="Test for a pair: McNemar's test or the paired bootstrap.")
    ] = "mcnemar",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare judges in pairs on the items that both judged.

    An item without an answer counts as wrong. The p-values are adjusted for all pairs by Holm's method.
    """
    from misstep.analysis.measures.judging.pairs.comparison import (
        compare_judges,
        compared_runs_table,
        comparison_table,
        pair_sentence,
    )
    from misstep.analysis.measures.judging.scores import score
    from misstep.analysis.pages import table_text
    from misstep.analysis.tables import of_evidence
    from misstep.studies.judged_runs import open_runs

    if len(runs) < 2:
        raise UsageError("a comparison needs two runs", "Name two or more runs on one benchmark.")
    by_name = open_runs(runs, benchmark, data)
    first = next(iter(by_name.values()))
    verdicts = {name: run.verdicts for name, run in by_name.items()}
    pairs = compare_judges(verdicts, first.gold, clusters=first.clusters, test=test, seed=seed)
    source, evidence, labels = first.question.name, first.question.evidence, tuple(first.question.labels)
    of_run = partial(score, labels=labels, benchmark=source, seed=seed)
    scored = {name: of_run(run.verdicts, run.gold, clusters=run.clusters) for name, run in by_name.items()}
    if json:
        documents = [
            {"run": name, "judge": scored[name].judge, "model": run.manifest.settings.get("model")}
            | {figure: getattr(scored[name], figure) for figure in _FIGURES}
            for name, run in by_name.items()
        ]
        print(json_text({"benchmark": source, "pairs": pairs, "runs": documents}))
        return
    print(table_text(of_evidence(compared_runs_table(scored, source), evidence)))
    if len(pairs) > 1:
        print("".join(f"{plain(pair_sentence(pair))}\n" for pair in pairs))
    print(table_text(of_evidence(comparison_table(pairs, source), evidence)), end="")
