"""What memory does with lessons of known use, and what agents see without a fresh context: generated, in seconds."""

from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType

from msgspec import Struct

from analysis.measures.reflexive.lessons import LessonUse, Recall, lesson_use
from harness.generate.lessons import GeneratedLesson, LessonSet, generate_lessons
from harness.reflexive.memory import Lesson, Memory, MemoryRules, memory_of
from harness.reflexive.memory.lessons import lesson_id
from harness.reflexive.settings import LoopSettings
from studies.classified import seed

SETS, ROUNDS = 2, 4
"""How many sets are made, and how often each item of a set comes."""

ROOM_TOKENS = LoopSettings().lessons_shown_tokens

SCORING_SEED = 100
"""What is added to the seed: memory was written while the sets of the seeds below were looked at."""

BY_CHANCE = 0.2
"""The chance that an item is solved without its useful lesson, or with a harmful one beside it."""

WITHOUT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "all mechanisms": (),
        "without harmful_lessons": ("harmful_lessons",),
        "without lesson_share": ("lesson_share",),
        "without memory": ("memory",),
    }
)
"""Configuration → the mechanisms that it leaves out."""


class MemoryStudy(Struct, frozen=True):
    """How lessons came to use, by configuration and by the words that a useful lesson shares with its item."""

    uses: dict[tuple[str, int], LessonUse]
    seed: int
    sets: int
    rounds: int


def memory_study(common: Sequence[int] = (2, 1, 0), sets: int = SETS, rounds: int = ROUNDS) -> MemoryStudy:
    """Lessons of known use, learned and recalled under each configuration, of the seed of the notebook.

    Parameters
    ----------
    common
        How many words a useful lesson shares with its item, one set of figures each.
    sets, rounds
        Sets of lessons, and how often each of their items comes.
    """
    own = seed() + SCORING_SEED
    uses = {
        (name, words): lesson_use(
            [
                recall
                for number in range(own, own + sets)
                for recall in recalls(generate_lessons(number, words), without, number, rounds)
            ]
        )
        for words in common
        for name, without in WITHOUT.items()
    }
    return MemoryStudy(uses, own, sets, rounds)


def recalls(lessons: LessonSet, without: Sequence[str], number: int, rounds: int = ROUNDS) -> list[Recall]:
    """What memory shows each time that an item comes.

    Before each, lessons of this run are learned, so many that all are there in the end. The item is then solved where
    its useful lesson is shown and no harmful one, else by chance; memory hears of the outcome.
    """
    random = Random(f"outcomes {number}")  # noqa: S311 -- a study, not a secret
    rules = MemoryRules.of(LoopSettings(without=frozenset(without)))
    memory = memory_of((), [_stored(lesson) for lesson in lessons.earlier], rules)
    waiting = list(reversed(lessons.learned))
    known = list(lessons.earlier)
    found: list[Recall] = []
    for turn, item in enumerate(rounds * lessons.items):
        while len(waiting) > len(lessons.learned) * (1 - (turn + 1) / (rounds * len(lessons.items))):
            known.append(waiting.pop())
            memory = _learned(memory, known[-1], lessons)
        shown = memory.recalled(item, ROOM_TOKENS)
        recall = Recall(
            f"{number} {item.id}",
            frozenset(_id(lesson) for lesson in known if lesson.helps == item.id),
            frozenset(_id(lesson) for lesson in known if item.id in lesson.harms),
            tuple(lesson.id for lesson in shown),
            len(memory.lessons),
        )
        found.append(recall)
        is_helped = bool(recall.useful & set(recall.shown)) and not recall.harmful & set(recall.shown)
        memory, _ = memory.after_outcome(recall.shown, item, helped=is_helped or random.random() < BY_CHANCE)
    return found


def _learned(memory: Memory, lesson: GeneratedLesson, lessons: LessonSet) -> Memory:
    item = next(item for item in lessons.items if item.category == lesson.category)
    return memory.learned(f"LESSON: {lesson.text}", item)[0]


def _stored(lesson: GeneratedLesson) -> Lesson:
    return Lesson(_id(lesson), lesson.category, lesson.text, run="earlier")


def _id(lesson: GeneratedLesson) -> str:
    return lesson_id(lesson.category, lesson.text)
