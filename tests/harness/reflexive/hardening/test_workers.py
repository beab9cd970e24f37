"""Whole runs of the loop with each worker: what can be done is done, what cannot has its end, nothing stays broken."""

import asyncio
from pathlib import Path

import pytest

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import Ending, ItemEnded, Restored, TurnEnded
from misstep.harness.reflexive.hardening import HardeningSkill
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.workers import WORKERS
from misstep.harness.reflexive.log import Log
from misstep.harness.reflexive.loop import run_loop
from misstep.harness.reflexive.settings import ItemLimits, LoopSettings
from misstep.harness.workspace import Sandbox

SOME = ["sudo_no_nopasswd", "files_sticky_tmp", "kernel_no_forwarding", "audit_partition"]


class Run:
    """A run and what it came to."""

    def __init__(
        self, sandbox: Sandbox, folder: Path, worker: str, ids: list[str], *, attempts: int, without: str = ""
    ) -> None:
        skill = HardeningSkill(sandbox, ids)
        clock = VirtualClock()
        self.log = Log(clock)
        settings = LoopSettings(item=ItemLimits(attempts=attempts), without=frozenset(without.split()))
        with skill.open(folder, clock) as target:
            profile = target.files.text(PROFILE)
            asyncio.run(run_loop(skill, target, skill.agents[worker](7), settings, clock, self.log))
            self.reachable = asyncio.run(target.reachable())
            self.profile_changed = target.files.text(PROFILE) != profile
            self.digests = (target.digest(), target.kept("progress") or target.kept("baseline"))

    def all(self, kind: type) -> list:
        return [event.happened for event in self.log.events if isinstance(event.happened, kind)]

    @property
    def ends(self) -> dict[str, Ending]:
        return {one.item: one.happened.ending for one in self.log.events if isinstance(one.happened, ItemEnded)}


def test_the_perfect_worker_solves_all_that_is_possible(sandbox: Sandbox, tmp_path: Path) -> None:
    """The run has every third rule that stands for itself; `test_rules` tries the scripts of all."""
    special = [rule for rule in rules() if rule.after or rule.last or rule.deferred or not rule.possible]
    needed = {name for rule in special for name in rule.after}
    tried = [*special, *(rule for rule in rules() if rule.id in needed), *rules()[::3]]
    run = Run(sandbox, tmp_path, "perfect", [rule.id for rule in tried], attempts=1)
    solved = {item for item, ending in run.ends.items() if ending.end == "solved"}
    assert solved == {rule.id for rule in tried if rule.possible}
    assert {ending.reason for item, ending in run.ends.items() if item.startswith("kernel_") and item in solved} == {
        "verified_later"
    }
    assert run.ends["integrity_nightly"].reason == "prerequisite_unsolved"
    assert run.reachable


@pytest.mark.parametrize("worker", [worker for worker in WORKERS if worker != "perfect"])
def test_whoever_works_every_item_ends_and_the_target_stays_whole(sandbox, tmp_path, worker) -> None:
    run = Run(sandbox, tmp_path, worker, SOME, attempts=3)
    assert run.ends.keys() == set(SOME)
    assert run.ends["audit_partition"].end != "solved"
    assert run.reachable
    assert run.digests[0] == run.digests[1]
    assert not run.profile_changed
    assert all(restored.verified and restored.reachable for restored in run.all(Restored))
    assert all(len(turn.calls) <= 1 for turn in run.all(TurnEnded))
