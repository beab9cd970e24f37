"""Generate items and lessons of which it is known which lesson helps with which item, in made-up words.

| lesson | words that it shares with an item |
|---|---|
| useful | `common` of the item's own, with the one item that it helps with |
| idle | one of the item's own and one of the category's, with an item that it does not help with |
| harmful | two of the category's, with all its items, none of which it helps with |
"""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from msgspec import Struct

from misstep.harness.records.loop_events import WorkItem

STORED = 644
"""The lessons of the witness, and of a generated set."""

CATEGORIES, ITEMS_EACH, HARMFUL_EACH = 8, 20, 2
OWN_WORDS, CATEGORY_WORDS, LESSON_WORDS = 6, 2, 10

_SYLLABLES = tuple("".join(pair) for pair in product("bdfgklmnprtvz", "aeiou"))


class GeneratedLesson(Struct, frozen=True):
    """A lesson with its truth: the item that it helps with, or the items on which it harms."""

    category: str
    text: str
    helps: str = ""
    harms: frozenset[str] = frozenset()


class LessonSet(Struct, frozen=True):
    """Items, the lessons of an earlier run, and those of this run in the order in which they are learned."""

    items: tuple[WorkItem, ...]
    earlier: tuple[GeneratedLesson, ...]
    learned: tuple[GeneratedLesson, ...]


def generate_lessons(seed: int, common: int = 2) -> LessonSet:
    """Return a set of a seed: `STORED` lessons, half of them from an earlier run, one useful for each item."""
    random = Random(f"lessons {seed}")  # noqa: S311 -- a generator of cases
    words = _words(random)
    items: list[WorkItem] = []
    lessons: list[GeneratedLesson] = []
    for category in (f"category {number}" for number in range(CATEGORIES)):
        theirs = _some(words, CATEGORY_WORDS)
        own = {f"{category} item {number}": _some(words, OWN_WORDS) for number in range(ITEMS_EACH)}
        items += (WorkItem(name, category, " ".join(random.sample(theirs + mine, 8))) for name, mine in own.items())
        lessons += (
            GeneratedLesson(category, _text(random, random.sample(mine, common), words), helps=name)
            for name, mine in own.items()
        )
        lessons += (
            GeneratedLesson(category, _text(random, theirs, words), harms=frozenset(own)) for _ in range(HARMFUL_EACH)
        )
        lessons += (
            GeneratedLesson(category, _text(random, [random.choice(theirs), random.choice(mine)], words))
            for mine in (random.choice(list(own.values())) for _ in range(_IDLE_EACH))
        )
    random.shuffle(items)
    random.shuffle(lessons)
    lessons = lessons[:STORED]
    return LessonSet(tuple(items), tuple(lessons[: STORED // 2]), tuple(lessons[STORED // 2 :]))


_IDLE_EACH = -(-STORED // CATEGORIES) - ITEMS_EACH - HARMFUL_EACH


def _words(random: Random) -> Iterator[str]:
    there: set[str] = set()
    while True:
        word = "".join(random.choices(_SYLLABLES, k=4))
        if word not in there:
            there.add(word)
            yield word


def _some(words: Iterator[str], number: int) -> list[str]:
    return [next(words) for _ in range(number)]


def _text(random: Random, shared: Sequence[str], words: Iterator[str]) -> str:
    chosen = [*shared, *_some(words, LESSON_WORDS - len(shared))]
    random.shuffle(chosen)
    return f"{' '.join(chosen)}."
