"""`misstep judge policies`: judges under two rules for the gold label of an item, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text, path_alone

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN…", parser=path_alone, help="Folders of one or more judges' runs on one benchmark."),
]
Policy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="One of two rules for the gold label: majority, unanimous, any:LABEL or raters:A,B; "
        "by default majority and unanimous.",
        show_default=False,
    ),
]


def policies(
    runs: Runs,
    policy: Policy = None,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Tell what the rule for gold labels changes for judges.

    Several raters may label an item. Under `majority` the label of most raters is gold, under `unanimous` the one that
    two or more raters all gave, under `any:LABEL` that label where one rater gave it, and under `raters:A,B` the
    majority of these raters. Each judge's accuracy and kappa stand under both, with the interval of the difference.

    \b
    misstep judge policies strict lenient
    misstep judge policies strict lenient --policy majority --policy any:unsafe --json
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.analysis.measures.judging.people.gold_policies import compare_policies, gold_policy, policies_table
    from misstep.analysis.pages import table_text
    from misstep.analysis.tables import of_evidence
    from misstep.studies.judged_runs import open_runs

    named = policy or ["majority", "unanimous"]
    if len(named) != 2 or named[0] == named[1]:
        raise UsageError("two different policies stand side by side", "Give --policy twice, with two names.")
    opened = open_runs(runs, benchmark, data)
    first = next(iter(opened.values()))
    verdicts = {name: run.verdicts for name, run in opened.items()}
    both = gold_policy(named[0], first.gold), gold_policy(named[1], first.gold)
    labels, clusters = tuple(first.question.labels), first.clusters
    result = compare_policies(verdicts, first.gold, both, labels, clusters=clusters, seed=seed)
    if json:
        print(json_text({"benchmark": first.question.name, "policies": result}))
        return
    table = of_evidence(policies_table(result, first.question.name), first.question.evidence)
    print(table_text(table), end="")
