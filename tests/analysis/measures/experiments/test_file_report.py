"""A user's CSV to tables."""

from pathlib import Path

import msgspec

from misstep.analysis.measures.experiments.file_report import file_report
from tests.analysis.measures.experiments.made_up import sessions


def test_a_file_of_sessions_becomes_three_tables_of_real_figures(tmp_path: Path) -> None:
    given = [msgspec.to_builtins(one) for one in sessions()]
    file = tmp_path / "sessions.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in [given[0], *(one.values() for one in given)]) + "\n")
    found = file_report(file)
    assert [table.name for table in found.tables] == ["experiment_changes", "experiment_arms", "experiment_plan"]
    assert {row.evidence for table in found.tables for row in table.rows} == {"real"}
    assert len(found.compared.changes) == 4
