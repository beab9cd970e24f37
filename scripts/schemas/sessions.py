"""The documents of commands about sessions."""

from misstep_analysis.sessions.advice import Advice
from misstep_analysis.sessions.findings import Findings
from misstep_harness.trajectory import Skipped, Unreadable
from misstep_harness.triage.generate.cases import TriageCounts
from scripts.schemas.forms import Form, fields_of

_SHARE = {"count": int, "share": float}

DOCUMENTS: dict[str, Form] = {
    "classify": Findings,
    "advise": {"at_least": int, "lines": [Advice], "diff": str},
    "convert": {
        "n": int,
        "formats": {"*": {"trajectories": int, "steps": int}},
        "written": [str],
        "unreadable": [Unreadable],
        "skipped": [Skipped],
    },
    "generate trajectories": {
        "evidence": str,
        "n": int,
        "seed": int,
        "wordings": str,
        "bytes": int,
        "out": str,
        "clean": _SHARE,
        "categories": {"*": _SHARE},
        "variants": {"*": {"count": int, "plants": [str]}},
    },
    "generate triage-cases": {
        "evidence": str,
        "seed": int,
        "family_set": str,
        "out": str,
        **fields_of(TriageCounts),
    },
}
