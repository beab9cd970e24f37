"""Memory follows from the log, shows what is relevant and served, and forgets what harms; else it is a list."""

from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.agent.turns import tokens_in_text
from misstep_harness.reflexive.memory import Lesson, Memory, MemoryRules, lessons_text, memory_of
from misstep_harness.reflexive.records import (
    LessonLearned,
    LessonRetired,
    LessonsRecalled,
    LoopEvent,
    LoopSettings,
    WorkItem,
)

ITEM = WorkItem("sshd-root", "sshd", "No login of root is permitted by sshd.")
OTHERS = tuple(WorkItem(f"item-{number}", "sshd", "Something about sshd.") for number in range(8))
LESSON = "LESSON: Set PermitRootLogin to no in sshd_config."


def _rules(*without: str, stored: int = 500) -> MemoryRules:
    return MemoryRules.of(LoopSettings(lessons_stored=stored, without=frozenset(without)))


def _taught(memory: Memory, *replies: str, item: WorkItem = ITEM) -> Memory:
    for reply in replies:
        memory, _ = memory.learned(reply, item)
    return memory


def _texts(lessons: Sequence[Lesson]) -> list[str]:
    return [lesson.text for lesson in lessons]


def test_a_lesson_that_comes_again_is_stored_once_and_weighs_no_more() -> None:
    memory, events = _taught(Memory(), LESSON).learned("LESSON: set PermitRootLogin to no in the sshd_config!", ITEM)
    [lesson] = memory.lessons.values()
    assert lesson.weight == 0.5
    assert [event.outcome for event in events if isinstance(event, LessonLearned)] == ["again"]


def test_of_two_wordings_the_fuller_one_stays() -> None:
    fuller = "Write a drop-in below sshd_config.d with the rule, reload the daemon, and keep your session meanwhile."
    shorter = fuller.replace(" meanwhile", "")
    for first, second in ((shorter, fuller), (fuller, shorter)):
        memory = _taught(Memory(), f"LESSON: {first}", f"LESSON: {second}")
        assert _texts(tuple(memory.lessons.values())) == [fuller]


def test_failed_attempts_at_one_item_count_once_against_a_lesson() -> None:
    memory = _taught(Memory(), LESSON)
    [name] = memory.lessons
    for _ in range(20):
        memory, _ = memory.after_outcome([name], ITEM, helped=False)
    assert (memory.lessons[name].harmed, memory.lessons[name].weight) == (1, pytest.approx(1 / 3))


def test_a_lesson_with_which_an_item_failed_three_times_is_not_shown_there_any_more() -> None:
    memory = _taught(Memory(), LESSON)
    [name] = memory.lessons
    for _ in range(3):
        memory, _ = memory.after_outcome([name], ITEM, helped=False)
    assert (memory.recalled(ITEM, 600), memory.recalled(OTHERS[0], 600)) == ((), (memory.lessons[name],))


def test_a_lesson_that_mostly_helped_elsewhere_is_shown_there_all_the_same() -> None:
    memory = _taught(Memory(), LESSON)
    [name] = memory.lessons
    for item in OTHERS[:3]:
        memory, _ = memory.after_outcome([name], item, helped=True)
    for _ in range(5):
        memory, _ = memory.after_outcome([name], ITEM, helped=False)
    assert memory.recalled(ITEM, 600) == (memory.lessons[name],)


def test_a_lesson_that_harms_is_retired_and_not_learned_again() -> None:
    memory, events = _harmed(Memory(), 3)
    assert LessonRetired(next(iter(memory.retired)), "harmful") in events
    assert not memory.lessons
    assert memory.learned(LESSON, ITEM) == (memory, ())


def test_without_harmful_lessons_it_stays_however_often_it_fails() -> None:
    memory, events = _harmed(Memory(_rules("harmful_lessons")), 8)
    assert not any(isinstance(event, LessonRetired) for event in events)
    assert _texts(memory.recalled(ITEM, 600)) == ["Set PermitRootLogin to no in sshd_config."]


def test_a_lesson_that_fails_no_more_than_all_others_is_not_to_blame() -> None:
    others = "LESSON: Reload sshd.\nLESSON: Ask sshd -t first.\nLESSON: Keep a session open."
    memory = _taught(Memory(), others)
    for item in OTHERS:
        memory, _ = memory.after_outcome(list(memory.lessons), item, helped=False)
    memory, _ = _harmed(memory, 3)
    assert not memory.retired


def test_a_full_store_gives_up_what_weighs_least_and_was_shown_least() -> None:
    memory = _taught(Memory(_rules(stored=2)), "LESSON: Reload sshd.", "LESSON: Ask sshd for its view.")
    first, second = memory.lessons
    memory = memory.after(LoopEvent(0, 0.0, LessonsRecalled((first,), 2), ITEM.id))
    memory, events = memory.learned(LESSON, ITEM)
    assert LessonRetired(second, "no_room") in events
    assert first in memory.lessons
    assert len(memory.lessons) == 2


def _earlier(number: int) -> list[Lesson]:
    names = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet")
    return [Lesson(names[n], "sshd", f"Ask {names[n]} about sshd.", run="monday") for n in range(number)]


def _new(number: int) -> list[str]:
    names = ("kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango")
    return [f"LESSON: Ask {names[n]} about the root login of sshd." for n in range(number)]


def test_lessons_of_earlier_runs_keep_a_share_of_the_store() -> None:
    memory = _taught(memory_of((), _earlier(4), _rules(stored=10)), *_new(10))
    assert sum(lesson.run == "monday" for lesson in memory.lessons.values()) == 4


def test_without_a_share_eight_new_lessons_push_out_all_earlier_ones() -> None:
    memory = _taught(memory_of((), _earlier(10), _rules("lesson_share")), *_new(8))
    assert {lesson.run for lesson in memory.recalled(ITEM, 600)} == {""}


def test_without_memory_644_lessons_are_stored_and_the_last_3_shown() -> None:
    numbers = count()
    memory = Memory(_rules("memory"))
    memory = _taught(memory, *(f"LESSON: Step {next(numbers)} was tried." for _ in range(644)))
    assert (len(memory.lessons), {lesson.weight for lesson in memory.lessons.values()}) == (644, {0.5})
    assert _texts(memory.recalled(ITEM, 600)) == [f"Step {number} was tried." for number in (641, 642, 643)]


WORDS = st.lists(
    st.sampled_from(("mask", "reload", "sshd", "cron", "root", "never", "copy", "600")), min_size=1, max_size=6
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["learn", "helped", "harmed", "show"]), WORDS.map(" ".join), st.sampled_from(OTHERS)),
    max_size=25,
)
RULES = st.builds(
    MemoryRules,
    stored=st.integers(1, 6),
    per_category=st.integers(1, 4),
    weighted=st.booleans(),
    shared=st.booleans(),
    retiring=st.booleans(),
)


@given(STEPS, RULES, st.integers(0, 3))
def test_the_memory_of_a_log_is_the_memory_step_by_step(steps, rules, number) -> None:
    earlier = _earlier(number)
    memory = memory_of((), earlier, rules)
    log: list[LoopEvent] = []
    for kind, text, item in steps:
        shown = memory.recalled(item, 40)
        names = [lesson.id for lesson in shown]
        if kind == "show":
            recalled = LoopEvent(len(log), 0.0, LessonsRecalled(tuple(names), len(memory.lessons)), item.id)
            memory = memory.after(recalled)
            log.append(recalled)
            continue
        memory, events = (
            memory.learned(f"LESSON: {text}", item)
            if kind == "learn"
            else memory.after_outcome(names, item, helped=kind == "helped")
        )
        log += [LoopEvent(len(log) + place, 0.0, event, item.id) for place, event in enumerate(events)]
        assert all(0 <= lesson.weight <= 1 for lesson in memory.lessons.values())
    assert memory_of(log, earlier, rules) == memory


def _harmed(memory: Memory, items: int) -> tuple[Memory, list[LessonLearned | LessonRetired]]:
    memory, learned = memory.learned(LESSON, ITEM)
    name = next(event.lesson for event in learned if isinstance(event, LessonLearned))
    events: list[LessonLearned | LessonRetired] = []
    for item in OTHERS[:items]:
        memory, happened = memory.after_outcome([name], item, helped=False)
        events += happened
    return memory, events


SUDO = WorkItem("sudoers-nopasswd", "sudo", "No account may become root by sudo without its password.")


def _memory(*lessons: Lesson, **rules: int) -> Memory:
    return Memory(MemoryRules(**rules), {lesson.id: lesson for lesson in lessons})


def _lesson(name: str, text: str, category: str = "sudo", weight: float = 0.5) -> Lesson:
    return Lesson(name, category, text, weight)


def test_the_lesson_that_is_about_the_item_comes_first() -> None:
    near = _lesson("near", "Remove the tag NOPASSWD from sudoers only for accounts that have a password.")
    far = _lesson("far", "Keep the log of sudo in a file of its own.")
    other = _lesson("other", "Reload the mail daemon.", category="mail")
    assert _memory(other, far, near).recalled(SUDO, 600) == (near, far)


def test_of_two_lessons_on_the_same_the_one_that_served_better_comes_first() -> None:
    poor = _lesson("poor", "Delete the root account's password.", weight=0.2)
    good = _lesson("good", "Set the root account's password.", weight=0.9)
    assert _memory(poor, good).recalled(SUDO, 600) == (good, poor)


def test_one_category_cannot_fill_the_room() -> None:
    own = [_lesson(f"sudo-{n}", f"Ask visudo number {n} of root.") for n in range(9)]
    general = _lesson("general", "Test that root is reached after each change.", category="access", weight=0.3)
    shown = _memory(*own, general, per_category=4).recalled(SUDO, 2_000)
    assert [lesson.category for lesson in shown] == ["sudo"] * 4 + ["access"]


def test_a_lesson_that_does_not_fit_leaves_its_room_to_the_next() -> None:
    long = _lesson("long", "sudo password account root " * 40, weight=0.9)
    short = _lesson("short", "Ask sudo.")
    assert _memory(long, short).recalled(SUDO, 20) == (short,)


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
    shown = _memory(*lessons).recalled(SUDO, room)
    assert tokens_in_text(lessons_text(shown)) <= room
    assert set(shown) <= set(lessons)
    assert len(set(shown)) == len(shown)
