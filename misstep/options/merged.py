"""What commands print of a run that was merged from shards, and how they end."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from misstep.harness.progress import say
from misstep.options.gate import GateOptions

if TYPE_CHECKING:
    from misstep.analysis.measures.gates import Gate
    from misstep.studies.kinds.kind import Merged


def show_merged(merged: "Merged", limits: GateOptions, gates: "Sequence[Gate]", command: str, *, json: bool) -> None:
    """Print what was found, complain of what went wrong, and hold the figures against limits."""
    print(merged.document if json else merged.text, end="" if json else "\n")
    for sentence in merged.complaints:
        say(f"misstep: {sentence}")
    limits.settle(gates, merged.figures, command)
    if not merged.complete:
        raise typer.Exit(1)
