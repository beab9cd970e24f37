"""Plateaus told by the words of reflections: equal openings, and the words that all of them share."""

import re
from collections.abc import Sequence

from misstep.harness.reflexive.plateau.words import content_words, known_words

_END_OF_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without blanks around it and as few as can be within."""
    lines = text.strip()
    end = _END_OF_SENTENCE.search(lines)
    return " ".join(lines[: end.start() if end else None].split())


class ExactDetector:
    """A plateau is where the first sentences of the last reflections are equal, letter by letter."""

    name = "exact"

    def __init__(self, window: int, shared: int, ignored: frozenset[str]) -> None:  # noqa: ARG002 (one interface)
        self.window = window

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return the one sentence that the last reflections open with."""
        return equal_openings([first_sentence(text) for text in reflections[-self.window :]], self.window)


def equal_openings(openings: Sequence[str], window: int) -> tuple[str, ...] | None:
    """Return the opening that as many texts as the window holds have in common; none where it is empty."""
    return (openings[0],) if len(openings) == window and len(set(openings)) == 1 and openings[0] else None


class KeywordDetector:
    """A plateau is where the last reflections, all of them, share enough words that say what is wrong."""

    name = "keywords"

    def __init__(self, window: int, shared: int, ignored: frozenset[str]) -> None:
        self.window, self.least = window, shared
        self._known = known_words(ignored)

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return the words that all of the last reflections share, in the order of the alphabet."""
        last = [frozenset(content_words(text, self._known)) for text in reflections[-self.window :]]
        if len(last) == self.window and last[0] and len(set(last)) == 1:
            return tuple(sorted(last[0]))
        return enough_shared(last, self.window, self.least)


def enough_shared(words: Sequence[frozenset[str]], window: int, least: int) -> tuple[str, ...] | None:
    """Return the words in every one of as many sets as the window holds, if there are enough of them."""
    if len(words) < window:
        return None
    common = frozenset.intersection(*words)
    return tuple(sorted(common)) if len(common) >= least else None
