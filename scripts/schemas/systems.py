"""The documents of commands about systems: triage, repair, the observer, experiments, the reflexive loop."""

from misstep_analysis.observer.observed import ObservedSummary
from misstep_analysis.passing.paired_systems import ComparedPair, PairedSystems
from misstep_analysis.reflexive.ablation import Ablation
from misstep_analysis.reflexive.scores import LoopScores
from misstep_analysis.repair.attempts import ReviewedPatches
from misstep_analysis.repair.report import ObservedAttempts
from misstep_analysis.repair.scores import RepairScores
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table
from misstep_harness.intervention import Intervention
from misstep_harness.repair.failure_bot.tasks import RepairTask
from misstep_harness.triage.records import TriageVerdict
from scripts.schemas.forms import Form, fields_of
from scripts.schemas.judges import SCORES

TRIAGED = {
    "n": int,
    "answered": int,
    "finding": str,
    "notes": [str],
    "causes": dict[str, Estimate],
    "verdicts": [TriageVerdict],
    "scores": (SCORES, None),
}
_FUNNEL = {"counts": dict[str, int], "rates": [{"event": str, "of": str, "rate": Estimate}]}
_REVIEWED = {
    "reviews?": _FUNNEL,
    "passing_reviewed?": {
        "accepted": int,
        "rejected": int,
        "share_rejected": Estimate,
        "attempts_rejected": [str],
        "judge": fields_of(ReviewedPatches)["judge"],
        "judge_precision_unacceptable": Estimate,
        "judge_recall_unacceptable": Estimate,
    },
}
REPAIRED = {
    "run": str,
    **fields_of(RepairScores, "arm", "solve_rate_at", "spent"),
    **dict.fromkeys(("policy", "setting", "format", "benchmark"), str),
    "sr_at": dict[str, Estimate],
    **dict.fromkeys(("seconds?", "cost_usd?", "input_tokens?", "output_tokens?"), float | None),
    **dict.fromkeys(("test_runs?", "candidates?"), float | None),
    "cases": [
        {
            "id": str,
            "sample": int,
            "solved": bool | None,
            "patched": bool,
            "error": str | None,
            "ended": str,
            "iterations": int,
            "seconds": float | None,
        }
    ],
}
_PATCHES = {
    "observed?": ObservedAttempts,
    "patches?": [{"case": str, "file": str, "apply": str}],
    "blames?": [
        {
            "case": str,
            "commit": str,
            "subject": str,
            "author": str,
            "earlier?": str,
            "posterior": float,
            "assumes": str,
        }
    ],
    "held_back?": [{"tests": [str], "rule": str, "reason": str}],
}
_LOOP = {
    "run": str,
    "remarks": [str],
    "solve_rate": Estimate,
    **fields_of(LoopScores),
    "items": [
        {
            "id": str,
            "category": str,
            "end": str | None,
            "reason": str | None,
            "attempts": int,
            "seconds": float | None,
            "solved": bool,
            "wasted": float,
            "corrupted": int,
        }
    ],
}
_LOOPS = (_LOOP, {"runs": [_LOOP], "ablation": Ablation}, {"runs": [_LOOP], "pairs": [ComparedPair]})
_EXPERIMENT = {
    "title": str,
    "finding": str,
    "warning": str,
    "tables": [{**fields_of(Table, "drawn", "rows"), "rows": [Row]}],
}
_CASES_BUILT = {
    "evidence": str,
    "n": int,
    "out": str,
    **dict.fromkeys(("packages", "complexity", "operators"), dict[str, int]),
    "refused": [{"id": str, "reason": str}],
}

DOCUMENTS: dict[str, Form] = {
    "triage": TRIAGED,
    "repair build": (_CASES_BUILT, {"n": int, "out": str, "cases": [str]}),
    "repair instructions": {
        "n": int,
        "texts": dict[str, int],
        "refused": [{"case": str, "kind": str, "reason": str}],
    },
    "repair run": {**REPAIRED, **_PATCHES},
    "repair report": ({**REPAIRED, **_REVIEWED}, {"runs": [REPAIRED], "pairs": [PairedSystems], **_REVIEWED}),
    "repair tasks": [{**fields_of(RepairTask, "id", "state"), "id": int, "state": str}],
    "observe": (ObservedSummary, {"item": str, **fields_of(Intervention)}),
    "experiment run": _EXPERIMENT,
    "experiment report": _EXPERIMENT,
    "experiment codes": {
        "coders": [str],
        "outcomes": [{"outcome": str, "n": int, "shares": dict[str, Estimate]}],
        "open": [str],
    },
    "reflect run": _LOOPS[:2],
    "reflect report": _LOOPS,
}
