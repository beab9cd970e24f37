"""Failure mode 2: a change that the worker's own script cannot take back poisons every later attempt.

In the original, taking NOPASSWD away broke sudo, which the health check and the revert script needed: the rest of the
night, some seven hours, hit "a password is required". Here a setting shuts the way in through which all commands go.
"""

from misstep.harness.records.loop_events import Checked, Diagnosed, Restored, RunBegan, SnapshotTaken, Warned
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import Looped, looped

NIGHT: tuple[Kind, ...] = ("shuts", *("trivial",) * 20)
AS_THE_ORIGINAL = ("snapshots",)


def dead_attempts(run: Looped) -> int:
    """The attempts that began on a target that was not reachable, or not what the last success had left."""
    wanted = found = ""
    reachable = True
    dead = 0
    for event in run.events:
        match event.happened:
            case RunBegan(baseline=digest) | SnapshotTaken(digest=digest):
                wanted = found = digest
                reachable = True
            case Restored(found=digest, reachable=works):
                found, reachable = digest, works
            case Checked():
                dead += found != wanted or not reachable
    return dead


def test_off_one_fix_takes_seven_hours_of_attempts_with_it() -> None:
    off = looped(NIGHT, AS_THE_ORIGINAL, in_order=True)
    assert off.solved == 0
    assert 6.5 < off.hours < 7.5
    assert dead_attempts(off) == len(off.all_of(Checked)) - 1 > 300
    assert {text.text for text in off.all_of(Warned)} >= {"The revert script failed: the way in is shut: no answer"}


def test_on_the_fix_costs_one_attempt_and_the_night_is_saved() -> None:
    on = looped(NIGHT, in_order=True)
    assert on.solved == len(NIGHT)
    assert on.hours < 0.6
    assert dead_attempts(on) == 0
    assert next(iter(on.ends.values())).attempts == 2
    assert [(one.name, one.verified, one.reachable) for one in on.all_of(Restored)] == [("baseline", True, True)]


def test_off_what_a_script_forgets_stays_even_where_the_way_in_is_open() -> None:
    kinds: tuple[Kind, ...] = ("resets", "trivial", "trivial")
    off = looped(kinds, AS_THE_ORIGINAL, worker="destructive", in_order=True)
    on = looped(kinds, worker="destructive", in_order=True)
    assert (off.solved, on.solved) == (0, 2)
    assert dead_attempts(off) > 40
    assert dead_attempts(on) == 0


def test_every_failed_attempt_finds_the_target_as_it_was_left_by_the_last_success() -> None:
    on = looped(("trivial", "shuts", "resets", "locked", "late"), worker="mixed", seed=2)
    progress = ""
    for event in on.events:
        match event.happened:
            case SnapshotTaken(digest=digest):
                progress = digest
            case Restored(name=name, found=found, verified=True):
                assert found == progress or name == "baseline"
    assert all(restored.verified for restored in on.all_of(Restored))
    assert len(on.all_of(Restored)) == len(on.all_of(Diagnosed))
