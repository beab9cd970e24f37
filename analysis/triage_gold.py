"""What is known of triage cases beside their labels: subcategories, and how generated cases were made.

Both files are beside `gold.csv`, and only analysis opens them::

    gold_subcategories.csv   item,rater,label                   as `gold.csv`, with subcategories for labels
    gold_construction.csv    item,family,set,variant,partner    of generated cases alone
"""

import csv
from pathlib import Path

from msgspec import Struct

from misstep.analysis.gold import GoldLabel, check_columns, gold_lines
from misstep.harness.errors import InputError

SUBCATEGORIES = "gold_subcategories.csv"
CONSTRUCTIONS = "gold_construction.csv"
_FORM = "gold_construction.csv has the columns item, family, set, variant and partner, and one row an item."


class Construction(Struct, frozen=True):
    """How a generated case was made: from which family of tasks, of which set, in which variant.

    `partner` is the case that looks like it and has another label; empty if there is none.
    """

    item: str
    family: str
    set: str = ""
    variant: str = ""
    partner: str = ""


def read_subcategories(folder: Path) -> tuple[GoldLabel, ...]:
    """Return the subcategories that raters gave; none if there is no such file."""
    file = folder / SUBCATEGORIES
    return tuple(label for _, label in gold_lines(file)) if file.is_file() else ()


def read_constructions(folder: Path) -> dict[str, Construction]:
    """Item → how it was made; empty if there is no such file."""
    file = folder / CONSTRUCTIONS
    if not file.is_file():
        return {}
    columns = Construction.__struct_fields__
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream, strict=True)
            check_columns(reader.fieldnames, columns, file, _FORM)
            return {row["item"]: Construction(*(row[column] or "" for column in columns)) for row in reader}
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not a CSV table in UTF-8: {error}", _FORM, file=file) from error


def families_of(constructions: dict[str, Construction]) -> dict[str, str]:
    """Item → what it hangs together with: cases of one family of tasks are not independent of each other."""
    return {item: f"family {one.family}" for item, one in constructions.items() if one.family}
