"""Which lessons an agent is shown: those that are relevant and served well, in a bounded room.

The score of a lesson is the cosine between the words of the item and its own, weighted by how rare a word is among the
lessons (Salton and Buckley 1988, Information Processing and Management 24:513-523), times the weight of the lesson. The
category of both counts as one more word.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum, log, sqrt

from misstep.harness.agent.turns import tokens_in_text
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.memory.lessons import Lesson
from misstep.harness.reflexive.memory.words import topic_words


def lessons_text(lessons: Sequence[Lesson]) -> str:
    """Lessons as the part `lessons` of a context has them, one a line."""
    return "\n".join(f"- {lesson.text}" for lesson in lessons)


def scores(lessons: Collection[Lesson], item: WorkItem) -> dict[str, float]:
    """Lesson → its relevance to the item times its weight; those that have no word in common with it are left out."""
    documents = {lesson.id: _terms(lesson.category, lesson.text) for lesson in lessons}
    frequency = Counter(chain.from_iterable(documents.values()))
    rarity = {number: log(1 + len(documents) / number) ** 2 for number in set(frequency.values())}

    def squared(terms: Iterable[str]) -> float:
        """Return the sum of squares of what the terms weigh; it is exact, so that their order makes no difference."""
        return fsum(rarity[frequency[term]] for term in terms)

    wanted = _terms(item.category, f"{item.id} {item.text}") & frequency.keys()
    length = squared(wanted)
    scored: dict[str, float] = {}
    for lesson in lessons:
        terms = documents[lesson.id]
        if (common := terms & wanted) and lesson.weight > 0.0:
            scored[lesson.id] = squared(common) / sqrt(squared(terms) * length) * lesson.weight
    return scored


@lru_cache(maxsize=8192)
def _terms(category: str, text: str) -> frozenset[str]:
    return topic_words(text) | {f"category {category}"}


def chosen(
    ranked: Sequence[Lesson], room_tokens: int, per_category: int, reserved: Callable[[Lesson], bool], share: float
) -> tuple[Lesson, ...]:
    """Return the best lessons that fit, in their order."""
    taken: list[Lesson] = []

    def take(candidates: Sequence[Lesson], of_room: float) -> None:
        for lesson in candidates:
            full = sum(other.category == lesson.category for other in taken) >= int(of_room * per_category)
            fits = tokens_in_text(lessons_text([*taken, lesson])) <= of_room * room_tokens
            if lesson not in taken and fits and not full:
                taken.append(lesson)

    take([lesson for lesson in ranked if reserved(lesson)], share)
    take(ranked, 1.0)
    return tuple(lesson for lesson in ranked if lesson in taken)
