"""`misstep judge stability`: how often repeated runs of one judge give the same labels."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text, path_alone

if TYPE_CHECKING:
    from misstep.studies.judged_runs import JudgedRun

_SAME = ("judge", "prompt", "examples", "model", "settings", "votes", "aggregate", "judge_digest")
"""Settings in which runs of one judge are alike; the digest of its file, which holds all, comes last."""


Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN RUN…", parser=path_alone, help="Folders of two or more runs of one judge on one benchmark."
    ),
]


def stability(
    runs: Runs, benchmark: BenchmarkFolder = "", data: Data = None, seed: Seed = 0, json: Json = False
) -> None:
    """Measure how often repeated runs give the same labels.

    The runs are of one judge on one benchmark.

    Run the judge without --cache: runs with a shared cache repeat its answers.
    """
    from misstep.analysis.measures.judging.pairs.stability import stability as stability_of
    from misstep.analysis.measures.judging.pairs.stability import stability_table
    from misstep.analysis.measures.judging.sample import judged_sample
    from misstep.analysis.pages import table_text
    from misstep.analysis.tables import of_evidence
    from misstep.studies.judged_runs import open_runs

    if len(runs) < 2:
        raise UsageError("stability needs two runs", "Name two or more runs of one judge.")
    opened = open_runs(runs, benchmark, data)
    check_one_judge(list(opened.values()))
    names, first = list(opened), next(iter(opened.values()))
    sample = partial(judged_sample, gold=first.gold, labels=tuple(first.question.labels), clusters=first.clusters)
    result = stability_of([sample(run.verdicts) for run in opened.values()], seed=seed)
    if json:
        document = {"runs": names, "benchmark": first.question.name, "stability": result}
        print(json_text(document))
        return
    table = of_evidence(stability_table(result, names, first.question.name), first.question.evidence)
    print(table_text(table), end="")


def check_one_judge(runs: Sequence["JudgedRun"]) -> None:
    """Refuse runs that were not asked in the same way."""
    first = runs[0]
    for other in runs[1:]:
        for name in _SAME:
            if first.manifest.settings.get(name) != other.manifest.settings.get(name):
                called = "judge's file" if name == "judge_digest" else name
                differ = f"{first.folder} and {other.folder} differ in their {called}"
                message = f"the runs are of different judges: {differ}"
                raise UsageError(message, "Compare different judges with `misstep judge compare`.")
