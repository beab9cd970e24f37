"""The documents of commands about annotators."""

from misstep_analysis.agreement import AgreementReport
from misstep_analysis.annotation.disagreement import Disagreement, Reconciled
from misstep_harness.annotation import Phase
from scripts.schemas.forms import Form, fields_of

DOCUMENTS: dict[str, Form] = {
    "agreement": (
        AgreementReport,
        {"questions": [{"question": str, **fields_of(AgreementReport)}], "notes": [str]},
    ),
    "annotate": {
        "n": int,
        "raters": [str],
        "phase": Phase,
        "finished": bool,
        "left": dict[str, int],
        "agreement": AgreementReport,
        "by_rater": fields_of(Disagreement)["raters"],
        **fields_of(Disagreement, "n", "labels", "report", "raters", "reconciled"),
        "reconciled": {**fields_of(Reconciled, "flows"), "flows": [{"from": str | None, "to": str | None, "n": int}]},
    },
}
