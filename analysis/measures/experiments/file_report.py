"""The report of a user's own experiment: a CSV of sessions in, the tables out."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from misstep.analysis.labels.content import shown
from misstep.analysis.measures.experiments.comparison import ExperimentReport, compare_arms
from misstep.analysis.measures.experiments.tables import experiment_tables
from misstep.analysis.measures.experiments.user_file import read_sessions
from misstep.analysis.tables import Table


class FileReport(Struct, frozen=True):
    """The experiment as compared, and its tables: changes, sizes of the arms, and a plan of the next one."""

    compared: ExperimentReport
    tables: tuple[Table, ...]


def file_report(
    file: Path,
    control: str = "",
    treatment: str = "",
    shares: Mapping[str, float] | None = None,
    planned_units: int | None = None,
    seed: int = 0,
) -> FileReport:
    """Compare the arms of a user's CSV (`user_file` has its columns); other parameters as of `compare_arms`."""
    compared = compare_arms(read_sessions(file), control, treatment, shares, planned_units, seed)
    return FileReport(compared, experiment_tables(compared, shown(file)))
