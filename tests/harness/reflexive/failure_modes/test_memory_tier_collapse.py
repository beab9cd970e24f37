"""Memory that stores hundreds of lessons and shows the three newest: the useful one is never among them.

The original's first run stored 644 lessons and surfaced 3.
"""

from misstep.harness.records.loop_events import LessonLearned, LessonsRecalled
from misstep.harness.reflexive.memory import Lesson
from misstep.harness.reflexive.memory.lessons import lesson_id
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import Looped, looped

COILS: tuple[Kind, ...] = ("shared",) * 6
ROOM = LoopSettings(lessons_stored=1_000)
USEFUL = "Before coil settings, have coil-shield=on coil-drain=on coil-spare=on."
STORED = 644


def lesson(category: str, text: str, run: str = "before") -> Lesson:
    return Lesson(lesson_id(category, text), category, text, run=run)


def six_hundred_and_forty_four() -> list[Lesson]:
    """Lessons about other things, with the useful one in their middle."""
    names = ("mill", "press", "oven", "crane", "belt", "saw", "drill")
    others = [lesson(names[n % 7], f"Batch {n} of the {names[n % 7]} ran dry.") for n in range(STORED - 1)]
    return [*others[:300], lesson("coil", USEFUL), *others[300:]]


def first_recalled(run: Looped) -> LessonsRecalled:
    return run.all_of(LessonsRecalled)[0]


def test_off_three_of_644_lessons_are_shown_and_the_useful_one_is_not_among_them() -> None:
    off = looped(COILS[:1], ("memory",), earlier=six_hundred_and_forty_four(), settings=ROOM)
    assert (len(first_recalled(off).lessons), first_recalled(off).stored) == (3, STORED)
    assert lesson_id("coil", USEFUL) not in first_recalled(off).lessons
    assert off.only_end.attempts >= 4


def test_on_the_useful_one_is_shown_and_the_first_attempt_solves() -> None:
    on = looped(COILS[:1], earlier=six_hundred_and_forty_four(), settings=ROOM)
    assert first_recalled(on).stored == STORED
    assert lesson_id("coil", USEFUL) in first_recalled(on).lessons
    assert on.only_end.attempts == 1


def test_on_what_one_item_taught_solves_the_others_of_its_category_at_once() -> None:
    on = looped(COILS)
    first, *others = [end.attempts for end in on.ends.values()]
    assert first >= 4
    assert others == [1] * 5
    helped = [learned.weight for learned in on.all_of(LessonLearned) if learned.outcome == "helped"]
    assert helped
    assert max(helped) > 0.75
