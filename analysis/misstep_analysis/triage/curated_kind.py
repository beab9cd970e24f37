"""Folders of `misstep triage --curate`: runs with what becomes of each."""

from pathlib import Path

from misstep_analysis.runs.kind import ExportedTable, RunResults, Source, sources_named, table_of
from misstep_analysis.triage.curation import ACTIONS
from misstep_analysis.triage.curation_report import CURATED
from misstep_analysis.triage.data_card import RUNS, CuratedRun
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import Records


class CuratedRuns(RunResults[OpenRun]):
    """Curated training data."""

    command = CURATED
    records = Records(CuratedRun, RUNS, "run")

    def tables(self, run: OpenRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        files = [Path(RUNS), *(Path(f"{action}.jsonl") for action in ACTIONS)]
        return tuple(
            table_of(file.stem, file.name, CuratedRun, run.reader(Records(CuratedRun, file.name, "run")), key=("id",))
            for file in files
            if (run.folder / file).is_file()
        )

    def sources(self, run: OpenRun, data: Path | None) -> tuple[Source, ...]:
        cases = run.manifest.settings.get("cases")
        return (Source(str(cases)),) if cases else sources_named(run.manifest, data)
