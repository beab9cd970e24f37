"""Failure mode 1: a turn that should make one call makes many, and no reflection comes between them.

The original's worker made 15 calls in 350 seconds and overflowed its window with the 16th; that counted as one attempt.
"""

from misstep.harness.records.loop_events import Failed, Reflected
from tests.harness.reflexive.failure_modes.looping import looped

WITHOUT = ("turn_budgets",)


def test_off_a_clumsy_worker_retries_in_one_turn_until_its_sixteenth_request_overflows() -> None:
    first = looped(["locked"], WITHOUT, worker="clumsy").turns_of("worker")[0]
    assert (len(first.calls), first.hidden) == (15, 14)
    assert first.error.startswith("ContextOverflow")
    assert 250 < first.seconds < 400
    assert first.over is None


def test_on_the_second_call_ends_the_turn_and_says_so() -> None:
    for turn in looped(["locked"], worker="clumsy").turns_of("worker"):
        assert (len(turn.calls), turn.refused, turn.over) in [(1, 1, "tool_calls"), (1, 0, None), (0, 0, "seconds")]
        assert turn.error == ""
        assert turn.seconds < 100
        assert turn.over is None or "The harness ended this turn" in turn.reply


def test_the_same_hours_hold_many_reflections_for_each_that_hidden_retries_leave() -> None:
    off, on = looped(["locked"], WITHOUT, worker="clumsy"), looped(["locked"], ("re_engagement",), worker="clumsy")
    assert len(off.all_of(Reflected)) <= 4
    assert len(on.all_of(Reflected)) >= 12
    assert sum(turn.hidden for turn in off.turns_of("worker")) >= 40
    assert sum(turn.hidden for turn in on.turns_of("worker")) <= len(on.all_of(Failed))


def test_on_the_reflector_is_told_of_the_retry_that_was_refused() -> None:
    on = looped(["locked"], worker="clumsy")
    told = [reflected.hidden for reflected in on.all_of(Reflected)]
    made = [turn.hidden for turn in on.turns_of("worker")]
    assert told == made[: len(told)]
    assert 1 in told
