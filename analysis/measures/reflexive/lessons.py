"""How far memory shows the lessons that are of use, where it is known which those are."""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.measures.shares import clustered_share, summed
from misstep.analysis.stats.estimate import Estimate


class Recall(Struct, frozen=True):
    """What memory showed when an item came."""

    item: str
    useful: frozenset[str]
    harmful: frozenset[str]
    shown: tuple[str, ...]
    stored: int


class LessonUse(Struct, frozen=True):
    """How far useful lessons come to use."""

    n: int
    useful: Estimate
    harmful: Estimate
    precision: Estimate
    shown: float | None
    stored: int


class StudiedUse(Struct, frozen=True):
    """How far useful lessons come to use without some mechanisms; a useful one shares `common` words with its item."""

    without: str
    common: int
    use: LessonUse


def lesson_use(recalls: Sequence[Recall]) -> LessonUse:
    """Return how far useful lessons come to use; intervals are over items, which come several times."""
    useful, harmful, precision = (
        clustered_share(list(summed(counts).values()), "no such lesson")
        for counts in (
            [(one.item, len(one.useful & set(one.shown)), len(one.useful)) for one in recalls],
            [(one.item, len(one.harmful & set(one.shown)), len(one.harmful)) for one in recalls],
            [(one.item, len(one.useful & set(one.shown)), len(one.shown)) for one in recalls],
        )
    )
    shown = sum(len(one.shown) for one in recalls) / len(recalls) if recalls else None
    return LessonUse(len(recalls), useful, harmful, precision, shown, max((one.stored for one in recalls), default=0))
