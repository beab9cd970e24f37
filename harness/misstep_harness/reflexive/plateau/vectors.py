"""Plateaus told by the angle between reflections: of their weighted words, or of what a small model makes of them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from typing import Any

from misstep_harness.errors import MissingPrerequisite
from misstep_harness.reflexive.plateau.words import content_words, known_words

COSINE_AT_LEAST = 0.40
EMBEDDINGS_AT_LEAST = 0.51
"""How alike the two least alike reflections of a window must be. Both are chosen on the generated reflections of the
set `development`, at the largest Youden index, and reported on those of `scoring`."""

Vector = Mapping[Any, float]
"""Dimension → weight; what is missing is 0."""

_MODEL = "wordllama"
_EMBEDDINGS_KEPT = 10_000
_LETTERS_EMBEDDED = 20_000
"""More than any reflection has; the model's time grows faster than a text."""


class AngleDetector(ABC):
    """A plateau: the vectors of the last reflections point nearly the same way; `at_least` is the least cosine."""

    usual: float

    def __init__(
        self,
        window: int,
        shared: int,  # noqa: ARG002 (one interface)
        ignored: frozenset[str],
        at_least: float | None = None,
    ) -> None:
        self.window = window
        self.at_least = self.usual if at_least is None else at_least
        self._known = known_words(ignored)

    @abstractmethod
    def vectors(self, reflections: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of the last reflections."""

    def likeness(self, reflections: Sequence[str]) -> float:
        """The least cosine between two of the last reflections; 0 if one has no vector or there are too few."""
        if len(reflections) < self.window:
            return 0.0
        return min(cosine(a, b) for a, b in combinations(self.vectors(reflections), 2))

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return the words that all of the last reflections share, perhaps none; `None` without a plateau."""
        if self.likeness(reflections) < self.at_least:
            return None
        last = (frozenset(content_words(text, self._known)) for text in reflections[-self.window :])
        return tuple(sorted(frozenset.intersection(*last)))


class CosineDetector(AngleDetector):
    """The vectors are TF-IDF weights of the words that the keyword detector counts.

    A word weighs its frequency times ln((1 + n) / (1 + n with the word)) + 1, over the n reflections so far: smoothed
    as if one more had all words, so that a word that is in each still counts (Salton and Buckley 1988, Information
    Processing and Management 24:513-523; the smoothing is scikit-learn's).
    """

    name, usual = "cosine", COSINE_AT_LEAST

    def vectors(self, reflections: Sequence[str]) -> Sequence[Vector]:
        """Word → weight, of each of the last reflections."""
        words = [Counter(content_words(text, self._known)) for text in reflections]
        having, n = Counter(word for one in words for word in one), len(words)
        weight = {word: log((1 + n) / (1 + count)) + 1 for word, count in having.items()}
        return [{word: count * weight[word] for word, count in one.items()} for one in words[-self.window :]]


class EmbeddingDetector(AngleDetector):
    """The vectors are embeddings by a small model that comes in a package and needs no network."""

    name, usual = "embeddings", EMBEDDINGS_AT_LEAST

    def __init__(self, window: int, shared: int, ignored: frozenset[str], at_least: float | None = None) -> None:
        if find_spec(_MODEL) is None:
            message = f"the package {_MODEL}, which embeds reflections, is not installed"
            raise MissingPrerequisite(message, "Run `pip install 'misstep[embeddings]'`.")
        super().__init__(window, shared, ignored, at_least)

    def vectors(self, reflections: Sequence[str]) -> Sequence[Vector]:
        """Dimension → value, of each of the last reflections as it was written."""
        return [_embedding(text) for text in reflections[-self.window :]]


@lru_cache(_EMBEDDINGS_KEPT)
def _embedding(text: str) -> Vector:
    # Half of a surrogate pair, which a broken reply may hold, is not a text to the model.
    whole = text[:_LETTERS_EMBEDDED].encode(errors="replace").decode()
    return dict(enumerate(_model().embed([whole])[0].tolist()))


@cache
def _model() -> Any:
    import wordllama  # half a second, and numpy with it

    # Its weights lie beside its code; without this it looks for them on a hub.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of the angle between two vectors; 0 if one has no length."""
    lengths = sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))
    return sum(x * b.get(dimension, 0.0) for dimension, x in a.items()) / lengths if lengths else 0.0
