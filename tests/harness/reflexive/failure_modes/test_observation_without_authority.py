"""Failure mode 5: the reflector knows that the strategy is wrong, and nobody who could change it hears of it.

The original's partition rule had 20 reflections that said to stop; the worker could not, and 20 minutes were gone.
"""

from misstep.harness.records.loop_events import Ending, Planned, ReEngaged, Reflected
from misstep.harness.reflexive.settings import LoopSettings
from tests.harness.reflexive.failure_modes.looping import looped

WITHOUT = ("re_engagement",)


def test_off_twenty_minutes_go_into_what_the_first_reflection_had_right() -> None:
    off = looped(("locked",), WITHOUT)
    said = off.all_of(Reflected)
    assert len(said) >= 18
    assert all("burnt in" in reflected.text for reflected in said)
    assert off.only_end.ending.end == "time_budget"
    assert off.only_end.seconds >= 1_190
    assert len(off.all_of(Planned)) == 1


def test_on_three_reflections_reach_who_may_decide_and_the_reason_is_on_record() -> None:
    on = looped(("locked",))
    (item,) = on.ends
    assert len(on.all_of(Reflected)) == 3
    assert on.only_end.ending == Ending(
        "escalated", "strategist_escalated", f"No command changes {item} while the machine runs."
    )
    assert on.only_end.seconds < 300


def test_a_worker_that_only_follows_its_plan_is_freed_by_a_new_plan() -> None:
    off = looped(("shuts",) * 4, WITHOUT, worker="stubborn")
    on = looped(("shuts",) * 4, worker="stubborn")
    assert (off.solved, on.solved) == (0, 4)
    assert {end.attempts for end in on.ends.values()} <= {4, 7, 10}
    pivots = [answer for answer in on.all_of(ReEngaged) if answer.verdict == "PIVOT"]
    assert len(pivots) == 4


def test_the_strategist_is_not_asked_when_too_little_time_is_left_to_act_on_it() -> None:
    settings = LoopSettings(least_seconds_to_re_engage=1_100.0)
    on = looped(("locked",), settings=settings)
    assert not on.all_of(ReEngaged)
    assert on.only_end.ending.end == "time_budget"
