"""Options of `misstep agreement`: which file, how it is read, and how its lists of names are written."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import asdict, replace

from misstep.options.common import path_or_address
from misstep.options.groups import Only, OptionGroup
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_analysis.labels import Reading


File = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS",
        parser=path_or_address,
        help="File with the labels: CSV, TSV, .xlsx, JSON or JSON Lines, packed by gzip or not; - is standard input.",
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


_Level = Annotated[
    Literal["nominal", "ordinal", "interval"],
    typer.Option(
        help="Level of measurement for Krippendorff's alpha; ordinal labels also get weighted kappa and Gwet's AC2."
    ),
]
_Item = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="Column of the items, if it is not recognised; in an export a field of its tasks."
    ),
]
_Label = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Column of the labels in a file with one rating per row, or a question of an export. Several names give"
        " one report each.",
    ),
]
_Keep = Annotated[
    Literal["first", "last"] | None,
    typer.Option(help="Rating that counts where a rater labelled an item again; by default that is an error."),
]
_Decimal = Annotated[
    Literal["point", "comma"] | None,
    typer.Option(
        help="Decimal separator. By default, 2,5 is 2.5 at the ordinal and interval level if cells are not separated"
        " by commas and all labels are then numbers."
    ),
]


class LabelOptions(OptionGroup, frozen=True):
    """How a file of labels is read."""

    panel = "Labels"
    raters: Annotated[str, typer.Option(metavar="A,B", help="Raters to compare; by default all.")] = ""
    level: _Level = "nominal"
    order: Annotated[
        str, typer.Option(metavar="LOW,HIGH", help="Order of ordinal labels that are not numbers, lowest first.")
    ] = ""
    item: _Item = ""
    rater: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column of the raters in a file with one rating per row.")
    ] = ""
    label: _Label = ""
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that names the question of each row; one report per question.")
    ] = ""
    keep: _Keep = None
    raters_in: Annotated[
        Literal["columns", "rows"] | None,
        typer.Option(help="Place of the raters, if names do not tell: a column or a row each."),
    ] = None
    missing: Annotated[
        str, typer.Option(metavar="NA,?", help="Labels that stand for a missing rating, besides the empty cell.")
    ] = ""
    decimal: _Decimal = None

    def reading(self) -> "Reading":
        """Return how the file is read."""
        from misstep_analysis.labels import Reading

        lists = {name: names(getattr(self, name), f"--{name}") for name in ("raters", "order", "missing")}
        values = asdict(self) | lists
        return Reading(labels=names(values.pop("label"), "--label"), **values)

    def gold_reading(self) -> "Reading":
        """Return how a file of gold labels is read, of one rater or several."""
        return replace(self.reading(), fewest_raters=1)


OF_GOLD = Only("item", "rater", "label", "keep", "raters_in", "missing")


def names(listed: str, option: str) -> list[str]:
    """Return names separated by commas, as in a line of CSV: one with a comma is in double quotes."""
    if not listed.strip():
        return []
    try:
        names = next(csv.reader([listed], skipinitialspace=True, strict=True))
    except csv.Error as error:
        advice = "Separate names by commas; quote a name that contains a comma."
        raise UsageError(f"{option} {listed}: {error}", advice) from error
    return [name for name in names if name.strip()]
