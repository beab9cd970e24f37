"""Bans are facts about changes that failed; lessons in free text ban nothing."""

from misstep_harness.reflexive.memory import Ban, bans, bans_text
from misstep_harness.reflexive.records import Failed, Happening, LessonLearned, LoopEvent, PutOff, TurnEnded


def _events(*happened: Happening, item: str = "a") -> list[LoopEvent]:
    return [LoopEvent(number, 0.0, one, item) for number, one in enumerate(happened)]


def _turn(*calls: str) -> TurnEnded:
    return TurnEnded("worker", "perfect", "done", 1.0, calls)


def test_a_change_that_failed_is_banned_once_with_the_commands_that_made_it() -> None:
    events = _events(
        _turn("chmod 000 /etc/sudoers"), Failed("unhealthy", "d1"), _turn("again"), Failed("unhealthy", "d1")
    )
    assert bans(events, "a") == (Ban("d1", "unhealthy", ("chmod 000 /etc/sudoers",)),)
    assert (bans_text(bans(events, "a")), bans(events, "b")) == ("- chmod 000 /etc/sudoers: unhealthy", ())


def test_a_turn_that_was_cut_off_and_a_check_that_was_not_made_ban_nothing() -> None:
    events = _events(_turn("x"), Failed("over_budget", "d1"), Failed("check_unknown", "d2"), Failed("check_failed", ""))
    assert bans(events, "a") == ()


def test_a_lesson_that_only_says_that_something_failed_bans_nothing() -> None:
    assert bans(_events(LessonLearned("1", "sudo", "Editing sudoers failed.", 0.5)), "a") == ()


def test_after_an_item_was_put_off_the_bans_begin_anew() -> None:
    assert bans(_events(_turn("x"), Failed("check_failed", "d1"), PutOff(("b",))), "a") == ()
