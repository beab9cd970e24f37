"""Plateaus told by the words of reflections, and the two original detectors with their flaws, to show what is cured."""

import re
from collections.abc import Sequence

from misstep_harness.reflexive.plateau.words import FUNCTION_WORDS, content_words, known_words

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


_OPENING_LETTERS = 160
_LETTERS_SEEN = 500
_FEWEST_LETTERS = 3
_MARK = "pattern identified:"
_FENCE = re.compile(r"```\w*")
_END_OF_CLAUSE = re.compile(r"[.\n]")
_WORD = re.compile(r"\w+")


class ExactAsPrinted:
    """The old detector: the first 160 characters in small letters are equal."""

    name = "exact_as_printed"

    def __init__(self, window: int, shared: int, ignored: frozenset[str]) -> None:  # noqa: ARG002 (one interface)
        self.window = window

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return the one opening of the last reflections."""
        return equal_openings([text.lower()[:_OPENING_LETTERS] for text in reflections[-self.window :]], self.window)


class KeywordsAsPrinted:
    """The new detector: shared words, the words of the form among them, one final s cut off whatever the word."""

    name = "keywords_as_printed"

    def __init__(self, window: int, shared: int, ignored: frozenset[str]) -> None:  # noqa: ARG002 (one interface)
        self.window, self.least = window, shared

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return the words that all of the last reflections share; none where one of them has too few words."""
        return enough_shared([_words(text) for text in reflections[-self.window :]], self.window, self.least)


def _words(reflection: str) -> frozenset[str]:
    text = _FENCE.sub(" ", reflection[:_LETTERS_SEEN].lower())
    _, mark, clause = text.partition(_MARK)
    if mark:
        text = _END_OF_CLAUSE.split(clause.strip(), maxsplit=1)[0]
    words = (word for word in _WORD.findall(text) if word not in FUNCTION_WORDS and len(word) >= _FEWEST_LETTERS)
    return frozenset(word[:-1] if word.endswith("s") and len(word) > _FEWEST_LETTERS else word for word in words)
