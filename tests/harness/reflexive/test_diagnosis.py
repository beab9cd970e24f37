"""Vital signs are read in band, else from the host's side; no word in a text makes a success of a failure."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.reflexive.diagnosis import MOST_CHARACTERS, diagnosed, evaluated, facts_told, typed
from misstep_harness.reflexive.protocols import Check, HealthProbe, Reading
from misstep_harness.reflexive.records import Checked, CheckStatus, Diagnosed, LoopSettings, WorkItem
from tests.harness.reflexive.notebook import SIGNS, Faults, Notebook


def captured(folder: Path, *, broken: bool = False, outside_fails: bool = False, out_of_band: bool = True) -> Diagnosed:
    notebook = Notebook(folder, VirtualClock(), Faults(outside_fails=outside_fails))
    if broken:
        notebook.lines["broken"] = "yes"
    return asyncio.run(diagnosed(notebook, SIGNS, out_of_band=out_of_band))


def test_a_target_that_works_is_read_in_band(tmp_path: Path) -> None:
    result = captured(tmp_path)
    assert (result.channel, result.why, result.flags) == ("in_band", "", {"reachable": True})
    assert result.facts["lines"] == "motd=welcome rules=as they are"


def test_a_broken_way_in_is_read_from_the_host_and_says_so(tmp_path: Path) -> None:
    result = captured(tmp_path, broken=True)
    assert (result.channel, result.flags) == ("out_of_band", {"reachable": False})
    assert result.why == "access: a password is required"
    assert "broken=yes" in result.facts["lines"]
    assert facts_told(result).startswith("The vital signs were read from the host's side")


@pytest.mark.parametrize(("outside_fails", "out_of_band"), [(True, True), (False, False)])
def test_what_no_way_reads_is_unknown(outside_fails: bool, out_of_band: bool, tmp_path: Path) -> None:
    result = captured(tmp_path, broken=True, outside_fails=outside_fails, out_of_band=out_of_band)
    assert (result.channel, result.flags) == ("none", {"reachable": None})
    assert set(result.facts.values()) == {"It could not be read."}
    assert "reachable cannot be told" in facts_told(result)


def test_of_a_long_log_the_end_is_kept(tmp_path: Path) -> None:
    class Talkative(Notebook):
        async def read(self, sign: HealthProbe) -> Reading:  # noqa: ARG002
            return Reading("first " + "x" * MOST_CHARACTERS + " last")

    notebook = Talkative(tmp_path, VirtualClock(), Faults())
    signs = (HealthProbe("journal", "log"), HealthProbe("rules", "configuration"))
    facts = asyncio.run(diagnosed(notebook, signs, out_of_band=True)).facts
    assert facts["journal"].endswith(" last")
    assert facts["rules"].startswith("first ")
    assert {len(text) for text in facts.values()} == {MOST_CHARACTERS}


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
    result, made = checked(raising, WorkItem("nopasswd", "", ""), *without)
    assert (result.counted, made) == ("unknown", False)
    waiting = Notebook(tmp_path, VirtualClock(), Faults())
    waiting.lines["a"] = "done"
    result, made = checked(waiting, WorkItem("a", "", "", deferred=True), *without)
    assert (result.status, result.counted, result.healthy, made) == ("unknown", "unknown", True, True)


def test_a_passing_check_counts_for_nothing_where_it_was_changed(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path, VirtualClock(), Faults())
    notebook.lines["rules"] = "nothing is checked"
    result, _ = checked(notebook, WorkItem("a", "", ""))
    assert (result.status, result.counted) == ("passed", "failed")
    assert checked(notebook, WorkItem("a", "", ""), "protected_check")[0].counted == "passed"
