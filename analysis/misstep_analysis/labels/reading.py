"""What a person may say about how a file of labels is to be read."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

ScaleLevel = Literal["nominal", "ordinal", "interval"]
Keep = Literal["first", "last"]
Decimal = Literal["point", "comma"]
RatersIn = Literal["columns", "rows"]


class Reading(Struct, frozen=True):
    """How a file of labels is to be read.

    - `raters`: Those to compare, in this order, taken as they are; all if empty, unless one does not look like a rater.
    - `level`: Ordinal and interval labels must be numbers, unless `order` gives their order.
    - `keep`: Which of several ratings of one item by one rater counts; several are an error if not given.
    - `raters_in`: Where the raters of a table with a row an item or a row a rater are; told by names if not given.
    """

    raters: Sequence[str] = ()
    level: ScaleLevel = "nominal"
    order: Sequence[str] = ()
    item: str = ""
    rater: str = ""
    labels: Sequence[str] = ()
    by: str = ""
    keep: Keep | None = None
    missing: Sequence[str] = ()
    decimal: Decimal | None = None
    fewest_raters: int = 2
    raters_in: RatersIn | None = None
