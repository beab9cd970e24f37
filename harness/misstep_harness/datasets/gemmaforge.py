"""gemma-forge: reflections that the project's pages quote, grouped by diagnosis.

    {"id": "r900", "text": "The mirror is stale.", "kind": "first_sentence", "rule": "sync", "group": "stale-mirror"}

`group` is the judgement of one person: texts of one group are held to be one diagnosis. `rule` is what was worked on,
if it is known. Few texts are whole reflections: most are first sentences, cut patterns, or what the authors report.
"""

from pathlib import Path

from msgspec import Struct, field

from misstep_harness.datasets.upstream import json_lines

NAME = "gemmaforge"


class QuotedReflection(Struct, frozen=True):
    """One quoted text: what kind of quotation it is, and its diagnosis (`group` in the file)."""

    id: str
    text: str
    kind: str
    diagnosis: str = field(name="group")
    rule: str | None = None


def quoted_reflections(folder: Path) -> list[QuotedReflection]:
    """Return every quoted text, in order."""
    return list(json_lines(folder / "reflections.jsonl", QuotedReflection))
