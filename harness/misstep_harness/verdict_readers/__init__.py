"""Verdicts that other tools wrote: one module a form, told apart by what is in a file, not by its name."""

from collections.abc import Iterator
from typing import Any, Protocol

from misstep_harness.registry import Registry
from misstep_harness.verdict_readers.written import Place, WrittenVerdict


class VerdictReader(Protocol):
    """A module that reads the verdicts of one tool. Each JSON value of a file, or row of a table, is read alone."""

    NAME: str
    """What such a file is called in a sentence, with its article."""

    def is_own(self, value: dict[str, Any]) -> bool:
        """Return whether an object, the first of a file, is the tool's."""

    def verdicts(self, value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
        """Return the verdicts in one object of the file."""


VERDICT_READERS: Registry[VerdictReader] = Registry(
    "misstep.verdict_readers",
    {
        "table": "misstep_harness.verdict_readers.table",
        "inspect_ai": "misstep_harness.verdict_readers.inspect_ai",
        "lm_evaluation_harness": "misstep_harness.verdict_readers.lm_evaluation_harness",
        "promptfoo": "misstep_harness.verdict_readers.promptfoo",
        "phoenix": "misstep_harness.verdict_readers.phoenix",
        "harbor": "misstep_harness.verdict_readers.harbor",
        "nemo_evaluator": "misstep_harness.verdict_readers.nemo_evaluator",
        "inspect_scout": "misstep_harness.verdict_readers.inspect_scout",
    },
)
"""Name → dotted path, in the order in which they are asked; entry points in the group add to it."""


def reader_of(value: Any) -> VerdictReader | None:
    """Return the reader of the tool that wrote an object; `None` if none knows it."""
    if not isinstance(value, dict):
        return None
    return next((reader for reader in map(VERDICT_READERS.load, VERDICT_READERS.names()) if reader.is_own(value)), None)


def known_forms() -> str:
    """Return what can be read, as a list in a sentence."""
    return ", ".join(VERDICT_READERS.load(name).NAME for name in VERDICT_READERS.names())


__all__ = ["VERDICT_READERS", "Place", "VerdictReader", "WrittenVerdict", "known_forms", "reader_of"]
