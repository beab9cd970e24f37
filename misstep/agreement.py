"""`misstep agreement`: how far annotators agree, overall, by pair, by label and by item."""

import csv
import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.errors import UsageError
from harness.escaping import plain
from harness.progress import say
from misstep.options import Html, Json, Seed, command_app, json_text

app = command_app()


@app.command()
def agreement(
    file: Annotated[Path, typer.Argument(metavar="LABELS.csv", help="CSV file with the labels, wide or long.")],
    raters: Annotated[str, typer.Option(metavar="A,B", help="Raters to compare; by default all.")] = "",
    level: Annotated[
        Literal["nominal", "ordinal", "interval"], typer.Option(help="Level of measurement for Krippendorff's alpha.")
    ] = "nominal",
    order: Annotated[
        str, typer.Option(metavar="LOW,HIGH", help="Order of ordinal labels that are not numbers, lowest first.")
    ] = "",
    boot: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Number of bootstrap resamples for an interval; 0 uses standard errors instead."
        ),
    ] = 10_000,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
) -> None:
    """Measure how far annotators agree.

    LABELS.csv is wide (a column of items, then one column per rater) or long (the columns item, rater and label). An
    empty cell is a missing rating. Labels are compared without letter case and without spaces around them. In the JSON,
    shares of agreement run from 0 to 1.
    """
    from analysis.labels import read_labels
    from analysis.measures.agreement import agreement_report

    labels = read_labels(file, _names(raters, "--raters"), level, _names(order, "--order"))
    for remark in labels.remarks:
        say(f"misstep: {plain(f'{file}: {remark}')}")
    report = agreement_report(labels, level, boot, seed)
    if html is not None:
        from analysis.pages.agreement import report_page
        from harness.journal.records import replace_file

        given = {"--raters": raters, "--level": level if level != "nominal" else "", "--order": order}
        given |= {"--boot": str(boot) if boot != 10_000 else "", "--seed": str(seed) if seed else ""}
        options = [part for name, value in given.items() if value for part in (name, value)]
        command = shlex.join(["misstep", "agreement", str(file), *options, "--html", str(html)])
        written = report_page(report, file, command).encode()
        try:
            replace_file(html, written)
        except OSError as error:
            raise UsageError(f"--html {html}: {error.strerror}", "Name a file in a folder that exists.") from error
    if json:
        print(json_text(report))
    else:
        from analysis.pages.agreement_text import report_text

        print(report_text(report))


def _names(listed: str, option: str) -> list[str]:
    """Names separated by commas, as in a line of CSV: one with a comma stands in double quotes."""
    if not listed.strip():
        return []
    try:
        names = next(csv.reader([listed], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise UsageError(
            f"{option} {listed}: {error}", "Separate names by commas; quote a name that contains a comma."
        ) from error
    return [name for name in names if name.strip()]
