"""Vital signs are read in band, else from the host's side, and the capture says by which way and why."""

import asyncio
from pathlib import Path

import pytest

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import Diagnosed
from misstep.harness.reflexive.diagnosis import MOST_CHARACTERS, diagnosed, facts_told
from misstep.harness.reflexive.protocols import Reading, VitalSign
from tests.harness.reflexive.notebook import SIGNS, Faults, Notebook


def captured(folder: Path, *, broken: bool = False, outside_fails: bool = False, out_of_band: bool = True) -> Diagnosed:
    notebook = Notebook(folder, VirtualClock(), Faults(outside_fails=outside_fails))
    if broken:
        notebook.lines["broken"] = "yes"
    return asyncio.run(diagnosed(notebook, SIGNS, out_of_band=out_of_band))


def test_a_target_that_works_is_read_in_band(tmp_path: Path) -> None:
    found = captured(tmp_path)
    assert (found.channel, found.why, found.flags) == ("in_band", "", {"reachable": True})
    assert found.facts["lines"] == "motd=welcome rules=as they are"


def test_a_broken_way_in_is_read_from_the_host_and_says_so(tmp_path: Path) -> None:
    found = captured(tmp_path, broken=True)
    assert (found.channel, found.flags) == ("out_of_band", {"reachable": False})
    assert found.why == "access: a password is required"
    assert "broken=yes" in found.facts["lines"]
    assert facts_told(found).startswith("The vital signs were read from the host's side")


@pytest.mark.parametrize(("outside_fails", "out_of_band"), [(True, True), (False, False)])
def test_what_no_way_reads_is_unknown(outside_fails: bool, out_of_band: bool, tmp_path: Path) -> None:
    found = captured(tmp_path, broken=True, outside_fails=outside_fails, out_of_band=out_of_band)
    assert (found.channel, found.flags) == ("none", {"reachable": None})
    assert set(found.facts.values()) == {"It could not be read."}
    assert "reachable cannot be told" in facts_told(found)


def test_of_a_long_log_the_end_is_kept(tmp_path: Path) -> None:
    class Talkative(Notebook):
        async def read(self, sign: VitalSign) -> Reading:  # noqa: ARG002
            return Reading("first " + "x" * MOST_CHARACTERS + " last")

    notebook = Talkative(tmp_path, VirtualClock(), Faults())
    signs = (VitalSign("journal", "log"), VitalSign("rules", "configuration"))
    facts = asyncio.run(diagnosed(notebook, signs, out_of_band=True)).facts
    assert facts["journal"].endswith(" last")
    assert facts["rules"].startswith("first ")
    assert {len(text) for text in facts.values()} == {MOST_CHARACTERS}
