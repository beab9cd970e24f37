"""An evaluator's result is typed: no word in a text makes a success of a failure."""

import asyncio
from pathlib import Path

import pytest

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import Checked, CheckStatus, WorkItem
from misstep.harness.reflexive.evaluation import evaluated, typed
from misstep.harness.reflexive.protocols import Check
from misstep.harness.reflexive.settings import LoopSettings
from tests.harness.reflexive.notebook import Faults, Notebook


@pytest.mark.parametrize(
    ("healthy", "status", "wanted"),
    [
        (True, "passed", "passed"),
        (False, "passed", "failed"),
        (True, "unknown", "unknown"),
        (False, "unknown", "unknown"),
        (True, "failed", "failed"),
    ],
)
def test_nothing_passes_on_a_sick_target(healthy: bool, status: CheckStatus, wanted: CheckStatus) -> None:
    assert typed(Check(healthy, status)) == wanted


def checked(notebook: Notebook, item: WorkItem, *without: str) -> tuple[Checked, bool]:
    settings = LoopSettings(without=frozenset(without))
    return asyncio.run(evaluated(notebook, item, settings, "as they are"))


@pytest.mark.parametrize("without", [(), ("typed_evaluation",)])
def test_a_check_that_raises_or_has_to_wait_is_unknown_in_either_form(without: tuple[str, ...], tmp_path: Path) -> None:
    raising = Notebook(tmp_path, VirtualClock(), Faults(check_raises=True))
    found, made = checked(raising, WorkItem("nopasswd", "", ""), *without)
    assert (found.counted, made) == ("unknown", False)
    waiting = Notebook(tmp_path, VirtualClock(), Faults())
    waiting.lines["a"] = "done"
    found, made = checked(waiting, WorkItem("a", "", "", deferred=True), *without)
    assert (found.status, found.counted, found.healthy, made) == ("unknown", "unknown", True, True)


def test_a_passing_check_counts_for_nothing_where_it_was_changed(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path, VirtualClock(), Faults())
    notebook.lines["rules"] = "nothing is checked"
    found, _ = checked(notebook, WorkItem("a", "", ""))
    assert (found.status, found.counted) == ("passed", "failed")
    assert checked(notebook, WorkItem("a", "", ""), "protected_check")[0].counted == "passed"
