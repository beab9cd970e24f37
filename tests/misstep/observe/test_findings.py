"""A run of the observer gives the same bytes whatever cuts it: processes and kills."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import misstep
from misstep.observe.findings import observed_findings
from misstep_analysis.observer.observed import ObservedSummary
from misstep_analysis.observer.page import page_of_observed
from misstep_harness.errors import UsageError
from misstep_harness.journal.opened import OpenRun, open_of
from misstep_harness.journal.records import OBSERVED_RECORDS, read_records
from misstep_harness.observer.runs.observe import Observation
from misstep_harness.runs.spread import Spread
from tests.misstep.made_up import SETTINGS, by_lot

SAME_BYTES = ("observed.jsonl", "sessions.jsonl", "scores.json", "report.html")


def _observe(path: Path, out: Path, workers: int = 1) -> ObservedSummary:
    return observed_findings(
        [path], Observation(by_lot, settings=SETTINGS, spread=Spread(workers), arguments=[str(path)]), out
    )


def _bytes(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in SAME_BYTES}


@pytest.fixture(scope="module")
def undisturbed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of `inputs` that nothing has disturbed."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    _observe(inputs, run)
    return run


def test_all_is_counted_once_and_what_is_no_trajectory_is_named(inputs: Path, undisturbed: Path) -> None:
    result = _observe(inputs, undisturbed)
    assert (result.n, result.invocations, result.renamed) == (551, 1102, 2)
    assert [(one.file, one.line) for one in result.unreadable] == [(str(inputs / "b.jsonl"), 251)]
    assert [one.file for one in result.skipped] == [str(inputs / "notes.txt")]
    runs = list(read_records(undisturbed, OBSERVED_RECORDS))
    assert len({one.item for one in runs}) == 551
    assert result.flagged == sum(bool(one.invocations[0].misbehaviours) for one in runs) == len(result.interventions)
    assert result.interventions[0].file.endswith("a.jsonl")


def test_two_processes_write_the_bytes_that_one_writes(inputs: Path, undisturbed: Path, tmp_path: Path) -> None:
    _observe(inputs, tmp_path / "run", workers=2)
    assert _bytes(tmp_path / "run") == _bytes(undisturbed)


def test_other_settings_and_an_unfinished_run_are_refused(inputs: Path, undisturbed: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="every was 2 and is now 3"):
        observed_findings([inputs], Observation(by_lot, settings=SETTINGS | {"every": 3}), undisturbed)
    run = OpenRun(tmp_path, replace(open_of(undisturbed, "observe").manifest, finished=""))
    with pytest.raises(UsageError, match="is not finished"):
        page_of_observed(run)


def test_a_run_opens_as_frames_whose_shares_are_those_of_its_document(undisturbed: Path) -> None:
    run = misstep.open(undisturbed)
    assert (len(run.invocations), int(run.invocations.flagged.sum())) == (1102, len(run.interventions))
    assert set(run.interventions.columns) >= {"item", "step", "categories", "detected_at", "delivered_at"}
    assert run.verdicts.empty
