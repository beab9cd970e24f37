"""Words that a page holds once and then names by number, so that a list of thousands stays small."""

from collections.abc import Sequence

NONE = -1
"""The number if there is no word."""


class Numbered:
    """Words by number, in the order of their first use."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        self._place = {word: place for place, word in enumerate(words)}

    def of(self, word: str | None) -> int:
        """Return the number of a word, a new one if the word is new."""
        return NONE if word is None else self._place.setdefault(word, len(self._place))

    def words(self) -> list[str]:
        """Return the words, in order."""
        return list(self._place)
