"""Options of `misstep agreement`: which file, how it is read, and how its lists of names are written."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import path_or_address

if TYPE_CHECKING:
    from misstep.analysis.labels import Reading

File = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS",
        parser=path_or_address,
        help="File with the labels: CSV, TSV, .xlsx, JSON or JSON Lines, packed by gzip or not; - is standard input.",
    ),
]
Raters = Annotated[str, typer.Option(metavar="A,B", help="Raters to compare; by default all.")]
Level = Annotated[
    Literal["nominal", "ordinal", "interval"],
    typer.Option(
        help="Level of measurement for Krippendorff's alpha; ordinal labels also get weighted kappa and Gwet's AC2."
    ),
]
Order = Annotated[
    str, typer.Option(metavar="LOW,HIGH", help="Order of ordinal labels that are not numbers, lowest first.")
]
Item = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="Column of the items, if it is not recognised; in an export a field of its tasks."
    ),
]
Rater = Annotated[str, typer.Option(metavar="COLUMN", help="Column of the raters in a file with one rating per row.")]
Label = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Column of the labels in a file with one rating per row, or a question of an export. Several names give "
        "one report each.",
    ),
]
By = Annotated[
    str, typer.Option(metavar="COLUMN", help="Column that names the question of each row; one report per question.")
]
Keep = Annotated[
    Literal["first", "last"] | None,
    typer.Option(help="Rating that counts where a rater labelled an item again; by default that is an error."),
]
Missing = Annotated[
    str, typer.Option(metavar="NA,?", help="Labels that stand for a missing rating, besides the empty cell.")
]
Decimal = Annotated[
    Literal["point", "comma"] | None,
    typer.Option(
        help="Decimal separator. By default, 2,5 is 2.5 at the ordinal and interval level if cells are not separated "
        "by commas and all labels are then numbers."
    ),
]
Boot = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Number of bootstrap resamples for an interval; 0 uses standard errors instead."
    ),
]
IntervalWidth = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        metavar="W",
        help="Width of an interval to aim for; the report then says how many more items it takes.",
    ),
]
Consensus = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Write the label that most raters gave each item to a CSV file.")
]
Adjudicate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.csv", help="Write the items that raters disagree on to a CSV file, the most disputed first."
    ),
]


def gold_reading(item: str, rater: str, label: str, keep: Literal["first", "last"] | None, missing: str) -> "Reading":
    """How a file of gold labels is read, of one rater or several."""
    from misstep.analysis.labels import Reading

    return Reading(
        item=item,
        rater=rater,
        labels=names(label, "--label"),
        keep=keep,
        missing=names(missing, "--missing"),
        fewest_raters=1,
    )


def names(listed: str, option: str) -> list[str]:
    """Names separated by commas, as in a line of CSV: one with a comma stands in double quotes."""
    if not listed.strip():
        return []
    try:
        found = next(csv.reader([listed], skipinitialspace=True, strict=True))
    except csv.Error as error:
        advice = "Separate names by commas; quote a name that contains a comma."
        raise UsageError(f"{option} {listed}: {error}", advice) from error
    return [name for name in found if name.strip()]
