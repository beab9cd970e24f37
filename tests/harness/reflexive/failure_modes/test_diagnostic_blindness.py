"""Failure mode 3: the reflector learns that an attempt failed and not why, so it guesses.

In the original 42 of 226 reflections put one broken file into other words and none named it.
"""

import pytest

from misstep.harness.records.loop_events import Diagnosed, Failed, Reflected, Restored, TurnEnded
from misstep.harness.reflexive.simulated.items import Kind
from misstep.harness.reflexive.simulated.thinkers import wordings
from tests.harness.reflexive.failure_modes.looping import Looped, looped

KINDS: tuple[Kind, ...] = ("shuts", "resets", "shuts", "resets", "shuts", "resets")


def guesses(run: Looped) -> int:
    """The reflections that guess at a cause."""
    unspecific = [text.lower() for text in wordings().causes["unspecific"]]
    return sum(any(guess in reflected.text.lower() for guess in unspecific) for reflected in run.all_of(Reflected))


def test_off_every_reflection_is_a_guess_and_no_second_attempt_is_better_than_the_first() -> None:
    off = looped(KINDS, ("diagnostics",))
    assert off.solved == 0
    assert guesses(off) == len(off.all_of(Reflected)) > 100
    assert all(reflected.facts == () for reflected in off.all_of(Reflected))
    assert not off.all_of(Diagnosed)


def test_on_every_reflection_names_the_cause_and_the_second_attempt_solves() -> None:
    on = looped(KINDS)
    assert on.solved == len(KINDS)
    assert guesses(on) == 0
    assert [end.attempts for end in on.ends.values()] == [2] * len(KINDS)
    assert all("journal" in reflected.facts for reflected in on.all_of(Reflected))


@pytest.mark.parametrize(("without", "solved", "channel"), [((), 3, "out_of_band"), (("out_of_band",), 0, "none")])
def test_where_the_way_in_is_broken_only_the_hosts_side_can_tell_why(
    without: tuple[str, ...], solved: int, channel: str
) -> None:
    run = looped(("shuts", "shuts", "shuts"), without)
    assert run.solved == solved
    captures = [capture for capture in run.all_of(Diagnosed) if capture.why]
    assert {capture.channel for capture in captures} == {channel}
    assert all("the way in is shut: no answer" in capture.why for capture in captures)
    assert all((capture.flags["reachable"] is False) == (channel == "out_of_band") for capture in captures)


def test_facts_are_read_before_anything_is_reverted_and_reach_the_reflector() -> None:
    on = looped(KINDS, worker="mixed", seed=1)
    order = [event.happened for event in on.events]
    for number, happened in enumerate(order):
        if isinstance(happened, Failed):
            assert isinstance(order[number + 1], Diagnosed)
            assert isinstance(order[number + 2], Restored)
    reflectors = [turn for turn in on.all_of(TurnEnded) if turn.role == "reflector"]
    assert reflectors
    assert all("facts" in {part.name for part in turn.seen if part.tokens} for turn in reflectors)
