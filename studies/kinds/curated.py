"""Folders of `misstep triage --curate`: runs with what becomes of each."""

from pathlib import Path

from misstep.analysis.measures.triage.curation import ACTIONS
from misstep.analysis.pages.notebooks.data_card import RUNS, CuratedRun
from misstep.harness.journal.records import Records
from misstep.harness.runs.opened import OpenRun
from misstep.studies.curation import CURATED
from misstep.studies.kinds.columns import ExportedTable, table_of
from misstep.studies.kinds.kind import RunResults
from misstep.studies.kinds.sources import Source, sources_named


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
