"""`misstep repair report`: runs of repairs compared in pairs on the same cases, and their patches as a benchmark."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.common import Json, Seed, write_page
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.datasets.benchmark import Gold


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs of `repair run`.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.html", help="HTML page to write as well, with every attempt.")
    ] = None,
    reviews: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG.csv", help="Review log of the runs' patches; by default reviews.csv in their folders."
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for a recording of one run: its attempts without texts.")
    ] = None,
    patches: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New folder for the runs' patches, as a benchmark of patch judges."),
    ] = None,
    gold: Annotated[
        str,
        typer.Option(
            metavar="WHOSE", help="Their gold labels: tests, reviews, or a CSV file of people's (item, rater, label)."
        ),
    ] = "tests",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show what runs solved, and compare them on the same cases.

    The tables have solve rates, patches, errors and iterations.

    With one attempt a case the test is McNemar's, with more each case goes either way as a whole. The p-values are
    adjusted for all pairs by Holm's method.

    With --patches a judge of patches can be measured: it sees the task, the patch and the checks that run no test. By
    the tests a patch with which those of its case pass is acceptable, any other is unacceptable. By reviews the last
    decision counts. A CSV file is as `annotate --out` writes gold.csv. A patch without a label is left out.
    """
    from misstep_analysis.repair.recorded_runs import open_repair_runs, record_run, say_warnings
    from misstep_analysis.repair.report import repairs_html, repairs_json, repairs_text, reviews_of, scores_of
    from misstep_harness.repair.runs.patches import write_patches

    if gold != "tests" and patches is None:
        raise UsageError("--gold is for a benchmark of patches", "Name its folder with --patches.")
    opened = open_repair_runs(runs)
    if record is not None:
        if len(runs) > 1:
            raise UsageError(f"{len(runs)} runs cannot be one recording", "Name one run.")
        opened = [record_run(opened[0], record)]
    if patches is not None:
        written = write_patches(opened, patches, _labels(gold, runs))
        line = shlex.join(["misstep", "judge", "run", "patch_judge", "--benchmark", str(patches), "--out", "RUN"])
        n = written.counts["items"]
        say(f"misstep: {n:,} patch{'' if n == 1 else 'es'} written; a judge is measured on them by: {plain(line)}")
    say_warnings(opened)
    scores = scores_of(opened, seed)
    review = reviews_of(opened, reviews)
    print(repairs_json(opened, scores, review) if json else repairs_text(opened, scores, review), end="")
    if out is not None:
        again = shlex.join(["misstep", "repair", "report", *map(str, runs), "--out", str(out)])
        write_page("--out", out, repairs_html(opened, scores, again, review))


def _labels(gold: str, runs: list[Path]) -> "list[Gold] | None":
    from misstep_analysis.gold import gold_lines
    from misstep_harness.datasets.benchmark import Gold
    from misstep_harness.repair.runs.patches import decisions

    if gold == "tests":
        return None
    if gold == "reviews":
        return [label for run in runs for label in decisions(run)]
    return [Gold(row.item, row.rater, row.label) for _, row in gold_lines(Path(gold))]
