"""Lessons are shown by relevance and weight, in a bounded room that no category fills alone."""

from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.agent.turns import tokens_in_text
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.memory import Lesson, Memory, MemoryRules, lessons_text

ITEM = WorkItem("sudoers-nopasswd", "sudo", "No account may become root by sudo without its password.")


def _memory(*lessons: Lesson, **rules: int) -> Memory:
    return Memory(MemoryRules(**rules), {lesson.id: lesson for lesson in lessons})


def _lesson(name: str, text: str, category: str = "sudo", weight: float = 0.5) -> Lesson:
    return Lesson(name, category, text, weight)


def test_the_lesson_that_is_about_the_item_comes_first() -> None:
    near = _lesson("near", "Remove the tag NOPASSWD from sudoers only for accounts that have a password.")
    far = _lesson("far", "Keep the log of sudo in a file of its own.")
    other = _lesson("other", "Reload the mail daemon.", category="mail")
    assert _memory(other, far, near).recalled(ITEM, 600) == (near, far)


def test_of_two_lessons_on_the_same_the_one_that_served_better_comes_first() -> None:
    poor = _lesson("poor", "Delete the root account's password.", weight=0.2)
    good = _lesson("good", "Set the root account's password.", weight=0.9)
    assert _memory(poor, good).recalled(ITEM, 600) == (good, poor)


def test_one_category_cannot_fill_the_room() -> None:
    own = [_lesson(f"sudo-{n}", f"Ask visudo number {n} of root.") for n in range(9)]
    general = _lesson("general", "Test that root is reached after each change.", category="access", weight=0.3)
    shown = _memory(*own, general, per_category=4).recalled(ITEM, 2_000)
    assert [lesson.category for lesson in shown] == ["sudo"] * 4 + ["access"]


def test_a_lesson_that_does_not_fit_leaves_its_room_to_the_next() -> None:
    long = _lesson("long", "sudo password account root " * 40, weight=0.9)
    short = _lesson("short", "Ask sudo.")
    assert _memory(long, short).recalled(ITEM, 20) == (short,)


@given(
    st.lists(
        st.tuples(st.text("ab cdé\n", max_size=60), st.sampled_from(["sudo", "cron"]), st.floats(0, 1)), max_size=12
    ),
    st.integers(0, 60),
)
def test_what_is_shown_fits_the_room_and_is_stored(given_lessons: list[tuple[str, str, float]], room: int) -> None:
    lessons = [
        Lesson(str(n), category, f"root {text}", weight) for n, (text, category, weight) in enumerate(given_lessons)
    ]
    shown = _memory(*lessons).recalled(ITEM, room)
    assert tokens_in_text(lessons_text(shown)) <= room
    assert set(shown) <= set(lessons)
    assert len(set(shown)) == len(shown)
