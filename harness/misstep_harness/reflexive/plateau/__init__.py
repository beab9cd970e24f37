"""Detect plateaus: reflections that say the same again in other words."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.registry import Registry

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
_FEWEST_LETTERS_OF_KEYWORD = 3
_MARK = "pattern identified:"
_FENCE = re.compile(r"```\w*")
_END_OF_CLAUSE = re.compile(r"[.\n]")


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
    words = (
        word for word in _WORD.findall(text) if word not in FUNCTION_WORDS and len(word) >= _FEWEST_LETTERS_OF_KEYWORD
    )
    return frozenset(
        word[:-1] if word.endswith("s") and len(word) > _FEWEST_LETTERS_OF_KEYWORD else word for word in words
    )


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


class PlateauDetector(Protocol):
    """Says of the reflections on one item whether the last ones are the same. It keeps nothing from call to call."""

    @property
    def name(self) -> str:
        """Return its name in the log."""

    def shared(self, reflections: Sequence[str]) -> tuple[str, ...] | None:
        """Return what the last reflections have in common; `None` without a plateau."""


DETECTORS: Registry[Callable[[int, int, frozenset[str]], PlateauDetector]] = Registry(
    "misstep.plateau_detectors",
    {
        "exact": "misstep_harness.reflexive.plateau:ExactDetector",
        "keywords": "misstep_harness.reflexive.plateau:KeywordDetector",
        "cosine": "misstep_harness.reflexive.plateau:CosineDetector",
        "embeddings": "misstep_harness.reflexive.plateau:EmbeddingDetector",
        "exact_as_printed": "misstep_harness.reflexive.plateau:ExactAsPrinted",
        "keywords_as_printed": "misstep_harness.reflexive.plateau:KeywordsAsPrinted",
    },
)


def detector(name: str, *, window: int = 3, shared: int = 3, ignored: frozenset[str] = frozenset()) -> PlateauDetector:
    """Return a registered detector, or the one at a dotted path `package.module:Class`."""
    if window < 2 or shared < 1:
        message = f"a plateau of {window} reflections that share {shared} words"
        raise UsageError(message, "Compare at least two reflections, by at least one word.")
    plateau_detector: PlateauDetector = DETECTORS.make(name, window, shared, ignored)
    return plateau_detector
