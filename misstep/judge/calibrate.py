"""`misstep judge calibrate`: a threshold on a judge's score that keeps a precision, and scores as probabilities."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from misstep.options.common import BenchmarkFolder, Data, Json, json_text, need_scikit_learn, path_alone
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_analysis.judging.judged_runs import JudgedRun


ScoreOf = Annotated[
    Literal["given", "label"],
    typer.Option(help="Label that a score is of: the one that the judge gave, or the one of --label."),
]


def calibrate(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a judge's run.")],
    precision: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Precision that a threshold must keep, such as 0.80.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME,…", help="Way to make probabilities of scores: isotonic, logistic or both.")
    ] = "",
    score_of: ScoreOf = "given",
    label: Annotated[
        str, typer.Option(help="Label whose precision counts; by default the benchmark's positive label.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed for the split into two parts.")] = 0,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
) -> None:
    """Find a threshold that is precise enough, or probabilities.

    With --precision, a threshold above which a judge's label is precise enough is chosen on one part of the items and
    tested on the held-out part, which comes from other trajectories. The exit code is 1 if no threshold keeps the
    precision; the output then gives the number of further labels that would be needed, or says that no number is
    enough.

    With --method, the scores are calibrated on one part and tested on the other: Brier score and calibration error
    before and after, and how well the scores rank items (area under the ROC curve, average precision). --json has the
    probabilities of the held-out items.

    \b
    misstep judge calibrate RUN --precision 0.80
    misstep judge calibrate RUN --method isotonic,logistic
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    import msgspec

    from misstep_analysis.judging.calibrated_scores import (
        calibrated_scores,
        calibrated_scores_table,
        methods_named,
    )
    from misstep_analysis.judging.judged_runs import open_run, votes_of, warn_incomplete
    from misstep_analysis.judging.precision_threshold import precision_threshold, threshold_table
    from misstep_analysis.pages import table_text
    from misstep_analysis.tables import of_evidence

    if precision is None and not method:
        raise UsageError("there is nothing to calibrate for", "Give --precision 0.80, or --method isotonic.")
    methods = methods_named(method)
    if methods:
        need_scikit_learn("--method")
    opened = open_run(run, benchmark, data)
    warn_incomplete([opened])
    chosen, about = chosen_label(opened, label), (opened.name, opened.question.name)
    verdicts, gold, clusters = opened.verdicts, opened.gold, opened.clusters
    document: dict[str, Any] = {"run": opened.name, "evidence": opened.question.evidence}
    tables = []
    shown = True
    if precision is not None:
        result = precision_threshold(
            verdicts, gold, chosen, precision, votes=votes_of(opened), clusters=clusters, seed=seed
        )
        document |= msgspec.to_builtins(result)
        tables.append(threshold_table(result, *about))
        shown = result.threshold is not None
    if methods:
        labels = tuple(opened.question.labels)
        scores = calibrated_scores(
            verdicts, gold, chosen, labels, methods, score_of=score_of, clusters=clusters, seed=seed
        )
        document["scores"] = scores
        tables.append(calibrated_scores_table(scores, *about))
    marked = [of_evidence(table, opened.question.evidence) for table in tables]
    print(json_text(document) if json else "\n".join(map(table_text, marked)), end="\n" if json else "")
    if not shown:
        raise typer.Exit(1)


def chosen_label(run: "JudgedRun", label: str) -> str:
    """Return the label that is meant: the one that is named, or else the benchmark's positive one."""
    labels = tuple(run.question.labels) or tuple(sorted({row.label for row in run.gold}))
    listed = f"Labels: {', '.join(labels)}."
    if not label and not run.question.positive:
        raise UsageError(f"the benchmark {run.question.name} has no positive label", f"Name one with --label. {listed}")
    if label and label not in labels:
        raise UsageError(f"{label!r} is not a label of the benchmark {run.question.name}", listed)
    return label or run.question.positive
