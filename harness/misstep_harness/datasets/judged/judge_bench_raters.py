"""Ratings by several people out of JUDGE-BENCH, a file a set, a row an item and metric.

    item_id,metric,aggregate,r1,r2,r3
    1,Fluency,2.67,4,3,1

A question a set and metric, `judge_bench_raters-<set>-<metric>` (without the metric if a set has one): graded metrics
are ordinal, others nominal, so that no main question can join them. Rater columns are positions, not people. An empty
cell is not a rating. `aggregate` follows from the ratings and is not read.
"""

import re
from pathlib import Path

from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_cells, files_in
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile

NAME = "judge_bench_raters"
_RATER = re.compile(r"r\d+\Z")
_UNASKABLE = "the set holds ratings alone, the texts are not in the public files"
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")


class _Ratings(Struct, frozen=True):
    item: str
    metric: str
    ratings: dict[str, str]


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (the set has no trajectories)
    """Write a folder for each set and metric."""
    for path in files_in(folder, "*.csv*"):
        name = path.name.partition(".")[0]
        raters, rows = _read(path)
        metrics = list(dict.fromkeys(row.metric for row in rows))
        for metric in metrics:
            rated = [row for row in rows if row.metric == metric]
            ratings = {rating for row in rated for rating in row.ratings.values()}
            ordinal = all(rating.lstrip("-").isdecimal() for rating in ratings)
            labels = sorted(ratings, key=int) if ordinal else sorted(ratings)
            short = _NOT_IN_NAME.sub("_", metric.lower()).strip("_")
            SetWriter(NAME, folder, out).write(
                [
                    Item(id=row.item, kind="text", unaskable=_UNASKABLE, extra={"set": name, "metric": metric})
                    for row in rated
                ],
                [Gold(row.item, rater, rating) for row in rated for rater, rating in row.ratings.items()],
                further=f"{name}-{short}" if len(metrics) > 1 else name,
                title=f"JUDGE-BENCH, {name}: {metric}",
                labels={label: f"{metric}: {label}" for label in labels},
                raters=tuple(raters),
                level="ordinal" if ordinal else "nominal",
                question=f"How is the text to be rated for {metric}?",
            )


def _read(path: Path) -> tuple[list[str], list[_Ratings]]:
    columns, lines = csv_cells(path, ("item_id", "metric"))
    raters = [column for column in columns if _RATER.match(column)]
    if len(raters) < 2:
        raise InputError("there are fewer than two rater columns (r1, r2, …)", file=path, line=1)
    rows = [
        _Ratings(cells["item_id"], cells["metric"], {rater: cells[rater] for rater in raters if cells[rater]})
        for _, cells in lines
    ]
    return raters, rows
