"""Texts grouped by their words, as help with reading many of them: which to read first, and which say the same.

Words weigh by TF-IDF, and groups are what HDBSCAN finds dense (Campello, Moulavi and Sander 2013). How many there are
depends on these choices and is not a finding: no table or figure is made of them.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.harness.errors import UsageError

SUBSAMPLES = 20
LEFT_OUT = 0.2

_DIMENSIONS = 50
_WORDS_SHOWN = 5
_ALONE = -1
_ALIKE = 1e-6
_NUMBER = re.compile(r"\d+")
_WORD = r"(?u)\b[^\W\d_]{3,}\b"


class TextGroup(Struct, frozen=True):
    """Texts that are alike.

    `stability` is the mean Jaccard likeness to the most like group of subsamples (Hennig 2007, CSDA 52:258-271): below
    about 0.6 it is hardly more than chance.
    """

    words: tuple[str, ...]
    example: str
    members: tuple[str, ...]
    stability: float


class GroupedTexts(Struct, frozen=True):
    """The groups, the most stable first, and the names of the texts that stand alone."""

    n: int
    groups: tuple[TextGroup, ...]
    alone: tuple[str, ...]


def group_texts(texts: Sequence[tuple[str, str]], least: int = 3, seed: int = 0) -> GroupedTexts:
    """Texts in groups by their words."""
    if least < 2:
        raise UsageError(f"groups of {least} texts", "A group has at least 2 texts.")
    names = tuple(name for name, _ in texts)
    placed = _placed([text for _, text in texts]) if len(texts) >= least else None
    if placed is None:
        return GroupedTexts(len(texts), (), names)
    points, words = placed
    codes = _groups(points, least)
    rng = np.random.default_rng(seed)
    again = [_subsample(points, least, rng) for _ in range(SUBSAMPLES)]
    groups = [
        _described(np.flatnonzero(codes == group), points, words, names, again) for group in range(codes.max() + 1)
    ]
    alone = tuple(name for name, group in zip(names, codes, strict=True) if group == _ALONE)
    return GroupedTexts(len(texts), tuple(sorted(groups, key=lambda one: -one.stability)), alone)


_Subsample = tuple[IntArray, IntArray]


class _Words(Struct, frozen=True):
    """Texts x words: how much each weighs; and the words."""

    weights: FloatArray
    words: tuple[str, ...]


def _placed(texts: Sequence[str]) -> tuple[FloatArray, _Words] | None:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(token_pattern=_WORD, stop_words="english", sublinear_tf=True, min_df=2, max_features=5_000)
    try:
        weights = words.fit_transform([_NUMBER.sub(" number ", text) for text in texts])
    except ValueError:  # scikit-learn's word for: nothing is left but stop words and words of a single text
        return None
    if weights.shape[1] <= _DIMENSIONS:
        points = weights.toarray()
    else:
        with np.errstate(divide="ignore", invalid="ignore"):  # shares of no variance, which nobody asks for
            points = TruncatedSVD(min(_DIMENSIONS, len(texts) - 1), random_state=0).fit_transform(weights)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths > 0, lengths, 1.0), _Words(weights, tuple(words.get_feature_names_out()))


def _groups(points: FloatArray, least: int) -> IntArray:
    """Return the group of each text from 0, -1 for those that stand alone; a text without words stands alone.

    HDBSCAN looks for what is denser than its surroundings: where all texts are alike it sees no group.
    """
    from sklearn.cluster import HDBSCAN

    groups = np.full(len(points), _ALONE, dtype=np.int64)
    spoken = np.linalg.norm(points, axis=1) > 0
    if spoken.sum() >= least and np.ptp(points[spoken], axis=0).max() < _ALIKE:
        groups[spoken] = 0
    elif spoken.sum() > least:
        groups[spoken] = (
            HDBSCAN(min_cluster_size=least, allow_single_cluster=False, copy=True).fit(points[spoken]).labels_
        )
    return groups


def _subsample(points: FloatArray, least: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    size = max(least + 1, round((1 - LEFT_OUT) * len(points)))
    drawn = np.sort(rng.choice(len(points), size=min(size, len(points)), replace=False))
    return drawn, _groups(points[drawn], least)


def _described(
    members: IntArray, points: FloatArray, words: _Words, names: Sequence[str], again: Sequence[_Subsample]
) -> TextGroup:
    middle = points[members].mean(axis=0)
    example = members[int(np.argmax(points[members] @ middle))]
    inside = np.asarray(words.weights[members].mean(axis=0)).ravel()
    rest = np.asarray(words.weights.mean(axis=0)).ravel()
    distinct = inside - rest if len(members) < len(names) else inside
    order = [place for place in np.argsort(-distinct, kind="stable")[:_WORDS_SHOWN] if distinct[place] > 0]
    return TextGroup(
        words=tuple(words.words[place] for place in order),
        example=names[example],
        members=tuple(names[place] for place in members),
        stability=float(np.mean([*_likenesses(set(members.tolist()), again)])),
    )


def _likenesses(members: set[int], again: Sequence[_Subsample]) -> Iterator[float]:
    for drawn, codes in again:
        left = members & set(drawn.tolist())
        if left:
            groups = [set(drawn[codes == group].tolist()) for group in range(codes.max() + 1)]
            yield max((len(left & group) / len(left | group) for group in groups), default=0.0)
