"""Failure mode 4: the same diagnosis in other words each time looks like progress to who compares texts.

In the original no three reflections in a row began alike: its detector, which compares first sentences, found nothing.
"""

from misstep.harness.records.loop_events import PlateauFound, Reflected
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import looped
from tests.harness.reflexive.failure_modes.scripted import Says, agents_with

STUCK: tuple[Kind, ...] = ("locked",) * 4
BY_PLATEAU = LoopSettings(failures_between=1_000)
"""Only a plateau has the strategist asked."""


def test_off_some_twenty_rewordings_of_one_cause_are_no_plateau() -> None:
    off = looped(STUCK, ("plateau_by_content",), settings=BY_PLATEAU)
    assert not off.all_of(PlateauFound)
    assert len(off.all_of(Reflected)) >= 15 * len(STUCK)
    assert {end.ending.reason for end in off.ends.values()} == {"time_budget"}


def test_on_the_third_rewording_is_one_and_work_on_the_item_ends() -> None:
    on = looped(STUCK, settings=BY_PLATEAU)
    assert len(on.all_of(PlateauFound)) == len(STUCK)
    assert [end.attempts for end in on.ends.values()] == [3] * len(STUCK)
    assert {end.ending.reason for end in on.ends.values()} == {"strategist_escalated"}
    assert all(len(plateau.shared) >= 3 for plateau in on.all_of(PlateauFound))


def test_unlike_causes_in_the_words_of_one_template_are_no_plateau() -> None:
    causes = ("the disk has no room", "a firewall drops the answer", "two clocks disagree", "the licence ran out")
    template = "Pattern identified in this attempt. Root cause: {}. Strategic recommendation: another approach."
    reflector = Says(tuple(map(template.format, causes)))
    on = looped(("locked",), settings=BY_PLATEAU, worker=agents_with("reflector", reflector))
    assert not on.all_of(PlateauFound)
    same = Says((template.format("the disk has no room left for the journal"),))
    assert looped(("locked",), settings=BY_PLATEAU, worker=agents_with("reflector", same)).all_of(PlateauFound)
