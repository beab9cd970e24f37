"""Failure mode 6: a cap on attempts stands in for what is really scarce.

Three attempts cut off what the 4th to 10th solve, and what no attempt solves still takes all three.
"""

from misstep.harness.reflexive.settings import ItemLimits, LoopSettings
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import looped

LATE: tuple[Kind, ...] = ("late",) * 8
WITHOUT = ("time_budget",)


def test_off_a_cap_of_three_ends_every_item_that_the_fourth_to_tenth_attempt_would_solve() -> None:
    off = looped(LATE, WITHOUT)
    assert off.solved == 0
    assert {(end.ending.end, end.attempts) for end in off.ends.values()} == {("attempt_cap", 3)}


def test_on_the_same_agents_solve_all_of_them_within_the_time() -> None:
    on = looped(LATE)
    assert on.solved == len(LATE)
    attempts = [end.attempts for end in on.ends.values()]
    assert (min(attempts), max(attempts)) >= (4, 4)
    assert max(attempts) <= 10
    assert all(end.seconds <= 1200 for end in on.ends.values())


def test_time_attempts_and_tokens_end_an_item_in_words_of_their_own() -> None:
    ends = {}
    for name, limits in (
        ("seconds", ItemLimits(seconds=200.0)),
        ("attempts", ItemLimits(attempts=2)),
        ("tokens", ItemLimits(tokens=1_500)),
    ):
        ending = looped(("locked",), ("re_engagement",), settings=LoopSettings(item=limits)).only_end.ending
        ends[name] = (ending.end, ending.reason)
    assert ends == {
        "seconds": ("time_budget", "time_budget"),
        "attempts": ("attempt_cap", "attempt_cap"),
        "tokens": ("failed", "token_budget"),
    }


def test_no_item_takes_more_than_its_time_however_long_a_turn_would_be() -> None:
    settings = LoopSettings(item=ItemLimits(seconds=100.0))
    for worker in ("clumsy", "perfect", "mixed"):
        run = looped(("late", "locked", "shuts"), settings=settings, worker=worker)
        assert all(end.seconds <= 100.0 for end in run.ends.values())
