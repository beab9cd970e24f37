"""`misstep judge rank`: whether several judges put the systems whose work they judged in one order."""

from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.judge.options import TwoRuns
from misstep.options.common import BenchmarkFolder, Data, Json, Seed, json_text


def rank(
    runs: TwoRuns,
    good: Annotated[
        str, typer.Option(metavar="LABEL", help="Label that counts as good; runs on pairs of outputs need none.")
    ] = "",
    system: Annotated[
        str, typer.Option(metavar="FIELD", help="Field in the items' `extra` that names the system whose work it is.")
    ] = "system",
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Tell whether several judges put systems in one order.

    Each item is the work of one system, which its `extra` names. A judge orders the systems by the share of their items
    that it gives the label of good work. The tables have Kendall's tau-b between the orders, with an interval over
    items, and how often the winner changes with the judge.

    Runs on pairs of outputs rank systems by Bradley and Terry's strengths, with intervals over tasks. One run will do;
    people's order comes beside it if they labelled pairs.

    \b
    misstep judge rank strict lenient --good passed
    misstep judge rank strict lenient --good no --system agent
    misstep judge rank pairs
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.analysis.measures.judging.pairs.ranking import orders_table, rank_stability, ranking_table
    from misstep.analysis.pages import table_text
    from misstep.analysis.tables import of_evidence
    from misstep.studies.judged_runs import open_runs
    from misstep.studies.judging.ranked_systems import ranked_systems

    opened = open_runs(runs, benchmark, data)
    first = next(iter(opened.values()))
    if first.question.kind == "pair":
        if good:
            raise UsageError("--good has no meaning for pairs", "Leave it out.")
        ranked = ranked_systems(opened, system, seed)
        print(json_text(ranked.document()) if json else ranked.text(), end="\n" if json else "")
        return
    if len(runs) < 2:
        raise UsageError("a ranking of several judges needs two runs", "Name runs of two or more judges.")
    if not good:
        raise UsageError("no label is named as good work", "Name one with --good.")
    labels = first.question.labels
    if labels and good not in labels:
        raise UsageError(f"--good {good!r} is none of the labels {', '.join(labels)}", "Name one of them.")
    verdicts = {name: run.verdicts for name, run in opened.items()}
    named = {item.id: item.extra.get(system) for item in first.items}
    systems = {item: str(name) for item, name in named.items() if isinstance(name, str | int) and str(name).strip()}
    result = rank_stability(verdicts, systems, good, clusters=first.clusters, seed=seed)
    if json:
        print(json_text({"benchmark": first.question.name, "ranking": result}))
        return
    source, evidence = first.question.name, first.question.evidence
    tables = [of_evidence(table(result, source), evidence) for table in (ranking_table, orders_table)]
    print("\n".join(map(table_text, tables)), end="")
