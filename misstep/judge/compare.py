"""`misstep judge compare`: runs of judges on one benchmark, compared in pairs on the same items."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text, path_alone

if TYPE_CHECKING:
    from misstep.analysis.measures.judging.scores import Scores
    from misstep.studies.judged_runs import JudgedRun


Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN RUN…", parser=path_alone, help="Folders of two or more runs on one benchmark."),
]


def compare(
    runs: Runs,
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
    from misstep.analysis.pages import table_text
    from misstep.analysis.tables import of_evidence
    from misstep.studies.judged_runs import open_runs

    if len(runs) < 2:
        raise UsageError("a comparison needs two runs", "Name two or more runs on one benchmark.")
    by_name = open_runs(runs, benchmark, data)
    first = next(iter(by_name.values()))
    verdicts = {name: run.verdicts for name, run in by_name.items()}
    pairs = compare_judges(verdicts, first.gold, clusters=first.clusters, test=test, seed=seed)
    scored = {name: _scores(run, seed) for name, run in by_name.items()}
    if json:
        documents = [_told(name, run, scored[name]) for name, run in by_name.items()]
        document = {"benchmark": first.question.name, "pairs": pairs, "runs": documents}
        print(json_text(document))
        return
    source, evidence = first.question.name, first.question.evidence
    print(table_text(of_evidence(compared_runs_table(scored, source), evidence)))
    if len(pairs) > 1:
        print("".join(f"{plain(pair_sentence(pair))}\n" for pair in pairs))
    print(table_text(of_evidence(comparison_table(pairs, source), evidence)), end="")


def _scores(run: "JudgedRun", seed: int) -> "Scores":
    from misstep.analysis.measures.judging.scores import score

    labels, benchmark = tuple(run.question.labels), run.question.name
    return score(run.verdicts, run.gold, labels, benchmark=benchmark, clusters=run.clusters, seed=seed)


def _told(name: str, run: "JudgedRun", scores: "Scores") -> dict[str, object]:
    figures = ("n", "answered", "accuracy", "accuracy_all", "cohen_kappa", "cost_usd", "seconds")
    who = {"run": name, "judge": scores.judge, "model": run.manifest.settings.get("model")}
    return who | {figure: getattr(scores, figure) for figure in figures}
