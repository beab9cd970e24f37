"""Which phrases a regular expression or a text can hold: what tells whether two vocabularies are apart."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

LENGTH, LONGEST = 3, 6
"""Words in a row that make a phrase: three, or more until two of them are not the glue of a sentence."""
GLUE = frozenset(
    re.findall(
        r"\w+",
        """
        a about all also an and any are as at be been but by can could did do does for from had has have he
        her his how i if in into is it its just like me more most my no nor not of on one only or other our
        out over own please s she should so some such t than that the their them then there these they this
        those to too up us very was we were what when where which while who will with would you your
        """,
    )
)
"""Words that stand in any sentence, whatever it says."""
_MOST = 4_000
"""States of an expression that are followed; beyond that the rest is taken for unknown."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

Phrase = tuple[str, ...]
State = tuple[tuple[str, ...], str]
"""The last words that are whole, and the one that is being written."""
_START: State = ((), "")


def words(text: str) -> list[str]:
    return _WORD.findall(text.replace("’", "'").lower())


def phrases(text: str) -> set[Phrase]:
    """The phrases of a text; none goes over a `$name`, which may be anything."""
    results = set()
    for part in re.split(r"\$\{?\w+\}?", text):
        row = tuple(words(part))
        results |= {phrase for end in range(len(row) + 1) for phrase in _ending(row[max(0, end - LONGEST) : end])}
    return results


@cache
def _ending(row: Phrase) -> set[Phrase]:
    """The phrases that end with a row of words, each the shortest from where it begins."""
    runs = (row[start:] for start in range(len(row) - LENGTH + 1))
    return {run for run in runs if _says_something(run) and not (len(run) > LENGTH and _says_something(run[:-1]))}


def _says_something(phrase: Phrase) -> bool:
    return sum(word not in GLUE for word in phrase) > 1


def beginnings_of(wanted: Iterable[Phrase]) -> frozenset[Phrase]:
    return frozenset(phrase[:length] for phrase in wanted for length in range(1, len(phrase)))


def phrases_of_pattern(
    pattern: "re.Pattern[Any]", wanted: frozenset[Phrase], beginnings: frozenset[Phrase]
) -> set[Phrase]:
    """Which wanted phrases a match of an expression can hold by its literal letters, through every alternative."""
    follower = _Follower(wanted, beginnings)
    follower.finish(follower.through(re._parser.parse(pattern.pattern, pattern.flags), {_START}))  # type: ignore[attr-defined]
    return follower.found


class _Follower:
    def __init__(self, wanted: frozenset[Phrase], beginnings: frozenset[Phrase]) -> None:
        self.wanted, self.beginnings = wanted, beginnings
        self.found: set[Phrase] = set()

    def through(self, nodes: Iterable[Any], states: set[State]) -> set[State]:
        for operation, argument in nodes:
            states = self._after(str(operation), argument, states)
            if len(states) > _MOST:
                states = {_START}
        return states

    def finish(self, states: Iterable[State]) -> None:
        for state in states:
            self._end_word(state)

    def _after(self, operation: str, argument: Any, states: set[State]) -> set[State]:
        if operation == "LITERAL":
            return self._each(states, chr(argument))
        if operation == "IN":
            return {after for letter in _letters(argument) for after in self._each(states, letter)}
        if operation == "BRANCH":
            return {after for branch in argument[1] for after in self.through(branch, states)}
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inside = argument
            once = self.through(inside, states)
            twice = self.through(inside, once) if most > 1 else set()
            return once | twice | (states if least == 0 else set())
        if operation == "SUBPATTERN":
            return self.through(argument[-1], states)
        if operation == "ATOMIC_GROUP":
            return self.through(argument, states)
        if operation in ("ASSERT", "ASSERT_NOT"):
            self.finish(self.through(argument[1], {_START}))
            return states
        if operation == "AT":
            return states
        return self._each(states, None)

    def _each(self, states: set[State], letter: str | None) -> set[State]:
        if letter is None:
            self.finish(states)
            return {_START}
        letter = letter.lower().replace("’", "'")
        if letter.isalpha() or letter == "'":
            return {(whole, part + letter) for whole, part in states}
        return {self._end_word(state) for state in states}

    def _end_word(self, state: State) -> State:
        whole, part = state
        if not part.strip("'"):
            return whole, ""
        row = (*whole, part.strip("'"))
        runs = [row[start:] for start in range(len(row))]
        self.found |= self.wanted.intersection(runs)
        return next((run for run in runs if run in self.beginnings), ()), ""


def _letters(members: list[Any]) -> list[str | None]:
    """What a set of characters can stand for: its letters where they are few, a gap, or anything."""
    kinds = {str(operation) for operation, _ in members}
    if kinds == {"LITERAL"} and len(members) <= 8:
        return [chr(argument) for _, argument in members]
    spaces = [argument for operation, argument in members if str(operation) == "CATEGORY"]
    if kinds <= {"LITERAL", "CATEGORY"} and all(str(one) == "CATEGORY_SPACE" for one in spaces):
        return [" "]
    return [None]


def shared_runs(first: str, second: str, length: int) -> set[Phrase]:
    rows = [words(re.sub(r"\$\{?\w+\}?", " ", text)) for text in (first, second)]
    runs = [{tuple(row[start : start + length]) for start in range(len(row) - length + 1)} for row in rows]
    return runs[0] & runs[1]
