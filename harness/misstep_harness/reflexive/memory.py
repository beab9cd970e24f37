"""What the loop learns: lessons with weights, from this run and from earlier ones.

A lesson is read out of what a reflector says:

    The drop-in was never read: its name has no suffix.
    LESSON: Give a drop-in of sudoers a name without a dot; sudo passes over all others.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum, log, sqrt
from statistics import NormalDist

from msgspec import Struct, structs

from misstep_harness.agent.turns import tokens_in_text
from misstep_harness.reflexive.context import cut_at_sentence
from misstep_harness.reflexive.plateau import FUNCTION_WORDS, singular
from misstep_harness.reflexive.records import (
    Failed,
    FailureKind,
    LessonLearned,
    LessonRetired,
    LessonsRecalled,
    LoopEvent,
    LoopSettings,
    PutOff,
    TurnEnded,
    WorkItem,
    events_that_hold,
)

_FENCE = re.compile(r"[ ]{0,3}+(?P<marks>`{3,}+|~{3,}+)(?P<rest>.*)", re.DOTALL)


def is_fenced(lines: Sequence[str]) -> list[bool]:
    """Line by line, whether it opens, closes or is in a code fence; one that nobody closes goes on to the end."""
    flags: list[bool] = []
    opened = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        flags.append(bool(opened or fence))
        if fence is None:
            continue
        if not opened:
            opened = fence["marks"]
        elif fence["marks"].startswith(opened) and not fence["rest"].strip():
            opened = ""
    return flags


def unwrapped(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without a fence around all of them, as models like to put one around a whole answer."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 2 or not all(is_fenced(lines[filled[0] : filled[-1] + 1])):
        return lines
    inner = lines[filled[0] + 1 : filled[-1]]
    is_one = _FENCE.fullmatch(lines[filled[-1]]) and not any(is_fenced(inner))
    return inner if is_one else lines


_BANNING: frozenset[FailureKind] = frozenset({"unhealthy", "check_failed", "check_weakened"})
"""The failures that a change is to blame for: not those of a turn that was cut off, or of a check that was not made."""


class Ban(Struct, frozen=True):
    """A change that failed: the digest of the state that it led to, how that failed, and the commands."""

    change: str
    kind: FailureKind
    calls: tuple[str, ...]


def bans(events: Iterable[LoopEvent], item: str) -> tuple[Ban, ...]:
    """Return the changes of an item that failed, each once, the first first; being put off clears the bans."""
    banned: dict[str, Ban] = {}
    calls: tuple[str, ...] = ()
    for event in events:
        if event.item != item:
            continue
        match event.happened:
            case TurnEnded(role="worker", calls=made):
                calls = made
            case Failed(kind=kind, change=change) if change and kind in _BANNING:
                banned.setdefault(change, Ban(change, kind, calls))
            case PutOff():
                banned.clear()
    return tuple(banned.values())


def bans_text(banned: Iterable[Ban]) -> str:
    """Bans as a part of a context, one a line."""
    return "\n".join(f"- {'; '.join(ban.calls) or 'no command'}: {ban.kind.replace('_', ' ')}" for ban in banned)


MOST_CHARACTERS = 600

MOST_LESSONS = 3

_LABEL = re.compile(r"[ \t]*+(?:[-*][ \t]++)?[*_`]*+LESSON[*_`]*+[ \t]*+:[*_`]*+[ \t]*+(.*)", re.IGNORECASE)
_OTHER_LABEL = re.compile(r"[ \t]*+[*_`]*+[A-Z][A-Z_]{2,}+[*_`]*+[ \t]*+:")


class Lesson(Struct, frozen=True, omit_defaults=True):
    """Something learned.

    - `id`: A digest of its category and its text, case and white space evened out.
    - `weight`: How far it is trusted, from 0 to 1; see `weight_of`.
    - `helped`, `harmed`: The items that were solved when it was shown, and those that were not.
    - `run`: The earlier run that it is from; empty for this one.
    """

    id: str
    category: str
    text: str
    weight: float = 0.5
    uses: int = 0
    helped: int = 0
    harmed: int = 0
    run: str = ""

    @property
    def outcomes(self) -> int:
        """Return the outcomes that its weight rests on."""
        return self.helped + self.harmed


def lesson_id(category: str, text: str) -> str:
    """Return the id of a lesson, the same for the same text."""
    even = f"{category}\0{' '.join(text.split()).casefold()}"
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def weight_of(helped: int, harmed: int) -> float:
    """Return how far a lesson is trusted: the rule of succession, (helped + 1) / (helped + harmed + 2).

    Source: Laplace (1774); the posterior mean of a share under a uniform prior. A lesson that is learned again weighs
    the same: a weight says how well a lesson serves, not how often it comes.
    """
    return (helped + 1) / (helped + harmed + 2)


def lessons_in(reply: str) -> tuple[str, ...]:
    """Return the texts after `LESSON:` in a reply, but for quoted ones; each ends at a blank line or another label."""
    texts: list[list[str]] = []
    is_open = False
    lines = unwrapped(reply.splitlines())
    for line, fenced in zip(lines, is_fenced(lines), strict=True):
        if fenced:
            is_open = False
        elif label := _LABEL.match(line):
            texts.append([label[1]])
            is_open = True
        elif not line.strip() or _OTHER_LABEL.match(line):
            is_open = False
        elif is_open:
            texts[-1].append(line)
    whole = (" ".join(" ".join(text).split()).strip("*_` ") for text in texts)
    return tuple(dict.fromkeys(cut_at_sentence(text, MOST_CHARACTERS) for text in whole if text))[:MOST_LESSONS]


_PIECES = re.compile(r"[^\W_]++")
_CASES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_DENYING = frozenset({"no", "not", "never", "none", "nor", "without", "cannot", "unless", "instead", "t"})
"""`t` is what is left of `don't`."""

_TELLING = _DENYING | {"before", "after", "until", "off", "on", "up", "down", "all", "any", "only", "above", "below"}
"""Words that hold sentences together and make two lessons differ all the same."""

_LEAST_COMMON = 0.8
"""The share of the longer text's words that the shorter has if both are one lesson. Not fitted."""


def topic_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about."""
    return frozenset(word for word in _words(text) if word not in FUNCTION_WORDS)


def same_content(one: str, other: str) -> bool:
    """Return whether one lesson has all words of the other in order and at most a fifth more: no denial, no number."""
    short, long = sorted((_telling_words(one), _telling_words(other)), key=len)
    if not short or len(short) < _LEAST_COMMON * len(long):
        return False
    there = set(short)
    if tuple(word for word in long if word in there) != short:
        return False
    return not any(word in _DENYING or any(map(str.isdigit, word)) for word in long if word not in there)


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    """The words in their order: small letters, the parts of names such as `PermitRootLogin` apart, no plurals."""
    plain = unicodedata.normalize("NFKC", text)
    pieces = (part for piece in _PIECES.findall(plain) for part in _CASES.split(piece))
    return tuple(singular(piece.casefold()) for piece in pieces)


@lru_cache(maxsize=8192)
def _telling_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _words(text) if word in _TELLING or word not in FUNCTION_WORDS))


def lessons_text(lessons: Sequence[Lesson]) -> str:
    """Lessons as the part `lessons` of a context has them, one a line."""
    return "\n".join(f"- {lesson.text}" for lesson in lessons)


def scores(lessons: Collection[Lesson], item: WorkItem) -> dict[str, float]:
    """Lesson → its relevance to the item times its weight; those that have no word in common with it are left out.

    The relevance is the cosine between the words of both, weighted by how rare a word is among the lessons (Salton and
    Buckley 1988, Information Processing and Management 24:513-523). The category counts as one more word.
    """
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
    chosen: list[Lesson] = []

    def take(candidates: Sequence[Lesson], of_room: float) -> None:
        for lesson in candidates:
            full = sum(other.category == lesson.category for other in chosen) >= int(of_room * per_category)
            fits = tokens_in_text(lessons_text([*chosen, lesson])) <= of_room * room_tokens
            if lesson not in chosen and fits and not full:
                chosen.append(lesson)

    take([lesson for lesson in ranked if reserved(lesson)], share)
    take(ranked, 1.0)
    return tuple(lesson for lesson in ranked if lesson in chosen)


LEAST_OUTCOMES = 3
"""The outcomes before a lesson can be retired, and the failed attempts at an item before it is not shown there."""

_LIST_SHOWN = 3

_TAIL = 8
"""The newest lessons, which are all that a prompt of the original had room for."""


class MemoryRules(Struct, frozen=True):
    """The dials of memory.

    - `per_category`: The lessons of one category that are shown at once.
    - `earlier_share`: The share of the store and of shown lessons that is kept for earlier runs, as far as needed.
    - `weighted`, `shared`, `retiring`: Whether `memory`, `lesson_share` and `harmful_lessons` are in place.
    """

    stored: int = 500
    per_category: int = 5
    earlier_share: float = 0.4
    weighted: bool = True
    shared: bool = True
    retiring: bool = True

    @classmethod
    def of(cls, settings: LoopSettings) -> "MemoryRules":
        """Return the dials that the settings of a loop come to."""
        return cls(
            stored=settings.lessons_stored,
            weighted=settings.has("memory"),
            shared=settings.has("lesson_share"),
            retiring=settings.has("harmful_lessons"),
        )


class Memory(Struct, frozen=True):
    """Lessons by their ids, those of earlier runs first, then in the order in which they were learned.

    - `retired`: Lessons that harmed: they are not learned again.
    - `failed`: Item → lesson → the attempts that failed although it was shown.
    """

    rules: MemoryRules = MemoryRules()
    lessons: dict[str, Lesson] = {}
    retired: dict[str, Lesson] = {}
    failed: dict[str, dict[str, int]] = {}

    def learned(self, reply: str, item: WorkItem) -> tuple["Memory", tuple[LessonLearned | LessonRetired, ...]]:
        """Memory after a reflector's reply, and the events of it: new lessons, repeated ones, those they push out."""
        memory, events = self, list[LessonLearned | LessonRetired]()
        for text in lessons_in(reply):
            happened = memory._on_text(text, item.category)
            for one in happened:
                memory = memory._after(one, item.id)
            events += happened
        return memory, tuple(events)

    def recalled(self, item: WorkItem, room_tokens: int) -> tuple[Lesson, ...]:
        """Return the lessons that an agent is shown, the best first, without weak ones that failed here."""
        there = tuple(self.lessons.values())
        if not self.rules.weighted:
            return there[-_LIST_SHOWN:]
        if not self.rules.shared:
            there = there[-_TAIL:]
        if self.rules.retiring:
            failed = self.failed.get(item.id, {})
            there = tuple(one for one in there if one.weight > 0.5 or failed.get(one.id, 0) < LEAST_OUTCOMES)
        score = scores(there, item)
        ranked = sorted((one for one in there if one.id in score), key=lambda one: -score[one.id])
        share = self.rules.earlier_share if self.rules.shared else 0.0
        return chosen(ranked, room_tokens, self.rules.per_category, lambda one: bool(one.run), share)

    def after_outcome(
        self, shown: Iterable[str], item: WorkItem, *, helped: bool
    ) -> tuple["Memory", tuple[LessonLearned | LessonRetired, ...]]:
        """Memory after an attempt at an item with these lessons shown, and the events of it."""
        memory, events = self, list[LessonLearned | LessonRetired]()
        for name in shown if self.rules.weighted else ():
            if (lesson := memory.lessons.get(name)) is None:
                continue
            counts = helped or name not in memory.failed.get(item.id, {})
            outcomes = (lesson.helped + helped, lesson.harmed + (not helped))
            weight = weight_of(*outcomes) if counts else lesson.weight
            outcome = LessonLearned(name, lesson.category, lesson.text, weight, "helped" if helped else "harmed")
            memory = memory._after(outcome, item.id)
            events.append(outcome)
            if self.rules.retiring and memory._is_harmful(memory.lessons[name]):
                retirement = LessonRetired(name, "harmful")
                memory = memory._after(retirement, item.id)
                events.append(retirement)
        return memory, tuple(events)

    def after(self, event: LoopEvent) -> "Memory":
        """Memory after any event of the log."""
        happened = event.happened
        if isinstance(happened, LessonLearned | LessonRetired | LessonsRecalled):
            return self._after(happened, event.item)
        return self

    def for_later(self, run: str) -> tuple[Lesson, ...]:
        """Return the lessons for later runs; those learned in this one get its name."""
        return tuple(structs.replace(lesson, run=lesson.run or run) for lesson in self.lessons.values())

    def _on_text(self, text: str, category: str) -> list[LessonLearned | LessonRetired]:
        name = lesson_id(category, text)
        known = self.lessons.get(name)
        if not self.rules.weighted:
            return [] if known else [LessonLearned(name, category, text, weight_of(0, 0))]
        if name in self.retired or _like(self.retired.values(), text, category):
            return []
        known = known or _like(self.lessons.values(), text, category)
        if known:
            fuller = max(known.text, text, key=len)
            return [LessonLearned(known.id, category, fuller, known.weight, "again")]
        return [LessonLearned(name, category, text, weight_of(0, 0)), *self._pushed_out(1)]

    def _pushed_out(self, more: int) -> list[LessonLearned | LessonRetired]:
        """The lessons that make room for others: of the least weight, of these the least shown, then the oldest."""
        there = list(self.lessons.values())
        gone: list[LessonLearned | LessonRetired] = []
        while there and len(there) + more > self.rules.stored:
            earlier = sum(bool(one.run) for one in there)
            spared = self.rules.shared and earlier <= self.rules.earlier_share * self.rules.stored
            open_to = [one for one in there if not (spared and one.run)] or there
            least = min(open_to, key=lambda one: (one.weight, one.uses))
            there.remove(least)
            gone.append(LessonRetired(least.id, "no_room"))
        return gone

    def _is_harmful(self, lesson: Lesson) -> bool:
        """Return whether a lesson is clearly worse than what the others come to.

        That is so where, after at least `LEAST_OUTCOMES` outcomes, the upper bound of the share that helped is below
        one half and below the share of all other lessons together. Where nothing succeeds, no lesson is to blame.
        """
        if lesson.outcomes < LEAST_OUTCOMES:
            return False
        others = [one for one in self.lessons.values() if one.id != lesson.id]
        usual = weight_of(sum(other.helped for other in others), sum(other.harmed for other in others))
        return upper_bound(lesson.helped, lesson.outcomes) < min(0.5, usual)

    def _after(self, happened: LessonLearned | LessonRetired | LessonsRecalled, item: str) -> "Memory":
        lessons, retired, failed = dict(self.lessons), self.retired, self.failed
        match happened:
            case LessonsRecalled(lessons=shown):
                for name in shown:
                    if name in lessons:
                        lessons[name] = structs.replace(lessons[name], uses=lessons[name].uses + 1)
            case LessonRetired(lesson=name, why=why):
                gone = lessons.pop(name, None)
                if gone and why == "harmful":
                    retired = {**retired, name: gone}
            case LessonLearned(lesson=name, outcome=outcome):
                before = lessons.get(name) or Lesson(name, happened.category, happened.text)
                of_item = failed.get(item, {})
                times = of_item.get(name, 0)
                if outcome == "harmed":
                    failed = {**failed, item: {**of_item, name: times + 1}}
                lessons[name] = structs.replace(
                    before,
                    text=happened.text,
                    weight=happened.weight,
                    helped=before.helped + (outcome == "helped"),
                    harmed=before.harmed + (outcome == "harmed" and times == 0),
                )
        return structs.replace(self, lessons=lessons, retired=retired, failed=failed)


def memory_of(events: Iterable[LoopEvent], earlier: Sequence[Lesson] = (), rules: MemoryRules | None = None) -> Memory:
    """Return the memory that a log leaves."""
    memory = Memory(rules or MemoryRules(), {lesson.id: lesson for lesson in earlier})
    for event in events_that_hold(events):
        memory = memory.after(event)
    return memory


def upper_bound(successes: int, n: int) -> float:
    """Return the upper end of Wilson's interval of a share, of 90%: what lies above has a chance of 5% at most.

    Source: Wilson (1927), Journal of the American Statistical Association 22:209-212.
    """
    z = NormalDist().inv_cdf(0.95)
    share, square = successes / n, z * z / n
    return (share + square / 2 + z * sqrt(share * (1 - share) / n + square / (4 * n))) / (1 + square)


def _like(lessons: Iterable[Lesson], text: str, category: str) -> Lesson | None:
    return next((lesson for lesson in lessons if lesson.category == category and same_content(lesson.text, text)), None)


__all__ = ["Ban", "Lesson", "Memory", "MemoryRules", "bans", "bans_text", "lessons_in", "lessons_text", "memory_of"]
