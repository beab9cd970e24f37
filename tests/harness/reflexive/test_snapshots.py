"""A target is brought back by what stands above it, and that it is back is looked at, not believed."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.records import Restored, RunBegan, SnapshotTaken, Warned
from misstep_harness.reflexive.snapshots import (
    keep_baseline,
    keep_progress,
    restored,
    revert_script,
    reverted_by_script,
)
from tests.harness.reflexive.notebook import Faults, Notebook, happened, items


def kept(folder: Path, faults: Faults | None = None) -> tuple[Notebook, Log]:
    """A notebook with both snapshots; the item `a` was solved since the first."""
    notebook, log = Notebook(folder, VirtualClock(), faults or Faults()), Log(VirtualClock())
    log.add(RunBegan("notebook", "agents", 0, (), items("a", "b"), keep_baseline(notebook)))
    notebook.lines["a"] = "done"
    keep_progress(notebook, log, "a", 1)
    return notebook, log


def test_the_baseline_is_kept_once(tmp_path: Path) -> None:
    notebook, log = kept(tmp_path)
    file = tmp_path / "baseline.json"
    before = (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino)
    fresh = Notebook(tmp_path, VirtualClock(), Faults())
    assert keep_baseline(fresh) == log.state.baseline
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert notebook.kept("baseline") == log.state.baseline


def test_progress_is_restored_whatever_was_done_to_the_target(tmp_path: Path) -> None:
    notebook, log = kept(tmp_path)
    notebook.lines.clear()
    notebook.lines["broken"] = "yes"
    assert asyncio.run(restored(notebook, log, "b", 1)) == ""
    (result,) = happened(log.events, Restored)
    assert (result.name, result.verified, result.reachable) == ("progress", True, True)
    assert result.wanted == happened(log.events, SnapshotTaken)[0].digest == notebook.digest()


@pytest.mark.parametrize("faults", [Faults(restore_fails={"progress"}), Faults(restore_spoils={"progress"})])
def test_without_progress_the_baseline_comes_back_and_the_loss_is_named(faults: Faults, tmp_path: Path) -> None:
    notebook, log = kept(tmp_path, faults)
    assert asyncio.run(restored(notebook, log, "b", 1)) == ""
    wanted = [("progress", False), ("baseline", True)]
    assert [(one.name, one.verified) for one in happened(log.events, Restored)] == wanted
    assert notebook.digest() == log.state.baseline
    assert happened(log.events, Warned)[-1].text == "The snapshot progress is lost, and with it: a."


def test_a_script_that_needs_what_it_is_to_repair_repairs_nothing(tmp_path: Path) -> None:
    notebook, log = kept(tmp_path)
    before = notebook.digest()
    notebook.lines["broken"] = "yes"
    assert "cannot be reached" in asyncio.run(
        reverted_by_script(notebook, log, "REVERT: remove broken", before, "b", 1)
    )
    assert happened(log.events, Warned)[0].text == "The revert script failed: a password is required"
    assert not happened(log.events, Restored)[0].verified


@pytest.mark.parametrize(
    ("reply", "script"),
    [
        ("done\nREVERT:   cp a b  \nmore", "cp a b"),
        ("REVERT:", ""),
        ("REVERT:\nrm -r x", ""),
        ("I would REVERT: nothing", ""),
        ("", ""),
    ],
)
def test_a_script_stands_on_a_line_of_its_own(reply: str, script: str) -> None:
    assert revert_script(reply) == script
