"""A drawn sample of a judge's run as tasks for an annotation tool."""

from misstep.analysis.tables.files import csv_of
from misstep.harness.items import Item, Runs
from misstep.harness.judges.context import fitted_steps
from misstep.harness.readers.inline import inline_run
from misstep.harness.runs.judging.trajectories_by_id import runs_by_id
from misstep.studies.labelling_pages.labelling import Drawn

_ROOM = 30_000
"""The characters of a session in a task; a cell of a workbook holds 32,767."""


def tasks_csv(drawn: Drawn) -> str:
    """Return the items of a sample as CSV, a task a row, in the order of the draw, without the judge's labels."""
    runs = Runs(drawn.run.benchmark, runs_by_id, inline_run)
    return csv_of(("item", "text"), (_task(item, runs) for item in drawn.items))


def _task(item: Item, runs: Runs) -> tuple[str, str]:
    run = runs.of(item)
    steps = () if run is None else run.steps
    session = fitted_steps(steps, _ROOM, "shorten_middle", item.step, first=0).text if steps else ""
    return item.id, "\n\n".join(part for part in (item.task, item.text, item.patch, session) if part)
