"""Repairs carried out, and what a folder holds of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from misstep_harness.clients import ClientSettings
from misstep_harness.journal.opened import OpenRun, open_of
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.records import ATTEMPT_RECORDS, RepairAttempt
from misstep_harness.repair.runs.repair import COMMAND, RepairPlan, Repairs
from misstep_harness.runs.kind import RunEnd
from misstep_harness.runs.run import Asking, carry_out
from misstep_harness.workspace import Sandbox


def run_repairs(
    cases: Sequence[CaseFolder], run: Path, plan: RepairPlan, client: ClientSettings, sandbox: Sandbox, workers: int = 2
) -> RunEnd:
    return carry_out(Repairs(cases, plan, client, sandbox), run, Asking(client, workers))


def opened(run: Path) -> OpenRun:
    return open_of(run, COMMAND)


def recorded_attempts(run: Path) -> Iterator[RepairAttempt]:
    return opened(run).read(ATTEMPT_RECORDS)
