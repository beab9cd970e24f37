"""The words that a diagnosis consists of: what is left of a reflection without its form."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

_WORD = re.compile(r"\w+")
_FEWEST_LETTERS = 2
_WITH_ES = ("sses", "shes", "xes", "zzes", "tches", "rches", "nches", "oaches", "eaches", "taches", "ouches", "oes")
"""Ends of plurals and of third persons whose singular has neither the s nor the e before it."""
_ENDS_OF_SINGULARS = ("ss", "us", "is")


class _Unchanged(Struct, frozen=True):
    words: str


class _Lists(Struct, frozen=True):
    function_words: str
    template_words: str
    irregular: dict[str, str]
    unchanged: _Unchanged


_LISTS = msgspec.toml.decode((Path(__file__).parent / "words.toml").read_bytes(), type=_Lists)
_UNCHANGED = frozenset(_LISTS.unchanged.words.split())

FUNCTION_WORDS = frozenset(_LISTS.function_words.split())
"""Words that hold sentences together."""


@cache
def singular(word: str) -> str:
    """Return a word without the end of its plural; a word in s that is not a plural stays as it is."""
    if word in _LISTS.irregular:
        return _LISTS.irregular[word]
    if len(word) < 4 or not word.endswith("s") or word in _UNCHANGED or word.endswith(_ENDS_OF_SINGULARS):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > 4 else word[:-1]
    return word[:-2] if word.endswith(_WITH_ES) else word[:-1]


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, plurals made even, in their order."""
    words = (word.strip("_") for word in _WORD.findall(text.casefold()))
    return [singular(word) for word in words if len(word) >= _FEWEST_LETTERS and word not in FUNCTION_WORDS]


TEMPLATE_WORDS = frozenset(words_of(_LISTS.template_words))
"""Words of reflecting at large."""


def known_words(words: Iterable[str]) -> frozenset[str]:
    """Words that are not to be counted, as `words_of` gives them: those of reflecting at large and those of a skill."""
    return TEMPLATE_WORDS | frozenset(words_of(" ".join(words)))


def content_words(text: str, known: frozenset[str] = TEMPLATE_WORDS) -> list[str]:
    """Return the words of a reflection that say what is wrong, as often as they are in it."""
    return [word for word in words_of(text) if word not in known]
