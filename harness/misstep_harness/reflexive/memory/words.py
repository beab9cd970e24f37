"""The words of a lesson: those that it is found by, and whether two lessons say the same."""

import re
import unicodedata
from functools import lru_cache

from misstep_harness.reflexive.plateau.words import FUNCTION_WORDS, singular

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
