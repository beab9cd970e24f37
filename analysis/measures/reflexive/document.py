"""A run of the reflexive loop as one JSON document, for scripts.

{"n": 40, "solve_rate": {"value": 0.61, …}, "ends": {"solved": 25, …}, "items": [{"id": "sshd-root", "end": "solved",
 "attempts": 2, "seconds": 310.0, …}], …}
"""

from typing import Any

import msgspec

from misstep.analysis.measures.reflexive.ablation import Ablation
from misstep.analysis.measures.reflexive.scores import LoopScores
from misstep.analysis.measures.reflexive.work import WorkedRun


def loop_document(run: WorkedRun, scores: LoopScores) -> dict[str, Any]:
    """What scripts may rely on, an entry an item, and the figures of the run; an item without an end has `null`."""
    items = [
        {
            "id": one.item.id,
            "category": one.item.category,
            "end": one.ending.end if one.ending else None,
            "reason": one.ending.reason if one.ending else None,
            "attempts": len(one.attempts),
            "seconds": one.seconds,
            "solved": one.solved,
            "wasted": one.wasted,
            "corrupted": sum(attempt.corrupted for attempt in one.attempts),
        }
        for one in run.items
    ]
    figures: dict[str, Any] = msgspec.to_builtins(scores)
    return {"solve_rate": msgspec.to_builtins(scores.solve_rate), **figures, "items": items}


def ablation_document(found: Ablation) -> dict[str, Any]:
    """Return the figures of an ablation: whole loop and configurations, each with mean, difference and p-values."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return document
