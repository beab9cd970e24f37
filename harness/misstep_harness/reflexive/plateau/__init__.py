"""What tells of reflections that they say the same again in other words: detectors of plateaus, one interface."""

from collections.abc import Callable, Sequence
from typing import Protocol

from misstep_harness.errors import UsageError
from misstep_harness.registry import Registry


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
        "exact": "misstep_harness.reflexive.plateau.lexical:ExactDetector",
        "keywords": "misstep_harness.reflexive.plateau.lexical:KeywordDetector",
        "cosine": "misstep_harness.reflexive.plateau.vectors:CosineDetector",
        "embeddings": "misstep_harness.reflexive.plateau.vectors:EmbeddingDetector",
        "exact_as_printed": "misstep_harness.reflexive.plateau.lexical:ExactAsPrinted",
        "keywords_as_printed": "misstep_harness.reflexive.plateau.lexical:KeywordsAsPrinted",
    },
)


def detector(name: str, *, window: int = 3, shared: int = 3, ignored: frozenset[str] = frozenset()) -> PlateauDetector:
    """Return a registered detector, or the one at a dotted path `package.module:Class`."""
    if window < 2 or shared < 1:
        message = f"a plateau of {window} reflections that share {shared} words"
        raise UsageError(message, "Compare at least two reflections, by at least one word.")
    plateau_detector: PlateauDetector = DETECTORS.make(name, window, shared, ignored)
    return plateau_detector
