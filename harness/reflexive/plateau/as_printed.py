"""The two detectors of the project behind the document, with their flaws, for the audit and to show what is cured."""

import re
from collections.abc import Sequence

from misstep.harness.reflexive.plateau.lexical import enough_shared, equal_openings
from misstep.harness.reflexive.plateau.words import FUNCTION_WORDS

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
