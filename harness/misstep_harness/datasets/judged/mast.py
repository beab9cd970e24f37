"""MAST: which failure modes are in a run of several agents, each marked by three annotators.

One row of `human_labels.csv`, one a trace and mode:

    trace_id,round,mas_name,benchmark_name,mode_code,mode_name,annotator_1,annotator_2,annotator_3
    3,Round 1,SomeSystem,SomeTasks,1.3,Step repetition,0,1,0

The modes were renumbered between rounds: an item's id names round, trace and code, and its `extra` the mode. An empty
cell is not a rating. Upstream spells the last round "Generlazability" and swaps system and benchmark in its last two
traces; both are kept. Many traces carry the same labels, so that rows are not independent.
"""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_rows
from misstep_harness.protocols import ReadFile

NAME = "mast"
RATERS = ("annotator_1", "annotator_2", "annotator_3")
Mark = Literal["0", "1", ""]


class _Row(Struct, frozen=True):
    trace_id: int
    round: str
    mas_name: str
    benchmark_name: str
    mode_code: str
    mode_name: str
    annotator_1: Mark = ""
    annotator_2: Mark = ""
    annotator_3: Mark = ""


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (the set has no trajectories)
    """Write `mast`."""
    rows = list(csv_rows(folder / "human_labels.csv", _Row))
    gold = [Gold(_id(row), rater, mark) for row in rows for rater in RATERS if (mark := getattr(row, rater))]
    SetWriter(NAME, folder, out).write([_item(row) for row in rows], gold)


def _id(row: _Row) -> str:
    return f"{row.round}/{row.trace_id}/{row.mode_code}"


def _item(row: _Row) -> Item:
    return Item(
        id=_id(row),
        kind="triage",
        unaskable="its trace is not in the public files",
        extra={
            "trace": row.trace_id,
            "round": row.round,
            "system": row.mas_name,
            "benchmark": row.benchmark_name,
            "mode_code": row.mode_code,
            "mode": row.mode_name,
        },
    )
