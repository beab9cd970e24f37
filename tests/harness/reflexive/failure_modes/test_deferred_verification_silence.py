"""Failure mode 7: what is only checked later is believed, and nobody comes back to it."""

from misstep.harness.records.loop_events import Deferred, Verified
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import looped

KINDS: tuple[Kind, ...] = ("start", "kept", "start", "kept", "trivial")
NAIVE = "destructive"
"""A worker that does what the item asks for and not what keeps it there: half of its deferred items come to nothing."""


def test_off_an_item_that_the_restart_undoes_counts_as_solved_and_nothing_is_ever_checked() -> None:
    off = looped(KINDS, ("verified_deferrals",), worker=NAIVE)
    assert off.solved == len(KINDS)
    assert not off.all_of(Verified)
    assert [end.ending.reason for end in off.ends.values()].count("believed_solved") == 4


def test_on_every_deferred_check_is_made_and_says_what_came_of_it() -> None:
    on = looped(KINDS, worker=NAIVE)
    reasons = {on.kinds[item]: end.ending.reason for item, end in on.ends.items()}
    assert reasons == {"trivial": "check_passed", "start": "verified_later", "kept": "verification_failed"}
    assert len(on.all_of(Deferred)) == len(on.all_of(Verified)) == 4
    assert sorted(verified.status for verified in on.all_of(Verified)) == ["failed", "failed", "passed", "passed"]


def test_a_check_that_failed_late_takes_nothing_from_what_was_solved_since() -> None:
    on = looped(("kept", "trivial", "trivial", "trivial"), worker=NAIVE)
    assert on.solved == 3


def test_a_worker_that_reads_the_whole_task_solves_all_of_them() -> None:
    assert looped(KINDS).solved == len(KINDS)
