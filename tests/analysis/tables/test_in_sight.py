"""A figure that a cell computes in sight is a figure of a table that its notebook shows, or the notebook has failed."""

import json
from typing import Any

import pandas as pd
import pytest

from misstep_analysis.frames import values
from misstep_analysis.pages.page import TABLE_TYPE
from misstep_analysis.reproduction.notebook import read_notebook
from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.files import document
from misstep_analysis.tables.summary import FRAME_TYPE, frame_bundle

ROWS = (Row("Kappa", 0.5, 0.4, 0.6, n=9, group="a"), Row("Kappa", 0.7, evidence="published", group="a"))
TABLE = Table("t", "p", "T", "F.", ROWS)


def executed(frame: pd.DataFrame, *, checked: bool = True) -> dict[str, Any]:
    """A notebook with one cell, which shows a frame and a table."""
    shown = [frame_bundle(frame), {TABLE_TYPE: json.loads(json.dumps(document(TABLE)))}]
    cell = {"cell_type": "code", "source": "", "outputs": [{"output_type": "display_data", "data": x} for x in shown]}
    return {"cells": [cell], "metadata": {"misstep": {"checked": checked}}}


@pytest.mark.parametrize(
    ("figures", "is_shown"),
    [
        ({("a", "Kappa"): 0.5}, True),
        ({("a", "Kappa"): 0.5 + 1e-12}, True),
        ({("a", "Kappa"): 0.6}, False),
        ({("b", "Kappa"): 0.5}, False),
        ({("a", "Kappa"): 0.7}, False),
        ({("a", "Kappa"): float("nan")}, False),
    ],
)
def test_a_figure_is_looked_for_among_the_computed_rows(figures: dict[tuple[str, str], float], is_shown: bool) -> None:
    error = read_notebook("n", executed(values(figures, "group", "quantity"))).error
    assert (error is None) is is_shown
    assert error is None or "no table of the notebook shows" in error.sentence()


def test_an_interval_is_compared_where_the_frame_has_one() -> None:
    index = pd.Index(["Kappa"], name="quantity")
    frames = [pd.DataFrame({"value": 0.5, "low": low}, index=index) for low in (0.4, 0.3, None)]
    assert [read_notebook("n", executed(frame)).error is None for frame in frames] == [True, False, True]


def test_only_frames_of_figures_in_notebooks_that_ask_for_it_are_checked() -> None:
    other = pd.DataFrame({"value": [0.9]}, index=pd.Index(["x"], name="session"))
    assert frame_bundle(other) == {}
    frame = values({("a", "Kappa"): 0.6}, "group", "quantity")
    assert frame_bundle(frame) == {FRAME_TYPE: [{"group": "a", "quantity": "Kappa", "value": 0.6}]}
    assert read_notebook("n", executed(frame, checked=False)).error is None
