"""Which reflections say again what an earlier one on the same item said.

The loop has a detector of its own by which it asks the strategist. A detector that is also the trigger would find
fewest repeats where it works worst, so that another one counts here: the resemblance of two texts, which is the share
of their words that both have (Broder 1997, On the resemblance and containment of documents, SEQUENCES, section 2, with
single words for shingles). A reflection repeats where it resembles any earlier one on its item; there is no window.
"""

import re
from collections.abc import Sequence

RESEMBLANCE = 0.5
"""At which share of common words a reflection repeats another; set before any run was looked at."""

DETECTOR = f"words in common with any earlier reflection on the item: {RESEMBLANCE:g} or more of all words of the two"

_STEM = 6
"""Letters of a word that count, so that most endings do not."""

_WORD = re.compile(r"[^\W_]{3,}")


def repeats(reflections: Sequence[str]) -> int:
    """Return how many of the reflections on one item, in their order, repeat an earlier one."""
    words = [content(text) for text in reflections]
    return sum(
        any(resemblance(one, other) >= RESEMBLANCE for other in words[:place]) for place, one in enumerate(words)
    )


def content(text: str) -> frozenset[str]:
    """Return the words of a text of three letters or more, in lower case and without their endings."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.lower()))


def resemblance(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words of two texts that both have; 0 where neither has any."""
    return len(one & other) / max(len(one | other), 1)
